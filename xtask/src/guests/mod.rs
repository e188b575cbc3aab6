//! `cargo xtask guests`: the guests, from source to the files that the repository keeps.
//!
//! They are kept so that a user of hookcell needs no compiler for WebAssembly, and rebuilt by every
//! run of the tests, so that what is kept is what the sources say.

mod build;
mod check;
mod debian;
mod digest;
mod judge;
mod record;
mod remap;
mod rustup;
mod sources;
mod table;
mod toolchain;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};

pub use self::check::check;
pub use self::toolchain::Choice;

use self::build::Builder;
use self::record::Record;
use self::table::GUESTS;
use crate::{repository, say};

/// How the guests are to be built.
#[derive(clap::Args)]
pub struct Arguments {
    /// Build into a temporary place and fail if the bytes differ from the committed ones
    #[arg(long)]
    check: bool,
    /// The compiler to build with
    #[arg(long, value_enum, default_value_t = Choice::Auto)]
    toolchain: Choice,
}

/// Builds or checks.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.check {
        check(arguments.toolchain)
    } else {
        build(arguments.toolchain)
    }
}

/// Builds all guests, and keeps them together with the record of what made them.
fn build(choice: Choice) -> Result<()> {
    let root = repository::root()?;
    let recorded = Record::read()?;
    let toolchain = toolchain::obtain(choice, recorded.as_ref().map(|record| record.kind))?;
    if let Some(recorded) = recorded
        && !recorded.is_made_by(&toolchain)
    {
        say::notice(&format!(
            "the committed guests were built by another compiler than the {} one used now, so \
             all their bytes may change",
            toolchain.kind
        ));
    }
    let builder = Builder::new(&toolchain)?;
    // All before the first is kept: a guest that does not build leaves the files as they were.
    let mut built = Vec::new();
    let mut sources = BTreeMap::new();
    for guest in &GUESTS {
        say::note(&format!("building {}", guest.file));
        built.push((guest.file, builder.build(guest)?));
        if !sources.contains_key(guest.package) {
            sources.insert(guest.package.to_owned(), sources::digest(guest.package)?);
        }
    }
    for (file, bytes) in built {
        keep(&root.join(file), &bytes)?;
        say::note(&format!(
            "{file}: {} KiB, sha256 {}",
            bytes.len().div_ceil(1024),
            digest::of(&bytes)
        ));
    }
    Record {
        kind: toolchain.kind,
        identity: toolchain.identity,
        sources,
    }
    .write()
}

/// Puts a file in its place in one step, since tests may be reading the old one.
fn keep(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension("wasm.new");
    std::fs::write(&new, bytes)
        .and_then(|()| std::fs::rename(&new, path))
        .with_context(|| format!("{} cannot be written", path.display()))
}
