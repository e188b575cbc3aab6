//! Rows 15 to 17: standard output that is nearly a decision.

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::support::guest;
use crate::support::row::Row;

/// Each is a failure, and none decides anything. All that are not are told at once.
#[track_caller]
fn are_no_answers<'a>(outputs: impl IntoIterator<Item = &'a [u8]>) {
    let taken: Vec<String> = outputs
        .into_iter()
        .filter_map(|stdout| {
            let record = Row::of(guest::says(stdout, b"", 0)).run().record;
            let kind = record.failure.as_ref().map(|it| it.kind);
            let shown = String::from_utf8_lossy(&stdout[..stdout.len().min(100)]).into_owned();
            (kind != Some(FailureKind::BadOutput))
                .then(|| format!("{shown:?}: {:?}, {:?}", record.permission, record.failure))
        })
        .collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn row_15_json_in_another_encoding_is_no_answer() {
    let block = "{\"decision\":\"block\"}";
    let marked = format!("\u{feff}{block}");
    are_no_answers([
        // Not UTF-8: no JSON, whatever it would mean if it were.
        &b"{\"decision\":\"approve\",\"reason\":\"\xff\"}"[..],
        b"{\"decision\":\"approve\",\"reason\":\"\xed\xa0\x80\"}",
        b"{\"decision\":\"approve\",\"reason\":\"\xc0\xaf\"}",
        b"{\0\"decision\":\"approve\"}",
        b"{\"decision\":\"approve\"}\0",
        b"{\"decision\":\"appr\0ove\"}",
        // A block that cannot be read must not pass for no opinion.
        &utf_16(block, u16::to_le_bytes),
        &utf_16(block, u16::to_be_bytes),
        &utf_16(&marked, u16::to_le_bytes),
        &utf_16(&marked, u16::to_be_bytes),
        format!("\0{block}").as_bytes(),
    ]);
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
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = format!("{}1{}", "{\"x\":".repeat(10_000), "}".repeat(10_000));
    let outputs = [
        format!(r#"{{"decision":"approve","x":{}}}"#, nested(10_000)),
        format!(r#"{{"decision":"approve","x":{}}}"#, nested(400_000)),
        format!(r#"{{"decision":"approve","x":{objects}}}"#),
        format!(r#"{{"x":{}"#, "[".repeat(100_000)),
        // In what is handed on as it is, too.
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{{"x":{}}}}}}}"#,
            nested(10_000)
        ),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","unknown":{}}}}}"#,
            nested(10_000)
        ),
    ];
    are_no_answers(outputs.iter().map(|it| it.as_bytes()));
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
    let outputs = [
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "1.",
        ".5",
        "0x10",
        "+1",
    ]
    .map(|number| format!(r#"{{"decision":"approve","x":{number}}}"#));
    are_no_answers(outputs.iter().map(|it| it.as_bytes()));
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
    let outputs = [
        r#"{"decision":"block","decision":"approve"}"#,
        r#"{"decision":"approve","decision":"block"}"#,
        r#"{"decision":"block","decisi\u006fn":"approve"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"},"hookSpecificOutput":{"permissionDecision":"allow"}}"#,
        r#"{"continue":false,"continue":true}"#,
        "{\"decision\":\"block\"}\n{\"decision\":\"approve\"}",
        "{\"decision\":\"block\"} and more",
        "{\"decision\":\"block\"}}",
    ];
    are_no_answers(outputs.map(str::as_bytes));
}

#[test]
fn row_17_an_answer_in_words_that_mean_nothing_is_no_answer() {
    let outputs = [
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
    ];
    are_no_answers(outputs.map(str::as_bytes));
}
