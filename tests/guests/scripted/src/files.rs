//! Files, as far as the host grants them.

use std::fs::{self, File};
use std::io::Error;

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

fn tell(error: &Error) {
    streams::stderr(format!("{:?}\n", error.kind()).as_bytes());
}
