//! Compiled components, kept between processes.
//!
//! An entry holds machine code that the host will run, so it is used only if it carries a code
//! (HMAC-SHA256) that proves that this user's hookcell wrote it, for these bytes of a component
//! and this engine. The file is read into memory first: what is authenticated is what is used.
//! Anything else, a damaged file or another version's, counts as not there, and the component is
//! compiled again. A cache that cannot be used costs time and is never an error.

pub mod entry;
pub(super) mod place;

use std::fs::FileTimes;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use entry::{Description, Key, Subject};
use place::Folder;

/// The size that a cache is kept below, in bytes: 1 GiB.
pub const SIZE: u64 = 1 << 30;

/// What the names of entries end with.
const ENDING: &str = ".entry";

/// What the names of files that are being written begin with.
const TEMPORARY: &str = ".writing-";

/// The largest entry that is read, in bytes.
const LARGEST_ENTRY: u64 = 1 << 30;

/// How exactly it is remembered when an entry was last used.
const USED: Duration = Duration::from_secs(3600);

/// How long a file that is being written is left alone; its writer is long gone then.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A cache, opened.
#[derive(Debug)]
pub struct Cache {
    folder: Folder,
    key: Key,
}

/// One file of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last used, exact to an hour.
    pub used: SystemTime,
}

/// What a cache has for a component.
#[derive(Debug)]
pub struct Found {
    /// What came of compiling.
    pub description: Description,
    /// The machine code, authenticated.
    pub code: Bytes,
}

impl Cache {
    /// Opens the cache in `folder`, or in the user's own place: `$HOOKCELL_CACHE_DIRECTORY`, else
    /// `hookcell/compiled` in `$XDG_CACHE_HOME` or `~/.cache`.
    ///
    /// # Errors
    ///
    /// Why it cannot be used: the folder, or that of the key, is a link, is another user's, lets
    /// others in, or cannot be made.
    pub fn open(folder: Option<&Path>) -> Result<Self, String> {
        let path = folder.map_or_else(place::cache_folder, |path| Ok(path.to_owned()))?;
        Ok(Self {
            folder: Folder::open(&path)?,
            key: place::key()?,
        })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder.path
    }

    /// What is kept for `subject`, if it is authentic.
    pub fn get(&self, subject: Subject) -> Option<Found> {
        let name = name(subject);
        let bytes = Bytes::from(self.read(&name)?);
        let (description, code) = entry::read(&self.key, subject, &bytes)?;
        self.touch(&name);
        Some(Found {
            description,
            code: bytes.slice(code..),
        })
    }

    /// Keeps what came of compiling `subject`, and makes room for it. A full disk, or a folder that
    /// is gone, is told to the log: the next process compiles again.
    pub fn put(&self, subject: Subject, description: &Description, code: &[u8]) {
        let bytes = entry::write(&self.key, subject, description, code);
        if let Err(error) = self.folder.write(&name(subject), &[&bytes], false) {
            tracing::warn!("`{}` takes no entry: {error}", self.path().display());
        }
        self.prune(SIZE);
    }

    /// The entries, those that were used last first.
    pub fn entries(&self) -> Vec<Listed> {
        let mut entries: Vec<Listed> = self
            .files()
            .into_iter()
            .filter(|file| file.name.ends_with(ENDING))
            .collect();
        entries.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.name.cmp(&b.name)));
        entries
    }

    /// Whether an entry is authentic: written by this user's hookcell, and whole.
    pub fn verify(&self, entry: &Listed) -> bool {
        self.read(&entry.name)
            .and_then(|bytes| entry::authentic(&self.key, &bytes))
            .is_some_and(|subject| name(subject) == entry.name)
    }

    /// Removes an entry. Returns whether it is gone.
    pub fn remove(&self, entry: &Listed) -> bool {
        self.folder.remove(&entry.name).is_ok()
    }

    /// Removes those entries that were not used for longest, until the rest is at most `bytes`
    /// large, and what was left behind by processes that were killed. Returns what it removed.
    pub fn prune(&self, bytes: u64) -> Vec<Listed> {
        for file in self.files() {
            let age = file.used.elapsed().unwrap_or_default();
            if file.name.starts_with(TEMPORARY) && age > ABANDONED {
                let _ = self.folder.remove(&file.name);
            }
        }
        let mut sum = 0_u64;
        self.entries()
            .into_iter()
            .filter(|entry| {
                sum = sum.saturating_add(entry.bytes);
                sum > bytes && self.remove(entry)
            })
            .collect()
    }

    fn files(&self) -> Vec<Listed> {
        let Ok(folder) = rustix::fs::Dir::read_from(&self.folder.open) else {
            return Vec::new();
        };
        folder
            .filter_map(|entry| {
                let name = entry.ok()?.file_name().to_str().ok()?.to_owned();
                let metadata = self.folder.read(&name).ok()?.metadata().ok()?;
                Some(Listed {
                    bytes: metadata.len(),
                    used: metadata.modified().ok()?,
                    name,
                })
            })
            .collect()
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let file = self.folder.read(name).ok()?;
        let mut bytes = Vec::new();
        file.take(LARGEST_ENTRY).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Remembers that an entry was used.
    fn touch(&self, name: &str) {
        let Ok(file) = self.folder.read(name) else {
            return;
        };
        let now = SystemTime::now();
        let is_recent = |used: SystemTime| now.duration_since(used).is_ok_and(|age| age < USED);
        if !file
            .metadata()
            .and_then(|it| it.modified())
            .is_ok_and(is_recent)
        {
            // Whoever cannot say so loses the entry earlier, and nothing else.
            let _ = file.set_times(FileTimes::new().set_modified(now));
        }
    }
}

fn name(subject: Subject) -> String {
    format!(
        "{}-{}{ENDING}",
        hex::encode(subject.digest),
        hex::encode(&subject.engine[..8])
    )
}

/// Which cache a host uses.
#[derive(Debug, Clone, Default)]
pub enum Place {
    /// The user's own.
    #[default]
    User,
    /// One in this folder.
    Folder(PathBuf),
    /// None: whatever a process loads, it compiles.
    Nowhere,
}

impl Place {
    /// The cache, if there is one and it can be used; if it cannot, that is told to the log.
    pub(super) fn open(&self) -> Option<Cache> {
        let folder = match self {
            Self::User => None,
            Self::Folder(folder) => Some(folder.as_path()),
            Self::Nowhere => return None,
        };
        Cache::open(folder)
            .inspect_err(|why| tracing::warn!("nothing compiled is kept: {why}"))
            .ok()
    }
}
