//! Text that came from a hook, made safe to show.
//!
//! Whatever a guest, a script or a file name says is data. Before it reaches a terminal, a log or
//! a model it is bounded, and characters that act instead of showing (control characters, escape
//! sequences, bidirectional overrides, zero-width marks, hidden selectors) are written out as
//! `\u{…}`. What has gone through this is a [`Text`], which is made nowhere else: what a hook said
//! and has not gone through it does not fit where it would be shown.

use std::fmt::{self, Write as _};
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// The longest text of a hook that is passed on, in characters: the Claude contract's cap on
/// reasons, messages and context.
pub const LONGEST: usize = 10_000;

/// Text that is safe to show: no character in it acts, and it is bounded.
///
/// ```
/// use hookcell::text::Text;
///
/// let said = Text::from("all is well\u{1b}[2K\u{202e}");
/// assert_eq!(said, "all is well\\u{1b}[2K\\u{202e}");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Text(String);

impl Text {
    /// All of `parts`, with `separator` between them. Not bounded: each part is.
    pub fn join(parts: &[Self], separator: &Self) -> Self {
        let parts: Vec<&str> = parts.iter().map(Deref::deref).collect();
        Self(parts.join(separator))
    }

    /// A JSON text with the same meaning in which no character acts: within strings, those that
    /// would are written as JSON's own escapes. Not bounded.
    pub fn json(json: &str) -> Self {
        let mut shown = String::with_capacity(json.len());
        for c in json.chars() {
            // White space between tokens; within strings JSON has none of these.
            if acts(c) && !matches!(c, '\n' | '\t' | '\r') {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(shown, "\\u{unit:04x}");
                }
            } else {
                shown.push(c);
            }
        }
        Self(shown)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self
    }

    /// This text and a line break.
    #[must_use]
    pub fn line(mut self) -> Self {
        self.0.push('\n');
        self
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

/// At most [`LONGEST`] characters; line breaks and tabs stay.
impl From<&str> for Text {
    fn from(text: &str) -> Self {
        several_lines(text, LONGEST)
    }
}

/// At most [`LONGEST`] characters; line breaks and tabs stay.
impl From<String> for Text {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.0 == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// `bytes` as text of at most [`LONGEST`] characters; line breaks and tabs stay.
pub fn from_bytes(bytes: &[u8]) -> Text {
    // One replacement for each odd sequence, as `from_utf8_lossy` has it, and no further than the
    // text is shown.
    let chars = bytes.utf8_chunks().flat_map(|chunk| {
        let odd = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(odd)
    });
    escape(chars, LONGEST, |c| matches!(c, '\n' | '\t'))
}

/// `text`, with at most `longest` characters; line breaks and tabs stay.
pub fn several_lines(text: &str, longest: usize) -> Text {
    escape(text.chars(), longest, |c| matches!(c, '\n' | '\t'))
}

/// `text` on one line, with at most `longest` characters.
pub fn one_line(text: &str, longest: usize) -> Text {
    escape(text.chars(), longest, |_| false)
}

/// What is written out counts as long as it is then. The mark of a cut comes on top.
fn escape(chars: impl Iterator<Item = char>, longest: usize, keep: impl Fn(char) -> bool) -> Text {
    let mut shown = String::new();
    let mut room = longest;
    for c in chars {
        let start = shown.len();
        match c {
            _ if keep(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' if keep('\n') => {}
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if acts(c) => {
                let _ = write!(shown, "\\u{{{:x}}}", c as u32);
            }
            _ => shown.push(c),
        }
        let length = shown[start..].chars().count();
        if length > room {
            shown.truncate(start);
            shown.push('…');
            break;
        }
        room -= length;
    }
    Text(shown)
}

/// Whether a terminal, an editor or a reader is moved by the character instead of shown it.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_written_out() {
        assert_eq!(one_line("\u{1b}[31mred\u{7}", 99), "\\u{1b}[31mred\\u{7}");
        assert_eq!(one_line("a\nb\tc\rd", 99), "a\\nb\\tc\\rd");
        assert_eq!(several_lines("a\r\nb\tc\u{1b}", 99), "a\nb\tc\\u{1b}");
        assert_eq!(
            one_line("\u{202e}evil\u{2066}\u{200b}\u{feff}\u{9b}", 99),
            "\\u{202e}evil\\u{2066}\\u{200b}\\u{feff}\\u{9b}"
        );
        // Selectors of variants carry hidden bytes to a model as well as they carry variants.
        assert_eq!(one_line("a\u{e0100}\u{e01ef}", 99), "a\\u{e0100}\\u{e01ef}");
        assert_eq!(
            one_line("größer 日本 🙂 ✔\u{fe0f}", 99),
            "größer 日本 🙂 ✔\u{fe0f}"
        );
    }

    #[test]
    fn json_keeps_its_meaning() {
        let wild = "\u{202e}a\u{200b}\u{9b}\u{e0041}ü\u{7f}";
        let json = serde_json::to_string_pretty(&[wild]).unwrap();
        let shown = Text::json(&json);
        assert_eq!(
            shown,
            "[\n  \"\\u202ea\\u200b\\u009b\\udb40\\udc41ü\\u007f\"\n]"
        );
        let read: Vec<String> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read, [wild]);
    }

    #[test]
    fn what_was_made_safe_is_not_changed_again() {
        let once = Text::from("\u{1b}[31m\u{202e} a\\b\n");
        assert_eq!(Text::from(String::from(once.clone())), once);
    }

    #[test]
    fn what_is_long_is_cut_at_a_character() {
        assert_eq!(one_line("äöü", 3), "äöü");
        assert_eq!(one_line("äöü", 2), "äö…");
        assert_eq!(one_line("a\u{1b}b", 6), "a…");
        assert_eq!(one_line("a\u{1b}b", 7), "a\\u{1b}…");
        assert_eq!(from_bytes(&vec![b'x'; LONGEST]).chars().count(), LONGEST);
        assert_eq!(
            from_bytes(&vec![b'x'; 5 << 20]).chars().count(),
            LONGEST + 1
        );
        assert_eq!(
            from_bytes(&"\u{10348}".repeat(LONGEST).into_bytes())
                .chars()
                .count(),
            LONGEST
        );
        assert_eq!(from_bytes(b"a\xffb"), "a\u{fffd}b");
    }
}
