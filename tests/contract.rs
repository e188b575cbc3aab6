//! The exit-code contract, cell by cell: one table drives the pure function, real commands, real
//! components and real preview1 modules, and all must come to the same verdict.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod support;

use hookcell::contract::{Contract, Permission, Verdict, judge};
use hookcell::outcome::{Captured, End, Failure, FailureKind, Outcome, Usage};
use hookcell::text::Text;
use hookcell::{Decision, Event, Host};
use serde_json::{Value, json};
use support::{COMPONENT, MODULE};

/// How a hook ends: the rows.
const ENDS: [&str; 9] = ["0", "1", "2", "3", "126", "127", "255", "signal", "failure"];

/// What it writes to standard output: the columns.
const STDOUTS: [(&str, &str); 12] = [
    ("empty", ""),
    ("text", "all is well"),
    ("allow", r#"{"decision":"approve"}"#),
    (
        "deny",
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"from json"}}"#,
    ),
    ("block", r#"{"decision":"block","reason":"from json"}"#),
    (
        "ask",
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
    ),
    ("halt", r#"{"continue":false,"stopReason":"from json"}"#),
    (
        "context",
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"from json"}}"#,
    ),
    (
        "input",
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
    ),
    ("broken", r#"{"decision":"approve""#),
    ("two", r#"{"decision":"approve"}{"decision":"block"}"#),
    ("array", r#"["decision","block"]"#),
];

/// What each hook writes to standard error.
const STDERR: &str = "from stderr";

/// The verdict that a cell must have. `end` and `stdout` index [`ENDS`] and [`STDOUTS`].
///
/// Rows with the same words: 1, 3, 126, 127, 255 differ in nothing. A signal differs in the kind
/// of failure only.
fn expected(end: &str, stdout: &str) -> &'static str {
    match end {
        "0" => match stdout {
            "empty" | "text" | "array" => "no opinion",
            "allow" => "allow",
            "deny" | "block" => "deny because from json",
            "ask" => "ask",
            "halt" => "halt because from json",
            "context" => "context from json",
            "input" => "input",
            "broken" | "two" => "failure bad-output",
            _ => unreachable!(),
        },
        "2" => match stdout {
            "deny" | "block" => "deny because from json",
            "halt" => "deny because from stderr, halt because from json",
            "context" => "deny because from stderr, context from json",
            "empty" | "text" | "allow" | "ask" | "input" | "broken" | "two" | "array" => {
                "deny because from stderr"
            }
            _ => unreachable!(),
        },
        "failure" => "failure of the run",
        "signal" if matches!(stdout, "empty" | "text" | "array") => "failure signal",
        "1" | "3" | "126" | "127" | "255" if matches!(stdout, "empty" | "text" | "array") => {
            "failure exit-code"
        }
        _ => match stdout {
            "allow" => "allow, unsuccessful",
            "deny" | "block" => "deny because from json, unsuccessful",
            "ask" => "ask, unsuccessful",
            "halt" => "halt because from json, unsuccessful",
            "context" => "context from json, unsuccessful",
            "input" => "input, unsuccessful",
            "broken" | "two" => "failure bad-output",
            _ => unreachable!(),
        },
    }
}

/// A verdict in the table's words.
#[derive(Default)]
struct Words {
    permission: Option<Permission>,
    reason: Option<Text>,
    halt: Option<Option<Text>>,
    context: Option<Text>,
    input: Option<String>,
    failure: Option<FailureKind>,
    success: bool,
}

impl Words {
    fn of_verdict(verdict: Verdict) -> Self {
        Self {
            permission: verdict.permission,
            reason: verdict.reason,
            halt: verdict.halt.map(|halt| halt.reason),
            context: verdict.context,
            input: verdict.updated_input.map(|input| input.get().to_owned()),
            failure: verdict.failure.map(|failure| failure.kind),
            success: verdict.success,
        }
    }

    fn of_decision(decision: Decision) -> Self {
        assert_eq!(decision.records.len(), 1, "exactly one record");
        assert!(decision.contexts.len() <= 1);
        let record = &decision.records[0];
        assert_eq!(record.permission, decision.permission);
        Self {
            permission: decision.permission,
            reason: decision.reason,
            halt: decision.halt.map(|halt| halt.reason),
            context: decision.contexts.into_iter().next(),
            input: decision.updated_input.map(|input| input.get().to_owned()),
            failure: record.failure.as_ref().map(|failure| failure.kind),
            success: record.success,
        }
    }

    fn text(self, end: &str) -> String {
        let mut words = Vec::new();
        let because = |reason: Option<Text>| {
            reason
                .map(|it| format!(" because {it}"))
                .unwrap_or_default()
        };
        match self.permission {
            Some(Permission::Deny) => words.push(format!("deny{}", because(self.reason))),
            Some(Permission::Allow) => words.push(format!("allow{}", because(self.reason))),
            Some(Permission::Ask) => words.push(format!("ask{}", because(self.reason))),
            Some(Permission::Defer) => words.push(format!("defer{}", because(self.reason))),
            None => assert_eq!(self.reason, None),
        }
        words.extend(self.halt.map(|reason| format!("halt{}", because(reason))));
        words.extend(self.context.map(|context| format!("context {context}")));
        words.extend(self.input.map(|input| {
            assert_eq!(input, r#"{"command":"ls"}"#);
            "input".to_owned()
        }));
        if let Some(kind) = self.failure {
            assert!(!self.success);
            return match kind {
                FailureKind::Trap | FailureKind::TimedOut if words.is_empty() => {
                    "failure of the run".to_owned()
                }
                kind => [words, vec![format!("failure {kind}")]].concat().join(", "),
            };
        }
        if words.is_empty() {
            words.push("no opinion".to_owned());
        }
        // Exit code 2 is a block that its hook meant: the table does not repeat that it is not 0.
        if end != "2" && !self.success {
            words.push("unsuccessful".to_owned());
        }
        words.join(", ")
    }
}

#[test]
fn every_cell_as_a_pure_function() {
    for end in ENDS {
        for (name, stdout) in STDOUTS {
            let outcome = Outcome {
                end: match end {
                    "signal" => End::Signaled(9),
                    "failure" => End::Failed(Failure::new(FailureKind::Trap, "unreachable")),
                    code => End::Exited(code.parse().unwrap()),
                },
                stdout: Captured::whole(stdout),
                stderr: Captured::whole(STDERR),
                usage: Usage::default(),
                denied: Vec::new(),
                not_enforced: Vec::new(),
            };
            let verdict = judge(Contract::Claude, "PreToolUse", &outcome, false);
            assert_eq!(
                Words::of_verdict(verdict).text(end),
                expected(end, name),
                "exit {end}, stdout {name}"
            );
            // With `"onFailure": "block"` a failure blocks, and nothing else changes.
            let strict = judge(Contract::Claude, "PreToolUse", &outcome, true);
            if expected(end, name).starts_with("failure") {
                assert_eq!(
                    strict.permission,
                    Some(Permission::Deny),
                    "exit {end}, stdout {name}"
                );
                assert!(
                    strict
                        .reason
                        .is_some_and(|reason| reason.contains("failed: "))
                );
            } else {
                assert_eq!(Words::of_verdict(strict).text(end), expected(end, name));
            }
        }
    }
}

/// One hook a cell, told apart by the tool that its group matches.
fn host(hook: impl Fn(&str, &str) -> Option<Value>) -> Host {
    let groups: Vec<Value> = ENDS
        .iter()
        .flat_map(|end| {
            STDOUTS
                .iter()
                .map(move |(name, stdout)| (end, name, stdout))
        })
        .filter_map(|(end, name, stdout)| {
            let hook = hook(end, stdout)?;
            Some(json!({"matcher": format!("{name}-{end}"), "hooks": [hook]}))
        })
        .collect();
    support::host(&json!({"hooks": {"PreToolUse": groups}}))
}

async fn check_all(host: &Host, ends: &[&str]) {
    for end in ends {
        for (name, _) in STDOUTS {
            let payload =
                json!({"hook_event_name": "PreToolUse", "tool_name": format!("{name}-{end}")});
            let event = Event::parse(payload.to_string(), None).unwrap();
            let decision = host.dispatch(&event).await;
            assert_eq!(
                Words::of_decision(decision).text(end),
                expected(end, name),
                "exit {end}, stdout {name}"
            );
        }
    }
}

#[tokio::test]
async fn every_cell_as_a_command() {
    let host = host(|end, stdout| {
        let last = match end {
            "signal" => "kill -KILL $$".to_owned(),
            "failure" => "sleep 30".to_owned(),
            code => format!("exit {code}"),
        };
        let timeout = if end == "failure" { 0.3 } else { 30.0 };
        let script = format!("printf '%s' '{stdout}'; printf '%s' '{STDERR}' >&2; {last}");
        Some(json!({"type": "command", "command": script, "timeout": timeout}))
    });
    check_all(&host, &ENDS).await;
}

fn guest(file: &str) -> Host {
    host(|end, stdout| {
        let last = match end {
            // A guest cannot be sent a signal.
            "signal" => return None,
            "failure" => "trap".to_owned(),
            code => format!("exit={code}"),
        };
        let args = [format!("stdout={stdout}"), format!("stderr={STDERR}"), last];
        Some(json!({"type": "component", "component": file, "args": args, "timeout": 30}))
    })
}

const WITHOUT_SIGNAL: [&str; 8] = ["0", "1", "2", "3", "126", "127", "255", "failure"];

#[tokio::test]
async fn every_cell_as_a_component() {
    check_all(&guest(COMPONENT), &WITHOUT_SIGNAL).await;
}

#[tokio::test]
async fn every_cell_as_a_preview1_module() {
    check_all(&guest(MODULE), &WITHOUT_SIGNAL).await;
}

fn exited(code: i32, stdout: &str) -> Outcome {
    Outcome {
        end: End::Exited(code),
        stdout: Captured::whole(stdout),
        stderr: Captured::whole(""),
        usage: Usage::default(),
        denied: Vec::new(),
        not_enforced: Vec::new(),
    }
}

#[test]
fn text_is_context_on_the_four_events_that_take_it() {
    for (event, taken) in [
        ("UserPromptSubmit", true),
        ("UserPromptExpansion", true),
        ("SessionStart", true),
        ("PostModelSwitch", true),
        ("PreToolUse", false),
        ("PostToolUse", false),
        ("Stop", false),
        ("SessionEnd", false),
    ] {
        let verdict = judge(Contract::Claude, event, &exited(0, "a branch\n"), false);
        assert_eq!(
            verdict.context,
            taken.then(|| "a branch\n".into()),
            "{event}"
        );
        let verdict = judge(Contract::Claude, event, &exited(0, " \n\t"), false);
        assert_eq!(verdict.context, None, "{event}");
    }
}

#[test]
fn a_cut_output_is_never_parsed() {
    let cut = |code| Outcome {
        stdout: Captured {
            bytes: br#"{"decision":"approve"}"#.to_vec(),
            total: 5000,
        },
        ..exited(code, "")
    };
    for code in [0, 1, 255] {
        let verdict = judge(Contract::Claude, "PreToolUse", &cut(code), false);
        assert_eq!(verdict.permission, None);
        let failure = verdict.failure.unwrap();
        assert_eq!(failure.kind, FailureKind::OutputTooLarge);
        assert_eq!(
            failure.message,
            "standard output was 5000 bytes, and 22 are allowed (`limits.stdout`); a cut answer is not read"
        );
    }
    assert_eq!(
        judge(Contract::Claude, "PreToolUse", &cut(2), false).permission,
        Some(Permission::Deny)
    );
}

#[test]
fn what_is_not_exactly_one_valid_decision_is_bad_output() {
    for stdout in [
        "{",
        "{}{}",
        "{} trailing",
        r#"{"decision":"maybe"}"#,
        r#"{"decision":true}"#,
        r#"{"decision":"approve","decision":"block"}"#,
        r#"{"continue":"false"}"#,
        r#"{"reason":5}"#,
        r#"{"hookSpecificOutput":[]}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"perhaps"}}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecision":"deny"}}"#,
        r#"{"hookSpecificOutput":{"updatedInput":["ls"]}}"#,
        r#"{'decision':'block'}"#,
    ] {
        let verdict = judge(Contract::Claude, "PreToolUse", &exited(0, stdout), false);
        let kind = verdict.failure.map(|failure| failure.kind);
        assert_eq!(kind, Some(FailureKind::BadOutput), "{stdout}");
        assert_eq!(verdict.permission, None, "{stdout}");
    }
}

#[test]
fn what_is_tolerated_does_not_hide_the_decision() {
    let deep = format!(
        r#"{{"decision":"block","x":{}1{}}}"#,
        "[".repeat(127),
        "]".repeat(127)
    );
    for stdout in [
        "\u{feff} \r\n{\"decision\":\"block\"}\n\n",
        r#"{"decision":"block","unknown":{"a":[1e999,"\ud800"]},"reason":null}"#,
        r#"{"decision":"deny"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        r#"{"decision":"approve","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        r#"{"decision":"block","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny"}}}"#,
        &deep,
    ] {
        let verdict = judge(Contract::Claude, "PreToolUse", &exited(0, stdout), false);
        assert_eq!(
            verdict.permission,
            Some(Permission::Deny),
            "{stdout:.80}: {:?}",
            verdict.failure
        );
    }
}

#[test]
fn on_failure_does_not_keep_an_agent_from_ever_ending() {
    for event in ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"] {
        let verdict = judge(Contract::Claude, event, &exited(1, ""), true);
        assert_eq!(
            (verdict.permission, verdict.failure.is_some()),
            (None, true),
            "{event}"
        );
    }
}

#[test]
fn a_hook_that_only_watches_decides_nothing() {
    for outcome in [
        exited(2, ""),
        exited(0, r#"{"decision":"block"}"#),
        exited(1, ""),
        exited(0, "{"),
    ] {
        let verdict = judge(Contract::Watch, "tool.use", &outcome, true);
        assert_eq!(
            (verdict.permission, verdict.failure),
            (None, None),
            "{outcome:?}"
        );
    }
    let failed = Outcome::never_ran(Failure::new(FailureKind::TimedOut, "5 s"));
    let verdict = judge(Contract::Watch, "tool.use", &failed, true);
    assert_eq!(
        (verdict.permission, verdict.failure.unwrap().kind),
        (None, FailureKind::TimedOut)
    );
}

#[test]
fn openhands_table_where_it_differs() {
    let says = |code: i32, stdout: &str| {
        let verdict = judge(
            Contract::OpenHands,
            "UserPromptSubmit",
            &exited(code, stdout),
            false,
        );
        (
            verdict.permission,
            verdict.reason,
            verdict.context,
            verdict.failure.map(|failure| failure.kind),
        )
    };
    let deny = Some(Permission::Deny);
    let allow = Some(Permission::Allow);
    let some = |text: &str| Some(Text::from(text));
    assert_eq!(
        says(0, "text"),
        (None, None, None, None),
        "text is never context"
    );
    assert_eq!(
        says(0, "{broken"),
        (None, None, None, None),
        "broken JSON is ignored"
    );
    assert_eq!(says(0, "{}{}"), (None, None, None, None));
    assert_eq!(
        says(1, "{broken"),
        (None, None, None, Some(FailureKind::ExitCode))
    );
    assert_eq!(
        says(0, r#"{"decision":"DENY","reason":"r"}"#),
        (deny, some("r"), None, None)
    );
    assert_eq!(
        says(0, r#"{"decision":"Allow"}"#),
        (allow, None, None, None)
    );
    assert_eq!(
        says(0, r#"{"decision":"block"}"#),
        (None, None, None, None),
        "only allow and deny decide"
    );
    assert_eq!(says(0, r#"{"decision":5}"#), (None, None, None, None));
    assert_eq!(
        says(0, r#"{"decision":"allow","continue":0}"#),
        (deny, None, None, None)
    );
    assert_eq!(
        says(0, r#"{"continue":"false"}"#),
        (None, None, None, None),
        "a text is true"
    );
    assert_eq!(
        says(0, r#"{"additionalContext":"c"}"#),
        (None, None, some("c"), None)
    );
    assert_eq!(says(1, r#"{"decision":"deny"}"#), (deny, None, None, None));
    assert_eq!(
        says(2, r#"{"decision":"allow","reason":"r"}"#),
        (deny, some("r"), None, None)
    );
    assert_eq!(
        says(0, r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#),
        (None, None, None, None)
    );
}
