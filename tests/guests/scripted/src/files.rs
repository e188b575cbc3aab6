//! Files, as far as the host grants them.

use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes, Metadata};
use std::io::{Error, Result, Write as _};
use std::time::{Duration, SystemTime};

use crate::{line, streams};

pub fn read(path: &str) {
    match fs::read(path) {
        Ok(content) => streams::stdout(&content),
        Err(error) => tell(&error),
    }
}

pub fn write(path: &str) {
    if let Err(error) = fs::write(path, "written") {
        tell(&error);
    }
}

/// Stops at a million, far above any limit of a host, so that a host without one does not hang.
pub fn open_many(path: &str) {
    let mut files = Vec::new();
    while files.len() < 1_000_000 {
        match File::open(path) {
            Ok(file) => files.push(file),
            Err(error) => {
                tell(&error);
                break;
            }
        }
    }
    line(&files.len().to_string());
}

pub fn open_files(count: u64, path: &str) {
    for _ in 0..count {
        if let Err(error) = File::open(path) {
            tell(&error);
            return;
        }
    }
    line("opened");
}

pub fn read_again(count: u64, path: &str) {
    let mut seen = BTreeSet::new();
    for _ in 0..count {
        seen.insert(match fs::read_to_string(path) {
            Ok(content) => content,
            Err(error) => format!("{:?}", error.kind()),
        });
    }
    seen.iter().for_each(|content| line(content));
}

pub fn fill(mebibytes: u64, path: &str) {
    let piece = vec![b'x'; 64 << 10];
    let mut taken = 0;
    let filled = File::create(path).and_then(|mut file| {
        while taken < mebibytes << 20 {
            taken += file.write(&piece)? as u64;
        }
        Ok(())
    });
    line(&taken.to_string());
    told(filled);
}

pub fn extend(mebibytes: u64, path: &str) {
    told(File::create(path).and_then(|file| file.set_len(mebibytes << 20)));
}

pub fn truncate(path: &str) {
    told(
        File::options()
            .write(true)
            .truncate(true)
            .open(path)
            .and_then(|mut file| file.write_all(b"appended")),
    );
}

pub fn append(path: &str) {
    told(
        File::options()
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(b"appended")),
    );
}

#[expect(
    deprecated,
    reason = "the only way to make a link that is the same everywhere"
)]
pub fn soft_link(content: &str, path: &str) {
    told(fs::soft_link(content, path));
}

pub fn stat(metadata: Result<Metadata>) {
    match metadata {
        Ok(metadata) => {
            let kind = metadata.file_type();
            let kind = match (kind.is_file(), kind.is_dir(), kind.is_symlink()) {
                (true, ..) => "file",
                (_, true, _) => "folder",
                (.., true) => "link",
                _ => "other",
            };
            line(&format!("{kind} {}", metadata.len()));
        }
        Err(error) => tell(&error),
    }
}

pub fn read_link(path: &str) {
    match fs::read_link(path) {
        Ok(content) => line(&content.to_string_lossy()),
        Err(error) => tell(&error),
    }
}

pub fn list(path: &str) {
    let names = fs::read_dir(path).and_then(|entries| {
        entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<BTreeSet<_>>>()
    });
    match names {
        Ok(names) => names.iter().for_each(|name| line(name)),
        Err(error) => tell(&error),
    }
}

pub fn set_times(path: &str) {
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(978_307_200);
    told(File::open(path).and_then(|file| file.set_times(FileTimes::new().set_modified(start))));
}

/// Tells the kind of error, if it is one.
pub fn told(result: Result<()>) {
    if let Err(error) = result {
        tell(&error);
    }
}

fn tell(error: &Error) {
    streams::stderr(format!("{:?}\n", error.kind()).as_bytes());
}
