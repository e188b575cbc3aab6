//! `hookcell inspect`: what a file imports, what it could do, and how it can end.

use std::io::Write;

use clap::Args;
use sha2::{Digest as _, Sha256};

use super::problem::Problem;
use crate::sandbox::shape::{self, ExitCodes, Kind, Shape};
use crate::{builtin, sandbox};

/// Show what a component asks for, what it could do, and whether it can exit with 2
///
/// Reads the file without compiling or running it. Exit code 0 if it can be a hook, else 1.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A .wasm file, or builtin:NAME
    #[arg(value_name = "FILE")]
    file: String,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What an interface is for, in plain words, the most powerful first.
const MEANINGS: [(&str, &str); 16] = [
    (
        "wasi:sockets/",
        "network connections: every address is refused",
    ),
    ("wasi:http/", "requests to other machines: not offered"),
    (
        "wasi:filesystem/",
        "files: only in the folders that `permissions.filesystem` grants",
    ),
    (
        "wasi:cli/environment",
        "arguments, and the variables that `permissions.environment` grants",
    ),
    (
        "wasi_snapshot_preview1",
        "WASI preview1: files and variables only as granted, its streams, clock, random",
    ),
    ("wasi:random/", "random numbers"),
    ("wasi:clocks/wall-clock", "the time of day"),
    (
        "wasi:clocks/",
        "time passing, and sleeping within its timeout",
    ),
    ("wasi:cli/exit", "ending with an exit code"),
    ("wasi:cli/stdin", "the event"),
    ("wasi:cli/stdout", "the decision"),
    ("wasi:cli/stderr", "diagnostics"),
    (
        "wasi:cli/terminal",
        "asking whether there is a terminal: there is none",
    ),
    ("wasi:io/", "the machinery of streams"),
    ("wasi:cli/", "the command world of WASI 0.2"),
    ("", "not offered"),
];

pub(super) fn run(arguments: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let bytes = match arguments.file.strip_prefix("builtin:") {
        Some(name) => builtin::bytes(name).map(<[u8]>::to_vec),
        None => sandbox::read_file(arguments.file.as_ref()),
    };
    let bytes = bytes.map_err(|failure| Problem::new(failure.message))?;
    let shape = shape::read(&bytes)
        .map_err(|failure| Problem::new(format!("`{}`: {}", arguments.file, failure.message)))?;
    let digest = hex::encode(Sha256::digest(&bytes));
    let verdict = shape.check(sandbox::Offer::ALL);
    if arguments.json {
        let json = serde_json::json!({
            "file": arguments.file,
            "bytes": bytes.len(),
            "sha256": digest,
            "shape": shape,
            "failure": verdict.as_ref().err(),
        });
        writeln!(stdout, "{json:#}")?;
    } else {
        print(arguments, &bytes, &digest, &shape, stdout)?;
        match &verdict {
            Ok(()) => writeln!(stdout, "\nIt can be a hook.")?,
            Err(failure) => writeln!(stdout, "\nIt cannot be a hook: {}.", failure.message)?,
        }
    }
    Ok(u8::from(verdict.is_err()))
}

fn print(
    arguments: &Arguments,
    bytes: &[u8],
    digest: &str,
    shape: &Shape,
    stdout: &mut dyn Write,
) -> Result<(), Problem> {
    let kind = match shape.kind {
        Kind::Component => "component (WASI 0.2)",
        Kind::Module => "core module (WASI preview1)",
    };
    writeln!(stdout, "file      {}", arguments.file)?;
    writeln!(stdout, "kind      {kind}")?;
    writeln!(
        stdout,
        "size      {}",
        bytesize::ByteSize::b(bytes.len() as u64).display().iec()
    )?;
    writeln!(stdout, "sha256    {digest}")?;
    writeln!(stdout, "\nimports")?;
    let mut imports: Vec<(usize, &str)> = shape
        .imports
        .keys()
        .map(|name| (meaning(name), name.as_str()))
        .collect();
    imports.sort_unstable();
    let width = imports
        .iter()
        .map(|(_, name)| name.len())
        .max()
        .unwrap_or(0);
    for (index, name) in &imports {
        writeln!(stdout, "  {name:width$}  {}", MEANINGS[*index].1)?;
    }
    if imports.is_empty() {
        writeln!(stdout, "  nothing")?;
    }
    writeln!(stdout, "\nexports")?;
    for name in &shape.exports {
        writeln!(stdout, "  {name}")?;
    }
    let exits = match shape.exit_codes {
        ExitCodes::Any => "any, 2 (block) among them",
        ExitCodes::ZeroOrOne => {
            "0 and 1 only: it must block by printing JSON, an exit with 2 arrives as 1"
        }
        ExitCodes::Zero => "0 only: it must block by printing JSON",
    };
    writeln!(stdout, "\nexit codes\n  {exits}")?;
    Ok(())
}

/// The place of an interface's meaning in [`MEANINGS`]; those that nobody offers come first.
fn meaning(name: &str) -> usize {
    MEANINGS
        .iter()
        .position(|(prefix, _)| name.starts_with(prefix))
        .unwrap_or(MEANINGS.len() - 1)
}
