//! hooks.json: found, read, checked, and turned into one ordered list of hooks.
//!
//! [`discover`] finds the files, [`Configuration::read`] reads one. A file is strict JSON of at most
//! 4 MiB. Only a file that is unusable as a whole is a [`ConfigError`]; everything else that is
//! wrong is a [`Diagnostic`] with file, line and column, what is wrong and what would be right:
//!
//! * a bad entry drops that entry alone, and a bad group that group;
//! * but an entry that says `"onFailure": "block"` (or anything else than `continue`) and cannot be
//!   accepted stays, as [`Handler::Refused`]: a guard with a mistake in it blocks, and does not
//!   vanish;
//! * unknown keys are warnings; of duplicate keys the last counts, with a warning.
//!
//! One entry is read into the types of `entry`, and the JSON Schema ([`schema()`]) is made from the
//! same types.

mod deny;
mod diagnostic;
mod discover;
mod entry;
mod event_names;
mod fault;
mod fields;
mod folder;
mod handler;
mod hook;
mod model;
mod near;
mod permissions;
mod read;
mod schema;
mod source;
mod values;

pub(crate) use deny::{Deny, Reason};
pub use diagnostic::{ConfigError, Diagnostic, Severity};
pub use discover::discover;
pub(crate) use folder::expand;
pub use model::{
    Command, CommandLine, Component, ComponentSource, Configuration, Handler, Hook, Limits,
    OnFailure, Sandbox, Shell,
};
pub use permissions::{Access, Clock, FilesystemGrant, NetworkGrant, Permissions, Random};
pub use schema::schema;
