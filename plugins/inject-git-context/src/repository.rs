//! What HEAD is, read from the files of a repository: whoever wrote them may be hostile, so names
//! and ids are checked before they are used as paths or told to a model.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The most that is read of a file of the repository; a packed-refs of 16 MiB holds 200,000 refs.
const LARGEST: u64 = 16 << 20;

/// What HEAD names.
#[derive(Debug, PartialEq)]
pub enum Head {
    /// A branch, and its commit if it has one.
    Branch {
        /// Without `refs/heads/`.
        name: String,
        /// The full id.
        commit: Option<String>,
    },
    /// A commit.
    Detached {
        /// The full id.
        commit: String,
    },
}

/// The HEAD of the repository in this folder; `None` if there is no repository.
pub fn head(folder: &Path) -> Result<Option<Head>, String> {
    let Some(git) = git_folder(folder)? else {
        return Ok(None);
    };
    let Some(head) = read(&git.join("HEAD"))? else {
        return Ok(None);
    };
    let head = head.trim_end();
    let Some(reference) = head.strip_prefix("ref: ") else {
        return Ok(is_id(head).then(|| Head::Detached {
            commit: head.to_owned(),
        }));
    };
    let Some(name) = reference
        .strip_prefix("refs/heads/")
        .filter(|name| is_branch(name))
    else {
        return Ok(None);
    };
    // A linked worktree keeps its HEAD to itself and shares the branches.
    let common = match read(&git.join("commondir"))? {
        Some(common) => git.join(common.trim_end()),
        None => git,
    };
    let commit = match read(&common.join(reference))? {
        Some(id) => Some(id),
        None => read(&common.join("packed-refs"))?.and_then(|packed| packed_id(&packed, reference)),
    };
    let commit = commit
        .map(|id| id.trim_end().to_owned())
        .filter(|id| is_id(id));
    Ok(Some(Head::Branch {
        name: name.to_owned(),
        commit,
    }))
}

/// The folder with the repository's files: `.git`, or what a worktree's file `.git` points to.
fn git_folder(folder: &Path) -> Result<Option<PathBuf>, String> {
    let git = folder.join(".git");
    match fs::metadata(&git) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(git)),
        Ok(_) => {
            let target = read(&git)?;
            Ok(target
                .as_deref()
                .and_then(|text| text.strip_prefix("gitdir: "))
                .map(|path| folder.join(path.trim_end())))
        }
        Err(error) => absent(&git, &error).map(|_| None),
    }
}

/// The text of a file; `None` if there is none.
fn read(path: &Path) -> Result<Option<String>, String> {
    let text = fs::File::open(path).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    match text {
        Ok(text) => Ok(Some(text)),
        Err(error) => absent(path, &error).map(|_| None),
    }
}

fn absent(path: &Path, error: &io::Error) -> Result<(), String> {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(()),
        _ => Err(format!(
            "`{}` cannot be read; `permissions.filesystem` must grant it with access \"read\": {error}",
            path.display()
        )),
    }
}

fn packed_id(packed: &str, reference: &str) -> Option<String> {
    packed.lines().find_map(|line| {
        let (id, name) = line.split_once(' ')?;
        (name == reference).then(|| id.to_owned())
    })
}

/// A commit's id: SHA-1 or SHA-256.
fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A branch's name as git allows it, as far as it matters: no way out of `refs/heads`, nothing
/// that is not printed, and no longer than a name is.
fn is_branch(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.'))
        && !name.contains("..")
        && !name.contains(|c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_no_branches() {
        for name in ["main", "feature/x", "a-b_c.d", "größe"] {
            assert!(is_branch(name), "{name}");
        }
        for name in [
            "", "..", "../x", "a/../b", "/etc", "a//b", ".hidden", "a b", "a\nb", "a\u{1b}b", "a:b",
        ] {
            assert!(!is_branch(name), "{name}");
        }
        assert!(!is_branch(&"x".repeat(201)));
    }

    #[test]
    fn ids_are_whole() {
        assert!(is_id(&"0".repeat(40)) && is_id(&"aF".repeat(32)));
        assert!(!is_id(&"0".repeat(39)) && !is_id(&"g".repeat(40)) && !is_id("ref: x"));
    }

    #[test]
    fn packed_refs_are_found_by_their_whole_name() {
        let packed = "# pack-refs with: peeled\nid1 refs/heads/main-2\nid2 refs/heads/main\n^id3\n";
        assert_eq!(packed_id(packed, "refs/heads/main").as_deref(), Some("id2"));
        assert_eq!(packed_id(packed, "refs/heads/mai"), None);
    }
}
