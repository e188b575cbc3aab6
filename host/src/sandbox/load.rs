//! From a component's bytes to a guest that is ready to be instantiated.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::Module;
use wasmtime::component::Component;

use super::engine::Shared;
use super::link::{self, Linked, Offer};
use super::shape::{self, Kind, Shape};
use crate::outcome::{Failure, FailureKind};
use crate::program::Program;
use crate::text;

/// The largest file that is loaded: 64 MiB. Python's interpreter as a component has 18.
pub const LARGEST_FILE: u64 = 64 << 20;

/// How long a caller waits for the compiler. The largest guests of known toolchains need 25 s.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// A guest that was checked, compiled and linked, and may be run any number of times.
pub struct Guest {
    pub(super) linked: Linked,
    compiled: Arc<Compiled>,
}

/// What was made of a file's bytes, whatever its hook is granted.
pub(super) struct Compiled {
    pub(super) code: Code,
    pub(super) shape: Shape,
    digest: [u8; 32],
}

pub(super) enum Code {
    Component(Component),
    Module(Module),
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

/// What is in use anywhere in the process, by digest: hosts and hooks that load the same bytes
/// share what was compiled.
static IN_USE: Mutex<BTreeMap<[u8; 32], Weak<Compiled>>> = Mutex::new(BTreeMap::new());

/// Reads a guest's bytes, checks, compiles and links them, all away from the caller's thread.
/// Bytes that are not the pinned ones are not compiled at all.
///
/// # Errors
///
/// That of `read`, or a failure whose kind says what is wrong with the bytes.
pub(crate) async fn load(
    read: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
    pin: Option<[u8; 32]>,
    offer: Offer,
    _program: &Program,
) -> Result<Arc<Guest>, Failure> {
    let shared = Shared::get().map_err(|error| Failure::new(FailureKind::Host, error))?;
    let loading = shared
        .runtime
        .spawn_blocking(move || load_here(shared, &read()?, pin, offer));
    match tokio::time::timeout(COMPILE_TIMEOUT, loading).await {
        Ok(Ok(loaded)) => loaded,
        Ok(Err(error)) => Err(Failure::new(
            FailureKind::Host,
            format!("loading was cut off: {error}"),
        )),
        Err(_) => Err(Failure::new(
            FailureKind::ComponentInvalid,
            format!("it was not compiled within {} s", COMPILE_TIMEOUT.as_secs()),
        )),
    }
}

fn load_here(
    shared: &Shared,
    bytes: &[u8],
    pin: Option<[u8; 32]>,
    offer: Offer,
) -> Result<Arc<Guest>, Failure> {
    let digest = Sha256::digest(bytes).into();
    check_pin(digest, pin)?;
    let compiled = compiled(shared, bytes, digest)?;
    compiled.shape.check(offer)?;
    let linked = link::link(&shared.engine, &compiled.code, offer)?;
    Ok(Arc::new(Guest { linked, compiled }))
}

fn compiled(shared: &Shared, bytes: &[u8], digest: [u8; 32]) -> Result<Arc<Compiled>, Failure> {
    let in_use = || IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = in_use().get(&digest).and_then(Weak::upgrade) {
        return Ok(compiled);
    }
    // Code generators have been known to panic on odd input; that is the guest's failure.
    let compiled = std::panic::catch_unwind(AssertUnwindSafe(|| compile(shared, bytes, digest)))
        .unwrap_or_else(|_| {
            Err(Failure::new(
                FailureKind::ComponentInvalid,
                "the compiler failed on it",
            ))
        });
    let compiled = Arc::new(compiled?);
    let mut in_use = in_use();
    in_use.retain(|_, compiled| compiled.strong_count() > 0);
    in_use.insert(digest, Arc::downgrade(&compiled));
    Ok(compiled)
}

fn compile(shared: &Shared, bytes: &[u8], digest: [u8; 32]) -> Result<Compiled, Failure> {
    let shape = shape::read(bytes)?;
    // What could not be a hook with all that may be granted is not compiled.
    shape.check(Offer::ALL)?;
    let invalid = |error: wasmtime::Error| {
        Failure::new(
            FailureKind::ComponentInvalid,
            text::one_line(&format!("{error:#}"), 500),
        )
    };
    let code = match shape.kind {
        Kind::Component => {
            Code::Component(Component::from_binary(&shared.engine, bytes).map_err(invalid)?)
        }
        Kind::Module => Code::Module(Module::from_binary(&shared.engine, bytes).map_err(invalid)?),
    };
    Ok(Compiled {
        code,
        shape,
        digest,
    })
}
