//! What a confined process is given, may use, and cannot become.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use hookcell::config::{Access, Sandbox};
use hookcell::outcome::End;
use rustix::io::FdFlags;

use crate::hook::{alone, exec, sh};
use crate::{bare, confined, grants, needs_landlock, python, said};

#[test]
fn the_environment_is_exactly_what_is_promised_and_granted() {
    let name = "process::the_environment_is_exactly_what_is_promised_and_granted";
    let inherited = [
        ("HOME", "/home/somebody"),
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C"),
        ("LC_X", "x"),
        ("TZ", "UTC"),
        ("GRANTED", "yes"),
        ("SECRET", "no"),
        ("GRANTED_TOO", "no"),
        ("LD_PRELOAD", ""),
        ("OTEL_EXPORTER_OTLP_HEADERS", "no"),
        ("SESSION_API_KEY", "no"),
        ("OPENHANDS_TOOL_NAME", "inherited"),
        ("HOOKCELL_CONFIG", "inherited"),
        ("HOOKCELL_PROGRAM", "inherited"),
    ];
    alone(name, &inherited, async || {
        // Told in any case; enforced by nobody but this program.
        let sandbox = Sandbox {
            environment: vec!["GRANTED".into(), "ABSENT".into()],
            best_effort: true,
            ..Sandbox::default()
        };
        let mut hook = confined(exec("env", &["-0"]), sandbox);
        hook.command.config = Some("{}".into());
        let outcome = hook.run().await;
        assert_eq!(outcome.end, End::Exited(0));
        let stdout = String::from_utf8(outcome.stdout.bytes).unwrap();
        let mut variables: Vec<&str> = stdout.split_terminator('\0').collect();
        variables.sort_unstable();
        let folder = hook.folder();
        let folder = folder.display();
        let path = std::env::var("PATH").unwrap();
        let temporary = std::env::temp_dir();
        let own = variables.iter().position(|it| it.starts_with("TMPDIR="));
        let own = variables.remove(own.unwrap());
        let expected = [
            format!("CLAUDE_PROJECT_DIR={folder}"),
            "GRANTED=yes".into(),
            "HOME=/home/somebody".into(),
            "HOOKCELL_CONFIG={}".into(),
            "LANG=C.UTF-8".into(),
            "LC_ALL=C".into(),
            "LC_X=x".into(),
            "OPENHANDS_EVENT_TYPE=PreToolUse".into(),
            format!("OPENHANDS_PROJECT_DIR={folder}"),
            "OPENHANDS_SESSION_ID=".into(),
            format!("PATH={path}"),
            "TZ=UTC".into(),
        ];
        assert_eq!(variables, expected);
        assert!(
            own.starts_with(&format!("TMPDIR={}/hookcell-", temporary.display())),
            "{own}"
        );
    });
}

#[tokio::test]
async fn privileges_are_given_up_and_cannot_be_gained() {
    needs_landlock!();
    let script = "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status";
    let hook = confined(sh(script), grants(&[("/proc", Access::Read)]));
    let (stdout, _) = said(&hook, 0).await;
    // The second bit is for files that belong to others, which root keeps.
    let kept = if rustix::process::geteuid().is_root() {
        2
    } else {
        0
    };
    assert_eq!(
        stdout,
        format!(
            "CapInh:\t{:016x}\nCapPrm:\t{kept:016x}\nCapEff:\t{kept:016x}\nCapAmb:\t{:016x}\nNoNewPrivs:\t1\nSeccomp:\t2\n",
            0, 0
        )
    );
}

#[tokio::test]
async fn resources_are_limited() {
    let ask = "ulimit -c; ulimit -n; ulimit -f; ulimit -t; ulimit -v; ulimit -Hn";
    let sandbox = |memory| Sandbox {
        memory,
        best_effort: true,
        ..Sandbox::default()
    };
    // Of `ulimit`, files in blocks of 512 bytes, memory in KiB; seconds of all processors.
    let processors = std::thread::available_parallelism().unwrap().get();
    let seconds = 62 * processors;
    for (memory, told) in [(None, "unlimited"), (Some(256 << 20), "262144")] {
        let outcome = confined(sh(ask), sandbox(memory)).run().await;
        assert_eq!(
            String::from_utf8_lossy(&outcome.stdout.bytes),
            format!("0\n1024\n2097152\n{seconds}\n{told}\n1024\n")
        );
    }
    // What is lower stays so, and nothing can be raised again.
    let outcome = confined(sh("ulimit -c 1; ulimit -n 1025"), sandbox(None))
        .run()
        .await;
    assert_ne!(outcome.end, End::Exited(0));
}

#[tokio::test]
async fn memory_is_refused_beyond_its_limit() {
    let script = "try:
    print(len(b'x' * (300 << 20)))
except MemoryError:
    print('refused')";
    for (memory, answer) in [(128 << 20, "refused\n"), (1 << 30, "314572800\n")] {
        let sandbox = Sandbox {
            memory: Some(memory),
            best_effort: true,
            ..Sandbox::default()
        };
        let outcome = confined(python(script), sandbox).run().await;
        assert_eq!(String::from_utf8_lossy(&outcome.stdout.bytes), answer);
    }
    // Too little to start anything is the command's end, and none that decides.
    let sandbox = Sandbox {
        memory: Some(64 << 10),
        best_effort: true,
        ..Sandbox::default()
    };
    let end = confined(sh("exit 2"), sandbox).run().await.end;
    assert!(matches!(end, End::Signaled(9 | 11)), "{end:?}");
}

#[tokio::test]
async fn whatever_a_hook_starts_is_confined_too() {
    needs_landlock!();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "secret").unwrap();
    let path = secret.path().display();
    let script = format!(
        "sh -c 'cat {path}'; (cat {path}); cat {path} & wait; setsid -w cat {path}; nohup cat {path}; env -i /bin/cat {path}"
    );
    assert_eq!(sh(&script).run().await.stdout.bytes, b"secret".repeat(6));
    let (stdout, stderr) = said(&bare(sh(&script)), 1).await;
    assert_eq!(stdout, "");
    assert_eq!(stderr.matches("Permission denied").count(), 6, "{stderr}");
}

#[tokio::test]
async fn others_processes_get_no_signals() {
    needs_landlock!();
    let ours = std::process::id();
    // A job of its own is no other's.
    let script = format!("sleep 9 & kill $!; echo $?; kill -0 {ours}; echo $?");
    let outcome = bare(sh(&script)).run().await;
    let stdout = String::from_utf8_lossy(&outcome.stdout.bytes).into_owned();
    if outcome.not_enforced == ["signals to other processes"] {
        crate::skipped("this kernel cannot keep signals from other processes (Linux 6.12)");
        return;
    }
    assert_eq!((stdout.as_str(), outcome.not_enforced.len()), ("0\n1\n", 0));
    assert_eq!(sh(&script).run().await.stdout.bytes, b"0\n0\n");
}

#[tokio::test]
async fn a_file_that_the_host_left_open_is_closed() {
    needs_landlock!();
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "secret").unwrap();
    let file = File::open(secret.path()).unwrap();
    rustix::io::fcntl_setfd(&file, FdFlags::empty()).unwrap();
    let script = format!(
        "import os; print(os.pread({}, 9, 0).decode())",
        file.as_raw_fd()
    );
    assert_eq!(python(&script).run().await.stdout.bytes, b"secret\n");
    let (stdout, stderr) = said(&bare(python(&script)), 1).await;
    assert_eq!(stdout, "");
    assert!(stderr.contains("Bad file descriptor"), "{stderr}");
}

#[tokio::test]
async fn a_hook_has_nothing_to_report_with() {
    needs_landlock!();
    let script = "import os
for descriptor in range(3, 1024):
    try:
        os.write(descriptor, b'{\"unavailable\":\"faked\"}\\n')
        print('written')
    except OSError:
        pass";
    assert_eq!(said(&bare(python(script)), 0).await.0, "");
}
