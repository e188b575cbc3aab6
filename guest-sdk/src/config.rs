//! The hook's own settings.

use std::fmt;

use serde::de::DeserializeOwned;

/// The environment variable that holds the `config` object of the hook's entry in hooks.json.
pub const CONFIG_VARIABLE: &str = "HOOKCELL_CONFIG";

/// Reads the hook's `config` object, as it stands in hooks.json.
///
/// A hook without `config` gets the type's default: `config::<Option<Settings>>()` tells it from
/// an empty one. Mark the type `#[serde(deny_unknown_fields)]` to tell the user of misspelt
/// settings.
///
/// ```
/// #[derive(serde::Deserialize, Default)]
/// #[serde(default, deny_unknown_fields)]
/// struct Settings {
///     patterns: Vec<String>,
/// }
///
/// let settings: Settings = hookcell_guest::config()?;
/// assert!(settings.patterns.is_empty());
/// # Ok::<(), hookcell_guest::ConfigError>(())
/// ```
///
/// # Errors
///
/// If `config` does not have the type's shape. A guard had better decide first what it can decide
/// without its settings: a hook that only fails stops nothing, unless its entry says
/// `"onFailure": "block"`.
pub fn config<T: DeserializeOwned + Default>() -> Result<T, ConfigError> {
    // A variable that is not Unicode is no JSON either: the parser says so.
    read(std::env::var_os(CONFIG_VARIABLE).map(|text| text.to_string_lossy().into_owned()))
}

fn read<T: DeserializeOwned + Default>(text: Option<String>) -> Result<T, ConfigError> {
    match text.as_deref().map(str::trim) {
        None | Some("" | "null") => Ok(T::default()),
        Some(text) => serde_json::from_str(text).map_err(ConfigError),
    }
}

/// Why the hook's `config` cannot be used.
#[derive(Debug)]
pub struct ConfigError(serde_json::Error);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the hook's `config` in hooks.json is wrong: {}", self.0)
    }
}

impl std::error::Error for ConfigError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        file: String,
    }

    fn settings(text: &str) -> Result<Settings, String> {
        read(Some(text.to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn no_config_is_the_default() {
        assert_eq!(read::<Settings>(None).unwrap(), Settings::default());
        for text in ["", " \n", "null", "{}"] {
            assert_eq!(settings(text), Ok(Settings::default()), "{text}");
        }
        assert_eq!(read::<Option<Settings>>(None).unwrap(), None);
        assert_eq!(
            read::<Option<Settings>>(Some("{}".into())).unwrap(),
            Some(Settings::default())
        );
    }

    #[test]
    fn a_config_is_read() {
        assert_eq!(
            settings(r#"{"file": "a.md"}"#),
            Ok(Settings {
                file: "a.md".to_owned()
            })
        );
    }

    #[test]
    fn a_wrong_config_says_what_is_wrong() {
        for (text, message) in [
            (
                r#"{"fil": "a"}"#,
                "unknown field `fil`, expected `file` at line 1 column 6",
            ),
            (
                r#"{"file": 1}"#,
                "invalid type: integer `1`, expected a string at line 1 column 10",
            ),
            ("{", "EOF while parsing an object at line 1 column 1"),
        ] {
            assert_eq!(
                settings(text),
                Err(format!(
                    "the hook's `config` in hooks.json is wrong: {message}"
                ))
            );
        }
    }
}
