//! `state`, with whole processes: that is what shares a store, and what gets killed.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{GRANTED, without_folders};

/// A project, and a folder for stores.
struct Place {
    folder: tempfile::TempDir,
    event: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let event = folder.path().join("event.json");
        std::fs::write(&event, r#"{"hook_event_name": "PreToolUse"}"#).unwrap();
        Self { folder, event }
    }

    fn stores(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    /// The store's file, there being one.
    fn file(&self) -> PathBuf {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.stores().join("state"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "sqlite"))
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// One run of the guest, in this project, with these limits.
    fn command(&self, args: &[&str], limits: &Value) -> Command {
        let hooks = json!({"hooks": {"PreToolUse": [{"hooks": [{
            "component": GRANTED,
            "args": args,
            "timeout": 60,
            "limits": limits,
            "permissions": {"network": ["a:1"], "state": true},
        }]}]}});
        let config = self
            .folder
            .path()
            .join(format!("{}.json", args.join(" ").len()));
        std::fs::write(&config, hooks.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookcell"));
        command
            .args(["run", "--json", "--config"])
            .arg(&config)
            .arg("--project")
            .arg(self.folder.path())
            .env("HOOKCELL_STATE_DIRECTORY", self.stores())
            .env("HOME", self.folder.path())
            .env_remove("XDG_STATE_HOME")
            .stdin(std::fs::File::open(&self.event).unwrap())
            .stdout(Stdio::piped());
        command
    }

    fn run_with(&self, args: &[&str], limits: Value) -> Value {
        record(&mut self.command(args, &limits))
    }

    fn run(&self, args: &[&str]) -> String {
        let record = self.run_with(args, json!({}));
        assert_eq!(record["failure"], Value::Null, "{record}");
        record["stdout"].as_str().unwrap().to_owned()
    }

    fn start(&self, args: &[&str]) -> Child {
        self.command(args, &json!({})).spawn().unwrap()
    }
}

fn record(command: &mut Command) -> Value {
    let output = command.output().unwrap();
    let decision: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let mut record = decision["records"][0].clone();
    without_folders(&mut record);
    record
}

#[test]
fn what_is_kept_is_there_for_the_next_event_and_process() {
    let place = Place::new();
    assert_eq!(place.run(&["state-count=n", "state-count=n"]), "1\n2\n");
    assert_eq!(place.run(&["state-count=n"]), "3\n");
    assert_eq!(
        place.run(&["state-set=k=v", "state-get=k", "state-has=k", "state-keys"]),
        "set\nv\ntrue\nn k\n"
    );
    assert_eq!(
        place.run(&["state-delete=k", "state-get=k", "state-has=k", "state-keys"]),
        "deleted\nnone\nfalse\nn\n"
    );
    assert_eq!(
        place.run(&["state-open=", "state-open=default", "state-open=other"]),
        "open\nopen\nerror: Error::NoSuchStore\n"
    );
    // Another project has a store of its own.
    let other = Place::new();
    let mut command = other.command(&["state-count=n"], &json!({}));
    let record = record(command.env("HOOKCELL_STATE_DIRECTORY", place.stores()));
    assert_eq!(record["stdout"], "1\n");
}

#[test]
fn a_store_is_held_to_its_limit_and_the_record_says_so() {
    let place = Place::new();
    let limits = json!({"state": 1024});
    let record = place.run_with(
        &[
            "state-fill=k=1023",
            "state-fill=kk=0",
            "state-set=k=small",
            "state-fill=l=1017",
            "state-get=k",
        ],
        limits,
    );
    let full = |bytes: u64| {
        format!("{bytes} bytes of keys and values are more than 1024; raise `limits.state`")
    };
    assert_eq!(
        record["stdout"],
        format!(
            "set\nerror: Error::Other(\"{}\")\nset\nset\nsmall\n",
            full(1026)
        )
    );
    assert_eq!(
        record["denied"],
        json!([{"what": format!("state: {}", full(1026)), "count": 1, "grant": null}])
    );
}

#[test]
fn two_processes_count_to_two_thousand() {
    let place = Place::new();
    // The same arguments, so that both have one file of hooks; it is there before both start.
    let children: Vec<Child> = (0..2)
        .map(|_| place.start(&["state-count-times=n=1000"]))
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(place.run(&["state-get=n"]), "2000\n");
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_nothing_half_done() {
    let place = Place::new();
    place.run(&["state-pair=pair=0"]);
    let mut log = place.file().into_os_string();
    log.push("-wal");
    let mut last = 0;
    for round in 0..10 {
        let mut child = place.start(&["state-count-pairs"]);
        // The log is there while the store is open, and has something once it was written to.
        let until = Instant::now() + Duration::from_secs(30);
        while std::fs::metadata(&log).map_or(0, |log| log.len()) == 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        // A different moment each time.
        std::thread::sleep(Duration::from_millis(17 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let pair = place.run(&["state-get=pair-a", "state-get=pair-b"]);
        let (a, b) = pair.trim_end().split_once('\n').unwrap();
        assert_eq!(a, b, "round {round}");
        last = last.max(a.parse().unwrap_or(0));
    }
    assert!(last > 0, "no round came to writing");
    let broken = |name: &std::ffi::OsStr| name.to_string_lossy().ends_with(".broken");
    let mut names = std::fs::read_dir(place.stores().join("state")).unwrap();
    assert!(!names.any(|entry| broken(&entry.unwrap().file_name())));
    assert_eq!(place.run(&["state-count=n"]), "1\n");
}

#[test]
fn a_damaged_store_is_put_aside_and_the_record_says_so() {
    let place = Place::new();
    place.run(&["state-set=k=v"]);
    let file = place.file();
    std::fs::write(
        &file,
        "not a database, but something else that is long enough".repeat(50),
    )
    .unwrap();
    let record = place.run_with(&["state-get=k", "state-count=n"], json!({}));
    assert_eq!(record["stdout"], "none\n1\n");
    let aside = format!("{}.broken", file.display());
    assert_eq!(
        record["denied"],
        json!([{
            "what": format!("state: what it had kept was damaged; that is now `{aside}`, and it begins anew"),
            "count": 1,
            "grant": null,
        }])
    );
    assert!(
        std::fs::read_to_string(aside)
            .unwrap()
            .starts_with("not a database")
    );
    let record = place.run_with(&["state-count=n"], json!({}));
    assert_eq!(
        (&record["stdout"], &record["denied"]),
        (&json!("2\n"), &json!([]))
    );
}

#[test]
fn a_folder_that_cannot_be_used_is_a_failure_that_says_what_to_do() {
    let place = Place::new();
    let run = |folder: &std::path::Path| {
        let mut command = place.command(&["state-count=n"], &json!({}));
        let record = record(command.env("HOOKCELL_STATE_DIRECTORY", folder));
        assert_eq!(record["failure"]["kind"], "grant-unavailable", "{record}");
        record["failure"]["message"].as_str().unwrap().to_owned()
    };
    let start = "`permissions.state` grants a store, and its folder cannot be used (";
    let end = "; HOOKCELL_STATE_DIRECTORY names another";
    // Where not even root can make a folder.
    let message = run(std::path::Path::new("/proc/hookcell"));
    assert!(
        message.starts_with(&format!("{start}`/proc/hookcell` cannot be made: "))
            && message.ends_with(end),
        "{message}"
    );
    let open = place.folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    let shared: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&open, shared).unwrap();
    assert_eq!(
        run(&open),
        format!(
            "{start}`{}` lets other users in; name a folder that is closed to them (mode 700)){end}",
            open.display()
        )
    );
}

#[test]
fn the_usual_place_is_the_users_own() {
    let place = Place::new();
    let mut command = place.command(&["state-count=n"], &json!({}));
    let record = record(command.env_remove("HOOKCELL_STATE_DIRECTORY"));
    assert_eq!(record["stdout"], "1\n");
    let folder = place.folder.path().join(".local/state/hookcell/state");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&folder).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}
