//! What a developer of hookcell runs: `cargo xtask guests | test | bench | fuzz | soak | ci`.

mod bench;
mod ci;
mod fuzz;
mod guests;
mod needs;
mod one_copy;
mod process;
mod repository;
mod say;
mod soak;
mod steps;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::steps::Steps;

/// Builds, tests and measures hookcell.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the guests (plugins and test guests) to the .wasm files kept in the repository
    Guests(guests::Arguments),
    /// Install what the tests need, then run all of them
    Test {
        /// Passed on to cargo-nextest, after `--`
        #[arg(last = true, value_name = "NEXTEST ARGUMENTS")]
        runner_arguments: Vec<String>,
    },
    /// Run the benchmarks
    Bench {
        /// Passed on to the benchmarks, after `--`
        #[arg(last = true, value_name = "CRITERION ARGUMENTS")]
        bench_arguments: Vec<String>,
    },
    /// Run the fuzz targets, each for a while
    Fuzz(fuzz::Arguments),
    /// Run one host through many events, and see whether it grows
    Soak(soak::Arguments),
    /// Everything that must pass before a change is merged
    Ci,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Guests(arguments) => guests::run(&arguments),
        Command::Test { runner_arguments } => {
            Steps::all(|steps| test::run(steps, &runner_arguments))
        }
        Command::Bench { bench_arguments } => bench::run(&bench_arguments),
        Command::Fuzz(arguments) => Steps::all(|steps| fuzz::run(steps, &arguments)),
        Command::Soak(arguments) => soak::run(&arguments),
        Command::Ci => Steps::all(ci::run),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(&error);
            ExitCode::FAILURE
        }
    }
}
