//! A file's text to a [`Configuration`]: the two shapes of `hooks`, and one hook at a time.

use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::diagnostic::{ConfigError, Diagnostic, Severity, Source};
use super::handler;
use super::model::{Configuration, Handler, Hook};
use crate::dialect::{Dialect, MatcherRule};
use crate::select::{self, Matcher, Selector};

/// The largest configuration file: 4 MiB.
const LARGEST: u64 = 4 << 20;

/// The events of the Claude contract; every other name is allowed too, and may be a mistake.
const EVENTS: [&str; 34] = [
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit",
    "UserPromptExpansion", "SessionStart", "SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop",
    "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch", "PermissionRequest", "PermissionDenied", "Setup",
    "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange",
    "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged", "DirectoryAdded",
    "MessageDisplay", "PreSkillShellCommand",
];

impl Configuration {
    /// Reads a configuration file by the rules of `dialect`.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is larger than 4 MiB, is not JSON, or its outermost value is
    /// not an object. Everything else is a [`Diagnostic`].
    pub fn read(path: &Path, dialect: Dialect) -> Result<Self, ConfigError> {
        let unreadable = |error: std::io::Error| ConfigError::new(path, format_args!("cannot be read: {error}"));
        if std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            return Err(ConfigError::new(path, "is a folder, not a file"));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Self::parse(&bytes, path, dialect)
    }

    /// Reads a configuration from its bytes. `path` is what it is called in messages, and its
    /// folder is where the paths of components start.
    ///
    /// # Errors
    ///
    /// As [`Configuration::read`].
    pub fn parse(bytes: &[u8], path: &Path, dialect: Dialect) -> Result<Self, ConfigError> {
        if bytes.len() as u64 > LARGEST {
            return Err(ConfigError::new(path, format_args!("is larger than {} MiB", LARGEST >> 20)));
        }
        let bytes_without_mark = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes_without_mark).map_err(|error| {
            ConfigError::new(path, format_args!("is not UTF-8 from byte {} on", error.valid_up_to()))
        })?;
        let source = Source { path: path.to_owned(), text: Arc::from(text) };
        let root = parse(&source, text)?;
        let mut reader = Reader { source: &source, text, dialect, hooks: Vec::new(), diagnostics: Vec::new() };
        if bytes.len() != bytes_without_mark.len() {
            reader.warn(0..0, "the file begins with a byte order mark, which other agents refuse").help("save it as UTF-8 without");
        }
        reader.root(&root);
        Ok(Self { path: Some(path.to_owned()), dialect, hooks: reader.hooks, diagnostics: reader.diagnostics })
    }
}

/// Parses strict JSON, with the places of everything.
fn parse<'a>(source: &Source, text: &'a str) -> Result<ast::Object<'a>, ConfigError> {
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
    let parsed = parse_to_ast(text, &CollectOptions::default(), &strict).map_err(|error| {
        let start = floor(text, error.range().start);
        let end = floor(text, error.range().end).max(start);
        let message = format!("this is not JSON: {}", error.kind().to_string().to_lowercase());
        let diagnostic = Diagnostic::new(Severity::Error, source, start..end, message);
        ConfigError::at(&match text[start..].as_bytes() {
            [b'/', b'/' | b'*', ..] => diagnostic.help("JSON has no comments"),
            [b',', ..] => diagnostic.help("JSON has no comma behind the last member"),
            [b'\'', ..] => diagnostic.help("JSON has texts in double quotes"),
            _ => diagnostic,
        })
    })?;
    let expected = "hooks.json is an object, such as {\"hooks\": {\"PreToolUse\": [\u{2026}]}}";
    match parsed.value {
        Some(Value::Object(root)) => Ok(root),
        Some(other) => {
            let message = format!("the outermost value must be an object, and is {}", kind(&other));
            let diagnostic = Diagnostic::new(Severity::Error, source, range(&other), message);
            Err(ConfigError::at(&diagnostic.help(expected)))
        }
        None => Err(ConfigError::new(&source.path, "is empty").with_help(expected)),
    }
}

fn floor(text: &str, mut offset: usize) -> usize {
    offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// What a value is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::StringLit(_) => "a text",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "a list",
        Value::NullKeyword(_) => "null",
    }
}

pub(super) fn range(value: &Value) -> Range<usize> {
    value.start()..value.end()
}

/// The known name that is nearest to a wrong one.
pub(super) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &wrong.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

/// When the hooks of a place run, and what else the place fixes for them.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) selector: Selector,
    /// Whether they stand in a list, where each names its events.
    pub(super) in_list: bool,
    /// The one event, if there is one.
    pub(super) event: Option<String>,
    /// Why the group cannot be used; its guards then block, the others are dropped.
    pub(super) broken: Option<String>,
}

/// Reads one file.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source,
    pub(super) text: &'a str,
    pub(super) dialect: Dialect,
    hooks: Vec<Hook>,
    diagnostics: Vec<Diagnostic>,
}

/// A diagnostic that was just made, for adding help.
pub(super) struct Told<'r>(&'r mut Diagnostic);

impl Told<'_> {
    pub(super) fn help(self, help: impl Into<String>) {
        *self.0 = self.0.clone().help(help);
    }
}

impl<'a> Reader<'a> {
    pub(super) fn error(&mut self, span: Range<usize>, message: impl Into<String>) -> Told<'_> {
        self.tell(Severity::Error, span, message.into())
    }

    pub(super) fn warn(&mut self, span: Range<usize>, message: impl Into<String>) -> Told<'_> {
        self.tell(Severity::Warning, span, message.into())
    }

    fn tell(&mut self, severity: Severity, span: Range<usize>, message: String) -> Told<'_> {
        self.diagnostics.push(Diagnostic::new(severity, self.source, span, message));
        let last = self.diagnostics.len() - 1;
        Told(&mut self.diagnostics[last])
    }

    /// The members of an object, of duplicates the last, as every agent's parser has it.
    pub(super) fn members<'v>(&mut self, object: &'v ast::Object<'a>) -> Vec<(&'v str, &'v ast::ObjectProp<'a>)> {
        let mut members: Vec<(&str, &ast::ObjectProp)> = Vec::new();
        for property in &object.properties {
            let name = property.name.as_str();
            if let Some(earlier) = members.iter_mut().find(|(known, _)| *known == name) {
                earlier.1 = property;
                let span = property.name.start()..property.name.end();
                self.warn(span, format!("`{name}` stands here a second time; this one counts")).help("remove one of them");
            } else {
                members.push((name, property));
            }
        }
        members
    }

    fn root(&mut self, root: &ast::Object<'a>) {
        let settings = self.dialect == Dialect::Claude
            && self.source.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("settings"));
        let members = self.members(root);
        let hooks = members.iter().find(|(name, _)| *name == "hooks").map(|(_, property)| &property.value);
        match hooks {
            Some(Value::Array(list)) => self.list(list),
            Some(Value::Object(events)) => self.events(events),
            Some(other) => self
                .error(range(other), format!("`hooks` must be an object of events or a list, and is {}", kind(other)))
                .help("write {\"hooks\": {\"PreToolUse\": [\u{2026}]}}"),
            None if settings => {}
            None => self.bare(&members),
        }
        if settings || hooks.is_none() {
            return;
        }
        for (name, property) in members {
            let known = ["hooks", "$schema", "description"];
            if !known.contains(&name) {
                let span = property.name.start()..property.name.end();
                let told = self.warn(span, format!("`{name}` means nothing here"));
                match nearest(name, known) {
                    Some(near) => told.help(format!("did you mean `{near}`?")),
                    None if property.value.as_array().is_some() => told.help("events stand within `hooks`"),
                    None => {}
                }
            }
        }
    }

    /// The form without the outer `hooks` (OpenHands): every member with a list is an event.
    fn bare(&mut self, members: &[(&str, &ast::ObjectProp<'a>)]) {
        for (name, property) in members {
            match &property.value {
                Value::Array(groups) => self.event(name, property, groups),
                _ if matches!(*name, "$schema" | "description") => {}
                _ => {
                    let span = property.name.start()..property.name.end();
                    let told = self.warn(span, format!("`{name}` means nothing here"));
                    told.help("the hooks of an event are a list, within `hooks`");
                }
            }
        }
    }

    fn events(&mut self, events: &ast::Object<'a>) {
        for (name, property) in self.members(events) {
            match &property.value {
                Value::Array(groups) => self.event(name, property, groups),
                other => self
                    .error(range(other), format!("the hooks of `{name}` must be a list of groups, and are {}", kind(other)))
                    .help("write [{\"matcher\": \"\u{2026}\", \"hooks\": [\u{2026}]}]"),
            }
        }
    }

    fn event(&mut self, written: &str, property: &ast::ObjectProp<'a>, groups: &ast::Array<'a>) {
        let event = event_name(written);
        if !EVENTS.contains(&event.as_str()) {
            let span = property.name.start()..property.name.end();
            let told = self.warn(span, format!("`{written}` is not an event of the Claude hook contract"));
            if let Some(near) = nearest(&event, EVENTS) {
                told.help(format!("did you mean `{near}`?"));
            }
        }
        for group in &groups.elements {
            self.group(&event, group);
        }
    }

    fn group(&mut self, event: &str, value: &Value<'a>) {
        let example = "write {\"matcher\": \"\u{2026}\", \"hooks\": [\u{2026}]}";
        let Value::Object(group) = value else {
            self.error(range(value), format!("a group must be an object, and is {}", kind(value))).help(example);
            return;
        };
        let members = self.members(group);
        let member = |name: &str| members.iter().find(|(known, _)| *known == name).map(|(_, property)| &property.value);
        let mut place = Place {
            selector: Selector::event(event, Matcher::ALL),
            in_list: false,
            event: Some(event.to_owned()),
            broken: None,
        };
        if let Some(matcher) = member("matcher") {
            match self.matcher(event, matcher) {
                Ok(matcher) => place.selector = Selector::event(event, matcher),
                Err(message) => place.broken = Some(message),
            }
        }
        for (name, property) in &members {
            if self.dialect != Dialect::OpenHands && !["matcher", "hooks", "description"].contains(name) {
                let span = property.name.start()..property.name.end();
                let told = self.warn(span, format!("`{name}` means nothing in a group"));
                match nearest(name, ["matcher", "hooks"]) {
                    Some(near) => told.help(format!("did you mean `{near}`?")),
                    None => told.help("the fields of a hook stand within the group's `hooks`"),
                }
            }
        }
        match member("hooks") {
            Some(Value::Array(hooks)) => {
                for hook in &hooks.elements {
                    self.hook(hook, &place);
                }
            }
            Some(other) => self
                .error(range(other), format!("`hooks` of a group must be a list, and is {}", kind(other)))
                .help(example),
            None => self.error(range(value), "the group has no `hooks`, so it runs nothing").help(example),
        }
    }

    /// Reads a matcher, or says why its group cannot be used.
    fn matcher(&mut self, event: &str, value: &Value<'a>) -> Result<Matcher, String> {
        let Value::StringLit(text) = value else {
            let message = format!("`matcher` must be a text, and is {}", kind(value));
            self.error(range(value), message.clone()).help("leave it out to match everything");
            return Err(message);
        };
        match self.dialect.rules().matcher {
            MatcherRule::OpenHands => Ok(Matcher::openhands(&text.value)),
            MatcherRule::Claude if select::matched_field(event).is_none() => {
                if !matches!(&*text.value, "" | "*") {
                    self.warn(range(value), format!("the event {event} has nothing to match; the matcher is ignored"))
                        .help("remove it");
                }
                Ok(Matcher::ALL)
            }
            MatcherRule::Claude => Matcher::claude(&text.value).map_err(|error| {
                let message = format!("`matcher` is no regular expression: {error}");
                self.error(range(value), message.clone()).help("a literal name needs no expression; `.*` matches everything");
                message
            }),
        }
    }

    fn list(&mut self, list: &ast::Array<'a>) {
        for value in &list.elements {
            let place = Place {
                selector: Selector::events(Vec::new()),
                in_list: true,
                event: None,
                broken: None,
            };
            self.hook(value, &place);
        }
    }

    fn hook(&mut self, value: &Value<'a>, place: &Place) {
        let Value::Object(object) = value else {
            self.error(range(value), format!("a hook must be an object, and is {}", kind(value)))
                .help("write {\"type\": \"command\", \"command\": \"\u{2026}\"}");
            return;
        };
        let (line, column) = self.source.position(value.start());
        match handler::read(self, object, place) {
            Ok(mut hook) => {
                (hook.line, hook.column) = (line, column);
                if let Some(message) = &place.broken {
                    if hook.on_failure != super::OnFailure::Block {
                        return;
                    }
                    hook.handler = Handler::Refused(message.clone());
                }
                self.hooks.push(hook);
            }
            Err(Some(mut refused)) => {
                (refused.line, refused.column) = (line, column);
                self.hooks.push(*refused);
            }
            Err(None) => {}
        }
    }
}

/// An event's name as the Claude contract has it: `pre_tool_use` and `preToolUse` are OpenHands'
/// spellings of `PreToolUse`.
pub(super) fn event_name(written: &str) -> String {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let first_is_lower = written.starts_with(|c: char| c.is_ascii_lowercase());
    let known = EVENTS.iter().find(|event| first_is_lower && plain(event) == plain(written));
    known.map_or(written, |event| *event).to_owned()
}
