//! One run of a hook, judged by every contract, merged, and answered to both agents.
#![no_main]

use hookcell::contract::{Contract, Permission, Verdict, judge};
use hookcell::dialect;
use hookcell::merge::merge;
use hookcell::outcome::{Captured, End, Failure, FailureKind, Outcome};
use hookcell_fuzz::{EVENTS, assert_shown};
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

// Five bytes say how it ended and who judges, the rest is what it printed: standard error up to the
// first NUL, if there is one, and standard output.
fuzz_target!(|input: ([u8; 5], &[u8])| {
    let ([contract, event, end, code, flags], printed) = input;
    let contracts = [Contract::Claude, Contract::OpenHands, Contract::Watch];
    let contract = contracts[usize::from(contract) % contracts.len()];
    let event = EVENTS[usize::from(event) % EVENTS.len()];
    let end = match end % 4 {
        0 | 1 => End::Exited(code.into()),
        2 => End::Signaled(code.into()),
        _ => End::Failed(Failure::new(FailureKind::Trap, "unreachable")),
    };
    let guards = flags & 1 != 0;
    let dropped = u64::from(flags & 2);
    let nul = printed.iter().position(|&byte| byte == 0);
    let (stderr, stdout) = nul.map_or((&b""[..], printed), |nul| {
        (&printed[..nul], &printed[nul + 1..])
    });
    let outcome = Outcome {
        end,
        stdout: Captured {
            bytes: stdout.to_vec(),
            total: stdout.len() as u64 + dropped,
        },
        stderr: Captured::whole(stderr),
        ..Outcome::never_ran(Failure::new(FailureKind::Host, ""))
    };
    let verdict = judge(contract, event, &outcome, guards);
    check(contract, event, &outcome, guards, &verdict);

    let decision = merge(event, [("a hook", verdict.clone())]);
    assert_eq!(decision.permission, verdict.permission);
    assert_eq!(decision.halt, verdict.halt);
    assert_eq!(
        decision.is_blocked(),
        decision.permission == Some(Permission::Deny)
    );
    assert!(!decision.is_blocked() || decision.reason.is_some());
    let claude = dialect::claude::answer(&decision);
    let openhands = dialect::openhands::answer(&decision);
    for answer in [&claude, &openhands] {
        if !answer.stdout.is_empty() {
            let object: &RawValue =
                serde_json::from_str(&answer.stdout).expect("an answer is JSON");
            assert!(object.get().starts_with('{'), "{object}");
        }
        assert_shown(&answer.stderr);
    }
    assert_eq!(
        claude.exit_code == 2,
        decision.is_blocked() && event != "PermissionRequest"
    );
    let unable = matches!(
        decision.permission,
        Some(Permission::Ask | Permission::Defer)
    );
    assert_eq!(
        openhands.exit_code == 2,
        decision.is_blocked() || decision.halt.is_some() || unable
    );
});

fn check(contract: Contract, event: &str, outcome: &Outcome, guards: bool, verdict: &Verdict) {
    let denies = verdict.permission == Some(Permission::Deny);
    let watches = contract == Contract::Watch;
    // Exit code 2 blocks, whatever was printed.
    if outcome.end == End::Exited(2) {
        assert_eq!(denies, !watches, "{verdict:?}");
        assert_eq!(verdict.failure, None);
        assert!(verdict.updated_input.is_none());
    }
    // A hook that watches decides nothing.
    if watches {
        assert!(verdict.permission.is_none() && verdict.halt.is_none());
        assert!(verdict.context.is_none() && verdict.updated_input.is_none());
        assert!(verdict.other.is_empty());
    }
    match &verdict.failure {
        // A failure is nothing but a failure; a guard's blocks, except where that would keep the
        // agent from ever ending.
        Some(failure) => {
            let never_ends =
                ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"].contains(&event);
            assert_eq!(denies, guards && !watches && !never_ends, "{verdict:?}");
            assert!(!verdict.success);
            assert!(verdict.halt.is_none() && verdict.context.is_none());
            assert!(verdict.updated_input.is_none() && verdict.other.is_empty());
            assert_shown(&failure.message);
        }
        None => assert_eq!(verdict.success, outcome.end == End::Exited(0)),
    }
    if let End::Failed(failure) = &outcome.end {
        assert_eq!(verdict.failure.as_ref(), Some(failure));
    }
    // An output that was cut is never read.
    if outcome.stdout.is_cut() && outcome.end != End::Exited(2) {
        let text = String::from_utf8_lossy(&outcome.stdout.bytes);
        match contract {
            Contract::Claude => assert!(verdict.failure.is_some(), "{text}"),
            Contract::OpenHands | Contract::Watch => {
                assert!(
                    verdict.context.is_none() && verdict.updated_input.is_none(),
                    "{text}"
                );
            }
        }
    }
    let texts = [&verdict.reason, &verdict.context, &verdict.system_message];
    for text in texts.into_iter().flatten() {
        assert_shown(text);
    }
    if let Some(reason) = verdict.halt.as_ref().and_then(|halt| halt.reason.as_ref()) {
        assert_shown(reason);
    }
    if let Some(input) = &verdict.updated_input {
        assert!(input.get().starts_with('{'), "{input}");
    }
}
