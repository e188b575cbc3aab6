//! The merge: the decision depends on the order of the configuration, and on no other order.

use hookcell::contract::{Contract, Permission, Verdict, judge};
use hookcell::merge::{Decision, merge};
use hookcell::text::Text;
use hookcell::{Event, Host};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::generate::{end, outcome};
use crate::support;

fn verdict() -> impl Strategy<Value = Verdict> {
    (outcome(end()), any::<bool>())
        .prop_map(|(outcome, guards)| judge(Contract::Claude, "PreToolUse", &outcome, guards))
}

fn merged<'v>(verdicts: impl IntoIterator<Item = &'v (usize, Verdict)>) -> Decision {
    let labelled: Vec<(String, Verdict)> = verdicts
        .into_iter()
        .map(|(place, verdict)| (format!("hook {place}"), verdict.clone()))
        .collect();
    let hooks = labelled
        .iter()
        .map(|(label, verdict)| (label.as_str(), verdict.clone()));
    merge("PreToolUse", hooks)
}

/// Strictest last: the contract's order.
fn rank(permission: Option<Permission>) -> usize {
    match permission {
        None => 0,
        Some(Permission::Allow) => 1,
        Some(Permission::Ask) => 2,
        Some(Permission::Defer) => 3,
        Some(Permission::Deny) => 4,
    }
}

fn sorted<T: Clone + Ord>(list: &[T]) -> Vec<T> {
    let mut list = list.to_vec();
    list.sort();
    list
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) })]

    #[test]
    fn no_order_makes_a_decision_laxer_or_loses_a_word(
        verdicts in vec(verdict(), 0..6).prop_map(|verdicts| verdicts.into_iter().enumerate().collect::<Vec<_>>()),
        shuffled in any::<prop::sample::Index>(),
    ) {
        let decision = merged(&verdicts);
        let strictest = verdicts.iter().map(|(_, verdict)| rank(verdict.permission)).max();
        prop_assert_eq!(rank(decision.permission), strictest.unwrap_or(0));
        let all = |of: fn(&Verdict) -> Option<&Text>| -> Vec<Text> {
            verdicts.iter().filter_map(|(_, verdict)| of(verdict).cloned()).collect()
        };
        prop_assert_eq!(&decision.contexts, &all(|verdict| verdict.context.as_ref()));
        prop_assert_eq!(&decision.system_messages, &all(|verdict| verdict.system_message.as_ref()));
        let halts = verdicts.iter().find_map(|(_, verdict)| verdict.halt.clone());
        prop_assert_eq!(&decision.halt, &halts);
        let input = verdicts.iter().rev().find_map(|(_, verdict)| verdict.updated_input.as_ref());
        prop_assert_eq!(
            decision.updated_input.as_ref().map(|input| input.get()),
            input.map(|input| input.get())
        );

        // In another order of the configuration: the same strictness, and the same words.
        let mut turned = verdicts.clone();
        turned.rotate_left(shuffled.index(verdicts.len().max(1)));
        for other in [merged(&turned), merged(verdicts.iter().rev())] {
            prop_assert_eq!(other.permission, decision.permission);
            prop_assert_eq!(other.halt.is_some(), decision.halt.is_some());
            prop_assert_eq!(other.updated_input.is_some(), decision.updated_input.is_some());
            prop_assert_eq!(other.reason.is_some(), decision.reason.is_some());
            prop_assert_eq!(sorted(&other.contexts), sorted(&decision.contexts));
            prop_assert_eq!(sorted(&other.system_messages), sorted(&decision.system_messages));
            let names = |decision: &Decision| decision.other.keys().cloned().collect::<Vec<_>>();
            prop_assert_eq!(names(&other), names(&decision));
        }
    }
}

/// What one hook says, in arguments of the scripted guest.
fn says() -> impl Strategy<Value = Vec<String>> {
    let decisions = select(vec![
        vec!["exit=0"],
        vec!["exit=2"],
        vec!["stderr=no", "exit=2"],
        vec!["exit=3"],
        vec!["trap"],
        vec![r#"stdout={"decision":"approve","reason":"fine"}"#],
        vec![r#"stdout={"decision":"block","reason":"no"}"#],
        vec![r#"stdout={"continue":false,"stopReason":"enough"}"#],
        vec![r#"stdout={"systemMessage":"hello"}"#],
        vec![
            r#"stdout={"hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{"n":1}}}"#,
        ],
        vec![
            r#"stdout={"hookSpecificOutput":{"additionalContext":"c","updatedInput":{"n":2},"x":3}}"#,
        ],
        vec!["stdout={"],
    ]);
    decisions.prop_map(|arguments| arguments.into_iter().map(str::to_owned).collect())
}

fn host(entries: &[Value]) -> Host {
    support::builder()
        .configuration_text(&json!({"hooks": {"PreToolUse": [{"hooks": entries}]}}).to_string())
        .unwrap()
        .build()
}

/// The decision of hooks that say this, the hook at each place after its own delay.
async fn dispatched(hooks: &[Vec<String>], guards: &[bool], delays: &[u64]) -> Value {
    let entries: Vec<Value> = hooks
        .iter()
        .zip(guards)
        .zip(delays)
        .enumerate()
        .map(|(place, ((arguments, guards), delay))| {
            let mut args = vec![format!("sleep={delay}")];
            args.extend(arguments.iter().cloned());
            json!({
                "name": format!("hook {place}"),
                "component": "builtin:scripted",
                "args": args,
                "timeout": 60,
                "onFailure": if *guards { "block" } else { "continue" },
            })
        })
        .collect();
    let event = Event::parse(r#"{"hook_event_name": "PreToolUse"}"#, None).unwrap();
    let decision = host(&entries).dispatch(&event).await;
    let mut decision = serde_json::to_value(decision).unwrap();
    for record in decision["records"].as_array_mut().unwrap() {
        let record = record.as_object_mut().unwrap();
        for used in ["elapsedMicroseconds", "fuel", "memoryPeak"] {
            assert!(record.remove(used).is_some(), "{used}");
        }
    }
    decision
}

/// Through the whole host, since it is there that hooks run side by side.
#[test]
fn the_decision_does_not_depend_on_which_hook_finishes_first() {
    const STEP: u64 = 15;
    let hooks = vec((says(), any::<bool>()), 2..5);
    let cases = hooks.prop_flat_map(|hooks| {
        let places: Vec<u64> = (0..hooks.len() as u64).collect();
        (Just(hooks), Just(places).prop_shuffle())
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // Hosts that live at the same time share what was compiled.
    let compiled = host(&[json!({"component": "builtin:scripted"})]);
    assert!(runtime.block_on(compiled.prepare()).is_empty());
    let mut runner = TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(40)
    });
    runner
        .run(&cases, |(hooks, order)| {
            let (hooks, guards): (Vec<_>, Vec<_>) = hooks.into_iter().unzip();
            let delays: Vec<u64> = order.iter().map(|place| place * STEP).collect();
            let reversed: Vec<u64> = delays.iter().rev().copied().collect();
            runtime.block_on(async {
                let one = dispatched(&hooks, &guards, &delays).await;
                let other = dispatched(&hooks, &guards, &reversed).await;
                let places: Vec<String> = (0..hooks.len()).map(|it| format!("hook {it}")).collect();
                let told: Vec<&str> = one["records"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|record| record["hook"].as_str().unwrap())
                    .collect();
                prop_assert_eq!(told, places);
                prop_assert_eq!(one, other);
                Ok(())
            })
        })
        .unwrap();
}
