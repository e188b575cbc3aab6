//! Inputs as hooks and agents send them, and as nobody should.

use hookcell::contract::Contract;
use hookcell::outcome::{Captured, End, Failure, FailureKind, Outcome};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Events of every kind that the contract tells apart, and some that it does not know.
pub const EVENTS: [&str; 16] = [
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "PostModelSwitch",
    "PermissionRequest",
    "Notification",
    "Stop",
    "SubagentStop",
    "TaskCompleted",
    "TeammateIdle",
    "FileChanged",
    "tool.use",
    "",
    "stop",
];

pub fn event() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => select(&EVENTS[..]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// The contracts of all dialects.
pub fn contract() -> impl Strategy<Value = Contract> {
    select(vec![Contract::Claude, Contract::OpenHands, Contract::Watch])
}

/// Text with a good share of characters that act, that are long in UTF-8, or that mean something.
pub fn text() -> impl Strategy<Value = String> {
    let acting = select(
        "\0\u{7}\u{8}\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{61c}\u{180e}\u{200b}\u{200d}\u{200e}\
         \u{2028}\u{2029}\u{202e}\u{2060}\u{2066}\u{2069}\u{feff}\u{fffb}\u{e0001}\u{e0041}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let character = prop_oneof![
        4 => proptest::char::range(' ', '~'),
        2 => acting,
        1 => any::<char>(),
        1 => select(vec!['…', '\u{fffd}', 'ß', '日', '🙂', '\\', '{', '}']),
    ];
    vec(character, 0..60).prop_map(String::from_iter)
}

/// Text, text that is not UTF-8, and anything.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        text().prop_map(String::into_bytes),
        vec(any::<u8>(), 0..80),
        (text(), vec(any::<u8>(), 0..4), text()).prop_map(|(head, odd, tail)| [
            head.as_bytes(),
            &odd,
            tail.as_bytes()
        ]
        .concat()),
    ]
}

/// A JSON string of any text, as some writer wrote it.
pub fn json_string() -> impl Strategy<Value = String> {
    text().prop_map(|text| serde_json::Value::from(text).to_string())
}

/// JSON of any kind, numbers that no type holds and lone surrogates included.
pub fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        json_string(),
        any::<i64>().prop_map(|number| number.to_string()),
        select(vec![
            "null",
            "true",
            "false",
            "0",
            "-0",
            "1e999",
            "1.5e-7",
            "{}",
            "[]",
            "\"\"",
            r#""\ud800""#,
            r#""\u001b[2J""#,
            "123456789012345678901234567890",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((json_string(), inner), 0..4).prop_map(|members| object(&members)),
        ]
    })
}

pub fn object(members: &[(String, String)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}

/// What a hook writes to standard output: a decision, something near a decision, or anything.
pub fn stdout() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        5 => answer().prop_map(String::into_bytes),
        2 => (select(vec!["", "\u{feff}", " \r\n", "x", "[", "{"]), answer(), bytes())
            .prop_map(|(before, answer, behind)| {
                [before.as_bytes(), answer.as_bytes(), &behind].concat()
            }),
        1 => (answer(), any::<prop::sample::Index>()).prop_map(|(answer, end)| {
            answer.as_bytes()[..end.index(answer.len())].to_vec()
        }),
        1 => json().prop_map(String::into_bytes),
        2 => bytes(),
        1 => Just(Vec::new()),
    ]
}

/// An object of members that mean something to some agent, with values that may be wrong.
fn answer() -> impl Strategy<Value = String> {
    let specific = vec(member(), 0..4).prop_map(|members| object(&members));
    let outer = prop_oneof![
        6 => member(),
        2 => specific.prop_map(|specific| ("\"hookSpecificOutput\"".to_owned(), specific)),
    ];
    vec(outer, 0..5).prop_map(|members| object(&members))
}

fn member() -> impl Strategy<Value = (String, String)> {
    let quoted = |word: &str| format!("\"{word}\"");
    let word = select(vec![
        "allow", "approve", "ask", "defer", "block", "deny", "DENY", "maybe",
    ]);
    let text_member = select(vec![
        "reason",
        "stopReason",
        "systemMessage",
        "additionalContext",
        "permissionDecisionReason",
    ]);
    prop_oneof![
        4 => (select(vec!["decision", "permissionDecision"]), word)
            .prop_map(move |(name, word)| (quoted(name), quoted(word))),
        3 => (text_member, json_string()).prop_map(move |(name, text)| (quoted(name), text)),
        1 => select(vec!["true", "false", "0", "null"])
            .prop_map(move |value| (quoted("continue"), value.to_owned())),
        1 => select(vec!["PreToolUse", "Stop"])
            .prop_map(move |event| (quoted("hookEventName"), quoted(event))),
        1 => json().prop_map(move |value| (quoted("updatedInput"), value)),
        1 => (json_string(), json()),
    ]
}

pub fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::Exited(0)),
        3 => Just(End::Exited(2)),
        3 => any::<u8>().prop_map(|code| End::Exited(code.into())),
        1 => any::<i32>().prop_map(End::Exited),
        1 => (1..65).prop_map(End::Signaled),
        3 => failure().prop_map(End::Failed),
    ]
}

/// Failures of the kinds that leave no exit code, in words of the host.
fn failure() -> impl Strategy<Value = Failure> {
    select(vec![
        FailureKind::NotStarted,
        FailureKind::ComponentUnreadable,
        FailureKind::DigestMismatch,
        FailureKind::ComponentInvalid,
        FailureKind::UnknownImport,
        FailureKind::GrantUnavailable,
        FailureKind::TimedOut,
        FailureKind::OutOfFuel,
        FailureKind::OutOfMemory,
        FailureKind::TooManyResources,
        FailureKind::Trap,
        FailureKind::Host,
    ])
    .prop_map(|kind| Failure::new(kind, "what happened"))
}

/// How a run may have ended, with this end.
pub fn outcome(end: impl Strategy<Value = End>) -> impl Strategy<Value = Outcome> {
    let dropped = prop_oneof![6 => Just(0), 1 => 1..u64::from(u32::MAX)];
    (end, stdout(), dropped, bytes(), dropped_of_stderr()).prop_map(
        |(end, stdout, dropped, stderr, dropped_of_stderr)| Outcome {
            end,
            stdout: captured(stdout, dropped),
            stderr: captured(stderr, dropped_of_stderr),
            ..Outcome::never_ran(Failure::new(FailureKind::Host, ""))
        },
    )
}

fn dropped_of_stderr() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(9)]
}

fn captured(bytes: Vec<u8>, dropped: u64) -> Captured {
    let total = bytes.len() as u64 + dropped;
    Captured { bytes, total }
}
