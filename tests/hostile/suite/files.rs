//! Rows 23, 24, 26, 27 and 43: guests in folders that were granted.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hookcell::outcome::FailureKind;
use serde_json::{Value, json};

use crate::guests;
use crate::support::program;
use crate::support::row::Row;
use crate::support::{MOST_FUEL, SCRIPTED, alone};

fn grant(folders: &[(&Path, &str)]) -> Value {
    let folders: Vec<Value> = folders
        .iter()
        .map(|(path, access)| json!({"path": path, "access": access}))
        .collect();
    json!({"permissions": {"filesystem": folders}})
}

/// The text of errors by number: 08 badf, 37 name too long, 44 no entry, 54 no folder, 63 not permitted.
#[test]
pub fn row_23_out_of_the_folder() {
    let row = Row::of(guests::row_23_out_of_the_folder());
    let project = row.project();
    let [readable, writable, outside] = ["readable", "writable", "outside"].map(|name| {
        let folder = project.join(name);
        std::fs::create_dir_all(folder.join("folder")).unwrap();
        folder
    });
    std::fs::write(outside.join("file"), "outside").unwrap();
    std::fs::write(readable.join("secret"), "secret").unwrap();
    std::fs::write(writable.join("note"), "note").unwrap();
    symlink("../outside/file", readable.join("to-outside")).unwrap();
    symlink(&outside, readable.join("to-folder")).unwrap();
    let seen = row
        .hook(grant(&[(&readable, "read"), (&writable, "write")]))
        .says_nothing();
    let errors: Vec<&str> = seen.record.stderr.split_whitespace().collect();
    // By name (6), by links (3), by an own link (3), which is not even made, so that it is not
    // there to be followed, across (4), out (2), and away (2).
    assert_eq!(
        errors,
        [
            "63", "63", "63", "63", "63", "63", "63", "63", "63", "63", "44", "44", "63", "63",
            "63", "63", "63", "63", "63", "63"
        ]
    );
    assert!(writable.join("link").symlink_metadata().is_err());
    for (file, content) in [
        (outside.join("file"), "outside"),
        (readable.join("secret"), "secret"),
        (writable.join("note"), "note"),
    ] {
        assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 2);
    assert!(!writable.join("secret").exists());
    assert!(!readable.join("note").exists());
}

#[test]
pub fn row_23_link_swapped_meanwhile() {
    let row = Row::of(guests::row_23_link_swapped_meanwhile());
    let project = row.project();
    let granted = project.join("granted");
    std::fs::create_dir(&granted).unwrap();
    std::fs::write(project.join("outside"), "outside").unwrap();
    std::fs::write(granted.join("swapped"), "inside").unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (done, granted) = (Arc::clone(&done), granted.clone());
        move || {
            let swapped = granted.join("swapped");
            let mut swaps = 0;
            while !done.load(Ordering::Relaxed) {
                let next = granted.join("next");
                if swaps % 2 == 0 {
                    symlink("../outside", &next).unwrap();
                } else {
                    std::fs::write(&next, "inside").unwrap();
                }
                std::fs::rename(&next, &swapped).unwrap();
                swaps += 1;
            }
            swaps
        }
    });
    let stop = Arc::clone(&done);
    row.hook(grant(&[(&granted, "read")]))
        .released_by(move || stop.store(true, Ordering::Relaxed))
        .says_nothing();
    assert!(swapping.join().unwrap() > 100);
}

#[test]
pub fn row_24_odd_paths() {
    let row = Row::of(guests::row_24_odd_paths());
    let project = row.project();
    let seen = row.hook(grant(&[(&project, "read")])).says_nothing();
    assert_eq!(seen.record.stderr, "37 37 28 44 ");
}

#[test]
fn row_25_one_file_opened_for_ever() {
    for row in Row::scripted(&[]) {
        let path = row.project().join("file");
        std::fs::write(&path, "x").unwrap();
        let project = row.project();
        let row = row.hook(grant(&[(&project, "read")]));
        // A limit that the guest can see, or its end: either way nothing stays open, which the row holds.
        let seen = row
            .hook(json!({"args": [format!("open-many={}", path.display())]}))
            .run();
        match &seen.record.failure {
            Some(failure) => assert_eq!(
                failure.kind,
                FailureKind::TooManyResources,
                "{:?}",
                seen.record
            ),
            None => assert!(
                seen.record.stdout.trim().parse::<u32>().unwrap() <= 1024,
                "{:?}",
                seen.record
            ),
        }
    }
}

fn pipe(path: &Path) {
    assert!(
        std::process::Command::new("mkfifo")
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

/// Lets whoever waits for the pipe's other end go.
fn open_and_close(pipe: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Without a reader this fails, and nobody is waiting.
    let _ = std::fs::OpenOptions::new()
        .write(true)
        .custom_flags(NONBLOCK)
        .open(pipe);
}

/// `O_NONBLOCK` of Linux.
const NONBLOCK: i32 = 0o4000;

#[test]
fn row_26_a_pipe_that_nobody_writes_to() {
    for row in Row::scripted(&[]) {
        let path = row.project().join("pipe");
        pipe(&path);
        let project = row.project();
        let argument = format!("read-file={}", path.display());
        let seen = row
            .hook(grant(&[(&project, "read")]))
            .hook(json!({"args": [argument], "timeout": 0.5}))
            .released_by(move || open_and_close(&path))
            .run();
        match &seen.record.failure {
            Some(failure) => assert_eq!(failure.kind, FailureKind::TimedOut, "{failure}"),
            // Refused at once is better still.
            None => assert!(!seen.record.stderr.is_empty(), "{:?}", seen.record),
        }
    }
}

/// Each such guest may hold a thread. However many there were, other hooks are read, compiled and run.
#[test]
fn row_26_pipes_without_number_do_not_stop_the_others() {
    use crate::support::row::blocks_what_is_dangerous;
    use crate::support::{host, process::Held, runtime};
    let _alone = alone();
    let folder = tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let mut opens = json!({
        "type": "component", "component": SCRIPTED[1], "timeout": 0.5,
        "args": [format!("read-file={}", path.display())]
    });
    crate::support::merge(&mut opens, grant(&[(folder.path(), "read")]));
    let guard = json!({"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 20});
    let new = json!({"type": "component", "component": "new.wasm", "timeout": 20});
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": vec![opens; 20]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [guard]}],
        "PostToolUse": [{"hooks": [new]}],
    }});
    let bytes = crate::support::guest::says(br#"{"decision":"block","reason":"compiled"}"#, b"", 0);
    std::fs::write(folder.path().join("new.wasm"), bytes).unwrap();
    let (runtime, host) = (runtime(), host(&hooks_json, folder.path()));
    blocks_what_is_dangerous(&runtime, &host);
    let held = Held::now();
    for _ in 0..5 {
        let stop = hookcell::Event::parse("{}", Some("Stop")).unwrap();
        let decision = runtime.block_on(host.dispatch(&stop));
        assert_eq!(decision.records.len(), 20);
    }
    let threads = Held::now().threads - held.threads;
    let started = Instant::now();
    blocks_what_is_dangerous(&runtime, &host);
    let post = hookcell::Event::parse("{}", Some("PostToolUse")).unwrap();
    let decision = runtime.block_on(host.dispatch(&post));
    assert_eq!(
        decision.reason.as_deref(),
        Some("compiled"),
        "{decision:#?}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    assert!(threads <= 64, "{threads} threads are held");
    for _ in 0..200 {
        open_and_close(&path);
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(host);
    held.comes_back("pipes");
}

/// The program ends with its answer, whatever a guest's thread waits for.
#[test]
fn row_26_the_program_ends_all_the_same() {
    let _alone = alone();
    for file in SCRIPTED {
        let folder = tempfile::tempdir_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        let mut hook = json!({
            "type": "component", "component": file, "timeout": 0.5, "onFailure": "block",
            "args": [format!("read-file={}", path.display()), "exit=2"]
        });
        crate::support::merge(&mut hook, grant(&[(folder.path(), "read")]));
        let hooks_json = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
        let started = Instant::now();
        let output = program::run(folder.path(), &hooks_json, "PreToolUse", "{}", "");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{:?}",
            started.elapsed()
        );
    }
}

#[test]
fn row_26_a_device_that_never_ends() {
    for row in Row::scripted(&["read-file=/dev/zero"]) {
        let seen = row
            .hook(grant(&[(Path::new("/dev"), "read")]))
            .hook(json!({"timeout": 5}))
            .run();
        match &seen.record.failure {
            // Its own memory is full before its time is over, on a quick machine.
            Some(failure) => assert!(
                matches!(
                    failure.kind,
                    FailureKind::OutOfMemory | FailureKind::TimedOut
                ),
                "{failure}"
            ),
            None => assert!(!seen.record.stderr.is_empty(), "{:?}", seen.record),
        }
    }
}

/// A guest that is refused more, and does not give up, is ended with its time.
#[test]
pub fn row_27_fills_the_disk() {
    let row = Row::of(guests::row_27_fills_the_disk());
    let project = row.project();
    let seen = row
        .hook(grant(&[(&project, "write")]))
        .hook(json!({"timeout": 0.3, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
    let file = seen.project.path().join("large");
    let size = std::fs::metadata(&file).unwrap().len();
    assert!((1..=64 << 20).contains(&size), "{size}");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(
        std::fs::metadata(&file).unwrap().len(),
        size,
        "it is still written to"
    );
}

#[test]
pub fn row_27_files_without_number() {
    let row = Row::of(guests::row_27_files_without_number());
    let project = row.project();
    let seen = row
        .hook(grant(&[(&project, "write")]))
        .hook(json!({"timeout": 0.3, "limits": {"fuel": MOST_FUEL}}))
        .run();
    let failure = seen.record.failure.as_ref().unwrap();
    // Where the machine is quick enough for more files than one run may make, it is refused, and traps.
    assert!(
        matches!(failure.kind, FailureKind::TimedOut | FailureKind::Trap),
        "{failure}"
    );
    let count = || std::fs::read_dir(seen.project.path()).unwrap().count();
    let files = count();
    assert!((11..16_500).contains(&files), "{files}");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(count(), files, "files are still made");
}

/// What the host keeps for a guest is the guest's memory in all but the place.
#[test]
pub fn row_43_directories_in_the_hosts_memory() {
    let row = Row::of(guests::row_43_directories_in_the_hosts_memory());
    let project = row.project();
    let name = "n".repeat(240);
    for file in 0..400 {
        std::fs::write(project.join(format!("{name}{file}")), "").unwrap();
    }
    let seen = row
        .hook(grant(&[(&project, "read")]))
        .hook(json!({"timeout": 20, "limits": {"memory": "1MiB"}}))
        .run();
    // How it ends is the host's choice; what it costs is not.
    if let Some(failure) = &seen.record.failure {
        assert!(
            matches!(
                failure.kind,
                FailureKind::Trap
                    | FailureKind::TooManyResources
                    | FailureKind::OutOfMemory
                    | FailureKind::TimedOut
            ),
            "{failure}"
        );
    }
}
