//! The compiler made from Debian's packages: the recipe is the script in `xtask/wasm-toolchain`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::record;
use super::toolchain::{Kind, Toolchain};
use crate::{process, repository};

/// Makes the toolchain, or finds it made.
pub fn obtain() -> Result<Toolchain> {
    if !process::is_on_path("apt-get") {
        bail!("it is made from Debian's packages, and there is no apt-get on this machine");
    }
    let script = repository::root()?.join("xtask/wasm-toolchain/make.sh");
    let printed = process::output(&mut Command::new(script))?;
    let folder = PathBuf::from(printed.trim_end_matches('\n'));
    let identity = folder.join("IDENTITY");
    let identity = std::fs::read_to_string(&identity)
        .with_context(|| format!("{} cannot be read", identity.display()))?;
    Ok(Toolchain {
        kind: Kind::Debian,
        rustc: folder.join("bin/rustc"),
        identity: record::pairs(&identity)?,
    })
}
