//! Command hooks with a `sandbox`, with real processes: what they cannot reach, what they can, and
//! that they are else what they are without one.
//!
//! What only a kernel with Landlock enforces is tested where there is one, and skipped with a
//! message where there is none. What happens without Landlock is tested everywhere.
#![cfg(target_os = "linux")]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what helps a test is part of it"
)]

#[path = "confined_commands/files.rs"]
mod files;
#[path = "commands/hook.rs"]
#[allow(dead_code, reason = "what commands without a sandbox need besides")]
mod hook;
#[path = "confined_commands/lacking.rs"]
mod lacking;
#[path = "confined_commands/network.rs"]
mod network;
#[path = "confined_commands/process.rs"]
mod process;
#[path = "confined_commands/running.rs"]
mod running;

use std::io::Write as _;

use hook::Hook;
use hookcell::config::{Access, FilesystemGrant, Sandbox};
use hookcell::outcome::{End, Failure, Outcome};

/// A Python that is the system's, which a confined command may run.
const PYTHON: &str = "/usr/bin/python3";

/// Whether this kernel can do what a sandbox needs.
fn kernel_confines() -> bool {
    use landlock::{AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _};
    let asked = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let can = asked.handle_access(AccessNet::ConnectTcp).is_ok();
    if !can {
        skipped("this kernel cannot confine commands (Landlock of Linux 6.7)");
    }
    can
}

/// Says that a test, or a part of one, did not test anything, past what keeps a test's words back.
fn skipped(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// Ends a test where the kernel cannot do what it is about.
macro_rules! needs_landlock {
    () => {
        if !crate::kernel_confines() {
            return;
        }
    };
}
use needs_landlock;

/// The hook with this sandbox.
fn confined(mut hook: Hook, sandbox: Sandbox) -> Hook {
    hook.command.sandbox = Some(sandbox);
    hook
}

/// The hook with a sandbox that grants nothing.
fn bare(hook: Hook) -> Hook {
    confined(hook, Sandbox::default())
}

fn grants(grants: &[(&str, Access)]) -> Sandbox {
    Sandbox {
        filesystem: grants
            .iter()
            .map(|&(path, access)| FilesystemGrant {
                path: path.to_owned(),
                access,
                deny: Vec::new(),
            })
            .collect(),
        ..Sandbox::default()
    }
}

fn python(script: &str) -> Hook {
    hook::exec(PYTHON, &["-c", script])
}

/// What a hook said that must have run, with nothing left unenforced, and exited with `code`.
async fn said(hook: &Hook, code: i32) -> (String, String) {
    let outcome = hook.run().await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&outcome.stdout.bytes), text(&outcome.stderr.bytes));
    assert_eq!(outcome.end, End::Exited(code), "{stdout}{stderr}");
    assert_eq!(
        outcome
            .not_enforced
            .iter()
            .filter(|what| *what != "signals to other processes")
            .count(),
        0
    );
    (stdout, stderr)
}

fn failure(outcome: Outcome) -> Failure {
    match outcome.end {
        End::Failed(failure) => failure,
        end => panic!("ran: {end:?}"),
    }
}
