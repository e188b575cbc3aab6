//! `cargo xtask bench`: the benchmarks.

use anyhow::Result;

use crate::{process, repository};

/// Runs every benchmark of the workspace.
pub fn run(bench_arguments: &[String]) -> Result<()> {
    // The bench profile is the release profile, and the selection is that of the tests: what the
    // tests compiled is used again.
    process::run(
        repository::cargo()?
            .args(["bench", "--locked", "--workspace", "--bench", "*", "--"])
            .args(bench_arguments),
    )
}
