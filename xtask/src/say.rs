//! The one place that prints. All goes to stderr, where the tools that xtask runs report too, so
//! that the order on a screen or in a log is the order in which things happened.
#![expect(
    clippy::print_stderr,
    reason = "xtask is a program for a terminal, and this is its mouth"
)]

use std::time::Duration;

/// What is being done.
pub fn note(text: &str) {
    eprintln!("xtask: {text}");
}

/// What a reader of the log must not miss, though nothing failed.
pub fn notice(text: &str) {
    let rule = "-".repeat(72);
    eprintln!("{rule}\nNOTICE: {text}\n{rule}");
}

/// The start of a step, with the time since the first one.
pub fn step(elapsed: Duration, name: &str) {
    eprintln!("\n== [{:>4} s] {name}", elapsed.as_secs());
}

/// One line of the summary of steps.
pub fn summary_line(verdict: &str, took: Duration, name: &str) {
    eprintln!("   {verdict:<6} {:>4} s  {name}", took.as_secs());
}

/// Why xtask failed: the last link of the chain says what, the others where.
pub fn error(error: &anyhow::Error) {
    eprintln!("\nerror: {error:#}");
}
