//! One row of the suite: a hostile guest, an event, and everything that must hold afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use hookcell::record::Record;
use hookcell::{Decision, Event, Host};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::process::{self, Held};
use super::{CACHE, SCRIPTED, alone, host_with, merge, runtime};

/// What the host's own resident memory may grow by beyond the guest's limit.
const HOST_MEMORY: u64 = 32 << 20;

/// How much later than its timeout a run may end, on a machine that does other work as well.
const LATE: Duration = Duration::from_secs(1);

/// What an event may take besides its hook's run: reading, checking and compiling small guests.
const AROUND_THE_RUN: Duration = Duration::from_secs(5);

/// One hostile guest on one event.
pub struct Row {
    project: tempfile::TempDir,
    hook: Value,
    event: &'static str,
    payload: Value,
    around: Duration,
    cache: bool,
    release: Option<Box<dyn FnOnce()>>,
}

/// What came of a row that kept to every bound.
pub struct Seen {
    pub decision: Decision,
    /// The one record of the hostile hook.
    pub record: Record,
    /// The hook's project, where the guest may have left something.
    pub project: tempfile::TempDir,
}

impl Row {
    /// A row whose guest is these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let row = Self::at(Path::new("hostile.wasm"));
        std::fs::write(row.project().join("hostile.wasm"), bytes).unwrap();
        row
    }

    /// A row whose guest is this file.
    pub fn at(component: &Path) -> Self {
        Self {
            // Paths in the folder are compared with what guests see, so no links may be in its own.
            project: tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap(),
            hook: json!({
                "type": "component",
                "name": "hostile",
                "component": component,
                "timeout": 20,
                "onFailure": "block",
                "limits": {"memory": "64MiB"},
            }),
            event: "PreToolUse",
            payload: json!({"tool_name": "Hostile", "tool_input": {}}),
            around: AROUND_THE_RUN,
            cache: true,
            release: None,
        }
    }

    /// Both rows of the scripted guest with these arguments, as a component and as a module.
    pub fn scripted(arguments: &[&str]) -> [Self; 2] {
        SCRIPTED.map(|file| Self::at(Path::new(file)).hook(json!({"args": arguments})))
    }

    /// The folder that the host takes as its project.
    pub fn project(&self) -> PathBuf {
        self.project.path().to_owned()
    }

    /// Further members of the hook's entry.
    pub fn hook(mut self, more: Value) -> Self {
        merge(&mut self.hook, more);
        self
    }

    /// Further members of the event's payload.
    pub fn payload(mut self, more: Value) -> Self {
        merge(&mut self.payload, more);
        self
    }

    /// Another event than `PreToolUse`.
    pub fn event(mut self, event: &'static str) -> Self {
        self.event = event;
        self
    }

    /// Another bound for what the event takes besides the hook's run.
    pub fn around_the_run(mut self, bound: Duration) -> Self {
        self.around = bound;
        self
    }

    /// Compiles the guest, whatever was compiled before.
    pub fn without_cache(mut self) -> Self {
        self.cache = false;
        self
    }

    /// What frees the host's threads, for guests that do hold one.
    pub fn released_by(mut self, release: impl FnOnce() + 'static) -> Self {
        self.release = Some(Box::new(release));
        self
    }

    /// Runs the row, which must end in a failure of this kind: the operation is blocked, as
    /// `onFailure` asks, with a reason that names it.
    #[track_caller]
    pub fn fails(self, kind: FailureKind) -> Seen {
        let seen = self.run();
        let failure = seen.record.failure.as_ref();
        assert_eq!(failure.map(|it| it.kind), Some(kind), "{:#?}", seen.record);
        let reason = format!(
            "a hook that guards this operation failed: {}",
            seen.message()
        );
        assert_eq!(
            seen.verdict(),
            (Some(Permission::Deny), Some(reason.as_str()))
        );
        assert!(!seen.record.success);
        seen
    }

    /// Runs the row, whose hook must block with this reason.
    #[track_caller]
    pub fn blocks(self, reason: &str) -> Seen {
        self.decides(Some(Permission::Deny), Some(reason))
    }

    /// Runs the row, whose hook must end well and have no opinion.
    #[track_caller]
    pub fn says_nothing(self) -> Seen {
        let seen = self.decides(None, None);
        assert_eq!(
            (seen.record.success, seen.record.exit_code),
            (true, Some(0)),
            "{:#?}",
            seen.record
        );
        seen
    }

    /// Runs the row, whose hook must decide exactly this.
    #[track_caller]
    pub fn decides(self, permission: Option<Permission>, reason: Option<&str>) -> Seen {
        let seen = self.run();
        assert_eq!(seen.record.failure, None, "{:#?}", seen.record);
        assert_eq!(seen.verdict(), (permission, reason), "{:#?}", seen.record);
        seen
    }

    /// Runs the row and holds the host to everything but the outcome.
    #[track_caller]
    pub fn run(mut self) -> Seen {
        let _alone = alone();
        let runtime = runtime();
        let guard = json!({"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 20});
        let mut hooks_json = json!({"hooks": {"PreToolUse": [
            {"matcher": "Hostile", "hooks": [self.hook]},
            {"matcher": "Bash", "hooks": [guard]},
        ]}});
        if self.event != "PreToolUse" {
            // An event without anything to match.
            let other = json!({"hooks": {(self.event): [{"hooks": [self.hook]}]}});
            merge(&mut hooks_json, other);
        }
        let host = host_with(&hooks_json, self.project.path(), |builder| {
            if self.cache {
                builder.cache_folder(CACHE)
            } else {
                builder.no_cache()
            }
        });
        allows_what_is_harmless(&runtime, &host);
        let held = Held::now();
        let resident = process::resident_from_now();
        let event = Event::parse(self.payload.to_string(), Some(self.event)).unwrap();
        let started = Instant::now();
        let decision = runtime.block_on(host.dispatch(&event));
        let took = started.elapsed();
        let peak = process::resident_peak();
        if let Some(release) = self.release.take() {
            release();
        }
        assert_eq!(decision.records.len(), 1, "{decision:#?}");
        let record = decision.records[0].clone();
        assert_eq!(
            (record.hook.as_str(), record.handler),
            ("hostile", "component")
        );
        let timeout = Duration::from_secs_f64(self.hook["timeout"].as_f64().unwrap());
        let ran = Duration::from_micros(record.elapsed_microseconds);
        assert!(
            ran <= timeout + LATE,
            "it ran for {ran:?} of {timeout:?}: {record:#?}"
        );
        assert!(
            took <= timeout + LATE + self.around,
            "the event took {took:?}, its run {ran:?} of {timeout:?}: {record:#?}"
        );
        let limit = bytes(&self.hook["limits"]["memory"]);
        let grew = peak.saturating_sub(resident);
        assert!(
            grew <= limit + HOST_MEMORY,
            "resident memory grew by {grew} bytes, from {resident}; the limit is {limit}: {record:#?}"
        );
        assert!(
            record.memory_peak.is_none_or(|peak| peak <= limit),
            "{record:#?}"
        );
        // What is handed on as it is was JSON and stays it.
        let told = Decision {
            updated_input: None,
            other: BTreeMap::new(),
            ..decision.clone()
        };
        nothing_acts(&serde_json::to_value(told).unwrap());
        drop(event);
        process::comes_to_rest(&format!("{record:#?}"));
        // A guest that is loaded keeps a descriptor for what its memory begins with, and one for each
        // folder that it is granted, as long as the host.
        let folders = self.hook["permissions"]["filesystem"].as_array();
        let loaded = Held {
            descriptors: held.descriptors + 1 + folders.map_or(0, Vec::len),
            ..held
        };
        loaded.comes_back(&format!("{record:#?}"));
        blocks_what_is_dangerous(&runtime, &host);
        drop(host);
        held.comes_back(&format!("{record:#?}"));
        Seen {
            decision,
            record,
            project: self.project,
        }
    }
}

impl Seen {
    /// What was decided, and why.
    pub fn verdict(&self) -> (Option<Permission>, Option<&str>) {
        (self.decision.permission, self.decision.reason.as_deref())
    }

    /// The failure with its kind, as it is told.
    pub fn message(&self) -> String {
        self.record
            .failure
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// Whether the failure's message is this one.
    #[track_caller]
    pub fn says(self, message: &str) -> Self {
        let failure = self.record.failure.as_ref().map(|it| it.message.as_str());
        assert_eq!(failure, Some(message), "{:#?}", self.record);
        self
    }
}

/// A command that nobody minds, decided by the guard beside the hostile hook.
pub fn allows_what_is_harmless(runtime: &Runtime, host: &Host) {
    let decision = runtime.block_on(host.dispatch(&command("ls")));
    assert_eq!(
        (decision.records.len(), decision.permission),
        (1, None),
        "{decision:#?}"
    );
    assert!(decision.records[0].success, "{decision:#?}");
}

/// A command that must be blocked, decided by the guard beside the hostile hook.
#[track_caller]
pub fn blocks_what_is_dangerous(runtime: &Runtime, host: &Host) {
    is_blocked(&runtime.block_on(host.dispatch(&command("rm -rf /"))));
}

/// Holds the guard's decision on `rm -rf /` to its exact verdict.
#[track_caller]
pub fn is_blocked(decision: &Decision) {
    is_blocked_with(decision, GUARDS_REASON);
}

/// Holds the decision of one hook to a block with this reason.
#[track_caller]
pub fn is_blocked_with(decision: &Decision, reason: &str) {
    assert_eq!(
        (
            decision.permission,
            decision.reason.as_deref(),
            decision.records.len()
        ),
        (Some(Permission::Deny), Some(reason), 1),
        "{decision:#?}"
    );
}

const GUARDS_REASON: &str = "This command is blocked: `rm -rf` is not allowed here.";

/// The event of a shell command.
pub fn command(command: &str) -> Event {
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    Event::parse(payload.to_string(), Some("PreToolUse")).unwrap()
}

/// The bytes of a size as hooks.json has it.
fn bytes(size: &Value) -> u64 {
    let text = size.as_str().unwrap();
    let (number, unit) = [("KiB", 10), ("MiB", 20), ("GiB", 30)]
        .into_iter()
        .find_map(|(unit, bits)| Some((text.strip_suffix(unit)?, bits)))
        .unwrap();
    number.parse::<u64>().unwrap() << unit
}

/// No text of a decision may hold a character that acts on a terminal or a log. Line breaks stay
/// in texts of several lines; what is told of a failure and what a hook is called are one line.
pub fn nothing_acts(value: &Value) {
    match value {
        Value::String(text) => assert_eq!(text.chars().find(acts), None, "{text:?}"),
        Value::Array(values) => values.iter().for_each(nothing_acts),
        Value::Object(members) => {
            for (name, value) in members {
                nothing_acts(value);
                if matches!(name.as_str(), "message" | "hook") {
                    let text = value.as_str().unwrap();
                    assert!(!text.contains(['\n', '\t']), "{name}: {text:?}");
                }
            }
        }
        _ => {}
    }
}

fn acts(c: &char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
