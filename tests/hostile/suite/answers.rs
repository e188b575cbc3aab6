//! Rows 15 to 17: standard output that is nearly a decision.

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::support::guest;
use crate::support::row::Row;

#[track_caller]
fn is_no_answer(stdout: &[u8]) {
    Row::of(guest::says(stdout, b"", 0)).fails(FailureKind::BadOutput);
}

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn row_15_json_in_another_encoding_is_no_answer() {
    // Not UTF-8: no JSON, whatever it would mean if it were.
    is_no_answer(b"{\"decision\":\"approve\",\"reason\":\"\xff\"}");
    is_no_answer(b"{\"decision\":\"approve\",\"reason\":\"\xed\xa0\x80\"}");
    is_no_answer(b"{\"decision\":\"approve\",\"reason\":\"\xc0\xaf\"}");
    is_no_answer(b"{\0\"decision\":\"approve\"}");
    is_no_answer(b"{\"decision\":\"approve\"}\0");
    is_no_answer(b"{\"decision\":\"appr\0ove\"}");
    // A block in UTF-16 must not pass for no opinion.
    let block = "{\"decision\":\"block\"}";
    is_no_answer(&utf_16(block, u16::to_le_bytes));
    is_no_answer(&utf_16(&format!("\u{feff}{block}"), u16::to_le_bytes));
    is_no_answer(&utf_16(&format!("\u{feff}{block}"), u16::to_be_bytes));
    is_no_answer(format!("\0{block}").as_bytes());
    // A byte order mark of UTF-8 is none of the answer.
    Row::of(guest::says(
        "\u{feff}{\"decision\":\"block\",\"reason\":\"no\"}".as_bytes(),
        b"",
        0,
    ))
    .blocks("no");
}

#[test]
fn row_15_text_in_another_encoding_is_shown_as_text() {
    let seen = Row::of(guest::says(b"caf\xe9 \x9b31m \x1b[31m\x07\x00", b"", 0)).says_nothing();
    assert_eq!(
        seen.record.stdout,
        "caf\u{fffd} \u{fffd}31m \\u{1b}[31m\\u{7}\\u{0}"
    );
}

#[test]
fn row_16_json_that_is_too_deep_is_no_answer() {
    let nested = |depth: usize| {
        format!(
            r#"{{"decision":"approve","x":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    is_no_answer(nested(10_000).as_bytes());
    is_no_answer(nested(400_000).as_bytes());
    is_no_answer("[".repeat(100_000).replacen('[', "{\"x\":[", 1).as_bytes());
    let objects = format!(
        "{{\"decision\":\"approve\",\"x\":{}1{}}}",
        "{\"x\":".repeat(10_000),
        "}".repeat(10_000)
    );
    is_no_answer(objects.as_bytes());
    // In what is handed on unread, too.
    let input = format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{{"x":{}{}}}}}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    is_no_answer(input.as_bytes());
}

#[test]
fn row_16_json_that_is_too_long_is_no_answer() {
    let long = format!(
        r#"{{"decision":"approve","x":[1{}]}}"#,
        ",1".repeat(1_000_000)
    );
    Row::of(guest::says(long.as_bytes(), b"", 0)).fails(FailureKind::OutputTooLarge);
    // Where there is room for it, it is an answer like all others, and costs no memory to speak of.
    Row::of(guest::says(long.as_bytes(), b"", 0))
        .hook(json!({"limits": {"stdout": "4MiB"}}))
        .decides(Some(Permission::Allow), None);
}

#[test]
fn row_16_numbers_that_are_none_are_no_answer() {
    for number in [
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "1.",
        ".5",
        "0x10",
        "+1",
    ] {
        is_no_answer(format!(r#"{{"decision":"approve","x":{number}}}"#).as_bytes());
    }
    // Beyond what a float can be, and a number all the same: nothing reads it.
    Row::of(guest::says(
        br#"{"decision":"block","reason":"no","x":1e999}"#,
        b"",
        0,
    ))
    .blocks("no");
}

#[test]
fn row_17_an_answer_that_contradicts_itself_is_no_answer() {
    for stdout in [
        r#"{"decision":"block","decision":"approve"}"#,
        r#"{"decision":"approve","decision":"block"}"#,
        r#"{"decision":"block","decisi\u006fn":"approve"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{"permissionDecision":"allow"}}"#,
        r#"{"continue":false,"continue":true}"#,
        "{\"decision\":\"block\"}\n{\"decision\":\"approve\"}",
        "{\"decision\":\"block\"} and more",
        "{\"decision\":\"block\"}}",
    ] {
        is_no_answer(stdout.as_bytes());
    }
}

#[test]
fn row_17_an_answer_in_words_that_mean_nothing_is_no_answer() {
    for stdout in [
        r#"{"decision":"Block"}"#,
        r#"{"decision":"blocked"}"#,
        r#"{"decision":true}"#,
        r#"{"decision":["block"]}"#,
        r#"{"decision":{"block":null}}"#,
        r#"{"continue":"false"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"no"}}"#,
        r#"{"hookSpecificOutput":[]}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":[]}}"#,
    ] {
        is_no_answer(stdout.as_bytes());
    }
}
