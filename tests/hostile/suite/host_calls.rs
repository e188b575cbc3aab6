//! Rows 28 to 30: guests that ask the host for too much at once, and for what is not theirs.

use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::MOST_FUEL;
use crate::support::guest;
use crate::support::row::Row;

/// What a call may not ask for ends the guest at once, as too much.
#[track_caller]
fn is_too_much(guest: Vec<u8>) {
    let seen = Row::of(guest).fails(FailureKind::TooManyResources);
    // It ended in that call, long before its time.
    assert!(
        seen.record.elapsed_microseconds < 5_000_000,
        "{:?}",
        seen.record
    );
}

#[test]
pub fn row_28_a_terabyte_of_random_bytes() {
    is_too_much(guests::row_28_a_terabyte_of_random_bytes());
}

#[test]
pub fn row_28_much_random_in_one_call() {
    is_too_much(guests::row_28_much_random_in_one_call());
}

/// The largest call that is allowed is short enough for the deadline to be kept between two.
#[test]
pub fn row_28_random_for_ever() {
    Row::of(guests::row_28_random_for_ever())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
}

#[test]
pub fn row_29_a_huge_text() {
    is_too_much(guests::row_29_a_huge_text());
}

#[test]
pub fn row_29_a_huge_list() {
    is_too_much(guests::row_29_a_huge_list());
}

#[test]
pub fn row_29_a_million_subscriptions() {
    // Preview1 has an error for it, 28: not valid.
    let seen = Row::of(guests::row_29_a_million_subscriptions()).fails(FailureKind::ExitCode);
    assert_eq!(seen.record.exit_code, Some(28));
}

#[test]
pub fn row_29_zeroes_without_number() {
    let seen = Row::of(guests::row_29_zeroes_without_number()).run();
    let kind = seen.record.failure.as_ref().map(|it| it.kind);
    assert!(
        matches!(
            kind,
            Some(FailureKind::Trap | FailureKind::TooManyResources)
        ),
        "{:?}",
        seen.record
    );
}

#[test]
fn row_30_nothing_of_the_hosts_is_there_to_see() {
    for row in Row::scripted(&["environment"]) {
        assert_eq!(row.says_nothing().record.stdout, "");
    }
    // What it is called, and not where it lies on the host.
    for row in Row::scripted(&["arguments"]) {
        let stdout = row.says_nothing().record.stdout;
        assert!(
            stdout.ends_with("arguments\n") && !stdout.contains('/'),
            "{stdout}"
        );
    }
    for path in [
        "/etc/passwd",
        ".",
        "/",
        "/proc/self/environ",
        "hostile.wasm",
    ] {
        for row in Row::scripted(&[&format!("read-file={path}")]) {
            let record = row.says_nothing().record;
            assert_eq!(
                (record.stdout.as_str(), record.stderr.is_empty()),
                ("", false),
                "{path}"
            );
        }
    }
    for address in [
        "127.0.0.1:80",
        "[::1]:80",
        "169.254.169.254:80",
        "localhost:80",
    ] {
        for row in Row::scripted(&[&format!("connect={address}")]) {
            let record = row.says_nothing().record;
            assert_eq!(
                (record.stdout.as_str(), record.stderr.is_empty()),
                ("", false),
                "{address}"
            );
        }
    }
}

/// A denied use is no failure, since runtimes try some of this by themselves. It is told.
#[test]
fn row_30_what_was_tried_in_vain_is_told() {
    let [component, _] = Row::scripted(&["environment"]);
    let denied = component.says_nothing().record.denied;
    let told: Vec<(&str, u64)> = denied
        .iter()
        .map(|denied| (denied.what.as_str(), denied.count))
        .collect();
    // The first is what every program of its toolchain asks for when it starts.
    assert_eq!(
        told,
        [
            ("files: it asks for folders, and none is granted", 1),
            ("variables: it asks for the environment, which is empty", 1)
        ]
    );
}

#[test]
fn row_30_what_was_not_granted_is_not_even_linked() {
    for interface in [
        "wasi:http/outgoing-handler@0.2.0",
        "wasi:keyvalue/store@0.2.0-draft",
    ] {
        let component = format!(
            r#"(component
                (import "{interface}" (instance))
                (core module $main (func (export "run") (result i32) (i32.const 0)))
                (core instance $main (instantiate $main))
                (func $run (result (result)) (canon lift (core func $main "run")))
                (instance $interface (export "run" (func $run)))
                (export "wasi:cli/run@0.2.0" (instance $interface)))"#
        );
        let seen = Row::of(guest::text(&component)).fails(FailureKind::UnknownImport);
        let message = seen.message();
        assert!(message.contains(&format!("`{interface}`")), "{message}");
        if interface.starts_with("wasi:http") {
            assert!(
                message.contains("which it is not granted; add `\"permissions\": {\"network\": ["),
                "{message}"
            );
        }
    }
}
