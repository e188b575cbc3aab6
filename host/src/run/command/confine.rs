//! A command that may touch only what its `sandbox` grants, and whatever it starts likewise.
//!
//! A process can give up rights, and no process can take them from another. Between a fork and the
//! start of a program there is no safe Rust, so it is hookcell itself that is started: as
//! `hookcell confine-command`, with the [`Policy`] in its arguments. It gives up everything else
//! and becomes the command, with the same process id, streams, folder and session. The event is
//! never touched.
//!
//! # How its word is told from the command's
//!
//! It says what became of it ([`Report`]) in a pipe of its own. That pipe is closed by the very
//! step in which it becomes the command, so nothing that a command does looks like a report. And a
//! command counts as run only if it was reported to be confined: whatever else goes wrong, be it
//! that the process was killed on its way, is a failure, and no exit code of a hook.

mod enter;
mod limits;
mod policy;
mod report;

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(not(target_os = "linux"))]
#[path = "confine/no_kernel.rs"]
mod kernel;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod system;

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{self, PipeReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use command_fds::{CommandFdExt as _, FdMapping};
use rustix::io::Errno;
use tempfile::TempDir;
use tokio::process::Command as Process;

use super::group::Group;
use super::start::{Started, explain, not_started, spawn};
use super::{CommandContext, environment, program};
use crate::config::{Access, Command, Sandbox, expand};
use crate::outcome::{Captured, End, Failure, FailureKind};
use crate::text;

pub(crate) use enter::enter;
pub(crate) use kernel::lacking;
pub(crate) use policy::Policy;
use report::Report;

/// The subcommand of hookcell that confines itself.
pub(crate) const SUBCOMMAND: &str = "confine-command";

/// The descriptor at which it finds the pipe for its report.
const REPORT: i32 = 3;

/// What is known of a confined command's limits.
pub(super) struct Confinement {
    /// The command's own words.
    line: Vec<OsString>,
    /// The program that confines.
    confiner: PathBuf,
    report: PipeReader,
}

/// Starts the hookcell program, which confines itself and becomes the command.
///
/// # Errors
///
/// What is in the way: a grant, the hookcell program, the system.
pub(super) async fn start(
    sandbox: &Sandbox,
    line: Vec<OsString>,
    command: &Command,
    context: &CommandContext<'_>,
) -> Result<Started, Failure> {
    let unavailable =
        |why: String| Failure::new(FailureKind::SandboxUnavailable, format!("{CANNOT}: {why}"));
    let mut policy = policy(sandbox, context)?;
    policy
        .read
        .extend(program::file(&line[0], context.working_dir));
    let temporary = temporary().map_err(|error| {
        unavailable(format!(
            "there can be no folder for its temporary files: {error}"
        ))
    })?;
    policy.write.push(temporary.path().to_owned());
    // The process starts in another folder.
    let confiner = context.program.find().map_err(unavailable)?;
    let confiner = std::path::absolute(&confiner).unwrap_or(confiner);
    let (report, writer) =
        io::pipe().map_err(|error| not_started(format!("there can be no pipe: {error}")))?;

    let mut words = vec![confiner.clone().into_os_string(), SUBCOMMAND.into()];
    words.extend(policy.words());
    words.push("--".into());
    words.extend(line.iter().cloned());
    let setup = |process: &mut Process| {
        environment::apply(process, command, context, Some(temporary.path()));
        // Without it there is no report, which is a failure.
        if let Ok(writer) = writer.try_clone() {
            let _ = process.fd_mappings(vec![FdMapping {
                parent_fd: writer.into(),
                child_fd: REPORT,
            }]);
        }
    };
    let process = match spawn(&words, context, setup).await {
        Ok(process) => process,
        Err(error)
            if [Errno::NOENT, Errno::ACCESS, Errno::NOEXEC]
                .iter()
                .any(|&errno| super::start::is(&error, errno)) =>
        {
            let confiner = text::one_line(&confiner.display().to_string(), 300);
            return Err(unavailable(format!(
                "`{confiner}`, which confines it, was not started: {error}"
            )));
        }
        Err(error) => return Err(not_started(explain(&error, &line, command, context))),
    };
    Ok(Started {
        group: Group::new(process, Some(temporary)).map_err(not_started)?,
        confinement: Some(Confinement {
            line,
            confiner,
            report,
        }),
    })
}

/// How every failure of kind [`FailureKind::SandboxUnavailable`] begins.
const CANNOT: &str = "the command's `sandbox` cannot be enforced";

/// A folder that is the run's own, for nobody else to look into.
fn temporary() -> io::Result<TempDir> {
    let parent = std::path::absolute(std::env::temp_dir())?;
    tempfile::Builder::new()
        .prefix("hookcell-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)
}

/// What the command may touch, with every path made absolute and known to exist.
fn policy(sandbox: &Sandbox, context: &CommandContext<'_>) -> Result<Policy, Failure> {
    let mut policy = Policy {
        read: Vec::new(),
        write: Vec::new(),
        ports: sandbox.ports.clone(),
        memory: sandbox.memory,
        cpu: limits::cpu(context.timeout),
        best_effort: sandbox.best_effort,
    };
    for grant in &sandbox.filesystem {
        let unavailable = |why: String| {
            let message = format!("`sandbox.filesystem` grants `{}`, {why}", grant.path);
            Failure::new(
                FailureKind::GrantUnavailable,
                text::one_line(&message, 1000),
            )
        };
        let path = expand(&grant.path, context.project_dir).map_err(unavailable)?;
        exists(&path).map_err(|error| {
            unavailable(format!(
                "which is `{}`, and it cannot be used: {error}",
                path.display()
            ))
        })?;
        match grant.access {
            Access::Read => policy.read.push(path),
            Access::Write => policy.write.push(path),
        }
    }
    Ok(policy)
}

fn exists(path: &Path) -> io::Result<()> {
    std::fs::metadata(path).map(drop)
}

impl Confinement {
    /// What the kernel does not enforce, once the process is over.
    ///
    /// # Errors
    ///
    /// Why the command did not run.
    pub(super) fn judge(
        self,
        end: &End,
        stderr: &Captured,
        command: &Command,
        context: &CommandContext<'_>,
    ) -> Result<Vec<String>, Failure> {
        let mut confined = None;
        for report in report::read(self.report) {
            match report {
                Report::Confined { not_enforced } => confined = Some(not_enforced),
                Report::Unavailable(why) => {
                    return Err(Failure::new(
                        FailureKind::SandboxUnavailable,
                        text::one_line(&format!("{CANNOT}: {why}"), 2000),
                    ));
                }
                Report::NotStarted(errno) => {
                    let error = io::Error::from_raw_os_error(errno);
                    let mut message = explain(&error, &self.line, command, context);
                    if error.kind() == io::ErrorKind::PermissionDenied {
                        message.push_str(IN_SANDBOX);
                    }
                    return Err(not_started(message));
                }
            }
        }
        match (confined, end) {
            (Some(not_enforced), _) => {
                if !not_enforced.is_empty() {
                    tracing::warn!("a sandbox without limits on {}", not_enforced.join(", "));
                }
                Ok(not_enforced)
            }
            // Its time was over before it was confined.
            (None, End::Failed(failure)) => Err(failure.clone()),
            (None, _) => {
                let said = String::from_utf8_lossy(&stderr.bytes);
                Err(Failure::new(
                    FailureKind::SandboxUnavailable,
                    format!(
                        "{CANNOT}: `{}` ended before it had confined it, and said `{}`; it must be hookcell {}",
                        text::one_line(&self.confiner.display().to_string(), 300),
                        text::one_line(said.trim(), 300),
                        env!("CARGO_PKG_VERSION"),
                    ),
                ))
            }
        }
    }
}

/// What is added where a program may not be run.
const IN_SANDBOX: &str = "; in a `sandbox` a program, its loader, and what a script's first line names must be \
     the system's or granted in `sandbox.filesystem`";
