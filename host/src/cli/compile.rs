//! The hidden subcommand that hookcell starts itself with, to compile a component.

use std::io::Write;

use clap::{Args, ValueEnum};

use crate::sandbox::compile::{self, Task};
use crate::sandbox::shape::Kind;

/// Compile the component on standard input to machine code on standard output
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[arg(long)]
    kind: KindArgument,
    #[arg(long)]
    seconds: u64,
    #[arg(long)]
    memory: u64,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum KindArgument {
    Component,
    Module,
}

pub(super) fn run(arguments: &Arguments, stderr: &mut dyn Write) -> u8 {
    let task = Task {
        kind: match arguments.kind {
            KindArgument::Component => Kind::Component,
            KindArgument::Module => Kind::Module,
        },
        seconds: arguments.seconds,
        memory: arguments.memory,
    };
    // The program's own stdout takes colours out, and machine code may look like one.
    let mut stdout = std::io::stdout().lock();
    compile::serve(task, &mut std::io::stdin().lock(), &mut stdout, stderr)
}
