//! A command's process, started, or what is in the way.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use tokio::process::Command as Process;

use super::confine::{self, Confinement};
use super::group::Group;
use super::{CommandContext, environment, program};
use crate::config::{Command, CommandLine, Shell};
use crate::outcome::{Failure, FailureKind};
use crate::text;

/// How often a program is tried that somebody is still writing, and how long is waited in between.
///
/// A moment is normal: every process that is forked while a file is being written holds the file
/// open, until it runs its own program.
pub(super) const TRIES: u32 = 10;
pub(super) const PAUSE: Duration = Duration::from_millis(20);

/// What stands for the project's folder in the exec form.
const PLACEHOLDERS: [&[u8]; 2] = [b"${CLAUDE_PROJECT_DIR}", b"${workspace}"];

/// A command that was started.
pub(super) struct Started {
    /// Its process.
    pub(super) group: Group,
    /// What is known of its limits, if it has a `sandbox`.
    pub(super) confinement: Option<Confinement>,
}

/// Starts the process.
///
/// # Errors
///
/// What is in the way.
pub(super) async fn start(
    command: &Command,
    context: &CommandContext<'_>,
) -> Result<Started, Failure> {
    let line = check(command, context).map_err(not_started)?;
    if let Some(sandbox) = &command.sandbox {
        return confine::start(sandbox, line, command, context).await;
    }
    let setup = |process: &mut Process| environment::apply(process, command, context, None);
    match spawn(&line, context, setup).await {
        Ok(process) => Ok(Started {
            group: Group::new(process, None).map_err(not_started)?,
            confinement: None,
        }),
        Err(error) => Err(not_started(explain(&error, &line, command, context))),
    }
}

pub(super) fn not_started(message: String) -> Failure {
    Failure::new(FailureKind::NotStarted, message)
}

/// The words of the command, if nothing is known to be in their way.
fn check(command: &Command, context: &CommandContext<'_>) -> Result<Vec<OsString>, String> {
    check_folder(context.working_dir)?;
    let line = words(&command.line, context.project_dir);
    for (position, word) in line.iter().enumerate() {
        if word.as_bytes().contains(&0) {
            return Err(format!(
                "{} holds a NUL character, which no process can be given",
                name(&command.line, position)
            ));
        }
    }
    program::check(&line[0], context.working_dir)?;
    Ok(line)
}

/// Starts the process of these words, with what `setup` gives it.
pub(super) async fn spawn(
    line: &[OsString],
    context: &CommandContext<'_>,
    setup: impl Fn(&mut Process),
) -> io::Result<Box<dyn ChildWrapper>> {
    let mut tries = 1;
    loop {
        let mut wrapped = CommandWrap::with_new(&line[0], |process| {
            process
                .args(&line[1..])
                .current_dir(context.working_dir)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            setup(process);
        });
        wrapped.wrap(ProcessSession);
        match wrapped.spawn() {
            // The wrapper waits for the whole group, and a hook's background jobs are not waited for.
            Ok(process) => return Ok(process.into_inner()),
            Err(error) if is(&error, Errno::TXTBSY) && tries < TRIES => {
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The program and its arguments.
fn words(line: &CommandLine, project: &Path) -> Vec<OsString> {
    match line {
        CommandLine::Shell { shell, script } => {
            let shell: &[&str] = match shell {
                Shell::Sh => &["/bin/sh", "-c"],
                Shell::Bash => &["bash", "-c"],
                Shell::PowerShell => &["pwsh", "-NoProfile", "-NonInteractive", "-Command"],
            };
            let words = shell.iter().copied().chain([script.as_str()]);
            words.map(OsString::from).collect()
        }
        CommandLine::Exec { program, args } => {
            let words = [program].into_iter().chain(args);
            words.map(|word| fill(word, project.as_os_str())).collect()
        }
    }
}

/// `word` with the project's folder in the place of each placeholder: as plain text, once, so that
/// no path becomes a second argument, a piece of shell, or another placeholder.
fn fill(word: &str, project: &OsStr) -> OsString {
    let mut filled = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some(&byte) = rest.first() {
        let found = PLACEHOLDERS.iter().find_map(|it| rest.strip_prefix(*it));
        match found {
            Some(after) => {
                filled.extend_from_slice(project.as_bytes());
                rest = after;
            }
            None => {
                filled.push(byte);
                rest = &rest[1..];
            }
        }
    }
    OsString::from_vec(filled)
}

/// How a word of the command line is called in a message.
fn name(line: &CommandLine, position: usize) -> String {
    match (line, position) {
        (CommandLine::Shell { .. }, _) => "the command".to_owned(),
        (CommandLine::Exec { .. }, 0) => "the program's name".to_owned(),
        (CommandLine::Exec { .. }, _) => format!("argument {position}"),
    }
}

/// A folder that is missing and a program that is missing are the same error of the system, so the
/// folder is looked at first.
fn check_folder(folder: &Path) -> Result<(), String> {
    let problem = match std::fs::metadata(folder) {
        Ok(metadata) if !metadata.is_dir() => "is not a folder".to_owned(),
        Ok(_) => match access(folder, Access::EXEC_OK) {
            Ok(()) => return Ok(()),
            Err(error) => format!("cannot be entered: {}", io::Error::from(error)),
        },
        Err(error) if is(&error, Errno::NOENT) => "does not exist".to_owned(),
        Err(error) => format!("cannot be used: {error}"),
    };
    let folder = text::one_line(&folder.display().to_string(), 300);
    Err(format!("the working folder `{folder}` {problem}"))
}

/// Why the system did not start the command.
pub(super) fn explain(
    error: &io::Error,
    line: &[OsString],
    command: &Command,
    context: &CommandContext<'_>,
) -> String {
    if let Err(message) = check_folder(context.working_dir) {
        return message;
    }
    let shown = text::one_line(&line[0].display().to_string(), 300);
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::ACCESS | Errno::NOEXEC) => {
            program::explain(error, &line[0], context.working_dir)
        }
        Some(Errno::TOOBIG) => too_big(&shown, line, command),
        Some(Errno::MFILE) => {
            format!("`{shown}` was not started: this process has too many files open")
        }
        Some(Errno::NFILE) => {
            format!("`{shown}` was not started: the system has too many files open")
        }
        Some(Errno::AGAIN) => {
            format!("`{shown}` was not started: no more processes are allowed (`ulimit -u`)")
        }
        Some(Errno::TXTBSY) => format!("`{shown}` was not started: it is still being written"),
        _ => format!("`{shown}` was not started: {error}"),
    }
}

/// The system has a limit for each word and variable (128 KiB on Linux) and one for their sum.
fn too_big(shown: &str, line: &[OsString], command: &Command) -> String {
    let words = line.iter().enumerate();
    let words = words.map(|(position, word)| (word.len(), name(&command.line, position)));
    let config = command.config.iter();
    let config = config.map(|config| (config.len(), "`config`".to_owned()));
    let sum: usize = words
        .clone()
        .chain(config.clone())
        .map(|(size, _)| size)
        .sum();
    let longest = words.chain(config).max_by_key(|&(size, _)| size);
    let (size, longest) = longest.unwrap_or_default();
    format!(
        "`{shown}` was not started: arguments, `config` and environment are more than the system \
         takes; the longest is {longest} with {size} bytes, of {sum} in arguments and `config`"
    )
}

pub(super) fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(program: &str, args: &[&str], project: &str) -> Vec<OsString> {
        let args = args.iter().map(|&arg| arg.to_owned()).collect();
        let program = program.to_owned();
        words(&CommandLine::Exec { program, args }, Path::new(project))
    }

    #[test]
    fn placeholders_are_plain_text() {
        let project = "/a b/$(touch x)'\"";
        assert_eq!(
            exec(
                "${CLAUDE_PROJECT_DIR}/run",
                &[
                    "${workspace}",
                    "x${workspace}y${CLAUDE_PROJECT_DIR}",
                    "$workspace ${HOME}"
                ],
                project
            ),
            [
                "/a b/$(touch x)'\"/run",
                project,
                "x/a b/$(touch x)'\"y/a b/$(touch x)'\"",
                "$workspace ${HOME}"
            ]
        );
    }

    #[test]
    fn a_placeholder_in_the_folders_name_is_not_replaced_again() {
        let project = "/${workspace}/${CLAUDE_PROJECT_DIR}";
        assert_eq!(
            exec("p", &["${CLAUDE_PROJECT_DIR}", "${workspace"], project),
            ["p", project, "${workspace"]
        );
    }

    #[test]
    fn a_folder_whose_name_is_not_utf8_stays_itself() {
        let project = OsStr::from_bytes(b"/\xff");
        assert_eq!(
            fill("${workspace}/ä", project).as_bytes(),
            b"/\xff/\xc3\xa4"
        );
    }

    #[test]
    fn a_shell_gets_the_script_as_it_is() {
        for (shell, words_before) in [(Shell::Sh, 2), (Shell::Bash, 2), (Shell::PowerShell, 4)] {
            let script = "echo ${workspace} $CLAUDE_PROJECT_DIR".to_owned();
            let line = words(
                &CommandLine::Shell {
                    shell,
                    script: script.clone(),
                },
                Path::new("/p"),
            );
            assert_eq!(
                (line.len(), &line[words_before]),
                (words_before + 1, &OsString::from(script))
            );
        }
    }
}
