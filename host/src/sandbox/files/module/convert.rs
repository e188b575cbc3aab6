//! Between the words of the system and those of preview1.

use rustix::fs::{FileType, Stat, Timespec};
use rustix::io::Errno;
use wasmtime_wasi::p1::types::{
    self, Fdflags, Filestat, Filetype, Fstflags, Lookupflags, Rights, Timestamp,
};

use super::super::component::code;
use super::super::fault::Fault;
use super::super::place::{kind, unsigned};
use super::Result;

pub(super) fn follows(flags: Lookupflags) -> bool {
    flags.contains(Lookupflags::SYMLINK_FOLLOW)
}

/// What wasmtime does not do either: writing through to the disk with every call.
pub(super) fn synchronized() -> Fdflags {
    Fdflags::DSYNC | Fdflags::RSYNC | Fdflags::SYNC
}

/// Preview1's number for what the system answered.
pub(super) fn number(errno: Errno) -> types::Errno {
    match errno {
        Errno::MFILE => types::Errno::Mfile,
        Errno::NFILE => types::Errno::Nfile,
        _ => code(errno).into(),
    }
}

pub(super) fn system(error: std::io::Error) -> Fault {
    Fault::System(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

pub(super) fn attributes(stat: &Stat) -> Filestat {
    let time = |seconds: u64, nanoseconds: u64| {
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds)
    };
    Filestat {
        dev: unsigned(stat.st_dev),
        ino: unsigned(stat.st_ino),
        filetype: file_type(kind(stat)),
        nlink: unsigned(stat.st_nlink),
        size: unsigned(stat.st_size),
        atim: time(unsigned(stat.st_atime), unsigned(stat.st_atime_nsec)),
        mtim: time(unsigned(stat.st_mtime), unsigned(stat.st_mtime_nsec)),
        ctim: time(unsigned(stat.st_ctime), unsigned(stat.st_ctime_nsec)),
    }
}

pub(super) fn file_type(kind: FileType) -> Filetype {
    match kind {
        FileType::RegularFile => Filetype::RegularFile,
        FileType::Directory => Filetype::Directory,
        FileType::Symlink => Filetype::SymbolicLink,
        FileType::CharacterDevice => Filetype::CharacterDevice,
        FileType::BlockDevice => Filetype::BlockDevice,
        FileType::Socket => Filetype::SocketStream,
        // Preview1 knows no pipes.
        FileType::Fifo | FileType::Unknown => Filetype::Unknown,
    }
}

pub(super) fn times(
    accessed: Timestamp,
    modified: Timestamp,
    flags: Fstflags,
) -> Result<(Timespec, Timespec)> {
    let time = |nanoseconds: Timestamp, set: Fstflags, now: Fstflags| {
        let (tv_sec, tv_nsec) = match (flags.contains(set), flags.contains(now)) {
            (true, true) => return Err(types::Errno::Inval),
            (true, false) => (
                (nanoseconds / 1_000_000_000).cast_signed(),
                (nanoseconds % 1_000_000_000).cast_signed(),
            ),
            (false, true) => (0, rustix::fs::UTIME_NOW),
            (false, false) => (0, rustix::fs::UTIME_OMIT),
        };
        Ok(Timespec { tv_sec, tv_nsec })
    };
    Ok((
        time(accessed, Fstflags::ATIM, Fstflags::ATIM_NOW)?,
        time(modified, Fstflags::MTIM, Fstflags::MTIM_NOW)?,
    ))
}

pub(super) fn folder_rights() -> Rights {
    Rights::FD_FDSTAT_SET_FLAGS
        | Rights::FD_SYNC
        | Rights::FD_READDIR
        | Rights::FD_FILESTAT_GET
        | Rights::FD_FILESTAT_SET_TIMES
        | Rights::PATH_OPEN
        | Rights::PATH_CREATE_FILE
        | Rights::PATH_CREATE_DIRECTORY
        | Rights::PATH_REMOVE_DIRECTORY
        | Rights::PATH_UNLINK_FILE
        | Rights::PATH_LINK_SOURCE
        | Rights::PATH_LINK_TARGET
        | Rights::PATH_RENAME_SOURCE
        | Rights::PATH_RENAME_TARGET
        | Rights::PATH_SYMLINK
        | Rights::PATH_READLINK
        | Rights::PATH_FILESTAT_GET
        | Rights::PATH_FILESTAT_SET_TIMES
}

pub(super) fn file_rights(read: bool, write: bool) -> Rights {
    let mut rights = Rights::FD_SEEK
        | Rights::FD_TELL
        | Rights::FD_ADVISE
        | Rights::FD_SYNC
        | Rights::FD_DATASYNC
        | Rights::FD_FDSTAT_SET_FLAGS
        | Rights::FD_FILESTAT_GET
        | Rights::FD_FILESTAT_SET_TIMES
        | Rights::POLL_FD_READWRITE;
    if read {
        rights |= Rights::FD_READ;
    }
    if write {
        rights |= Rights::FD_WRITE | Rights::FD_FILESTAT_SET_SIZE;
    }
    rights
}
