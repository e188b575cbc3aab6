//! From a component's bytes to a guest that is ready to be instantiated.

use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::compiled::{self, Compiled, Compiler};
use super::engine::Shared;
use super::link::{self, Linked, Offer};
use super::shape::Shape;
use crate::outcome::{Failure, FailureKind};

/// The largest file that is loaded: 64 MiB. Python's interpreter as a component has 18.
pub const LARGEST_FILE: u64 = 64 << 20;

/// A guest that was checked, compiled and linked, and may be run any number of times.
pub struct Guest {
    pub(super) linked: Linked,
    compiled: Arc<Compiled>,
}

impl Guest {
    /// The SHA-256 of the very bytes that were compiled.
    pub fn digest(&self) -> [u8; 32] {
        self.compiled.digest
    }

    /// What the guest imports, exports, and can do.
    pub fn shape(&self) -> &Shape {
        &self.compiled.shape
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("sha256", &hex::encode(self.compiled.digest))
            .finish_non_exhaustive()
    }
}

/// Reads a component's file: a regular file of at most [`LARGEST_FILE`] bytes.
///
/// # Errors
///
/// [`FailureKind::ComponentUnreadable`], with what is in the way.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |why: String| {
        Failure::new(
            FailureKind::ComponentUnreadable,
            format!("`{}` {why}", path.display()),
        )
    };
    let file = std::fs::OpenOptions::new()
        .read(true)
        // Opening a pipe that nobody writes to would wait for ever.
        .custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => unreadable("does not exist".into()),
            _ => unreadable(format!("cannot be opened: {error}")),
        })?;
    let metadata = file
        .metadata()
        .map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(unreadable("is a folder, not a component".into()));
    }
    if !metadata.is_file() {
        return Err(unreadable("is not a regular file".into()));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(unreadable(format!(
            "is larger than {} MiB",
            LARGEST_FILE >> 20
        )));
    }
    Ok(bytes)
}

/// Holds a digest against a pin.
///
/// # Errors
///
/// [`FailureKind::DigestMismatch`], with both.
pub fn check_pin(digest: [u8; 32], pin: Option<[u8; 32]>) -> Result<(), Failure> {
    match pin {
        Some(pin) if pin != digest => Err(Failure::new(
            FailureKind::DigestMismatch,
            format!(
                "its SHA-256 is {}, and `sha256` pins {}",
                hex::encode(digest),
                hex::encode(pin)
            ),
        )),
        _ => Ok(()),
    }
}

/// Reads a guest's bytes, checks, compiles and links them, all away from the caller's thread.
/// Bytes that are not the pinned ones are not compiled at all. What was begun goes on when the
/// future is dropped, so that the next event finds it done.
///
/// # Errors
///
/// That of `read`, or a failure whose kind says what is wrong with the bytes.
pub async fn load(
    read: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
    pin: Option<[u8; 32]>,
    offer: Offer,
    compiler: Compiler,
) -> Result<Arc<Guest>, Failure> {
    let shared = Shared::get().map_err(|error| Failure::new(FailureKind::Host, error))?;
    let loading = shared.loading.spawn(async move {
        let (bytes, digest) = blocking(move || {
            let bytes = Bytes::from(read()?);
            let digest = Sha256::digest(&bytes).into();
            check_pin(digest, pin).map(|()| (bytes, digest))
        })
        .await?;
        let compiled = compiled::get(shared, bytes, digest, offer, &compiler).await?;
        blocking(move || {
            compiled.shape.check(offer)?;
            let linked = link::link(&shared.engine, &compiled.code, offer)?;
            Ok(Arc::new(Guest { linked, compiled }))
        })
        .await
    });
    loading.await.unwrap_or_else(|error| Err(cut_off(error)))
}

/// Does what would hold up other work, on a thread for such things.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(cut_off(error)))
}

fn cut_off(error: tokio::task::JoinError) -> Failure {
    Failure::new(FailureKind::Host, format!("loading was cut off: {error}"))
}
