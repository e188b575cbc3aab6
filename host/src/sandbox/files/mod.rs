//! The files of a guest: granted folders, and below them all but what `deny` and the defaults
//! except.
//!
//! wasmtime's own implementation knows granted folders and no exceptions in them. So whatever
//! takes a path is done here, for both kinds of guest: [`place`] walks the path, [`operation`]
//! checks and does it. What takes an open file is wasmtime's in the lane of components
//! ([`component`]); in that of preview1 modules, whose table of descriptors is closed to others,
//! it is done here as well ([`module`]).
//!
//! What others see is [`Folders`], which a host keeps, and [`Files`], which a run does.

mod budget;
mod component;
mod descriptors;
mod fault;
mod granted;
mod module;
mod operation;
mod place;
mod stream;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use self::budget::{Budget, Share};
use self::descriptors::Descriptors;
use self::fault::Fault;
pub use self::granted::Folders;
use self::granted::Granted;
use self::place::Place;
use super::denials::Denials;
use crate::config::Permissions;
use crate::outcome::Failure;

pub(super) use self::component::link_component;
pub(super) use self::module::link_module;

/// What a guest is told to grant if it asks for folders and has none.
const GRANT: &str = r#""filesystem": [{"path": "${workspace}", "access": "read"}]"#;

/// The files of one run.
pub(super) struct Files {
    granted: Vec<Arc<Granted>>,
    denials: Denials,
    budget: Budget,
    /// What a component holds open, by its index in the table of resources.
    held: HashMap<u32, Held>,
    /// The lists of folders that a component holds, by their indices in the table of resources.
    listed: HashMap<u32, Share>,
    /// What a module holds open, by its descriptor.
    open: Descriptors,
}

/// What a component holds open.
struct Held {
    /// Where it is, if it is a folder.
    place: Option<Place>,
    /// Whether it may be changed.
    changeable: bool,
    /// Shared with the streams of a file, which keep it open.
    share: Arc<Share>,
}

impl Files {
    /// The files that these permissions grant.
    ///
    /// # Errors
    ///
    /// [`FailureKind::GrantUnavailable`](crate::outcome::FailureKind::GrantUnavailable), see
    /// [`Folders`].
    pub(super) fn new(
        permissions: &Permissions,
        workspace: &Path,
        folders: &Folders,
        denials: Denials,
    ) -> Result<Self, Failure> {
        let mut files = Self {
            granted: folders.open(&permissions.filesystem, workspace)?,
            denials,
            budget: Budget::new(),
            held: HashMap::new(),
            listed: HashMap::new(),
            open: Descriptors::default(),
        };
        files.open = Descriptors::new(files.roots());
        Ok(files)
    }

    /// The granted folders, each as the place where its paths begin.
    fn roots(&self) -> Vec<Place> {
        self.granted
            .iter()
            .map(|granted| Place {
                granted: Arc::clone(granted),
                handle: Arc::clone(&granted.handle),
                path: String::new(),
                budget: self.budget.clone(),
            })
            .collect()
    }

    /// Tells that the guest asked for its folders, if it has none.
    fn note_if_none_granted(&self) {
        if self.granted.is_empty() {
            self.denials.note(
                "files: it asks for folders, and none is granted",
                Some(GRANT),
            );
        }
    }

    /// The result as the guest gets it; what was denied is counted.
    fn settle<T>(&self, result: Result<T, Fault>) -> Result<T, Errno> {
        result.map_err(|fault| match fault {
            Fault::System(errno) => errno,
            Fault::Denied(errno, denial) => {
                self.denials.note(&denial.what, denial.grant.as_deref());
                errno
            }
        })
    }
}

/// Does what may block on a thread that is there for it.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    wasmtime_wasi::runtime::spawn_blocking(work).await
}

#[cfg(test)]
mod tests;
