//! Between the words of the system and those of `wasi:filesystem`.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use rustix::fs::{FileType, Stat, Timespec};
use rustix::io::Errno;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp, PathFlags,
};

use super::super::place::{kind, unsigned};

pub(super) fn follows(flags: PathFlags) -> bool {
    flags.contains(PathFlags::SYMLINK_FOLLOW)
}

/// The code for what the system answered.
pub(in crate::sandbox::files) fn code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::XDEV => ErrorCode::CrossDevice,
        // There is none for too many open files.
        Errno::MFILE | Errno::NFILE => ErrorCode::Quota,
        Errno::NXIO => ErrorCode::NoSuchDevice,
        _ => ErrorCode::from(std::io::Error::from(errno)),
    }
}

pub(super) fn time(time: NewTimestamp) -> Result<Timespec, ErrorCode> {
    let (tv_sec, tv_nsec) = match time {
        NewTimestamp::NoChange => (0, rustix::fs::UTIME_OMIT),
        NewTimestamp::Now => (0, rustix::fs::UTIME_NOW),
        NewTimestamp::Timestamp(time) => (
            i64::try_from(time.seconds).map_err(|_| ErrorCode::Overflow)?,
            time.nanoseconds.into(),
        ),
    };
    Ok(Timespec { tv_sec, tv_nsec })
}

pub(super) fn attributes(stat: &Stat) -> DescriptorStat {
    let time = |seconds: u64, nanoseconds: u64| {
        Some(Datetime {
            seconds,
            nanoseconds: u32::try_from(nanoseconds).ok()?,
        })
    };
    DescriptorStat {
        type_: descriptor_type(kind(stat)),
        link_count: unsigned(stat.st_nlink),
        size: unsigned(stat.st_size),
        data_access_timestamp: time(unsigned(stat.st_atime), unsigned(stat.st_atime_nsec)),
        data_modification_timestamp: time(unsigned(stat.st_mtime), unsigned(stat.st_mtime_nsec)),
        status_change_timestamp: time(unsigned(stat.st_ctime), unsigned(stat.st_ctime_nsec)),
    }
}

/// What kind of thing it is, in WASI's words.
pub(super) fn descriptor_type(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket => DescriptorType::Socket,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::Unknown => DescriptorType::Unknown,
    }
}

/// The same for the same file, and without its numbers on this machine.
pub(super) fn identity(stat: &Stat) -> MetadataHashValue {
    let hash = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, stat.st_dev, stat.st_ino).hash(&mut hasher);
        hasher.finish()
    };
    MetadataHashValue {
        lower: hash(0),
        upper: hash(1),
    }
}
