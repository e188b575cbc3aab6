//! Row 33: what was compiled is kept, in a folder where others may have been.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hookcell::Event;
use serde_json::{Value, json};

use crate::support::row::is_blocked_with;
use crate::support::{alone, guest, host_with, program, runtime};

const HOOKS_JSON: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "component", "component": "hook.wasm", "timeout": 20}]}]}}"#;

/// A guest that nothing else in the process has loaded, and a cache that only it is in.
struct Place {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Place {
    fn new(reason: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let answer = json!({"decision": "block", "reason": reason}).to_string();
        std::fs::write(
            folder.path().join("hook.wasm"),
            guest::says(answer.as_bytes(), b"", 0),
        )
        .unwrap();
        Self {
            folder,
            runtime: runtime(),
        }
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn hooks_json(&self) -> Value {
        serde_json::from_str(HOOKS_JSON).unwrap()
    }

    /// A new host, which finds nothing but what is in the cache.
    #[track_caller]
    fn decides(&self, reason: &str) {
        let host = host_with(&self.hooks_json(), self.folder.path(), |builder| {
            builder.cache_folder(self.cache())
        });
        let stop = Event::parse("{}", Some("Stop")).unwrap();
        is_blocked_with(&self.runtime.block_on(host.dispatch(&stop)), reason);
    }

    /// The one entry.
    fn entry(&self) -> PathBuf {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(self.cache())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.retain(|path| path.extension().is_some_and(|it| it == "entry"));
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)
    }
}

#[test]
fn row_33_an_entry_that_was_changed_is_compiled_anew() {
    let _alone = alone();
    let place = Place::new("mine");
    place.decides("mine");
    let path = place.entry();
    let whole = std::fs::read(&path).unwrap();
    let length = whole.len();
    for step in 0..24 {
        let at = length * step / 24;
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(&path, bytes).unwrap();
        place.decides("mine");
        assert_eq!(
            std::fs::read(&path).unwrap(),
            whole,
            "it was not written anew"
        );
    }
    for length in [0, 1, 16, 115, 116, length / 2, length - 1] {
        std::fs::write(&path, &whole[..length]).unwrap();
        place.decides("mine");
    }
    std::fs::write(&path, [whole.as_slice(), b"\0"].concat()).unwrap();
    place.decides("mine");
    std::fs::write(&path, std::fs::read("/proc/self/exe").unwrap()).unwrap();
    place.decides("mine");
}

/// Another component's entry is authentic, and for another component.
#[test]
fn row_33_an_entry_of_another_component_is_not_taken() {
    let _alone = alone();
    let (mine, other) = (Place::new("mine"), Place::new("other"));
    mine.decides("mine");
    other.decides("other");
    std::fs::copy(other.entry(), mine.entry()).unwrap();
    mine.decides("mine");
    // Nor by a link, which would also be another's to change.
    let (entry, aside) = (mine.entry(), mine.folder.path().join("aside"));
    std::fs::rename(&entry, &aside).unwrap();
    symlink(&aside, &entry).unwrap();
    mine.decides("mine");
    assert!(
        !std::fs::symlink_metadata(&entry).unwrap().is_symlink(),
        "the link is still there"
    );
}

#[test]
fn row_33_a_folder_that_others_can_write_to_is_not_used() {
    let _alone = alone();
    let place = Place::new("mine");
    for mode in [0o777, 0o770, 0o707, 0o755] {
        std::fs::create_dir(place.cache()).unwrap();
        std::fs::set_permissions(place.cache(), std::fs::Permissions::from_mode(mode)).unwrap();
        place.decides("mine");
        assert_eq!(
            std::fs::read_dir(place.cache()).unwrap().count(),
            0,
            "{mode:o}"
        );
        std::fs::remove_dir(place.cache()).unwrap();
    }
    let elsewhere = place.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, place.cache()).unwrap();
    place.decides("mine");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    std::fs::remove_file(place.cache()).unwrap();
    std::fs::write(place.cache(), "").unwrap();
    place.decides("mine");
}

fn variables<'a>(cache: &'a Path, state: &'a Path) -> [(&'a str, &'a Path); 2] {
    [
        ("HOOKCELL_CACHE_DIRECTORY", cache),
        ("HOOKCELL_STATE_DIRECTORY", state),
    ]
}

/// Another key, as after the state was lost, or as somebody has who filled the cache beforehand.
#[test]
fn row_33_an_entry_under_another_key_is_compiled_anew() {
    let _alone = alone();
    let place = Place::new("mine");
    for state in ["one", "two", "one", "two"] {
        let state = place.folder.path().join(state);
        let output = program::start_with(
            place.folder.path(),
            &place.hooks_json(),
            "Stop",
            "{}",
            &variables(&place.cache(), &state),
        )
        .wait_with_output()
        .unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(2), &b"mine\n"[..]),
            "{output:?}"
        );
    }
}

#[test]
fn row_33_programs_that_come_at_once_and_are_killed_leave_a_cache_that_works() {
    let _alone = alone();
    let place = Place::new("mine");
    let state = place.folder.path().join("state");
    let start = || {
        program::start_with(
            place.folder.path(),
            &place.hooks_json(),
            "Stop",
            "{}",
            &variables(&place.cache(), &state),
        )
    };
    let together: Vec<_> = (0..4).map(|_| start()).collect();
    for child in together {
        let output = child.wait_with_output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(2), &b"mine\n"[..]),
            "{output:?}"
        );
    }
    for round in 0..12 {
        let _ = std::fs::remove_dir_all(place.cache());
        let mut child = start();
        std::thread::sleep(std::time::Duration::from_millis(round * 20));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let output = start().wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stderr.as_slice()),
        (Some(2), &b"mine\n"[..]),
        "{output:?}"
    );
}
