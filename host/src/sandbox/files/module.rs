//! WASI preview1 for modules: files are those of this folder, the rest is wasmtime's own.
//!
//! wasmtime keeps the descriptors of a module to itself, so that files cannot be checked in front
//! of it: a module's files never reach it. Its trait of preview1's functions is implemented here
//! for the module's state; with standard input, output and error, and with all that is no file,
//! wasmtime's implementation is asked.

mod convert;
mod memory;
mod work;

use std::sync::Arc;

use rustix::fs::FileType;
use rustix::io::Errno;
use wasmtime::Linker;
use wasmtime_wasi::p1::types::{
    self, Advice, Ciovec, Clockid, Dircookie, Event, Exitcode, Fd, Fdflags, Fdstat, Filedelta,
    Filesize, Filestat, Filetype, Fstflags, Iovec, Lookupflags, Oflags, Prestat, PrestatDir,
    Riflags, Rights, Roflags, Sdflags, Siflags, Signal, Size, Subscription, Timestamp, Whence,
};
use wasmtime_wasi::p1::wasi_snapshot_preview1::{self, WasiSnapshotPreview1};
use wiggle::{GuestMemory, GuestPtr};

use self::convert::{
    attributes, file_rights, file_type, folder_rights, follows, number, synchronized, system, times,
};
use self::memory::text;
use super::descriptors::Open;
use super::operation::{self, Entry, Opening};
use super::place::unsigned;
use crate::sandbox::store::ModuleState;

type Result<T, E = types::Error> = std::result::Result<T, E>;

/// Links preview1 as it is here.
pub(in crate::sandbox) fn link_module(linker: &mut Linker<ModuleState>) -> wasmtime::Result<()> {
    wasi_snapshot_preview1::add_to_linker(linker, |state| state)
}

/// What a descriptor stands for, if it is one of the files here; else the function's result is
/// what wasmtime says, whose descriptors all others are.
macro_rules! of_files {
    ($state:ident, $fd:ident, $open:pat => $mine:expr, else $other:expr) => {
        match $state.files.open.get($fd.into()) {
            Some($open) => $mine,
            Some(_) => return Err(types::Errno::Badf.into()),
            None => return $other,
        }
    };
}

impl WasiSnapshotPreview1 for ModuleState {
    fn set_hostcall_fuel(&mut self, fuel: usize) {
        self.wasi.set_hostcall_fuel(fuel);
    }

    fn args_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        argv: GuestPtr<GuestPtr<u8>>,
        buffer: GuestPtr<u8>,
    ) -> Result<()> {
        self.wasi.args_get(memory, argv, buffer)
    }

    fn args_sizes_get(&mut self, memory: &mut GuestMemory<'_>) -> Result<(Size, Size)> {
        self.wasi.args_sizes_get(memory)
    }

    fn environ_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        environ: GuestPtr<GuestPtr<u8>>,
        buffer: GuestPtr<u8>,
    ) -> Result<()> {
        self.wasi.environ_get(memory, environ, buffer)
    }

    fn environ_sizes_get(&mut self, memory: &mut GuestMemory<'_>) -> Result<(Size, Size)> {
        self.wasi.environ_sizes_get(memory)
    }

    fn clock_res_get(&mut self, memory: &mut GuestMemory<'_>, id: Clockid) -> Result<Timestamp> {
        self.wasi.clock_res_get(memory, id)
    }

    fn clock_time_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        id: Clockid,
        precision: Timestamp,
    ) -> Result<Timestamp> {
        self.wasi.clock_time_get(memory, id, precision)
    }

    fn proc_exit(&mut self, memory: &mut GuestMemory<'_>, code: Exitcode) -> wasmtime::Error {
        self.wasi.proc_exit(memory, code)
    }

    fn proc_raise(&mut self, memory: &mut GuestMemory<'_>, signal: Signal) -> Result<()> {
        self.wasi.proc_raise(memory, signal)
    }

    fn sched_yield(&mut self, memory: &mut GuestMemory<'_>) -> Result<()> {
        self.wasi.sched_yield(memory)
    }

    fn random_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        buffer: GuestPtr<u8>,
        length: Size,
    ) -> Result<()> {
        self.wasi.random_get(memory, buffer, length)
    }

    fn sock_accept(&mut self, memory: &mut GuestMemory<'_>, fd: Fd, flags: Fdflags) -> Result<Fd> {
        self.wasi.sock_accept(memory, fd, flags)
    }

    fn sock_recv(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Iovec]>,
        flags: Riflags,
    ) -> Result<(Size, Roflags)> {
        self.wasi.sock_recv(memory, fd, pieces, flags)
    }

    fn sock_send(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Ciovec]>,
        flags: Siflags,
    ) -> Result<Size> {
        self.wasi.sock_send(memory, fd, pieces, flags)
    }

    fn sock_shutdown(&mut self, memory: &mut GuestMemory<'_>, fd: Fd, how: Sdflags) -> Result<()> {
        self.wasi.sock_shutdown(memory, fd, how)
    }

    async fn poll_oneoff(
        &mut self,
        memory: &mut GuestMemory<'_>,
        subscriptions: GuestPtr<Subscription>,
        events: GuestPtr<Event>,
        count: Size,
    ) -> Result<Size> {
        match self.ready_files(memory, subscriptions, events, count)? {
            Some(ready) => Ok(ready),
            None => {
                self.wasi
                    .poll_oneoff(memory, subscriptions, events, count)
                    .await
            }
        }
    }

    fn fd_prestat_get(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<Prestat> {
        self.files.note_if_none_granted();
        let open = of_files!(self, fd, Open::Folder(open) => open,
            else self.wasi.fd_prestat_get(memory, fd));
        if !open.is_granted {
            return Err(types::Errno::Badf.into());
        }
        Ok(Prestat::Dir(PrestatDir {
            pr_name_len: Size::try_from(open.place.granted.name.len())?,
        }))
    }

    fn fd_prestat_dir_name(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<u8>,
        longest: Size,
    ) -> Result<()> {
        let open = of_files!(self, fd, Open::Folder(open) => open,
            else self.wasi.fd_prestat_dir_name(memory, fd, path, longest));
        if !open.is_granted {
            return Err(types::Errno::Badf.into());
        }
        let name = open.place.granted.name.as_bytes();
        let length = Size::try_from(name.len())?;
        if length > longest {
            return Err(types::Errno::Nametoolong.into());
        }
        memory.copy_from_slice(name, path.as_array(length))?;
        Ok(())
    }

    async fn fd_close(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<()> {
        match self.files.open.close(fd.into()) {
            Some(_) => Ok(()),
            None => self.wasi.fd_close(memory, fd).await,
        }
    }

    async fn fd_renumber(&mut self, memory: &mut GuestMemory<'_>, from: Fd, to: Fd) -> Result<()> {
        let of_files = |state: &mut Self, fd: Fd| state.files.open.get(fd.into()).is_some();
        match (of_files(self, from), of_files(self, to)) {
            (true, true) => {
                let renumbered = self.files.open.renumber(from.into(), to.into());
                renumbered.map_err(|errno| number(errno).into())
            }
            (false, false) => self.wasi.fd_renumber(memory, from, to).await,
            // Standard input, output and error are wasmtime's and stay where they are.
            _ => Err(types::Errno::Notsup.into()),
        }
    }

    async fn fd_advise(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        offset: Filesize,
        length: Filesize,
        advice: Advice,
    ) -> Result<()> {
        // Advice may be left unheard.
        of_files!(self, fd, Open::File(_) => Ok(()),
            else self.wasi.fd_advise(memory, fd, offset, length, advice).await)
    }

    fn fd_allocate(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        offset: Filesize,
        length: Filesize,
    ) -> Result<()> {
        of_files!(self, fd, Open::File(_) => Err(types::Errno::Notsup.into()),
            else self.wasi.fd_allocate(memory, fd, offset, length))
    }

    async fn fd_datasync(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<()> {
        let file = of_files!(self, fd, Open::File(file) => Arc::clone(&file.open.handle),
            else self.wasi.fd_datasync(memory, fd).await);
        self.perform(move || file.sync_data().map_err(system)).await
    }

    async fn fd_sync(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<()> {
        let file = of_files!(self, fd, Open::File(file) => Arc::clone(&file.open.handle),
            else self.wasi.fd_sync(memory, fd).await);
        self.perform(move || file.sync_all().map_err(system)).await
    }

    async fn fd_fdstat_get(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<Fdstat> {
        match self.files.open.get(fd.into()) {
            Some(Open::Folder(_)) => Ok(Fdstat {
                fs_filetype: Filetype::Directory,
                fs_flags: Fdflags::empty(),
                fs_rights_base: folder_rights(),
                fs_rights_inheriting: folder_rights() | file_rights(true, true),
            }),
            Some(Open::File(file)) => {
                let mut flags = Fdflags::empty();
                if file.append {
                    flags |= Fdflags::APPEND;
                }
                if file.nonblocking {
                    flags |= Fdflags::NONBLOCK;
                }
                let rights = file_rights(file.open.read, file.open.write);
                Ok(Fdstat {
                    fs_filetype: Filetype::RegularFile,
                    fs_flags: flags,
                    fs_rights_base: rights,
                    fs_rights_inheriting: rights,
                })
            }
            None => self.wasi.fd_fdstat_get(memory, fd).await,
        }
    }

    fn fd_fdstat_set_flags(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        flags: Fdflags,
    ) -> Result<()> {
        let file = of_files!(self, fd, Open::File(file) => file,
            else self.wasi.fd_fdstat_set_flags(memory, fd, flags));
        if flags.intersects(synchronized()) {
            return Err(types::Errno::Inval.into());
        }
        file.append = flags.contains(Fdflags::APPEND);
        file.nonblocking = flags.contains(Fdflags::NONBLOCK);
        Ok(())
    }

    fn fd_fdstat_set_rights(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        base: Rights,
        inheriting: Rights,
    ) -> Result<()> {
        match self.files.open.get(fd.into()) {
            Some(_) => Err(types::Errno::Notsup.into()),
            None => self.wasi.fd_fdstat_set_rights(memory, fd, base, inheriting),
        }
    }

    async fn fd_filestat_get(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<Filestat> {
        let handle = match self.files.open.get(fd.into()) {
            Some(Open::Folder(folder)) => Arc::clone(&folder.place.handle),
            Some(Open::File(file)) => Arc::clone(&file.open.handle),
            None => return self.wasi.fd_filestat_get(memory, fd).await,
        };
        self.perform(move || Ok(attributes(&rustix::fs::fstat(&handle)?)))
            .await
    }

    async fn fd_filestat_set_size(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        size: Filesize,
    ) -> Result<()> {
        let file = of_files!(self, fd, Open::File(file) => file.open.clone(),
            else self.wasi.fd_filestat_set_size(memory, fd, size).await);
        let budget = self.files.budget.clone();
        self.perform(move || {
            if !file.write {
                return Err(Errno::INVAL.into());
            }
            let now = rustix::fs::fstat(&file.handle)?.st_size;
            budget.write(size.saturating_sub(unsigned(now)))?;
            file.handle.set_len(size).map_err(system)
        })
        .await
    }

    async fn fd_filestat_set_times(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        accessed: Timestamp,
        modified: Timestamp,
        flags: Fstflags,
    ) -> Result<()> {
        let times = times(accessed, modified, flags)?;
        match self.files.open.get(fd.into()) {
            Some(Open::Folder(folder)) => {
                let place = folder.place.clone();
                self.perform(move || place.set_own_times(times.0, times.1))
                    .await
            }
            Some(Open::File(file)) if file.open.changeable => {
                let handle = Arc::clone(&file.open.handle);
                self.perform(move || operation::set_file_times(&handle, times.0, times.1))
                    .await
            }
            Some(Open::File(_)) => Err(types::Errno::Perm.into()),
            None => {
                self.wasi
                    .fd_filestat_set_times(memory, fd, accessed, modified, flags)
                    .await
            }
        }
    }

    async fn fd_read(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Iovec]>,
    ) -> Result<Size> {
        of_files!(self, fd, Open::File(_) => (), else self.wasi.fd_read(memory, fd, pieces).await);
        self.read_file(memory, fd, pieces, None).await
    }

    async fn fd_pread(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Iovec]>,
        offset: Filesize,
    ) -> Result<Size> {
        of_files!(self, fd, Open::File(_) => (),
            else self.wasi.fd_pread(memory, fd, pieces, offset).await);
        self.read_file(memory, fd, pieces, Some(offset)).await
    }

    async fn fd_write(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Ciovec]>,
    ) -> Result<Size> {
        of_files!(self, fd, Open::File(_) => (), else self.wasi.fd_write(memory, fd, pieces).await);
        self.write_file(memory, fd, pieces, None).await
    }

    async fn fd_pwrite(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        pieces: GuestPtr<[Ciovec]>,
        offset: Filesize,
    ) -> Result<Size> {
        of_files!(self, fd, Open::File(_) => (),
            else self.wasi.fd_pwrite(memory, fd, pieces, offset).await);
        self.write_file(memory, fd, pieces, Some(offset)).await
    }

    async fn fd_seek(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        offset: Filedelta,
        whence: Whence,
    ) -> Result<Filesize> {
        let file = of_files!(self, fd, Open::File(file) => file,
            else self.wasi.fd_seek(memory, fd, offset, whence).await);
        let (position, handle) = (file.position, Arc::clone(&file.open.handle));
        let from = match whence {
            Whence::Set => 0,
            Whence::Cur => position,
            Whence::End => {
                let size = self
                    .perform(move || Ok(rustix::fs::fstat(&handle)?.st_size))
                    .await?;
                unsigned(size)
            }
        };
        let position = from.checked_add_signed(offset).ok_or(types::Errno::Inval)?;
        if let Some(Open::File(file)) = self.files.open.get(fd.into()) {
            file.position = position;
        }
        Ok(position)
    }

    fn fd_tell(&mut self, memory: &mut GuestMemory<'_>, fd: Fd) -> Result<Filesize> {
        of_files!(self, fd, Open::File(file) => Ok(file.position),
            else self.wasi.fd_tell(memory, fd))
    }

    async fn fd_readdir(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        buffer: GuestPtr<u8>,
        length: Size,
        cookie: Dircookie,
    ) -> Result<Size> {
        let (entries, own) = self.list(fd, cookie).await?;
        let itself = |name: &[u8]| Entry {
            name: name.to_vec(),
            kind: FileType::Directory,
            inode: unsigned(own.st_ino),
        };
        let heads = [itself(b"."), itself(b"..")];
        let start = usize::try_from(cookie).map_err(|_| types::Errno::Overflow)?;
        let mut bytes = Vec::new();
        let rest = heads.iter().chain(entries.iter()).skip(start);
        for (entry, next) in rest.zip(cookie.saturating_add(1)..) {
            bytes.extend_from_slice(&next.to_le_bytes());
            bytes.extend_from_slice(&entry.inode.to_le_bytes());
            bytes.extend_from_slice(&Size::try_from(entry.name.len())?.to_le_bytes());
            bytes.extend_from_slice(&[file_type(entry.kind) as u8, 0, 0, 0]);
            bytes.extend_from_slice(&entry.name);
            if bytes.len() >= length as usize {
                break;
            }
        }
        // A module that gets a full buffer knows that the last entry may be cut, and asks again.
        bytes.truncate(length as usize);
        let filled = Size::try_from(bytes.len())?;
        memory.copy_from_slice(&bytes, buffer.as_array(filled))?;
        Ok(filled)
    }

    async fn path_open(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        lookup: Lookupflags,
        path: GuestPtr<str>,
        flags: Oflags,
        rights: Rights,
        _inheriting: Rights,
        descriptor: Fdflags,
    ) -> Result<Fd> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        if descriptor.intersects(synchronized()) {
            return Err(types::Errno::Notsup.into());
        }
        let opening = Opening {
            follow: follows(lookup),
            create: flags.contains(Oflags::CREAT),
            exclusive: flags.contains(Oflags::EXCL),
            truncate: flags.contains(Oflags::TRUNC),
            folder: flags.contains(Oflags::DIRECTORY),
            read: rights.contains(Rights::FD_READ),
            write: rights.contains(Rights::FD_WRITE),
        };
        let opened = self.perform(move || place.open(&path, opening)).await?;
        let append = descriptor.contains(Fdflags::APPEND);
        let nonblocking = descriptor.contains(Fdflags::NONBLOCK);
        Ok(self.files.open.add(opened, append, nonblocking).into())
    }

    async fn path_filestat_get(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        lookup: Lookupflags,
        path: GuestPtr<str>,
    ) -> Result<Filestat> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        self.perform(move || Ok(attributes(&place.stat(&path, follows(lookup))?)))
            .await
    }

    async fn path_filestat_set_times(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        lookup: Lookupflags,
        path: GuestPtr<str>,
        accessed: Timestamp,
        modified: Timestamp,
        flags: Fstflags,
    ) -> Result<()> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        let (accessed, modified) = times(accessed, modified, flags)?;
        self.perform(move || place.set_times(&path, follows(lookup), accessed, modified))
            .await
    }

    async fn path_create_directory(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<str>,
    ) -> Result<()> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        self.perform(move || place.create_folder(&path)).await
    }

    async fn path_remove_directory(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<str>,
    ) -> Result<()> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        self.perform(move || place.remove_folder(&path)).await
    }

    async fn path_unlink_file(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<str>,
    ) -> Result<()> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        self.perform(move || place.remove_file(&path)).await
    }

    async fn path_link(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        lookup: Lookupflags,
        path: GuestPtr<str>,
        new_fd: Fd,
        new_path: GuestPtr<str>,
    ) -> Result<()> {
        if follows(lookup) {
            return Err(types::Errno::Inval.into());
        }
        let (place, new_place) = (self.place(fd)?, self.place(new_fd)?);
        let (path, new_path) = (text(memory, path)?, text(memory, new_path)?);
        self.perform(move || place.link(&path, &new_place, &new_path))
            .await
    }

    async fn path_rename(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<str>,
        new_fd: Fd,
        new_path: GuestPtr<str>,
    ) -> Result<()> {
        let (place, new_place) = (self.place(fd)?, self.place(new_fd)?);
        let (path, new_path) = (text(memory, path)?, text(memory, new_path)?);
        self.perform(move || place.rename(&path, &new_place, &new_path))
            .await
    }

    async fn path_symlink(
        &mut self,
        memory: &mut GuestMemory<'_>,
        content: GuestPtr<str>,
        fd: Fd,
        path: GuestPtr<str>,
    ) -> Result<()> {
        let place = self.place(fd)?;
        let (content, path) = (text(memory, content)?, text(memory, path)?);
        self.perform(move || place.symlink(&content, &path)).await
    }

    async fn path_readlink(
        &mut self,
        memory: &mut GuestMemory<'_>,
        fd: Fd,
        path: GuestPtr<str>,
        buffer: GuestPtr<u8>,
        length: Size,
    ) -> Result<Size> {
        let place = self.place(fd)?;
        let path = text(memory, path)?;
        let content = self.perform(move || place.link_content(&path)).await?;
        let shown = Size::try_from(content.len())?.min(length);
        memory.copy_from_slice(
            &content.as_bytes()[..shown as usize],
            buffer.as_array(shown),
        )?;
        Ok(shown)
    }
}
