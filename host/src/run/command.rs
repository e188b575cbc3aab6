//! A command hook: a process in a session of its own, the whole event on its standard input, both
//! outputs read while it runs, and everything that it started ended when its time is over.
//!
//! # What a command hook can rely on
//!
//! * Its standard input holds the event, byte for byte and of any size, and then ends. It need not
//!   read it.
//! * Its outputs never block for longer than it takes to read them. Their first bytes are kept,
//!   the rest is counted.
//! * It leads a session and a process group of its own and has no terminal.
//! * It is over when its *process* exits. What it leaves running in the background is left alone
//!   (people start jobs from hooks on purpose) and never waited for, not even if it holds the
//!   pipes. These are closed then: a job that is to live on must have its output redirected, and
//!   one that reads the event must have read it before.
//!
//! # What the host can rely on
//!
//! * A command that is still running at its timeout is ended, with all of its session: asked with
//!   TERM, and killed half a second later. Neither ignoring signals, nor being stopped, nor groups
//!   of its own (`timeout`, `set -m`) keep a process alive. Only one that starts another session
//!   (`setsid`) escapes: a command has the rights of its user, and what must not be escaped from is
//!   a component, or a command with a `sandbox` (see `confine`).
//! * Dropping the future of [`run`] kills all of the session at once.
//! * Nothing that the process wrote before it exited is lost, and nobody who goes on writing
//!   afterwards can hold the outcome.
//! * No process, thread or file descriptor is left over. A process that is the `init` of its
//!   container also inherits what hooks leave behind, and has to wait for that, as ever.

mod capture;
pub(crate) mod confine;
mod environment;
mod group;
mod leader;
mod program;
mod session;
mod start;

use std::convert::Infallible;
use std::future::pending;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

use crate::config::Command;
use crate::outcome::{End, Failure, FailureKind, Outcome, Usage};
use crate::program::Program;
use capture::Capture;

/// The event and the places that one run of a command is given.
#[derive(Debug, Clone)]
pub struct CommandContext<'a> {
    /// The event's original bytes, for standard input.
    pub payload: Bytes,
    /// The event's name, for `OPENHANDS_EVENT_TYPE`.
    pub event_name: &'a str,
    /// For `OPENHANDS_SESSION_ID`, which is empty if there is none.
    pub session_id: Option<&'a str>,
    /// For `OPENHANDS_TOOL_NAME`, which is not set if there is none.
    pub tool_name: Option<&'a str>,
    /// For `CLAUDE_PROJECT_DIR` and `OPENHANDS_PROJECT_DIR`, and the placeholders of the exec form.
    pub project_dir: &'a Path,
    /// The folder that the command runs in, and that a relative program is looked for in.
    pub working_dir: &'a Path,
    /// How long it may run.
    pub timeout: Duration,
    /// The hookcell program, which confines a command that has a `sandbox`.
    pub program: &'a Program,
}

/// Runs a command hook once.
///
/// A command that cannot be started ends in [`FailureKind::NotStarted`], with a message that says
/// what is in the way; one whose `sandbox` cannot be enforced in
/// [`FailureKind::SandboxUnavailable`] or [`FailureKind::GrantUnavailable`]; one that is over time in [`FailureKind::TimedOut`], with what it had printed
/// by then.
///
/// Needs a tokio runtime with I/O and time enabled, in a process that neither ignores `SIGCHLD`
/// nor waits for children that are not its own.
pub async fn run(command: &Command, context: &CommandContext<'_>) -> Outcome {
    let started = Instant::now();
    let start::Started {
        mut group,
        confinement,
    } = match start::start(command, context).await {
        Ok(started) => started,
        Err(failure) => return Outcome::never_ran(failure),
    };
    let (stdin, stdout, stderr) = group.pipes();
    let mut stdout = Capture::new(stdout, command.stdout_limit);
    let mut stderr = Capture::new(stderr, command.stderr_limit);
    let end = {
        let streams = async {
            tokio::join!(feed(stdin, &context.payload), stdout.fill(), stderr.fill());
            // That all streams are closed says nothing about the process.
            pending::<Infallible>().await
        };
        tokio::pin!(streams);
        tokio::select! {
            // In this order: a process that has exited has exited in time.
            biased;
            exit = group.wait() => exit.map_or_else(lost, ended),
            () = tokio::time::sleep(context.timeout.saturating_sub(started.elapsed())) => {
                let failure = over_time(started.elapsed(), context.timeout);
                tokio::select! {
                    () = group.end() => {}
                    // Read on, lest the process wait for that instead of ending.
                    never = &mut streams => match never {}
                }
                End::Failed(failure)
            }
            never = &mut streams => match never {}
        }
    };
    let (stdout, stderr) = (stdout.finish(), stderr.finish());
    group.tidy().await;
    let mut not_enforced = Vec::new();
    if let Some(confinement) = confinement {
        match confinement.judge(&end, &stderr, command, context) {
            Ok(what) => not_enforced = what,
            Err(failure) => return Outcome::never_ran(failure),
        }
    }
    let usage = Usage {
        elapsed: started.elapsed(),
        fuel: None,
        memory_peak: None,
    };
    Outcome {
        end,
        stdout,
        stderr,
        usage,
        denied: Vec::new(),
        not_enforced,
    }
}

/// Writes the event and closes the pipe. A hook that does not read, or not to the end, is fine.
async fn feed(stdin: Option<ChildStdin>, payload: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(payload).await;
    }
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, Some(signal)) => End::Signaled(signal),
        (None, None) => End::Failed(Failure::new(
            FailureKind::Host,
            format!("the process ended as {status}"),
        )),
    }
}

fn lost(error: std::io::Error) -> End {
    End::Failed(Failure::new(
        FailureKind::Host,
        format!("waiting for the process failed: {error}"),
    ))
}

fn over_time(used: Duration, allowed: Duration) -> Failure {
    let message = format!(
        "still running after {:.3} s; {} s are allowed (`timeout`)",
        used.as_secs_f64(),
        allowed.as_secs_f64()
    );
    Failure::new(FailureKind::TimedOut, message)
}
