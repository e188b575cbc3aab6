//! hooks.json: found, read, checked, and turned into one ordered list of hooks.
//!
//! One bad entry drops that entry alone, with a [`Diagnostic`] that names file, line and column,
//! what is wrong and what would be right. An entry that says `"onFailure": "block"` and cannot be
//! accepted stays as [`Handler::Refused`]: a guard with a mistake in it blocks, and does not vanish.

mod diagnostic;
mod discover;
mod entry;
mod handler;
mod model;
mod read;
mod schema;
mod value;

pub use diagnostic::{ConfigError, Diagnostic, Severity};
pub use discover::discover;
pub use model::{
    Access, Command, CommandLine, Component, ComponentSource, Configuration, FilesystemGrant, Handler, Hook, Limits,
    OnFailure, Permissions, Shell,
};
pub use schema::schema;
