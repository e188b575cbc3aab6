//! Paths of a guest, walked part by part.
//!
//! Nothing here is asked of the system by a path of several parts: each part is looked up in the
//! folder that the part before it led to, which is held open, and is never followed if it is a
//! link. Links are read, and walked in the same way. So what is checked is what is used, whatever
//! is swapped meanwhile, and the path that the patterns are held against is the one that was gone.

use std::fs::File;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::budget::Budget;
use super::fault::Fault;
use super::granted::Granted;

/// The longest path, in bytes: Linux's own bound without its end mark.
const LONGEST_PATH: usize = 4095;

/// How many links one path may lead through, as on Linux.
const MOST_LINKS: usize = 40;

/// How many steps one path may take, so that links cannot make a short path a long way.
const MOST_STEPS: usize = 1024;

/// How a folder on the way is opened: to go through it, not to list it.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

/// An open folder, and where it is below its grant.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) granted: Arc<Granted>,
    pub(super) handle: Arc<File>,
    /// Its path from the granted folder, the parts separated by `/`; empty for that one itself.
    pub(super) path: String,
    pub(super) budget: Budget,
}

/// What a path leads to: a name in an open folder, or that folder itself.
#[derive(Debug)]
pub(super) struct Found {
    /// The folder that the name is in, or that is meant itself.
    pub(super) folder: Arc<File>,
    /// The name, of one part; `None` for the folder itself.
    pub(super) name: Option<String>,
    /// The path from the granted folder.
    pub(super) path: String,
    /// What is there, if anything is.
    pub(super) stat: Option<Stat>,
    /// Whether the path says that it means a folder (`a/`).
    pub(super) as_folder: bool,
}

impl Found {
    /// What kind of thing is there, if anything is.
    pub(super) fn kind(&self) -> Option<FileType> {
        self.stat.as_ref().map(kind)
    }
}

/// What kind of thing this is.
pub(super) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// A number of a [`Stat`], whose types differ from system to system; what is below 0 counts as 0.
pub(super) fn unsigned<T: TryInto<u64>>(number: T) -> u64 {
    number.try_into().unwrap_or(0)
}

/// Whether a pattern for folders is to be held against a thing of this kind: a link may lead to one.
pub(super) fn may_be_folder(kind: FileType) -> bool {
    matches!(kind, FileType::Directory | FileType::Symlink)
}

impl Place {
    /// Where `path` leads from here. Its last part is followed, if it is a link, when `follow`.
    ///
    /// # Errors
    ///
    /// A way out, a hidden path, or what the system says.
    pub(super) fn find(&self, path: &str, follow: bool) -> Result<Found, Fault> {
        if path.is_empty() {
            return Err(Errno::NOENT.into());
        }
        if path.len() > LONGEST_PATH {
            return Err(Errno::NAMETOOLONG.into());
        }
        if path.starts_with('/') {
            return Err(Fault::outside(path));
        }
        let mut walk = Walk {
            start: self,
            asked: path,
            names: Vec::new(),
            folder: Arc::clone(&self.handle),
            rest: Vec::new(),
            as_folder: false,
            links: 0,
            steps: 0,
        };
        walk.go_on_with(path, true);
        walk.run(follow)
    }
}

enum Part {
    Up,
    Name(String),
}

struct Walk<'a> {
    start: &'a Place,
    /// The path that the guest asked for.
    asked: &'a str,
    /// The names gone from the start to `folder`.
    names: Vec<String>,
    folder: Arc<File>,
    /// What is still to go, the next part at the end.
    rest: Vec<Part>,
    as_folder: bool,
    links: usize,
    steps: usize,
}

impl Walk<'_> {
    /// Puts a path, or a link's content, before what is still to go.
    fn go_on_with(&mut self, path: &str, is_end: bool) {
        if is_end && matches!(path.rsplit('/').next(), Some("" | "." | "..")) {
            self.as_folder = true;
        }
        let parts = path.split('/').rev().filter_map(|part| match part {
            "" | "." => None,
            ".." => Some(Part::Up),
            name => Some(Part::Name(name.to_owned())),
        });
        self.rest.extend(parts);
    }

    fn run(mut self, follow: bool) -> Result<Found, Fault> {
        while let Some(part) = self.rest.pop() {
            self.step()?;
            let name = match part {
                Part::Up => {
                    self.up()?;
                    continue;
                }
                Part::Name(name) => name,
            };
            let is_end = self.rest.is_empty();
            let stat = look(&self.folder, &name)?;
            let path = self.path(&name)?;
            let folder = !is_end || stat.as_ref().is_some_and(|stat| may_be_folder(kind(stat)));
            if let Some(reason) = self.start.granted.deny.hides_exactly(&path, folder) {
                return Err(Fault::hidden(&path, reason));
            }
            match stat.as_ref().map(kind) {
                Some(FileType::Symlink) if !is_end || follow || self.as_folder => {
                    self.through(&name, is_end)?;
                }
                _ if is_end => {
                    return Ok(Found {
                        folder: self.folder,
                        name: Some(name),
                        path,
                        stat,
                        as_folder: self.as_folder,
                    });
                }
                Some(FileType::Directory) => self.enter(name)?,
                Some(_) => return Err(Errno::NOTDIR.into()),
                None => return Err(Errno::NOENT.into()),
            }
        }
        Ok(Found {
            stat: Some(rustix::fs::fstat(&self.folder)?),
            path: join(&self.start.path, &self.names),
            folder: self.folder,
            name: None,
            as_folder: true,
        })
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(Errno::NAMETOOLONG.into());
        }
        Ok(())
    }

    fn path(&self, name: &str) -> Result<String, Fault> {
        let mut path = join(&self.start.path, &self.names);
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
        if path.len() > LONGEST_PATH {
            return Err(Errno::NAMETOOLONG.into());
        }
        Ok(path)
    }

    fn enter(&mut self, name: String) -> Result<(), Fault> {
        let flags = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&*self.folder, &name, flags, Mode::empty())?;
        self.folder = Arc::new(folder.into());
        self.names.push(name);
        Ok(())
    }

    /// Goes to the folder above, from the start anew: holding every folder on the way open would
    /// let a deep path take all of the host's descriptors.
    fn up(&mut self) -> Result<(), Fault> {
        let mut names = std::mem::take(&mut self.names);
        if names.pop().is_none() {
            return Err(Fault::outside(self.asked));
        }
        self.folder = Arc::clone(&self.start.handle);
        for name in names {
            self.step()?;
            self.enter(name)?;
        }
        Ok(())
    }

    fn through(&mut self, link: &str, is_end: bool) -> Result<(), Fault> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::LOOP.into());
        }
        let target = read_link(&self.folder, link)?;
        if target.starts_with('/') {
            return Err(Fault::outside(self.asked));
        }
        self.go_on_with(&target, is_end);
        Ok(())
    }
}

/// What a name in a folder is, if anything, itself and not what it may link to.
pub(super) fn look(folder: &File, name: &str) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a link holds.
pub(super) fn read_link(folder: &File, name: &str) -> Result<String, Errno> {
    rustix::fs::readlinkat(folder, name, Vec::new())?
        .into_string()
        .map_err(|_| Errno::ILSEQ)
}

fn join(start: &str, names: &[String]) -> String {
    let mut path = start.to_owned();
    for name in names {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(name);
    }
    path
}
