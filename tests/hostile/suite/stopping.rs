//! Stopping takes three things, of which none is enough alone: here each is the only one that can end
//! the guest. And what all three together hold, on a machine whose every processor is taken.

use std::time::{Duration, Instant};

use hookcell::outcome::FailureKind;
use hookcell::{Decision, Event};
use serde_json::{Value, json};

use crate::guests;
use crate::support::row::{command, is_blocked};
use crate::support::{MOST_FUEL, SCRIPTED, alone, host, row::Row, runtime};

/// Neither its deadline nor the caller's comes into it: a minute is allowed, and the same
/// instruction is its last in every run.
#[test]
fn only_fuel_ends_a_guest_that_has_time() {
    for fuel in [1_000_000, 1_000_001, 50_000_000] {
        for _ in 0..2 {
            let seen = Row::of(guests::row_05_work_for_ever())
                .hook(json!({"timeout": 60, "limits": {"fuel": fuel}}))
                .fails(FailureKind::OutOfFuel)
                .says(&format!(
                    "{fuel} fuel is used; {fuel} are allowed (`limits.fuel`)"
                ));
            assert_eq!(seen.record.fuel, Some(fuel));
            assert!(
                seen.record.elapsed_microseconds < 20_000_000,
                "{:?}",
                seen.record
            );
        }
    }
}

/// It has fuel for days and never waits for the host, so there is no moment in which its future
/// could be dropped, but for the epoch.
#[test]
fn only_the_epoch_ends_a_guest_that_computes_and_has_fuel() {
    let seen = Row::of(guests::row_05_work_for_ever())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
    assert!(seen.record.fuel.is_none_or(|fuel| fuel < MOST_FUEL));
    assert!(
        (500_000..1_000_000).contains(&seen.record.elapsed_microseconds),
        "{:?}",
        seen.record
    );
}

/// It runs a handful of instructions, so neither fuel nor the epoch has anything to end.
#[test]
fn only_a_dropped_future_ends_a_guest_that_sleeps() {
    let seen = Row::of(guests::row_03_sleep_for_an_hour())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": 1000}}))
        .fails(FailureKind::TimedOut);
    assert!(seen.record.fuel.unwrap() < 100, "{:?}", seen.record);
    assert!(
        (500_000..1_000_000).contains(&seen.record.elapsed_microseconds),
        "{:?}",
        seen.record
    );
}

fn spinning(timeout: Value) -> Value {
    json!({
        "type": "component", "component": SCRIPTED[0], "args": ["spin"],
        "timeout": timeout, "limits": {"fuel": MOST_FUEL},
    })
}

/// 16 guests that compute without end, on however few processors there are: the program around them
/// keeps its timers, a benign hook is decided, and a limit of 500 ms is one.
#[test]
fn sixteen_spinning_guests_leave_the_timers_the_benign_and_the_limits_alone() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": vec![spinning(json!(5)); 16]}],
        "SubagentStop": [{"hooks": [spinning(json!(0.5))]}],
        "PreToolUse": [{"hooks": [
            {"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 5}
        ]}],
    }});
    let (runtime, host) = (runtime(), host(&hooks_json, folder.path()));
    assert!(runtime.block_on(host.prepare()).is_empty());
    let dispatch = |event: Event| {
        let host = host.clone();
        async move {
            let started = Instant::now();
            (host.dispatch(&event).await, started.elapsed())
        }
    };
    let named = |name: &str| Event::parse("{}", Some(name)).unwrap();
    let sixteen = runtime.spawn(dispatch(named("Stop")));
    type Timed = (Decision, Duration);
    let (late, benign, limited): (Vec<Duration>, Vec<Timed>, Timed) = runtime.block_on(async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let limited = tokio::spawn(dispatch(named("SubagentStop")));
        let mut benign = Vec::new();
        let mut late = Vec::new();
        while !sixteen.is_finished() {
            let due = Instant::now() + Duration::from_millis(20);
            tokio::time::sleep(Duration::from_millis(20)).await;
            late.push(due.elapsed());
            if late.len() % 20 == 1 {
                benign.push(tokio::spawn(dispatch(command("rm -rf /"))));
            }
        }
        let mut decided = Vec::new();
        for benign in benign {
            decided.push(benign.await.unwrap());
        }
        (late, decided, limited.await.unwrap())
    });
    let (decision, _) = runtime.block_on(sixteen).unwrap();
    assert_eq!(decision.records.len(), 16);
    for record in &decision.records {
        assert_eq!(
            record.failure.as_ref().map(|it| it.kind),
            Some(FailureKind::TimedOut),
            "{record:?}"
        );
    }
    let mut sorted = late;
    sorted.sort_unstable();
    assert!(
        sorted.len() > 60,
        "the timer ran {} times in 4.5 s",
        sorted.len()
    );
    let worst = sorted[sorted.len() * 99 / 100];
    assert!(
        worst <= Duration::from_millis(50),
        "late by {worst:?} at the 99th percentile: {sorted:?}"
    );
    assert!(!benign.is_empty());
    for (decision, took) in benign {
        is_blocked(&decision);
        assert!(
            took < Duration::from_secs(5),
            "the benign hook took {took:?}"
        );
    }
    let (decision, took) = limited;
    assert_eq!(
        decision.records[0].failure.as_ref().map(|it| it.kind),
        Some(FailureKind::TimedOut)
    );
    assert!(
        took <= Duration::from_millis(600),
        "a guest of 500 ms took {took:?}"
    );
}
