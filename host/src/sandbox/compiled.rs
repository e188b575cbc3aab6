//! From a component's bytes to machine code: what the process has, else what the cache has, else
//! what the compiler makes of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use tokio::sync::Semaphore;
use wasmtime::component::Component;
use wasmtime::{Engine, Module};

use super::cache::entry::{Description, Subject};
use super::cache::{Cache, Place};
use super::compile::{self, Refusal};
use super::engine::Shared;
use super::link::Offer;
use super::load::blocking;
use super::shape::{self, Kind, Shape};
use crate::outcome::{Failure, FailureKind};
use crate::program::Program;

/// How long a component that could not be compiled is not tried again: each try costs its whole
/// budget of time, and an agent calls hooks all the time.
const REFUSAL: Duration = Duration::from_secs(600);

/// Who compiles, and where the results are kept.
#[derive(Debug, Clone, Default)]
pub struct Compiler {
    /// The program that is started to compile.
    pub program: Program,
    /// Where machine code is kept.
    pub cache: Place,
}

/// What was made of a file's bytes, whatever its hooks are granted.
pub(super) struct Compiled {
    pub(super) code: Code,
    pub(super) shape: Shape,
    pub(super) digest: [u8; 32],
}

pub(super) enum Code {
    Component(Component),
    Module(Module),
}

/// What the process knows of a component.
#[derive(Default)]
enum Known {
    #[default]
    Nothing,
    Compiled(Weak<Compiled>),
    Refused(Failure, Instant),
}

/// Whoever comes first compiles; those who come meanwhile wait.
type Slot = Arc<tokio::sync::Mutex<Known>>;

/// What is known anywhere in the process, by digest: hosts and hooks that load the same bytes
/// share what was compiled.
static KNOWN: Mutex<BTreeMap<[u8; 32], Slot>> = Mutex::new(BTreeMap::new());

/// Compilers that run at once. More would only keep each other from their deadlines.
static AT_ONCE: Semaphore = Semaphore::const_new(2);

/// The machine code of `bytes`, whose SHA-256 is `digest`, for a hook that is granted `offer`.
///
/// # Errors
///
/// Those of [`shape::read`], [`Shape::check`] and [`compile::compile`].
pub(super) async fn get(
    shared: &'static Shared,
    bytes: Bytes,
    digest: [u8; 32],
    offer: Offer,
    compiler: &Compiler,
) -> Result<Arc<Compiled>, Failure> {
    let slot = slot(digest);
    let mut known = slot.lock().await;
    match &*known {
        Known::Compiled(compiled) => {
            if let Some(compiled) = compiled.upgrade() {
                return Ok(compiled);
            }
        }
        Known::Refused(failure, at) if at.elapsed() < REFUSAL => {
            return Err(again(failure, at.elapsed()));
        }
        _ => {}
    }
    let made = make(shared, bytes, digest, offer, compiler).await;
    *known = match &made {
        Ok(compiled) => Known::Compiled(Arc::downgrade(compiled)),
        Err(refusal) if refusal.is_for_good => {
            Known::Refused(refusal.failure.clone(), Instant::now())
        }
        Err(_) => Known::Nothing,
    };
    made.map_err(|refusal| refusal.failure)
}

async fn make(
    shared: &'static Shared,
    bytes: Bytes,
    digest: [u8; 32],
    offer: Offer,
    compiler: &Compiler,
) -> Result<Arc<Compiled>, Refusal> {
    let subject = Subject {
        digest,
        engine: shared.fingerprint,
    };
    let place = compiler.cache.clone();
    let (cache, kept) = blocking(move || {
        let cache = place.open();
        let kept = cache
            .as_ref()
            .and_then(|it| kept(&shared.engine, it, subject));
        Ok((cache, kept))
    })
    .await?;
    if let Some(kept) = kept {
        return kept.map_err(Refusal::from);
    }
    let checked = bytes.clone();
    let shape = blocking(move || {
        let shape = shape::read(&checked)?;
        // What could not be a hook with what is granted is not compiled.
        shape.check(offer)?;
        Ok(shape)
    })
    .await?;
    let result = {
        let _permit = AT_ONCE.acquire().await;
        compile::compile(&compiler.program, &shape, bytes).await
    };
    let code = match result {
        Ok(code) => code,
        Err(refusal) => {
            if let Some(cache) = cache.filter(|_| refusal.is_for_good) {
                let failure = refusal.failure.clone();
                let at = seconds_since_1970();
                let description = Description::Refused { failure, at };
                blocking(move || {
                    cache.put(subject, &description, &[]);
                    Ok(())
                })
                .await?;
            }
            return Err(refusal);
        }
    };
    let compiled = blocking(move || {
        let description = Description::Compiled(shape.clone());
        if let Some(cache) = cache {
            cache.put(subject, &description, &code);
        }
        let code = deserialize(&shared.engine, shape.kind, &code).map_err(|error| {
            Failure::new(
                FailureKind::Host,
                format!("what the compiler made of it cannot be used: {error:#}"),
            )
        })?;
        Ok(Arc::new(Compiled {
            code,
            shape,
            digest,
        }))
    })
    .await?;
    Ok(compiled)
}

/// What the cache has to say. `None` where the component has to be compiled.
fn kept(
    engine: &Engine,
    cache: &Cache,
    subject: Subject,
) -> Option<Result<Arc<Compiled>, Failure>> {
    let found = cache.get(subject)?;
    match found.description {
        Description::Compiled(shape) => {
            let code = deserialize(engine, shape.kind, &found.code).ok()?;
            let digest = subject.digest;
            Some(Ok(Arc::new(Compiled {
                code,
                shape,
                digest,
            })))
        }
        Description::Refused { failure, at } => {
            let age = Duration::from_secs(seconds_since_1970().checked_sub(at)?);
            (age < REFUSAL).then(|| Err(again(&failure, age)))
        }
    }
}

#[expect(
    unsafe_code,
    reason = "machine code can only be taken on trust; whose, stands below"
)]
fn deserialize(engine: &Engine, kind: Kind, code: &[u8]) -> wasmtime::Result<Code> {
    match kind {
        // SAFETY: `code` is what this engine's compiler made. It comes either from the pipe of a
        // child that this process started of its own program, a pipe that nobody else has and an
        // output that begins with this version's words; or from the cache, where a code made with
        // this user's key proves that hookcell wrote these bytes, the very ones in memory, for
        // this engine. A guest has no way to write either.
        Kind::Component => unsafe { Component::deserialize(engine, code) }.map(Code::Component),
        // SAFETY: as above.
        Kind::Module => unsafe { Module::deserialize(engine, code) }.map(Code::Module),
    }
}

fn again(failure: &Failure, age: Duration) -> Failure {
    Failure::new(
        failure.kind,
        format!(
            "{} (found {} s ago; it is tried again after {} s)",
            failure.message,
            age.as_secs(),
            REFUSAL.as_secs()
        ),
    )
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |it| it.as_secs())
}

fn slot(digest: [u8; 32]) -> Slot {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.retain(|_, slot| {
        slot.try_lock().map_or(true, |known| match &*known {
            Known::Nothing => Arc::strong_count(slot) > 1,
            Known::Compiled(compiled) => compiled.strong_count() > 0,
            Known::Refused(_, at) => at.elapsed() < REFUSAL,
        })
    });
    Arc::clone(known.entry(digest).or_default())
}
