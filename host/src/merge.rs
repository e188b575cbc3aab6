//! All verdicts on one event, in configuration order, become one [`Decision`]. Pure: whichever
//! hook finished first, the decision is the same.
//!
//! deny > defer > ask > allow; `continue: false` beats all. The reasons of the hooks that decided
//! are joined, and every context and every message is delivered. Of several `updatedInput` the
//! last in configuration order wins and the conflict is reported. An empty object erases nothing.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::contract::{Halt, Permission, Verdict};
use crate::record::Record;
use crate::text::Text;

/// What all hooks together decided on one event.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// The event's name.
    pub event: String,
    /// Whether the operation may go on; `None` (in JSON `null`) is no opinion.
    pub permission: Option<Permission>,
    /// The reasons of the hooks that gave `permission`, in configuration order, a line each.
    pub reason: Option<Text>,
    /// Whether the agent stops altogether; the first hook that said so gives the reason.
    pub halt: Option<Halt>,
    /// Text for the model, of every hook that gave any, in configuration order.
    pub contexts: Vec<Text>,
    /// The tool input that replaces the present one.
    pub updated_input: Option<Box<RawValue>>,
    /// Text for the user, of every hook that gave any, in configuration order.
    pub system_messages: Vec<Text>,
    /// What hookcell itself has to tell the user: failures of hooks, and conflicts between them.
    pub notices: Vec<Text>,
    /// Further members of `hookSpecificOutput`, as the hooks wrote them.
    pub other: BTreeMap<String, Box<RawValue>>,
    /// One record for each hook that was selected, in configuration order.
    pub records: Vec<Record>,
}

impl Decision {
    /// Whether the operation must not go on.
    pub fn is_blocked(&self) -> bool {
        self.permission == Some(Permission::Deny)
    }
}

/// Merges what `hooks` said: each one's label and verdict, in configuration order.
pub fn merge<'a>(event: &str, hooks: impl IntoIterator<Item = (&'a str, Verdict)>) -> Decision {
    let mut decision = Decision {
        event: event.to_owned(),
        ..Decision::default()
    };
    let mut reasons: Vec<(Permission, Text)> = Vec::new();
    let mut input_from: Option<&str> = None;
    let mut other_from: BTreeMap<String, &str> = BTreeMap::new();
    for (label, verdict) in hooks {
        decision.permission = decision.permission.max(verdict.permission);
        if let Some(permission) = verdict.permission {
            let reason = verdict.reason.or_else(|| {
                (permission == Permission::Deny)
                    .then(|| format!("blocked by hook `{label}`").into())
            });
            reasons.extend(reason.map(|reason| (permission, reason)));
        }
        if decision.halt.is_none() {
            decision.halt = verdict.halt;
        }
        decision.contexts.extend(verdict.context);
        decision.system_messages.extend(verdict.system_message);
        if let Some(failure) = verdict.failure {
            decision
                .notices
                .push(format!("hook `{label}` failed ({failure})").into());
        }
        if let Some(input) = verdict.updated_input {
            if let Some(earlier) = input_from.replace(label) {
                decision.notices.push(format!(
                    "hooks `{earlier}` and `{label}` both changed the tool input; that of `{label}` counts"
                ).into());
            }
            decision.updated_input = Some(input);
        }
        for (name, value) in verdict.other {
            if let Some(earlier) = other_from.insert(name.clone(), label) {
                decision.notices.push(format!(
                    "hooks `{earlier}` and `{label}` both gave `{name}`; that of `{label}` counts"
                ).into());
            }
            decision.other.insert(name, value);
        }
    }
    let counted: Vec<Text> = reasons
        .into_iter()
        .filter(|(permission, _)| Some(*permission) == decision.permission)
        .map(|(_, reason)| reason)
        .collect();
    decision.reason = (!counted.is_empty()).then(|| Text::join(&counted, &"\n".into()));
    decision
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Failure, FailureKind};

    fn says(permission: Permission, reason: &str) -> Verdict {
        Verdict {
            permission: Some(permission),
            reason: Some(reason.into()),
            ..Verdict::default()
        }
    }

    fn raw(json: &str) -> Option<Box<RawValue>> {
        Some(RawValue::from_string(json.into()).unwrap())
    }

    #[test]
    fn the_strictest_wins_in_every_order() {
        use Permission::{Allow, Ask, Defer, Deny};
        let table = [
            (Allow, Allow, Allow),
            (Allow, Ask, Ask),
            (Allow, Defer, Defer),
            (Allow, Deny, Deny),
            (Ask, Ask, Ask),
            (Ask, Defer, Defer),
            (Ask, Deny, Deny),
            (Defer, Defer, Defer),
            (Defer, Deny, Deny),
            (Deny, Deny, Deny),
        ];
        for (one, two, strictest) in table {
            for (first, second) in [(one, two), (two, one)] {
                let decision = merge("E", [("a", says(first, "A")), ("b", says(second, "B"))]);
                assert_eq!(decision.permission, Some(strictest), "{first:?} {second:?}");
                let reason = match (first == strictest, second == strictest) {
                    (true, true) => "A\nB",
                    (true, false) => "A",
                    _ => "B",
                };
                assert_eq!(decision.reason.as_deref(), Some(reason));
            }
        }
        assert_eq!(merge("E", []).permission, None);
        let with_none = merge(
            "E",
            [
                ("a", Verdict::default()),
                ("b", says(Allow, "B")),
                ("c", Verdict::default()),
            ],
        );
        assert_eq!(
            (with_none.permission, with_none.reason.as_deref()),
            (Some(Allow), Some("B"))
        );
    }

    #[test]
    fn a_block_without_a_reason_names_its_hook() {
        let silent = Verdict {
            permission: Some(Permission::Deny),
            ..Verdict::default()
        };
        assert_eq!(
            merge("E", [("guard", silent)]).reason.as_deref(),
            Some("blocked by hook `guard`")
        );
    }

    #[test]
    fn the_first_halt_gives_the_reason_and_nothing_lifts_it() {
        let halt = |reason: &str| Verdict {
            halt: Some(Halt {
                reason: Some(reason.into()),
            }),
            ..Verdict::default()
        };
        let decision = merge(
            "E",
            [
                ("a", says(Permission::Allow, "A")),
                ("b", halt("one")),
                ("c", halt("two")),
            ],
        );
        assert_eq!(
            decision.halt,
            Some(Halt {
                reason: Some("one".into())
            })
        );
        assert_eq!(decision.permission, Some(Permission::Allow));
    }

    #[test]
    fn every_context_and_message_is_delivered_in_order() {
        let texts = |text: &str| Verdict {
            context: Some(format!("context {text}").into()),
            system_message: Some(format!("message {text}").into()),
            ..Verdict::default()
        };
        let decision = merge(
            "E",
            [
                ("a", texts("1")),
                ("b", Verdict::default()),
                ("c", texts("2")),
            ],
        );
        assert_eq!(decision.contexts, ["context 1", "context 2"]);
        assert_eq!(decision.system_messages, ["message 1", "message 2"]);
    }

    #[test]
    fn the_last_input_in_order_wins_and_the_conflict_is_told() {
        let input = |json: &str| Verdict {
            updated_input: raw(json),
            ..Verdict::default()
        };
        let decision = merge(
            "E",
            [
                ("a", input("{\"n\":1}")),
                ("b", input("{\"n\":2}")),
                ("c", Verdict::default()),
            ],
        );
        assert_eq!(
            decision
                .updated_input
                .map(|raw| raw.get().to_owned())
                .as_deref(),
            Some("{\"n\":2}")
        );
        assert_eq!(
            decision.notices,
            ["hooks `a` and `b` both changed the tool input; that of `b` counts"]
        );
    }

    #[test]
    fn other_members_are_passed_on_and_their_conflicts_told() {
        let other = |json: &str| Verdict {
            other: BTreeMap::from([("sessionTitle".to_owned(), raw(json).unwrap())]),
            ..Verdict::default()
        };
        let decision = merge("E", [("a", other("\"x\"")), ("b", other("\"y\""))]);
        assert_eq!(decision.other["sessionTitle"].get(), "\"y\"");
        assert_eq!(
            decision.notices,
            ["hooks `a` and `b` both gave `sessionTitle`; that of `b` counts"]
        );
    }

    #[test]
    fn a_failure_is_told_and_loses_no_other_hooks_verdict() {
        let failure = Failure::new(FailureKind::Trap, "unreachable");
        let decision = merge(
            "E",
            [
                ("a", Verdict::of_failure(failure.clone(), false)),
                ("b", says(Permission::Ask, "B")),
            ],
        );
        assert_eq!(decision.permission, Some(Permission::Ask));
        assert_eq!(decision.notices, ["hook `a` failed (trap: unreachable)"]);
        let decision = merge(
            "E",
            [
                ("a", Verdict::of_failure(failure, true)),
                ("b", says(Permission::Allow, "B")),
            ],
        );
        assert_eq!(decision.permission, Some(Permission::Deny));
        assert_eq!(
            decision.reason.as_deref(),
            Some("a hook that guards this operation failed: trap: unreachable")
        );
    }
}
