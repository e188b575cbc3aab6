//! A decision as OpenHands expects it of a command hook: `decision`, `reason` and
//! `additionalContext` at the top level, exit code 2 for a block.

use serde::Serialize;

use super::Answer;
use crate::contract::Permission;
use crate::merge::Decision;
use crate::text::Text;

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<Text>,
}

/// Answers in OpenHands' form.
///
/// OpenHands can neither ask its user nor stop altogether: both become a block, which its agent
/// is told the reason of. It has no place for messages to the user either: those go to stderr.
pub fn answer(decision: &Decision) -> Answer {
    let halted = decision
        .halt
        .as_ref()
        .map(|halt| halt.reason.as_deref().unwrap_or("a hook stopped the agent"));
    let asks = matches!(
        decision.permission,
        Some(Permission::Ask | Permission::Defer)
    );
    let blocked = decision.is_blocked() || asks || halted.is_some();
    let reason = match (&decision.reason, asks) {
        (Some(reason), _) => Some(reason.as_str()),
        (None, true) => Some("a hook wants the user to be asked, which cannot be done here"),
        (None, false) => halted,
    };
    let output = Output {
        decision: match decision.permission {
            _ if blocked => Some("deny"),
            Some(_) => Some("allow"),
            None => None,
        },
        reason: reason.filter(|_| blocked || decision.permission.is_some()),
        additional_context: (!decision.contexts.is_empty())
            .then(|| Text::join(&decision.contexts, &"\n".into())),
    };
    let stdout = match serde_json::to_string(&output) {
        Ok(json) if json != "{}" => Text::json(&json).line(),
        _ => Text::default(),
    };
    let notices = decision.notices.iter();
    let lines: Vec<Text> = decision
        .system_messages
        .iter()
        .cloned()
        .chain(notices.map(|notice| format!("hookcell: {notice}").into()))
        .map(Text::line)
        .collect();
    Answer {
        stdout,
        stderr: Text::join(&lines, &Text::default()),
        exit_code: if blocked { 2 } else { 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Halt;

    #[test]
    fn each_decision_has_its_form() {
        let decision = |permission, reason: Option<&str>| Decision {
            permission,
            reason: reason.map(Text::from),
            ..Decision::default()
        };
        let table = [
            (decision(None, None), "", 0),
            (
                decision(Some(Permission::Allow), None),
                r#"{"decision":"allow"}"#,
                0,
            ),
            (
                decision(Some(Permission::Deny), Some("no")),
                r#"{"decision":"deny","reason":"no"}"#,
                2,
            ),
            (
                decision(Some(Permission::Ask), None),
                r#"{"decision":"deny","reason":"a hook wants the user to be asked, which cannot be done here"}"#,
                2,
            ),
            (
                Decision {
                    halt: Some(Halt {
                        reason: Some("enough".into()),
                    }),
                    ..Decision::default()
                },
                r#"{"decision":"deny","reason":"enough"}"#,
                2,
            ),
            (
                Decision {
                    contexts: vec!["a".into(), "b".into()],
                    ..Decision::default()
                },
                r#"{"additionalContext":"a\nb"}"#,
                0,
            ),
        ];
        for (decision, stdout, exit_code) in table {
            let answer = answer(&decision);
            assert_eq!(
                (answer.stdout.trim_end(), answer.exit_code),
                (stdout, exit_code)
            );
        }
    }

    #[test]
    fn messages_go_to_stderr() {
        let decision = Decision {
            system_messages: vec!["hello".into()],
            notices: vec!["a hook failed".into()],
            ..Decision::default()
        };
        assert_eq!(answer(&decision).stderr, "hello\nhookcell: a hook failed\n");
    }
}
