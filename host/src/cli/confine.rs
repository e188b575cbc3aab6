//! `hookcell confine-command`: what hookcell starts in a command's place, if that has a `sandbox`.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;

pub(super) use crate::run::command::confine::SUBCOMMAND;
use crate::run::command::confine::{Policy, enter};

/// Give up all rights but these, and become a command; hookcell starts this itself
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// What may be read and run
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,

    /// What may be read, run and written
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,

    /// A TCP port that may be connected to
    #[arg(long, value_name = "NUMBER")]
    port: Vec<u16>,

    /// Address space of each process
    #[arg(long, value_name = "BYTES")]
    memory: Option<u64>,

    /// Processor time of each process
    #[arg(long, value_name = "SECONDS")]
    cpu: Option<u64>,

    /// Run the command where not all of this can be enforced
    #[arg(long)]
    best_effort: bool,

    /// The program and its arguments
    #[arg(last = true, required = true)]
    line: Vec<OsString>,
}

pub(super) fn run(arguments: Arguments, stderr: &mut dyn Write) -> u8 {
    let policy = Policy {
        read: arguments.read,
        write: arguments.write,
        ports: arguments.port,
        memory: arguments.memory,
        cpu: arguments.cpu,
        best_effort: arguments.best_effort,
    };
    enter(&policy, &arguments.line, stderr)
}
