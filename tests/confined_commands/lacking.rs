//! Where a sandbox cannot be had: a failure, unless the hook is content with what there is.

use std::collections::BTreeMap;

use hookcell::Program;
use hookcell::config::Sandbox;
use hookcell::outcome::{End, FailureKind};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::hook::sh;
use crate::{bare, confined, failure, python};

/// Makes this thread, and what it starts, see a kernel without Landlock.
fn without_landlock() {
    // landlock_create_ruleset has this number everywhere; 38 is ENOSYS.
    let filter = SeccompFilter::new(
        BTreeMap::from([(444, Vec::new())]),
        SeccompAction::Allow,
        SeccompAction::Errno(38),
        std::env::consts::ARCH.try_into().unwrap(),
    );
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

#[tokio::test]
async fn a_kernel_without_landlock_is_a_failure() {
    without_landlock();
    let hook = bare(sh("touch ran; exit 2"));
    let outcome = hook.run().await;
    assert_eq!((outcome.stdout.total, outcome.stderr.total), (0, 0));
    let failure = failure(outcome);
    assert_eq!(failure.kind, FailureKind::SandboxUnavailable);
    assert_eq!(
        failure.message,
        "the command's `sandbox` cannot be enforced: this kernel cannot limit files (Linux 5.13, \
         with Landlock enabled), the truncation of files (Linux 6.2), TCP ports (Linux 6.7); to \
         run it with what protection there is, write `\"bestEffort\": true` in `sandbox`"
    );
    assert!(!hook.folder().join("ran").exists());
}

#[tokio::test]
async fn with_best_effort_it_runs_with_what_there_is_and_says_so() {
    without_landlock();
    let sandbox = || Sandbox {
        best_effort: true,
        ..Sandbox::default()
    };
    let hook = confined(
        sh("touch ran; ulimit -n; echo ${KEPT-none} >&2; exit 2"),
        sandbox(),
    );
    let outcome = hook.run().await;
    assert_eq!(outcome.end, End::Exited(2));
    assert_eq!(
        outcome.not_enforced,
        [
            "files",
            "the truncation of files",
            "TCP ports",
            "signals to other processes"
        ]
    );
    assert!(hook.folder().join("ran").exists());
    assert_eq!(
        (
            outcome.stdout.bytes.as_slice(),
            outcome.stderr.bytes.as_slice()
        ),
        (&b"1024\n"[..], &b"none\n"[..])
    );
    // Privileges and sockets do not depend on Landlock.
    let script = "import socket
print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapEff', 'NoNewPrivs'))])
try:
    socket.socket()
except OSError as error:
    print(error.errno)";
    let outcome = confined(python(script), sandbox()).run().await;
    let kept = if rustix::process::geteuid().is_root() {
        2
    } else {
        0
    };
    assert_eq!(
        String::from_utf8_lossy(&outcome.stdout.bytes),
        format!("['{kept:016x}', '1']\n13\n")
    );
}

#[tokio::test]
async fn the_record_says_what_was_not_enforced() {
    without_landlock();
    let host = hookcell::Host::builder()
        .program(env!("CARGO_BIN_EXE_hookcell"))
        .configuration_text(
            r#"{"hooks": {"PreToolUse": [{"hooks": [
                {"command": "exit 0", "sandbox": {"bestEffort": true}},
                {"command": "exit 0", "sandbox": {}, "onFailure": "block"},
                {"command": "exit 0"}
            ]}]}}"#,
        )
        .unwrap()
        .build();
    let event = hookcell::Event::parse("{}", Some("PreToolUse")).unwrap();
    let decision = host.dispatch(&event).await;
    let told: Vec<usize> = decision
        .records
        .iter()
        .map(|it| it.not_enforced.len())
        .collect();
    assert_eq!(told, [4, 0, 0]);
    assert!(decision.is_blocked());
    let reason = decision.records[1].reason.as_deref().unwrap();
    assert!(reason.contains("sandbox-unavailable"), "{reason}");
    let json = serde_json::to_value(&decision.records[0]).unwrap();
    assert_eq!(json["notEnforced"][0], "files");
}

#[tokio::test]
async fn a_program_that_does_not_confine_is_a_failure_whatever_it_exits_with() {
    for (program, why) in [
        (
            "/no/such/hookcell",
            "`/no/such/hookcell`, which confines it, was not started: No such file or directory (os error 2)",
        ),
        (
            "/dev/null",
            "`/dev/null`, which confines it, was not started: Permission denied (os error 13)",
        ),
        (
            "/bin/true",
            "`/bin/true` ended before it had confined it, and said ``; it must be hookcell 0.1.0",
        ),
        (
            "/bin/false",
            "`/bin/false` ended before it had confined it, and said ``; it must be hookcell 0.1.0",
        ),
        (
            "/bin/ls",
            "`/bin/ls` ended before it had confined it, and said `",
        ),
    ] {
        let mut hook = confined(
            sh("touch ran"),
            Sandbox {
                best_effort: true,
                ..Sandbox::default()
            },
        );
        hook.program = Program::at(program);
        let failure = failure(hook.run().await);
        assert_eq!(failure.kind, FailureKind::SandboxUnavailable);
        let start = format!("the command's `sandbox` cannot be enforced: {why}");
        assert!(failure.message.starts_with(&start), "{}", failure.message);
        assert!(!hook.folder().join("ran").exists());
    }
}

#[test]
fn check_says_what_the_kernel_cannot_do() {
    without_landlock();
    let folder = tempfile::tempdir().unwrap();
    let check = |sandbox: &str| {
        let file = folder.path().join("hooks.json");
        std::fs::write(
            &file,
            format!(r#"{{"hooks": [{{"command": ["true"], "sandbox": {sandbox}}}]}}"#),
        )
        .unwrap();
        let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_hookcell"));
        let output = check.arg("check").arg(file).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, stdout) = check("{}");
    assert_eq!(code, Some(1));
    let why = "hooks.json:1:12: error: this kernel cannot limit files (Linux 5.13, with Landlock";
    assert!(stdout.contains(why), "{stdout}");
    let (code, stdout) = check(r#"{"bestEffort": true}"#);
    assert_eq!(code, Some(0), "{stdout}");
}

#[test]
fn the_subcommand_does_nothing_by_itself_and_is_not_offered() {
    let hookcell = |args: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_hookcell"))
            .args(args)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, stdout, stderr) = hookcell(&["confine-command", "--", "echo", "ran"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(
        stderr.starts_with("error: descriptor 3 is no pipe to report to: "),
        "{stderr}"
    );
    let (_, help, _) = hookcell(&["--help"]);
    assert!(
        help.contains("inspect") && !help.contains("confine"),
        "{help}"
    );
}
