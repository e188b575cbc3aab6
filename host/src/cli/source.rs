//! Which configuration a command is about: `--config`, `--from`, `--project`, and the usual places.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::problem::Problem;
use crate::config::{self, Configuration};
use crate::dialect::Dialect;
use crate::host::{Host, HostBuilder};

/// Where the configuration is.
#[derive(Debug, Args)]
pub(super) struct Source {
    /// The configuration file [default: .hookcell/hooks.json in the project, else
    /// ~/.config/hookcell/hooks.json]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,

    /// Use that agent's own file, or read FILE, by that agent's rules
    #[arg(long, value_name = "AGENT")]
    pub(super) from: Option<From>,

    /// The project's folder [default: $CLAUDE_PROJECT_DIR, else the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub(super) project: Option<PathBuf>,
}

/// The agents whose files can be read.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum From {
    /// .openhands/hooks.json in the project, else in the home folder
    Openhands,
    /// ~/.deepagents/hooks.json
    Deepagents,
    /// the `hooks` of ~/.claude/settings.json and of the project's .claude/settings.json and
    /// .claude/settings.local.json
    Claude,
}

impl From {
    fn dialect(self) -> Dialect {
        match self {
            Self::Openhands => Dialect::OpenHands,
            Self::Deepagents => Dialect::Deepagents,
            Self::Claude => Dialect::Claude,
        }
    }
}

impl Source {
    /// The project's folder.
    pub(super) fn project(&self) -> PathBuf {
        self.project
            .clone()
            .or_else(|| {
                std::env::var_os("CLAUDE_PROJECT_DIR")
                    .filter(|it| !it.is_empty())
                    .map(PathBuf::from)
            })
            .unwrap_or_else(|| PathBuf::from("."))
    }

    /// The configurations, in the order in which they add up; none if there is no file.
    pub(super) fn configurations(&self) -> Result<Vec<Configuration>, Problem> {
        let project = self.project();
        if !project.is_dir() {
            return Err(Problem::new(format!(
                "the project `{}` is not a folder",
                project.display()
            )));
        }
        let project = std::path::absolute(&project).unwrap_or(project);
        let files = config::discover(
            self.config.as_deref(),
            self.from.map(From::dialect),
            &project,
        )
        .map_err(configuration_problem)?;
        files
            .into_iter()
            .map(|(path, dialect)| {
                Configuration::read(&path, dialect).map_err(configuration_problem)
            })
            .collect()
    }

    /// A host builder with the project and the configurations.
    pub(super) fn host(&self) -> Result<HostBuilder, Problem> {
        let builder = Host::builder().project(self.project());
        Ok(self
            .configurations()?
            .into_iter()
            .fold(builder, HostBuilder::configuration))
    }
}

fn configuration_problem(error: config::ConfigError) -> Problem {
    let problem = Problem::new(&error);
    match error.help() {
        Some(help) => problem.hint(help),
        None => problem,
    }
}

/// A path as a user would write it: relative to the current folder where it is below it.
pub(super) fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    here.as_deref()
        .and_then(|here| path.strip_prefix(here).ok())
        .unwrap_or(path)
        .display()
        .to_string()
}
