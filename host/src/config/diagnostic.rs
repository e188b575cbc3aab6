//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::text;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// An entry is dropped, or (with `"onFailure": "block"`) refused.
    Error,
    /// Everything is accepted, and something is probably not meant.
    Warning,
}

/// One thing that is wrong with a configuration file.
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
    /// The bytes of the file that it is about.
    pub span: Range<usize>,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
    source: Arc<str>,
}

impl Diagnostic {
    pub(super) fn new(severity: Severity, source: &Source, span: Range<usize>, message: String) -> Self {
        let (line, column) = source.position(span.start);
        Self {
            severity,
            path: source.path.clone(),
            line,
            column,
            span,
            message: text::one_line(&message, 400),
            help: None,
            source: Arc::clone(&source.text),
        }
    }

    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(text::one_line(&help.into(), 400)), ..self }
    }

    /// On one line: `hooks.json:12:15: error: …`, and the help behind it.
    pub fn one_line(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let at = format!("{}:{}:{}", self.path.display(), self.line, self.column);
        let hint = self.help.as_ref().map(|help| format!(" (hint: {help})")).unwrap_or_default();
        format!("{}: {severity}: {}{hint}", text::one_line(&at, 500), self.message)
    }

    /// With the lines of the file that it is about, in colour; print it through a writer that
    /// takes the colours out where they are not wanted.
    pub fn rendered(&self) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let (shown, span) = self.shown();
        let snippet = Snippet::source(&*shown)
            .line_start(self.line)
            .path(self.path.display().to_string())
            .annotation(AnnotationKind::Primary.span(span));
        let mut group = Group::with_title(level.primary_title(&*self.message)).element(snippet);
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.with_name("hint").message(&**help));
        }
        Renderer::styled().render(&[group])
    }

    /// The first line of the span, without what would act on a terminal, and the span within it.
    fn shown(&self) -> (String, Range<usize>) {
        let start = self.source[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = self.source[self.span.start..].find('\n').map_or(self.source.len(), |at| self.span.start + at);
        let clean = |range: Range<usize>| text::one_line(&self.source[range], 200);
        let before = clean(start..self.span.start);
        let inside = clean(self.span.start..self.span.end.clamp(self.span.start, end));
        let after = clean(self.span.end.clamp(self.span.start, end)..end);
        let span = before.len()..before.len() + inside.len().max(1);
        (format!("{before}{inside}{after} "), span)
    }
}

/// The text of a file, for finding lines and columns.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: Arc<str>,
}

impl Source {
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// Why a configuration file as a whole cannot be used.
#[derive(Debug)]
pub struct ConfigError {
    message: String,
    help: Option<String>,
}

impl ConfigError {
    pub(super) fn new(path: &Path, what: impl fmt::Display) -> Self {
        let message = format!("the configuration `{}` {what}", text::one_line(&path.display().to_string(), 500));
        Self { message, help: None }
    }

    pub(super) fn at(diagnostic: &Diagnostic) -> Self {
        let at = format!("{}:{}:{}", diagnostic.path.display(), diagnostic.line, diagnostic.column);
        let message = format!("{}: {}", text::one_line(&at, 500), diagnostic.message);
        Self { message, help: diagnostic.help.clone() }
    }

    pub(super) fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
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
