//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::source::Source;
use crate::text::{self, Text};

/// The longest message or help, in characters. What it quotes from the file is shorter still.
const LONGEST: usize = 600;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Something that the file says does not happen: an entry or a group is dropped, or (with
    /// `"onFailure": "block"`) refused.
    Error,
    /// Everything that the file says happens, and some of it is probably not meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong with a configuration file.
///
/// Whatever is quoted from the file is bounded, and its characters that act on a terminal are
/// written out.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The bytes that it is about, in the file's text without a byte order mark.
    pub span: Range<usize>,
    /// What is wrong, in one sentence.
    pub message: Text,
    /// What would be right.
    pub help: Option<Text>,
    source: Source,
}

impl Diagnostic {
    pub(super) fn new(
        severity: Severity,
        source: &Source,
        span: Range<usize>,
        message: &str,
    ) -> Self {
        let (line, column) = source.position(span.start);
        Self {
            severity,
            path: source.path().to_owned(),
            line,
            column,
            span,
            message: text::one_line(message, LONGEST),
            help: None,
            source: source.clone(),
        }
    }

    pub(super) fn set_help(&mut self, help: &str) {
        self.help = Some(text::one_line(help, LONGEST));
    }

    /// File, line and column: `hooks.json:12:15`.
    pub fn position(&self) -> String {
        format!("{}:{}:{}", shown(&self.path), self.line, self.column)
    }

    /// On one line: `hooks.json:12:15: error: …`, with ` (hint: …)` behind it if there is help.
    pub fn one_line(&self) -> String {
        let hint = self
            .help
            .as_ref()
            .map(|help| format!(" (hint: {help})"))
            .unwrap_or_default();
        format!(
            "{}: {}: {}{hint}",
            self.position(),
            self.severity,
            self.message
        )
    }

    /// Several lines, with the line of the file that it is about, in colour. Print it through a
    /// writer that takes the colours out where they are not wanted, or use [`Diagnostic::plain`].
    pub fn rendered(&self) -> String {
        self.render(&Renderer::styled())
    }

    /// As [`Diagnostic::rendered`], without colour.
    pub fn plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let (excerpt, marked, is_whole) = self.source.excerpt(self.span.clone());
        let snippet = Snippet::source(excerpt)
            .line_start(self.line)
            .annotation(AnnotationKind::Primary.span(marked));
        let group = Group::with_title(level.primary_title(&*self.message));
        let path = shown(&self.path);
        let mut group = if is_whole {
            group.element(snippet.path(path))
        } else {
            // Of a part of a line, the renderer cannot tell the column.
            group
                .element(Origin::path(path).line(self.line).char_column(self.column))
                .element(snippet)
        };
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.with_name("hint").message(&**help));
        }
        renderer.render(&[group])
    }
}

/// A path as it stands in messages.
pub(super) fn shown(path: &Path) -> String {
    text::one_line(&path.display().to_string(), LONGEST).into()
}

/// Why a configuration file as a whole cannot be used.
#[derive(Debug, Clone)]
pub struct ConfigError {
    path: PathBuf,
    message: String,
    help: Option<Text>,
}

impl ConfigError {
    /// The file at `path` can be used by nobody; `what` continues the sentence.
    pub(super) fn new(path: &Path, what: impl fmt::Display) -> Self {
        let message = format!("the configuration `{}` {what}", shown(path));
        Self {
            path: path.to_owned(),
            message,
            help: None,
        }
    }

    /// The text is unusable from this place on.
    pub(super) fn at(source: &Source, span: Range<usize>, message: &str) -> Self {
        let diagnostic = Diagnostic::new(Severity::Error, source, span, message);
        let message = format!("{}: {}", diagnostic.position(), diagnostic.message);
        Self {
            path: diagnostic.path,
            message,
            help: None,
        }
    }

    #[must_use]
    pub(super) fn with_help(self, help: &str) -> Self {
        Self {
            help: Some(text::one_line(help, LONGEST)),
            ..self
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}
