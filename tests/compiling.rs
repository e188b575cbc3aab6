//! The compiler's process: what it may take, and what becomes of the host when it takes it.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod support;

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hookcell::outcome::{Failure, FailureKind};
use hookcell::{Event, Host, HostBuilder};
use serde_json::json;

const HOOKCELL: &str = env!("CARGO_BIN_EXE_hookcell");

/// A project with one component, which is of this test alone, and with one command.
struct Project(tempfile::TempDir);

impl Project {
    /// The component is a preview1 module of these fields.
    fn new(fields: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            r#"(module (memory (export "memory") 1) (@custom "for" "{}")
                 (func (export "_start")) {fields})"#,
            folder.path().display()
        );
        std::fs::write(
            folder.path().join("guest.wasm"),
            wat::parse_str(text).unwrap(),
        )
        .unwrap();
        let hooks = json!({"hooks": {
            "Stop": [{"hooks": [{"component": "guest.wasm"}]}],
            "PreToolUse": [{"hooks": [{"command": "exit 2"}]}]
        }});
        std::fs::write(folder.path().join("hooks.json"), hooks.to_string()).unwrap();
        std::fs::write(folder.path().join("event.json"), "{}").unwrap();
        Self(folder)
    }

    /// 50,000 functions in 200 KB, which take half a minute to compile.
    fn bomb() -> Self {
        Self::new(&"(func)".repeat(50_000))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// An event, for a process to read.
    fn event(&self) -> File {
        File::open(self.path("event.json")).unwrap()
    }

    /// A shell script that stands in for the hookcell program.
    fn program(&self, script: &str) -> PathBuf {
        let path = self.path("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn builder(&self, program: impl AsRef<Path>) -> HostBuilder {
        Host::builder()
            .project(self.0.path())
            .program(program.as_ref())
            .cache_folder(self.path("cache"))
            .configuration_file(&self.path("hooks.json"), hookcell::dialect::Dialect::Claude)
            .unwrap()
    }
}

async fn failure(host: &Host) -> Failure {
    let decision = host
        .dispatch(&Event::parse("{}", Some("Stop")).unwrap())
        .await;
    assert_eq!(decision.records.len(), 1);
    decision.records[0].failure.clone().unwrap()
}

#[tokio::test]
async fn a_bomb_is_stopped_and_other_hooks_are_decided_at_once() {
    let project = Project::bomb();
    let host = project.builder(HOOKCELL).build();
    let started = Instant::now();
    let bomb = tokio::spawn({
        let host = host.clone();
        async move { failure(&host).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let other = Instant::now();
    let decision = host
        .dispatch(&Event::parse("{}", Some("PreToolUse")).unwrap())
        .await;
    assert!(decision.is_blocked());
    assert!(
        other.elapsed() < Duration::from_secs(2),
        "{:?}",
        other.elapsed()
    );
    assert!(!bomb.is_finished());

    let found = bomb.await.unwrap();
    let took = started.elapsed();
    assert_eq!(found.kind, FailureKind::NotCompiled);
    assert_eq!(
        found.message,
        "compiling it takes more than 6 s of processor time, which is what 146.5 KiB of code may take"
    );
    assert!(
        took > Duration::from_secs(2) && took < Duration::from_secs(20),
        "{took:?}"
    );
    assert!(compilers_of(std::process::id()).is_empty());

    // It is not tried again at once, by this host, another one, or another process.
    let again = Instant::now();
    let other_host = project.builder(HOOKCELL).build();
    for host in [&host, &other_host] {
        let found = failure(host).await;
        assert_eq!(found.kind, FailureKind::NotCompiled);
        assert!(
            found
                .message
                .ends_with(" s ago; it is tried again after 600 s)"),
            "{found}"
        );
    }
    let process = Command::new(HOOKCELL)
        .args(["run", "Stop", "--config"])
        .arg(project.path("hooks.json"))
        .env("HOOKCELL_CACHE_DIRECTORY", project.path("cache"))
        .stdin(project.event())
        .output()
        .unwrap();
    assert_eq!(process.status.code(), Some(0));
    let said = String::from_utf8(process.stdout).unwrap();
    assert!(
        said.contains("not-compiled: compiling it takes more than 6 s of processor time"),
        "{said}"
    );
    assert!(
        again.elapsed() < Duration::from_secs(3),
        "{:?}",
        again.elapsed()
    );
}

#[test]
fn the_compiler_ends_with_the_host_that_waits_for_it() {
    let project = Project::bomb();
    let mut host = Command::new(HOOKCELL)
        .args(["run", "Stop", "--config"])
        .arg(project.path("hooks.json"))
        .env("HOOKCELL_CACHE_DIRECTORY", project.path("cache"))
        .stdin(project.event())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    support::wait_for(|| (!compilers_of(host.id()).is_empty()).then_some(()));
    let children = compilers_of(host.id());
    // Past its first moments, in which it has no limits yet.
    std::thread::sleep(Duration::from_millis(500));
    let of_child =
        |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", children[0])).unwrap();
    let limits: Vec<String> = of_child("limits")
        .lines()
        .filter(|line| {
            [
                "Max cpu time",
                "Max file size",
                "Max address space",
                "Max core",
            ]
            .iter()
            .any(|name| line.starts_with(name))
        })
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        limits,
        [
            "Max cpu time 6 6 seconds".to_owned(),
            "Max file size 0 0 bytes".to_owned(),
            "Max core file size 0 0 bytes".to_owned(),
            format!("Max address space {0} {0} bytes", (1 << 30) + 96 * 150_003),
        ]
    );
    if std::fs::read_to_string("/sys/kernel/security/lsm").is_ok_and(|it| it.contains("landlock")) {
        // Landlock is entered without a way back to privileges.
        assert!(of_child("status").contains("\nNoNewPrivs:\t1\n"));
    } else {
        eprintln!("NOT CHECKED: this kernel has no Landlock");
    }
    host.kill().unwrap();
    host.wait().unwrap();
    support::wait_for(|| {
        let is_gone = |id: &u32| !Path::new(&format!("/proc/{id}")).exists();
        children.iter().all(is_gone).then_some(())
    });
}

#[test]
fn the_compiler_has_limits_of_memory_and_of_processor_time() {
    let project = Project::bomb();
    let compile = |seconds: &str, memory: &str| {
        Command::new(HOOKCELL)
            .args(["compile-component", "--kind", "module"])
            .args(["--seconds", seconds, "--memory", memory])
            .stdin(File::open(project.path("guest.wasm")).unwrap())
            .env("RAYON_NUM_THREADS", "2")
            .output()
            .unwrap()
    };
    use std::os::unix::process::ExitStatusExt as _;
    let out_of_time = compile("1", "2000000000");
    // SIGXCPU, or SIGKILL where both limits are one.
    assert!(
        matches!(out_of_time.status.signal(), Some(24 | 9)),
        "{out_of_time:?}"
    );
    let out_of_memory = compile("60", "60000000");
    assert!(!out_of_memory.status.success(), "{out_of_memory:?}");
    assert!(out_of_memory.stdout.is_empty());
}

#[tokio::test]
async fn a_compiler_that_runs_out_of_memory_says_so() {
    let project = Project::new("");
    let program = project
        .program("cat > /dev/null; echo 'memory allocation of 99 bytes failed' >&2; kill -ABRT $$");
    let found = failure(&project.builder(program).build()).await;
    assert_eq!(
        (found.kind, &*found.message),
        (
            FailureKind::NotCompiled,
            "compiling it needs more than 1.0 GiB, which is what 3 B of code may take"
        )
    );
}

#[tokio::test]
async fn a_compiler_that_breaks_is_the_components_failure_alone() {
    for (script, message) in [
        (
            "cat > /dev/null; echo 'no\u{1b}[31m such luck' >&2; exit 101",
            "the compiler broke on it: no\\u{1b}[31m such luck",
        ),
        (
            "echo oops >&2; kill -SEGV $$",
            "the compiler broke on it (signal: 11 (SIGSEGV)): oops",
        ),
    ] {
        let project = Project::new("");
        let found = failure(&project.builder(project.program(script)).build()).await;
        assert_eq!(
            (found.kind, &*found.message),
            (FailureKind::NotCompiled, message)
        );
    }
}

#[tokio::test]
async fn a_program_that_is_not_hookcell_is_told_and_not_remembered() {
    let project = Project::new("");
    let not_hookcell = |program: &Path| {
        format!(
            "`{}` is not hookcell {}, which is needed to compile it",
            program.display(),
            env!("CARGO_PKG_VERSION")
        )
    };
    for script in [
        "true",
        "cat",
        "yes | head -c 5000000",
        "echo 'hookcell machine code 0.0.0'",
    ] {
        let program = project.program(script);
        let found = failure(&project.builder(&program).build()).await;
        assert_eq!(
            (found.kind, &*found.message),
            (FailureKind::Host, not_hookcell(&program).as_str()),
            "{script}"
        );
    }
    let program = project.program("echo usage >&2; exit 64");
    let found = failure(&project.builder(&program).build()).await;
    assert_eq!(found.kind, FailureKind::Host);
    assert!(
        found
            .message
            .ends_with("did not compile it (exit code 64): usage"),
        "{found}"
    );
    let missing = project.path("missing");
    let found = failure(&project.builder(&missing).build()).await;
    assert_eq!(found.kind, FailureKind::Host);
    assert!(
        found
            .message
            .contains("cannot be started to compile it: No such file"),
        "{found}"
    );
    // The next one that works is used.
    let host = project.builder(HOOKCELL).build();
    let decision = host
        .dispatch(&Event::parse("{}", Some("Stop")).unwrap())
        .await;
    assert!(
        decision.records[0].success,
        "{:?}",
        decision.records[0].failure
    );
}

#[tokio::test]
async fn a_program_that_hangs_is_ended_with_what_it_started() {
    let project = Project::new("");
    let program = project.program(&format!(
        "echo $$ > '{}'; exec sleep 600",
        project.path("pid").display()
    ));
    let started = Instant::now();
    let found = failure(&project.builder(program).build()).await;
    let took = started.elapsed();
    assert_eq!(
        (found.kind, &*found.message),
        (
            FailureKind::NotCompiled,
            "it was not compiled within 15 s, on a machine that may have been busy"
        )
    );
    assert!(
        took >= Duration::from_secs(15) && took < Duration::from_secs(22),
        "{took:?}"
    );
    let pid = std::fs::read_to_string(project.path("pid")).unwrap();
    support::wait_for(|| (!Path::new(&format!("/proc/{}", pid.trim())).exists()).then_some(()));
}

#[tokio::test]
async fn the_compiler_inherits_nothing() {
    let project = Project::new("");
    let seen = project.path("seen");
    let program = project.program(&format!(
        "/usr/bin/env > '{0}'; ls -l /proc/self/fd > '{0}.open'",
        seen.display()
    ));
    failure(&project.builder(program).build()).await;
    let seen = std::fs::read_to_string(seen).unwrap();
    let mut names: Vec<&str> = seen
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.sort_unstable();
    // The shell that stands in for the program sets the others by itself.
    names.retain(|name| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name));
    assert_eq!(names, ["RAYON_NUM_THREADS"]);
}

#[tokio::test]
async fn what_is_beyond_every_bound_is_refused_before_a_compiler_is_asked() {
    let elements = format!(
        "(table 1 funcref) (elem (i32.const 0) funcref {})",
        "(ref.null func)".repeat(100_001)
    );
    for (fields, message) in [
        (
            "(func)".repeat(100_001),
            "it has 100002 functions; at most 100000 are compiled",
        ),
        (
            elements,
            "it has 100001 table elements; at most 100000 are compiled",
        ),
        (
            (0..20_001)
                .map(|index| format!("(global (export \"g{index}\") i32 (i32.const 0))"))
                .collect(),
            "it has 20003 imports and exports; at most 20000 are compiled",
        ),
    ] {
        let project = Project::new(&fields);
        let found = failure(&project.builder("/bin/false").build()).await;
        assert_eq!(
            (found.kind, &*found.message),
            (FailureKind::ComponentInvalid, message)
        );
    }
}

/// The compilers that a process has started and that still run.
fn compilers_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else {
            continue;
        };
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        // After the name, which is in parentheses: the state, and the parent's number.
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let of_parent = after_name.split_whitespace().nth(1) == Some(&parent.to_string());
        if of_parent && String::from_utf8_lossy(&line).contains("compile-component") {
            found.push(id);
        }
    }
    found
}
