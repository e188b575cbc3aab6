//! `hookcell inspect`: what a file asks for, what would grant it, and how it can end.

mod asks;

use std::io::Write;

use clap::Args;
use sha2::{Digest as _, Sha256};

use self::asks::Ask;
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
            "asks": asks::asks(&shape),
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
    let asks = asks::asks(shape);
    writeln!(stdout, "\nasks for")?;
    if asks.is_empty() {
        writeln!(stdout, "  nothing")?;
    }
    for ask in &asks {
        writeln!(stdout, "  {}", ask.meaning)?;
        for name in &ask.imports {
            writeln!(stdout, "    {name}")?;
        }
    }
    print_grants(
        "must be granted",
        asks.iter().filter(|it| it.required),
        stdout,
    )?;
    print_grants(
        "may be granted",
        asks.iter().filter(|it| !it.required),
        stdout,
    )?;
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

/// The lines of hooks.json that grant these.
fn print_grants<'a>(
    title: &str,
    asks: impl Iterator<Item = &'a Ask>,
    stdout: &mut dyn Write,
) -> Result<(), Problem> {
    let grants: Vec<&str> = asks.filter_map(|ask| ask.grant).collect();
    if !grants.is_empty() {
        writeln!(stdout, "\n{title}, in the hook's `permissions`")?;
    }
    for grant in grants {
        writeln!(stdout, "  {grant}")?;
    }
    Ok(())
}
