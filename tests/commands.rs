//! Command hooks with real processes: what they are given, what is taken from them, how they are
//! ended, and why they do not start.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "what helps a test is part of it"
)]

#[path = "commands/ending.rs"]
mod ending;
#[path = "commands/hook.rs"]
mod hook;
#[path = "commands/starting.rs"]
mod starting;

use std::time::Duration;

use hook::{Hook, alone, bash, exec, python, sh};
use hookcell::outcome::End;

#[tokio::test]
async fn an_event_of_10_mib_goes_in_and_comes_out_whole() {
    let payload: Vec<u8> = (0..10 << 20)
        .map(|index: u32| (index % 251) as u8)
        .collect();
    let outcome = exec("cat", &[]).payload(payload.clone()).run().await;
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(outcome.stdout.total, 10 << 20);
    assert!(outcome.stdout.bytes == payload);
}

#[tokio::test]
async fn both_outputs_are_read_while_the_event_is_written() {
    let payload = vec![b'x'; 10 << 20];
    let outcome = exec("tee", &["/dev/stderr"])
        .payload(payload.clone())
        .run()
        .await;
    assert_eq!(outcome.end, End::Exited(0));
    assert!(outcome.stdout.bytes == payload && outcome.stderr.bytes == payload);
}

#[tokio::test]
async fn the_event_ends() {
    for (payload, count) in [("", "0\n"), ("{}", "2\n"), ("\0\n\0", "3\n")] {
        let outcome = exec("wc", &["-c"]).payload(payload).run().await;
        assert_eq!(
            (outcome.end, outcome.stdout.bytes),
            (End::Exited(0), count.into())
        );
    }
}

#[tokio::test]
async fn a_hook_need_not_read_the_event() {
    for (script, end, stdout) in [
        ("echo hi", End::Exited(0), "hi\n"),
        (
            "exec <&-; sleep 0.2; echo hi; exit 2",
            End::Exited(2),
            "hi\n",
        ),
        ("head -c 5; exit 3", End::Exited(3), "xxxxx"),
        ("kill -9 $$", End::Signaled(9), ""),
    ] {
        let outcome = sh(script).payload(vec![b'x'; 10 << 20]).run().await;
        assert_eq!(
            (outcome.end, outcome.stdout.bytes),
            (end, stdout.into()),
            "{script}"
        );
        assert!(outcome.usage.elapsed < Duration::from_secs(10), "{script}");
    }
}

#[tokio::test]
async fn the_end_is_the_process_s_own() {
    for code in [0, 1, 2, 3, 126, 127, 128, 255] {
        assert_eq!(
            sh(&format!("exit {code}")).run().await.end,
            End::Exited(code)
        );
    }
    // PIPE among them: what the host ignores must not be ignored by its hooks.
    for (name, number) in [("KILL", 9), ("TERM", 15), ("PIPE", 13), ("ABRT", 6)] {
        let end = sh(&format!("kill -{name} $$; sleep 9")).run().await.end;
        assert_eq!(end, End::Signaled(number));
    }
}

#[tokio::test]
async fn an_output_is_kept_up_to_its_cap_and_counted_beyond() {
    let mut hook = sh("head -c 5242880 /dev/zero >&2; head -c 1000 /dev/zero; exit 2");
    hook.command.stderr_limit = 64 << 10;
    hook.command.stdout_limit = 1000;
    let outcome = hook.run().await;
    assert_eq!(outcome.end, End::Exited(2));
    assert_eq!(outcome.stderr.bytes, vec![0; 64 << 10]);
    assert_eq!(
        (outcome.stderr.total, outcome.stderr.is_cut()),
        (5 << 20, true)
    );
    assert_eq!(outcome.stdout.bytes, vec![0; 1000]);
    assert_eq!(
        (outcome.stdout.total, outcome.stdout.is_cut()),
        (1000, false)
    );
}

#[tokio::test]
async fn what_was_written_last_is_never_lost() {
    let script = "import os; os.write(1, b'o' * 65536); os.write(2, b'e' * 65536); os._exit(2)";
    for _ in 0..20 {
        // The job holds the pipes open, so that their end cannot be what is waited for.
        let outcome = sh(&format!("sleep 1 & exec python3 -c \"{script}\""))
            .run()
            .await;
        assert_eq!(outcome.end, End::Exited(2));
        assert!(outcome.stdout.bytes == [b'o'; 65536] && outcome.stderr.bytes == [b'e'; 65536]);
    }
}

#[tokio::test]
async fn a_job_that_holds_the_pipes_is_left_alone_and_not_waited_for() {
    let hook = sh("sleep 60 & echo $! >job; echo '{}'").payload(vec![b' '; 1 << 20]);
    let outcome = hook.run().await;
    assert_eq!(
        (outcome.end, outcome.stdout.bytes),
        (End::Exited(0), b"{}\n".to_vec())
    );
    assert!(outcome.usage.elapsed < Duration::from_secs(5));
    let job = hook.pid("job").await;
    assert!(hook::is_alive(job));
    hook::kill(job);
}

#[tokio::test]
async fn a_job_that_floods_the_pipes_cannot_hold_the_result() {
    let hook = sh("echo first; yes & echo $! >job; yes noise >&2 & exit 2");
    let outcome = hook.run().await;
    assert_eq!(outcome.end, End::Exited(2));
    assert!(outcome.stdout.bytes.starts_with(b"first\n"));
    assert!(outcome.usage.elapsed < Duration::from_secs(10));
    // Nobody reads on, so the job ends by itself.
    hook::gone(hook.pid("job").await).await;
}

#[tokio::test]
async fn a_hook_that_floods_is_stopped_by_its_timeout_alone() {
    let mut hook = sh("yes & yes >&2").timeout(Duration::from_millis(500));
    hook.command.stdout_limit = 4;
    let outcome = hook.run().await;
    hook::assert_timed_out(&outcome, "0.5");
    assert_eq!(outcome.stdout.bytes, b"y\ny\n");
    assert!(outcome.stdout.total > 1 << 20 && outcome.stderr.total > 1 << 20);
}

#[tokio::test]
async fn a_hook_leads_a_session_and_has_no_terminal() {
    let script = "import os, sys
print(os.getsid(0) == os.getpid() == os.getpgrp(), os.getsid(0) != os.getsid(os.getppid()))
print([os.isatty(fd) for fd in (0, 1, 2)], sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:3])
try:
    os.open('/dev/tty', os.O_RDWR)
except OSError as error:
    print(error.errno)";
    let outcome = python(script).run().await;
    // 6 is ENXIO: there is no terminal.
    let expected = "True True\n[False, False, False] [0, 1, 2]\n6\n";
    assert_eq!(String::from_utf8_lossy(&outcome.stdout.bytes), expected);
}

#[tokio::test]
async fn a_shell_form_is_a_script_and_an_exec_form_is_words() {
    let said =
        |outcome: hookcell::outcome::Outcome| String::from_utf8(outcome.stdout.bytes).unwrap();
    assert_eq!(
        said(sh("a=1; echo $((a + 1)) 'x y' | tr x z").run().await),
        "2 z y\n"
    );
    assert_eq!(
        said(bash("echo {1..3} ${BASH_VERSION:+bash}").run().await),
        "1 2 3 bash\n"
    );
    let words = ["%s|", "a b", "$HOME", "*", "'q'", "", "a;b"];
    assert_eq!(
        said(exec("printf", &words).run().await),
        "a b|$HOME|*|'q'||a;b|"
    );
}

#[tokio::test]
async fn a_hook_runs_in_its_folder_and_finds_its_program_from_there() {
    let hook = exec("./say where", &["${CLAUDE_PROJECT_DIR}/x", "${workspace}"]);
    hook.script("say where", "#!/bin/sh\npwd -P; printf '%s\\n' \"$@\"\n");
    let outcome = hook.run().await;
    let folder = hook.folder();
    let folder = folder.display();
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(
        String::from_utf8_lossy(&outcome.stdout.bytes),
        format!("{folder}\n{folder}/x\n{folder}\n")
    );
}

#[test]
fn the_environment_is_exactly_what_is_promised() {
    let inherited = [
        ("KEPT", "yes"),
        ("OTEL", "kept"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
        ("SESSION_API_KEY", "secret"),
        ("OPENHANDS_TOOL_NAME", "inherited"),
        ("HOOKCELL_CONFIG", "inherited"),
        ("OPENHANDS_SESSION_ID", "inherited"),
    ];
    let name = "the_environment_is_exactly_what_is_promised";
    alone(name, &inherited, async || {
        let path = std::env::var("PATH").unwrap();
        let hook = exec("env", &["-0"]);
        let folder = hook.folder().to_str().unwrap().to_owned();
        let common = [
            ("KEPT", "yes"),
            ("OTEL", "kept"),
            ("PATH", &path),
            (hook::ALONE, name),
            ("CLAUDE_PROJECT_DIR", &folder),
            ("OPENHANDS_PROJECT_DIR", &folder),
        ];
        let bare = [
            ("OPENHANDS_EVENT_TYPE", "PreToolUse"),
            ("OPENHANDS_SESSION_ID", ""),
        ];
        assert_eq!(
            variables(&hook).await,
            sorted(&[&common, &bare[..]].concat())
        );

        let mut hook = hook;
        hook.event_name = "Stop".to_owned();
        hook.session_id = Some("an id".to_owned());
        hook.tool_name = Some("Bash\nX=1".to_owned());
        hook.command.config = Some(r#"{"a": "ä"}"#.to_owned());
        let full = [
            ("OPENHANDS_EVENT_TYPE", "Stop"),
            ("OPENHANDS_SESSION_ID", "an id"),
            ("OPENHANDS_TOOL_NAME", "Bash\nX=1"),
            ("HOOKCELL_CONFIG", r#"{"a": "ä"}"#),
        ];
        assert_eq!(
            variables(&hook).await,
            sorted(&[&common, &full[..]].concat())
        );
    });
}

async fn variables(hook: &Hook) -> Vec<String> {
    let outcome = hook.run().await;
    assert_eq!(outcome.end, End::Exited(0));
    let text = String::from_utf8(outcome.stdout.bytes).unwrap();
    let mut variables: Vec<String> = text.split_terminator('\0').map(str::to_owned).collect();
    variables.sort();
    variables
}

fn sorted(variables: &[(&str, &str)]) -> Vec<String> {
    let mut variables: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    variables.sort();
    variables
}

#[tokio::test]
async fn no_payload_can_keep_a_hook_from_starting() {
    let mut hook = python(
        "import os; print(*(len(os.environ[n]) for n in os.environ if n.startswith('OPENHANDS') and n != 'OPENHANDS_PROJECT_DIR'), os.environ['OPENHANDS_TOOL_NAME'][:4])",
    );
    hook.event_name = "x".repeat(1 << 20);
    hook.session_id = Some("\0".repeat(1 << 20));
    hook.tool_name = Some(format!("a\0é{}", "z".repeat(1 << 20)));
    let outcome = hook.run().await;
    assert_eq!(outcome.end, End::Exited(0));
    let said = String::from_utf8(outcome.stdout.bytes).unwrap();
    let mut words: Vec<&str> = said.split_whitespace().collect();
    words.sort_unstable();
    // 32 KiB each: three bytes a U+FFFD, two an é.
    assert_eq!(words, ["10922", "32765", "32768", "a\u{fffd}éz"]);
}
