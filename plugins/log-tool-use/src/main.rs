//! A `PostToolUse` hook that appends a line for each tool that ran: when, which tool, which session.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::time::SystemTime;

use hookcell_guest::{Decision, Event, config};
use serde::Deserialize;

/// The hook's `config`.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    /// The log, relative to the event's `cwd`.
    file: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            file: ".hookcell/tool-use.log".to_owned(),
        }
    }
}

fn main() {
    hookcell_guest::run(|event| {
        let settings = config::<Settings>().map_err(|error| error.to_string())?;
        log(event, &settings)
    })
}

fn log(event: &Event<'_>, settings: &Settings) -> Result<Decision, String> {
    let cwd = event.cwd().ok_or("the event names no `cwd` to log in")?;
    let path = Path::new(&*cwd).join(&settings.file);
    let line = line(event, SystemTime::now());
    // One write of the whole line: hooks of several tools append to the same file.
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .map_err(|error| format!("`{}` cannot be written, which needs a grant with access \"write\" and the folder: {error}", path.display()))?;
    Ok(Decision::none())
}

/// The names stand in quotes, as JSON, so that no tool's name can look like another line.
fn line(event: &Event<'_>, now: SystemTime) -> String {
    let quoted = |name: Option<std::borrow::Cow<'_, str>>| {
        serde_json::Value::String(name.unwrap_or_default().into_owned()).to_string()
    };
    format!(
        "{} {} {}\n",
        humantime::format_rfc3339_seconds(now),
        quoted(event.tool_name()),
        quoted(event.session_id())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_name_cannot_forge_a_line() {
        let event = Event::parse(
            br#"{"hook_event_name":"PostToolUse","tool_name":"a\nb \"c\"","session_id":"s"}"#,
        )
        .unwrap();
        assert_eq!(
            line(&event, SystemTime::UNIX_EPOCH),
            "1970-01-01T00:00:00Z \"a\\nb \\\"c\\\"\" \"s\"\n"
        );
        let event = Event::parse(br#"{"hook_event_name":"PostToolUse"}"#).unwrap();
        assert_eq!(
            line(&event, SystemTime::UNIX_EPOCH),
            "1970-01-01T00:00:00Z \"\" \"\"\n"
        );
    }
}
