//! `hookcell cache`: what is kept of compiled components.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::{Args, Subcommand};

use super::problem::Problem;
use crate::sandbox::cache::{Cache, Listed, SIZE};

/// List, verify or remove the compiled components that are kept
///
/// They are kept so that a component is compiled once. Removing them costs time and nothing else.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,

    /// The cache's folder [default: $HOOKCELL_CACHE_DIRECTORY, else hookcell/compiled in the user's caches]
    #[arg(long, value_name = "FOLDER", global = true)]
    folder: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the entries, those that were used last first: name, size, days since it was used
    ///
    /// A name is the SHA-256 of the component, and the beginning of that of the engine.
    List,
    /// Check that each entry is whole and was written by this user's hookcell; remove the others
    ///
    /// Exit code 0 if all are, else 1.
    Verify,
    /// Remove the entries that were not used for longest
    Prune {
        /// The size that the rest may have; 0 removes all [default: 1GiB]
        #[arg(long, value_name = "SIZE")]
        to: Option<ByteSize>,
    },
}

pub(super) fn run(arguments: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let cache = Cache::open(arguments.folder.as_deref())
        .map_err(|why| Problem::new(format!("nothing compiled is kept: {why}")))?;
    match &arguments.command {
        Command::List => list(&cache, stdout),
        Command::Verify => verify(&cache, stdout),
        Command::Prune { to } => {
            let removed = cache.prune(to.map_or(SIZE, |size| size.as_u64()));
            writeln!(
                stdout,
                "removed {}; {} left",
                count(&removed),
                count(&cache.entries())
            )?;
            Ok(0)
        }
    }
}

fn list(cache: &Cache, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let entries = cache.entries();
    for entry in &entries {
        let days = entry.used.elapsed().unwrap_or_default().as_secs() / DAY.as_secs();
        writeln!(
            stdout,
            "{}  {:>10}  {days} d",
            entry.name.trim_end_matches(".entry"),
            ByteSize::b(entry.bytes).display().iec().to_string()
        )?;
    }
    writeln!(
        stdout,
        "{} in {}",
        count(&entries),
        super::source::shown(cache.path())
    )?;
    Ok(0)
}

fn verify(cache: &Cache, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let (good, bad): (Vec<_>, Vec<_>) = cache
        .entries()
        .into_iter()
        .partition(|entry| cache.verify(entry));
    for entry in &bad {
        let what = if cache.remove(entry) {
            "removed"
        } else {
            "cannot be removed"
        };
        writeln!(stdout, "damaged, {what}: {}", entry.name)?;
    }
    writeln!(stdout, "{} whole, {} damaged", count(&good), bad.len())?;
    Ok(u8::from(!bad.is_empty()))
}

const DAY: Duration = Duration::from_secs(86_400);

/// How many entries there are, and how large they are together.
fn count(entries: &[Listed]) -> String {
    let bytes = entries.iter().map(|entry| entry.bytes).sum();
    format!(
        "{} {} of {}",
        entries.len(),
        if entries.len() == 1 {
            "entry"
        } else {
            "entries"
        },
        ByteSize::b(bytes).display().iec()
    )
}
