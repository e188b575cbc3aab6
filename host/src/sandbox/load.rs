//! From a component's bytes to a guest that is ready to be instantiated.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use wasmtime::component::{self, Component};
use wasmtime::{InstancePre, Linker, Module};
use wasmtime_wasi::p2::bindings::CommandPre;
use wasmtime_wasi::{I32Exit, p1, p2};

use super::engine::Shared;
use super::run::{ComponentState, ModuleState};
use super::shape::{self, Kind, Shape};
use crate::outcome::{Failure, FailureKind};
use crate::text;

/// The largest file that is loaded: 64 MiB. Python's interpreter as a component has 18.
pub const LARGEST_FILE: u64 = 64 << 20;

/// How long a caller waits for the compiler. The largest guests of known toolchains need 25 s.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// A guest that was checked, compiled and linked, and may be run any number of times.
pub struct Guest {
    pub(super) code: Code,
    digest: [u8; 32],
    shape: Shape,
}

pub(super) enum Code {
    Component(CommandPre<ComponentState>),
    Module(InstancePre<ModuleState>),
}

impl Guest {
    /// The SHA-256 of the very bytes that were compiled.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// What the guest imports, exports, and can do.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("sha256", &hex::encode(self.digest))
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

/// The guests that are in use anywhere in the process, by digest: hosts that load the same bytes
/// share what was compiled.
static IN_USE: Mutex<BTreeMap<[u8; 32], Weak<Guest>>> = Mutex::new(BTreeMap::new());

/// Reads a guest's bytes, checks, compiles and links them, all away from the caller's thread.
/// Bytes that are not the pinned ones are not compiled at all.
///
/// # Errors
///
/// That of `read`, or a failure whose kind says what is wrong with the bytes.
pub async fn load(
    read: impl FnOnce() -> Result<Vec<u8>, Failure> + Send + 'static,
    pin: Option<[u8; 32]>,
) -> Result<Arc<Guest>, Failure> {
    let shared = Shared::get().map_err(|error| Failure::new(FailureKind::Host, error))?;
    let loading = shared
        .runtime
        .spawn_blocking(move || load_here(shared, &read()?, pin));
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

fn load_here(shared: &Shared, bytes: &[u8], pin: Option<[u8; 32]>) -> Result<Arc<Guest>, Failure> {
    let digest = Sha256::digest(bytes).into();
    check_pin(digest, pin)?;
    let in_use = || IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(guest) = in_use().get(&digest).and_then(Weak::upgrade) {
        return Ok(guest);
    }
    // Code generators have been known to panic on odd input; that is the guest's failure.
    let compiled = std::panic::catch_unwind(AssertUnwindSafe(|| compile(shared, bytes, digest)))
        .unwrap_or_else(|_| {
            Err(Failure::new(
                FailureKind::ComponentInvalid,
                "the compiler failed on it",
            ))
        });
    let guest = Arc::new(compiled?);
    let mut in_use = in_use();
    in_use.retain(|_, guest| guest.strong_count() > 0);
    in_use.insert(digest, Arc::downgrade(&guest));
    Ok(guest)
}

fn compile(shared: &Shared, bytes: &[u8], digest: [u8; 32]) -> Result<Guest, Failure> {
    let shape = shape::read(bytes)?;
    shape.check()?;
    let invalid = |error: wasmtime::Error| {
        Failure::new(
            FailureKind::ComponentInvalid,
            text::one_line(&format!("{error:#}"), 500),
        )
    };
    // The names are known to be offered; what can still differ is their type.
    let unlinkable = |error: wasmtime::Error| {
        Failure::new(
            FailureKind::UnknownImport,
            text::one_line(&format!("{error:#}"), 500),
        )
    };
    let code = match shape.kind {
        Kind::Component => {
            let component = Component::from_binary(&shared.engine, bytes).map_err(invalid)?;
            let mut linker = component::Linker::<ComponentState>::new(&shared.engine);
            p2::add_to_linker_async(&mut linker).map_err(host_fault)?;
            let instance = linker.instantiate_pre(&component).map_err(unlinkable)?;
            Code::Component(CommandPre::new(instance).map_err(|error| {
                Failure::new(
                    FailureKind::MissingExport,
                    text::one_line(&format!("{error:#}"), 500),
                )
            })?)
        }
        Kind::Module => {
            let module = Module::from_binary(&shared.engine, bytes).map_err(invalid)?;
            let mut linker = Linker::<ModuleState>::new(&shared.engine);
            p1::add_to_linker_async(&mut linker, |state| &mut state.wasi).map_err(host_fault)?;
            // wasmtime's own refuses codes from 126 on, which commands do use.
            linker.allow_shadowing(true);
            linker
                .func_wrap(
                    "wasi_snapshot_preview1",
                    "proc_exit",
                    |code: i32| -> wasmtime::Result<()> { Err(I32Exit(code).into()) },
                )
                .map_err(host_fault)?;
            Code::Module(linker.instantiate_pre(&module).map_err(unlinkable)?)
        }
    };
    Ok(Guest {
        code,
        digest,
        shape,
    })
}

fn host_fault(error: wasmtime::Error) -> Failure {
    Failure::new(FailureKind::Host, format!("{error:#}"))
}
