//! `hookcell check`: everything wrong with a configuration, before an agent finds out.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::problem::Problem;
use super::source::{Source, shown};
use crate::config::{Configuration, Handler, Severity};
use crate::host::Host;
use crate::run::command::confine;
use crate::sandbox::shape::ExitCodes;

/// Show everything that is wrong with a configuration: exit code 0 if nothing is, else 1
///
/// Reads the file, compiles every component, holds the pinned digests against the files, and asks
/// the kernel whether it can enforce a `sandbox`.
/// Warnings alone are no error.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The configuration file; the same as --config
    #[arg(value_name = "FILE", conflicts_with = "config")]
    file: Option<PathBuf>,

    #[command(flatten)]
    source: Source,
}

pub(super) fn run(arguments: &Arguments, stdout: &mut dyn Write) -> Result<u8, Problem> {
    let source = Source {
        config: arguments
            .file
            .clone()
            .or_else(|| arguments.source.config.clone()),
        from: arguments.source.from,
        project: arguments.source.project.clone(),
    };
    let configurations = source.configurations()?;
    if configurations.is_empty() {
        return Err(Problem::new("there is no configuration").hint(
            "write `.hookcell/hooks.json` in the project or `~/.config/hookcell/hooks.json`, or name a file",
        ));
    }
    let mut errors = 0;
    for configuration in configurations {
        errors += check(configuration, &source, stdout)?;
    }
    Ok(u8::from(errors > 0))
}

/// Prints what is wrong with one file, and returns the number of errors.
fn check(
    configuration: Configuration,
    source: &Source,
    stdout: &mut dyn Write,
) -> Result<usize, Problem> {
    let file = configuration
        .path
        .as_deref()
        .map_or_else(|| "hooks.json".to_owned(), shown);
    let mut errors = 0;
    let mut warnings = 0;
    for diagnostic in &configuration.diagnostics {
        match diagnostic.severity {
            Severity::Error => errors += 1,
            Severity::Warning => warnings += 1,
        }
        writeln!(stdout, "{}\n", diagnostic.rendered())?;
    }
    let host = Host::builder()
        .project(source.project())
        .configuration(configuration)
        .build();
    let runtime = super::runtime()?;
    for hook in host.hooks() {
        let at = format!("{file}:{}:{}", hook.line, hook.column);
        if let Handler::Command(command) = &hook.handler
            && let Some(sandbox) = &command.sandbox
            && !sandbox.best_effort
            && let Some(why) = confine::lacking()
        {
            errors += 1;
            writeln!(stdout, "{at}: error: {why}\n")?;
        }
        let Handler::Component(component) = &hook.handler else {
            continue;
        };
        match runtime.block_on(host.load(component)) {
            Err(failure) => {
                errors += 1;
                writeln!(
                    stdout,
                    "{at}: error: component `{}`: {failure}\n",
                    component.source
                )?;
            }
            Ok(guest) if guest.shape().exit_codes != ExitCodes::Any => {
                warnings += 1;
                writeln!(
                    stdout,
                    "{at}: warning: component `{}` cannot exit with 2\nhint: it must block by printing JSON: {{\"decision\": \"block\", \"reason\": \"…\"}}\n",
                    component.source
                )?;
            }
            Ok(_) => {}
        }
    }
    let hooks = host.hooks().count();
    writeln!(
        stdout,
        "{file}: {}, {}, {}",
        counted(hooks, "hook"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )?;
    Ok(errors)
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
