//! A file's text to a [`Configuration`]: the shapes of `hooks`, down to the single entries.

use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;

use super::diagnostic::{ConfigError, Diagnostic, Severity};
use super::event_names;
use super::fault::found;
use super::hook::{self, Place};
use super::model::{Configuration, Hook};
use super::near::did_you_mean;
use super::source::{EXAMPLE, LARGEST, Source};
use super::values::{member, members, range};
use crate::dialect::{Dialect, MatcherRule};
use crate::select::{self, Matcher};
use crate::text;

/// The members of the outermost object.
const ROOT: [&str; 3] = ["$schema", "description", "hooks"];

/// The members of a group.
const GROUP: [&str; 2] = ["matcher", "hooks"];

const GROUP_EXAMPLE: &str =
    r#"write {"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}"#;

impl Configuration {
    /// Reads a configuration file by the rules of `dialect`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is a folder, is larger than 4 MiB, is empty, is not UTF-8 or
    /// not strict JSON, or when its outermost value or `hooks` has the wrong type. Everything else
    /// that is wrong is in [`Configuration::diagnostics`].
    pub fn read(path: &Path, dialect: Dialect) -> Result<Self, ConfigError> {
        let unreadable =
            |error: std::io::Error| ConfigError::new(path, format_args!("cannot be read: {error}"));
        if std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            return Err(
                ConfigError::new(path, "is a folder").with_help("name the hooks.json in it")
            );
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(LARGEST as u64 + 1)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        let absolute = std::path::absolute(path).map_err(unreadable)?;
        let folder = absolute.parent().unwrap_or(Path::new("/"));
        read(&bytes, path, folder, dialect)
    }

    /// Reads a configuration from its bytes. `path` is what it is called in messages, and the
    /// paths of components start at its folder: at the project, where that is relative.
    ///
    /// # Errors
    ///
    /// As [`Configuration::read`].
    pub fn parse(bytes: &[u8], path: &Path, dialect: Dialect) -> Result<Self, ConfigError> {
        read(bytes, path, path.parent().unwrap_or(Path::new("")), dialect)
    }
}

fn read(
    bytes: &[u8],
    path: &Path,
    folder: &Path,
    dialect: Dialect,
) -> Result<Configuration, ConfigError> {
    let source = Source::new(path, bytes)?;
    let root = source.parse()?;
    let mut draft = Draft {
        source: &source,
        dialect,
        folder: folder.to_owned(),
        hooks: Vec::new(),
        diagnostics: Vec::new(),
    };
    if source.has_mark {
        draft
            .warn(
                0..0,
                "the file begins with a byte order mark, which agents refuse".into(),
            )
            .help("save it without");
    }
    draft.root(&root)?;
    let Draft {
        hooks,
        mut diagnostics,
        ..
    } = draft;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.start);
    Ok(Configuration {
        path: Some(path.to_owned()),
        dialect,
        hooks,
        diagnostics,
    })
}

/// A configuration in the making.
pub(super) struct Draft<'s> {
    source: &'s Source,
    pub(super) dialect: Dialect,
    /// Where the paths of components start.
    pub(super) folder: PathBuf,
    pub(super) hooks: Vec<Hook>,
    diagnostics: Vec<Diagnostic>,
}

/// A diagnostic that was just made.
pub(super) struct Told<'d>(&'d mut Diagnostic);

impl Told<'_> {
    /// Adds what would be right.
    pub(super) fn help(self, help: impl AsRef<str>) {
        self.0.set_help(help.as_ref());
    }

    /// Where and what, for a refusal.
    pub(super) fn message(&self) -> String {
        format!("{}: {}", self.0.position(), self.0.message)
    }
}

impl Draft<'_> {
    pub(super) fn error(&mut self, range: Range<usize>, message: String) -> Told<'_> {
        self.tell(Severity::Error, range, &message)
    }

    pub(super) fn warn(&mut self, range: Range<usize>, message: String) -> Told<'_> {
        self.tell(Severity::Warning, range, &message)
    }

    fn tell(&mut self, severity: Severity, range: Range<usize>, message: &str) -> Told<'_> {
        let index = self.diagnostics.len();
        self.diagnostics
            .push(Diagnostic::new(severity, self.source, range, message));
        Told(&mut self.diagnostics[index])
    }

    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        self.source.position(offset)
    }

    pub(super) fn text(&self) -> &str {
        self.source.text()
    }

    fn root(&mut self, root: &Value<'_>) -> Result<(), ConfigError> {
        let wrong = |value: &Value<'_>, what: &str| {
            ConfigError::at(
                self.source,
                range(value),
                &format!("{what}; found {}", found(value)),
            )
            .with_help(EXAMPLE)
        };
        let Value::Object(object) = root else {
            return Err(wrong(root, "the outermost value must be an object"));
        };
        // Of an agent's settings only the hooks are ours.
        let is_settings = self.dialect == Dialect::Claude
            && self
                .source
                .path()
                .file_name()
                .is_some_and(|name| name == "settings.json" || name == "settings.local.json");
        match member(object, "hooks").map(|it| &it.value) {
            Some(hooks @ Value::Object(events)) => {
                self.duplicates(hooks);
                self.beside_hooks(object, is_settings);
                for event in members(events) {
                    self.event(event);
                }
            }
            Some(hooks @ Value::Array(list)) => {
                self.duplicates(hooks);
                self.beside_hooks(object, is_settings);
                for value in &list.elements {
                    hook::read(self, value, &Place::List);
                }
            }
            Some(other) => {
                return Err(wrong(
                    other,
                    "`hooks` must be an object of events, or a list of hooks",
                ));
            }
            None if is_settings => {}
            None => {
                self.duplicates(root);
                self.bare(object);
            }
        }
        Ok(())
    }

    /// Warns of keys that stand in an object twice, at any depth.
    fn duplicates(&mut self, value: &Value<'_>) {
        match value {
            Value::Object(object) => {
                self.duplicates_of(object);
                object
                    .properties
                    .iter()
                    .for_each(|property| self.duplicates(&property.value));
            }
            Value::Array(array) => array
                .elements
                .iter()
                .for_each(|value| self.duplicates(value)),
            _ => {}
        }
    }

    fn duplicates_of(&mut self, object: &Object<'_>) {
        let mut seen = std::collections::BTreeSet::new();
        for property in &object.properties {
            let name = property.name.as_str();
            if !seen.insert(name) {
                let message = format!(
                    "`{}` is here for a second time; the last one counts",
                    quoted(name)
                );
                self.warn(key(property), message).help("remove one of them");
            }
        }
    }

    /// The members of the outermost object that has `hooks`.
    fn beside_hooks(&mut self, root: &Object<'_>, is_settings: bool) {
        if is_settings {
            return;
        }
        self.duplicates_of(root);
        for property in members(root).filter(|it| !ROOT.contains(&it.name.as_str())) {
            let name = property.name.as_str();
            let event = event_names::normalised(name);
            if property.value.as_array().is_some()
                && event_names::doubt(&event, Dialect::Claude, false).is_none()
            {
                let message = format!("`{}` stands beside `hooks`, and is ignored", quoted(name));
                self.error(key(property), message)
                    .help("move it into `hooks`");
            } else {
                let told = self.warn(
                    key(property),
                    format!("`{}` is unknown, and ignored", quoted(name)),
                );
                if let Some(help) = did_you_mean(name, ROOT) {
                    told.help(help);
                }
            }
        }
    }

    /// The form without `hooks`: every member that is a list is an event.
    fn bare(&mut self, root: &Object<'_>) {
        let has_events = root
            .properties
            .iter()
            .any(|property| property.value.as_array().is_some());
        for property in members(root) {
            let name = property.name.as_str();
            match &property.value {
                Value::Array(_) => self.event(property),
                _ if name == "$schema" || name == "description" => {}
                value => {
                    let event = event_names::normalised(name);
                    if event_names::doubt(&event, Dialect::Claude, false).is_none() {
                        self.event(property);
                        continue;
                    }
                    let help = did_you_mean(name, ROOT).unwrap_or_else(|| EXAMPLE.to_owned());
                    let message = format!("`{}` is unknown, and ignored", quoted(name));
                    // A file of which nothing is left was meant to do something.
                    let is_lost = !has_events && matches!(value, Value::Object(_));
                    let severity = if is_lost {
                        Severity::Error
                    } else {
                        Severity::Warning
                    };
                    self.tell(severity, key(property), &message).help(help);
                }
            }
        }
    }

    fn event(&mut self, property: &ObjectProp<'_>) {
        let written = property.name.as_str();
        let event = event_names::normalised(written);
        let Value::Array(groups) = &property.value else {
            let message = format!(
                "`{}` must be a list of groups; found {}",
                quoted(written),
                found(&property.value)
            );
            self.error(range(&property.value), message)
                .help("write [{\"matcher\": \"…\", \"hooks\": […]}]");
            return;
        };
        if let Some((message, help)) = event_names::doubt(&event, self.dialect, false) {
            let told = self.warn(key(property), message);
            if let Some(help) = help {
                told.help(help);
            }
        }
        for group in &groups.elements {
            self.group(&event, group);
        }
    }

    fn group(&mut self, event: &str, value: &Value<'_>) {
        let Value::Object(group) = value else {
            let message = format!("a group must be an object; found {}", found(value));
            self.error(range(value), message).help(GROUP_EXAMPLE);
            return;
        };
        let matcher = match member(group, "matcher") {
            Some(matcher) => self.matcher(event, &matcher.value),
            None => Ok(Matcher::ALL),
        };
        let hooks: Option<&Array<'_>> = match member(group, "hooks").map(|it| &it.value) {
            Some(Value::Array(hooks)) => Some(hooks),
            Some(other) => {
                let message = format!("`hooks` of a group must be a list; found {}", found(other));
                self.error(range(other), message).help(GROUP_EXAMPLE);
                None
            }
            None if self.dialect == Dialect::OpenHands => {
                self.warn(
                    range(value),
                    "the group has no `hooks`, and runs nothing".into(),
                )
                .help(GROUP_EXAMPLE);
                None
            }
            None if ["command", "component", "type"]
                .iter()
                .any(|name| member(group, name).is_some()) =>
            {
                self.error(
                    range(value),
                    "this is a hook where a group of hooks must be".into(),
                )
                .help(GROUP_EXAMPLE);
                return;
            }
            None => {
                self.error(
                    range(value),
                    "the group has no `hooks`, and runs nothing".into(),
                )
                .help(GROUP_EXAMPLE);
                None
            }
        };
        if self.dialect != Dialect::OpenHands {
            for property in members(group).filter(|it| !GROUP.contains(&it.name.as_str())) {
                let name = property.name.as_str();
                let told = self.warn(
                    key(property),
                    format!("`{}` is unknown in a group, and ignored", quoted(name)),
                );
                match did_you_mean(name, GROUP) {
                    Some(help) => told.help(help),
                    None => told.help("what is for a single hook belongs into the list `hooks`"),
                }
            }
        }
        let place = Place::Group {
            event: event.to_owned(),
            matcher,
        };
        for value in hooks.iter().flat_map(|hooks| &hooks.elements) {
            hook::read(self, value, &place);
        }
    }

    /// A group's matcher, or what is wrong with it; that was told then.
    fn matcher(&mut self, event: &str, value: &Value<'_>) -> Result<Matcher, String> {
        let Value::StringLit(text) = value else {
            let told = self.error(
                range(value),
                format!("`matcher` must be a string; found {}", found(value)),
            );
            let message = told.message();
            told.help("leave it out to match everything");
            return Err(message);
        };
        let is_all = matches!(&*text.value, "" | "*");
        let matcher = match self.dialect.rules().matcher {
            MatcherRule::OpenHands => {
                if !is_all && !matches!(event, "PreToolUse" | "PostToolUse") {
                    let message = format!(
                        "OpenHands has nothing to match on `{}`, so this never runs",
                        quoted(event)
                    );
                    self.warn(range(value), message)
                        .help("write \"*\", or leave it out");
                }
                Matcher::openhands(&text.value)
            }
            MatcherRule::Claude => {
                if !is_all && select::matched_field(event).is_none() {
                    let message = format!(
                        "`{}` has nothing to match, so `matcher` is ignored",
                        quoted(event)
                    );
                    self.warn(range(value), message).help("leave it out");
                }
                Matcher::claude(&text.value).map_err(|error| {
                    let from = text.start() + offset_in_literal(&self.source.text()[range(value)], error.offset);
                    let at = from..text.end().saturating_sub(1).max(from);
                    let told = self.error(at, format!("`matcher` is not a valid regular expression: {}", error.message));
                    let message = told.message();
                    told.help("a character with a meaning of its own is taken literally behind two backslashes: \"\\\\(\"");
                    message
                })?
            }
        };
        if matcher.fits_nothing() {
            self.warn(
                range(value),
                "`matcher` matches nothing, so this never runs".into(),
            );
        }
        Ok(matcher)
    }
}

/// Where the character of this index is in a string as it is written, quotes and escapes included.
fn offset_in_literal(written: &str, index: usize) -> usize {
    let mut offset = 1;
    for _ in 0..index {
        let rest = &written[offset.min(written.len())..];
        let is_surrogate = |text: &str| {
            text.get(2..4)
                .is_some_and(|it| matches!(it.to_lowercase().as_str(), "d8" | "d9" | "da" | "db"))
        };
        offset += match rest.as_bytes() {
            [b'\\', b'u', ..] if is_surrogate(rest) => 12,
            [b'\\', b'u', ..] => 6,
            [b'\\', ..] => 2,
            _ => rest.chars().next().map_or(0, char::len_utf8),
        };
    }
    offset.min(written.len())
}

fn key(property: &ObjectProp<'_>) -> Range<usize> {
    property.name.start()..property.name.end()
}

fn quoted(name: &str) -> String {
    text::one_line(name, 60).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_found_in_what_is_written() {
        for (written, index, offset) in [
            (r#""abc""#, 2, 3),
            (r#""\\(x""#, 1, 3),
            (r#""äb""#, 1, 3),
            (r#""\u00e4b""#, 1, 7),
            (r#""\ud83d\ude42b""#, 1, 13),
            (r#""ab""#, 99, 4),
            (r#""\u00""#, 3, 6),
        ] {
            assert_eq!(offset_in_literal(written, index), offset, "{written}");
        }
    }
}
