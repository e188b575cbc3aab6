//! What a component may touch beyond its own streams: granted folders and variables.

use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::config::{Access, Permissions};
use crate::outcome::{Failure, FailureKind};

/// Adds the granted folders and variables to a guest's context.
///
/// A folder appears to the guest under its absolute path on the host, so that the paths that an
/// event names are the paths that the guest opens.
///
/// # Errors
///
/// [`FailureKind::GrantUnavailable`] when a granted folder is missing, is no folder, or cannot be
/// opened: a hook that cannot see what it was promised must not decide as if it had looked.
pub(super) fn apply(
    permissions: &Permissions,
    workspace: &Path,
    context: &mut WasiCtxBuilder,
) -> Result<(), Failure> {
    for grant in &permissions.filesystem {
        let unavailable = |why: String| {
            Failure::new(
                FailureKind::GrantUnavailable,
                format!("`permissions.filesystem` grants `{}`, {why}", grant.path),
            )
        };
        let path = expand(&grant.path, workspace).map_err(unavailable)?;
        let at = || format!("which is the folder `{}`", path.display());
        // Opens folders only, and says why it cannot before the engine is asked to.
        cap_std::fs::Dir::open_ambient_dir(&path, ambient_authority())
            .map_err(|error| unavailable(format!("{}, and it cannot be opened: {error}", at())))?;
        let name = path
            .to_str()
            .ok_or_else(|| unavailable(format!("{}, and its name is not UTF-8", at())))?;
        let access = match grant.access {
            Access::Read => FsPerms::ReadOnly,
            Access::Write => FsPerms::ReadWrite,
        };
        context
            .preopened_dir(&path, name, access)
            .map_err(|error| unavailable(format!("{}, and it cannot be opened: {error}", at())))?;
    }
    for name in &permissions.environment {
        if let Some(value) = std::env::var_os(name) {
            context.env(name, value.to_string_lossy());
        }
    }
    Ok(())
}

/// The absolute folder that a grant's `path` means in this workspace.
fn expand(path: &str, workspace: &Path) -> Result<PathBuf, String> {
    let home = || std::env::home_dir().ok_or_else(|| "and the user has no home folder".to_owned());
    let below = |start: PathBuf, rest: &str| {
        let rest = rest.trim_start_matches('/');
        if rest.is_empty() {
            start
        } else {
            start.join(rest)
        }
    };
    let expanded = if let Some(rest) = path.strip_prefix("${workspace}") {
        below(workspace.to_owned(), rest)
    } else if let Some(rest) = path.strip_prefix("${home}") {
        below(home()?, rest)
    } else if path == "~" || path.starts_with("~/") {
        below(home()?, &path[1..])
    } else {
        workspace.join(path)
    };
    std::path::absolute(expanded).map_err(|error| format!("which is no path: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_expand_and_relative_paths_start_at_the_workspace() {
        let workspace = Path::new("/workspace");
        let home = std::env::home_dir().unwrap();
        for (path, expected) in [
            ("${workspace}", workspace.to_owned()),
            ("${workspace}/", workspace.to_owned()),
            ("${workspace}/.git", workspace.join(".git")),
            ("notes", workspace.join("notes")),
            ("/etc", PathBuf::from("/etc")),
            ("~", home.clone()),
            ("~/x", home.join("x")),
            ("${home}/x", home.join("x")),
        ] {
            assert_eq!(expand(path, workspace), Ok(expected), "{path}");
        }
    }
}
