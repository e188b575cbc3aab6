//! Granted folders: each is opened once, and held against its path at every run.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cap_std::ambient_authority;

use crate::config::{Access, Deny, FilesystemGrant, expand};
use crate::outcome::{Failure, FailureKind};

/// The granted folders that a host has opened, by their paths.
#[derive(Debug, Default)]
pub struct Folders {
    opened: Mutex<HashMap<PathBuf, Arc<File>>>,
    denies: Mutex<HashMap<Vec<String>, Arc<Deny>>>,
}

/// A granted folder as one run has it.
#[derive(Debug)]
pub(super) struct Granted {
    /// The open folder.
    pub(super) handle: Arc<File>,
    /// The folder's absolute path on the host, under which the guest sees it too, so that the
    /// paths that an event names are the paths that the guest opens.
    pub(super) name: String,
    /// The folder as hooks.json has it.
    written: String,
    pub(super) access: Access,
    pub(super) deny: Arc<Deny>,
}

impl Granted {
    /// The member of `permissions` that grants the folder with this access.
    pub(super) fn member(&self, access: &str) -> String {
        let path = serde_json::Value::from(self.written.as_str());
        format!(r#""filesystem": [{{"path": {path}, "access": "{access}"}}]"#)
    }
}

impl Folders {
    /// The folders of these grants, opened now or before.
    ///
    /// # Errors
    ///
    /// [`FailureKind::GrantUnavailable`] when a granted folder is missing, is no folder, cannot be
    /// opened, or is another one than before: a hook that cannot see what it was promised must not
    /// decide as if it had looked.
    pub(super) fn open(
        &self,
        grants: &[FilesystemGrant],
        workspace: &Path,
    ) -> Result<Vec<Arc<Granted>>, Failure> {
        grants
            .iter()
            .map(|grant| self.open_one(grant, workspace).map(Arc::new))
            .collect::<Result<_, _>>()
            .map_err(|message| Failure::new(FailureKind::GrantUnavailable, message))
    }

    fn open_one(&self, grant: &FilesystemGrant, workspace: &Path) -> Result<Granted, String> {
        let unavailable =
            |why: String| format!("`permissions.filesystem` grants `{}`, {why}", grant.path);
        let path = expand(&grant.path, workspace).map_err(unavailable)?;
        let is = |why: &str| {
            unavailable(format!(
                "which is the folder `{}`, and {why}",
                path.display()
            ))
        };
        let handle = self
            .handle(&path)
            .map_err(|error| is(&format!("it cannot be opened: {error}")))?;
        let now = std::fs::metadata(&path)
            .map_err(|error| is(&format!("it cannot be opened: {error}")))?;
        let first = handle
            .metadata()
            .map_err(|error| is(&format!("it cannot be looked at: {error}")))?;
        if identity(&now) != identity(&first) {
            return Err(is(
                "it is another folder than when the hook was first run; if that is meant, start hookcell again",
            ));
        }
        let name = path.to_str().ok_or_else(|| is("its name is not UTF-8"))?;
        Ok(Granted {
            handle,
            name: name.to_owned(),
            written: grant.path.clone(),
            access: grant.access,
            deny: self.deny(&grant.deny),
        })
    }

    fn handle(&self, path: &Path) -> std::io::Result<Arc<File>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = opened.get(path) {
            return Ok(Arc::clone(handle));
        }
        let folder = cap_std::fs::Dir::open_ambient_dir(path, ambient_authority())?;
        let handle = Arc::new(folder.into_std_file());
        opened.insert(path.to_owned(), Arc::clone(&handle));
        Ok(handle)
    }

    fn deny(&self, patterns: &[String]) -> Arc<Deny> {
        let mut denies = self.denies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(deny) = denies.get(patterns) {
            return Arc::clone(deny);
        }
        let deny = Arc::new(Deny::new(patterns));
        denies.insert(patterns.to_vec(), Arc::clone(&deny));
        deny
    }
}

/// What tells a folder from every other one, as long as it is open.
fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_opened_once_and_another_in_its_place_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        let grants = [FilesystemGrant {
            path: path.to_str().unwrap().to_owned(),
            access: Access::Read,
            deny: Vec::new(),
        }];
        let folders = Folders::default();
        let first = folders.open(&grants, Path::new("/")).unwrap();
        let second = folders.open(&grants, Path::new("/")).unwrap();
        assert!(Arc::ptr_eq(&first[0].handle, &second[0].handle));
        std::fs::rename(&path, temporary.path().join("moved")).unwrap();
        std::fs::create_dir(&path).unwrap();
        let failure = folders.open(&grants, Path::new("/")).unwrap_err();
        assert_eq!(failure.kind, FailureKind::GrantUnavailable);
        assert!(failure.message.contains("another folder"), "{failure}");
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(temporary.path().join("moved"), &path).unwrap();
        folders.open(&grants, Path::new("/")).unwrap();
    }
}
