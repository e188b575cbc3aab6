//! Where the stores are: one folder that is the user's alone, and a file in it for each hook and
//! project.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::config::ComponentSource;
use crate::sandbox::cache::place::{Folder, STATE_VARIABLE, state_folder};

/// The folder of all stores, in the folder for what hookcell must remember.
const FOLDER: &str = "state";

/// The file of a component's store in a project; its folder is there, and checked.
///
/// A hook is known by where its component is, not by what it holds, so that a new version finds
/// what the old one kept. Hooks of one component in one project share the store.
pub(super) fn file(source: &ComponentSource, project: &Path) -> Result<PathBuf, String> {
    let folder = state_folder().and_then(|above| prepare(&above))?;
    Ok(folder.join(file_name(source, project)))
}

fn file_name(source: &ComponentSource, project: &Path) -> String {
    // A project that is reached by several paths is one project.
    let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
    let (kind, identity, stem) = match source {
        ComponentSource::Builtin(name) => ("builtin", OsStr::new(name), OsStr::new(name)),
        ComponentSource::File(path) => (
            "file",
            path.as_os_str(),
            path.file_stem().unwrap_or_default(),
        ),
    };
    let digest = Sha256::new()
        .chain_update(project.as_os_str().as_bytes())
        // No path holds a NUL.
        .chain_update([0])
        .chain_update(kind)
        .chain_update([0])
        .chain_update(identity.as_bytes())
        .finalize();
    // For a person who looks into the folder.
    let readable: String = stem
        .to_string_lossy()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(40)
        .collect();
    format!("{readable}-{}.sqlite", hex::encode(&digest[..16]))
}

/// Makes the folder if it is not there, and sees to it that nobody else can reach into it.
fn prepare(above: &Path) -> Result<PathBuf, String> {
    let folder = above.join(FOLDER);
    let unusable =
        |why: String| format!("its folder cannot be used ({why}); {STATE_VARIABLE} names another");
    Folder::open(above).map_err(unusable)?;
    Folder::open(&folder).map_err(unusable)?;
    // The database refuses links anywhere in its path; those above the folder are the user's own.
    std::fs::canonicalize(&folder).map_err(|error| unusable(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn each_component_has_a_file_in_each_project() {
        let name = |source: ComponentSource, project: &str| file_name(&source, Path::new(project));
        let file = |path: &str| ComponentSource::File(path.into());
        let one = name(file("/x/count.wasm"), "/project");
        assert!(
            one.starts_with("count-") && one.ends_with(".sqlite"),
            "{one}"
        );
        assert_eq!(one.len(), "count-.sqlite".len() + 32);
        assert_eq!(name(file("/x/count.wasm"), "/project"), one);
        for other in [
            name(file("/x/count.wasm"), "/project2"),
            name(file("/y/count.wasm"), "/project"),
            name(file("/x/../x/c\u{1b}ount/.wasm"), "/project"),
            name(ComponentSource::Builtin("/x/count.wasm".into()), "/project"),
        ] {
            assert_ne!(other, one);
            assert!(other.bytes().all(|it| it.is_ascii_graphic() && it != b'/'));
        }
    }

    #[test]
    fn the_folder_is_made_for_the_user_alone() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("a/b");
        let prepared = prepare(&folder).unwrap();
        let inner = folder.join("state");
        assert_eq!(prepared, std::fs::canonicalize(&inner).unwrap());
        for folder in [&folder, &inner] {
            let mode = std::fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        assert_eq!(prepare(&folder), Ok(prepared));
    }

    #[test]
    fn a_folder_that_others_may_reach_into_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("x");
        prepare(&folder).unwrap();
        for open in [folder.join("state"), folder.clone()] {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o750)).unwrap();
            assert_eq!(
                prepare(&folder),
                Err(format!(
                    "its folder cannot be used (`{}` lets other users in; name a folder that is closed to them (mode 700)); \
                     HOOKCELL_STATE_DIRECTORY names another",
                    open.display()
                ))
            );
        }
        let link = above.path().join("link");
        std::os::unix::fs::symlink(above.path(), &link).unwrap();
        assert!(prepare(&link).unwrap_err().contains("is a symbolic link"));
        let file = above.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(prepare(&file).unwrap_err().contains("or no folder"));
        assert!(
            prepare(&file.join("below"))
                .unwrap_err()
                .contains("cannot be made")
        );
    }
}
