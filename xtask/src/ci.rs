//! `cargo xtask ci`: everything that must pass before a change is merged, quick checks first.

use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::needs::{self, DENY};
use crate::steps::Steps;
use crate::test::{self, SELECTION};
use crate::{fuzz, one_copy, process, repository, say};

/// How long the database of advisories may take to arrive.
const ADVISORIES_LIMIT: Duration = Duration::from_secs(60);

/// Runs all checks and all tests.
pub fn run(steps: &mut Steps) -> Result<()> {
    // First, though the tests come late: what cannot be installed should not take minutes to show.
    steps.run("what the tests need", needs::test_programs)?;
    steps.run("format", || {
        process::run(repository::cargo()?.args(["fmt", "--all", "--check"]))
    })?;
    steps.run("one copy of wasmtime", one_copy::check)?;
    steps.run("cargo-deny", || needs::cargo_tool(&DENY))?;
    steps.run("licences, bans, sources", || {
        process::run(
            deny()?
                .args(["check", "--hide-inclusion-graph"])
                .args(["licenses", "bans", "sources"]),
        )
    })?;
    steps.run("advisories", advisories)?;
    steps.run("lints", || {
        process::run(repository::cargo()?.arg("clippy").args(SELECTION).args([
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ]))
    })?;
    test::run_prepared(steps, &[])?;
    steps.run("documentation", || {
        process::run(
            repository::cargo()?
                .arg("doc")
                .args(SELECTION)
                .arg("--no-deps")
                .env("RUSTDOCFLAGS", "--deny warnings"),
        )
    })?;
    // Last: the targets are built with instrumentation, wasmtime and all.
    fuzz::smoke(steps)
}

/// Known vulnerabilities in dependencies. Their database is not in the Rust registry, so a machine
/// that reaches only the registry cannot have it; that is told and is no failure.
fn advisories() -> Result<()> {
    let mut fetch = repository::cargo()?;
    fetch.args(["deny", "fetch", "db"]);
    if !process::succeeds_within(ADVISORIES_LIMIT, &mut fetch) {
        say::notice("the database of advisories cannot be reached: advisories were NOT checked");
        return Ok(());
    }
    process::run(deny()?.args(["--offline", "check", "advisories"]))
}

fn deny() -> Result<Command> {
    let mut command = repository::cargo()?;
    command.args(["deny", "--locked", "--workspace"]);
    Ok(command)
}
