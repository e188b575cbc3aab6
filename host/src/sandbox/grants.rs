//! What a component may touch beyond its own streams: granted folders and variables.

use std::path::Path;

use cap_std::ambient_authority;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use crate::config::{Access, Permissions, expand};
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
