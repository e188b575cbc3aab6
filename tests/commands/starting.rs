//! Why hooks do not start: each reason by its own words.

use std::fs;
use std::time::Duration;

use hookcell::outcome::{Captured, End, FailureKind};

use crate::hook::{Hook, alone, exec, sh};

/// Why a hook did not start.
async fn problem(hook: &Hook) -> String {
    let outcome = hook.run().await;
    assert_eq!(
        (outcome.stdout, outcome.stderr),
        (Captured::default(), Captured::default())
    );
    match outcome.end {
        End::Failed(failure) => {
            assert_eq!(failure.kind, FailureKind::NotStarted);
            failure.message.into()
        }
        end => panic!("started: {end:?}"),
    }
}

#[tokio::test]
async fn the_working_folder() {
    let mut hook = sh("echo hi");
    let folder = hook.folder();
    hook.working_dir = folder.join("gone");
    fs::create_dir(&hook.working_dir).unwrap();
    assert_eq!(hook.run().await.end, End::Exited(0));
    fs::remove_dir(&hook.working_dir).unwrap();
    let folder = folder.display();
    assert_eq!(
        problem(&hook).await,
        format!("the working folder `{folder}/gone` does not exist")
    );
    hook.script("file", "");
    hook.working_dir = hook.folder().join("file");
    assert_eq!(
        problem(&hook).await,
        format!("the working folder `{folder}/file` is not a folder")
    );
    hook.working_dir = hook.folder().join("file/x");
    let message = format!(
        "the working folder `{folder}/file/x` cannot be used: Not a directory (os error 20)"
    );
    assert_eq!(problem(&hook).await, message);
    hook.working_dir = "a\0b".into();
    let message = problem(&hook).await;
    assert!(
        message.starts_with("the working folder `a\\u{0}b` cannot be used: "),
        "{message}"
    );
    hook.working_dir = "x".repeat(5000).into();
    assert!(problem(&hook).await.contains("name too long"));
}

#[tokio::test]
async fn the_program() {
    for (program, message) in [
        (
            "no-such-program",
            "`no-such-program` was not found in any folder of `PATH`",
        ),
        ("./missing", "`./missing` does not exist"),
        ("", "the program's name is empty"),
        ("./folder", "`./folder` is a folder"),
        ("./plain", "`./plain` is not executable (`chmod +x`)"),
        ("./empty", "`./empty` is empty"),
        (
            "./text",
            "`./text` is no program, and a script must name its interpreter in its first line (`#!/bin/sh`)",
        ),
        ("./bytes", "`./bytes` is not a program of this system"),
        (
            "./lost",
            "`./lost` is to be run by `/no/such/shell` (its first line), which does not exist",
        ),
        (
            "./windows",
            "`./windows` is to be run by `/bin/sh\\r` (its first line), which does not exist",
        ),
        ("./a\u{1b}[31m", "`./a\\u{1b}[31m` does not exist"),
    ] {
        let hook = exec(program, &["x"]);
        fs::create_dir(hook.folder().join("folder")).unwrap();
        fs::write(hook.folder().join("plain"), "#!/bin/sh\n").unwrap();
        hook.script("empty", "");
        hook.script("text", "echo hi\n");
        hook.script("bytes", b"\x01\0\x02");
        hook.script("lost", "#!/no/such/shell -e\n");
        hook.script("windows", "#!/bin/sh\r\necho hi\r\n");
        assert_eq!(problem(&hook).await, message);
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[tokio::test]
async fn a_program_of_another_machine() {
    let hook = exec("./other", &[]);
    let mut program = fs::read("/bin/sh").unwrap();
    program[18..20].copy_from_slice(&[0xf3, 0]);
    hook.script("other", program);
    assert_eq!(
        problem(&hook).await,
        "`./other` is a program for another kind of machine"
    );
}

#[tokio::test]
async fn a_nul_character() {
    let end = "holds a NUL character, which no process can be given";
    for (hook, which) in [
        (exec("a\0b", &[]), "the program's name"),
        (exec("echo", &["a", "b\0"]), "argument 2"),
        (sh("echo \0"), "the command"),
    ] {
        assert_eq!(problem(&hook).await, format!("{which} {end}"));
    }
}

#[tokio::test]
async fn too_many_words() {
    let end = |longest: &str, sum| {
        format!(
            "was not started: arguments, `config` and environment are more than the system takes; \
             the longest is {longest} bytes, of {sum} in arguments and `config`"
        )
    };
    let long = "x".repeat(3 << 20);
    let hook = exec("echo", &["short", &long]);
    let message = end("argument 2 with 3145728", 4 + 5 + (3 << 20));
    assert_eq!(problem(&hook).await, format!("`echo` {message}"));
    let message = end("the command with 3145734", 7 + 2 + 6 + (3 << 20));
    assert_eq!(
        problem(&sh(&format!("echo {long} "))).await,
        format!("`/bin/sh` {message}")
    );
    let mut hook = exec("echo", &[]);
    hook.command.config = Some(long);
    let message = end("`config` with 3145728", 4 + (3 << 20));
    assert_eq!(problem(&hook).await, format!("`echo` {message}"));
}

#[tokio::test]
async fn a_program_that_is_still_being_written_is_waited_for() {
    let hook = exec("./new", &[]);
    hook.script("new", "#!/bin/sh\nexit 7\n");
    let writer = fs::OpenOptions::new()
        .append(true)
        .open(hook.folder().join("new"))
        .unwrap();
    let message = "`./new` was not started: it is still being written";
    assert_eq!(problem(&hook).await, message);
    let later = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        drop(writer);
    });
    assert_eq!(hook.run().await.end, End::Exited(7));
    later.join().unwrap();
}

#[test]
fn too_many_open_files() {
    alone("starting::too_many_open_files", &[], async || {
        use rustix::process::{Resource, getrlimit, setrlimit};
        let hook = exec("true", &[]);
        assert_eq!(hook.run().await.end, End::Exited(0));
        let before = getrlimit(Resource::Nofile);
        let mut few = before;
        few.current = Some(crate::hook::held().0 as u64 + 2);
        setrlimit(Resource::Nofile, few).unwrap();
        let message = "`true` was not started: this process has too many files open";
        assert_eq!(problem(&hook).await, message);
        setrlimit(Resource::Nofile, before).unwrap();
        assert_eq!(hook.run().await.end, End::Exited(0));
    });
}
