//! Everything wasmtime: loading a guest, linking it, and running it once under its limits.
//!
//! This is the only folder that names wasmtime. A guest is a WASI 0.2 component of the
//! `wasi:cli/command` world, or a core module of WASI preview1, which runs on the preview1 linker
//! as it is, since the usual adapter would turn its exit code 2 into 1.
//!
//! Stopping a guest takes three things, none enough alone: fuel bounds work, the epoch is checked
//! against a monotonic deadline and bounds computing time, and dropping the future ends a guest
//! that is asleep in a host call. A store is used for one event and thrown away.

mod bulk;
pub mod cache;
mod clock;
pub mod compile;
mod compiled;
mod denials;
mod engine;
mod environment;
mod files;
mod grants;
mod interfaces;
mod limits;
mod link;
mod load;
mod network;
mod provided;
mod random;
mod run;
mod settings;
pub mod shape;
mod sockets;
mod state;
mod stdio;
mod store;
pub mod turns;

pub use compiled::Compiler;
pub use files::Folders;
pub use link::Offer;
pub use load::{Guest, LARGEST_FILE, check_pin, load, read_file};
pub use run::{Request, run};
pub use turns::Turns;
