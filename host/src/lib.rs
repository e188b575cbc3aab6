//! hookcell runs the hooks of AI agents: shell commands and sandboxed WASI components, side by
//! side in one `hooks.json`, under one contract.
//!
//! Data flows one way, and each station is a module:
//!
//! ```text
//! an event   → event      its original bytes, and the few fields that selection needs
//! hooks.json → config     one ordered list of hooks; every mistake named with line and column
//!            → select     the hooks whose event and matcher fit this event
//!            → run        each hook by its handler, command or component, to an Outcome
//!            → contract   one Outcome by the exit-code contract to a Verdict
//!            → merge      all Verdicts, in configuration order, to a Decision
//!            → dialect    the Decision as the agent expects it: stdout, stderr, exit code
//!            → record     one record a run: who, what, how long, how much fuel, why
//! ```
//!
//! [`sandbox`] is what a component runs in, and the only module that names wasmtime.
//!
//! Start at [`Host`]: [`Host::builder`], then [`Host::dispatch`].

pub mod builtin;
pub mod cli;
pub mod config;
pub mod contract;
pub mod dialect;
pub mod event;
mod host;
pub mod merge;
pub mod outcome;
mod program;
pub mod record;
pub mod run;
pub mod sandbox;
pub mod select;
pub mod text;

pub use event::{Event, EventError};
pub use host::{Host, HostBuilder};
pub use merge::Decision;
pub use program::Program;
