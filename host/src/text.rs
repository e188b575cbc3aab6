//! Text that came from a hook, made safe to show.
//!
//! Whatever a guest, a script or a file name says is data. Before it reaches a terminal, a log or
//! a model it is bounded, and characters that act instead of showing (control characters, escape
//! sequences, bidirectional overrides, zero-width marks) are written out as `\u{…}`.

use std::fmt::Write as _;

/// The longest text of a hook that is passed on, in characters: the Claude contract's cap on
/// reasons, messages and context.
pub const LONGEST: usize = 10_000;

/// `bytes` as text of at most [`LONGEST`] characters; line breaks and tabs stay.
pub fn from_bytes(bytes: &[u8]) -> String {
    // One replacement for each odd sequence, as `from_utf8_lossy` has it, and no further than the
    // text is shown.
    let chars = bytes.utf8_chunks().flat_map(|chunk| {
        let odd = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(odd)
    });
    escape(chars, LONGEST, |c| matches!(c, '\n' | '\t'))
}

/// `text`, with at most `longest` characters; line breaks and tabs stay.
pub fn several_lines(text: &str, longest: usize) -> String {
    escape(text.chars(), longest, |c| matches!(c, '\n' | '\t'))
}

/// `text` on one line, with at most `longest` characters.
pub fn one_line(text: &str, longest: usize) -> String {
    escape(text.chars(), longest, |_| false)
}

/// What is written out counts as long as it is then. The mark of a cut comes on top.
fn escape(
    chars: impl Iterator<Item = char>,
    longest: usize,
    keep: impl Fn(char) -> bool,
) -> String {
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
                // Writing to a String cannot fail.
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
    shown
}

/// Whether a terminal, an editor or a reader is moved by the character instead of shown it.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
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
        assert_eq!(one_line("größer 日本 🙂", 99), "größer 日本 🙂");
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
