//! A host that serves for long: what it holds after many events is what it held after a few.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says what it expects by panicking, and this one is watched"
)]

mod support;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use hookcell::{Event, Host};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// How many events are under way at once.
const AT_ONCE: usize = 4;

/// How many times it is measured.
const PARTS: usize = 10;

/// How many events there are, unless the variable of this name says otherwise.
const EVENTS: (&str, usize) = ("HOOKCELL_SOAK_EVENTS", 100_000);

/// How much more than after the first part there may be after the last.
const GROWTH: Held = Held {
    memory: 8 << 20,
    descriptors: 4,
    threads: 4,
};

/// One kind of event, told by its tool: the hooks that it selects, and what they come to.
struct Kind {
    tool: &'static str,
    /// How many of 200 events are of this kind.
    share: usize,
    hooks: Value,
    permission: Option<Permission>,
    /// The failure of the last hook.
    failure: Option<FailureKind>,
}

fn kind(
    tool: &'static str,
    share: usize,
    permission: Option<Permission>,
    failure: Option<FailureKind>,
    hooks: Value,
) -> Kind {
    Kind {
        tool,
        share,
        hooks,
        permission,
        failure,
    }
}

fn guard() -> Value {
    json!({"component": "builtin:block-dangerous-commands"})
}

fn scripted(args: &[&str], more: Value) -> Value {
    let mut hook = json!({"component": "builtin:scripted", "args": args, "timeout": 30});
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    hook
}

fn kinds() -> Vec<Kind> {
    use FailureKind::{
        BadOutput, ExitCode, OutOfFuel, OutOfMemory, OutputTooLarge, TimedOut, Trap,
    };
    let fuel = json!({"limits": {"fuel": 3_000_000}});
    let blocks = Some(Permission::Deny);
    vec![
        kind("Bash", 60, blocks, None, json!([guard()])),
        kind(
            "Several",
            30,
            blocks,
            Some(Trap),
            json!([
                guard(),
                scripted(&["stdout={\"decision\":\"approve\"}"], json!({})),
                scripted(&["trap"], json!({})),
            ]),
        ),
        kind(
            "Ask",
            28,
            Some(Permission::Ask),
            None,
            json!([scripted(
                &[
                    "read-stdin",
                    "stdout={\"hookSpecificOutput\":{\"permissionDecision\":\"ask\",\"updatedInput\":{\"a\":1}}}"
                ],
                json!({})
            )]),
        ),
        kind(
            "Exit",
            10,
            blocks,
            None,
            json!([scripted(&["exit=2"], json!({}))]),
        ),
        kind(
            "Code",
            10,
            None,
            Some(ExitCode),
            json!([scripted(&["exit=3"], json!({}))]),
        ),
        kind(
            "Trap",
            10,
            blocks,
            Some(Trap),
            json!([scripted(&["trap"], json!({"onFailure": "block"}))]),
        ),
        kind(
            "Stack",
            8,
            None,
            Some(Trap),
            json!([scripted(&["overflow-stack"], json!({}))]),
        ),
        kind(
            "Fuel",
            14,
            None,
            Some(OutOfFuel),
            json!([scripted(&["spin"], fuel.clone())]),
        ),
        kind(
            "Memory",
            8,
            None,
            Some(OutOfMemory),
            json!([scripted(
                &["memory"],
                json!({"limits": {"memory": "16MiB"}})
            )]),
        ),
        kind(
            "Flood",
            6,
            None,
            Some(OutOfFuel),
            json!([scripted(&["flood-stdout"], fuel)]),
        ),
        kind(
            "Large",
            6,
            None,
            Some(OutputTooLarge),
            json!([scripted(
                &["stdout-bytes=200000"],
                json!({"limits": {"stdout": "64KiB"}})
            )]),
        ),
        kind(
            "Broken",
            4,
            None,
            Some(BadOutput),
            json!([scripted(&["stdout={"], json!({}))]),
        ),
        kind(
            "Random",
            2,
            None,
            Some(Trap),
            json!([scripted(&["random=9000000"], json!({}))]),
        ),
        kind(
            "Spin",
            1,
            None,
            Some(TimedOut),
            json!([scripted(&["spin"], json!({"timeout": 0.05}))]),
        ),
        kind(
            "Sleep",
            1,
            None,
            Some(TimedOut),
            json!([scripted(&["sleep=60000"], json!({"timeout": 0.05}))]),
        ),
        kind(
            "Command",
            1,
            blocks,
            None,
            json!([{"command": "cat > /dev/null; echo no >&2; exit 2"}]),
        ),
        kind(
            "Killed",
            1,
            None,
            Some(FailureKind::Signal),
            json!([{"command": "kill -9 $$"}]),
        ),
    ]
}

/// What the process holds.
#[derive(Clone, Copy)]
struct Held {
    /// Resident memory, in bytes.
    memory: usize,
    descriptors: usize,
    threads: usize,
}

impl Held {
    fn now() -> Self {
        let entries = |folder: &str| std::fs::read_dir(folder).unwrap().count();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = resident.and_then(|it| it.trim().strip_suffix(" kB"));
        Self {
            memory: kibibytes.unwrap().parse::<usize>().unwrap() << 10,
            descriptors: entries("/proc/self/fd"),
            threads: entries("/proc/self/task"),
        }
    }

    /// Whether it is at most what `before` and [`GROWTH`] are together.
    fn is_flat_since(self, before: Self) -> bool {
        self.memory <= before.memory + GROWTH.memory
            && self.descriptors <= before.descriptors + GROWTH.descriptors
            && self.threads <= before.threads + GROWTH.threads
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.1} MiB resident, {} descriptors, {} threads",
            self.memory as f64 / f64::from(1 << 20),
            self.descriptors,
            self.threads
        )
    }
}

async fn dispatch(host: &Host, kind: &Kind) {
    let event = json!({
        "hook_event_name": "PreToolUse",
        "session_id": "soak",
        "tool_name": kind.tool,
        "tool_input": {"command": "sudo rm -rf /", "description": "x".repeat(1_000)},
    });
    let event = Event::parse(event.to_string(), None).unwrap();
    let decision = host.dispatch(&event).await;
    let hooks = kind.hooks.as_array().unwrap().len();
    assert_eq!(decision.records.len(), hooks, "{}: {decision:?}", kind.tool);
    assert_eq!(
        decision.permission, kind.permission,
        "{}: {decision:?}",
        kind.tool
    );
    let failure = decision.records.last().unwrap().failure.as_ref();
    assert_eq!(
        failure.map(|it| it.kind),
        kind.failure,
        "{}: {decision:?}",
        kind.tool
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes: `cargo xtask soak`"]
async fn memory_descriptors_and_threads_stay_flat_over_many_events() {
    let events = std::env::var(EVENTS.0).map_or(EVENTS.1, |events| events.parse().unwrap());
    let kinds = Arc::new(kinds());
    assert_eq!(kinds.iter().map(|kind| kind.share).sum::<usize>(), 200);
    let groups: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"matcher": kind.tool, "hooks": kind.hooks}))
        .collect();
    let host = support::builder()
        .configuration_text(&json!({"hooks": {"PreToolUse": groups}}).to_string())
        .unwrap()
        .build();
    assert_eq!(host.diagnostics().count(), 0);
    assert!(host.prepare().await.is_empty());
    // Each kind spread over all the events: of a prime's multiples every 200 are all different.
    let schedule: Arc<Vec<usize>> = Arc::new(
        kinds
            .iter()
            .enumerate()
            .flat_map(|(index, kind)| vec![index; kind.share])
            .collect(),
    );

    let started = Instant::now();
    let mut first = None;
    let mut last = Held::now();
    eprintln!("before: {last}");
    for part in 1..=PARTS {
        let from = events * (part - 1) / PARTS;
        let to = events * part / PARTS;
        let mut running = JoinSet::new();
        for lane in 0..AT_ONCE {
            let (host, kinds, schedule) = (host.clone(), Arc::clone(&kinds), Arc::clone(&schedule));
            running.spawn(async move {
                for number in (from..to).skip(lane).step_by(AT_ONCE) {
                    dispatch(&host, &kinds[schedule[number * 73 % 200]]).await;
                }
            });
        }
        while let Some(lane) = running.join_next().await {
            lane.unwrap();
        }
        // What was ended is gone a moment later.
        tokio::time::sleep(Duration::from_millis(300)).await;
        last = Held::now();
        first.get_or_insert(last);
        eprintln!("{to} events in {} s: {last}", started.elapsed().as_secs());
    }
    let first = first.unwrap();
    assert!(last.is_flat_since(first), "first {first}, last {last}");
}
