//! The exit-code contract: one [`Outcome`] becomes one [`Verdict`]. Pure; the same for a command
//! and a component.
//!
//! | exit | stdout | verdict |
//! |---|---|---|
//! | 2 | anything | block; the reason from a denying JSON, else stderr |
//! | any other, or a signal | exactly one JSON object | the JSON decides; unless the exit is 0 the record says `success: false`, but the hook has spoken and `onFailure` does not apply |
//! | 0 | empty or text | no opinion; text is context where the event takes it |
//! | other, or a signal | empty or text | failure ([`FailureKind::ExitCode`], [`FailureKind::Signal`]) |
//! | any but 2 | JSON begun but broken, two objects, cut at the cap | failure ([`FailureKind::BadOutput`], [`FailureKind::OutputTooLarge`]) |
//! | none: trap, limit, not startable | whatever came | failure, of the kind that the run names |
//!
//! The output has *begun* as JSON when its first character that is not white space or a byte
//! order mark is `{` (Claude contract): arrays, strings and numbers are text.
//!
//! OpenHands' files are judged by OpenHands' table where it differs: see [`Contract::OpenHands`].

mod answer;
mod openhands;

use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use crate::outcome::{End, Failure, FailureKind, Outcome};
use crate::text::{self, Text};

/// What a hook says about the operation, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// Go on, without asking the user.
    Allow,
    /// Ask the user.
    Ask,
    /// Leave it to a later decision (Claude contract, only when run headless).
    Defer,
    /// Do not go on: `deny`, `block`, exit code 2.
    Deny,
}

/// `"continue": false`: the agent stops altogether, whatever else was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Halt {
    /// `stopReason`, for the user.
    pub reason: Option<Text>,
}

/// What one run of a hook means for the operation.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    /// Whether the operation may go on; `None` is no opinion.
    pub permission: Option<Permission>,
    /// Why, in the hook's words.
    pub reason: Option<Text>,
    /// Whether the agent stops altogether.
    pub halt: Option<Halt>,
    /// Text for the model.
    pub context: Option<Text>,
    /// The tool input that replaces the present one: a JSON object, as the hook wrote it.
    pub updated_input: Option<Box<RawValue>>,
    /// Text for the user.
    pub system_message: Option<Text>,
    /// The members of `hookSpecificOutput` that no rule of hookcell is about, passed on as they are.
    pub other: BTreeMap<String, Box<RawValue>>,
    /// Whether the hook exited with 0 and kept to the contract.
    pub success: bool,
    /// Why the run counts for nothing, if it does.
    pub failure: Option<Failure>,
}

impl Verdict {
    /// The verdict of a run that counts for nothing: the operation goes on, or, where the hook's
    /// `onFailure` is `block`, it does not, and the reason names the failure.
    pub fn of_failure(failure: Failure, block: bool) -> Self {
        Self {
            permission: block.then_some(Permission::Deny),
            reason: block
                .then(|| format!("a hook that guards this operation failed: {failure}").into()),
            failure: Some(failure),
            ..Self::default()
        }
    }
}

/// Whose table judges an outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Contract {
    /// The Claude contract, with the fixed choices above.
    #[default]
    Claude,
    /// OpenHands': output that is not one JSON object is ignored whatever it is, text is never
    /// context, only `allow` and `deny` (in any case) decide, a false `continue` denies,
    /// `additionalContext` stands at the top, and `hookSpecificOutput` is not read.
    OpenHands,
    /// The hook only watches: a failure is recorded, and nothing that it says decides anything
    /// (deepagents' list-shaped hooks).
    Watch,
}

/// The events on which plain text on standard output is context (Claude contract).
const TEXT_IS_CONTEXT: [&str; 4] = [
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "PostModelSwitch",
];

/// The events on which `"onFailure": "block"` is without effect (Claude contract): a block there
/// sends the agent back to work, so a hook that always fails would keep it from ever ending.
const NO_BLOCK_ON_FAILURE: [&str; 4] = ["Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"];

/// Judges one outcome on the event named `event`.
///
/// `block_on_failure` is whether the hook's `onFailure` is `block`.
pub fn judge(
    contract: Contract,
    event: &str,
    outcome: &Outcome,
    block_on_failure: bool,
) -> Verdict {
    let block = block_on_failure && !NO_BLOCK_ON_FAILURE.contains(&event);
    let verdict = match contract {
        Contract::Claude => judge_claude(event, outcome),
        Contract::OpenHands => openhands::judge(outcome),
        Contract::Watch => watch(outcome),
    };
    match verdict {
        Ok(verdict) => Verdict {
            success: outcome.end == End::Exited(0),
            ..verdict
        },
        Err(failure) => Verdict::of_failure(failure, block && contract != Contract::Watch),
    }
}

fn judge_claude(event: &str, outcome: &Outcome) -> Result<Verdict, Failure> {
    let stdout = &outcome.stdout;
    let spoken = match &outcome.end {
        End::Failed(failure) => return Err(failure.clone()),
        End::Exited(2) => {
            // Nothing that stdout holds can turn a block into anything else, broken JSON included.
            let answer = if stdout.is_cut() {
                None
            } else {
                answer::read(event, &stdout.bytes).ok().flatten()
            };
            return Ok(block(answer, outcome));
        }
        End::Exited(_) | End::Signaled(_) if stdout.is_cut() => {
            return Err(Failure::new(
                FailureKind::OutputTooLarge,
                format!(
                    "standard output was {} bytes, and {} are allowed (`limits.stdout`); a cut answer is not read",
                    stdout.total,
                    stdout.bytes.len()
                ),
            ));
        }
        End::Exited(_) | End::Signaled(_) => answer::read(event, &stdout.bytes)
            .map_err(|message| Failure::new(FailureKind::BadOutput, message))?,
    };
    match (spoken, &outcome.end) {
        (Some(verdict), _) => Ok(verdict),
        (None, End::Exited(0)) => {
            let text = text::from_bytes(&stdout.bytes);
            let context = TEXT_IS_CONTEXT.contains(&event) && !text.trim().is_empty();
            Ok(Verdict {
                context: context.then_some(text),
                ..Verdict::default()
            })
        }
        (None, end) => Err(ended_badly(end, outcome)),
    }
}

/// Exit code 2: the JSON may give the reason and add texts, and cannot lift the block.
fn block(answer: Option<Verdict>, outcome: &Outcome) -> Verdict {
    let answer = answer.unwrap_or_default();
    let denied = answer.permission == Some(Permission::Deny);
    let stderr = || {
        Some(text::from_bytes(outcome.stderr.bytes.trim_ascii())).filter(|text| !text.is_empty())
    };
    Verdict {
        permission: Some(Permission::Deny),
        reason: answer.reason.filter(|_| denied).or_else(stderr),
        updated_input: None,
        ..answer
    }
}

/// The failure of a hook that ended with another code than 0 and 2, or by a signal, and said nothing.
fn ended_badly(end: &End, outcome: &Outcome) -> Failure {
    let stderr = text::from_bytes(outcome.stderr.bytes.trim_ascii());
    let said = match stderr.lines().next() {
        Some(line) if !line.is_empty() => format!(": {}", text::one_line(line, 200)),
        _ => String::new(),
    };
    match end {
        End::Signaled(signal) => Failure::new(
            FailureKind::Signal,
            format!("ended by signal {signal}{said}"),
        ),
        End::Exited(code @ (126 | 127)) => {
            let meaning = if *code == 126 {
                "not executable"
            } else {
                "command not found"
            };
            Failure::new(
                FailureKind::ExitCode,
                format!("exit code {code} ({meaning}){said}"),
            )
        }
        End::Exited(code) => Failure::new(FailureKind::ExitCode, format!("exit code {code}{said}")),
        End::Failed(failure) => failure.clone(),
    }
}

fn watch(outcome: &Outcome) -> Result<Verdict, Failure> {
    match &outcome.end {
        End::Exited(_) => Ok(Verdict::default()),
        End::Signaled(_) => Err(ended_badly(&outcome.end, outcome)),
        End::Failed(failure) => Err(failure.clone()),
    }
}
