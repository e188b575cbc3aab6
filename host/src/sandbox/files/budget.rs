//! What one run may take of the disk and of the host's memory with the files that it is granted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::fault::Fault;

/// Bytes that one run may write: 64 MiB.
const WRITTEN: u64 = 64 << 20;

/// What everything that is created counts as, so that names alone do not fill a disk.
const CREATED: u64 = 4 << 10;

/// Bytes that lists of folders may hold at once: 16 MiB, about 200,000 names.
const LISTED: u64 = 16 << 20;

/// What a name in a list counts as beside its length.
const ENTRY: u64 = 64;

/// The most names that any list can have room for.
pub(super) const MOST_NAMES: u64 = LISTED / ENTRY;

/// How many files and folders one run may hold open: hosts have few descriptors, for all guests.
const OPEN: u64 = 256;

/// What is left of one run's budget. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    written: Arc<AtomicU64>,
    listed: Arc<AtomicU64>,
    open: Arc<AtomicU64>,
}

impl Budget {
    pub(super) fn new() -> Self {
        let left = |amount| Arc::new(AtomicU64::new(amount));
        Self {
            written: left(WRITTEN),
            listed: left(LISTED),
            open: left(OPEN),
        }
    }

    /// Takes what writing `bytes` bytes needs.
    pub(super) fn write(&self, bytes: u64) -> Result<(), Fault> {
        take(&self.written, bytes).ok_or_else(|| {
            let what = format!("write more than {} MiB in one run", WRITTEN >> 20);
            Fault::too_much(&what, Errno::NOSPC)
        })
    }

    /// Takes what creating one file, folder or link needs.
    pub(super) fn create(&self) -> Result<(), Fault> {
        self.write(CREATED)
    }

    /// Takes what holding a list of names of these lengths needs.
    pub(super) fn list(&self, lengths: impl Iterator<Item = usize>) -> Result<Share, Fault> {
        let bytes = lengths.map(|length| length as u64 + ENTRY).sum();
        Share::of(&self.listed, bytes).ok_or_else(|| {
            let what = format!("hold lists of more than {} MiB of names", LISTED >> 20);
            Fault::too_much(&what, Errno::NOMEM)
        })
    }

    /// Takes what holding one more file or folder open needs.
    pub(super) fn open(&self) -> Result<Share, Fault> {
        Share::of(&self.open, 1).ok_or_else(|| {
            let what = format!("hold more than {OPEN} files and folders open");
            Fault::too_much(&what, Errno::MFILE)
        })
    }
}

/// A part of a budget, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    left: Arc<AtomicU64>,
    amount: u64,
}

impl Share {
    fn of(left: &Arc<AtomicU64>, amount: u64) -> Option<Self> {
        take(left, amount).map(|()| Self {
            left: Arc::clone(left),
            amount,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.left.fetch_add(self.amount, Ordering::Relaxed);
    }
}

fn take(left: &AtomicU64, amount: u64) -> Option<()> {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(amount)
    })
    .ok()
    .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_and_created_is_one_sum() {
        let budget = Budget::new();
        budget.create().unwrap();
        budget.clone().write(WRITTEN - CREATED).unwrap();
        assert!(matches!(
            budget.write(1),
            Err(Fault::Denied(Errno::NOSPC, _))
        ));
        budget.write(0).unwrap();
    }

    #[test]
    fn a_list_gives_back_what_it_held() {
        let budget = Budget::new();
        let half = usize::try_from(LISTED / 2 - ENTRY).unwrap();
        let first = budget.list([half].into_iter()).unwrap();
        let _second = budget.list([half].into_iter()).unwrap();
        assert!(matches!(
            budget.list([0].into_iter()),
            Err(Fault::Denied(Errno::NOMEM, _))
        ));
        drop(first);
        budget.list([half].into_iter()).unwrap();
    }
}
