//! Compiler flags that keep this machine's paths out of what is built.
//!
//! Panic messages hold the paths of source files. A guest's bytes must not tell, or depend on,
//! where the repository, cargo's registry or the compiler are on the machine that built it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Folders of this machine, each with the name that stands for it in what is built. Where one
/// folder is inside another, the inner one comes later: the compiler takes the last that fits.
pub struct Remaps(Vec<(PathBuf, &'static str)>);

impl Remaps {
    /// For a build of the repository at `root` into `target`, by a compiler in `sysroot`.
    pub fn new(root: &Path, target: &Path, sysroot: &Path) -> Result<Self> {
        let mut remaps = vec![
            (root.to_path_buf(), "/hookcell"),
            (target.to_path_buf(), "/hookcell/target"),
            // Where rustup puts std's source, if the developer asked for it.
            (sysroot.join("lib/rustlib/src/rust"), "/rust"),
        ];
        for registry in registries()? {
            remaps.push((registry, "/registry"));
        }
        Ok(Self(remaps))
    }

    /// The flags, as the variable `CARGO_ENCODED_RUSTFLAGS` takes them.
    pub fn encoded_flags(&self) -> OsString {
        let mut flags = OsString::new();
        for (position, (from, to)) in self.0.iter().enumerate() {
            if position > 0 {
                flags.push("\u{1f}");
            }
            flags.push("--remap-path-prefix=");
            flags.push(from);
            flags.push("=");
            flags.push(to);
        }
        flags
    }
}

/// The folders with unpacked crates. Their names hold the registry's address, or that of a mirror.
fn registries() -> Result<Vec<PathBuf>> {
    let sources = cargo_home()?.join("registry/src");
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(&sources)
        .with_context(|| format!("{} cannot be read", sources.display()))?
    {
        folders.push(entry?.path());
    }
    folders.sort();
    Ok(folders)
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("CARGO_HOME") {
        return Ok(std::path::absolute(home)?);
    }
    let home = std::env::home_dir().context("this user has no home folder: set CARGO_HOME")?;
    Ok(home.join(".cargo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_folder_comes_later() {
        let remaps = Remaps(vec![
            (PathBuf::from("/a b"), "/hookcell"),
            (PathBuf::from("/a b/target"), "/hookcell/target"),
        ]);
        assert_eq!(
            remaps.encoded_flags(),
            "--remap-path-prefix=/a b=/hookcell\u{1f}--remap-path-prefix=/a b/target=/hookcell/target"
        );
    }
}
