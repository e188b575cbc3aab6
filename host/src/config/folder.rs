//! What the path of a grant means.

use std::path::{Path, PathBuf};

/// The absolute path that a grant's `path` means in this workspace.
///
/// # Errors
///
/// Why it means none, as the end of a sentence.
pub(crate) fn expand(path: &str, workspace: &Path) -> Result<PathBuf, String> {
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
