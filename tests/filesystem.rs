//! Attacks on granted folders, by a component and by a preview1 module alike: what the guest got,
//! and that what it was after is untouched.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

mod support;

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hookcell::dialect::Dialect;
use hookcell::outcome::FailureKind;
use hookcell::record::Record;
use hookcell::{Event, Host};
use serde_json::{Value, json};
use support::{COMPONENT, MODULE};
use tempfile::TempDir;

const BOTH: [&str; 2] = [COMPONENT, MODULE];

/// What a guest is told of what is denied.
const DENIED: &str = "PermissionDenied";

/// A project in a folder of its own, with a secret, a repository, and a file outside of it.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(project.path("")).unwrap();
        project.write("../outside", "outside");
        project.write("inside", "inside");
        project.write(".env", "secret");
        project.write("sub/.env", "secret");
        project.write("sub/inside", "inside");
        project.write(".git/config", "config");
        project.write(".git/hooks/sample", "sample");
        project.write("made/config", "evil");
        project
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("project").join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| error.to_string())
    }

    fn exists(&self, path: &str) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    /// A host with one hook, an event each, for each of these lists of the guest's actions; `@` is
    /// the project.
    fn host(&self, file: &str, grant: &Value, rows: &[&[&str]]) -> Host {
        let project = self.path("");
        let root = project.to_str().unwrap().trim_end_matches('/');
        let hooks: Vec<Value> = rows
            .iter()
            .enumerate()
            .map(|(row, actions)| {
                let actions: Vec<String> = actions.iter().map(|it| it.replace('@', root)).collect();
                json!({
                    "component": file,
                    "args": actions,
                    "events": [format!("Row{row}")],
                    "timeout": 120,
                    "permissions": {"filesystem": grant},
                })
            })
            .collect();
        support::host_in(&json!({"hooks": hooks}), &project, Dialect::Claude)
    }

    /// The records of these rows, run one after the other.
    async fn run(&self, file: &str, grant: &Value, rows: &[&[&str]]) -> Vec<Record> {
        let host = self.host(file, grant, rows);
        let mut records = Vec::new();
        for row in 0..rows.len() {
            records.push(dispatch(&host, row).await);
        }
        records
    }
}

async fn dispatch(host: &Host, row: usize) -> Record {
    let event = Event::parse("{}", Some(&format!("Row{row}"))).unwrap();
    host.dispatch(&event).await.records.remove(0)
}

fn granted(access: &str) -> Value {
    json!([{"path": "${workspace}", "access": access}])
}

/// What the guest wrote on its two streams.
fn said(record: &Record) -> (String, String) {
    assert_eq!(record.failure, None);
    (
        record.stdout.trim_end().to_owned(),
        record.stderr.trim_end().to_owned(),
    )
}

/// Runs single actions, and holds what the guest said against what is expected.
async fn expect(project: &Project, file: &str, grant: &Value, rows: &[(&str, &str, &str)]) {
    let actions: Vec<[&str; 1]> = rows.iter().map(|row| [row.0]).collect();
    let actions: Vec<&[&str]> = actions.iter().map(|it| &it[..]).collect();
    let records = project.run(file, grant, &actions).await;
    for ((action, stdout, stderr), record) in rows.iter().zip(&records) {
        assert_eq!(
            said(record),
            ((*stdout).to_owned(), (*stderr).to_owned()),
            "{action}"
        );
    }
}

#[tokio::test]
async fn no_path_leads_to_a_denied_file_or_out() {
    for file in BOTH {
        let project = Project::new();
        for (content, link) in [
            (".env", "to-env"),
            ("sub/.env", "to-sub-env"),
            ("to-env", "chain"),
            ("sub", "to-sub"),
            ("../outside", "out"),
            ("sub/../../outside", "out-by-sub"),
            ("/etc/passwd", "absolute"),
            ("loop", "loop"),
        ] {
            symlink(content, project.path(link)).unwrap();
        }
        let long_name = format!("read-file=@/{}", "n".repeat(300));
        let long_path = format!("read-file=@/{}inside", "sub/../".repeat(860));
        let rows = [
            ("read-file=@/inside", "inside", ""),
            ("read-file=@/to-sub/inside", "inside", ""),
            ("read-file=@/sub/.././inside", "inside", ""),
            ("read-file=@/.env", "", DENIED),
            ("read-file=@/.env/", "", DENIED),
            ("read-file=@/.ENV", "", DENIED),
            ("read-file=@/sub/../.env", "", DENIED),
            ("read-file=@/sub/.env", "", DENIED),
            ("read-file=@/to-env", "", DENIED),
            ("read-file=@/to-sub-env", "", DENIED),
            ("read-file=@/to-sub/.env", "", DENIED),
            ("read-file=@/chain", "", DENIED),
            ("read-file=@/out", "", DENIED),
            ("read-file=@/out/", "", DENIED),
            ("read-file=@/out-by-sub", "", DENIED),
            ("read-file=@/absolute", "", DENIED),
            ("read-file=@/../outside", "", DENIED),
            ("read-file=@/sub/../../outside", "", DENIED),
            ("read-file=@/loop", "", "FilesystemLoop"),
            ("read-file=@/inside/", "", "NotADirectory"),
            ("read-file=@/inside/x", "", "NotADirectory"),
            ("read-file=@/nothing/../inside", "", "NotFound"),
            (long_name.as_str(), "", "InvalidFilename"),
            (long_path.as_str(), "", "InvalidFilename"),
            ("stat=@/.env", "", DENIED),
            ("stat=@/to-env", "", DENIED),
            ("stat-link=@/to-env", "link 4", ""),
            ("read-link=@/to-env", ".env", ""),
            ("read-link=@/absolute", "", DENIED),
            ("read-file=@/.git/config", "config", ""),
        ];
        for access in ["read", "write"] {
            expect(&project, file, &granted(access), &rows).await;
        }
        let listed = project
            .run(
                file,
                &granted("read"),
                &[&["list=@/"], &["read-file=/etc/passwd"]],
            )
            .await;
        assert_eq!(
            listed[0].stdout.lines().collect::<Vec<_>>(),
            [
                ".env",
                ".git",
                "absolute",
                "chain",
                "inside",
                "loop",
                "made",
                "out",
                "out-by-sub",
                "sub",
                "to-env",
                "to-sub",
                "to-sub-env"
            ],
            "names are no secret"
        );
        assert_eq!(listed[1].stdout, "");
        assert_ne!(listed[1].stderr, "");
    }
}

#[tokio::test]
async fn nothing_denied_is_created_changed_renamed_or_removed() {
    for file in BOTH {
        let project = Project::new();
        symlink(".git", project.path("to-git")).unwrap();
        let denied = [
            "write-file=@/.env",
            "write-file=@/sub/.env.local",
            "append-file=@/.env",
            "remove-file=@/.env",
            "rename=@/.env>@/x",
            "rename=@/inside>@/.env",
            "rename=@/inside>@/sub/.ssh",
            "hard-link=@/.env>@/x",
            "soft-link=.env>@/x",
            "create-folder=@/.ssh",
            "write-file=@/.git/config",
            "write-file=@/.GIT",
            "create-folder=@/sub/.GIT",
            "write-file=@/to-git/config",
            "write-file=@/sub/../.git/config",
            "write-file=@/.git/new",
            "append-file=@/.git/config",
            "truncate-file=@/.git/config",
            "remove-file=@/.git/config",
            "set-times=@/.git/config",
            "rename=@/.git>@/g",
            "rename=@/.git/hooks>@/hooks",
            "rename=@/made>@/sub/.git",
            "rename=@/made>@/sub/.GIT",
            "rename=@/inside>@/.git/config",
            "hard-link=@/.git/config>@/x",
            "hard-link=@/inside>@/.git/config2",
            "soft-link=.git/config>@/x",
            "soft-link=../made>@/sub/.git",
            "remove-folder=@/.git/hooks",
            "create-folder=@/sub/.git",
            "write-file=@/sub/.git",
            "write-file=@/.hookcell",
            "rename=@/made>@/.hookcell",
            "write-file=@/.envrc",
            "write-file=@/.mcp.json",
            "create-folder=@/.claude",
            "rename=@/made>@/.aws",
            "soft-link=../outside>@/x",
            "soft-link=sub/../../outside>@/x",
            "soft-link=/etc/passwd>@/x",
            "rename=@/inside>@/../x",
            "write-file=@/../x",
            "hard-link=@/../outside>@/x",
        ]
        .map(|action| (action, "", DENIED));
        expect(&project, file, &granted("write"), &denied).await;
        for (path, content) in [
            (".env", "secret"),
            ("sub/.env", "secret"),
            ("inside", "inside"),
            (".git/config", "config"),
            (".git/hooks/sample", "sample"),
            ("made/config", "evil"),
            ("../outside", "outside"),
        ] {
            assert_eq!(project.read(path), content, "{path}");
        }
        for path in [
            "x",
            "g",
            "hooks",
            ".ssh",
            ".hookcell",
            ".envrc",
            ".mcp.json",
            ".claude",
            ".aws",
            "sub/.git",
            "sub/.ssh",
            "sub/.env.local",
            ".git/new",
            "../x",
        ] {
            assert!(!project.exists(path), "{path}");
        }
        let allowed = [
            ("write-file=@/.env.example", "", ""),
            ("create-folder=@/.hookcell", "", ""),
            ("write-file=@/.hookcell/tool-use.log", "", ""),
            ("write-file=@/.hookcell/hooks.json", "", DENIED),
            ("rename=@/.hookcell>@/h", "", DENIED),
            ("create-folder=@/new", "", ""),
            ("create-folder=@/new", "", "AlreadyExists"),
            ("write-file=@/new/file", "", ""),
            ("append-file=@/new/file", "", ""),
            ("rename=@/new>@/renamed", "", ""),
            ("hard-link=@/renamed/file>@/second", "", ""),
            ("soft-link=renamed/file>@/link", "", ""),
            ("read-file=@/link", "writtenappended", ""),
            ("remove-file=@/renamed/file", "", ""),
            ("remove-folder=@/renamed", "", ""),
            ("remove-file=@/link", "", ""),
            ("set-times=@/second", "", ""),
            ("truncate-file=@/second", "", ""),
            ("read-file=@/second", "appended", ""),
            ("stat=@/second", "file 8", ""),
        ];
        expect(&project, file, &granted("write"), &allowed).await;
        assert_eq!(project.read("second"), "appended");
        assert_eq!(project.read(".env.example"), "written");
        assert!(!project.exists("renamed") && !project.exists("link"));
    }
}

#[tokio::test]
async fn a_grant_to_read_changes_nothing() {
    for file in BOTH {
        let project = Project::new();
        let denied = [
            "write-file=@/inside",
            "write-file=@/new",
            "truncate-file=@/inside",
            "append-file=@/inside",
            "create-folder=@/new",
            "remove-file=@/inside",
            "remove-folder=@/sub",
            "rename=@/inside>@/new",
            "hard-link=@/inside>@/new",
            "soft-link=inside>@/new",
            "set-times=@/inside",
        ]
        .map(|action| (action, "", DENIED));
        expect(&project, file, &granted("read"), &denied).await;
        assert_eq!(project.read("inside"), "inside");
        assert!(!project.exists("new") && project.exists("sub"));
        let record = project
            .run(file, &granted("read"), &[&["write-file=@/new"]])
            .await
            .remove(0);
        let denied: Vec<_> = record
            .denied
            .iter()
            .map(|it| (it.what.as_str(), it.count, it.grant.as_deref()))
            .collect();
        assert_eq!(
            denied,
            [(
                "files: change `new`",
                1,
                Some(r#""filesystem": [{"path": "${workspace}", "access": "write"}]"#)
            )]
        );
    }
}

#[tokio::test]
async fn the_grants_own_patterns_are_denied_too() {
    for file in BOTH {
        let project = Project::new();
        project.write("sub/key.pem", "key");
        project.write("secrets/file", "key");
        project.write("sub/secrets", "no folder");
        project.write("config/keys", "key");
        project.write("sub/config/keys", "other");
        let grant = json!([{
            "path": "${workspace}", "access": "write",
            "deny": ["*.pem", "secrets/", "/config/keys"],
        }]);
        let rows = [
            ("read-file=@/sub/key.pem", "", DENIED),
            ("read-file=@/sub/KEY.PEM", "", DENIED),
            ("read-file=@/secrets/file", "", DENIED),
            ("read-file=@/sub/secrets", "no folder", ""),
            ("read-file=@/config/keys", "", DENIED),
            ("read-file=@/sub/config/keys", "other", ""),
            ("write-file=@/new.pem", "", DENIED),
            ("create-folder=@/sub/config/secrets", "", DENIED),
            ("rename=@/secrets>@/public", "", DENIED),
            ("rename=@/config>@/public", "", DENIED),
            ("rename=@/sub/config>@/public", "", ""),
            ("read-file=@/public/keys", "other", ""),
        ];
        expect(&project, file, &grant, &rows).await;
        let record = project
            .run(
                file,
                &grant,
                &[&["read-file=@/sub/key.pem", "read-file=@/.env"]],
            )
            .await
            .remove(0);
        let denied: Vec<_> = record
            .denied
            .iter()
            .map(|it| (it.what.as_str(), it.count, it.grant.as_deref()))
            .collect();
        assert_eq!(
            denied,
            [
                ("files: read `sub/key.pem`, which `deny` names", 1, None),
                ("files: read `.env`, which is denied by default", 1, None)
            ]
        );
    }
}

#[tokio::test]
async fn a_grant_of_a_denied_folder_itself_is_meant() {
    for file in BOTH {
        let project = Project::new();
        let grant = json!([{"path": "${workspace}/.git", "access": "write"}]);
        let rows = [
            ("write-file=@/.git/config", "", ""),
            ("read-file=@/.git/config", "written", ""),
        ];
        expect(&project, file, &grant, &rows).await;
    }
}

#[tokio::test]
async fn between_two_grants_nothing_is_moved() {
    for file in BOTH {
        let project = Project::new();
        let grant = json!([
            {"path": "sub", "access": "write"},
            {"path": "made", "access": "write"},
        ]);
        let rows = [
            ("rename=@/made/config>@/sub/config", "", "CrossesDevices"),
            ("hard-link=@/made/config>@/sub/config", "", "CrossesDevices"),
            ("read-file=@/made/config", "evil", ""),
        ];
        expect(&project, file, &grant, &rows).await;
        assert!(!project.exists("sub/config"));
    }
}

#[test]
fn a_link_that_is_swapped_while_the_guest_opens_never_shows_the_secret() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for file in BOTH {
        let project = Project::new();
        project.write("open", "open");
        std::fs::hard_link(project.path("open"), project.path("x")).unwrap();
        let host = project.host(file, &granted("read"), &[&["read-again=1000:@/x"]]);
        let done = AtomicBool::new(false);
        let (record, swaps) = std::thread::scope(|scope| {
            let swapping = scope.spawn(|| {
                let mut swaps = 0_u32;
                while !done.load(Ordering::Relaxed) {
                    let next = project.path("next");
                    match swaps % 3 {
                        0 => symlink(".env", &next).unwrap(),
                        1 => symlink("../outside", &next).unwrap(),
                        _ => std::fs::hard_link(project.path("open"), &next).unwrap(),
                    }
                    std::fs::rename(&next, project.path("x")).unwrap();
                    // A hard link onto its own file is left where it is.
                    let _ = std::fs::remove_file(&next);
                    swaps += 1;
                }
                swaps
            });
            let record = runtime.block_on(dispatch(&host, 0));
            done.store(true, Ordering::Relaxed);
            (record, swapping.join().unwrap())
        });
        let (stdout, _) = said(&record);
        assert!(swaps > 100, "{swaps}");
        assert!(stdout.contains("open"), "{stdout}");
        assert!(
            !stdout.contains("secret") && !stdout.contains("outside"),
            "{stdout}"
        );
    }
}

#[tokio::test]
async fn a_guest_holds_few_files_and_opens_as_many_as_it_likes() {
    for file in BOTH {
        let project = Project::new();
        let host = project.host(
            file,
            &granted("read"),
            &[&["open-many=@/inside"], &["open-files=2000:@/inside"]],
        );
        let (held, _) = said(&dispatch(&host, 0).await);
        let held: u32 = held.parse().unwrap();
        assert!((100..=256).contains(&held), "{held}");
        let (opened, _) = said(&dispatch(&host, 1).await);
        assert_eq!(opened, "opened");
        let before = descriptors();
        dispatch(&host, 0).await;
        assert_eq!(descriptors(), before);
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn pipes_sockets_and_devices_are_not_opened() {
    for file in BOTH {
        let project = Project::new();
        let made = std::process::Command::new("mkfifo")
            .arg(project.path("pipe"))
            .status()
            .unwrap();
        assert!(made.success());
        let _socket = std::os::unix::net::UnixListener::bind(project.path("socket")).unwrap();
        symlink("pipe", project.path("to-pipe")).unwrap();
        let started = Instant::now();
        let rows = [
            ("read-file=@/pipe", "", DENIED),
            ("read-file=@/to-pipe", "", DENIED),
            ("write-file=@/pipe", "", DENIED),
            ("read-file=@/socket", "", DENIED),
            ("stat=@/pipe", "other 0", ""),
        ];
        expect(&project, file, &granted("write"), &rows).await;
        let devices = json!([{"path": "/dev", "access": "write"}]);
        let rows = [
            ("read-file=/dev/zero", "", DENIED),
            ("write-file=/dev/null", "", DENIED),
        ];
        expect(&project, file, &devices, &rows).await;
        assert!(started.elapsed() < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn what_one_run_writes_is_bounded() {
    for file in BOTH {
        let project = Project::new();
        let host = project.host(
            file,
            &granted("write"),
            &[
                &["extend-file=63:@/long", "fill-file=2:@/full"],
                &["extend-file=65:@/long"],
                &["fill-file=1:@/again"],
            ],
        );
        let record = dispatch(&host, 0).await;
        let (taken, error) = said(&record);
        assert_eq!(error, "StorageFull");
        let taken: u64 = taken.parse().unwrap();
        assert!((900 << 10..1 << 20).contains(&taken), "{taken}");
        let size = project.path("full").metadata().unwrap().len();
        assert!((taken..1 << 20).contains(&size), "{size}");
        assert_eq!(
            record.denied.last().unwrap().what,
            "files: write more than 64 MiB in one run"
        );
        let (_, error) = said(&dispatch(&host, 1).await);
        assert_eq!(error, "StorageFull");
        assert_eq!(project.path("long").metadata().unwrap().len(), 0);
        let (taken, error) = said(&dispatch(&host, 2).await);
        assert_eq!(
            (taken.as_str(), error.as_str()),
            ("1048576", ""),
            "each run anew"
        );
    }
}

#[tokio::test]
async fn another_folder_in_the_place_of_a_granted_one_is_a_failure() {
    let project = Project::new();
    let grant = json!([{"path": "sub", "access": "read"}]);
    let host = project.host(MODULE, &grant, &[&["read-file=@/sub/inside"]]);
    assert_eq!(said(&dispatch(&host, 0).await).0, "inside");
    std::fs::rename(project.path("sub"), project.path("moved")).unwrap();
    project.write("sub/inside", "other");
    let record = dispatch(&host, 0).await;
    let failure = record.failure.unwrap();
    assert_eq!(failure.kind, FailureKind::GrantUnavailable);
    assert!(
        failure
            .message
            .contains("it is another folder than when the hook was first run"),
        "{failure}"
    );
    assert_eq!(record.stdout, "");
}

#[tokio::test]
async fn asking_for_folders_without_a_grant_is_told() {
    for file in BOTH {
        let project = Project::new();
        let record = project
            .run(file, &json!([]), &[&["read-file=@/inside"]])
            .await
            .remove(0);
        assert_eq!(record.stdout, "");
        let denied: Vec<_> = record
            .denied
            .iter()
            .map(|it| (it.what.as_str(), it.grant.as_deref()))
            .collect();
        assert_eq!(
            denied,
            [(
                "files: it asks for folders, and none is granted",
                Some(r#""filesystem": [{"path": "${workspace}", "access": "read"}]"#)
            )]
        );
    }
}
