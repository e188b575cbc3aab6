//! What can be done at a place, each with its checks: one part of a path, never followed.

use std::fs::File;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps};
use rustix::io::Errno;

use super::budget::{MOST_NAMES, Share};
use super::fault::Fault;
use super::place::{Found, Place, kind, look, may_be_folder, read_link};
use crate::config::Access;

/// How something is to be opened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Opening {
    pub(super) follow: bool,
    pub(super) create: bool,
    pub(super) exclusive: bool,
    pub(super) truncate: bool,
    /// Only a folder will do.
    pub(super) folder: bool,
    pub(super) read: bool,
    pub(super) write: bool,
}

/// What was opened, and its share of the budget.
#[derive(Debug)]
pub(super) enum Opened {
    Folder(Place, Share),
    File(OpenFile, Share),
}

/// An open file.
#[derive(Debug, Clone)]
pub(super) struct OpenFile {
    pub(super) handle: Arc<File>,
    pub(super) read: bool,
    pub(super) write: bool,
    /// Whether it may be changed: its times, if it is not open for writing.
    pub(super) changeable: bool,
}

/// A time to set: a point in time, now, or as it is.
pub(super) type Time = Timespec;

impl Place {
    /// Opens a file or a folder.
    pub(super) fn open(&self, path: &str, opening: Opening) -> Result<Opened, Fault> {
        let changes = opening.create || opening.truncate || opening.write;
        if opening.folder && (opening.create || opening.exclusive || opening.truncate) {
            return Err(Errno::INVAL.into());
        }
        if changes {
            self.writable(path)?;
        }
        let exclusive = opening.create && opening.exclusive;
        let found = self.find(path, opening.follow && !exclusive)?;
        let Some(name) = &found.name else {
            return self.open_itself(found, opening);
        };
        match found.kind() {
            Some(_) if exclusive => return Err(Errno::EXIST.into()),
            Some(FileType::Symlink) => return Err(Errno::LOOP.into()),
            Some(FileType::RegularFile) if found.as_folder => return Err(Errno::NOTDIR.into()),
            Some(FileType::RegularFile | FileType::Directory) => {}
            Some(_) => return Err(Fault::special(&found.path)),
            None if found.as_folder && opening.create => return Err(Errno::ISDIR.into()),
            None => {}
        }
        if changes {
            self.unprotected(&found, found.kind().is_some_and(may_be_folder))?;
        }
        let share = self.budget.open()?;
        if opening.create && found.stat.is_none() {
            self.budget.create()?;
        }
        let flags = flags(opening, found.as_folder);
        let handle = rustix::fs::openat(&*found.folder, name, flags, Mode::from_raw_mode(0o666))?;
        // What is there may have been swapped since it was looked at.
        match kind(&rustix::fs::fstat(&handle)?) {
            FileType::Directory => Ok(Opened::Folder(self.below(handle.into(), found.path), share)),
            FileType::RegularFile => {
                let file = OpenFile {
                    handle: Arc::new(handle.into()),
                    read: opening.read || !opening.write,
                    write: opening.write,
                    changeable: self.granted.access == Access::Write
                        && self.unprotected(&found, false).is_ok(),
                };
                Ok(Opened::File(file, share))
            }
            _ => Err(Fault::special(&found.path)),
        }
    }

    /// Opens the folder that the path ends in (`.`).
    fn open_itself(&self, found: Found, opening: Opening) -> Result<Opened, Fault> {
        if opening.create && opening.exclusive {
            return Err(Errno::EXIST.into());
        }
        if opening.create || opening.truncate || opening.write {
            return Err(Errno::ISDIR.into());
        }
        let share = self.budget.open()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&*found.folder, ".", flags, Mode::empty())?;
        Ok(Opened::Folder(self.below(handle.into(), found.path), share))
    }

    fn below(&self, handle: File, path: String) -> Place {
        Place {
            handle: Arc::new(handle),
            path,
            ..self.clone()
        }
    }

    /// What is at a path.
    pub(super) fn stat(&self, path: &str, follow: bool) -> Result<Stat, Fault> {
        let found = self.find(path, follow)?;
        let stat = found.stat.ok_or(Errno::NOENT)?;
        if found.as_folder && kind(&stat) != FileType::Directory {
            return Err(Errno::NOTDIR.into());
        }
        Ok(stat)
    }

    /// What a link holds. One that leads out by its first character is not told.
    pub(super) fn link_content(&self, path: &str) -> Result<String, Fault> {
        let found = self.find(path, false)?;
        let name = found.name.as_ref().ok_or(Errno::INVAL)?;
        let content = read_link(&found.folder, name)?;
        if content.starts_with('/') {
            return Err(Fault::outside(path));
        }
        Ok(content)
    }

    /// Makes a folder.
    pub(super) fn create_folder(&self, path: &str) -> Result<(), Fault> {
        self.writable(path)?;
        let found = self.find(path, false)?;
        let name = found.name.as_ref().ok_or(Errno::EXIST)?;
        // A folder on the way to what is protected is harmless as long as it is empty.
        if let Some(reason) = self.granted.deny.protects(&found.path, true, false) {
            return Err(Fault::protected(&found.path, reason));
        }
        if found.stat.is_some() {
            return Err(Errno::EXIST.into());
        }
        self.budget.create()?;
        rustix::fs::mkdirat(&*found.folder, name, Mode::from_raw_mode(0o777))?;
        Ok(())
    }

    /// Removes an empty folder.
    pub(super) fn remove_folder(&self, path: &str) -> Result<(), Fault> {
        self.remove(path, AtFlags::REMOVEDIR)
    }

    /// Removes a file or a link.
    pub(super) fn remove_file(&self, path: &str) -> Result<(), Fault> {
        self.remove(path, AtFlags::empty())
    }

    fn remove(&self, path: &str, flags: AtFlags) -> Result<(), Fault> {
        self.writable(path)?;
        let found = self.find(path, false)?;
        let name = found.name.as_ref().ok_or(Errno::INVAL)?;
        self.unprotected(&found, found.kind().is_none_or(may_be_folder))?;
        let kind = found.kind().ok_or(Errno::NOENT)?;
        if found.as_folder && kind != FileType::Directory {
            return Err(Errno::NOTDIR.into());
        }
        rustix::fs::unlinkat(&*found.folder, name, flags)?;
        Ok(())
    }

    /// Gives a file, a link or a folder another name.
    pub(super) fn rename(&self, path: &str, to: &Place, new_path: &str) -> Result<(), Fault> {
        let (old, new) = self.two(path, to, new_path)?;
        let kind = old.kind().ok_or(Errno::NOENT)?;
        self.unprotected(&old, may_be_folder(kind))?;
        self.unprotected(
            &new,
            may_be_folder(kind) || new.kind().is_some_and(may_be_folder),
        )?;
        if (old.as_folder || new.as_folder) && kind != FileType::Directory {
            return Err(Errno::NOTDIR.into());
        }
        let (name, new_name) = names(&old, &new)?;
        rustix::fs::renameat(&*old.folder, name, &*new.folder, new_name)?;
        Ok(())
    }

    /// Gives a file a second name.
    pub(super) fn link(&self, path: &str, to: &Place, new_path: &str) -> Result<(), Fault> {
        let (old, new) = self.two(path, to, new_path)?;
        let kind = old.kind().ok_or(Errno::NOENT)?;
        // Under its second name it could be changed.
        self.unprotected(&old, may_be_folder(kind))?;
        self.unprotected(&new, false)?;
        if kind != FileType::RegularFile {
            return Err(Errno::PERM.into());
        }
        if new.stat.is_some() {
            return Err(Errno::EXIST.into());
        }
        let (name, new_name) = names(&old, &new)?;
        self.budget.create()?;
        rustix::fs::linkat(&*old.folder, name, &*new.folder, new_name, AtFlags::empty())?;
        Ok(())
    }

    /// Makes a link that holds `content`.
    ///
    /// Others follow links too, the agent's own tools for one: a guest must not lay a link that
    /// leads where it may not go itself. So `..` may stand at the beginning alone, where what it
    /// means is known.
    pub(super) fn symlink(&self, content: &str, path: &str) -> Result<(), Fault> {
        self.writable(path)?;
        let found = self.find(path, false)?;
        let name = found.name.as_ref().ok_or(Errno::EXIST)?;
        self.unprotected(&found, true)?;
        if content.is_empty() || found.as_folder {
            return Err(Errno::NOENT.into());
        }
        let target = target(&found.path, content).ok_or_else(|| Fault::outside(content))?;
        if let Some(reason) = self.granted.deny.protects(&target, true, true) {
            return Err(Fault::protected(&target, reason));
        }
        self.budget.create()?;
        rustix::fs::symlinkat(content, &*found.folder, name)?;
        Ok(())
    }

    /// Sets when what is at a path was read and changed.
    pub(super) fn set_times(
        &self,
        path: &str,
        follow: bool,
        accessed: Time,
        modified: Time,
    ) -> Result<(), Fault> {
        self.writable(path)?;
        let found = self.find(path, follow)?;
        self.unprotected(&found, found.kind().is_none_or(may_be_folder))?;
        let times = Timestamps {
            last_access: accessed,
            last_modification: modified,
        };
        let name = found.name.as_deref().unwrap_or(".");
        rustix::fs::utimensat(&*found.folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(())
    }

    /// Sets when this folder, which is open, was read and changed.
    pub(super) fn set_own_times(&self, accessed: Time, modified: Time) -> Result<(), Fault> {
        self.set_times(".", false, accessed, modified)
    }

    /// Whether anything may be changed below this grant.
    fn writable(&self, path: &str) -> Result<(), Fault> {
        match self.granted.access {
            Access::Write => Ok(()),
            Access::Read => Err(Fault::read_only(path, &self.granted)),
        }
    }

    /// Whether what was found may be changed, removed, or replaced.
    fn unprotected(&self, found: &Found, folder: bool) -> Result<(), Fault> {
        match self.granted.deny.protects(&found.path, folder, true) {
            Some(reason) => Err(Fault::protected(&found.path, reason)),
            None => Ok(()),
        }
    }

    /// Two places of one grant. Between two grants nothing is moved, since each has patterns of
    /// its own; programs that rename then copy, part by part.
    fn two(&self, path: &str, to: &Place, new_path: &str) -> Result<(Found, Found), Fault> {
        self.writable(path)?;
        to.writable(new_path)?;
        if !Arc::ptr_eq(&self.granted, &to.granted) {
            return Err(Errno::XDEV.into());
        }
        Ok((self.find(path, false)?, to.find(new_path, false)?))
    }
}

/// Sets when an open file was read and changed.
pub(super) fn set_file_times(file: &File, accessed: Time, modified: Time) -> Result<(), Fault> {
    let times = Timestamps {
        last_access: accessed,
        last_modification: modified,
    };
    rustix::fs::futimens(file, &times)?;
    Ok(())
}

fn names<'a>(old: &'a Found, new: &'a Found) -> Result<(&'a str, &'a str), Fault> {
    match (&old.name, &new.name) {
        (Some(name), Some(new_name)) => Ok((name, new_name)),
        _ => Err(Errno::BUSY.into()),
    }
}

fn flags(opening: Opening, as_folder: bool) -> OFlags {
    // A pipe that is swapped in must not hold the thread until somebody opens its other end.
    let mut flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let write = opening.write || opening.truncate;
    flags |= match (opening.read || !opening.write, write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        (_, false) => OFlags::RDONLY,
    };
    for (wanted, flag) in [
        (opening.create, OFlags::CREATE),
        (opening.create && opening.exclusive, OFlags::EXCL),
        (opening.truncate, OFlags::TRUNC),
        (opening.folder || as_folder, OFlags::DIRECTORY),
    ] {
        if wanted {
            flags |= flag;
        }
    }
    flags
}

/// The path from the granted folder that a link at `path` with this content leads to.
fn target(path: &str, content: &str) -> Option<String> {
    if content.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    let mut names = 0;
    for part in content.split('/') {
        match part {
            "" | "." => {}
            ".." if names == 0 => {
                parts.pop()?;
            }
            ".." => return None,
            name => {
                parts.push(name);
                names += 1;
            }
        }
    }
    Some(parts.join("/"))
}

/// One name in a folder.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: Vec<u8>,
    pub(super) kind: FileType,
    pub(super) inode: u64,
}

/// The names in an open folder, in the system's order, without `.` and `..`.
///
/// # Errors
///
/// `ENOMEM` for more than any list has room for, or what the system says.
pub(super) fn entries(folder: &File) -> Result<Vec<Entry>, Errno> {
    // A granted folder is held in a way that it cannot be listed in.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(folder, ".", flags, Mode::empty())?;
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::new(handle)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // Not every filesystem says what kind of thing a name is.
        let kind = match (entry.file_type(), name.to_str()) {
            (FileType::Unknown, Ok(name)) => {
                look(folder, name)?.map_or(FileType::Unknown, |stat| kind(&stat))
            }
            (kind, _) => kind,
        };
        if entries.len() as u64 == MOST_NAMES {
            return Err(Errno::NOMEM);
        }
        entries.push(Entry {
            name: name.to_bytes().to_vec(),
            kind,
            inode: entry.ino(),
        });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn a_link_leads_where_its_content_says_or_nowhere() {
        for (path, content, expected) in [
            ("a", "b", Some("b")),
            ("x/a", "b/./c", Some("x/b/c")),
            ("x/y/a", "../b", Some("x/b")),
            ("x/a", "../.git//config/", Some(".git/config")),
            ("x/a", "..", Some("")),
            ("x/a", "../../b", None),
            ("a", "..", None),
            ("a", "/etc", None),
            ("x/a", "b/../c", None),
        ] {
            assert_eq!(
                target(path, content).as_deref(),
                expected,
                "{path} {content}"
            );
        }
    }
}
