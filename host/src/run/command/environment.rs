//! The variables that a command hook sees.

use std::ffi::OsStr;
use std::path::Path;

use tokio::process::Command as Process;

use super::CommandContext;
use crate::config::{Command, Sandbox};

/// The longest value that is taken from a payload, in bytes. Linux refuses to start a process with
/// a variable of 128 KiB, and a hook that does not start is a guard that is gone.
const LONGEST_VALUE: usize = 32 << 10;

/// What a command with a `sandbox` is given of the host's variables, beside `LC_*` and those that
/// it was granted: what programs are found by, and how they write.
const ALWAYS: [&str; 4] = ["HOME", "LANG", "PATH", "TZ"];

/// Sets the environment: the host's own, without what agents keep from their hooks, and what the
/// agents' contracts promise. With a `sandbox` it is the granted part of the host's own, and
/// `TMPDIR` is the run's own folder.
///
/// `OTEL_*` is Claude's to withhold, `SESSION_API_KEY` OpenHands'.
pub(super) fn apply(
    process: &mut Process,
    command: &Command,
    context: &CommandContext<'_>,
    temporary: Option<&Path>,
) {
    match &command.sandbox {
        Some(sandbox) => {
            process.env_clear();
            if let Some(temporary) = temporary {
                process.env("TMPDIR", temporary);
            }
            process.envs(std::env::vars_os().filter(|(name, _)| is_granted(name, sandbox)));
        }
        None => {
            for (name, _) in std::env::vars_os() {
                if name == "SESSION_API_KEY" || name.as_encoded_bytes().starts_with(b"OTEL_") {
                    process.env_remove(name);
                }
            }
        }
    }
    process
        .env("CLAUDE_PROJECT_DIR", context.project_dir)
        .env("OPENHANDS_PROJECT_DIR", context.project_dir)
        .env(
            "OPENHANDS_SESSION_ID",
            safe(context.session_id.unwrap_or_default()),
        )
        .env("OPENHANDS_EVENT_TYPE", safe(context.event_name));
    // An inherited value would name the tool of another event.
    match context.tool_name {
        Some(name) => process.env("OPENHANDS_TOOL_NAME", safe(name)),
        None => process.env_remove("OPENHANDS_TOOL_NAME"),
    };
    match &command.config {
        Some(config) => process.env("HOOKCELL_CONFIG", config),
        None => process.env_remove("HOOKCELL_CONFIG"),
    };
}

fn is_granted(name: &OsStr, sandbox: &Sandbox) -> bool {
    ALWAYS.iter().any(|always| name == *always)
        || name.as_encoded_bytes().starts_with(b"LC_")
        || sandbox
            .environment
            .iter()
            .any(|granted| name == granted.as_str())
}

/// A value of the payload that every system takes: no NUL, and not too long.
fn safe(value: &str) -> String {
    let mut value = value.replace('\0', "\u{fffd}");
    value.truncate(value.floor_char_boundary(LONGEST_VALUE));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_of_a_payload_can_keep_a_process_from_starting() {
        assert_eq!(safe("Bash"), "Bash");
        assert_eq!(safe("a\0b"), "a\u{fffd}b");
        assert_eq!(safe(&"ä".repeat(20_000)).len(), LONGEST_VALUE);
        assert_eq!(
            safe(&format!("x{}", "ä".repeat(20_000))).len(),
            LONGEST_VALUE - 1
        );
        assert_eq!(safe(&"\0".repeat(200_000)).len(), LONGEST_VALUE - 2);
    }
}
