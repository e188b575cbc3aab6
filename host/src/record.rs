//! What is told about one run of a hook: who, what came of it, how long it took, what it used, why.

use serde::Serialize;

use crate::config::{Handler, Hook};
use crate::contract::{Permission, Verdict};
use crate::outcome::{Denied, End, Failure, Outcome};
use crate::text::{self, Text};

/// One run of a hook. Every hook that was selected for an event has exactly one.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// How the hook is called: its `name`, else what it runs.
    pub hook: Text,
    /// `command`, `component`, or `refused` for an entry that could not be accepted.
    pub handler: &'static str,
    /// The line of the configuration file on which its entry begins, from 1.
    pub line: usize,
    /// Whether it exited with 0 and kept to the contract.
    pub success: bool,
    /// What it said about the operation, its failure's consequence included.
    pub permission: Option<Permission>,
    /// Why, in its own words, or which failure blocked the operation.
    pub reason: Option<Text>,
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Why the run counts for nothing, if it does.
    pub failure: Option<Failure>,
    /// Wall time in microseconds, compiling not counted.
    pub elapsed_microseconds: u64,
    /// Fuel used, for a component.
    pub fuel: Option<u64>,
    /// The largest sum of its linear memories and tables in bytes, for a component.
    pub memory_peak: Option<u64>,
    /// What it tried and was not granted, with the lines that would grant it.
    pub denied: Vec<Denied>,
    /// What a command's `sandbox` is to limit and this kernel cannot, in plain words.
    pub not_enforced: Vec<String>,
    /// The head of standard output: at most 10,000 characters, those that act written out.
    pub stdout: Text,
    /// How many bytes it wrote to standard output.
    pub stdout_bytes: u64,
    /// The head of standard error, likewise.
    pub stderr: Text,
    /// How many bytes it wrote to standard error.
    pub stderr_bytes: u64,
}

impl Record {
    /// The record of a run of `hook` that ended in `outcome` and was judged to be `verdict`.
    pub fn new(hook: &Hook, outcome: &Outcome, verdict: &Verdict) -> Self {
        let (exit_code, signal) = match outcome.end {
            End::Exited(code) => (Some(code), None),
            End::Signaled(signal) => (None, Some(signal)),
            End::Failed(_) => (None, None),
        };
        Self {
            hook: hook.label.clone(),
            handler: match hook.handler {
                Handler::Command(_) => "command",
                Handler::Component(_) => "component",
                Handler::Refused(_) => "refused",
            },
            line: hook.line,
            success: verdict.success,
            permission: verdict.permission,
            reason: verdict.reason.clone(),
            exit_code,
            signal,
            failure: verdict.failure.clone(),
            elapsed_microseconds: u64::try_from(outcome.usage.elapsed.as_micros())
                .unwrap_or(u64::MAX),
            fuel: outcome.usage.fuel,
            memory_peak: outcome.usage.memory_peak,
            denied: outcome.denied.clone(),
            not_enforced: outcome.not_enforced.clone(),
            stdout: text::from_bytes(&outcome.stdout.bytes),
            stdout_bytes: outcome.stdout.total,
            stderr: text::from_bytes(&outcome.stderr.bytes),
            stderr_bytes: outcome.stderr.total,
        }
    }
}
