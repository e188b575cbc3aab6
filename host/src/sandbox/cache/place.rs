//! Where the cache and its key are, and whether the place is safe to use.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use rustix::fs::{AtFlags, Mode, OFlags};

use super::entry::Key;

/// The variable that names another folder for the cache.
const CACHE_VARIABLE: &str = "HOOKCELL_CACHE_DIRECTORY";

/// The variable that names another folder for what hookcell must remember.
pub(in crate::sandbox) const STATE_VARIABLE: &str = "HOOKCELL_STATE_DIRECTORY";

const KEY_FILE: &str = "cache.key";

/// A folder that only this user can look into, opened.
#[derive(Debug)]
pub(in crate::sandbox) struct Folder {
    pub(super) path: PathBuf,
    pub(super) open: File,
}

impl Folder {
    /// Opens the folder, made if it is not there.
    ///
    /// # Errors
    ///
    /// When it is a symbolic link or no folder, belongs to another user, or lets others in.
    pub(in crate::sandbox) fn open(path: &Path) -> Result<Self, String> {
        use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};

        let shown = || path.display();
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| format!("`{}` cannot be made: {error}", parent.display()))?;
        }
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(format!("`{}` cannot be made: {error}", shown()));
            }
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open: File = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| match error {
                rustix::io::Errno::NOTDIR | rustix::io::Errno::LOOP => {
                    format!("`{}` is a symbolic link, or no folder", shown())
                }
                error => format!("`{}` cannot be opened: {error}", shown()),
            })?
            .into();
        let metadata = open
            .metadata()
            .map_err(|error| format!("`{}` cannot be looked at: {error}", shown()))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(format!("`{}` belongs to another user", shown()));
        }
        if metadata.mode() & 0o077 != 0 {
            return Err(format!(
                "`{}` lets other users in; name a folder that is closed to them (mode 700)",
                shown()
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            open,
        })
    }

    /// Opens one of its files for reading: a regular file of this user's, and no link to one.
    pub(super) fn read(&self, name: &str) -> io::Result<File> {
        use std::os::unix::fs::MetadataExt as _;

        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file: File = rustix::fs::openat(&self.open, name, flags, Mode::empty())?.into();
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("it is no regular file of this user's"));
        }
        Ok(file)
    }

    /// Writes a file so that it is there whole or not at all, whenever the process or the machine
    /// stops. An earlier one is replaced, unless `keep` says that the first one stays.
    pub(super) fn write(&self, name: &str, parts: &[&[u8]], keep: bool) -> io::Result<()> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(no_random)?;
        let temporary = format!("{}{}", super::TEMPORARY, hex::encode(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file: File =
            rustix::fs::openat(&self.open, &temporary, flags, Mode::RUSR | Mode::WUSR)?.into();
        let written = (|| {
            for part in parts {
                file.write_all(part)?;
            }
            file.sync_data()?;
            if keep {
                match rustix::fs::linkat(&self.open, &temporary, &self.open, name, AtFlags::empty())
                {
                    Err(rustix::io::Errno::EXIST) | Ok(()) => {}
                    Err(error) => return Err(error.into()),
                }
                self.remove(&temporary)
            } else {
                Ok(rustix::fs::renameat(
                    &self.open, &temporary, &self.open, name,
                )?)
            }
        })();
        if written.is_err() {
            let _ = self.remove(&temporary);
        }
        written
    }

    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.open, name, AtFlags::empty())?)
    }
}

/// The folder for compiled code: `$HOOKCELL_CACHE_DIRECTORY`, else `hookcell/compiled` in the user's folder
/// for caches.
pub(super) fn cache_folder() -> Result<PathBuf, String> {
    named(CACHE_VARIABLE).map_or_else(|| Ok(base()?.cache_dir().join("hookcell/compiled")), Ok)
}

/// The folder for what hookcell must remember: `$HOOKCELL_STATE_DIRECTORY`, else `hookcell` in the
/// user's folder for such things.
pub(in crate::sandbox) fn state_folder() -> Result<PathBuf, String> {
    if let Some(path) = named(STATE_VARIABLE) {
        return Ok(path);
    }
    let base = base()?;
    let folder = base.state_dir().unwrap_or_else(|| base.data_dir());
    Ok(folder.join("hookcell"))
}

/// The key, made on first use. It is not kept beside what it authenticates: a cache folder that
/// was handed around, filled by somebody else, proves nothing.
pub(super) fn key() -> Result<Key, String> {
    let path = state_folder()?;
    let folder = Folder::open(&path)?;
    let broken = |error: io::Error| {
        format!(
            "`{}` cannot be used: {error}",
            path.join(KEY_FILE).display()
        )
    };
    if let Ok(key) = read_key(&folder) {
        return Ok(key);
    }
    let mut fresh: Key = [0; 32];
    getrandom::fill(&mut fresh)
        .map_err(no_random)
        .map_err(broken)?;
    // Of several processes that come first at once, one's key stays.
    folder.write(KEY_FILE, &[&fresh], true).map_err(broken)?;
    if let Ok(key) = read_key(&folder) {
        return Ok(key);
    }
    // What is there is no key. What it has authenticated, if anything, is made anew.
    folder.write(KEY_FILE, &[&fresh], false).map_err(broken)?;
    read_key(&folder).map_err(broken)
}

fn no_random(error: getrandom::Error) -> io::Error {
    io::Error::other(format!("the machine has no random numbers: {error}"))
}

fn read_key(folder: &Folder) -> io::Result<Key> {
    let mut file = folder.read(KEY_FILE)?;
    let mut key = [0; 32];
    file.read_exact(&mut key)?;
    if file.read(&mut [0])? != 0 {
        return Err(io::Error::other("it is longer than a key"));
    }
    Ok(key)
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

fn base() -> Result<etcetera::base_strategy::Xdg, String> {
    etcetera::base_strategy::Xdg::new()
        .map_err(|error| format!("the user has no home folder: {error}"))
}
