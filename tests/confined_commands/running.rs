//! A confined hook is run, fed, judged and ended as one that is not.

use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use hookcell::config::Access;
use hookcell::outcome::{End, FailureKind};
use serde_json::json;

use crate::hook::{alone, assert_timed_out, bash, exec, gone, held, sh, wait_for};
use crate::{bare, confined, failure, grants, needs_landlock, said};

#[tokio::test]
async fn an_event_of_10_mib_goes_in_and_comes_out_whole() {
    needs_landlock!();
    let payload: Vec<u8> = (0..10 << 20)
        .map(|index: u32| (index % 251) as u8)
        .collect();
    let outcome = bare(exec("tee", &["/dev/stderr"]))
        .payload(payload.clone())
        .run()
        .await;
    assert_eq!(outcome.end, End::Exited(0));
    assert!(outcome.stdout.bytes == payload && outcome.stderr.bytes == payload);
}

#[tokio::test]
async fn the_end_is_the_commands_own() {
    needs_landlock!();
    for code in [0, 1, 2, 3, 126, 127, 128, 255] {
        assert_eq!(
            bare(sh(&format!("exit {code}"))).run().await.end,
            End::Exited(code)
        );
    }
    for (name, number) in [("KILL", 9), ("TERM", 15), ("PIPE", 13), ("ABRT", 6)] {
        let end = bare(sh(&format!("kill -{name} $$; sleep 9")))
            .run()
            .await
            .end;
        assert_eq!(end, End::Signaled(number));
    }
    let hook = bare(sh("exec <&-; sleep 0.2; echo hi; exit 2")).payload(vec![b'x'; 10 << 20]);
    assert_eq!(said(&hook, 2).await.0, "hi\n");
}

#[tokio::test]
async fn exit_2_blocks_with_its_reason() {
    needs_landlock!();
    let project = tempfile::tempdir().unwrap();
    let configuration = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"command": "grep -q rm && echo 'no rm here' >&2 && exit 2", "sandbox": {}}
    ]}]}});
    let host = hookcell::Host::builder()
        .project(project.path())
        .program(env!("CARGO_BIN_EXE_hookcell"))
        .configuration_text(&configuration.to_string())
        .unwrap()
        .build();
    for (command, reason) in [("rm x", Some("no rm here")), ("ls", None)] {
        let event = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        let event = hookcell::Event::parse(event.to_string(), Some("PreToolUse")).unwrap();
        let decision = host.dispatch(&event).await;
        assert_eq!(decision.is_blocked(), reason.is_some());
        assert_eq!(decision.records[0].reason.as_deref(), reason);
        assert_eq!(
            decision.records[0].exit_code,
            Some(if reason.is_some() { 2 } else { 1 })
        );
    }
}

#[tokio::test]
async fn a_hook_that_is_over_time_is_ended_with_all_that_it_started() {
    needs_landlock!();
    // With job control every job is a group of its own.
    let script = "for i in {1..50}; do sleep 1000 & echo $! >out/$i; done; set -m; \
         for i in {51..100}; do sleep 1000 & echo $! >out/$i; done; \
         trap '' TERM; echo $$ >out/0; echo started; wait; wait; sleep 1000";
    // A machine that is too slow for the first has its time.
    for timeout in [4, 60] {
        let hook = confined(bash(script), grants(&[("out", Access::Write)]));
        fs::create_dir(hook.folder().join("out")).unwrap();
        let hook = hook.timeout(Duration::from_secs(timeout));
        let outcome = hook.run().await;
        assert_timed_out(&outcome, &timeout.to_string());
        if outcome.stdout.bytes == b"started\n" {
            for index in 0..=100 {
                gone(hook.pid(&format!("out/{index}")).await).await;
            }
            return;
        }
    }
    panic!("it never got that far");
}

#[test]
fn nothing_is_left_of_a_run() {
    needs_landlock!();
    let name = "running::nothing_is_left_of_a_run";
    let folder = tempfile::tempdir().unwrap();
    alone(
        name,
        &[("TMPDIR", folder.path().to_str().unwrap())],
        async || {
            let run = async || {
                said(&bare(sh("echo x >$TMPDIR/x")), 0).await;
                failure(bare(exec("no-such-program", &[])).run().await);
                let late = bare(sh("sleep 9")).timeout(Duration::from_millis(300));
                assert_timed_out(&late.run().await, "0.3");
                let given_up = tokio::time::timeout(Duration::from_millis(1), late.run());
                assert!(given_up.await.is_err());
            };
            run().await;
            // What the runtime makes on first use is not a leak, and a thread on its way out is none.
            tokio::time::sleep(Duration::from_millis(500)).await;
            let before = held();
            for _ in 0..5 {
                run().await;
            }
            wait_for(|| (held() == before).then_some(())).await;
            // Of the folders for temporary files, too.
            let own = |name: OsString| name.as_encoded_bytes().starts_with(b"hookcell-");
            wait_for(|| {
                let mut left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
                (!left.any(|it| own(it.file_name()))).then_some(())
            })
            .await;
        },
    );
}

#[tokio::test]
async fn what_does_not_start_says_why_as_ever() {
    needs_landlock!();
    for (program, message) in [
        (
            "no-such-program",
            "`no-such-program` was not found in any folder of `PATH`",
        ),
        ("./missing", "`./missing` does not exist"),
        ("", "the program's name is empty"),
        ("./plain", "`./plain` is not executable (`chmod +x`)"),
        ("./empty", "`./empty` is empty"),
        (
            "./lost",
            "`./lost` is to be run by `/no/such/shell` (its first line), which does not exist",
        ),
    ] {
        let hook = bare(exec(program, &[]));
        fs::write(hook.folder().join("plain"), "").unwrap();
        hook.script("empty", "");
        hook.script("lost", "#!/no/such/shell\n");
        let failure = failure(hook.run().await);
        assert_eq!(failure.kind, FailureKind::NotStarted);
        let said = failure.message.split("; in a `sandbox`").next().unwrap();
        assert_eq!(said, message);
    }
    let mut hook = bare(sh("true"));
    hook.working_dir = hook.folder().join("gone");
    let message = failure(hook.run().await).message;
    assert!(message.ends_with("/gone` does not exist"), "{message}");
    let hook = bare(exec("printf", &[&"x".repeat(200 << 10)]));
    let message = failure(hook.run().await).message;
    assert!(
        message.contains("the longest is argument 1 with 204800 bytes"),
        "{message}"
    );
}

#[tokio::test]
async fn the_languages_of_hooks_run() {
    needs_landlock!();
    let granted = || grants(&[("${workspace}", Access::Read)]);
    let (stdout, stderr) = said(
        &confined(bash("cat <(echo a) <<<b; cat <<E\nc\nE"), granted()),
        0,
    )
    .await;
    assert_eq!((stdout.as_str(), stderr.as_str()), ("a\nc\n", ""));
    let python = "import json, os, sqlite3, ssl, subprocess, sys, tempfile, threading
with tempfile.TemporaryFile() as file:
    file.write(b'x')
print(json.load(sys.stdin), subprocess.check_output(['echo', 'y']).decode().strip())";
    assert_eq!(
        said(&confined(crate::python(python), granted()), 0).await.0,
        "{} y\n"
    );
    for (program, args, answer) in [
        ("/usr/bin/jq", &["-r", "type"][..], "object\n"),
        (
            "/usr/bin/node",
            &[
                "-e",
                "console.log(require('child_process').execSync('echo z').toString().trim(), require('os').cpus().length > 0)",
            ],
            "z true\n",
        ),
        (
            "/usr/bin/perl",
            &["-MFile::Temp", "-e", "print File::Temp->new ? 'p' : ''"],
            "p",
        ),
    ] {
        if !fs::exists(program).unwrap() {
            crate::skipped(&format!("there is no {program}"));
            continue;
        }
        let hook = confined(exec(program, args), granted());
        assert_eq!(said(&hook, 0).await.0, answer, "{program}");
    }
}

#[tokio::test]
async fn git_runs_once_it_may_read_its_settings_or_looks_for_none() {
    needs_landlock!();
    let git = "/usr/bin/git";
    if !fs::exists(git).unwrap() {
        crate::skipped(&format!("there is no {git}"));
        return;
    }
    let script = "export GIT_CONFIG_GLOBAL=/dev/null; git rev-parse --is-inside-work-tree; \
         git status --short";
    let hook = confined(sh(script), grants(&[("${workspace}", Access::Read)]));
    let made = std::process::Command::new(git)
        .arg("init")
        .arg(hook.folder())
        .output();
    assert!(made.unwrap().status.success());
    hook.script("file", "");
    assert_eq!(said(&hook, 0).await.0, "true\n?? file\n");
}
