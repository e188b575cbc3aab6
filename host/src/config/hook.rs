//! One entry to one [`Hook`]: what its fields mean together, in a file of its dialect.

use std::ops::Range;
use std::time::Duration;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged as _;

use super::entry::{Entry, Kind};
use super::event_names;
use super::fault::found;
use super::fields::{LONGEST_TIMEOUT, TIMEOUT};
use super::model::{Handler, Hook, OnFailure};
use super::near::did_you_mean;
use super::read::{Draft, Told};
use super::values::{self, member, range};
use crate::dialect::Dialect;
use crate::select::{Matcher, Selector};
use crate::text::{self, Text};

/// The timeout of every hook in deepagents' list.
const DEEPAGENTS_TIMEOUT: Duration = Duration::from_secs(5);

/// The shortest timeout. OpenHands' 0 and less, which ends a hook at once, is this one too.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);

/// The events on which a command has less time.
const PROMPT_EVENTS: [&str; 3] = ["UserPromptSubmit", "PreModelSwitch", "PostModelSwitch"];

/// The handlers of the Claude contract and of OpenHands that this version does not run.
const NOT_YET: [&str; 4] = ["http", "mcp_tool", "prompt", "agent"];

/// Where an entry stands.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In the list, where each entry names its events.
    List,
    /// In a group of an event.
    Group {
        event: String,
        /// The group's matcher, or what is wrong with it.
        matcher: Result<Matcher, String>,
    },
}

/// Reads one entry and puts its hook into the draft, or tells what is wrong with it.
pub(super) fn read(draft: &mut Draft<'_>, value: &Value<'_>, place: &Place) {
    let Value::Object(object) = value else {
        draft
            .error(
                range(value),
                format!("a hook must be an object; found {}", found(value)),
            )
            .help(r#"write {"type": "command", "command": "…"}"#);
        return;
    };
    let watches = draft.dialect == Dialect::Deepagents && matches!(place, Place::List);
    let mut reader = Reader {
        draft,
        object,
        place,
        watches,
        refusal: None,
    };
    let read = reader.hook();
    let refusal = reader.refusal.take();
    let (line, column) = reader.draft.position(object.range.start);
    let hook = match (place, read, refusal) {
        (
            Place::Group {
                matcher: Err(message),
                ..
            },
            ..,
        ) => reader.refused(message.clone()),
        (_, Some(hook), None) => Some(hook),
        (.., refusal) => refusal.and_then(|message| reader.refused(message)),
    };
    reader.draft.hooks.extend(hook.map(|hook| Hook {
        line,
        column,
        ..hook
    }));
}

/// Reads one entry.
pub(super) struct Reader<'d, 'f, 'o, 't> {
    pub(super) draft: &'d mut Draft<'f>,
    pub(super) object: &'o Object<'t>,
    place: &'o Place,
    /// Whether it is a hook of deepagents' list, which decides nothing.
    pub(super) watches: bool,
    /// The first thing that is wrong, if something is.
    refusal: Option<String>,
}

impl<'o, 't> Reader<'_, '_, 'o, 't> {
    fn hook(&mut self) -> Option<Hook> {
        if self.is_of_a_kind_not_yet_run() {
            return None;
        }
        let entry = self.entry();
        let kind = self.kind(entry.as_ref());
        let entry = entry?;
        self.check_what_would_change_the_meaning(&entry);
        let selector = self.selector(&entry);
        let timeout = self.timeout(&entry, kind);
        if entry.once == Some(true) {
            self.warn(
                "once",
                "`once` is ignored, as the Claude contract has it for settings files",
            );
        }
        let handler = match kind? {
            Kind::Command => self.command(&entry),
            Kind::Component => self.component(&entry),
        }?;
        Some(Hook {
            label: self.label(),
            line: 0,
            column: 0,
            selector,
            handler,
            timeout,
            on_failure: if self.watches {
                OnFailure::Continue
            } else {
                entry.on_failure.unwrap_or_default()
            },
            decides: !self.watches,
        })
    }

    /// The entry as a refusal, if it is a guard: if it says `onFailure` and does not say
    /// `continue`. A mistake in that word is no reason to let everything pass.
    fn refused(&self, message: String) -> Option<Hook> {
        let is_guard = match member(self.object, "onFailure").map(|it| &it.value) {
            None => false,
            Some(Value::StringLit(word)) => word.value != "continue",
            Some(Value::NullKeyword(_)) => self.draft.dialect != Dialect::OpenHands,
            Some(_) => true,
        };
        let selector = match self.place {
            Place::List => Selector::events(self.event_names()),
            Place::Group { event, matcher } => {
                Selector::event(event, matcher.clone().unwrap_or(Matcher::ALL))
            }
        };
        (is_guard && !self.watches).then(|| Hook {
            label: self.label(),
            line: 0,
            column: 0,
            selector,
            handler: Handler::Refused(message),
            timeout: self.draft.dialect.rules().command_timeout,
            on_failure: OnFailure::Block,
            decides: true,
        })
    }

    pub(super) fn error(&mut self, range: Range<usize>, message: String) -> Told<'_> {
        let told = self.draft.error(range, message);
        self.refusal.get_or_insert_with(|| told.message());
        told
    }

    /// An error about a member, if it is there.
    pub(super) fn forbid(&mut self, name: &str, message: &str, help: &str) {
        if let Some(range) = self.range_of(name) {
            self.error(range, message.to_owned()).help(help);
        }
    }

    /// A warning about a member, if it is there.
    pub(super) fn warn(&mut self, name: &str, message: &str) {
        if let Some(range) = self.range_of(name) {
            self.draft.warn(range, message.to_owned());
        }
    }

    /// Where the member is, key and value; a dot goes into an object.
    fn range_of(&self, path: &str) -> Option<Range<usize>> {
        let mut object = self.object;
        let mut steps = path.split('.').peekable();
        loop {
            let property = member(object, steps.next()?)?;
            if steps.peek().is_none() {
                return Some(property.name.start()..property.value.end());
            }
            object = property.value.as_object()?;
        }
    }

    fn has(&self, name: &str) -> bool {
        member(self.object, name).is_some()
    }

    fn is_of_a_kind_not_yet_run(&mut self) -> bool {
        let Some(Value::StringLit(kind)) = member(self.object, "type").map(|it| &it.value) else {
            return false;
        };
        let is_not_yet = NOT_YET.contains(&&*kind.value);
        if is_not_yet {
            let message = format!(
                "hooks of type \"{}\" are not supported by this version",
                kind.value
            );
            self.error(kind.start()..kind.end(), message)
                .help("the types are \"command\" and \"component\"");
        }
        is_not_yet
    }

    /// The entry in its type. Everything that is wrong in it is told; what is left may be told about
    /// too, and is no hook.
    fn entry(&mut self) -> Option<Entry> {
        let lax = self.draft.dialect == Dialect::OpenHands;
        let ignored: &[&str] = match self.draft.dialect {
            // OpenHands does not know them, and runs such a hook as if they were not there.
            Dialect::OpenHands if !self.has("component") => {
                &["if", "args", "shell", "asyncRewake", "once"]
            }
            Dialect::Deepagents if self.watches => &["timeout", "onFailure"],
            _ => &[],
        };
        for name in ignored {
            let message = if lax {
                format!(
                    "OpenHands does not know `{name}` and runs the hook as if it were not there; so does hookcell"
                )
            } else {
                format!(
                    "`{name}` is ignored: the hooks of deepagents' list decide nothing, and have 5 seconds"
                )
            };
            self.warn(name, &message);
        }
        let read = values::read::<Entry>(self.object, lax, ignored);
        for fault in read.faults {
            let told = self.error(fault.range.clone(), fault.to_string());
            if let Some(help) = fault.help {
                told.help(help);
            }
        }
        if !lax && !self.watches {
            for key in read.unknown.into_values() {
                let known = key.known.iter().copied().filter(|name| *name != "argv");
                let help = match key.name.as_str() {
                    "matcher" => Some("`matcher` belongs beside the `hooks` of a group".to_owned()),
                    name => did_you_mean(name, known),
                };
                let told = self.draft.warn(
                    key.range,
                    format!(
                        "`{}` is unknown, and ignored",
                        text::one_line(&key.name, 60)
                    ),
                );
                if let Some(help) = help {
                    told.help(help);
                }
            }
        }
        read.value
    }

    /// What kind of hook it is; `None` if it cannot be told, and then that was said.
    fn kind(&mut self, entry: Option<&Entry>) -> Option<Kind> {
        let said = entry.and_then(|entry| entry.kind);
        if said.is_none() && self.has("type") && !self.type_is_null() {
            return None; // A wrong `type` was told.
        }
        let whole = self.object.range.start..self.object.range.end;
        let has_command = self.has("command") || self.has("argv");
        match (said, has_command, self.has("component")) {
            (Some(Kind::Command) | None, true, false) => Some(Kind::Command),
            (Some(Kind::Component) | None, false, true) => Some(Kind::Component),
            (Some(Kind::Command), true, true) => {
                self.forbid(
                    "component",
                    "a hook of type \"command\" has no `component`",
                    "make them two hooks",
                );
                Some(Kind::Command)
            }
            (Some(Kind::Component), true, true) => {
                self.forbid(
                    "command",
                    "a hook of type \"component\" has no `command`",
                    "make them two hooks",
                );
                Some(Kind::Component)
            }
            (None, true, true) => {
                self.error(whole, "the hook has both `command` and `component`".into())
                    .help("make them two hooks");
                None
            }
            (None, false, false) => {
                self.error(
                    whole,
                    "the hook has neither `command` nor `component`".into(),
                )
                .help(r#"write "command": "…", or "component": "….wasm""#);
                None
            }
            (Some(Kind::Command), false, _) => {
                self.error(
                    whole,
                    "a hook of type \"command\" must have a `command`".into(),
                )
                .help(r#"write "command": "…""#);
                None
            }
            (Some(Kind::Component), _, false) => {
                self.error(
                    whole,
                    "a hook of type \"component\" must have a `component`".into(),
                )
                .help(r#"write "component": "….wasm""#);
                None
            }
        }
    }

    /// OpenHands takes `null` for absent.
    fn type_is_null(&self) -> bool {
        self.draft.dialect == Dialect::OpenHands
            && member(self.object, "type")
                .is_some_and(|it| matches!(it.value, Value::NullKeyword(_)))
    }

    /// What this version does not act on, and without which the hook would be another one.
    fn check_what_would_change_the_meaning(&mut self, entry: &Entry) {
        if entry.condition.is_some() {
            let message =
                "`if` is not supported by this version, and the hook is not run as if it had none";
            self.forbid(
                "if",
                message,
                "narrow the `matcher`, or let the hook itself look at the event",
            );
        }
        let message = "hooks in the background are not supported by this version";
        let help = "remove it, and the hook runs in the foreground";
        if entry.background == Some(true) {
            self.forbid("async", message, help);
        }
        if entry.async_rewake == Some(true) {
            self.forbid("asyncRewake", message, help);
        }
        // OpenHands' own dumps spell it with an underscore.
        let dumped = member(self.object, "async_")
            .is_some_and(|it| it.value.as_boolean_lit().is_some_and(|it| it.value));
        if self.draft.dialect == Dialect::OpenHands && entry.background.is_none() && dumped {
            self.forbid("async_", message, help);
        }
    }

    fn selector(&mut self, entry: &Entry) -> Selector {
        if let Place::Group { event, matcher } = self.place {
            if entry.events.is_some() {
                self.warn("events", "`events` is for lists of hooks, and ignored here");
            }
            return Selector::event(event, matcher.clone().unwrap_or(Matcher::ALL));
        }
        if let (Some(events), Some(range)) = (&entry.events, self.range_of("events")) {
            if !events.is_list && self.watches {
                let message =
                    "`events` should be a list; hookcell takes the string for one name".to_owned();
                self.draft.warn(range, message);
            } else if !events.is_list {
                self.error(
                    range,
                    "`events` must be a list of event names; found a string".into(),
                )
                .help(format!("write [\"{}\"]", events.names.join("\", \"")));
            }
        }
        if let Some(Value::Array(names)) = member(self.object, "events").map(|it| &it.value) {
            for name in names.elements.iter().filter_map(Value::as_string_lit) {
                let event = self.event_name(&name.value);
                if let Some((message, help)) = event_names::doubt(&event, self.draft.dialect, true)
                {
                    let told = self.draft.warn(name.start()..name.end(), message);
                    if let Some(help) = help {
                        told.help(help);
                    }
                }
            }
        }
        Selector::events(self.event_names())
    }

    /// The names in `events`, as far as they are names; none is every event.
    fn event_names(&self) -> Vec<String> {
        match member(self.object, "events").map(|it| &it.value) {
            Some(Value::Array(names)) => names
                .elements
                .iter()
                .filter_map(Value::as_string_lit)
                .map(|name| self.event_name(&name.value))
                .collect(),
            Some(Value::StringLit(name)) if !name.value.is_empty() => {
                vec![self.event_name(&name.value)]
            }
            _ => Vec::new(),
        }
    }

    fn event_name(&self, written: &str) -> String {
        if self.draft.dialect == Dialect::Deepagents {
            written.to_owned()
        } else {
            event_names::normalised(written)
        }
    }

    fn timeout(&mut self, entry: &Entry, kind: Option<Kind>) -> Duration {
        let rules = self.draft.dialect.rules();
        if self.watches {
            return DEEPAGENTS_TIMEOUT;
        }
        if let Some(seconds) = entry.timeout {
            let lax = self.draft.dialect == Dialect::OpenHands;
            let is_in_range = seconds.0 > 0.0 && seconds.0 <= LONGEST_TIMEOUT;
            if let (false, Some(value)) = (is_in_range, member(self.object, "timeout")) {
                let (at, message) = (
                    range(&value.value),
                    format!("`timeout` must be {TIMEOUT}; found {}", found(&value.value)),
                );
                if !lax {
                    self.error(at, message);
                } else if seconds.0 > 0.0 {
                    self.draft.warn(
                        at,
                        "hookcell lets no hook run for longer than a day, 86400 seconds".into(),
                    );
                } else {
                    self.draft
                        .warn(at, "this ends the hook at once, after a millisecond".into());
                }
            }
            let seconds = seconds
                .0
                .clamp(SHORTEST_TIMEOUT.as_secs_f64(), LONGEST_TIMEOUT);
            return Duration::try_from_secs_f64(seconds).unwrap_or(SHORTEST_TIMEOUT);
        }
        let is_prompt = |event: &str| PROMPT_EVENTS.contains(&event);
        let only_prompts = match self.place {
            Place::Group { event, .. } => is_prompt(event),
            Place::List => {
                let names = self.event_names();
                !names.is_empty() && names.iter().all(|name| is_prompt(name))
            }
        };
        match kind {
            Some(Kind::Component) => rules.component_timeout,
            _ if only_prompts => rules.prompt_timeout,
            _ => rules.command_timeout,
        }
    }

    /// How the hook is called: its name, else what it runs.
    fn label(&self) -> Text {
        let text_of = |name: &str| match member(self.object, name).map(|it| &it.value) {
            Some(Value::StringLit(text)) if !text.value.trim().is_empty() => {
                Some(text.value.to_string())
            }
            Some(Value::Array(parts)) => {
                let parts: Vec<&str> = parts
                    .elements
                    .iter()
                    .filter_map(Value::as_string_lit)
                    .map(|it| &*it.value)
                    .collect();
                Some(parts.join(" ")).filter(|text| !text.is_empty())
            }
            _ => None,
        };
        let shown = ["name", "component", "command", "argv"]
            .into_iter()
            .find_map(text_of);
        text::one_line(
            shown.as_deref().unwrap_or("a hook without a name").trim(),
            60,
        )
    }
}
