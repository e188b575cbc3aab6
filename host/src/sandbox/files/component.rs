//! `wasi:filesystem` for components: what takes a path is checked, the rest is wasmtime's own.

mod convert;

use std::fs::File as SystemFile;
use std::sync::Arc;

use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime_wasi::filesystem::{Descriptor, Dir, File, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry,
    DirectoryEntryStream, ErrorCode, Filesize, HostDescriptor, HostDirectoryEntryStream,
    MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};
use wasmtime_wasi::{FsPerms, OpenMode, WasiCtx, WasiCtxView, WasiView};

pub(super) use self::convert::code;
use self::convert::{attributes, follows, identity, time};
use super::fault::Fault;
use super::operation::{Opened, Opening, entries};
use super::place::{Place, unsigned};
use super::stream::{Reading, Writing};
use super::{Files, Held, blocking};
use crate::config::Access;
use crate::sandbox::store::ComponentState;

/// Links `wasi:filesystem` as it is here, in place of wasmtime's own.
pub(in crate::sandbox) fn link_component(
    linker: &mut Linker<ComponentState>,
) -> wasmtime::Result<()> {
    preopens::add_to_linker::<_, OfFiles>(linker, view)?;
    types::add_to_linker::<_, OfFiles>(linker, view)
}

struct OfFiles;

impl HasData for OfFiles {
    type Data<'a> = View<'a>;
}

/// What a call works on.
struct View<'a> {
    wasi: &'a mut WasiCtx,
    table: &'a mut ResourceTable,
    files: &'a mut Files,
}

fn view(state: &mut ComponentState) -> View<'_> {
    View {
        wasi: &mut state.wasi,
        table: &mut state.table,
        files: &mut state.files,
    }
}

impl WasiView for View<'_> {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: self.wasi,
            table: self.table,
        }
    }
}

type Handle = Resource<Descriptor>;

impl View<'_> {
    /// The folder that a descriptor stands for.
    fn place(&self, fd: &Handle) -> FsResult<Place> {
        let place = self.held(fd)?.place.as_ref();
        Ok(place.ok_or(ErrorCode::NotDirectory)?.clone())
    }

    fn held(&self, fd: &Handle) -> FsResult<&Held> {
        Ok(self
            .files
            .held
            .get(&fd.rep())
            .ok_or(ErrorCode::BadDescriptor)?)
    }

    /// The open file or folder behind a descriptor.
    fn system_file(&self, fd: &Handle) -> FsResult<Arc<SystemFile>> {
        Ok(match self.table.get(fd)? {
            Descriptor::File(file) => Arc::clone(&file.file),
            Descriptor::Dir(dir) => Arc::clone(&dir.dir),
        })
    }

    async fn perform<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> FsResult<T> {
        let result = blocking(work).await;
        self.settle(result)
    }

    fn settle<T>(&self, result: Result<T, Fault>) -> FsResult<T> {
        self.files
            .settle(result)
            .map_err(|errno| code(errno).into())
    }

    /// Hands an open file or folder to the guest.
    fn hold(&mut self, descriptor: Descriptor, held: Held) -> FsResult<Handle> {
        let handle = self.table.push(descriptor)?;
        self.files.held.insert(handle.rep(), held);
        Ok(handle)
    }

    fn hold_opened(&mut self, opened: Opened) -> FsResult<Handle> {
        match opened {
            Opened::Folder(mut place, share) => {
                let handle = Arc::into_inner(place.handle).ok_or(ErrorCode::Io)?;
                let (perms, mode) = match place.granted.access {
                    Access::Read => (FsPerms::ReadOnly, OpenMode::READ),
                    Access::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
                };
                let dir = Dir::new(handle, perms, mode, false);
                place.handle = Arc::clone(&dir.dir);
                let held = Held {
                    place: Some(place),
                    changeable: false,
                    share: Arc::new(share),
                };
                self.hold(Descriptor::Dir(dir), held)
            }
            Opened::File(file, share) => {
                let handle = Arc::into_inner(file.handle).ok_or(ErrorCode::Io)?;
                let perms = if file.write {
                    FsPerms::ReadWrite
                } else {
                    FsPerms::ReadOnly
                };
                let mut mode = OpenMode::empty();
                mode.set(OpenMode::READ, file.read);
                mode.set(OpenMode::WRITE, file.write);
                let held = Held {
                    place: None,
                    changeable: file.changeable,
                    share: Arc::new(share),
                };
                self.hold(
                    Descriptor::File(File::new(handle, perms, mode, false)),
                    held,
                )
            }
        }
    }

    fn writing(
        &mut self,
        fd_share: Arc<super::Share>,
        stream: Resource<DynOutputStream>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let inner = self.table.delete(stream)?;
        let stream: DynOutputStream = Box::new(Writing {
            inner,
            budget: self.files.budget.clone(),
            denials: self.files.denials.clone(),
            _share: fd_share,
        });
        Ok(self.table.push(stream)?)
    }
}

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Handle, String)>> {
        self.files.note_if_none_granted();
        let mut directories = Vec::new();
        for mut place in self.files.roots() {
            let name = place.granted.name.clone();
            // wasmtime's own type wants a descriptor of its own.
            place.handle = Arc::new(place.handle.try_clone()?);
            let share = place.budget.open();
            let share = self.settle(share).map_err(wasmtime::Error::from)?;
            let handle = self.hold_opened(Opened::Folder(place, share))?;
            directories.push((handle, name));
        }
        Ok(directories)
    }
}

impl types::Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.filesystem().convert_error_code(error)
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        self.filesystem().filesystem_error_code(error)
    }
}

impl HostDescriptor for View<'_> {
    async fn advise(
        &mut self,
        fd: Handle,
        offset: Filesize,
        length: Filesize,
        advice: Advice,
    ) -> FsResult<()> {
        self.filesystem().advise(fd, offset, length, advice).await
    }

    async fn sync_data(&mut self, fd: Handle) -> FsResult<()> {
        self.filesystem().sync_data(fd).await
    }

    async fn sync(&mut self, fd: Handle) -> FsResult<()> {
        self.filesystem().sync(fd).await
    }

    async fn get_flags(&mut self, fd: Handle) -> FsResult<DescriptorFlags> {
        self.filesystem().get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Handle) -> FsResult<DescriptorType> {
        self.filesystem().get_type(fd).await
    }

    async fn is_same_object(&mut self, a: Handle, b: Handle) -> wasmtime::Result<bool> {
        self.filesystem().is_same_object(a, b).await
    }

    async fn read(
        &mut self,
        fd: Handle,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        self.filesystem().read(fd, length, offset).await
    }

    fn read_via_stream(
        &mut self,
        fd: Handle,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let share = Arc::clone(&self.held(&fd)?.share);
        let stream = self.filesystem().read_via_stream(fd, offset)?;
        let inner = self.table.delete(stream)?;
        let stream: DynInputStream = Box::new(Reading {
            inner,
            _share: share,
        });
        Ok(self.table.push(stream)?)
    }

    async fn write(&mut self, fd: Handle, buffer: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        let spent = self.files.budget.write(buffer.len() as u64);
        self.settle(spent)?;
        self.filesystem().write(fd, buffer, offset).await
    }

    fn write_via_stream(
        &mut self,
        fd: Handle,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        let share = Arc::clone(&self.held(&fd)?.share);
        let stream = self.filesystem().write_via_stream(fd, offset)?;
        self.writing(share, stream)
    }

    fn append_via_stream(&mut self, fd: Handle) -> FsResult<Resource<DynOutputStream>> {
        let share = Arc::clone(&self.held(&fd)?.share);
        let stream = self.filesystem().append_via_stream(fd)?;
        self.writing(share, stream)
    }

    async fn set_size(&mut self, fd: Handle, size: Filesize) -> FsResult<()> {
        let file = self.system_file(&fd)?;
        let budget = self.files.budget.clone();
        self.perform(move || {
            let now = rustix::fs::fstat(&file)?.st_size;
            budget.write(size.saturating_sub(unsigned(now)))
        })
        .await?;
        self.filesystem().set_size(fd, size).await
    }

    async fn set_times(
        &mut self,
        fd: Handle,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let held = self.held(&fd)?;
        let (accessed, modified) = (time(accessed)?, time(modified)?);
        if let Some(place) = held.place.clone() {
            return self
                .perform(move || place.set_own_times(accessed, modified))
                .await;
        }
        if !held.changeable {
            return Err(ErrorCode::NotPermitted.into());
        }
        let file = self.system_file(&fd)?;
        self.perform(move || super::operation::set_file_times(&file, accessed, modified))
            .await
    }

    async fn stat(&mut self, fd: Handle) -> FsResult<DescriptorStat> {
        let file = self.system_file(&fd)?;
        self.perform(move || Ok(rustix::fs::fstat(&file)?))
            .await
            .map(|stat| attributes(&stat))
    }

    async fn metadata_hash(&mut self, fd: Handle) -> FsResult<MetadataHashValue> {
        let file = self.system_file(&fd)?;
        self.perform(move || Ok(rustix::fs::fstat(&file)?))
            .await
            .map(|stat| identity(&stat))
    }

    async fn read_directory(&mut self, fd: Handle) -> FsResult<Resource<DirectoryEntryStream>> {
        let place = self.place(&fd)?;
        // wasmtime's own reads the whole list at once: what it will hold is asked for before.
        let share = self
            .perform(move || {
                let entries = entries(&place.handle)?;
                place.budget.list(entries.iter().map(|it| it.name.len()))
            })
            .await?;
        let stream = self.filesystem().read_directory(fd).await?;
        self.files.listed.insert(stream.rep(), share);
        Ok(stream)
    }

    async fn stat_at(
        &mut self,
        fd: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let place = self.place(&fd)?;
        self.perform(move || place.stat(&path, follows(flags)))
            .await
            .map(|stat| attributes(&stat))
    }

    async fn metadata_hash_at(
        &mut self,
        fd: Handle,
        flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let place = self.place(&fd)?;
        self.perform(move || place.stat(&path, follows(flags)))
            .await
            .map(|stat| identity(&stat))
    }

    async fn set_times_at(
        &mut self,
        fd: Handle,
        flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let place = self.place(&fd)?;
        let (accessed, modified) = (time(accessed)?, time(modified)?);
        self.perform(move || place.set_times(&path, follows(flags), accessed, modified))
            .await
    }

    async fn create_directory_at(&mut self, fd: Handle, path: String) -> FsResult<()> {
        let place = self.place(&fd)?;
        self.perform(move || place.create_folder(&path)).await
    }

    async fn remove_directory_at(&mut self, fd: Handle, path: String) -> FsResult<()> {
        let place = self.place(&fd)?;
        self.perform(move || place.remove_folder(&path)).await
    }

    async fn unlink_file_at(&mut self, fd: Handle, path: String) -> FsResult<()> {
        let place = self.place(&fd)?;
        self.perform(move || place.remove_file(&path)).await
    }

    async fn readlink_at(&mut self, fd: Handle, path: String) -> FsResult<String> {
        let place = self.place(&fd)?;
        self.perform(move || place.link_content(&path)).await
    }

    async fn symlink_at(&mut self, fd: Handle, content: String, path: String) -> FsResult<()> {
        let place = self.place(&fd)?;
        self.perform(move || place.symlink(&content, &path)).await
    }

    async fn link_at(
        &mut self,
        fd: Handle,
        flags: PathFlags,
        path: String,
        new_fd: Handle,
        new_path: String,
    ) -> FsResult<()> {
        if follows(flags) {
            return Err(ErrorCode::Invalid.into());
        }
        let (place, new_place) = (self.place(&fd)?, self.place(&new_fd)?);
        self.perform(move || place.link(&path, &new_place, &new_path))
            .await
    }

    async fn rename_at(
        &mut self,
        fd: Handle,
        path: String,
        new_fd: Handle,
        new_path: String,
    ) -> FsResult<()> {
        let (place, new_place) = (self.place(&fd)?, self.place(&new_fd)?);
        self.perform(move || place.rename(&path, &new_place, &new_path))
            .await
    }

    async fn open_at(
        &mut self,
        fd: Handle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Handle> {
        let synchronized = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(synchronized) {
            return Err(ErrorCode::Unsupported.into());
        }
        let opening = Opening {
            follow: follows(path_flags),
            create: open_flags.contains(OpenFlags::CREATE),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
            folder: open_flags.contains(OpenFlags::DIRECTORY),
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
        };
        let place = self.place(&fd)?;
        let opened = self.perform(move || place.open(&path, opening)).await?;
        self.hold_opened(opened)
    }

    fn drop(&mut self, fd: Handle) -> wasmtime::Result<()> {
        self.files.held.remove(&fd.rep());
        HostDescriptor::drop(&mut self.filesystem(), fd)
    }
}

impl HostDirectoryEntryStream for View<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<DirectoryEntry>> {
        self.filesystem().read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        self.files.listed.remove(&stream.rep());
        HostDirectoryEntryStream::drop(&mut self.filesystem(), stream)
    }
}
