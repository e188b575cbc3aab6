//! `clock` and `random`: what a run can see of time and chance.

use std::process::Command;

use hookcell::Event;
use hookcell::record::Record;
use serde_json::{Value, json};

use crate::run;
use crate::support::{COMPONENT, MODULE, host};

fn repeatable() -> Value {
    json!({"permissions": {"clock": "fixed", "random": "seeded"}})
}

/// A line of what the guest observed.
fn line<'a>(record: &'a Record, name: &str) -> Vec<&'a str> {
    record
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .collect()
}

/// Nanoseconds of a duration as Rust prints it.
fn nanoseconds(text: &str) -> u128 {
    let text = text.trim_start_matches("Ok(").trim_end_matches(')');
    let number = |unit: &str| {
        text.strip_suffix(unit)
            .and_then(|it| it.parse::<f64>().ok())
    };
    match text.strip_suffix('s').and_then(|it| it.split_once('.')) {
        // Seconds with all their digits: a floating-point number would lose some.
        Some((seconds, rest)) if rest.bytes().all(|it| it.is_ascii_digit()) => {
            seconds.parse::<u128>().unwrap() * 1_000_000_000
                + format!("{rest:0<9}").parse::<u128>().unwrap()
        }
        _ => {
            let (number, unit) = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)]
                .into_iter()
                .find_map(|(unit, size)| Some((number(unit)?, size)))
                .unwrap();
            (number * unit).round() as u128
        }
    }
}

#[tokio::test]
async fn with_a_fixed_clock_and_seeded_numbers_a_hook_is_a_function_of_its_event() {
    for file in [COMPONENT, MODULE] {
        let first = run(file, &["observe"], repeatable()).await;
        assert!(first.success, "{first:?}");
        assert_eq!(line(&first, "wall"), ["Ok(946684800s)", "Ok(946684801.5s)"]);
        assert_eq!(line(&first, "at once"), ["0ns"]);
        assert_eq!(line(&first, "after 1.5 s"), ["1.5s"]);
        assert_eq!(line(&first, "nan"), ["7ff8000000000000"]);
        for _ in 1..20 {
            let again = run(file, &["observe"], repeatable()).await;
            assert_eq!(again.stdout, first.stdout);
            assert_eq!(again.fuel, first.fuel);
            assert_eq!(again.memory_peak, first.memory_peak);
        }
    }
}

#[tokio::test]
async fn another_event_has_other_numbers_and_so_has_another_component() {
    let hook = |file: &str| {
        let mut hook = repeatable();
        hook["component"] = file.into();
        hook["args"] = json!(["observe"]);
        json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
    };
    let mut seen = Vec::new();
    for file in [COMPONENT, MODULE] {
        for payload in ["{}", "{ }"] {
            let event = Event::parse(payload, Some("PreToolUse")).unwrap();
            let decision = host(&hook(file)).dispatch(&event).await;
            seen.push(line(&decision.records[0], "random")[0].to_owned());
        }
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn two_processes_agree() {
    let folder = tempfile::tempdir().unwrap();
    let event = folder.path().join("event.json");
    std::fs::write(&event, r#"{"hook_event_name": "PreToolUse"}"#).unwrap();
    for file in [COMPONENT, MODULE] {
        let observe = || {
            let output = Command::new(env!("CARGO_BIN_EXE_hookcell"))
                .args(["test", file, "--arg", "observe", "--json", "--event"])
                .arg(&event)
                .args(["--clock", "fixed", "--random", "seeded"])
                .output()
                .unwrap();
            let decision: Value = serde_json::from_slice(&output.stdout).unwrap();
            let record = &decision["records"][0];
            assert_eq!(record["success"], true, "{record}");
            (record["stdout"].clone(), record["fuel"].clone())
        };
        assert_eq!(observe(), observe());
    }
}

#[tokio::test]
async fn a_fixed_clock_sleeps_for_an_hour_at_once() {
    for file in [COMPONENT, MODULE] {
        let record = run(file, &["sleep=3600000", "stdout=awake"], repeatable()).await;
        assert_eq!(record.stdout, "awake", "{record:?}");
    }
}

#[tokio::test]
async fn a_coarse_clock_moves_in_steps() {
    const STEP: u128 = 10_000_000;
    for file in [COMPONENT, MODULE] {
        let hook = json!({"permissions": {"clock": "coarse"}});
        let record = run(file, &["observe"], hook).await;
        for wall in line(&record, "wall") {
            assert_eq!(nanoseconds(wall) % STEP, 0, "{record:?}");
        }
        for name in ["at once", "after 1.5 s"] {
            assert_eq!(nanoseconds(line(&record, name)[0]) % STEP, 0, "{record:?}");
        }
        assert!(nanoseconds(line(&record, "after 1.5 s")[0]) >= 1_490_000_000);
    }
}

#[tokio::test]
async fn by_default_time_and_chance_are_the_machines() {
    for file in [COMPONENT, MODULE] {
        let first = run(file, &["observe"], json!({})).await;
        let second = run(file, &["observe"], json!({})).await;
        assert_ne!(line(&first, "random"), line(&second, "random"));
        assert_ne!(line(&first, "wall"), line(&second, "wall"));
        let now = std::time::SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap()
            .as_nanos();
        let wall = nanoseconds(line(&second, "wall")[1]);
        assert!(now.abs_diff(wall) < 60_000_000_000, "{second:?}");
        assert!(nanoseconds(line(&second, "after 1.5 s")[0]) >= 1_500_000_000);
    }
}
