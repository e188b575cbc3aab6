//! Shell words: quotes are gone, and what only a running shell would know is marked.

use crate::shell::Unreadable;

/// Stands for what a running shell would put there: the output of a command, an unset variable.
pub const UNKNOWN: char = '\u{1}';
/// Follows the value of a variable, which may have another one when the command runs.
pub const EXPANDED: char = '\u{2}';
/// `{`, `,` and `}` outside quotes, which may be a brace expansion.
pub const OPEN: char = '\u{3}';
pub const COMMA: char = '\u{4}';
pub const CLOSE: char = '\u{5}';

/// Whether the byte is one of the marks, which a command's own text must not hold.
pub fn is_mark(byte: u8) -> bool {
    (1..=5).contains(&byte)
}

/// More of a word is not kept. Names, flags and scripts are shorter; a script that is not is
/// treated as one that cannot be read.
const LONGEST: usize = 1 << 20;
/// The most words, and the most bytes, that one brace expansion may yield.
const MOST_WORDS: usize = 1000;
const MOST_BYTES: usize = 1 << 20;

/// A word that is being read.
#[derive(Debug, Default)]
pub struct Draft {
    pub text: String,
    /// Whether any part was quoted: such a word is no keyword.
    pub quoted: bool,
    cut: bool,
}

impl Draft {
    pub fn push(&mut self, text: &str) {
        if self.text.len() + text.len() > LONGEST {
            self.cut = true;
        } else {
            self.text.push_str(text);
        }
    }

    /// The one word that it is where braces are not expanded.
    pub fn finish_unexpanded(self) -> Word {
        Word::new(self.text, self.quoted, self.cut)
    }

    /// Gives `take` the words that it stands for: itself, or several by brace expansion.
    pub fn finish(
        self,
        mut take: impl FnMut(Word) -> Result<(), Unreadable>,
    ) -> Result<(), Unreadable> {
        let Self { text, quoted, cut } = self;
        if !text.contains(OPEN) {
            return take(Word::new(text, quoted, cut));
        }
        let texts = expand_braces(text)?.into_iter();
        texts
            .map(|text| Word::new(text, quoted, cut))
            .try_for_each(take)
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text, in which [`UNKNOWN`] is the only mark.
    pub text: String,
    pub quoted: bool,
    /// Whether a running shell could find another file name at the end of this path.
    doubtful: bool,
    cut: bool,
}

impl Word {
    fn new(mut text: String, quoted: bool, cut: bool) -> Self {
        // Nearly all words hold nothing special, and there can be millions of them.
        if !text
            .bytes()
            .any(|byte| is_mark(byte) || matches!(byte, b'*' | b'?' | b'['))
        {
            return Self {
                text,
                quoted,
                doubtful: false,
                cut,
            };
        }
        let last = base_name(&text);
        let doubtful = last.contains([UNKNOWN, EXPANDED, '*', '?', '['])
            // Tests look like a pattern for file names.
            && !matches!(last, "[" | "[[");
        text.retain(|character| character != EXPANDED);
        if text.contains([OPEN, COMMA, CLOSE]) {
            text = text
                .chars()
                .map(|character| match character {
                    OPEN => '{',
                    COMMA => ',',
                    CLOSE => '}',
                    other => other,
                })
                .collect();
        }
        Self {
            text,
            quoted,
            doubtful,
            cut,
        }
    }

    /// A word that no shell expands.
    pub fn verbatim(text: String) -> Self {
        Self {
            text,
            quoted: true,
            doubtful: false,
            cut: false,
        }
    }

    /// The name of the program, without its folder; `None` if only a running shell knows it.
    pub fn program(&self) -> Option<&str> {
        (!self.doubtful).then(|| base_name(&self.text))
    }

    /// Whether the whole text is known.
    pub fn is_known(&self) -> bool {
        !self.cut && !self.text.contains(UNKNOWN)
    }

    /// Name and value, if the word is an assignment of a variable.
    pub fn assignment(&self) -> Option<(&str, &str)> {
        let (name, value) = self.text.split_once('=')?;
        let name = name.strip_suffix('+').unwrap_or(name);
        is_variable_name(name).then_some((name, value))
    }

    #[cfg(test)]
    pub fn literal(text: &str) -> Self {
        Self::new(text.to_owned(), false, false)
    }
}

pub fn is_variable_name(name: &str) -> bool {
    // The index of an array belongs to the name.
    let name = name.split('[').next().unwrap_or_default();
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

pub fn base_name(path: &str) -> &str {
    let end_of_folder = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    path.get(end_of_folder.map_or(0, |end| end + 1)..)
        .unwrap_or(path)
}

/// `a{b,c}d` as `abd` and `acd`, whatever the nesting. A sequence (`{a..c}`) becomes unknown.
fn expand_braces(text: String) -> Result<Vec<String>, Unreadable> {
    let mut finished = Vec::new();
    let mut pending = vec![text];
    let mut bytes = 0;
    while let Some(text) = pending.pop() {
        bytes += text.len();
        if finished.len() + pending.len() > MOST_WORDS || bytes > MOST_BYTES {
            return Err(Unreadable);
        }
        match first_group(&text) {
            Some(group) => {
                let (prefix, suffix) = (&text[..group.start], &text[group.end + 1..]);
                let alternatives = group.alternatives(&text);
                // Taken from the end of the list: the first alternative is the next to be read.
                for alternative in alternatives.into_iter().rev() {
                    pending.push(format!("{prefix}{alternative}{suffix}"));
                }
            }
            None => finished.push(text),
        }
    }
    Ok(finished)
}

/// A pair of braces, by the positions of its marks, which are one byte each.
#[derive(Debug, Clone)]
struct Group {
    start: usize,
    end: usize,
    commas: Vec<usize>,
}

impl Group {
    fn alternatives<'t>(&self, text: &'t str) -> Vec<&'t str> {
        if self.commas.is_empty() {
            // A sequence: what it yields is not worked out.
            return vec!["\u{1}"];
        }
        let starts = [self.start].into_iter().chain(self.commas.iter().copied());
        let ends = self.commas.iter().copied().chain([self.end]);
        starts
            .zip(ends)
            .map(|(start, end)| &text[start + 1..end])
            .collect()
    }
}

/// The first pair of braces that is an expansion. One pass: a word of a million opening braces
/// must not cost a million passes.
fn first_group(text: &str) -> Option<Group> {
    let mut open: Vec<Group> = Vec::new();
    let mut first: Option<Group> = None;
    for (index, character) in text.char_indices() {
        match (character, open.last_mut()) {
            (OPEN, _) => open.push(Group {
                start: index,
                end: index,
                commas: Vec::new(),
            }),
            (COMMA, Some(group)) => group.commas.push(index),
            (CLOSE, Some(_)) => {
                let Some(mut group) = open.pop() else {
                    continue;
                };
                group.end = index;
                let expands = !group.commas.is_empty() || text[group.start..index].contains("..");
                if expands && first.as_ref().is_none_or(|first| group.start < first.start) {
                    first = Some(group);
                }
            }
            _ => {}
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Vec<String> {
        let text = text
            .replace('{', "\u{3}")
            .replace(',', "\u{4}")
            .replace('}', "\u{5}");
        let draft = Draft {
            text,
            ..Draft::default()
        };
        let mut words = Vec::new();
        let taken = draft.finish(|word| {
            words.push(word.text);
            Ok(())
        });
        assert_eq!(taken, Ok(()));
        words
    }

    #[test]
    fn braces_are_expanded() {
        assert_eq!(expanded("{rm,-rf,/}"), ["rm", "-rf", "/"]);
        assert_eq!(expanded("-{r,f}x"), ["-rx", "-fx"]);
        assert_eq!(
            expanded("{a,b{c,d}}{1,2}"),
            ["a1", "a2", "bc1", "bc2", "bd1", "bd2"]
        );
        assert_eq!(expanded("{,rm}"), ["", "rm"]);
        assert_eq!(expanded("{a..c}m"), ["\u{1}m"]);
    }

    #[test]
    fn braces_that_are_no_expansion_stay() {
        for text in ["{}", "{a}", "{", "}", "a{b", "a,b", "{a}{b}", "}{"] {
            assert_eq!(expanded(text), [text]);
        }
        assert_eq!(expanded("{x{a,b}"), ["{xa", "{xb"]);
        assert_eq!(expanded("{x,{a,b}"), ["{x,a", "{x,b"]);
    }

    #[test]
    fn a_flood_of_braces_is_unreadable() {
        let text = "\u{3}a\u{4}b\u{5}".repeat(20);
        assert_eq!(
            Draft {
                text,
                ..Draft::default()
            }
            .finish(|_| Ok(())),
            Err(Unreadable)
        );
    }

    #[test]
    fn the_program_is_the_last_part_of_the_path() {
        assert_eq!(Word::literal("/bin/rm").program(), Some("rm"));
        assert_eq!(Word::literal("\u{1}/bin/rm").program(), Some("rm"));
        assert_eq!(Word::literal("[").program(), Some("["));
        for text in ["\u{1}", "r\u{1}m", "rm\u{2}", "/bin/r?", "/bin/[r]m", "r*"] {
            assert_eq!(Word::literal(text).program(), None, "{text}");
        }
    }

    #[test]
    fn an_assignment_has_a_name_and_a_value() {
        assert_eq!(Word::literal("A_1=b=c").assignment(), Some(("A_1", "b=c")));
        assert_eq!(Word::literal("A+=b").assignment(), Some(("A", "b")));
        for text in ["=b", "1A=b", "a-b=c", "--a=b", "a"] {
            assert_eq!(Word::literal(text).assignment(), None, "{text}");
        }
    }
}
