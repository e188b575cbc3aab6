//! One event, as the agent sent it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value;

use crate::json::{Json, members};
use crate::lenient::normalise;

/// The members that an [`Event`] keeps at hand. Where agents name a thing differently, the Claude
/// contract's name comes first.
const FIELDS: [&str; 14] = [
    "hook_event_name",
    "event_type",
    "event",
    "session_id",
    "cwd",
    "working_dir",
    "tool_name",
    "tool_input",
    "tool_response",
    "prompt",
    "message",
    "stop_hook_active",
    "transcript_path",
    "permission_mode",
];

/// One event: what an agent is about to do, or has done.
///
/// Fields are read when they are asked for, and leniently ([`Json`] says how), so that what a
/// hostile tool input holds beside the field does not keep a hook from deciding. A field that is
/// missing, `null` or of another type reads as `None`.
///
/// ```
/// use hookcell_guest::Event;
///
/// let event = Event::parse(br#"{
///     "hook_event_name": "PreToolUse",
///     "cwd": "/project",
///     "tool_name": "Bash",
///     "tool_input": {"command": "ls"},
///     "permission_mode": "plan"
/// }"#)?;
/// assert_eq!(event.name(), "PreToolUse");
/// assert_eq!(event.tool_name().as_deref(), Some("Bash"));
/// assert_eq!(event.tool_input().get("command").text().as_deref(), Some("ls"));
/// assert_eq!(event.get("permission_mode").text().as_deref(), Some("plan"));
/// # Ok::<(), hookcell_guest::EventError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Event<'a> {
    bytes: &'a [u8],
    /// The event's text, without byte order marks; the agent's own bytes unless they were odd.
    text: Cow<'a, str>,
    /// Where in `text` the values of [`FIELDS`] are.
    fields: [Option<Range<usize>>; FIELDS.len()],
}

impl<'a> Event<'a> {
    /// Reads an event. [`run`](crate::run) does it for a hook's `main`; tests call it by themselves.
    ///
    /// # Errors
    ///
    /// If `bytes` is not one JSON object.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EventError> {
        let mut content = bytes;
        while let Some(rest) = content.strip_prefix(b"\xEF\xBB\xBF") {
            content = rest;
        }
        if content.iter().all(u8::is_ascii_whitespace) {
            return Err(EventError(
                "the event is empty; it is read from standard input".to_owned(),
            ));
        }
        let text = String::from_utf8_lossy(content);
        let fields = match places(&text) {
            Ok(fields) => fields,
            Err(strict) => {
                let text = normalise(&text);
                let fields = places(&text).map_err(|_| {
                    EventError(format!("the event must be one JSON object: {strict}"))
                })?;
                return Ok(Self {
                    bytes,
                    text: Cow::Owned(text),
                    fields,
                });
            }
        };
        Ok(Self {
            bytes,
            text,
            fields,
        })
    }

    /// The bytes as they came.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The event as one unparsed value.
    pub fn json(&self) -> Json<'_> {
        Json::new(&self.text)
    }

    /// The whole event as a value; [`Json::to_value`] says what becomes of odd content.
    pub fn to_value(&self) -> Value {
        self.json().to_value()
    }

    /// A member of the event; `null` if it is not there.
    pub fn get(&self, key: &str) -> Json<'_> {
        if !FIELDS.contains(&key) {
            // Looked up anew each time: few hooks ask for such a member, and none often.
            return match members(&self.text, [key]) {
                Ok([Some(raw)]) => Json::new(raw),
                _ => Json::NULL,
            };
        }
        self.field(key)
    }

    /// The event's name, for instance `PreToolUse`: `hook_event_name`, in OpenHands' events
    /// `event_type`, in deepagents' `event`. Empty if the event does not name itself.
    pub fn name(&self) -> Cow<'_, str> {
        self.first_text(["hook_event_name", "event_type", "event"])
            .unwrap_or_default()
    }

    /// `session_id`.
    pub fn session_id(&self) -> Option<Cow<'_, str>> {
        self.first_text(["session_id"])
    }

    /// The folder in which the agent works: `cwd`, in OpenHands' events `working_dir`.
    pub fn cwd(&self) -> Option<Cow<'_, str>> {
        self.first_text(["cwd", "working_dir"])
    }

    /// `tool_name`, of tool events.
    pub fn tool_name(&self) -> Option<Cow<'_, str>> {
        self.first_text(["tool_name"])
    }

    /// `tool_input`, of tool events: what the tool is called with.
    pub fn tool_input(&self) -> Json<'_> {
        self.field("tool_input")
    }

    /// `tool_response`, of `PostToolUse`: what the tool returned.
    pub fn tool_response(&self) -> Json<'_> {
        self.field("tool_response")
    }

    /// What the user wrote, of `UserPromptSubmit`: `prompt`, in OpenHands' events `message`.
    pub fn prompt(&self) -> Option<Cow<'_, str>> {
        self.first_text(["prompt", "message"])
    }

    /// `stop_hook_active`, of `Stop`: whether the agent goes on only because a hook has blocked an
    /// earlier stop.
    pub fn stop_hook_active(&self) -> bool {
        self.field("stop_hook_active").boolean() == Some(true)
    }

    /// `transcript_path`: the file that holds the conversation.
    pub fn transcript_path(&self) -> Option<Cow<'_, str>> {
        self.first_text(["transcript_path"])
    }

    /// Whether the event has OpenHands' form, whose agent reads other members of an answer.
    pub(crate) fn is_of_openhands(&self) -> bool {
        self.first_text(["hook_event_name"]).is_none() && self.first_text(["event_type"]).is_some()
    }

    fn field(&self, name: &str) -> Json<'_> {
        let place = FIELDS.iter().position(|field| *field == name);
        place
            .and_then(|index| self.fields[index].clone())
            .and_then(|range| self.text.get(range))
            .map_or(Json::NULL, Json::new)
    }

    /// The first of these members that is a string and not empty.
    fn first_text<const COUNT: usize>(&self, names: [&str; COUNT]) -> Option<Cow<'_, str>> {
        names
            .into_iter()
            .find_map(|name| self.field(name).text().filter(|text| !text.is_empty()))
    }
}

/// Where the values of [`FIELDS`] are in `text`.
fn places(text: &str) -> Result<[Option<Range<usize>>; FIELDS.len()], serde_json::Error> {
    let start_of_text = text.as_ptr().addr();
    Ok(members(text, FIELDS)?.map(|raw| {
        raw.map(|raw| {
            let start = raw.as_ptr().addr() - start_of_text;
            start..start + raw.len()
        })
    }))
}

/// Why the bytes on standard input are not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventError(String);

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EventError {}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = r#""hook_event_name":"PreToolUse","tool_input":{"command":"ls"}"#;

    fn command(event: &[u8]) -> (String, Option<String>) {
        let event = Event::parse(event).unwrap_or_else(|error| panic!("{error}"));
        let command = event
            .tool_input()
            .get("command")
            .text()
            .map(Cow::into_owned);
        (event.name().into_owned(), command)
    }

    #[test]
    fn the_fields_of_each_agents_event_are_read() {
        let claude = Event::parse(
            br#"{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"Stop","stop_hook_active":true,"prompt":"hi","tool_response":[1]}"#,
        )
        .unwrap();
        assert_eq!(claude.name(), "Stop");
        assert_eq!(claude.session_id().as_deref(), Some("s"));
        assert_eq!(claude.transcript_path().as_deref(), Some("/t"));
        assert_eq!(claude.cwd().as_deref(), Some("/w"));
        assert_eq!(claude.prompt().as_deref(), Some("hi"));
        assert_eq!(claude.tool_response().raw(), "[1]");
        assert!(claude.stop_hook_active() && !claude.is_of_openhands());

        let openhands = Event::parse(
            br#"{"event_type":"UserPromptSubmit","tool_name":null,"tool_input":null,"message":"hi","session_id":null,"working_dir":"/w","metadata":{"a":1}}"#,
        )
        .unwrap();
        assert_eq!(openhands.name(), "UserPromptSubmit");
        assert_eq!(openhands.prompt().as_deref(), Some("hi"));
        assert_eq!(openhands.cwd().as_deref(), Some("/w"));
        assert_eq!(
            (openhands.session_id(), openhands.tool_name()),
            (None, None)
        );
        assert!(openhands.tool_input().is_null() && openhands.is_of_openhands());
        assert_eq!(openhands.get("metadata").raw(), r#"{"a":1}"#);
        assert!(openhands.get("none").is_null());

        assert_eq!(
            Event::parse(br#"{"event":"tool.use"}"#).unwrap().name(),
            "tool.use"
        );
        assert_eq!(Event::parse(b"{}").unwrap().name(), "");
    }

    #[test]
    fn what_stands_beside_a_field_does_not_hide_it() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let long_number = "9".repeat(400);
        for odd in [
            r#""\ud800""#,
            r#"{"\ud800":"\udfff"}"#,
            "1e999",
            &long_number,
            &deep,
            "NaN",
            "[Infinity]",
            "\"\u{1}\"",
        ] {
            for event in [
                format!("{{{COMMAND},\"odd\":{odd}}}"),
                format!("{{\"odd\":{odd},{COMMAND}}}"),
                format!(
                    r#"{{"hook_event_name":"PreToolUse","tool_input":{{"odd":{odd},"command":"ls"}}}}"#
                ),
                format!(
                    r#"{{"hook_event_name":"PreToolUse","tool_input":{{"command":"rm","odd":{odd},"command":"ls"}}}}"#
                ),
                format!("\u{feff}\u{feff} \r\n{{{COMMAND},\"odd\":{odd}}}\n"),
                format!("{{\"\\ud800\":{odd},{COMMAND}}}"),
            ] {
                assert_eq!(
                    command(event.as_bytes()),
                    ("PreToolUse".into(), Some("ls".into())),
                    "{event:.120}"
                );
            }
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_the_original_is_kept() {
        let bytes = b"{\"hook_event_name\":\"PreToolUse\",\"a\":\"\xff\",\"tool_input\":{\"command\":\"l\xfes\"}}";
        assert_eq!(
            command(bytes),
            ("PreToolUse".into(), Some("l\u{fffd}s".into()))
        );
        assert_eq!(Event::parse(bytes).unwrap().bytes(), bytes);
    }

    #[test]
    fn a_later_duplicate_of_another_type_counts() {
        assert_eq!(
            command(br#"{"event":"x","tool_input":{"command":"ls"},"tool_input":null}"#),
            ("x".into(), None)
        );
    }

    #[test]
    fn what_is_not_an_object_is_refused_with_a_reason() {
        for (bytes, message) in [
            (
                &b""[..],
                "the event is empty; it is read from standard input",
            ),
            (
                b"\xEF\xBB\xBF \n",
                "the event is empty; it is read from standard input",
            ),
            (
                b"{\"a\":",
                "the event must be one JSON object: EOF while parsing a value at line 1 column 5",
            ),
            (
                b"{} {}",
                "the event must be one JSON object: trailing characters at line 1 column 4",
            ),
            (
                b"[1]",
                "the event must be one JSON object: invalid type: sequence, expected a JSON object at line 1 column 0",
            ),
            (
                b"hello",
                "the event must be one JSON object: expected value at line 1 column 1",
            ),
        ] {
            assert_eq!(Event::parse(bytes).unwrap_err().to_string(), message);
        }
    }
}
