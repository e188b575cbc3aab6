//! `cargo xtask soak`: one host through many events, hostile hooks among them.

use anyhow::Result;

use crate::test::SELECTION;
use crate::{process, repository};

/// How many events.
#[derive(clap::Args)]
pub struct Arguments {
    /// How many events there are
    #[arg(long, default_value_t = 100_000)]
    events: u32,
}

/// Fails if the host holds more memory, descriptors or threads at the end than it did early on.
pub fn run(arguments: &Arguments) -> Result<()> {
    process::run(
        repository::cargo()?
            .arg("test")
            .args(SELECTION)
            .args(["--test", "soak", "--", "--ignored", "--nocapture"])
            .env("HOOKCELL_SOAK_EVENTS", arguments.events.to_string()),
    )
}
