//! Where users have their configuration.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;

use super::ConfigError;
use crate::dialect::Dialect;

/// The files to read, each with the rules that it follows, in the order in which they add up.
/// Empty if there is none; more than one only for Claude, whose settings files add up.
///
/// * `explicit` (`--config`) is the one file, by hookcell's rules or those of `from`.
/// * Without `from`: `.hookcell/hooks.json` in the project, else `hookcell/hooks.json` in
///   `$XDG_CONFIG_HOME` or `~/.config`. The first that exists is the one.
/// * OpenHands: `.openhands/hooks.json` in the project, else `hooks.json` in `$OH_PERSISTENCE_DIR`,
///   or without that variable in `~/.openhands`.
/// * deepagents: `hooks.json` in `$DEEPAGENTS_HOME`, or without that variable in `~/.deepagents`.
/// * Claude: the user's `~/.claude/settings.json`, the project's `.claude/settings.json`, and
///   `.claude/settings.local.json`.
///
/// A relative value of one of these variables counts as none. Nothing is read but the variables and
/// whether files exist.
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
    Folders::of_the_user().discover(explicit, from, project)
}

/// The folders in which users have configurations.
#[derive(Debug, Default)]
struct Folders {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    openhands: Option<PathBuf>,
    deepagents: Option<PathBuf>,
}

impl Folders {
    fn of_the_user() -> Self {
        let xdg = etcetera::base_strategy::Xdg::new().ok();
        let home = xdg.as_ref().map(|xdg| xdg.home_dir().to_owned());
        let variable = |name: &str| {
            let value = PathBuf::from(std::env::var_os(name)?);
            let value = match (value.strip_prefix("~"), &home) {
                (Ok(rest), Some(home)) => home.join(rest),
                _ => value,
            };
            value.is_absolute().then_some(value)
        };
        let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            config: xdg.as_ref().map(|xdg| xdg.config_dir()),
            openhands: variable("OH_PERSISTENCE_DIR").or_else(|| in_home(".openhands")),
            deepagents: variable("DEEPAGENTS_HOME").or_else(|| in_home(".deepagents")),
            home,
        }
    }

    fn discover(
        &self,
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
        let of =
            |folder: &Option<PathBuf>, file: &str| folder.as_ref().map(|folder| folder.join(file));
        let candidates = match from {
            None => vec![
                Some(project.join(".hookcell/hooks.json")),
                of(&self.config, "hookcell/hooks.json"),
            ],
            Some(Dialect::OpenHands) => {
                vec![
                    Some(project.join(".openhands/hooks.json")),
                    of(&self.openhands, "hooks.json"),
                ]
            }
            Some(Dialect::Deepagents) => vec![of(&self.deepagents, "hooks.json")],
            Some(Dialect::Claude) => vec![
                of(&self.home, ".claude/settings.json"),
                Some(project.join(".claude/settings.json")),
                Some(project.join(".claude/settings.local.json")),
            ],
        };
        let most = if from == Some(Dialect::Claude) {
            usize::MAX
        } else {
            1
        };
        let mut found: Vec<(PathBuf, Dialect)> = Vec::new();
        for path in candidates.into_iter().flatten() {
            // A home folder that is the project has each file once.
            if found.len() < most && found.iter().all(|(other, _)| *other != path) && exists(&path)?
            {
                found.push((path, dialect));
            }
        }
        Ok(found)
    }
}

/// Whether there is something at a path, be it a link that leads nowhere: reading it says what is
/// wrong.
fn exists(path: &Path) -> Result<bool, ConfigError> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(ConfigError::new(
            path,
            format_args!("cannot be looked at: {error}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        root: tempfile::TempDir,
        folders: Folders,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let at = |name: &str| Some(root.path().join(name));
            let folders = Folders {
                home: at("home"),
                config: at("home/.config"),
                openhands: at("home/.openhands"),
                deepagents: at("home/.deepagents"),
            };
            Self { root, folders }
        }

        fn write(&self, name: &str) {
            let path = self.root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        }

        fn found(&self, from: Option<Dialect>) -> Vec<String> {
            let found = self
                .folders
                .discover(None, from, &self.root.path().join("project"))
                .unwrap();
            found
                .into_iter()
                .map(|(path, dialect)| {
                    assert_eq!(dialect, from.unwrap_or_default());
                    path.strip_prefix(self.root.path())
                        .unwrap()
                        .display()
                        .to_string()
                })
                .collect()
        }
    }

    #[test]
    fn the_first_that_exists_is_the_one() {
        for (from, user, project) in [
            (
                None,
                "home/.config/hookcell/hooks.json",
                "project/.hookcell/hooks.json",
            ),
            (
                Some(Dialect::OpenHands),
                "home/.openhands/hooks.json",
                "project/.openhands/hooks.json",
            ),
        ] {
            let place = Place::new();
            assert!(place.found(from).is_empty());
            place.write(user);
            assert_eq!(place.found(from), [user]);
            place.write(project);
            assert_eq!(place.found(from), [project]);
        }
        let place = Place::new();
        place.write("project/.deepagents/hooks.json");
        assert!(place.found(Some(Dialect::Deepagents)).is_empty());
        place.write("home/.deepagents/hooks.json");
        assert_eq!(
            place.found(Some(Dialect::Deepagents)),
            ["home/.deepagents/hooks.json"]
        );
    }

    #[test]
    fn claudes_files_add_up() {
        let place = Place::new();
        let all = [
            "home/.claude/settings.json",
            "project/.claude/settings.json",
            "project/.claude/settings.local.json",
        ];
        for name in all.iter().rev() {
            place.write(name);
        }
        assert_eq!(place.found(Some(Dialect::Claude)), all);
        let home = place.folders.home.clone().unwrap();
        let found = place
            .folders
            .discover(None, Some(Dialect::Claude), &home)
            .unwrap();
        assert_eq!(
            found.len(),
            1,
            "a home that is the project has each file once"
        );
    }

    #[test]
    fn a_named_file_must_exist_and_wins() {
        let place = Place::new();
        place.write("project/.hookcell/hooks.json");
        let named = place.root.path().join("named.json");
        let find = |from| {
            place
                .folders
                .discover(Some(&named), from, place.root.path())
        };
        assert!(
            find(None)
                .unwrap_err()
                .to_string()
                .ends_with("named.json` does not exist")
        );
        place.write("named.json");
        assert_eq!(find(None).unwrap(), [(named.clone(), Dialect::Claude)]);
        assert_eq!(
            find(Some(Dialect::OpenHands)).unwrap(),
            [(named.clone(), Dialect::OpenHands)]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_not_absent() {
        let place = Place::new();
        place.write("home/.config/hookcell/hooks.json");
        std::fs::create_dir_all(place.root.path().join("project/.hookcell")).unwrap();
        std::os::unix::fs::symlink(
            "nowhere",
            place.root.path().join("project/.hookcell/hooks.json"),
        )
        .unwrap();
        assert_eq!(place.found(None), ["project/.hookcell/hooks.json"]);
    }

    #[test]
    fn without_folders_of_the_user_there_is_the_project() {
        for from in [
            None,
            Some(Dialect::OpenHands),
            Some(Dialect::Deepagents),
            Some(Dialect::Claude),
        ] {
            let found = Folders::default()
                .discover(None, from, Path::new("no such project"))
                .unwrap();
            assert!(found.is_empty());
        }
    }
}
