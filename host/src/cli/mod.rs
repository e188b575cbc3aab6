//! The command line: one file a subcommand.
//!
//! Data goes to stdout, everything else to stderr. Exit codes are 0 for success, 1 for an error,
//! and 2 for nothing but a block: a mistyped flag must not look like a decision to an agent.

mod cache;
mod check;
mod compile;
mod confine;
mod demo;
mod inspect;
mod problem;
mod run;
mod schema;
mod source;
mod test;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use problem::Problem;

use crate::program::Program;
use crate::sandbox::compile::SUBCOMMAND;

/// Runs the hooks of AI agents: shell commands and sandboxed WASI components, from one hooks.json.
#[derive(Debug, Parser)]
#[command(name = "hookcell", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Try it:
  hookcell demo                                 six events, decided before your eyes
  hookcell run PreToolUse < event.json          one event through your hooks.json
  hookcell check                                everything wrong with your hooks.json

In an agent of the Claude hook contract, register `hookcell run` as the hook's command. It exits
with 2 for a block and with 0 otherwise; 1 means that hookcell itself could not do its work.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Check(check::Arguments),
    Inspect(inspect::Arguments),
    Test(Box<test::Arguments>),
    Schema(schema::Arguments),
    Cache(cache::Arguments),
    Demo(demo::Arguments),
    #[command(name = SUBCOMMAND, hide = true)]
    Compile(compile::Arguments),
    #[command(name = confine::SUBCOMMAND, hide = true)]
    Confine(confine::Arguments),
}

/// Runs the program with the process's arguments.
pub fn main() -> ExitCode {
    Program::is_running();
    ExitCode::from(run_with(
        std::env::args_os(),
        &mut anstream::stdout(),
        &mut anstream::stderr(),
    ))
}

/// Runs the program with these arguments and outputs, and returns its exit code.
pub fn run_with(
    arguments: impl IntoIterator<Item = OsString>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> u8 {
    log_to_stderr();
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error, stdout, stderr),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments, stdout, stderr),
        Command::Check(arguments) => check::run(&arguments, stdout),
        Command::Inspect(arguments) => inspect::run(&arguments, stdout),
        Command::Test(arguments) => test::run(&arguments, stdout),
        Command::Schema(arguments) => schema::run(&arguments, stdout),
        Command::Cache(arguments) => cache::run(&arguments, stdout),
        Command::Demo(arguments) => demo::run(&arguments, stdout),
        Command::Compile(arguments) => Ok(compile::run(&arguments, stderr)),
        Command::Confine(arguments) => Ok(confine::run(arguments, stderr)),
    };
    match result.and_then(|code| stdout.flush().map(|()| code).map_err(Problem::from)) {
        Ok(code) => code,
        Err(problem) => problem.report(stderr),
    }
}

/// Help and version go to stdout; a mistake in the arguments is an error like all others.
fn usage<'a>(error: &clap::Error, stdout: &'a mut dyn Write, stderr: &'a mut dyn Write) -> u8 {
    let text = error.render();
    let code = u8::from(error.use_stderr());
    let output = if code == 0 { stdout } else { stderr };
    // anstream takes the colours out where they are not wanted. Nobody is left to tell a failure.
    let _ = write!(output, "{}", text.ansi());
    code
}

/// Logs what `RUST_LOG` asks for, by default nothing: stderr is part of the contract with agents.
fn log_to_stderr() {
    use tracing_subscriber::EnvFilter;
    let filter = std::env::var("RUST_LOG").unwrap_or_default();
    if filter.is_empty() {
        return;
    }
    // Fails if the embedding program has a logger of its own, which then is the one.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .try_init();
}

/// A runtime for one command: timers and subprocesses on this thread, guests on their own.
fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Problem::new(format!("the machine gives no event loop: {error}")))
}
