//! What preview1's functions do with the files of a module.

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use rustix::fs::Stat;
use rustix::io::Errno;
use wasmtime_wasi::p1::types::{
    self, Ciovec, Dircookie, Event, EventFdReadwrite, Eventrwflags, Eventtype, Fd, Filesize, Iovec,
    Size, Subscription, SubscriptionU,
};
use wiggle::{GuestMemory, GuestPtr};

use super::super::blocking;
use super::super::descriptors::{Folder, List, Open};
use super::super::fault::Fault;
use super::super::operation::{Entry, OpenFile, entries};
use super::super::place::{Place, unsigned};
use super::Result;
use super::convert::{number, system};
use super::memory::{first_piece, first_place};
use crate::sandbox::store::ModuleState;

/// The most subscriptions that are looked through for files in one call.
const MOST_SUBSCRIPTIONS: Size = 4096;

impl ModuleState {
    /// The folder that a descriptor stands for.
    pub(super) fn place(&mut self, fd: Fd) -> Result<Place> {
        Ok(self.folder(fd)?.place.clone())
    }

    pub(super) fn folder(&mut self, fd: Fd) -> Result<&mut Folder> {
        match self.files.open.get(fd.into()) {
            Some(Open::Folder(folder)) => Ok(folder),
            Some(Open::File(_)) => Err(types::Errno::Notdir.into()),
            None => Err(types::Errno::Badf.into()),
        }
    }

    pub(super) async fn perform<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        let result = blocking(work).await;
        self.settle(result)
    }

    pub(super) fn settle<T>(&self, result: Result<T, Fault>) -> Result<T> {
        self.files
            .settle(result)
            .map_err(|errno| number(errno).into())
    }

    pub(super) async fn write_file(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Ciovec]>,
        at: Option<Filesize>,
    ) -> Result<Size> {
        let Some(Open::File(file)) = self.files.open.get(fd.into()) else {
            return Err(types::Errno::Badf.into());
        };
        let (open, append) = (file.open.clone(), file.append);
        let start = at.unwrap_or(file.position);
        let bytes = first_piece(memory, pieces)?;
        let spent = self.files.budget.write(bytes.len() as u64);
        self.settle(spent)?;
        let (written, end) = self
            .perform(move || write_piece(&open, &bytes, start, append))
            .await?;
        if let (None, Some(Open::File(file))) = (at, self.files.open.get(fd.into())) {
            file.position = end;
        }
        Ok(written)
    }

    pub(super) async fn read_file(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Iovec]>,
        at: Option<Filesize>,
    ) -> Result<Size> {
        let Some(Open::File(file)) = self.files.open.get(fd.into()) else {
            return Err(types::Errno::Badf.into());
        };
        let open = file.open.clone();
        let start = at.unwrap_or(file.position);
        let target = first_place(memory, pieces)?;
        let bytes = self
            .perform(move || {
                if !open.read {
                    return Err(Errno::BADF.into());
                }
                let mut bytes = vec![0; target.len() as usize];
                let read = open.handle.read_at(&mut bytes, start).map_err(system)?;
                bytes.truncate(read);
                Ok(bytes)
            })
            .await?;
        let length = Size::try_from(bytes.len())?;
        memory.copy_from_slice(&bytes, target.as_ptr().as_array(length))?;
        if let (None, Some(Open::File(file))) = (at, self.files.open.get(fd.into())) {
            file.position = start.saturating_add(length.into());
        }
        Ok(length)
    }

    /// The events of those subscriptions that wait for a file, which never has to be waited for;
    /// `None` if there are none.
    pub(super) fn ready_files(
        &mut self,
        memory: &mut GuestMemory<'_>,
        subscriptions: GuestPtr<Subscription>,
        events: GuestPtr<Event>,
        count: Size,
    ) -> Result<Option<Size>> {
        if count > MOST_SUBSCRIPTIONS {
            return Err(types::Errno::Inval.into());
        }
        let mut ready = Vec::new();
        for subscription in subscriptions.as_array(count).iter() {
            let subscription = memory.read(subscription?)?;
            let (fd, kind) = match &subscription.u {
                SubscriptionU::FdRead(it) => (it.file_descriptor, Eventtype::FdRead),
                SubscriptionU::FdWrite(it) => (it.file_descriptor, Eventtype::FdWrite),
                SubscriptionU::Clock(_) => continue,
            };
            if let Some(Open::File(_)) = self.files.open.get(fd.into()) {
                ready.push(Event {
                    userdata: subscription.userdata,
                    error: types::Errno::Success,
                    type_: kind,
                    fd_readwrite: EventFdReadwrite {
                        nbytes: 1,
                        flags: Eventrwflags::empty(),
                    },
                });
            }
        }
        if ready.is_empty() {
            return Ok(None);
        }
        let places = events.as_array(count);
        let number = Size::try_from(ready.len())?;
        for (event, place) in ready.into_iter().zip(places.iter()) {
            memory.write(place?, event)?;
        }
        Ok(Some(number))
    }

    /// The names of an open folder from `cookie` on: listed anew from the first on, then as they
    /// were, so that none is left out or told twice.
    pub(super) async fn list(
        &mut self,
        fd: Fd,
        cookie: Dircookie,
    ) -> Result<(Arc<Vec<Entry>>, Stat)> {
        let folder = self.folder(fd)?;
        let place = folder.place.clone();
        let known = folder.list.as_ref().map(|list| Arc::clone(&list.entries));
        if let Some(entries) = known.filter(|_| cookie > 0) {
            let stat = self
                .perform(move || Ok(rustix::fs::fstat(&place.handle)?))
                .await?;
            return Ok((entries, stat));
        }
        folder.list = None;
        let (list, stat) = self
            .perform(move || {
                let stat = rustix::fs::fstat(&place.handle)?;
                let entries = entries(&place.handle)?;
                let share = place.budget.list(entries.iter().map(|it| it.name.len()))?;
                let list = List {
                    entries: Arc::new(entries),
                    _share: share,
                };
                Ok((list, stat))
            })
            .await?;
        let entries = Arc::clone(&list.entries);
        self.folder(fd)?.list = Some(list);
        Ok((entries, stat))
    }
}

/// Writes once, and says how much, and where that ended.
fn write_piece(
    file: &OpenFile,
    bytes: &[u8],
    start: u64,
    append: bool,
) -> Result<(Size, u64), Fault> {
    if !file.write {
        return Err(Errno::BADF.into());
    }
    let (written, end) = if append {
        let written = write_at_end(&file.handle, bytes)?;
        (written, unsigned(rustix::fs::fstat(&file.handle)?.st_size))
    } else {
        let written = file.handle.write_at(bytes, start).map_err(system)?;
        (written, start.saturating_add(written as u64))
    };
    Ok((Size::try_from(written).map_err(|_| Errno::OVERFLOW)?, end))
}

#[cfg(target_os = "linux")]
fn write_at_end(file: &std::fs::File, bytes: &[u8]) -> Result<usize, Errno> {
    let pieces = [std::io::IoSlice::new(bytes)];
    rustix::io::pwritev2(file, &pieces, 0, rustix::io::ReadWriteFlags::APPEND)
}

/// Not in one step where the system has none for it: others may write in between.
#[cfg(not(target_os = "linux"))]
fn write_at_end(file: &std::fs::File, bytes: &[u8]) -> Result<usize, Errno> {
    rustix::io::pwrite(file, bytes, unsigned(rustix::fs::fstat(file)?.st_size))
}
