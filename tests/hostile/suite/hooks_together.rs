//! Rows 35, 36 and 40: many events, few processors, and hooks of one event that disagree.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use hookcell::{Decision, Event};
use serde_json::{Value, json};

use crate::guests;
use crate::support::process::{self, Held};
use crate::support::program;
use crate::support::row::{blocks_what_is_dangerous, command, is_blocked};
use crate::support::{MOST_FUEL, SCRIPTED, alone, guest, host, merge, runtime};

fn scripted(arguments: &[&str], more: Value) -> Value {
    let mut hook =
        json!({"type": "component", "component": SCRIPTED[1], "args": arguments, "timeout": 20});
    merge(&mut hook, more);
    hook
}

fn guard() -> Value {
    json!({"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 20})
}

fn stop() -> Event {
    Event::parse("{}", Some("Stop")).unwrap()
}

#[test]
fn row_35_64_events_that_hang_at_once() {
    for (arguments, more) in [
        (
            ["spin"],
            json!({"timeout": 1, "limits": {"fuel": MOST_FUEL}}),
        ),
        (["sleep=3600000"], json!({"timeout": 1})),
    ] {
        let _alone = alone();
        let folder = tempfile::tempdir().unwrap();
        let hooks_json = json!({"hooks": {
            "Stop": [{"hooks": [scripted(&arguments, more)]}],
            "PreToolUse": [{"hooks": [guard()]}],
        }});
        let (runtime, host) = (runtime(), host(&hooks_json, folder.path()));
        assert!(runtime.block_on(host.prepare()).is_empty());
        blocks_what_is_dangerous(&runtime, &host);
        let held = Held::now();
        let resident = process::resident_from_now();
        let started = Instant::now();
        let hanging: Vec<_> = (0..64)
            .map(|_| {
                let host = host.clone();
                runtime.spawn(async move { host.dispatch(&stop()).await })
            })
            .collect();
        let (benign, took) = runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let started = Instant::now();
            let decision = host.dispatch(&command("rm -rf /")).await;
            (decision, started.elapsed())
        });
        is_blocked(&benign);
        assert!(
            took < Duration::from_secs(10),
            "the benign hook took {took:?}"
        );
        for decision in hanging {
            let decision: Decision = runtime.block_on(decision).unwrap();
            assert_eq!(decision.records.len(), 1);
            let failure = decision.records[0].failure.as_ref().unwrap();
            assert_eq!(failure.kind, FailureKind::TimedOut, "{failure}");
        }
        // The timeout of each counts from its event on: they do not wait one for another.
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "{:?}",
            started.elapsed()
        );
        let grew = process::resident_peak().saturating_sub(resident);
        // 64 guests of one mebibyte and a bit.
        assert!(
            grew < (64 * 2 + 32) << 20,
            "resident memory grew by {grew} bytes"
        );
        blocks_what_is_dangerous(&runtime, &host);
        drop(host);
        held.comes_back("64 events");
    }
}

/// Threads of the embedding program that take every processor.
struct Busy {
    done: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Busy {
    fn with(threads: usize) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let threads = (0..threads)
            .map(|_| {
                let done = Arc::clone(&done);
                std::thread::spawn(move || while !done.load(Ordering::Relaxed) {})
            })
            .collect();
        Self { done, threads }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// The clock of the epoch hardly runs, and the deadline is held all the same, since it is no number
/// of ticks; and nobody is ended before it.
#[test]
fn row_36_a_starved_ticker_is_late_and_never_early() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": [scripted(&["spin"], json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))]}],
        "SubagentStop": [{"hooks": [scripted(&["sleep=1000", "stdout={\"decision\":\"block\",\"reason\":\"slept\"}"], json!({}))]}],
        "PreToolUse": [{"hooks": [guard()]}],
    }});
    let (runtime, host) = (runtime(), host(&hooks_json, folder.path()));
    assert!(runtime.block_on(host.prepare()).is_empty());
    let busy = Busy::with(8);
    let decision = runtime.block_on(host.dispatch(&stop()));
    let record = &decision.records[0];
    assert_eq!(
        record.failure.as_ref().map(|it| it.kind),
        Some(FailureKind::TimedOut)
    );
    assert!(
        (500_000..3_000_000).contains(&record.elapsed_microseconds),
        "{record:?}"
    );
    let slept = runtime.block_on(host.dispatch(&Event::parse("{}", Some("SubagentStop")).unwrap()));
    assert_eq!(slept.reason.as_deref(), Some("slept"), "{slept:?}");
    drop(busy);
    blocks_what_is_dangerous(&runtime, &host);
}

fn signal(name: &str, process: u32) {
    assert!(
        Command::new("kill")
            .args([name, &process.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

/// A machine that sleeps stops the clock of the program as well as the program.
#[test]
fn row_36_a_program_that_was_stopped_goes_on() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str], more: Value| {
        let hooks_json = json!({"hooks": {"PreToolUse": [{"hooks": [scripted(arguments, more)]}]}});
        let child = program::start(folder.path(), &hooks_json, "PreToolUse", "{}");
        // Long enough for the guest to run: what was not yet compiled is compiled afterwards.
        std::thread::sleep(Duration::from_millis(1500));
        signal("-STOP", child.id());
        std::thread::sleep(Duration::from_secs(2));
        let resumed = Instant::now();
        signal("-CONT", child.id());
        let output = child.wait_with_output().unwrap();
        (output, resumed.elapsed())
    };
    // Its time is over when it wakes: it is ended, and soon.
    let (output, took) = run(
        &["spin"],
        json!({"timeout": 3, "onFailure": "block", "limits": {"fuel": MOST_FUEL}}),
    );
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("failed: timed-out: still running after "),
        "{stderr}"
    );
    assert!(took < Duration::from_secs(8), "{took:?}");
    // Its time is not over: it goes on and decides.
    let (output, _) = run(
        &["sleep=2500", "stderr=slept", "exit=2"],
        json!({"timeout": 20}),
    );
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(2), &b"slept\n"[..])
    );
}

fn both_orders(one: &Value, other: &Value, check: impl Fn(&Decision)) {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let runtime = runtime();
    for hooks in [[one, other], [other, one]] {
        let host = host(
            &json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}),
            folder.path(),
        );
        for _ in 0..3 {
            let decision =
                runtime.block_on(host.dispatch(&Event::parse("{}", Some("PreToolUse")).unwrap()));
            assert_eq!(decision.records.len(), 2);
            check(&decision);
        }
    }
}

const BLOCKS: &[&str] = &[r#"stdout={"decision":"block","reason":"no"}"#];
const ALLOWS: &[&str] = &[r#"stdout={"decision":"approve","reason":"yes"}"#];

#[test]
fn row_40_a_block_stands_whatever_becomes_of_the_others() {
    for (arguments, more) in [
        (
            &["spin"][..],
            json!({"timeout": 0.3, "limits": {"fuel": MOST_FUEL}}),
        ),
        (&["sleep=3600000"], json!({"timeout": 0.3})),
        (&["trap"], json!({})),
        (&["memory"], json!({"limits": {"memory": "16MiB"}})),
        (&["flood-stdout"], json!({"timeout": 0.3})),
        (ALLOWS, json!({})),
        (&["exit=1"], json!({})),
    ] {
        both_orders(
            &scripted(BLOCKS, json!({})),
            &scripted(arguments, more),
            |decision| {
                assert_eq!(
                    (decision.permission, decision.reason.as_deref()),
                    (Some(Permission::Deny), Some("no")),
                    "{decision:?}"
                );
            },
        );
    }
}

#[test]
fn row_40_an_allow_beside_a_guard_that_failed() {
    let trap =
        |on_failure: &str| scripted(&["trap"], json!({"onFailure": on_failure, "name": "guard"}));
    both_orders(
        &scripted(ALLOWS, json!({})),
        &trap("continue"),
        |decision| {
            assert_eq!(
                (decision.permission, decision.reason.as_deref()),
                (Some(Permission::Allow), Some("yes"))
            );
            assert_eq!(decision.notices.len(), 1);
            assert!(
                decision.notices[0].starts_with("hook `guard` failed (trap: "),
                "{decision:?}"
            );
        },
    );
    both_orders(&scripted(ALLOWS, json!({})), &trap("block"), |decision| {
        assert_eq!(decision.permission, Some(Permission::Deny));
        let reason = decision.reason.as_deref().unwrap();
        assert!(
            reason.starts_with("a hook that guards this operation failed: trap: "),
            "{reason}"
        );
    });
}

/// The order of the file counts, and not who is done first.
#[test]
fn row_40_who_is_done_first_does_not_matter() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let says = |input: &str, context: &str, sleep: &str| {
        let answer = format!(
            r#"stdout={{"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{{"n":{input}}},"additionalContext":"{context}"}}}}"#
        );
        scripted(&[sleep, &answer], json!({"name": context}))
    };
    let runtime = runtime();
    for [first, second] in [["sleep=300", "sleep=0"], ["sleep=0", "sleep=300"]] {
        let hooks = [says("1", "one", first), says("2", "two", second)];
        let host = host(
            &json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}),
            folder.path(),
        );
        let decision =
            runtime.block_on(host.dispatch(&Event::parse("{}", Some("PreToolUse")).unwrap()));
        assert_eq!(decision.updated_input.as_ref().unwrap().get(), r#"{"n":2}"#);
        assert_eq!(decision.contexts, ["one", "two"]);
        assert_eq!(
            decision.notices,
            ["hooks `one` and `two` both changed the tool input; that of `two` counts"]
        );
    }
}

/// One host after the other, each with a guest that hangs, in one process: nothing adds up.
#[test]
fn row_35_hosts_come_and_go() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("hook.wasm"),
        guests::row_01_endless_loop(),
    )
    .unwrap();
    std::fs::write(folder.path().join("other.wasm"), guest::says(b"", b"", 2)).unwrap();
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": [
            {"type": "component", "component": "hook.wasm", "timeout": 0.05, "limits": {"fuel": MOST_FUEL}},
            {"type": "component", "component": "other.wasm", "timeout": 20},
        ]}],
        "PreToolUse": [{"hooks": [guard()]}],
    }});
    let runtime = runtime();
    let mut before = None;
    for round in 0..40 {
        let host = host(&hooks_json, folder.path());
        let decision = runtime.block_on(host.dispatch(&stop()));
        assert!(decision.is_blocked(), "{decision:?}");
        assert_eq!(
            decision.records[0].failure.as_ref().unwrap().kind,
            FailureKind::TimedOut
        );
        if round == 10 {
            before = Some((Held::now(), process::resident_from_now()));
        }
    }
    let (held, resident) = before.unwrap();
    let grew = process::resident_peak().saturating_sub(resident);
    assert!(
        grew < 16 << 20,
        "resident memory grew by {grew} bytes in 30 hosts"
    );
    held.comes_back("40 hosts");
    let host = host(&hooks_json, folder.path());
    blocks_what_is_dangerous(&runtime, &host);
}
