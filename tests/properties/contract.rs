//! The exit-code contract, for every contract, event, end and output.

use hookcell::contract::{Contract, Permission, Verdict, judge};
use hookcell::dialect;
use hookcell::merge::merge;
use hookcell::outcome::{End, FailureKind};
use hookcell::text::Text;
use proptest::prelude::*;

use crate::generate::{contract, end, event, outcome};

/// The events on which a failure never blocks: a block sends the agent back to work there.
const FAILURE_NEVER_BLOCKS: [&str; 4] = ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"];

const DENY: Option<Permission> = Some(Permission::Deny);

/// The verdict in words, but for what `onFailure` decides.
fn without_consequence(verdict: Verdict) -> String {
    let is_failure = verdict.failure.is_some();
    let permission = verdict.permission.filter(|_| !is_failure);
    let reason = verdict.reason.filter(|_| !is_failure);
    format!(
        "{:?}",
        Verdict {
            permission,
            reason,
            ..verdict
        }
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn exit_code_2_is_a_block_and_nothing_else(
        contract in contract(),
        event in event(),
        outcome in outcome(Just(End::Exited(2))),
        guards in any::<bool>(),
    ) {
        let verdict = judge(contract, &event, &outcome, guards);
        // The one exception: a hook that only watches blocks nothing.
        let blocks = contract != Contract::Watch;
        prop_assert_eq!(verdict.permission, blocks.then_some(Permission::Deny));
        prop_assert_eq!(&verdict.failure, &None);
        prop_assert!(!verdict.success);
        prop_assert!(verdict.updated_input.is_none());

        // It stays one beside a hook that allows, on whichever side, to the agent's own ears.
        let allows = || Verdict { permission: Some(Permission::Allow), ..Verdict::default() };
        let decision = merge(&event, [("a", allows()), ("b", verdict), ("c", allows())]);
        prop_assert_eq!(decision.is_blocked(), blocks);
        prop_assert_eq!(dialect::openhands::answer(&decision).exit_code == 2, blocks);
        let answer = dialect::claude::answer(&decision);
        if event == "PermissionRequest" {
            // The contract honours no exit code there.
            prop_assert_eq!(answer.exit_code, 0);
            prop_assert_eq!(answer.stdout.contains(r#""behavior":"deny""#), blocks);
        } else {
            prop_assert_eq!(answer.exit_code, if blocks { 2 } else { 0 });
            prop_assert_eq!(answer.stderr.is_empty(), !blocks);
        }
    }

    #[test]
    fn a_failure_of_a_guard_is_a_block(
        contract in contract(),
        event in event(),
        outcome in outcome(end()),
    ) {
        let strict = judge(contract, &event, &outcome, true);
        let lax = judge(contract, &event, &outcome, false);
        if let Some(failure) = &strict.failure {
            let blocks = contract != Contract::Watch
                && !FAILURE_NEVER_BLOCKS.contains(&event.as_str());
            prop_assert_eq!(strict.permission, blocks.then_some(Permission::Deny));
            let reason = format!("a hook that guards this operation failed: {failure}");
            prop_assert_eq!(&strict.reason, &blocks.then(|| Text::from(reason)));
            prop_assert_eq!((lax.permission, &lax.reason), (None, &None));
        }
        // `onFailure` decides nothing but that.
        prop_assert_eq!(without_consequence(strict), without_consequence(lax));
    }

    #[test]
    fn a_failure_says_nothing_but_that_it_is_one(
        contract in contract(),
        event in event(),
        outcome in outcome(end()),
        guards in any::<bool>(),
    ) {
        let verdict = judge(contract, &event, &outcome, guards);
        let is_failure = verdict.failure.is_some();
        prop_assert_eq!(verdict.success, outcome.end == End::Exited(0) && !is_failure);
        if is_failure || contract == Contract::Watch {
            prop_assert!(verdict.halt.is_none() && verdict.context.is_none());
            prop_assert!(verdict.updated_input.is_none() && verdict.system_message.is_none());
            prop_assert!(verdict.other.is_empty());
        }
        // A run that was stopped is a failure of exactly the kind that the run names.
        if let End::Failed(failure) = &outcome.end {
            prop_assert_eq!(verdict.failure.as_ref(), Some(failure));
        }
    }

    #[test]
    fn an_output_that_was_cut_is_never_read(
        event in event(),
        mut outcome in outcome(end()),
        dropped in 1..u64::from(u32::MAX),
        guards in any::<bool>(),
    ) {
        outcome.stdout.total += dropped;
        let verdict = judge(Contract::Claude, &event, &outcome, guards);
        let kind = verdict.failure.as_ref().map(|failure| failure.kind);
        match &outcome.end {
            End::Failed(failure) => prop_assert_eq!(kind, Some(failure.kind)),
            End::Exited(2) => prop_assert_eq!((kind, verdict.permission), (None, DENY)),
            _ => prop_assert_eq!(kind, Some(FailureKind::OutputTooLarge)),
        }
        // Exit code 2 or not: nothing comes of it but the block.
        prop_assert!(verdict.halt.is_none() && verdict.context.is_none());
        prop_assert!(verdict.system_message.is_none() && verdict.other.is_empty());
    }

    #[test]
    fn what_does_not_begin_as_json_decides_by_its_exit_code_alone(
        event in event(),
        outcome in outcome(end()),
    ) {
        let stdout = String::from_utf8_lossy(&outcome.stdout.bytes);
        let head = stdout.chars().find(|&c| !c.is_whitespace() && c != '\u{feff}');
        // Nor as JSON in another encoding than UTF-8, which is bad output.
        let mut odd = outcome.stdout.bytes.iter().filter(|byte| {
            !byte.is_ascii_whitespace() && !matches!(byte, 0 | 0xef | 0xbb | 0xbf | 0xfe | 0xff)
        });
        if head == Some('{') || odd.next() == Some(&b'{') || outcome.stdout.is_cut() {
            return Ok(());
        }
        let verdict = judge(Contract::Claude, &event, &outcome, false);
        let expected = match &outcome.end {
            End::Exited(0) => (None, None),
            End::Exited(2) => (DENY, None),
            End::Exited(_) => (None, Some(FailureKind::ExitCode)),
            End::Signaled(_) => (None, Some(FailureKind::Signal)),
            End::Failed(failure) => (None, Some(failure.kind)),
        };
        prop_assert_eq!((verdict.permission, verdict.failure.map(|it| it.kind)), expected);
    }
}
