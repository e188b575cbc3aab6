//! What a preview1 module holds open, by the numbers that it knows it by.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustix::io::Errno;

use super::budget::Share;
use super::operation::{Entry, OpenFile, Opened};
use super::place::Place;

/// The first number behind standard input, output and error, which are wasmtime's.
const FIRST: u32 = 3;

/// The open files and folders of a module.
#[derive(Debug, Default)]
pub(super) struct Descriptors(BTreeMap<u32, Open>);

#[derive(Debug)]
pub(super) enum Open {
    Folder(Folder),
    File(File),
}

#[derive(Debug)]
pub(super) struct Folder {
    pub(super) place: Place,
    /// Whether it is one of those that the module was started with.
    pub(super) is_granted: bool,
    /// Its names, as they were when the module began to list them.
    pub(super) list: Option<List>,
    _share: Option<Share>,
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) entries: Arc<Vec<Entry>>,
    pub(super) _share: Share,
}

#[derive(Debug)]
pub(super) struct File {
    pub(super) open: OpenFile,
    pub(super) position: u64,
    pub(super) append: bool,
    /// Accepted and told; files never make anybody wait.
    pub(super) nonblocking: bool,
    _share: Share,
}

impl Descriptors {
    /// The granted folders, from the first number on.
    pub(super) fn new(roots: Vec<Place>) -> Self {
        let folder = |place| {
            Open::Folder(Folder {
                place,
                is_granted: true,
                list: None,
                _share: None,
            })
        };
        Self((FIRST..).zip(roots.into_iter().map(folder)).collect())
    }

    pub(super) fn get(&mut self, number: u32) -> Option<&mut Open> {
        self.0.get_mut(&number)
    }

    /// Adds what was opened, under the lowest free number.
    pub(super) fn add(&mut self, opened: Opened, append: bool, nonblocking: bool) -> u32 {
        let open = match opened {
            Opened::Folder(place, share) => Open::Folder(Folder {
                place,
                is_granted: false,
                list: None,
                _share: Some(share),
            }),
            Opened::File(open, share) => Open::File(File {
                open,
                position: 0,
                append,
                nonblocking,
                _share: share,
            }),
        };
        let free = (FIRST..)
            .find(|number| !self.0.contains_key(number))
            .expect("a run may hold far fewer open than there are numbers");
        self.0.insert(free, open);
        free
    }

    pub(super) fn close(&mut self, number: u32) -> Option<Open> {
        self.0.remove(&number)
    }

    /// Gives what is `from` the number `to`, whose own is closed.
    pub(super) fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        if !self.0.contains_key(&from) || !self.0.contains_key(&to) {
            return Err(Errno::BADF);
        }
        if let Some(open) = self.0.remove(&from) {
            self.0.insert(to, open);
        }
        Ok(())
    }
}
