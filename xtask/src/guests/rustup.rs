//! The Rust toolchain in use, with the wasm targets that rustup has or can fetch.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use super::table::Target;
use super::toolchain::{Kind, Toolchain};
use crate::{process, say};

/// How long rustup may take to find out whether it can fetch the targets, and to do so.
const FETCH_LIMIT: Duration = Duration::from_secs(20);

/// The toolchain in use, if it has the targets or rustup can add them.
pub fn obtain() -> Result<Toolchain> {
    let sysroot =
        PathBuf::from(process::output(Command::new("rustc").args(["--print", "sysroot"]))?.trim());
    if !has_targets(&sysroot) {
        say::note("asking rustup for the wasm targets");
        let mut add = Command::new("rustup");
        add.args(["target", "add"]);
        add.args(Target::ALL.map(Target::triple));
        process::succeeds_within(FETCH_LIMIT, &mut add);
        if !has_targets(&sysroot) {
            bail!("rustup has no wasm targets and could not fetch them");
        }
    }
    let version = process::output(Command::new("rustc").arg("-vV"))?;
    Ok(Toolchain {
        kind: Kind::Rustup,
        rustc: sysroot.join("bin/rustc"),
        identity: identity(&version),
    })
}

fn has_targets(sysroot: &Path) -> bool {
    Target::ALL.iter().all(|target| {
        let libraries = sysroot
            .join("lib/rustlib")
            .join(target.triple())
            .join("lib");
        // std is written last of all that a guest needs.
        std::fs::read_dir(libraries).is_ok_and(|mut entries| {
            entries.any(|entry| {
                entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
            })
        })
    })
}

/// One release of Rust holds compiler, std, libc and linkers, so its version says all.
fn identity(version: &str) -> Vec<(String, String)> {
    let line = |key: &str| {
        version
            .lines()
            .find_map(|line| line.strip_prefix(key))
            .unwrap_or("unknown")
    };
    vec![(
        "rustc".to_owned(),
        format!("{} {}", line("release: "), line("commit-hash: ")),
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_is_release_and_commit() {
        let version = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\n\
                       commit-hash: 59807616e1\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(
            identity(version),
            [("rustc".to_owned(), "1.95.0 59807616e1".to_owned())]
        );
    }

    #[test]
    fn a_folder_without_std_has_no_targets() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_targets(folder.path()));
        for target in Target::ALL {
            let libraries = folder
                .path()
                .join("lib/rustlib")
                .join(target.triple())
                .join("lib");
            std::fs::create_dir_all(&libraries).unwrap();
            assert!(!has_targets(folder.path()));
            std::fs::write(libraries.join("libstd-0.rlib"), "").unwrap();
        }
        assert!(has_targets(folder.path()));
    }
}
