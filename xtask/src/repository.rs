//! Where things are, and the cargo that works on them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

/// The folder of the workspace.
///
/// Asked for at run time, since cargo may run an xtask that was built when the clone had another
/// name.
pub fn root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("xtask finds the repository through cargo: run it as `cargo xtask`")?;
    let root = Path::new(&manifest)
        .parent()
        .context("xtask's own folder has no parent")?;
    Ok(root.to_path_buf())
}

/// Where cargo puts what it builds.
pub fn target_folder() -> Result<PathBuf> {
    match std::env::var_os("CARGO_TARGET_DIR") {
        // Relative to the folder that cargo was called in, as cargo itself takes it.
        Some(folder) => Ok(std::path::absolute(folder)?),
        None => Ok(root()?.join("target")),
    }
}

/// The hookcell program, where a build with optimisations puts it.
pub fn program() -> Result<PathBuf> {
    Ok(target_folder()?.join("release/hookcell"))
}

/// A cargo command on the workspace, as if typed by hand: without the variables that `cargo run`
/// set for xtask, which would make cargo build again what depends on them.
pub fn cargo() -> Result<Command> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()?);
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_for_this_run_only) {
            command.env_remove(name);
        }
    }
    Ok(command)
}

/// Whether cargo set this variable for the program that it runs.
fn is_for_this_run_only(name: &str) -> bool {
    name.starts_with("CARGO_PKG_")
        || matches!(
            name,
            "CARGO_MANIFEST_DIR"
                | "CARGO_MANIFEST_PATH"
                | "CARGO_BIN_NAME"
                | "CARGO_PRIMARY_PACKAGE"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace() {
        let manifest = std::fs::read_to_string(root().unwrap().join("Cargo.toml")).unwrap();
        assert!(manifest.contains("[workspace]"));
    }

    #[test]
    fn what_the_developer_set_is_kept() {
        assert!(is_for_this_run_only("CARGO_PKG_NAME"));
        assert!(is_for_this_run_only("CARGO_MANIFEST_DIR"));
        assert!(!is_for_this_run_only("CARGO_HOME"));
        assert!(!is_for_this_run_only("CARGO_TARGET_DIR"));
        assert!(!is_for_this_run_only("CARGO_BUILD_JOBS"));
    }
}
