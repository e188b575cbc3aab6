//! The patterns of `deny`: what may not be touched below a granted folder, and what never may.
//!
//! A pattern is read as in `.gitignore`, except that upper and lower case are the same: some
//! filesystems open `.env` when asked for `.ENV`.

mod defaults;

use std::sync::LazyLock;

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

pub use defaults::{ALLOWED, HIDDEN, PROTECTED};

/// Whether `text` can be a pattern.
pub(super) fn is_pattern(text: &str) -> bool {
    Patterns::new([text]).is_some()
}

/// What may not be touched below one granted folder: the patterns of its `deny`, and the defaults.
///
/// Paths are relative to the granted folder, their parts separated by `/`. What lies below a path
/// that fits a pattern is denied with it.
#[derive(Debug, Clone)]
pub struct Deny {
    own: Patterns,
}

/// The defaults, which are the same for every grant.
static DEFAULTS: LazyLock<Defaults> = LazyLock::new(|| {
    let patterns =
        |list: &[&str]| Patterns::new(list.iter().copied()).expect("a test reads each default");
    Defaults {
        hidden: patterns(HIDDEN),
        allowed: patterns(ALLOWED),
        protected: patterns(PROTECTED),
    }
});

struct Defaults {
    hidden: Patterns,
    allowed: Patterns,
    protected: Patterns,
}

/// Why a path may not be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A pattern of the grant's `deny`.
    Own,
    /// A default.
    Default,
}

impl Deny {
    /// The defaults, and these patterns. One that is no pattern denies everything: a grant must
    /// not be wider than it was meant.
    pub fn new(patterns: &[String]) -> Self {
        let own = Patterns::new(patterns.iter().map(String::as_str));
        Self {
            own: own.or_else(|| Patterns::new(["*"])).unwrap_or_default(),
        }
    }

    /// Why nothing at all may be done to `path`, if so. `folder`: whether a folder is there, or
    /// may be.
    pub fn hides(&self, path: &str, folder: bool) -> Option<Reason> {
        let path = folded(path);
        if self.own.fit(&path, folder) {
            return Some(Reason::Own);
        }
        fits_default(&DEFAULTS.hidden, &path, folder).then_some(Reason::Default)
    }

    /// The same for exactly this path, not for what it lies in: for a walk that asks about every
    /// folder on its way, and would ask about each as often as it is deep.
    pub fn hides_exactly(&self, path: &str, folder: bool) -> Option<Reason> {
        let path = folded(path);
        if self.own.fit_exactly(&path, folder) {
            return Some(Reason::Own);
        }
        fits_default_exactly(&DEFAULTS.hidden, &path, folder).then_some(Reason::Default)
    }

    /// Why `path` may not be created, changed, renamed or removed, if so: it is hidden, protected,
    /// or a folder that leads to what is. Such a folder may be made (`leads_there` is false), but
    /// never be put there from elsewhere, nor anything in its place.
    pub fn protects(&self, path: &str, folder: bool, leads_there: bool) -> Option<Reason> {
        self.hides(path, folder).or_else(|| {
            let path = folded(path);
            if leads_there && self.own.lead(&path) {
                return Some(Reason::Own);
            }
            let defaults = [&DEFAULTS.hidden, &DEFAULTS.protected];
            let protected = fits_default(&DEFAULTS.protected, &path, folder)
                || leads_there && defaults.iter().any(|patterns| patterns.lead(&path));
            protected.then_some(Reason::Default)
        })
    }
}

/// Whether a default fits this path, or a folder that it lies in. An allowed name lifts a default
/// off itself alone, not off a folder that it lies in.
fn fits_default(defaults: &Patterns, path: &str, folder: bool) -> bool {
    with_ancestors(path, folder).any(|(path, folder)| fits_default_exactly(defaults, path, folder))
}

fn fits_default_exactly(defaults: &Patterns, path: &str, folder: bool) -> bool {
    defaults.fit_exactly(path, folder) && !DEFAULTS.allowed.fit_exactly(path, folder)
}

/// Some patterns, ready to be held against paths that are [`folded`].
#[derive(Debug, Clone, Default)]
struct Patterns {
    /// Those that fit anything.
    any: GlobSet,
    /// Those that fit folders alone.
    folders: GlobSet,
    /// The beginnings of those that have several parts.
    beginnings: GlobSet,
}

impl Patterns {
    /// `None` if one of them is no pattern.
    fn new<'a>(list: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut any = GlobSetBuilder::new();
        let mut folders = GlobSetBuilder::new();
        let mut beginnings = GlobSetBuilder::new();
        for text in list {
            let parts = parts(text)?;
            let pattern = glob(&parts.join("/"))?;
            if text.ends_with('/') {
                folders.add(pattern);
            } else {
                any.add(pattern);
            }
            for end in 1..parts.len() {
                // Every folder may lead to what lies at any depth, and stays on the way to it
                // wherever it is put.
                if parts[..end].iter().any(|part| part != "**") {
                    beginnings.add(glob(&parts[..end].join("/"))?);
                }
            }
        }
        Some(Self {
            any: any.build().ok()?,
            folders: folders.build().ok()?,
            beginnings: beginnings.build().ok()?,
        })
    }

    /// Whether one of them fits exactly this path, not one that it lies in.
    fn fit_exactly(&self, path: &str, folder: bool) -> bool {
        let path = Candidate::new(path);
        self.any.is_match_candidate(&path) || folder && self.folders.is_match_candidate(&path)
    }

    /// Whether one of them fits this path, or a folder that it lies in.
    fn fit(&self, path: &str, folder: bool) -> bool {
        with_ancestors(path, folder).any(|(path, folder)| self.fit_exactly(path, folder))
    }

    /// Whether a path below this one may fit by what this one is called.
    fn lead(&self, path: &str) -> bool {
        self.beginnings.is_match(path)
    }
}

/// A path and the folders that it lies in, the outermost first, each with whether it is a folder.
fn with_ancestors(path: &str, folder: bool) -> impl Iterator<Item = (&str, bool)> {
    let ancestors = path.match_indices('/').map(|(end, _)| (&path[..end], true));
    ancestors.chain([(path, folder)])
}

/// The parts of a pattern, the first of them `**` unless it holds at the granted folder alone.
fn parts(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_suffix('/').unwrap_or(text);
    let anchored = inner.contains('/');
    let inner = inner.strip_prefix('/').unwrap_or(inner);
    let is_part = |part: &str| !matches!(part, "" | "." | "..");
    if text.starts_with('!') || text.contains('\0') || !inner.split('/').all(is_part) {
        return None;
    }
    let start = (!anchored).then(|| "**".to_owned());
    Some(
        start
            .into_iter()
            .chain(inner.split('/').map(escaped))
            .collect(),
    )
}

/// A part as the matcher reads it: braces, which `.gitignore` does not know, stand for themselves.
fn escaped(part: &str) -> String {
    let mut escaped = String::new();
    let (mut in_class, mut after_backslash) = (false, false);
    for character in folded(part).chars() {
        match character {
            '{' | '}' if !in_class && !after_backslash => escaped.push('\\'),
            '[' if !after_backslash => in_class = true,
            ']' if !after_backslash => in_class = false,
            _ => {}
        }
        after_backslash = character == '\\' && !after_backslash;
        escaped.push(character);
    }
    escaped
}

fn glob(pattern: &str) -> Option<Glob> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .ok()
}

/// The text in which names that a filesystem may hold for the same are the same: without upper
/// case, and without the characters that Apple's older filesystem leaves out of account.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars()
        .filter(|character| !is_ignored(*character))
        // There and back, for what has no lower case of its own, such as the long s.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_ignored(character: char) -> bool {
    matches!(character,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
