//! `cargo xtask test`: all tests, on a machine that has nothing but Rust.

use anyhow::Result;

use crate::guests::{self, Choice};
use crate::needs::{self, NEXTEST};
use crate::steps::Steps;
use crate::{process, repository, say};

/// What every step of CI builds with. One selection and one profile for all, so that wasmtime and
/// the other dependencies are compiled once: another selection would unify features differently.
pub const SELECTION: [&str; 3] = ["--locked", "--release", "--workspace"];

/// Installs, checks the committed guests, runs the tests and the examples in the documentation.
pub fn run(steps: &mut Steps, runner_arguments: &[String]) -> Result<()> {
    steps.run("what the tests need", needs::test_programs)?;
    run_prepared(steps, runner_arguments)
}

/// The same, where the programs that the tests call are known to be there.
pub fn run_prepared(steps: &mut Steps, runner_arguments: &[String]) -> Result<()> {
    let has_nextest = steps.run("test runner", || Ok(has_nextest()))?;
    steps.run("guests: rebuild and compare", || {
        guests::check(Choice::Auto)
    })?;
    steps.run("tests", || {
        let mut command = repository::cargo()?;
        if has_nextest {
            command.args(["nextest", "run"]).args(SELECTION);
            command.args(runner_arguments);
        } else {
            command.arg("test").args(SELECTION);
            // Those that nextest runs; the documentation's examples have their own step.
            command.args(["--lib", "--bins", "--tests", "--examples"]);
        }
        process::run(&mut command)
    })?;
    steps.run("documentation examples", || {
        // The examples run components, and the program that compiles those is not theirs.
        process::run(repository::cargo()?.arg("build").args(SELECTION))?;
        process::run(
            repository::cargo()?
                .arg("test")
                .args(SELECTION)
                .arg("--doc")
                .env("HOOKCELL_PROGRAM", repository::program()?),
        )
    })
}

fn has_nextest() -> bool {
    match needs::cargo_tool(&NEXTEST) {
        Ok(()) => true,
        Err(error) => {
            say::notice(&format!(
                "cargo-nextest could not be installed, so the tests run with plain `cargo test`, \
                 without the arguments meant for nextest ({error:#})"
            ));
            false
        }
    }
}
