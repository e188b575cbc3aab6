//! Regular expressions of the two agents, matched in bounded time.

use std::fmt;
use std::sync::Arc;

/// The longest expression that is accepted, in characters. The parsers go into themselves for every
/// alternative, and a stack has an end.
const LONGEST_EXPRESSION: usize = 2_000;

/// The longest text, in characters, that a backtracking engine is given. A longer one counts as
/// found.
const LONGEST_BACKTRACKED: usize = 256;

/// The longest text, in bytes, that any engine is given. A longer one counts as found.
const LONGEST_TEXT: usize = 64 << 10;

/// How often the engine for Python's syntax may go back before the text counts as found.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The largest product of all counts in an expression, such as the 2 and 3 of `(a{2}b){3}`.
const MOST_REPETITIONS: u64 = 100_000;

/// Why a matcher is not a valid expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatcherError {
    /// Where in the matcher the mistake is, in characters, from 0.
    pub offset: usize,
    /// What the mistake is.
    pub message: String,
}

impl fmt::Display for MatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.offset + 1)
    }
}

impl std::error::Error for MatcherError {}

/// A JavaScript regular expression, searched for anywhere in a text.
///
/// The engine that reads JavaScript's syntax goes back and tries again without a bound, and a tool's
/// name may be chosen by whoever wrote the tool. So wherever both engines read an expression alike,
/// it is matched by one whose time is bounded; the other one is given short texts only.
#[derive(Debug, Clone)]
pub(super) struct Searched {
    javascript: Arc<regress::Regex>,
    bounded: Option<Arc<fancy_regex::Regex>>,
}

impl Searched {
    pub(super) fn new(expression: &str) -> Result<Self, MatcherError> {
        let length = expression.chars().count();
        if length > LONGEST_EXPRESSION {
            return Err(MatcherError {
                offset: LONGEST_EXPRESSION,
                message: format!("the expression is longer than {LONGEST_EXPRESSION} characters"),
            });
        }
        let javascript = regress::Regex::new(expression).map_err(|error| MatcherError {
            offset: offset_of_mistake(expression, &error.text),
            message: lower_first(&error.text),
        })?;
        let bounded = if reads_alike(expression) {
            bounded(expression).map(Arc::new)
        } else {
            None
        };
        Ok(Self {
            javascript: Arc::new(javascript),
            bounded,
        })
    }

    pub(super) fn is_found_in(&self, text: &str) -> bool {
        if text.len() > LONGEST_TEXT {
            return true;
        }
        match &self.bounded {
            // Beyond ASCII, and at carriage returns, the engines' classes and dots differ.
            Some(expression) if text.is_ascii() && !text.contains('\r') => {
                expression.is_match(text).unwrap_or(true)
            }
            _ => {
                text.chars().nth(LONGEST_BACKTRACKED).is_some()
                    || self.javascript.find(text).is_some()
            }
        }
    }
}

/// A Python regular expression that must match a whole name.
#[derive(Debug, Clone)]
pub(super) struct Whole(Arc<fancy_regex::Regex>);

impl Whole {
    pub(super) fn new(expression: &str) -> Option<Self> {
        if expression.chars().count() > LONGEST_EXPRESSION {
            return None;
        }
        // Alone first: in the group, `a)|(b` would be valid.
        bounded(expression)?;
        bounded(&format!(r"\A(?:{expression})\z")).map(|expression| Self(Arc::new(expression)))
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        text.len() > LONGEST_TEXT || self.0.is_match(text).unwrap_or(true)
    }
}

/// The expression for the engine whose time is bounded. Counted repetitions within each other, which
/// it multiplies, are not for it.
fn bounded(expression: &str) -> Option<fancy_regex::Regex> {
    let counts = expression.split('{').skip(1).filter_map(|after| {
        let counts = after.split('}').next()?;
        let (least, most) = counts.split_once(',').unwrap_or((counts, ""));
        least
            .trim()
            .parse::<u64>()
            .ok()
            .max(most.trim().parse().ok())
    });
    if counts.fold(1, |product: u64, count| {
        product.saturating_mul(count.max(1))
    }) > MOST_REPETITIONS
    {
        return None;
    }
    fancy_regex::RegexBuilder::new(expression)
        .backtrack_limit(BACKTRACK_LIMIT)
        .build()
        .ok()
}

/// Where the mistake is: at the end of the shortest beginning from which on the parser says the
/// same about every longer one.
fn offset_of_mistake(expression: &str, message: &str) -> usize {
    let mut offset = expression.chars().count();
    let ends: Vec<usize> = expression.char_indices().map(|(end, _)| end).collect();
    for (index, &end) in ends.iter().enumerate().rev() {
        let beginning = &expression[..end];
        match regress::Regex::new(beginning) {
            Err(error) if error.text == message => offset = index,
            _ => break,
        }
    }
    offset.saturating_sub(1)
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

/// Whether a valid JavaScript expression means the same to both engines, on ASCII text without
/// carriage returns. Only what is known to be alike passes.
fn reads_alike(expression: &str) -> bool {
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let taken = match c {
            '\\' => escape(after, "dDwWsSbBtnr").map(|length| 1 + length),
            '[' => class(after).map(|length| 1 + length),
            '(' if after.starts_with('?') => ["?:", "?=", "?!", "?<=", "?<!"]
                .iter()
                .find(|it| after.starts_with(**it))
                .map(|it| 1 + it.len()),
            '{' => repetition(after).map(|length| 1 + length),
            ']' | '}' => None,
            _ if c.is_ascii() && !c.is_ascii_control() => Some(1),
            _ => None,
        };
        let Some(taken) = taken else { return false };
        rest = &rest[taken..];
    }
    true
}

/// The length of what follows a backslash, if both engines read it alike.
fn escape(after: &str, letters: &str) -> Option<usize> {
    let c = after.chars().next()?;
    let is_alike = letters.contains(c) || (c.is_ascii_punctuation() && !matches!(c, '<' | '>'));
    is_alike.then_some(1)
}

/// The length of a class after its `[`, its `]` included, if both engines read it alike.
fn class(after: &str) -> Option<usize> {
    let mut at = usize::from(after.starts_with('^'));
    if after[at..].starts_with(']') {
        return None;
    }
    loop {
        let rest = &after[at..];
        let c = rest.chars().next()?;
        if ["&&", "--", "~~"]
            .iter()
            .any(|operator| rest.starts_with(operator))
        {
            return None;
        }
        match c {
            ']' => return Some(at + 1),
            '[' => return None,
            '\\' => at += 1 + escape(&rest[1..], "dDwWsStnr")?,
            _ if c.is_ascii() && !c.is_ascii_control() => at += 1,
            _ => return None,
        }
    }
}

/// The length of `2}`, `2,}` or `2,3}`. Any other brace stands for itself in JavaScript.
fn repetition(after: &str) -> Option<usize> {
    let end = after.find('}')?;
    let (least, most) = after[..end].split_once(',').unwrap_or((&after[..end], ""));
    let is_number = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    (!least.is_empty() && is_number(least) && is_number(most)).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn mistakes_are_placed() {
        for (expression, offset) in [
            ("Bash(", 4),
            ("a)b", 1),
            ("x[abc", 1),
            ("a(b|c", 1),
            ("*abc", 0),
            ("a**", 2),
            ("(a[b)", 2),
            ("ok.*\\", 4),
            ("größe.(", 6),
            ("(?<n>.", 4),
        ] {
            let error = Searched::new(expression).expect_err(expression);
            assert_eq!(error.offset, offset, "{expression}: {error}");
            assert!(!error.message.is_empty());
        }
        assert!(Searched::new(&"a.".repeat(3_000)).is_err());
    }

    #[test]
    fn both_engines_agree_on_what_passes_as_alike() {
        let texts = [
            "",
            "Bash",
            "bash",
            "mcp__fs__write",
            "a-b",
            "a\nb",
            "aab",
            "a.b",
            "Edit1",
            "[x]",
            "{2}",
            "a b",
            "x/y",
            "ab12",
            "\t",
            "$",
            "a{,2}",
            "Bash(git *)",
            "-",
            "^",
            "\\",
            "aaaa",
            "b",
            "_",
            "a\u{b}b",
        ];
        let expressions = [
            ".",
            "^.$",
            "^a.b$",
            r"\bash",
            r"\bBash\b",
            r"\w+\d",
            r"^\S+$",
            r"\s",
            r"\W",
            r"\D$",
            r"a\.b",
            r"a\-b",
            "[a-c]+$",
            "[^a-z]",
            r"[\w.-]+",
            r"[\]x]",
            "a{2}",
            "a{2,}b",
            "^a{1,2}$",
            "(a|b)+$",
            "(?:a|b)*",
            "^(?!Bash)",
            "a(?=b)",
            "(?<=a)b",
            "(?<!a)b",
            "a|",
            "()",
            "^",
            "$",
            "a*?b",
            "x?y??",
            r"\/",
            "[-a]",
            "[a-]",
            "[.]",
            "[*+?]",
            r"\t",
            r"\$",
            r"\\",
            "[#&]",
            " ",
            "#",
            "a-b",
        ];
        for expression in expressions {
            let searched = Searched::new(expression).unwrap();
            let bounded = searched
                .bounded
                .as_ref()
                .unwrap_or_else(|| panic!("{expression} is not read alike"));
            for text in texts {
                let javascript = searched.javascript.find(text).is_some();
                assert_eq!(
                    bounded.is_match(text).unwrap(),
                    javascript,
                    "{expression} {text:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_not_alike_is_left_to_javascript() {
        for expression in [
            r"(.)\1", "[^]", "[]", "a{", "a}", "]", "a{,2}", r"\<", r"\cA", r"\0", r"[\b]",
            "[a[b]", "[a&&b]", r"\A", r"\z", r"\x41", "ä.", r"\h", "[+--]",
        ] {
            assert!(
                Searched::new(expression).unwrap().bounded.is_none(),
                "{expression}"
            );
        }
        let found = |expression, text| Searched::new(expression).unwrap().is_found_in(text);
        assert!(
            found(r"^a\-b$", "a-b")
                && found("a{,2}", "a{,2}")
                && found(r"\A", "A")
                && !found("[]", "a")
        );
        assert!(found(r"^\W$", "ä"), "classes are ASCII");
        assert!(!found("^.$", "\r"));
    }

    #[test]
    fn no_name_makes_an_expression_run_away() {
        let name = format!("{}!", "a".repeat(60));
        let started = Instant::now();
        for expression in ["(a+)+$", "(a|a)*$", "(a*)*b", "^(?=(a+)+$).*", "(a|aa)+$"] {
            Searched::new(expression).unwrap().is_found_in(&name);
            Whole::new(expression).unwrap().matches(&name);
        }
        assert!(
            Searched::new(r"(.*)(.*)\1\2x")
                .unwrap()
                .is_found_in(&"a".repeat(257))
        );
        assert!(
            Searched::new(r"x.y")
                .unwrap()
                .is_found_in(&"a".repeat(65 << 10)),
            "a guard is not skipped by a long name"
        );
        assert!(
            !Searched::new(r"x.y")
                .unwrap()
                .is_found_in(&"a".repeat(63 << 10))
        );
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn deep_and_long_expressions_are_no_danger() {
        for (open, close) in [("(", ")"), ("(?:", ")*"), ("(?=", ")"), ("[", "]")] {
            for depth in [10, 100, 1_000] {
                let expression = format!("{}a{}", open.repeat(depth), close.repeat(depth));
                let _ = Searched::new(&expression);
                let _ = Whole::new(&expression);
            }
        }
        let _ = Searched::new(&"a|".repeat(1_000));
        let _ = Searched::new("(((((((a{999}){999}){999}){999}){999}){999}){999})");
    }

    #[test]
    fn a_python_expression_must_be_valid_by_itself() {
        assert!(Whole::new("a)|(b").is_none());
        assert!(Whole::new("(").is_none());
        assert!(Whole::new("a|b").unwrap().matches("b"));
    }
}
