//! A `PreToolUse` hook that denies dangerous shell commands.
//!
//! It takes a command apart as a shell would, so that quotes, `sudo`, `sh -c` or a substitution do
//! not hide what runs, and a command that only talks of `rm -rf` may run.

mod guard;
mod inner;
mod pattern;
mod shell;
mod table;
mod word;

use hookcell_guest::{ConfigError, Decision, Event, config};
use serde::Deserialize;

use crate::guard::{Denial, check, check_words};
use crate::pattern::{DEFAULT, Pattern};

/// The hook's `config`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Beginnings of commands that are denied, instead of the default ones.
    patterns: Option<Vec<String>>,
}

fn main() {
    hookcell_guest::run(|event| decide(event, config()))
}

/// A wrong `config` is a failure, which lets the command run; so what the default patterns deny is
/// denied before.
fn decide(
    event: &Event<'_>,
    settings: Result<Settings, ConfigError>,
) -> Result<Decision, ConfigError> {
    let (named, error) = match settings {
        Ok(settings) => (settings.patterns, None),
        Err(error) => (None, Some(error)),
    };
    let patterns: Vec<Pattern> = match &named {
        Some(named) => named.iter().filter_map(|text| Pattern::new(text)).collect(),
        None => DEFAULT.into_iter().filter_map(Pattern::new).collect(),
    };
    match (denial(event, &patterns), error) {
        (Some(denial), _) => Ok(Decision::deny(reason(&denial))),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Decision::none()),
    }
}

/// The command is a text, or a list of words. Whatever the tool is called: Claude Code's is
/// `Bash`, OpenHands' `terminal`, and the hook's matcher chooses.
fn denial(event: &Event<'_>, patterns: &[Pattern]) -> Option<Denial> {
    let command = event.tool_input().get("command");
    if let Some(text) = command.text() {
        return check(&text, patterns);
    }
    check_words(command.parse().ok()?, patterns)
}

fn reason(denial: &Denial) -> String {
    let Denial {
        pattern,
        is_a_guess,
    } = denial;
    if *is_a_guess {
        format!(
            "This command is blocked: it holds the words of `{pattern}`, which is not allowed here, and what it runs cannot be told for sure. Write it more simply."
        )
    } else {
        format!("This command is blocked: `{pattern}` is not allowed here.")
    }
}
