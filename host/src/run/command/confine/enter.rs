//! The process that confines itself and becomes the command.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::io::Errno;

use super::super::start::{PAUSE, TRIES, is};
use super::report::Report;
use super::{Policy, REPORT, kernel, limits};

/// Confines this process to `policy` and becomes the program of `line`. Returns, with the exit
/// code, only if that fails; the report says why.
pub(crate) fn enter(policy: &Policy, line: &[OsString], stderr: &mut dyn Write) -> u8 {
    let pipe = match pipe() {
        Ok(pipe) => pipe,
        Err(error) => {
            let _ = writeln!(
                stderr,
                "error: descriptor {REPORT} is no pipe to report to: {error}\nhint: hookcell starts this itself, for commands that have a `sandbox`"
            );
            return 1;
        }
    };
    let report = match confine_and_become(policy, line, &pipe) {
        Ok(never) => match never {},
        Err(report) => report,
    };
    if let Err(error) = report.send(&pipe) {
        let _ = writeln!(stderr, "error: {report:?} cannot be reported: {error}");
    }
    1
}

/// The pipe for the report, which is closed when the command is started.
fn pipe() -> io::Result<File> {
    let folder = if cfg!(target_os = "linux") {
        "/proc/self/fd"
    } else {
        "/dev/fd"
    };
    File::options()
        .write(true)
        .open(format!("{folder}/{REPORT}"))
}

enum Never {}

fn confine_and_become(policy: &Policy, line: &[OsString], pipe: &File) -> Result<Never, Report> {
    let failed = |what: &'static str| {
        move |error: Errno| Report::Unavailable(format!("{what} cannot be limited: {error}"))
    };
    // A file that an embedder has left open to its children would be open to the command.
    close_fds::set_fds_cloexec(REPORT, &[]);
    limits::apply(policy).map_err(failed("what a process may use"))?;
    let not_enforced = kernel::confine(policy).map_err(Report::Unavailable)?;
    let not_enforced = not_enforced.into_iter().map(str::to_owned).collect();
    let (program, args) = line
        .split_first()
        .ok_or_else(|| Report::Unavailable("there is no command".to_owned()))?;
    let mut command = Command::new(program);
    command.args(args);
    let confined = Report::Confined { not_enforced };
    limits::apply_memory(policy).map_err(failed("memory"))?;
    confined
        .send(pipe)
        .map_err(|error| Report::Unavailable(format!("it cannot be reported: {error}")))?;
    let mut tries = 1;
    loop {
        let error = command.exec();
        if !is(&error, Errno::TXTBSY) || tries == TRIES {
            // An error without a number is one of the words, which were looked through before.
            let unknown = Errno::INVAL.raw_os_error();
            return Err(Report::NotStarted(error.raw_os_error().unwrap_or(unknown)));
        }
        tries += 1;
        std::thread::sleep(PAUSE);
    }
}
