//! Running other programs, with errors that say which one, how it ended, and what was asked of it.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Runs a program whose output the developer should see.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| could_not_start(command))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a program for its stdout; its stderr is shown.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| could_not_start(command))?;
    if !output.status.success() {
        bail!("`{}` ended with {}", shown(command), output.status);
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` wrote something other than text", shown(command)))
}

/// Runs a program without showing anything of it, for `limit` at most; then it and all that it
/// started are ended. Whether it succeeded.
///
/// For attempts whose failure is no error, since there is another way.
pub fn succeeds_within(limit: Duration, command: &mut Command) -> bool {
    let Ok(mut child) = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Its own group, so that what it started can be ended with it.
        .process_group(0)
        .spawn()
    else {
        return false;
    };
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(_) => break,
        }
    }
    // It may have ended by itself in between: then there is nothing left to end.
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    let _ = child.wait();
    false
}

/// Whether a program of this name can be started by name.
pub fn is_on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else {
        return false;
    };
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn could_not_start(command: &Command) -> String {
    format!("`{}` could not be started", shown(command))
}

/// The command as a developer would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program()];
    words.extend(command.get_args());
    words
        .iter()
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_how_it_ended() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`sh -c exit 3` ended with exit status: 3"
        );
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-program` could not be started");
        assert!(!is_on_path("no-such-program"));
    }

    #[test]
    fn an_attempt_ends_at_its_limit() {
        let started = Instant::now();
        let limit = Duration::from_millis(100);
        assert!(!succeeds_within(
            limit,
            Command::new("sh").args(["-c", "sleep 60; true"])
        ));
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn an_attempt_that_succeeds_says_so() {
        let limit = Duration::from_secs(30);
        assert!(succeeds_within(limit, &mut Command::new("true")));
        assert!(!succeeds_within(limit, &mut Command::new("false")));
    }
}
