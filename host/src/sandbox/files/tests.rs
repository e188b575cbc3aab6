use std::path::Path;

use rustix::io::Errno;
use tempfile::TempDir;

use super::operation::{Opened, Opening};
use super::*;
use crate::config::{Access, FilesystemGrant};

/// A granted folder with `inside`, `sub/inside`, and `.env`; beside it, `outside`.
struct Granting {
    folder: TempDir,
}

impl Granting {
    fn new() -> Self {
        let granting = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir_all(granting.path("sub")).unwrap();
        for (path, content) in [
            ("inside", "inside"),
            ("sub/inside", "inside"),
            (".env", "secret"),
            ("../outside", "outside"),
        ] {
            std::fs::write(granting.path(path), content).unwrap();
        }
        granting
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join("granted").join(path)
    }

    /// The granted folder as one run has it.
    fn root(&self, access: Access, deny: &[&str]) -> Place {
        let grant = FilesystemGrant {
            path: self.path("").to_str().unwrap().to_owned(),
            access,
            deny: deny.iter().map(|it| (*it).to_owned()).collect(),
        };
        let permissions = Permissions {
            filesystem: vec![grant],
            ..Permissions::default()
        };
        let folders = Folders::default();
        let files = Files::new(&permissions, Path::new("/"), &folders, Denials::default());
        files.unwrap().roots().remove(0)
    }
}

const READ: Opening = Opening {
    follow: true,
    create: false,
    exclusive: false,
    truncate: false,
    folder: false,
    read: true,
    write: false,
};

const WRITE: Opening = Opening {
    create: true,
    write: true,
    ..READ
};

fn folder(place: &Place, path: &str) -> Place {
    match place.open(path, READ).unwrap() {
        Opened::Folder(place, _) => place,
        Opened::File(..) => panic!("{path} is no folder"),
    }
}

fn is_denied<T: std::fmt::Debug>(result: Result<T, Fault>) -> bool {
    matches!(result, Err(Fault::Denied(Errno::PERM, _)))
}

fn system<T: std::fmt::Debug>(result: Result<T, Fault>) -> Option<Errno> {
    match result {
        Err(Fault::System(errno)) => Some(errno),
        _ => None,
    }
}

#[test]
fn odd_paths_are_errors() {
    let granting = Granting::new();
    let root = granting.root(Access::Write, &[]);
    for (path, expected) in [
        (String::new(), Errno::NOENT),
        ("a\0b".into(), Errno::INVAL),
        ("inside\0".into(), Errno::INVAL),
        ("n".repeat(300), Errno::NAMETOOLONG),
        ("n/".repeat(3000), Errno::NAMETOOLONG),
        ("sub/../".repeat(580), Errno::NAMETOOLONG),
        ("inside/".into(), Errno::NOTDIR),
        ("inside/.".into(), Errno::NOTDIR),
    ] {
        assert_eq!(system(root.open(&path, READ)), Some(expected), "{path:?}");
        assert_eq!(system(root.stat(&path, true)), Some(expected), "{path:?}");
    }
    assert_eq!(system(root.open("new/", WRITE)), Some(Errno::ISDIR));
    assert_eq!(system(root.open(".", WRITE)), Some(Errno::ISDIR));
    assert_eq!(system(root.create_folder(".")), Some(Errno::EXIST));
    assert_eq!(system(root.remove_folder(".")), Some(Errno::INVAL));
    assert_eq!(system(root.rename(".", &root, "x")), Some(Errno::BUSY));
    assert_eq!(
        system(root.rename("inside", &root, "x/")),
        Some(Errno::NOTDIR)
    );
    assert!(is_denied(root.open("/etc/passwd", READ)));
    assert!(is_denied(root.open("..", READ)));
    assert!(is_denied(root.open("sub/../..", READ)));
    assert!(root.open("sub/..", READ).is_ok());
}

#[test]
fn links_that_lead_round_or_far_end() {
    let granting = Granting::new();
    let root = granting.root(Access::Read, &[]);
    std::os::unix::fs::symlink("b", granting.path("a")).unwrap();
    std::os::unix::fs::symlink("a", granting.path("b")).unwrap();
    assert_eq!(system(root.open("a", READ)), Some(Errno::LOOP));
    // Each link goes through the one before it twice.
    std::os::unix::fs::symlink("sub", granting.path("l0")).unwrap();
    for level in 1..30 {
        let content = format!("l{0}/../l{0}", level - 1);
        std::os::unix::fs::symlink(content, granting.path(&format!("l{level}"))).unwrap();
    }
    assert_eq!(system(root.open("l29/inside", READ)), Some(Errno::LOOP));
    assert!(root.open("l3/inside", READ).is_ok());
}

#[test]
fn an_open_folder_is_a_bound_of_its_own() {
    let granting = Granting::new();
    let root = granting.root(Access::Write, &[]);
    let sub = folder(&root, "sub");
    std::os::unix::fs::symlink("../inside", granting.path("sub/up")).unwrap();
    assert!(is_denied(sub.open("../inside", READ)));
    assert!(is_denied(sub.open("up", READ)));
    assert!(sub.open("inside", READ).is_ok());
    assert!(is_denied(sub.rename("inside", &sub, "../moved")));
    sub.rename("inside", &root, "moved").unwrap();
    assert!(granting.path("moved").exists());
}

#[test]
fn an_open_folder_that_is_moved_leads_to_nothing_denied() {
    let granting = Granting::new();
    let root = granting.root(Access::Write, &["/config/keys", "/x/**/y", "/p/*/z"]);
    for path in ["a", "a/b", "a/b/y", "a/keys", "a/z"] {
        std::fs::create_dir(granting.path(path)).unwrap();
    }
    let held = folder(&root, "a");
    // Under none of these names would the path that the open folder is known by tell the truth.
    for path in ["config", "x", "p", ".git", ".aws", "sub/.hookcell"] {
        assert!(is_denied(root.rename("a", &root, path)), "{path}");
    }
    for path in ["x", "p"] {
        root.create_folder(path).unwrap();
        let target = format!("{path}/a");
        assert!(is_denied(root.rename("a", &root, &target)), "{target}");
    }
    root.rename("a", &root, "c").unwrap();
    assert!(held.open("b", READ).is_ok());
    assert!(is_denied(held.open(".env", WRITE)));
    assert!(is_denied(held.create_folder(".git")));
}

#[test]
fn what_is_created_exclusively_follows_no_link() {
    let granting = Granting::new();
    let root = granting.root(Access::Write, &[]);
    std::os::unix::fs::symlink("new", granting.path("link")).unwrap();
    let exclusive = Opening {
        exclusive: true,
        ..WRITE
    };
    assert_eq!(system(root.open("link", exclusive)), Some(Errno::EXIST));
    assert!(!granting.path("new").exists());
    root.open("link", WRITE).unwrap();
    assert!(granting.path("new").exists());
}

#[test]
fn a_file_open_for_reading_may_be_changed_only_where_it_may_be_written() {
    let granting = Granting::new();
    std::fs::create_dir(granting.path(".git")).unwrap();
    std::fs::write(granting.path(".git/config"), "").unwrap();
    let changeable = |access, path| match granting.root(access, &[]).open(path, READ).unwrap() {
        Opened::File(file, _) => file.changeable,
        Opened::Folder(..) => panic!("{path} is no file"),
    };
    assert!(changeable(Access::Write, "inside"));
    assert!(!changeable(Access::Write, ".git/config"));
    assert!(!changeable(Access::Read, "inside"));
    let now = rustix::fs::Timespec {
        tv_sec: 0,
        tv_nsec: rustix::fs::UTIME_NOW,
    };
    let root = granting.root(Access::Write, &[]);
    assert!(is_denied(folder(&root, ".git").set_own_times(now, now)));
    folder(&root, "sub").set_own_times(now, now).unwrap();
}

#[test]
fn a_folder_is_listed_without_its_own_names() {
    let granting = Granting::new();
    let root = granting.root(Access::Read, &[]);
    let mut names: Vec<_> = operation::entries(&root.handle)
        .unwrap()
        .into_iter()
        .map(|entry| String::from_utf8(entry.name).unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".env", "inside", "sub"]);
}

#[test]
fn what_is_created_counts_even_if_it_is_empty() {
    let granting = Granting::new();
    let root = granting.root(Access::Write, &[]);
    root.budget.write((64 << 20) - (12 << 10)).unwrap();
    root.create_folder("a").unwrap();
    root.symlink("a", "b").unwrap();
    root.link("inside", &root, "c").unwrap();
    let full = |result: Result<(), Fault>| matches!(result, Err(Fault::Denied(Errno::NOSPC, _)));
    assert!(full(root.create_folder("d")));
    assert!(full(root.symlink("a", "d")));
    assert!(full(root.link("inside", &root, "d")));
    assert!(full(root.open("d", WRITE).map(|_| ())));
    assert!(!granting.path("d").exists());
    assert!(root.open("inside", WRITE).is_ok(), "nothing is created");
}
