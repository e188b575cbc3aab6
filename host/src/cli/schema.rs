//! `hookcell schema`: the JSON Schema of hooks.json.

use std::io::Write;

use clap::Args;

use super::problem::Problem;
use crate::config;

/// Print the JSON Schema of hooks.json, for editors that complete and check as you type
#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let schema = serde_json::to_string_pretty(&config::schema())
        .map_err(|error| Problem::new(format!("the schema cannot be printed: {error}")))?;
    writeln!(stdout, "{schema}")?;
    Ok(0)
}
