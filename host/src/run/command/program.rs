//! The program of a command: whether the system can run it, and why it did not.
//!
//! The C library hands a file that the system does not know to `/bin/sh`. A program for another
//! machine then ends in a syntax error, which is exit code 2, which is a block; an empty file ends
//! in 0, which is an allow. Neither is what the hook says, so such a file is not started at all.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::text;

/// How much of a file the system looks at to tell what it is.
const HEAD: u64 = 256;

/// Where a program without a slash is looked for if there is no `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Says what is wrong with a program that would be found and is none.
///
/// A program that is not found is for the system to miss: `explain` says why.
pub(super) fn check(program: &OsStr, folder: &Path) -> Result<(), String> {
    let Found::Runnable(path) = find(program, folder) else {
        return Ok(());
    };
    let Some(head) = head(&path) else {
        return Ok(());
    };
    match kind(&head) {
        Kind::Runnable => Ok(()),
        _ if other_kinds_run() => Ok(()),
        kind => Err(format!("{} {}", shown(program), kind.problem())),
    }
}

/// The file that the system would run.
pub(super) fn file(program: &OsStr, folder: &Path) -> Option<PathBuf> {
    match find(program, folder) {
        Found::Runnable(path) => Some(path),
        _ => None,
    }
}

/// Why the system did not find, or did not run, a program.
pub(super) fn explain(error: &io::Error, program: &OsStr, folder: &Path) -> String {
    let shown = shown(program);
    match find(program, folder) {
        Found::Missing if program.is_empty() => "the program's name is empty".to_owned(),
        Found::Missing if has_slash(program) => format!("{shown} does not exist"),
        Found::Missing => format!("{shown} was not found in any folder of `PATH`"),
        Found::Folder => format!("{shown} is a folder"),
        Found::NotExecutable => format!("{shown} is not executable (`chmod +x`)"),
        Found::Runnable(path) if error.kind() == io::ErrorKind::NotFound => {
            match head(&path).and_then(|head| interpreter(&head)) {
                Some(interpreter) => format!(
                    "{shown} is to be run by `{}` (its first line), which does not exist",
                    text::one_line(&interpreter, 300)
                ),
                None => format!("{shown} needs a loader that this system does not have"),
            }
        }
        Found::Runnable(_) => format!("{shown} was not started: {error}"),
    }
}

fn shown(program: &OsStr) -> String {
    format!("`{}`", text::one_line(&program.display().to_string(), 300))
}

/// What is there under a program's name.
enum Found {
    Missing,
    Folder,
    NotExecutable,
    Runnable(PathBuf),
}

/// Looks for a program as `execvp` does, from the folder that the command runs in.
fn find(program: &OsStr, folder: &Path) -> Found {
    if has_slash(program) {
        return look(folder.join(program));
    }
    if program.is_empty() {
        return Found::Missing;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
    let mut found = Found::Missing;
    for directory in std::env::split_paths(&path) {
        match look(folder.join(directory).join(program)) {
            Found::Runnable(path) => return Found::Runnable(path),
            Found::Missing => {}
            other => found = other,
        }
    }
    found
}

fn has_slash(program: &OsStr) -> bool {
    program.as_bytes().contains(&b'/')
}

fn look(path: PathBuf) -> Found {
    match std::fs::metadata(&path) {
        Err(_) => Found::Missing,
        Ok(metadata) if metadata.is_dir() => Found::Folder,
        Ok(metadata) if !metadata.is_file() => Found::NotExecutable,
        Ok(_) if access(&path, Access::EXEC_OK) == Err(Errno::ACCESS) => Found::NotExecutable,
        Ok(_) => Found::Runnable(path),
    }
}

/// The beginning of a file; `None` if it may be run and not read.
fn head(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(HEAD).read_to_end(&mut head).ok()?;
    Some(head)
}

/// The interpreter that a script's first line names.
fn interpreter(head: &[u8]) -> Option<String> {
    let line = head
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let line = line.trim_ascii_start();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t'));
    Some(String::from_utf8_lossy(&line[..end.unwrap_or(line.len())]).into_owned())
}

/// What a file is, by its beginning.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// A script with an interpreter, or a program of this machine.
    Runnable,
    Empty,
    /// Text without an interpreter.
    Text,
    OtherMachine,
    Binary,
}

impl Kind {
    fn problem(&self) -> &'static str {
        match self {
            Self::Runnable => "can be run",
            Self::Empty => "is empty",
            Self::Text => {
                "is no program, and a script must name its interpreter in its first line \
                 (`#!/bin/sh`)"
            }
            Self::OtherMachine => "is a program for another kind of machine",
            Self::Binary => "is not a program of this system",
        }
    }
}

fn kind(head: &[u8]) -> Kind {
    match head {
        [] => Kind::Empty,
        [b'#', b'!', ..] => Kind::Runnable,
        [0x7f, b'E', b'L', b'F', ..] if cfg!(target_os = "linux") => elf(head),
        // Mach-O, of 32 and 64 bits, and of several machines.
        [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..]
            if cfg!(target_vendor = "apple") =>
        {
            Kind::Runnable
        }
        _ if cfg!(not(any(target_os = "linux", target_vendor = "apple"))) => Kind::Runnable,
        _ if head.contains(&0) => Kind::Binary,
        _ => Kind::Text,
    }
}

/// Whether an ELF file is for this machine, where that is known.
fn elf(head: &[u8]) -> Kind {
    let machines: &[u16] = match std::env::consts::ARCH {
        "x86_64" => &[62, 3],
        "aarch64" => &[183, 40],
        "riscv64" => &[243],
        _ => return Kind::Runnable,
    };
    match head {
        // All of them are little-endian.
        [_, _, _, _, _, 1, ..] => {}
        _ => return Kind::OtherMachine,
    }
    match head.get(18..20) {
        Some(&[low, high]) if machines.contains(&u16::from_le_bytes([low, high])) => Kind::Runnable,
        Some(_) => Kind::OtherMachine,
        None => Kind::Binary,
    }
}

/// Whether the system was taught to run other kinds of files (`binfmt_misc`: qemu, Java, Wine).
fn other_kinds_run() -> bool {
    let kinds = std::fs::read_dir("/proc/sys/fs/binfmt_misc");
    let mut kinds = kinds.into_iter().flatten().flatten();
    kinds.any(|kind| kind.file_name() != "register" && kind.file_name() != "status")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_beginning() {
        assert_eq!(kind(b""), Kind::Empty);
        assert_eq!(kind(b"#!/bin/sh\n"), Kind::Runnable);
        assert_eq!(kind(b"echo hello\n"), Kind::Text);
        assert_eq!(kind(b"\xef\xbb\xbf#!/bin/sh\n"), Kind::Text);
        assert_eq!(kind(b"MZ\0\0"), Kind::Binary);
        assert_eq!(kind(b"\0asm\x01\0\0\0"), Kind::Binary);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_elf_file_is_held_against_this_machine() {
        let own = head(&std::env::current_exe().expect("this program")).expect("its head");
        assert_eq!(kind(&own), Kind::Runnable);
        let mut other = own.clone();
        other[18] = 0xf7;
        assert_eq!(kind(&other), Kind::OtherMachine);
        other[5] = 2;
        assert_eq!(kind(&other), Kind::OtherMachine);
        assert_eq!(kind(&own[..10]), Kind::Binary);
    }

    #[test]
    fn the_interpreter_is_the_first_word_of_the_first_line() {
        for (script, named) in [
            ("#!/bin/sh\necho", Some("/bin/sh")),
            ("#! /usr/bin/env -S python3\n", Some("/usr/bin/env")),
            ("#!/bin/bash\r\necho", Some("/bin/bash\r")),
            ("#!/bin/sh", Some("/bin/sh")),
            ("echo", None),
        ] {
            assert_eq!(interpreter(script.as_bytes()).as_deref(), named);
        }
    }
}
