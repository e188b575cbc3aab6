//! Rows 10 to 14, 18 and 19: streams without end, and every way to exit.

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::row::Row;
use crate::support::{MOST_FUEL, guest};

const APPROVAL: &str = r#"{"decision":"approve"}"#;

#[test]
pub fn row_10_stdout_flood() {
    let seen = Row::of(guests::row_10_stdout_flood())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
    assert!(
        seen.record.stdout_bytes > 4 << 20,
        "{}",
        seen.record.stdout_bytes
    );
}

/// What is kept of its output is a whole decision, and the output is not one.
#[test]
fn row_10_an_answer_cut_where_it_reads_as_another() {
    let mut stdout = APPROVAL.as_bytes().to_vec();
    stdout.resize(1 << 20, b' ');
    let decided = Row::of(guest::says(&stdout, b"", 0)).decides(Some(Permission::Allow), None);
    assert_eq!(decided.record.stdout_bytes, 1 << 20);
    stdout.push(b'x');
    let seen = Row::of(guest::says(&stdout, b"", 0)).fails(FailureKind::OutputTooLarge).says(
        "standard output was 1048577 bytes, and 1048576 are allowed (`limits.stdout`); a cut answer is not read",
    );
    assert_eq!(
        (seen.record.exit_code, seen.record.stdout_bytes),
        (Some(0), (1 << 20) + 1)
    );
}

#[test]
pub fn row_11_stderr_flood() {
    let seen = Row::of(guests::row_11_stderr_flood()).says_nothing();
    assert_eq!(seen.record.stderr_bytes, 5 << 20);
    assert_eq!(seen.record.stderr, format!("{}…", "E".repeat(10_000)));
}

#[test]
fn row_12_never_reads_a_large_event() {
    Row::of(guest::says(
        br#"{"decision":"block","reason":"unread"}"#,
        b"",
        0,
    ))
    .payload(json!({"text": "x".repeat(10 << 20)}))
    .blocks("unread");
}

#[test]
pub fn row_13_reads_one_byte() {
    Row::of(guests::row_13_reads_one_byte())
        .payload(json!({"text": "x".repeat(10 << 20)}))
        .blocks("one byte: {");
}

#[test]
fn row_14_nothing_is_no_opinion() {
    Row::of(guest::says(b"", b"", 0)).says_nothing();
    Row::of(guest::says(b"\n", b"a warning\n", 0)).says_nothing();
    // Not even `proc_exit` is called.
    Row::of(guest::start("")).says_nothing();
}

#[test]
fn row_18_exit_2_blocks_whatever_is_written() {
    let flood = vec![b' '; 2 << 20];
    for stdout in [
        &b""[..],
        APPROVAL.as_bytes(),
        br#"{"continue":true,"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
        b"{\"decision\":",
        b"\xff\xfe\0",
        &flood,
    ] {
        let seen = Row::of(guest::says(stdout, b"", 2)).blocks("blocked by hook `hostile`");
        assert_eq!(seen.record.exit_code, Some(2));
        Row::of(guest::says(stdout, b"no\n", 2)).blocks("no");
    }
    for row in Row::scripted(&["exit=2"]) {
        row.blocks("blocked by hook `hostile`");
    }
}

/// 258 and -254 are 2 modulo 256, and no block of the guest's.
#[test]
fn row_19_other_codes_are_failures_and_kept_exactly() {
    for code in [
        1,
        3,
        125,
        128,
        255,
        256,
        258,
        300,
        -1,
        -254,
        i32::MAX,
        i32::MIN,
    ] {
        let seen = Row::of(guest::says(b"", b"why\n", code))
            .fails(FailureKind::ExitCode)
            .says(&format!("exit code {code}: why"));
        assert_eq!(seen.record.exit_code, Some(code));
    }
    for code in [126, 127] {
        assert_eq!(
            Row::of(guest::says(b"", b"", code))
                .fails(FailureKind::ExitCode)
                .record
                .exit_code,
            Some(code)
        );
    }
    for row in Row::scripted(&["return-error"]) {
        assert_eq!(row.fails(FailureKind::ExitCode).record.exit_code, Some(1));
    }
}
