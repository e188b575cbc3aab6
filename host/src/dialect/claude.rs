//! A decision as an agent of the Claude contract expects it: JSON on stdout, a reason on stderr,
//! exit code 0 or 2.
//!
//! A block is told three times over, since agents of this family differ in which they read: exit
//! code 2, the reason on stderr, and JSON on stdout. Everything else is JSON at exit code 0.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use super::Answer;
use crate::contract::Permission;
use crate::merge::Decision;
use crate::text::Text;

/// The members of the answer, in the order in which they are printed.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    go_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific {
    hook_event_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<Permission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Behavior>,
    #[serde(flatten)]
    other: BTreeMap<String, Box<RawValue>>,
}

/// `hookSpecificOutput.decision` of a `PermissionRequest`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Behavior {
    behavior: Permission,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_input: Option<Box<RawValue>>,
}

/// The events whose `hookSpecificOutput` carries `permissionDecision`.
const PERMISSION_DECISION: [&str; 3] = ["PreToolUse", "PreModelSwitch", "PreSkillShellCommand"];

/// The events whose `hookSpecificOutput` carries `additionalContext`.
const ADDITIONAL_CONTEXT: [&str; 13] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "Setup",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "Notification",
    "PostModelSwitch",
];

/// Answers in the Claude contract's form.
pub fn answer(decision: &Decision) -> Answer {
    let event = decision.event.as_str();
    let mut output = Output::default();
    if let Some(halt) = &decision.halt {
        output.go_on = Some(false);
        output.stop_reason.clone_from(&halt.reason);
    }
    let mut specific = Specific {
        hook_event_name: decision.event.clone(),
        other: decision.other.clone(),
        ..Specific::default()
    };
    let mut exit_code = 0;
    let mut stderr = Text::default();
    let mut notices = decision.notices.clone();
    let blocked = decision.is_blocked();
    let updated_input = decision.updated_input.clone().filter(|_| !blocked);
    if event == "PermissionRequest" {
        // Exit code 2 is not honoured on this event: the JSON alone decides.
        let behavior = decision
            .permission
            .filter(|it| matches!(it, Permission::Allow | Permission::Deny));
        specific.decision = behavior.map(|behavior| Behavior {
            behavior,
            message: decision.reason.clone().filter(|_| blocked),
            updated_input: updated_input.clone(),
        });
    } else {
        if PERMISSION_DECISION.contains(&event) {
            specific.permission_decision = decision.permission;
            specific
                .permission_decision_reason
                .clone_from(&decision.reason);
            specific.updated_input = updated_input;
        }
        if blocked {
            exit_code = 2;
            let reason = decision.reason.clone();
            stderr = reason.unwrap_or_else(|| "blocked by a hook".into()).line();
            if !PERMISSION_DECISION.contains(&event) {
                output.decision = Some("block");
                output.reason.clone_from(&decision.reason);
            }
        }
    }
    if !decision.contexts.is_empty() {
        if ADDITIONAL_CONTEXT.contains(&event) {
            specific.additional_context = Some(Text::join(&decision.contexts, &"\n".into()));
        } else {
            notices.push(
                format!("the event {event} takes no context; that of its hooks is dropped").into(),
            );
        }
    }
    let told = decision
        .system_messages
        .iter()
        .map(ToString::to_string)
        .chain(notices.iter().map(|it| format!("hookcell: {it}")));
    let told: Vec<String> = told.collect();
    output.system_message = (!told.is_empty()).then(|| told.join("\n"));
    if !specific.is_empty() {
        output.hook_specific_output = Some(specific);
    }
    let stdout = match serde_json::to_string(&output) {
        Ok(json) if json != "{}" => Text::json(&json).line(),
        // Text, lists of text and raw JSON always serialise.
        _ => Text::default(),
    };
    Answer {
        stdout,
        stderr,
        exit_code,
    }
}

impl Specific {
    /// Whether it says nothing but the event's name.
    fn is_empty(&self) -> bool {
        self.permission_decision.is_none()
            && self.permission_decision_reason.is_none()
            && self.updated_input.is_none()
            && self.additional_context.is_none()
            && self.decision.is_none()
            && self.other.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Halt;

    fn decided(event: &str, permission: Permission) -> Decision {
        Decision {
            event: event.into(),
            permission: Some(permission),
            reason: Some("because".into()),
            ..Decision::default()
        }
    }

    fn says(stdout: &str) -> Answer {
        Answer {
            stdout: Text::from(stdout).line(),
            stderr: Text::default(),
            exit_code: 0,
        }
    }

    fn blocks(stdout: &str) -> Answer {
        Answer {
            stdout: Text::from(stdout).line(),
            stderr: "because\n".into(),
            exit_code: 2,
        }
    }

    #[test]
    fn no_opinion_is_silence() {
        let decision = Decision {
            event: "PreToolUse".into(),
            ..Decision::default()
        };
        assert_eq!(
            answer(&decision),
            Answer {
                stdout: Text::default(),
                stderr: Text::default(),
                exit_code: 0
            }
        );
    }

    #[test]
    fn each_permission_has_its_form() {
        let pre = |word: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","permissionDecisionReason":"because"}}}}"#
            )
        };
        assert_eq!(
            answer(&decided("PreToolUse", Permission::Allow)),
            says(&pre("allow"))
        );
        assert_eq!(
            answer(&decided("PreToolUse", Permission::Ask)),
            says(&pre("ask"))
        );
        assert_eq!(
            answer(&decided("PreToolUse", Permission::Defer)),
            says(&pre("defer"))
        );
        assert_eq!(
            answer(&decided("PreToolUse", Permission::Deny)),
            blocks(&pre("deny"))
        );
        assert_eq!(
            answer(&decided("Stop", Permission::Deny)),
            blocks(r#"{"decision":"block","reason":"because"}"#)
        );
        assert_eq!(answer(&decided("Stop", Permission::Allow)).stdout, "");
        assert_eq!(
            answer(&decided("PermissionRequest", Permission::Deny)),
            says(
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"because"}}}"#
            )
        );
        assert_eq!(
            answer(&decided("PermissionRequest", Permission::Allow)),
            says(
                r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#
            )
        );
    }

    #[test]
    fn texts_and_inputs_are_carried() {
        let decision = Decision {
            event: "PreToolUse".into(),
            halt: Some(Halt {
                reason: Some("enough".into()),
            }),
            contexts: vec!["one".into(), "two".into()],
            system_messages: vec!["hello".into()],
            notices: vec!["a hook failed".into()],
            updated_input: Some(RawValue::from_string(r#"{"n": 1e999}"#.into()).unwrap()),
            ..Decision::default()
        };
        assert_eq!(
            answer(&decision),
            says(
                r#"{"continue":false,"stopReason":"enough","systemMessage":"hello\nhookcell: a hook failed","hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n": 1e999},"additionalContext":"one\ntwo"}}"#
            )
        );
        let lost = Decision {
            event: "SessionEnd".into(),
            contexts: vec!["x".into()],
            ..Decision::default()
        };
        assert_eq!(
            answer(&lost),
            says(
                r#"{"systemMessage":"hookcell: the event SessionEnd takes no context; that of its hooks is dropped"}"#
            )
        );
    }

    #[test]
    fn a_blocked_input_is_not_also_changed() {
        let decision = Decision {
            updated_input: Some(RawValue::from_string("{}".into()).unwrap()),
            ..decided("PreToolUse", Permission::Deny)
        };
        assert!(!answer(&decision).stdout.contains("updatedInput"));
    }
}
