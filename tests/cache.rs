//! The cache of compiled components: whatever happens to it, every event is decided rightly.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod support;

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use hookcell::outcome::FailureKind;
use hookcell::sandbox::cache::{Cache, SIZE};
use hookcell::{Decision, Event, Host};
use serde_json::json;

/// A guest that no other test has: it blocks, by exit code 2.
struct Guest {
    folder: tempfile::TempDir,
}

const HOOKCELL: &str = env!("CARGO_BIN_EXE_hookcell");

impl Guest {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The name makes the digest this folder's own.
        let text = format!(
            r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
                 (memory (export "memory") 1) (@custom "for" "{}")
                 (func (export "_start") (call $exit (i32.const 2))))"#,
            folder.path().display()
        );
        std::fs::write(
            folder.path().join("guest.wasm"),
            wat::parse_str(text).unwrap(),
        )
        .unwrap();
        let hooks = json!({"hooks": {"Stop": [{"hooks": [{"component": "guest.wasm"}]}]}});
        std::fs::write(folder.path().join("hooks.json"), hooks.to_string()).unwrap();
        std::fs::write(folder.path().join("event.json"), "{}").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// What a host says that compiles with `program`.
    async fn decision(&self, program: &str) -> Decision {
        let host = Host::builder()
            .project(self.folder.path())
            .program(program)
            .cache_folder(self.cache())
            .configuration_file(&self.path("hooks.json"), hookcell::dialect::Dialect::Claude)
            .unwrap()
            .build();
        host.dispatch(&Event::parse("{}", Some("Stop")).unwrap())
            .await
    }

    async fn blocks(&self) {
        let decision = self.decision(HOOKCELL).await;
        assert!(decision.is_blocked(), "{:?}", decision.records[0].failure);
    }

    /// The same in a process of its own, not yet waited for.
    fn process(&self) -> Command {
        let mut command = Command::new(HOOKCELL);
        command
            .args(["run", "Stop", "--config"])
            .arg(self.path("hooks.json"))
            .current_dir(self.folder.path())
            .env("HOOKCELL_CACHE_DIRECTORY", self.cache())
            .env("HOOKCELL_STATE_DIRECTORY", self.path("state"))
            .stdin(std::fs::File::open(self.path("event.json")).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// The one entry.
    fn entry(&self) -> PathBuf {
        let entries: Vec<_> = std::fs::read_dir(self.cache())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.into_iter().next().unwrap()
    }

    fn open(&self) -> Cache {
        Cache::open(Some(&self.cache())).unwrap()
    }

    fn is_whole(&self) -> bool {
        let cache = self.open();
        let entries = cache.entries();
        entries.len() == 1 && entries.iter().all(|entry| cache.verify(entry))
    }
}

#[tokio::test]
async fn a_component_is_compiled_once() {
    let guest = Guest::new();
    guest.blocks().await;
    assert!(guest.is_whole());
    // A program that compiles nothing: what follows comes from the cache.
    assert!(guest.decision("/bin/false").await.is_blocked());
    std::fs::remove_file(guest.entry()).unwrap();
    let decision = guest.decision("/bin/false").await;
    let failure = decision.records[0].failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::Host);
}

#[tokio::test]
async fn a_thousand_corruptions_are_a_thousand_right_decisions() {
    let guest = Guest::new();
    guest.blocks().await;
    let entry = guest.entry();
    let whole = std::fs::read(&entry).unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..1000 {
        let mut bytes = whole.clone();
        match round % 4 {
            0 => bytes.truncate(random.below(whole.len())),
            1 => bytes.extend(vec![random.below(256) as u8; 1 + random.below(5000)]),
            2 => {
                let at = random.below(whole.len());
                let end = (at + 1 + random.below(512)).min(whole.len());
                bytes[at..end].fill(0);
                // The file has runs of zeros: make sure that one byte differs.
                bytes[at] = !whole[at];
            }
            _ => bytes[random.below(whole.len())] ^= 1 << random.below(8),
        }
        std::fs::write(&entry, &bytes).unwrap();
        assert!(!guest.is_whole(), "round {round}");
        // One in ten is run; a program that compiles nothing shows that the rest is not used.
        if round % 10 == 0 {
            guest.blocks().await;
            assert!(guest.is_whole(), "round {round}");
        } else {
            assert!(
                !guest.decision("/bin/false").await.is_blocked(),
                "round {round}"
            );
        }
    }
}

#[tokio::test]
async fn an_entry_of_another_component_is_not_used() {
    let (one, other) = (Guest::new(), Guest::new());
    one.blocks().await;
    // One that goes on, under the name of one that blocks.
    let text = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
    std::fs::write(other.path("guest.wasm"), wat::parse_str(text).unwrap()).unwrap();
    assert!(!other.decision(HOOKCELL).await.is_blocked());
    std::fs::copy(other.entry(), one.entry()).unwrap();
    assert!(!one.is_whole());
    one.blocks().await;
}

#[tokio::test]
async fn links_and_open_folders_are_not_used() {
    let guest = Guest::new();
    guest.blocks().await;
    // An entry that is a link to a whole entry.
    let (entry, elsewhere) = (guest.entry(), guest.path("elsewhere"));
    std::fs::rename(&entry, &elsewhere).unwrap();
    symlink(&elsewhere, &entry).unwrap();
    guest.blocks().await;
    assert!(!entry.is_symlink());
    // A folder that others may write to, or look into.
    for mode in [0o777, 0o770, 0o750, 0o704] {
        std::fs::remove_dir_all(guest.cache()).unwrap();
        std::fs::create_dir(guest.cache()).unwrap();
        set_mode(&guest.cache(), mode);
        guest.blocks().await;
        assert_eq!(
            std::fs::read_dir(guest.cache()).unwrap().count(),
            0,
            "{mode:o}"
        );
        let refusal = Cache::open(Some(&guest.cache())).unwrap_err();
        assert!(
            refusal
                .ends_with("lets other users in; name a folder that is closed to them (mode 700)"),
            "{refusal}"
        );
    }
    // A folder that is a link.
    std::fs::remove_dir_all(guest.cache()).unwrap();
    std::fs::create_dir(guest.path("target")).unwrap();
    set_mode(&guest.path("target"), 0o700);
    symlink(guest.path("target"), guest.cache()).unwrap();
    guest.blocks().await;
    assert_eq!(std::fs::read_dir(guest.path("target")).unwrap().count(), 0);
    // A file in the folder's place.
    std::fs::remove_file(guest.cache()).unwrap();
    std::fs::write(guest.cache(), "").unwrap();
    guest.blocks().await;
}

#[tokio::test]
async fn another_users_folder_is_not_used() {
    let guest = Guest::new();
    std::fs::create_dir(guest.cache()).unwrap();
    set_mode(&guest.cache(), 0o700);
    if std::os::unix::fs::chown(guest.cache(), Some(12_345), None).is_err() {
        eprintln!("NOT CHECKED: only root can give a folder away");
        return;
    }
    guest.blocks().await;
    assert_eq!(std::fs::read_dir(guest.cache()).unwrap().count(), 0);
}

#[test]
fn processes_that_come_at_once_all_decide() {
    let guest = Guest::new();
    let children: Vec<_> = (0..8).map(|_| guest.process().spawn().unwrap()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
    // Each has made the same entry, and of the keys one has stayed.
    guest.entry();
    assert_eq!(verify(&guest), "1 entry of");
}

#[test]
fn a_kill_at_any_instant_leaves_nothing_that_harms() {
    let guest = Guest::new();
    let started = Instant::now();
    assert_eq!(guest.process().status().unwrap().code(), Some(2));
    let whole_run = started.elapsed().max(Duration::from_millis(20));
    for round in 0..60 {
        let _ = std::fs::remove_dir_all(guest.cache());
        if round % 3 == 0 {
            let _ = std::fs::remove_dir_all(guest.path("state"));
        }
        let mut child = guest.process().spawn().unwrap();
        std::thread::sleep(whole_run * round / 60);
        child.kill().unwrap();
        child.wait().unwrap();
        let after = guest.process().output().unwrap();
        assert_eq!(after.status.code(), Some(2), "round {round}: {after:?}");
        assert_eq!(verify(&guest), "1 entry of", "round {round}");
    }
}

#[test]
fn a_full_disk_keeps_nothing_and_decides() {
    let guest = Guest::new();
    std::fs::create_dir(guest.path("small")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=16k,mode=700 tmpfs small && dd if=/dev/zero of=small/full bs=1k count=14 2>&1 &&
         HOOKCELL_CACHE_DIRECTORY=$PWD/small RUST_LOG=hookcell=warn '{HOOKCELL}' run Stop --config hooks.json < event.json
         code=$?; ls -A small; exit $code"
    );
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(guest.folder.path())
        .env("HOOKCELL_STATE_DIRECTORY", guest.path("state"))
        .output();
    let said = match &output {
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    if said.contains("unshare") || said.contains("mount:") || output.is_err() {
        eprintln!("NOT CHECKED: a small disk cannot be made here: {said}");
        return;
    }
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        said.contains("takes no entry: No space left on device"),
        "{said}"
    );
    // What was begun is gone again.
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with("\nfull\n"),
        "{output:?}"
    );
}

#[test]
fn a_key_that_is_lost_or_broken_is_made_anew() {
    let guest = Guest::new();
    let run = || guest.process().output().unwrap();
    assert_eq!(run().status.code(), Some(2));
    let key = guest.path("state/cache.key");
    let mode = std::fs::metadata(&key).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = std::fs::read(&key).unwrap();
    assert_eq!(first.len(), 32);
    for broken in [Some(&b"short"[..]), Some(&[7; 33]), Some(b""), None] {
        match broken {
            Some(bytes) => std::fs::write(&key, bytes).unwrap(),
            None => std::fs::remove_file(&key).unwrap(),
        }
        assert_eq!(run().status.code(), Some(2));
        let key = std::fs::read(&key).unwrap();
        assert!(key.len() == 32 && key != first);
        assert_eq!(verify(&guest), "1 entry of");
    }
}

#[test]
fn what_was_not_used_for_longest_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cache");
    let cache = Cache::open(Some(&path)).unwrap();
    let hour = Duration::from_secs(3600);
    for (name, age) in [
        ("a.entry", 3),
        ("b.entry", 1),
        ("c.entry", 2),
        ("notes.txt", 9),
        (".writing-x", 2),
        (".writing-y", 0),
    ] {
        let file = std::fs::File::create(path.join(name)).unwrap();
        file.set_len(1000).unwrap();
        let used = SystemTime::now() - hour * age;
        file.set_times(std::fs::FileTimes::new().set_modified(used))
            .unwrap();
    }
    let names = |entries: Vec<hookcell::sandbox::cache::Listed>| -> Vec<String> {
        entries.into_iter().map(|it| it.name).collect()
    };
    assert_eq!(names(cache.entries()), ["b.entry", "c.entry", "a.entry"]);
    assert_eq!(names(cache.prune(SIZE)), [""; 0]);
    assert_eq!(names(cache.prune(2000)), ["a.entry"]);
    assert_eq!(names(cache.prune(0)), ["b.entry", "c.entry"]);
    // What a killed writer left is gone; what is not the cache's own is left alone.
    let mut left: Vec<_> = std::fs::read_dir(&path)
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [".writing-y", "notes.txt"]);
}

#[test]
fn the_command_lists_verifies_and_prunes() {
    let guest = Guest::new();
    assert_eq!(guest.process().status().unwrap().code(), Some(2));
    let (code, list) = cache_command(&guest, &["list"]);
    let digest = hookcell_digest(&guest.path("guest.wasm"));
    assert_eq!(code, Some(0));
    assert!(
        list.starts_with(&digest) && list.contains("  0 d\n1 entry of "),
        "{list}"
    );
    std::fs::write(guest.entry(), b"hookcell cache 1, or so it says").unwrap();
    let name = guest
        .entry()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        cache_command(&guest, &["verify"]),
        (
            Some(1),
            format!("damaged, removed: {name}\n0 entries of 0 B whole, 1 damaged\n")
        )
    );
    assert_eq!(
        cache_command(&guest, &["verify"]),
        (Some(0), "0 entries of 0 B whole, 0 damaged\n".into())
    );
    assert_eq!(guest.process().status().unwrap().code(), Some(2));
    let (code, pruned) = cache_command(&guest, &["prune", "--to", "0"]);
    assert_eq!(code, Some(0));
    assert!(
        pruned.starts_with("removed 1 entry of ") && pruned.ends_with("; 0 entries of 0 B left\n"),
        "{pruned}"
    );
}

fn hookcell_digest(path: &Path) -> String {
    let output = Command::new("sha256sum").arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap()[..64].to_owned()
}

fn cache_command(guest: &Guest, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(HOOKCELL)
        .arg("cache")
        .args(arguments)
        .env("HOOKCELL_CACHE_DIRECTORY", guest.cache())
        .env("HOOKCELL_STATE_DIRECTORY", guest.path("state"))
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

/// The beginning of what `hookcell cache verify` says when all is whole.
fn verify(guest: &Guest) -> String {
    let (code, said) = cache_command(guest, &["verify"]);
    assert_eq!(code, Some(0), "{said}");
    said[..10].to_owned()
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Numbers that look random and are the same at each run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
