//! Where users have their configuration.

use std::path::{Path, PathBuf};

use super::ConfigError;
use crate::dialect::Dialect;

/// The files to read, each with the rules that it follows, in the order in which they add up.
/// Empty if there is none; more than one only for Claude, whose settings files add up.
///
/// - `explicit` (`--config`) is the one file, by hookcell's rules or those of `from`.
/// - Without `from`: `.hookcell/hooks.json` in the project, else `hookcell/hooks.json` in
///   `$XDG_CONFIG_HOME` or `~/.config`. The first that exists is the one.
/// - OpenHands: `.openhands/hooks.json` in the project, else in the home folder.
/// - deepagents: `hooks.json` in `$DEEPAGENTS_HOME`, else in `~/.deepagents`.
/// - Claude: the user's `~/.claude/settings.json`, the project's `.claude/settings.json`, and
///   `.claude/settings.local.json`.
///
/// # Errors
///
/// When the explicit file does not exist, or whether a file exists cannot be told: a configuration
/// that cannot be looked at is not one that is absent.
pub fn discover(
    explicit: Option<&Path>,
    from: Option<Dialect>,
    project: &Path,
) -> Result<Vec<(PathBuf, Dialect)>, ConfigError> {
    let dialect = from.unwrap_or_default();
    if let Some(path) = explicit {
        if !exists(path)? {
            return Err(ConfigError::new(path, "does not exist"));
        }
        return Ok(vec![(path.to_owned(), dialect)]);
    }
    let home = std::env::home_dir();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let (candidates, add_up) = match from {
        None => {
            let user = variable("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
            (vec![Some(project.join(".hookcell/hooks.json")), user.map(|folder| folder.join("hookcell/hooks.json"))], false)
        }
        Some(Dialect::OpenHands) => {
            (vec![Some(project.join(".openhands/hooks.json")), in_home(".openhands/hooks.json")], false)
        }
        Some(Dialect::Deepagents) => {
            let folder = variable("DEEPAGENTS_HOME").or_else(|| in_home(".deepagents"));
            (vec![folder.map(|folder| folder.join("hooks.json"))], false)
        }
        Some(Dialect::Claude) => (
            vec![
                in_home(".claude/settings.json"),
                Some(project.join(".claude/settings.json")),
                Some(project.join(".claude/settings.local.json")),
            ],
            true,
        ),
    };
    let mut found: Vec<(PathBuf, Dialect)> = Vec::new();
    for path in candidates.into_iter().flatten() {
        // A home folder that is the project has each file once.
        if exists(&path)? && found.iter().all(|(other, _)| *other != path) {
            found.push((path, dialect));
            if !add_up {
                break;
            }
        }
    }
    Ok(found)
}

fn exists(path: &Path) -> Result<bool, ConfigError> {
    path.try_exists().map_err(|error| ConfigError::new(path, format_args!("cannot be looked at: {error}")))
}
