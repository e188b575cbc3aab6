//! One entry to one [`Hook`]: its kind, its fields, and what is refused.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use jsonc_parser::ast::{self, Value};
use jsonc_parser::common::Ranged as _;
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path as ErrorPath, Segment};

use super::entry::{
    AccessWord, CommandEntry, CommandText, ComponentEntry, OnFailureWord, OutputLimits, ShellWord,
};
use super::model::{
    Access, Command, CommandLine, Component, ComponentSource, FilesystemGrant, Handler, Hook, Limits, OnFailure,
    Permissions, Shell,
};
use super::read::{Place, Reader, event_name, kind, nearest, range};
use crate::dialect::Dialect;
use crate::select::Selector;
use crate::text;

/// The timeout of every hook in deepagents' list.
const DEEPAGENTS_TIMEOUT: Duration = Duration::from_secs(5);

/// The handlers of the Claude contract and of OpenHands that this version does not run.
const NOT_YET: [&str; 4] = ["http", "mcp_tool", "prompt", "agent"];

/// Reads one entry.
///
/// # Errors
///
/// The reader is told what is wrong. An entry that says `onFailure` and does not say `continue`
/// comes back refused.
pub(super) fn read(reader: &mut Reader<'_>, object: &ast::Object<'_>, place: &Place) -> Result<Hook, Option<Box<Hook>>> {
    let guards = object.properties.iter().any(|property| {
        let value = property.value.as_string_lit();
        property.name.as_str() == "onFailure" && value.is_none_or(|value| value.value != "continue")
    });
    let selector = selector(object, place);
    let entry = Entry { reader, object, place };
    match entry.read(selector.clone()) {
        Ok(hook) => Ok(hook),
        Err(message) => Err(guards.then(|| {
            Box::new(Hook {
                label: label(object),
                line: 0,
                column: 0,
                selector,
                handler: Handler::Refused(message),
                timeout: Duration::from_secs(1),
                on_failure: OnFailure::Block,
                decides: true,
            })
        })),
    }
}

struct Entry<'r, 'a, 'o> {
    reader: &'r mut Reader<'a>,
    object: &'o ast::Object<'o>,
    place: &'o Place,
}

impl Entry<'_, '_, '_> {
    fn read(mut self, selector: Selector) -> Result<Hook, String> {
        self.refuse_what_would_change_the_meaning()?;
        let observes = self.reader.dialect == Dialect::Deepagents && self.place.in_list;
        let (mut hook, timeout) = if self.is_component()? { self.component()? } else { self.command()? };
        hook.selector = selector;
        hook.label = label(self.object);
        hook.timeout = if observes { DEEPAGENTS_TIMEOUT } else { timeout.unwrap_or_else(|| self.default_timeout(&hook)) };
        hook.decides = !observes;
        Ok(hook)
    }

    fn default_timeout(&self, hook: &Hook) -> Duration {
        let rules = self.reader.dialect.rules();
        match (&hook.handler, self.place.event.as_deref()) {
            (Handler::Component(_), _) => rules.component_timeout,
            (_, Some("UserPromptSubmit" | "PreModelSwitch" | "PostModelSwitch")) => rules.prompt_timeout,
            _ => rules.command_timeout,
        }
    }

    /// Fields that this version does not act on, and whose hook must not run as if it had none.
    fn refuse_what_would_change_the_meaning(&mut self) -> Result<(), String> {
        for property in &self.object.properties {
            let name = property.name.as_str();
            let on = !matches!(&property.value, Value::NullKeyword(_))
                && property.value.as_boolean_lit().is_none_or(|value| value.value);
            let message = match name {
                "if" => "`if` rules are not supported by this version, so the hook is not run",
                "async" | "asyncRewake" | "async_" if on => {
                    "hooks in the background are not supported by this version, so the hook is not run"
                }
                _ => continue,
            };
            let span = property.name.start()..property.value.end();
            let help = if name == "if" { "narrow the `matcher`, or let the hook look itself" } else { "remove the field to run it in the foreground" };
            return self.fail(span, message.to_owned(), help);
        }
        Ok(())
    }

    fn fail<T>(&mut self, span: Range<usize>, message: String, help: &str) -> Result<T, String> {
        let told = self.reader.error(span, message.clone());
        if !help.is_empty() {
            told.help(help);
        }
        Err(message)
    }

    fn member(&self, name: &str) -> Option<&Value<'_>> {
        // Of duplicates the last, as in `Reader::members`, which warns.
        self.object.properties.iter().rev().find(|it| it.name.as_str() == name).map(|it| &it.value)
    }

    fn is_component(&mut self) -> Result<bool, String> {
        let whole = self.object.start()..self.object.end();
        let (named, span) = match self.member("type") {
            Some(Value::StringLit(text)) => (Some(text.value.to_string()), text.start()..text.end()),
            Some(other) => {
                let message = format!("`type` must be \"command\" or \"component\", and is {}", kind(other));
                let span = range(other);
                return self.fail(span, message, "");
            }
            None => (None, whole.clone()),
        };
        match named.as_deref() {
            Some("command") => Ok(false),
            Some("component") => Ok(true),
            Some(other) if NOT_YET.contains(&other) => {
                let message = format!("hooks of type \"{other}\" are not supported by this version");
                self.fail(span, message, "use a command or a component")
            }
            Some(other) => {
                let near = nearest(other, ["command", "component"]).map(|near| format!("did you mean \"{near}\"?"));
                let message = format!("`type` must be \"command\" or \"component\", and is \"{}\"", text::one_line(other, 40));
                self.fail(span, message, near.as_deref().unwrap_or_default())
            }
            None => match (self.member("command").is_some(), self.member("component").is_some()) {
                (true, true) => self.fail(whole, "the hook has both `command` and `component`".into(), "keep one of them"),
                (true, false) => Ok(false),
                (false, true) => Ok(true),
                (false, false) => self.fail(
                    whole,
                    "the hook has neither `command` nor `component`".into(),
                    "write {\"type\": \"command\", \"command\": \"\u{2026}\"}",
                ),
            },
        }
    }

    /// Reads the entry into its type. The first wrong value is an error at its place; fields that
    /// the type does not know are warnings.
    fn deserialize<T: DeserializeOwned>(&mut self, known: &[&str]) -> Result<T, String> {
        let mut deserializer = serde_json::Deserializer::from_str(&self.reader.text[self.object.start()..self.object.end()]);
        let lax = self.reader.dialect == Dialect::OpenHands;
        let mut unknown: Vec<Vec<Segment>> = Vec::new();
        let mut track = serde_path_to_error::Track::new();
        let result: Result<T, serde_json::Error> = if lax {
            serde_json::Value::deserialize_lax(&mut deserializer).and_then(|value| {
                T::deserialize(serde_path_to_error::Deserializer::new(value, &mut track))
            })
        } else {
            let tracked = serde_path_to_error::Deserializer::new(&mut deserializer, &mut track);
            serde_ignored::deserialize(tracked, |path| unknown.push(segments(&path)))
        };
        for path in unknown {
            let span = self.key_at(&path);
            let name = path.last().map(ToString::to_string).unwrap_or_default();
            let told = self.reader.warn(span, format!("`{name}` means nothing here"));
            if let Some(near) = nearest(&name, known.iter().copied()) {
                told.help(format!("did you mean `{near}`?"));
            }
        }
        result.map_err(|error| {
            let path = track.path();
            let span = self.value_at(&path);
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or(&what);
            let message = match path.iter().next() {
                Some(_) => format!("`{path}`: {what}"),
                None => what.to_owned(),
            };
            let found = &self.reader.text[span.clone()];
            let help = match found.strip_prefix('"').and_then(|it| it.strip_suffix('"')) {
                Some(number) if what.starts_with("invalid type") && number.parse::<f64>().is_ok() => {
                    format!("write {number} without the quotes")
                }
                _ => String::new(),
            };
            let (Ok(message) | Err(message)) = self.fail::<String>(span, message, &help);
            message
        })
    }

    /// The place of the value at a path, or of the nearest value around it.
    fn value_at(&self, path: &ErrorPath) -> Range<usize> {
        let mut at: Option<&Value> = None;
        for segment in path.iter() {
            let next = match (segment, at) {
                (Segment::Map { key }, None) => self.member(key),
                (Segment::Map { key }, Some(Value::Object(object))) => {
                    object.properties.iter().rev().find(|it| it.name.as_str() == key).map(|it| &it.value)
                }
                (Segment::Seq { index }, Some(Value::Array(array))) => array.elements.get(*index),
                _ => None,
            };
            match next {
                Some(value) => at = Some(value),
                None => break,
            }
        }
        at.map_or(self.object.start()..self.object.end(), range)
    }

    /// The place of the key at a path.
    fn key_at(&self, path: &[Segment]) -> Range<usize> {
        let mut objects = vec![self.object];
        let mut span = self.object.start()..self.object.end();
        let mut value: Option<&Value> = None;
        for segment in path {
            match segment {
                Segment::Map { key } => {
                    let Some(object) = objects.last() else { break };
                    let Some(property) = object.properties.iter().rev().find(|it| it.name.as_str() == key) else { break };
                    span = property.name.start()..property.name.end();
                    value = Some(&property.value);
                }
                Segment::Seq { index } => value = value.and_then(Value::as_array).and_then(|it| it.elements.get(*index)),
                _ => break,
            }
            if let Some(Value::Object(object)) = value {
                objects.push(object);
            }
        }
        span
    }

    /// The text of `config`, as it is written.
    fn config(&self) -> Option<String> {
        let value = self.member("config").filter(|value| value.as_object().is_some())?;
        Some(self.reader.text[range(value)].to_owned())
    }

    fn common(&mut self, once: Option<bool>) {
        for property in &self.object.properties {
            let name = property.name.as_str();
            if name == "once" && once == Some(true) {
                let span = property.name.start()..property.value.end();
                self.reader.warn(span, "`once` is ignored, as the Claude contract has it for settings files").help("remove it");
            }
        }
        let object = self.object;
        for (position, property) in object.properties.iter().enumerate() {
            let name = property.name.as_str();
            if object.properties[..position].iter().any(|earlier| earlier.name.as_str() == name) {
                let span = property.name.start()..property.name.end();
                self.reader.warn(span, format!("`{name}` stands here a second time; this one counts")).help("remove one of them");
            }
        }
    }

    fn command(&mut self) -> Result<(Hook, Option<Duration>), String> {
        for (name, why) in [
            ("permissions", "a command has all rights of the user; `permissions` are for components"),
            ("component", "the hook has both `command` and `component`"),
        ] {
            if let Some(span) = self.member(name).map(range) {
                return self.fail(span, why.into(), "make it a component, or remove the field");
            }
        }
        if let Some(Value::Object(limits)) = self.member("limits") {
            let metered = limits.properties.iter().find(|it| matches!(it.name.as_str(), "fuel" | "memory"));
            if let Some(span) = metered.map(|it| it.name.start()..it.value.end()) {
                let message = "a command is not metered; `fuel` and `memory` limit components".to_owned();
                return self.fail(span, message, "make it a component, or remove the limit");
            }
        }
        let entry: CommandEntry = self.deserialize(&[
            "type", "name", "command", "args", "shell", "timeout", "onFailure", "limits", "config", "statusMessage",
            "events", "stdout", "stderr",
        ])?;
        self.common(entry.once);
        let line = match (entry.command, entry.args) {
            (CommandText::Line(program), Some(args)) => CommandLine::Exec { program, args },
            (CommandText::Line(script), None) => CommandLine::Shell {
                shell: match entry.shell {
                    None => Shell::Sh,
                    Some(ShellWord::Bash) => Shell::Bash,
                    Some(ShellWord::Powershell) => Shell::PowerShell,
                },
                script,
            },
            (CommandText::List(mut parts), args) => {
                let program = parts.remove(0);
                parts.extend(args.unwrap_or_default());
                CommandLine::Exec { program, args: parts }
            }
        };
        let OutputLimits { stdout, stderr } = entry.limits.unwrap_or_default();
        let command = Command {
            line,
            stdout_limit: stdout.map_or(Limits::DEFAULT.stdout, |size| bytes(size.0)),
            stderr_limit: stderr.map_or(Limits::DEFAULT.stderr, |size| bytes(size.0)),
            config: self.config(),
        };
        Ok((hook(Handler::Command(command), entry.on_failure), entry.timeout.map(|it| it.0)))
    }

    fn component(&mut self) -> Result<(Hook, Option<Duration>), String> {
        let entry: ComponentEntry = self.deserialize(&[
            "type", "name", "component", "sha256", "args", "timeout", "onFailure", "limits", "permissions", "config",
            "statusMessage", "events", "fuel", "memory", "stdout", "stderr", "filesystem", "environment", "path", "access",
        ])?;
        self.common(entry.once);
        let limits = entry.limits.unwrap_or_default();
        let permissions = entry.permissions.unwrap_or_default();
        let component = Component {
            source: self.source(entry.component.0),
            sha256: entry.sha256.map(|digest| digest.0),
            args: entry.args.unwrap_or_default(),
            limits: Limits {
                fuel: limits.fuel.map_or(Limits::DEFAULT.fuel, |fuel| fuel.0),
                memory: limits.memory.map_or(Limits::DEFAULT.memory, |size| size.0),
                stdout: limits.stdout.map_or(Limits::DEFAULT.stdout, |size| bytes(size.0)),
                stderr: limits.stderr.map_or(Limits::DEFAULT.stderr, |size| bytes(size.0)),
            },
            permissions: Permissions {
                filesystem: permissions
                    .filesystem
                    .unwrap_or_default()
                    .into_iter()
                    .map(|grant| FilesystemGrant {
                        path: grant.path.0,
                        access: match grant.access {
                            AccessWord::Read => Access::Read,
                            AccessWord::Write => Access::Write,
                        },
                    })
                    .collect(),
                environment: permissions.environment.unwrap_or_default().into_iter().map(|name| name.0).collect(),
            },
            config: self.config(),
        };
        Ok((hook(Handler::Component(component), entry.on_failure), entry.timeout.map(|it| it.0)))
    }

    /// Relative paths start at the file's folder; placeholders are left for the run.
    fn source(&self, written: String) -> ComponentSource {
        if let Some(name) = written.strip_prefix("builtin:") {
            return ComponentSource::Builtin(name.to_owned());
        }
        if let (Some(rest), Some(home)) = (written.strip_prefix("~/"), std::env::home_dir()) {
            return ComponentSource::File(home.join(rest));
        }
        if written.starts_with("${workspace}") || written.starts_with("${CLAUDE_PROJECT_DIR}") {
            return ComponentSource::File(PathBuf::from(written));
        }
        let folder = self.reader.source.path.parent().unwrap_or_else(|| "".as_ref());
        ComponentSource::File(folder.join(written))
    }
}

/// Caps on outputs are at most 64 MiB, which every machine's `usize` holds.
fn bytes(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn hook(handler: Handler, on_failure: Option<OnFailureWord>) -> Hook {
    Hook {
        label: String::new(),
        line: 0,
        column: 0,
        selector: Selector::events(Vec::new()),
        handler,
        timeout: Duration::ZERO,
        on_failure: match on_failure {
            Some(OnFailureWord::Block) => OnFailure::Block,
            Some(OnFailureWord::Continue) | None => OnFailure::Continue,
        },
        decides: true,
    }
}

/// A list's entry names its events itself; one that names them wrongly is for all, so that a guard
/// that is refused blocks rather than vanishes.
fn selector(object: &ast::Object<'_>, place: &Place) -> Selector {
    if !place.in_list {
        return place.selector.clone();
    }
    let events = object.properties.iter().rev().find(|it| it.name.as_str() == "events");
    let names = events.and_then(|it| it.value.as_array()).map(|array| {
        array.elements.iter().filter_map(|value| value.as_string_lit()).map(|text| event_name(&text.value)).collect()
    });
    Selector::events(names.unwrap_or_default())
}

/// How the hook is called: its name, else what it runs, shortened.
fn label(object: &ast::Object<'_>) -> String {
    let member = |name: &str| object.properties.iter().rev().find(|it| it.name.as_str() == name).map(|it| &it.value);
    let shown = match (member("name"), member("component"), member("command")) {
        (Some(Value::StringLit(name)), _, _) if !name.value.is_empty() => name.value.to_string(),
        (_, Some(Value::StringLit(component)), _) => component.value.to_string(),
        (_, _, Some(Value::StringLit(command))) => command.value.to_string(),
        (_, _, Some(Value::Array(parts))) => {
            let parts: Vec<&str> = parts.elements.iter().filter_map(|it| it.as_string_lit()).map(|it| &*it.value).collect();
            parts.join(" ")
        }
        _ => "hook".to_owned(),
    };
    text::one_line(&shown, 60)
}

fn segments(path: &serde_ignored::Path) -> Vec<Segment> {
    use serde_ignored::Path;
    let mut segments = match path {
        Path::Root => return Vec::new(),
        Path::Seq { parent, .. }
        | Path::Map { parent, .. }
        | Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => self::segments(parent),
    };
    match path {
        Path::Seq { index, .. } => segments.push(Segment::Seq { index: *index }),
        Path::Map { key, .. } => segments.push(Segment::Map { key: key.clone() }),
        _ => {}
    }
    segments
}

/// OpenHands reads `timeout` as Python's pydantic does: text and booleans count as numbers, and
/// what is not above 0 ends the hook at once.
trait Lax: Sized {
    fn deserialize_lax<'de, D: serde::Deserializer<'de, Error = serde_json::Error>>(deserializer: D) -> Result<Self, serde_json::Error>;
}

impl Lax for serde_json::Value {
    fn deserialize_lax<'de, D: serde::Deserializer<'de, Error = serde_json::Error>>(deserializer: D) -> Result<Self, serde_json::Error> {
        let mut value: Self = serde::Deserialize::deserialize(deserializer)?;
        if let Some(timeout) = value.get_mut("timeout") {
            let seconds = match &timeout {
                Self::String(text) => text.trim().parse::<i64>().ok().map(|it| it as f64),
                Self::Bool(value) => Some(f64::from(u8::from(*value))),
                Self::Number(number) => number.as_f64().filter(|it| it.fract() == 0.0),
                _ => None,
            };
            if let Some(seconds) = seconds {
                *timeout = serde_json::json!(if seconds > 0.0 { seconds.min(86_400.0) } else { 0.001 });
            }
        }
        Ok(value)
    }
}
