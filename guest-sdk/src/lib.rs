//! Hooks for AI agents, in Rust.
//!
//! A hook is a small program that an agent calls at a moment of its life: before a tool runs,
//! after it, when a prompt arrives, when the agent wants to stop. It reads the event as JSON on
//! standard input and answers with a decision as JSON on standard output and an exit code. With
//! this crate it is one function:
//!
//! ```no_run
//! use hookcell_guest::Decision;
//!
//! fn main() {
//!     hookcell_guest::run(|event| match event.tool_input().get("command").text() {
//!         Some(command) if command.contains("git push") => Decision::ask("Pushing is public."),
//!         _ => Decision::none(),
//!     })
//! }
//! ```
//!
//! Built for `wasm32-wasip2` it is a component that hookcell runs in a sandbox; built for
//! `wasm32-wasip1` or for the machine itself it is the same program to every agent that speaks the
//! Claude Code hook contract.
//!
//! [`answer`] is the same without the process around it, for tests:
//!
//! ```
//! use hookcell_guest::{Decision, answer};
//!
//! let event = br#"{"hook_event_name": "Stop"}"#;
//! let answer = answer(event, |_| Decision::block("Write the tests first."));
//! assert_eq!(answer.exit_code, 2);
//! assert_eq!(answer.stdout, r#"{"decision":"block","reason":"Write the tests first."}"#);
//! assert_eq!(answer.stderr, "Write the tests first.");
//! ```

#![warn(missing_docs)]

mod config;
mod decision;
mod event;
mod json;
mod lenient;
mod process;

pub use config::{CONFIG_VARIABLE, ConfigError, config};
pub use decision::{Decision, IntoDecision};
pub use event::{Event, EventError};
pub use json::Json;
pub use process::run;

/// What a hook leaves behind: what it prints, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The decision as one JSON object; empty if the hook has no opinion.
    pub stdout: String,
    /// The reason of a block, or the message of a failure.
    pub stderr: String,
    /// 0, 2 for a block, 1 for a failure.
    pub exit_code: u8,
}

/// Lets `hook` decide about the event that `payload` holds.
///
/// A block exits with code 2 and says so in JSON too, since some agents heed only the one and
/// some only the other; its reason stands in both places. A payload that is not an event, or an
/// error that the hook returns, is a failure: exit code 1, and the agent goes on as if there were
/// no hook, unless the hook's entry says `"onFailure": "block"`.
pub fn answer<F, D>(payload: &[u8], hook: F) -> Answer
where
    F: FnOnce(&Event<'_>) -> D,
    D: IntoDecision,
{
    let event = match Event::parse(payload) {
        Ok(event) => event,
        Err(error) => return failure(error.to_string()),
    };
    match hook(&event).into_decision() {
        Ok(decision) => Answer {
            stdout: decision
                .render(&event)
                .map(|answer| answer.to_string())
                .unwrap_or_default(),
            stderr: decision
                .reason()
                .filter(|_| decision.blocks())
                .unwrap_or_default()
                .to_owned(),
            exit_code: if decision.blocks() { 2 } else { 0 },
        },
        Err(message) => failure(message),
    }
}

fn failure(message: String) -> Answer {
    Answer {
        stdout: String::new(),
        stderr: message,
        exit_code: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &[u8] = br#"{"hook_event_name":"PreToolUse"}"#;

    #[test]
    fn a_block_is_told_by_code_and_json() {
        assert_eq!(
            answer(EVENT, |_| Decision::deny("no")),
            Answer {
                stdout: r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#.to_owned(),
                stderr: "no".to_owned(),
                exit_code: 2,
            }
        );
    }

    #[test]
    fn other_decisions_exit_with_zero_and_say_nothing_on_stderr() {
        let allowed = answer(EVENT, |_| Decision::allow("fine"));
        assert_eq!((allowed.exit_code, allowed.stderr.as_str()), (0, ""));
        let none = Answer {
            stdout: String::new(),
            stderr: String::new(),
            exit_code: 0,
        };
        assert_eq!(answer(EVENT, |_| Decision::none()), none);
        assert_eq!(answer(EVENT, |_| ()), none);
    }

    #[test]
    fn an_error_is_a_failure_with_its_message() {
        let failed = Answer {
            stdout: String::new(),
            stderr: "broken".to_owned(),
            exit_code: 1,
        };
        assert_eq!(answer(EVENT, |_| Err::<Decision, _>("broken")), failed);
    }

    #[test]
    fn what_is_not_an_event_is_a_failure_and_the_hook_is_not_asked() {
        let broken = answer(b"{", |_| -> Decision { unreachable!() });
        assert_eq!(
            broken,
            Answer {
                stdout: String::new(),
                stderr: "the event must be one JSON object: EOF while parsing an object at line 1 column 1".to_owned(),
                exit_code: 1,
            }
        );
    }
}
