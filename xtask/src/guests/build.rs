//! Building one guest, to the same bytes on each machine.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result};

use super::remap::Remaps;
use super::table::{Guest, Target};
use super::toolchain::Toolchain;
use crate::{process, repository};

/// Builds guests with one toolchain.
pub struct Builder<'a> {
    toolchain: &'a Toolchain,
    target_folder: PathBuf,
    remaps: Remaps,
}

impl<'a> Builder<'a> {
    /// Makes ready: fetches the dependencies and finds the paths to keep out.
    pub fn new(toolchain: &'a Toolchain) -> Result<Self> {
        let mut fetch = repository::cargo()?;
        fetch.args(["fetch", "--quiet", "--locked"]);
        process::run(&mut fetch).context("the guests' dependencies could not be fetched")?;

        // A folder for each compiler: two in one would each undo the other's work.
        let target_folder = repository::target_folder()?
            .join("guests")
            .join(toolchain.kind.to_string());
        let sysroot = process::output(Command::new(&toolchain.rustc).args(["--print", "sysroot"]))?;
        let remaps = Remaps::new(
            &repository::root()?,
            &target_folder,
            sysroot.trim().as_ref(),
        )?;
        Ok(Self {
            toolchain,
            target_folder,
            remaps,
        })
    }

    /// The bytes of a guest.
    ///
    /// Each is built by itself, since packages built together share the features of their
    /// dependencies, so that one plugin could change another's bytes.
    pub fn build(&self, guest: &Guest) -> Result<Vec<u8>> {
        let mut command = repository::cargo()?;
        forget_the_developers_settings(&mut command);
        command
            .args(["build", "--quiet", "--locked", "--profile", "guest"])
            .args(["--package", guest.package, "--bin", guest.package])
            .args(["--target", guest.target.triple()])
            .arg("--target-dir")
            .arg(&self.target_folder)
            .env("RUSTC", &self.toolchain.rustc)
            .env("CARGO_ENCODED_RUSTFLAGS", self.remaps.encoded_flags())
            .env("CARGO_INCREMENTAL", "0");
        process::run(&mut command).with_context(|| format!("{} does not build", guest.package))?;
        let built = self.built_file(guest.package, guest.target);
        std::fs::read(&built).with_context(|| format!("{} cannot be read", built.display()))
    }

    fn built_file(&self, package: &str, target: Target) -> PathBuf {
        self.target_folder
            .join(target.triple())
            .join("guest")
            .join(format!("{package}.wasm"))
    }
}

/// Settings that change what is compiled are the repository's alone.
fn forget_the_developers_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(changes_what_is_compiled) {
            command.env_remove(name);
        }
    }
}

fn changes_what_is_compiled(name: &str) -> bool {
    name.starts_with("CARGO_PROFILE_")
        || name.starts_with("CARGO_BUILD_")
        || name.starts_with("CARGO_TARGET_")
        || name.starts_with("RUSTC_")
        || matches!(name, "RUSTC" | "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_change_bytes_are_known() {
        for name in [
            "CARGO_PROFILE_GUEST_OPT_LEVEL",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_TARGET_WASM32_WASIP2_LINKER",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
        ] {
            assert!(changes_what_is_compiled(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "PATH",
            "RUSTUP_TOOLCHAIN",
            "CARGO_NET_OFFLINE",
        ] {
            assert!(!changes_what_is_compiled(name), "{name}");
        }
    }
}
