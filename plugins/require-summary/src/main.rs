//! A `Stop` hook that lets the agent stop once a summary is written.

use std::io::ErrorKind;
use std::path::Path;

use hookcell_guest::{Decision, Event, config};
use serde::Deserialize;

/// The hook's `config`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    /// The summary, relative to the event's `cwd`.
    file: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file: "summary.md".to_owned(),
        }
    }
}

fn main() {
    hookcell_guest::run(|event| {
        let settings = config::<Settings>().map_err(|error| error.to_string())?;
        decide(event, &settings)
    })
}

fn decide(event: &Event<'_>, settings: &Settings) -> Result<Decision, String> {
    // The agent was sent back once already: it may not be able to write the file at all.
    if event.stop_hook_active() {
        return Ok(Decision::none());
    }
    let cwd = event.cwd().ok_or("the event names no `cwd` to look in")?;
    let path = Path::new(&*cwd).join(&settings.file);
    match std::fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => Ok(Decision::none()),
        Ok(_) => Ok(missing(&settings.file)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(missing(&settings.file))
        }
        Err(error) => Err(format!(
            "`{}` cannot be looked at; `permissions.filesystem` must grant its folder with access \"read\": {error}",
            path.display()
        )),
    }
}

fn missing(file: &str) -> Decision {
    Decision::block(format!(
        "Write a summary of the work to {file} before you stop."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_is_sent_back_only_once() {
        let decide = |payload: &str| {
            let event = Event::parse(payload.as_bytes()).unwrap();
            decide(&event, &Settings::default()).map(|decision| decision.blocks())
        };
        let folder = std::env::temp_dir().join("require-summary-no-such-folder");
        let stop = |active: bool| {
            format!(r#"{{"hook_event_name":"Stop","cwd":{folder:?},"stop_hook_active":{active}}}"#)
        };
        assert_eq!(decide(&stop(false)), Ok(true));
        assert_eq!(decide(&stop(true)), Ok(false));
        assert!(decide(r#"{"hook_event_name":"Stop"}"#).is_err());
    }
}
