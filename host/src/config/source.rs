//! The text of one file, and where in it an offset is.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jsonc_parser::ast::Value;
use jsonc_parser::errors::{ParseError, ParseErrorKind};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::de::{Deserialize as _, IgnoredAny};

use super::diagnostic::ConfigError;
use crate::text;

/// The largest configuration file, in bytes: 4 MiB.
pub(super) const LARGEST: usize = 4 << 20;

/// How many bytes there are between two places whose line and column are kept.
const STRIDE: usize = 512;

/// How much of a line is looked at before and after the beginning of a span, in bytes.
const WINDOW: usize = 1_000;

/// What a file should begin with.
pub(super) const EXAMPLE: &str =
    r#"the smallest file is {"hooks": {"PreToolUse": [{"hooks": [{"command": "./check.sh"}]}]}}"#;

/// The text of one file.
#[derive(Clone)]
pub(super) struct Source {
    path: PathBuf,
    text: Arc<str>,
    /// Whether the file began with a byte order mark, which `text` does not hold.
    pub(super) has_mark: bool,
    /// Line and column, from 0, of the character at or behind every `STRIDE`-th byte.
    kept: Arc<[(usize, usize)]>,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// The text in `bytes`.
    ///
    /// # Errors
    ///
    /// When there are more than 4 MiB, or they are not UTF-8.
    pub(super) fn new(path: &Path, bytes: &[u8]) -> Result<Self, ConfigError> {
        if bytes.len() > LARGEST {
            let help = "hooks are called by it, not held in it: move scripts and data to files of their own";
            return Err(ConfigError::new(
                path,
                format_args!("is larger than {} MiB", LARGEST >> 20),
            )
            .with_help(help));
        }
        if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
            return Err(ConfigError::new(path, "is UTF-16").with_help("save it as UTF-8"));
        }
        let without_mark = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let has_mark = without_mark.len() < bytes.len();
        match std::str::from_utf8(without_mark) {
            Ok(text) => Ok(Self::from_text(path, text, has_mark)),
            Err(error) => {
                let valid = String::from_utf8_lossy(&without_mark[..error.valid_up_to()]);
                let source = Self::from_text(path, &valid, has_mark);
                let end = source.text.len();
                Err(
                    ConfigError::at(&source, end..end, "the file is not UTF-8 from here on")
                        .with_help("save it as UTF-8"),
                )
            }
        }
    }

    fn from_text(path: &Path, text: &str, has_mark: bool) -> Self {
        let mut kept = Vec::with_capacity(text.len() / STRIDE + 1);
        let (mut line, mut column) = (0, 0);
        for (offset, c) in text.char_indices() {
            if offset >= kept.len() * STRIDE {
                kept.push((line, column));
            }
            (line, column) = if c == '\n' {
                (line + 1, 0)
            } else {
                (line, column + 1)
            };
        }
        Self {
            path: path.to_owned(),
            text: text.into(),
            has_mark,
            kept: kept.into(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Line and column in characters, both from 1, of the character at a byte offset.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        let offset = self.text.floor_char_boundary(offset);
        let stride = (offset / STRIDE).min(self.kept.len().saturating_sub(1));
        let (mut line, mut column) = self.kept.get(stride).copied().unwrap_or_default();
        let from = self
            .text
            .ceil_char_boundary((stride * STRIDE).min(self.text.len()))
            .min(offset);
        for c in self.text[from..offset].chars() {
            (line, column) = if c == '\n' {
                (line + 1, 0)
            } else {
                (line, column + 1)
            };
        }
        (line + 1, column + 1)
    }

    /// The first line of a span as it can be shown, and the span within that; whether that is the
    /// whole line, in which every character has its column.
    pub(super) fn excerpt(&self, span: Range<usize>) -> (String, Range<usize>, bool) {
        let text = &self.text;
        let start = text.floor_char_boundary(span.start);
        let end = text.ceil_char_boundary(span.end.min(text.len())).max(start);
        // A line may be as long as the file; nothing behind the window is shown.
        let window = &text[text.ceil_char_boundary(start.saturating_sub(WINDOW))..start];
        let before = window.rsplit('\n').next().unwrap_or_default();
        let window = &text[start..text.floor_char_boundary(start + WINDOW)];
        let after = window.split('\n').next().unwrap_or_default();
        let inside = after.floor_char_boundary((end - start).min(after.len()));
        let is_whole = before.len() < WINDOW - 4 && after.len() < WINDOW - 4;

        let mut shown = without_acting(before);
        let marked = shown.len();
        shown += &without_acting(&after[..inside]);
        let marked = marked..shown.len();
        shown += without_acting(&after[inside..]).trim_end();
        if shown.len() < marked.end.max(marked.start + 1) {
            // Something must be there to be marked.
            shown.truncate(marked.end);
            shown.push(' ');
        }
        (shown, marked, is_whole)
    }

    /// The file's outermost value.
    ///
    /// # Errors
    ///
    /// When the text is empty or not strict JSON.
    pub(super) fn parse(&self) -> Result<Value<'_>, ConfigError> {
        let strict = ParseOptions {
            allow_comments: false,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&self.text, &CollectOptions::default(), &strict)
            .map_err(|error| self.not_json(&error))?;
        let Some(root) = parsed.value else {
            return Err(ConfigError::new(&self.path, "is empty").with_help(EXAMPLE));
        };
        self.check_strictly()?;
        Ok(root)
    }

    /// What the first parser lets pass, such as a line break within a string.
    fn check_strictly(&self) -> Result<(), ConfigError> {
        let mut deserializer = serde_json::Deserializer::from_str(&self.text);
        let checked = IgnoredAny::deserialize(&mut deserializer).and_then(|_| deserializer.end());
        checked.map_err(|error| {
            let line_start = match error.line() {
                0 | 1 => 0,
                line => self
                    .text
                    .match_indices('\n')
                    .nth(line - 2)
                    .map_or(0, |(offset, _)| offset + 1),
            };
            let offset = self
                .text
                .floor_char_boundary(line_start + error.column().saturating_sub(1));
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or(&message);
            ConfigError::at(
                self,
                offset..offset,
                &format!("the file is not JSON: {message}"),
            )
        })
    }

    fn not_json(&self, error: &ParseError) -> ConfigError {
        let (start, end) = (error.range().start, error.range().end);
        let start = self.text.floor_char_boundary(start);
        let at = |what: &str| {
            ConfigError::at(
                self,
                start..end.max(start),
                &format!("the file is not JSON: {what}"),
            )
        };
        match error.kind() {
            ParseErrorKind::CommentsNotAllowed | ParseErrorKind::UnterminatedCommentBlock => {
                at("this is a comment")
                    .with_help("JSON has no comments; a `description` beside `hooks` is allowed")
            }
            ParseErrorKind::TrailingCommasNotAllowed => {
                at("there is a comma behind the last member").with_help("remove the comma")
            }
            ParseErrorKind::SingleQuotedStringsNotAllowed => {
                at("this is in single quotes").with_help("JSON has strings in double quotes")
            }
            ParseErrorKind::ExpectedComma => {
                at("a comma is missing here").with_help("write a comma between members")
            }
            ParseErrorKind::UnterminatedObject => at("this object does not end")
                .with_help("the file may be cut off; a `}` is missing"),
            ParseErrorKind::UnterminatedArray => {
                at("this list does not end").with_help("the file may be cut off; a `]` is missing")
            }
            ParseErrorKind::NestingDepthExceeded => {
                at("lists and objects are too deep within each other")
            }
            kind => at(&lower_first(&kind.to_string())),
        }
    }
}

/// The text with every character that acts on a terminal replaced by one that does not.
fn without_acting(text: &str) -> String {
    let mut buffer = [0; 4];
    let replaced = |c: char| {
        if text::one_line(c.encode_utf8(&mut buffer), 1).starts_with(c) {
            c
        } else {
            '\u{fffd}'
        }
    };
    text.chars().map(replaced).collect()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source::new(Path::new("hooks.json"), text.as_bytes()).unwrap()
    }

    #[test]
    fn positions_are_in_characters() {
        let long = format!("äö\n{}\nx🙂y", "ß".repeat(5_000));
        let text = source(&long);
        for (what, expected) in [
            ("ä", (1, 1)),
            ("ö", (1, 2)),
            ("ß", (2, 1)),
            ("x", (3, 1)),
            ("y", (3, 3)),
        ] {
            assert_eq!(text.position(long.find(what).unwrap()), expected, "{what}");
        }
        assert_eq!(text.position(long.rfind('ß').unwrap()), (2, 5_000));
        assert_eq!(text.position(long.len()), (3, 4));
        assert_eq!(text.position(usize::MAX), (3, 4));
        assert_eq!(source("").position(0), (1, 1));
    }

    #[test]
    fn an_excerpt_is_one_line_without_what_acts() {
        let text = source("{\n  \"a\": \"\u{1b}[31m\u{202e}\", \"b\": [\n1]}");
        let of = |source: &Source, start: usize, end: usize| {
            let (line, marked, _) = source.excerpt(start..end);
            let marked = line.get(marked).map(str::to_owned);
            (line, marked.unwrap())
        };
        let line = "  \"a\": \"\u{fffd}[31m\u{fffd}\", \"b\": [".to_owned();
        let start = text.text().find("[\n").unwrap();
        assert_eq!(of(&text, start, start + 4), (line.clone(), "[".into()));
        let start = text.text().find("\"\u{1b}").unwrap();
        assert_eq!(
            of(&text, start, start + 10),
            (line, "\"\u{fffd}[31m\u{fffd}\"".into())
        );
        let long = source(&format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000)));
        let (line, marked, is_whole) = long.excerpt(5_000..5_001);
        assert_eq!((&line[marked], is_whole), ("X", false));
        assert!(line.len() < 3_000);
        assert_eq!(of(&source("ab"), 2, 2), ("ab ".into(), String::new()));
        assert_eq!(of(&source("äb\n"), 2, 3), ("äb".into(), "b".into()));
        assert_eq!(of(&source("a\n\nb"), 2, 4), (" ".into(), String::new()));
        assert_eq!(of(&source(""), 7, 9), (" ".into(), String::new()));
        assert!(source("a\nb").excerpt(2..3).2);
    }

    #[test]
    fn what_is_not_strict_json_is_placed() {
        for (text, position, what) in [
            ("{\n  // why\n}", "2:3", "this is a comment"),
            ("{} /* a", "1:4", "this is a comment"),
            ("{\"a\": [1,\n]}", "1:9", "a comma behind"),
            ("{\"a\": 1,}", "1:8", "a comma behind"),
            ("{'a': 1}", "1:2", "single quotes"),
            ("{\"a\": 1 \"b\": 2}", "1:8", "comma is missing"),
            ("{\"a\": {", "1:7", "does not end"),
            ("[1, [2]", "1:1", "does not end"),
            ("{\"a\": NaN}", "1:7", ""),
            ("{\"a\": 01}", "1:8", ""),
            ("{\"a\": 0x1}", "1:7", ""),
            ("{a: 1}", "1:2", ""),
            ("{\"ä\": \"\nb\"}", "1:7", "control character"),
            ("{\"a\": \"\\ud800\"}", "1:8", ""),
            ("{} {}", "1:4", "more than one"),
            ("\"\\x\"", "1:2", "escape"),
        ] {
            let error = source(text).parse().expect_err(text).to_string();
            assert!(
                error.starts_with(&format!("hooks.json:{position}")) && error.contains(what),
                "{text:?}: {error}"
            );
        }
        assert!(
            source(" \n")
                .parse()
                .expect_err("empty")
                .to_string()
                .contains("is empty")
        );
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(
            source(&deep)
                .parse()
                .expect_err("deep")
                .to_string()
                .contains("too deep")
        );
    }

    #[test]
    fn what_is_not_utf8_is_placed() {
        let error = |bytes: &[u8]| {
            Source::new(Path::new("h.json"), bytes)
                .err()
                .unwrap()
                .to_string()
        };
        assert_eq!(
            error(b"{\n \xff}"),
            "h.json:2:2: the file is not UTF-8 from here on"
        );
        assert!(error(b"\xff\xfe{\0}\0").contains("UTF-16"));
        assert!(error(&vec![b' '; LARGEST + 1]).contains("larger than 4 MiB"));
    }
}
