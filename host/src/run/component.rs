//! A component hook: its bytes found, its pin checked, one run in the sandbox.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use crate::builtin;
use crate::config::{Component, ComponentSource};
use crate::outcome::{Failure, Outcome};
use crate::sandbox::{self, Compiler, Folders, Guest, Offer, Turns};

/// The guests that a host has loaded, and the folders that it has opened for them. Each file is
/// read and compiled once, on first use, and the very bytes that were compiled are the ones whose
/// digest a pin is held against.
#[derive(Debug)]
pub struct Guests {
    compiler: Compiler,
    turns: Turns,
    loaded: Mutex<HashMap<(ComponentSource, Offer), Slot>>,
    folders: Folders,
}

/// Whoever comes first loads; those who come meanwhile wait for the same guest.
type Slot = Arc<tokio::sync::OnceCell<Arc<Guest>>>;

impl Guests {
    /// No guests yet; those to come are compiled by `compiler`
    /// and take `turns`.
    pub fn new(compiler: Compiler, turns: Turns) -> Self {
        Self {
            compiler,
            turns,
            loaded: Mutex::default(),
            folders: Folders::default(),
        }
    }

    /// The guest of a component hook, loaded if it is not yet.
    ///
    /// # Errors
    ///
    /// A failure of loading ([`sandbox::load`]), or
    /// [`FailureKind::DigestMismatch`](crate::outcome::FailureKind::DigestMismatch). A failure is
    /// not kept: the file may be there the next time.
    pub async fn get(&self, component: &Component, project: &Path) -> Result<Arc<Guest>, Failure> {
        let source = component.source.resolve(project);
        let offer = Offer::of(&component.permissions);
        let slot = {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(loaded.entry((source.clone(), offer)).or_default())
        };
        let guest = slot
            .get_or_try_init(|| load(source, component.sha256, offer, self.compiler.clone()))
            .await?;
        // Another hook may have loaded the same file without a pin, or with another one.
        sandbox::check_pin(guest.digest(), component.sha256)?;
        Ok(Arc::clone(guest))
    }
}

async fn load(
    source: ComponentSource,
    pin: Option<[u8; 32]>,
    offer: Offer,
    compiler: Compiler,
) -> Result<Arc<Guest>, Failure> {
    let read = move || match source {
        ComponentSource::Builtin(name) => builtin::bytes(&name).map(<[u8]>::to_vec),
        ComponentSource::File(path) => sandbox::read_file(&path),
    };
    sandbox::load(read, pin, offer, compiler).await
}

/// Runs a component hook once.
pub async fn run(
    guests: &Guests,
    component: &Component,
    payload: &Bytes,
    project: &Path,
    timeout: Duration,
) -> Outcome {
    let guest = match guests.get(component, project).await {
        Ok(guest) => guest,
        Err(failure) => return Outcome::never_ran(failure),
    };
    // Its own name and no more: the path tells of the user and the machine.
    let name = match &component.source {
        ComponentSource::File(path) => path.file_name().unwrap_or_default().to_string_lossy(),
        ComponentSource::Builtin(name) => name.into(),
    };
    let request = sandbox::Request {
        component,
        name: &name,
        payload,
        workspace: project,
        folders: &guests.folders,
        timeout,
        turns: &guests.turns,
    };
    sandbox::run(guest, request).await
}
