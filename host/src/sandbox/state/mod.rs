//! A hook's own small store (`wasi:keyvalue`), which is kept from event to event.
//!
//! wasmtime's own implementation of this interface keeps everything in memory, so the interface is
//! implemented here, on a database file for each hook and project.

mod database;
mod place;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use wasmtime::component::{HasSelf, Linker, Resource, ResourceTableError};

use super::denials::Denials;
use super::store::ComponentState;
use crate::config::Component;
use crate::outcome::{Failure, FailureKind};
use bindings::wasi::keyvalue::{atomics, batch, store};
use database::{Database, Fault};
use store::KeyResponse;

mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/deps/keyvalue.wit",
        world: "wasi:keyvalue/imports",
        imports: { default: async | trappable },
        with: { "wasi:keyvalue/store.bucket": super::Bucket },
        trappable_error_type: { "wasi:keyvalue/store.error" => super::NotDone },
        require_store_data_send: true,
    });
}

/// The names of a hook's one store.
const NAMES: [&str; 2] = ["", "default"];

/// The open store of one run.
pub(super) struct Store {
    database: Arc<Mutex<Database>>,
    deadline: Instant,
    denials: Denials,
}

impl Store {
    /// Opens the store of a component in a project; waits for the disk, and for other processes, so
    /// not to be called where a guest runs.
    ///
    /// # Errors
    ///
    /// [`FailureKind::GrantUnavailable`]: a hook that was promised to remember must not decide as if
    /// it had nothing to.
    pub(super) fn open(
        component: &Component,
        project: &Path,
        deadline: Instant,
        denials: Denials,
    ) -> Result<Self, Failure> {
        let unavailable = |why: String| {
            Failure::new(
                FailureKind::GrantUnavailable,
                format!("`permissions.state` grants a store, and {why}"),
            )
        };
        let source = component.source.resolve(project);
        let file = place::file(&source, project).map_err(unavailable)?;
        let limit = component.limits.state;
        let (database, damaged) = database::open(&file, limit, deadline)
            .map_err(|fault| unavailable(format!("`{}` {fault}", file.display())))?;
        if let Some(aside) = damaged {
            let what = format!(
                "state: what it had kept was damaged; that is now `{}`, and it begins anew",
                aside.display()
            );
            denials.note(&what, None);
        }
        Ok(Self {
            database: Arc::new(Mutex::new(database)),
            deadline,
            denials,
        })
    }
}

/// A guest's handle of its store.
pub struct Bucket;

/// Why something was not done.
pub enum NotDone {
    NoSuchStore,
    Other(String),
    Trap(wasmtime::Error),
}

impl From<ResourceTableError> for NotDone {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

/// Links a guest's store.
pub(super) fn link_component(linker: &mut Linker<ComponentState>) -> wasmtime::Result<()> {
    type Own = HasSelf<ComponentState>;
    store::add_to_linker::<_, Own>(linker, |state| state)?;
    atomics::add_to_linker::<_, Own>(linker, |state| state)?;
    batch::add_to_linker::<_, Own>(linker, |state| state)
}

impl ComponentState {
    /// Does something with the database, away from the guests' threads. What has begun is done even
    /// if the guest is ended meanwhile.
    async fn on_database<T: Send + 'static>(
        &mut self,
        bucket: &Resource<Bucket>,
        act: impl FnOnce(&mut Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, NotDone> {
        self.table.get(bucket)?;
        let Some(store) = &self.provided.store else {
            return Err(NotDone::NoSuchStore);
        };
        let (database, deadline) = (Arc::clone(&store.database), store.deadline);
        let done = tokio::task::spawn_blocking(move || {
            let mut database = database.lock().unwrap_or_else(PoisonError::into_inner);
            database.until(deadline, act)
        });
        match done.await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(fault)) => {
                let fault = fault.told();
                store.denials.note(&format!("state: {fault}"), None);
                Err(NotDone::Other(fault))
            }
            Err(error) => Err(NotDone::Trap(wasmtime::Error::new(error))),
        }
    }
}

impl store::Host for ComponentState {
    async fn open(&mut self, identifier: String) -> Result<Resource<Bucket>, NotDone> {
        if NAMES.contains(&identifier.as_str()) {
            Ok(self.table.push(Bucket)?)
        } else {
            Err(NotDone::NoSuchStore)
        }
    }

    fn convert_error(&mut self, error: NotDone) -> wasmtime::Result<store::Error> {
        match error {
            NotDone::NoSuchStore => Ok(store::Error::NoSuchStore),
            NotDone::Other(why) => Ok(store::Error::Other(why)),
            NotDone::Trap(error) => Err(error),
        }
    }
}

impl store::HostBucket for ComponentState {
    async fn get(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
    ) -> Result<Option<Vec<u8>>, NotDone> {
        self.on_database(&bucket, move |it| it.get(&key)).await
    }

    async fn set(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        value: Vec<u8>,
    ) -> Result<(), NotDone> {
        self.on_database(&bucket, move |it| it.set_all(&[(key, value)]))
            .await
    }

    async fn delete(&mut self, bucket: Resource<Bucket>, key: String) -> Result<(), NotDone> {
        self.on_database(&bucket, move |it| it.delete_all(&[key]))
            .await
    }

    async fn exists(&mut self, bucket: Resource<Bucket>, key: String) -> Result<bool, NotDone> {
        self.on_database(&bucket, move |it| it.has(&key)).await
    }

    async fn list_keys(
        &mut self,
        bucket: Resource<Bucket>,
        cursor: Option<u64>,
    ) -> Result<KeyResponse, NotDone> {
        let page = self
            .on_database(&bucket, move |it| it.keys(cursor.unwrap_or(0)))
            .await?;
        Ok(KeyResponse {
            keys: page.keys,
            cursor: page.next,
        })
    }

    async fn drop(&mut self, bucket: Resource<Bucket>) -> wasmtime::Result<()> {
        self.table.delete(bucket)?;
        Ok(())
    }
}

impl atomics::Host for ComponentState {
    async fn increment(
        &mut self,
        bucket: Resource<Bucket>,
        key: String,
        delta: u64,
    ) -> Result<u64, NotDone> {
        self.on_database(&bucket, move |it| it.increment(&key, delta))
            .await
    }
}

impl batch::Host for ComponentState {
    async fn get_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Result<Vec<Option<(String, Vec<u8>)>>, NotDone> {
        self.on_database(&bucket, move |it| it.get_all(keys)).await
    }

    async fn set_many(
        &mut self,
        bucket: Resource<Bucket>,
        key_values: Vec<(String, Vec<u8>)>,
    ) -> Result<(), NotDone> {
        self.on_database(&bucket, move |it| it.set_all(&key_values))
            .await
    }

    async fn delete_many(
        &mut self,
        bucket: Resource<Bucket>,
        keys: Vec<String>,
    ) -> Result<(), NotDone> {
        self.on_database(&bucket, move |it| it.delete_all(&keys))
            .await
    }
}
