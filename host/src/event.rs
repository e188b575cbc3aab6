//! One event as an agent sent it: its original bytes, and the few fields that the host reads.
//!
//! The bytes are sacred: a hook gets on its standard input exactly what the agent sent. Only the
//! envelope is read, the members of the outermost object, and read leniently, since real payloads
//! hold byte order marks, lone surrogates, numbers that no machine type holds, deep nesting and
//! duplicate keys. Of a duplicate key the last one counts, as in JavaScript and Python.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members that name the event, in the order in which they are looked for: the Claude
/// contract's, OpenHands', deepagents'.
const NAME_FIELDS: [&str; 3] = ["hook_event_name", "event_type", "event"];

/// The members that are kept: those that name the event and its session, and those that a matcher
/// may look at ([`crate::select::matched_field`]). All others are walked over.
const KEPT_FIELDS: [&str; 20] = [
    "hook_event_name",
    "event_type",
    "event",
    "session_id",
    "cwd",
    "working_dir",
    "tool_name",
    "source",
    "trigger",
    "reason",
    "notification_type",
    "agent_type",
    "error",
    "load_reason",
    "command_name",
    "mcp_server_name",
    "to_model",
    "file_path",
    "transcript_path",
    "permission_mode",
];

/// One event: a name, the original bytes, and the text members of the outermost object.
///
/// # Examples
///
/// ```
/// use hookcell::Event;
///
/// let event = Event::parse(r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash"}"#, None)?;
/// assert_eq!(event.name(), "PreToolUse");
/// assert_eq!(event.tool_name(), Some("Bash"));
/// # Ok::<(), hookcell::EventError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Event {
    name: String,
    bytes: Bytes,
    fields: BTreeMap<String, String>,
}

impl Event {
    /// The largest event that is accepted unless another limit is named: 64 MiB.
    pub const DEFAULT_LIMIT: usize = 64 << 20;

    /// Reads an event of at most [`Event::DEFAULT_LIMIT`] bytes.
    ///
    /// `name` is the event's name where the caller knows it, for instance from the command line.
    /// Without it the payload's `hook_event_name`, `event_type` or `event` names it.
    ///
    /// # Errors
    ///
    /// When the payload is empty, too large, not JSON, not an object, has no event name, or names
    /// another event than `name`.
    pub fn parse(bytes: impl Into<Bytes>, name: Option<&str>) -> Result<Self, EventError> {
        Self::parse_within(bytes, name, Self::DEFAULT_LIMIT)
    }

    /// Like [`Event::parse`], with a limit of `limit` bytes.
    ///
    /// # Errors
    ///
    /// As [`Event::parse`].
    pub fn parse_within(
        bytes: impl Into<Bytes>,
        name: Option<&str>,
        limit: usize,
    ) -> Result<Self, EventError> {
        let bytes = bytes.into();
        if bytes.len() > limit {
            return Err(EventError::TooLarge { limit });
        }
        let text = strip_byte_order_marks(&bytes);
        if text.iter().all(u8::is_ascii_whitespace) {
            return Err(EventError::Empty);
        }
        let fields = read_envelope(text)?;
        // An empty name names nothing, wherever it stands.
        let in_payload = NAME_FIELDS
            .iter()
            .filter_map(|field| fields.get(*field))
            .find(|name| !name.is_empty());
        let name = match (name.filter(|name| !name.is_empty()), in_payload) {
            (Some(name), Some(other)) if name != other => {
                return Err(EventError::NameMismatch {
                    given: name.to_owned(),
                    in_payload: other.clone(),
                });
            }
            (Some(name), _) => name.to_owned(),
            (None, Some(name)) => name.clone(),
            (None, None) => return Err(EventError::NoName),
        };
        Ok(Self {
            name,
            bytes,
            fields,
        })
    }

    /// The event's name, for instance `PreToolUse`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The payload, byte for byte as it came.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// A member of the outermost object that selection may look at ([`crate::select::matched_field`]);
    /// `None` if there is none, or it is not a string.
    /// Lone surrogates and bytes that are not UTF-8 are replaced by U+FFFD.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// `tool_name`, which tool events carry.
    pub fn tool_name(&self) -> Option<&str> {
        self.field("tool_name").filter(|name| !name.is_empty())
    }

    /// `session_id`.
    pub fn session_id(&self) -> Option<&str> {
        self.field("session_id")
    }

    /// The folder in which the session is: `cwd`, in OpenHands' payloads `working_dir`.
    pub fn cwd(&self) -> Option<&str> {
        self.field("cwd")
            .or_else(|| self.field("working_dir"))
            .filter(|cwd| !cwd.is_empty())
    }
}

/// Why a payload is not an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventError {
    /// There is nothing but white space.
    Empty,
    /// There are more bytes than the limit allows.
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The payload is not JSON.
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
        /// What the parser met.
        message: String,
    },
    /// The payload is JSON and not an object.
    NotAnObject {
        /// What it is: `null`, `an array`, `a string`…
        found: &'static str,
    },
    /// Neither the caller nor the payload names the event.
    NoName,
    /// The caller and the payload name different events.
    NameMismatch {
        /// The name that the caller gave.
        given: String,
        /// The name in the payload.
        in_payload: String,
    },
}

impl EventError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty => {
                "the event is read from standard input: `hookcell run PreToolUse < event.json`"
            }
            Self::TooLarge { .. } => "raise the limit with `--max-event-size`",
            Self::NotJson { .. } => "an event is one JSON object, as the agent prints it",
            Self::NotAnObject { .. } => {
                r#"an event is one JSON object, for instance {"hook_event_name": "Stop"}"#
            }
            Self::NoName => {
                "name the event on the command line (`hookcell run PreToolUse`) or in `hook_event_name`"
            }
            Self::NameMismatch { .. } => {
                "leave the name out on the command line, or register the hook for the right event"
            }
        }
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the event is empty"),
            Self::TooLarge { limit } => write!(
                f,
                "the event is larger than the limit of {}",
                bytesize::ByteSize::b(*limit as u64).display().iec()
            ),
            Self::NotJson {
                line,
                column,
                message,
            } => {
                write!(
                    f,
                    "the event is not JSON: {message} at line {line}, column {column}"
                )
            }
            Self::NotAnObject { found } => {
                write!(f, "the event must be a JSON object, and is {found}")
            }
            Self::NoName => f.write_str("the event has no name"),
            Self::NameMismatch { given, in_payload } => write!(
                f,
                "the event was announced as `{}`, and its payload says `{}`",
                crate::text::one_line(given, 80),
                crate::text::one_line(in_payload, 80)
            ),
        }
    }
}

impl std::error::Error for EventError {}

/// Without the UTF-8 byte order marks before the first byte of JSON: some agents send one on
/// Windows, some two.
fn strip_byte_order_marks(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        bytes = rest;
    }
    bytes
}

fn read_envelope(text: &[u8]) -> Result<BTreeMap<String, String>, EventError> {
    let text = String::from_utf8_lossy(text);
    match read_object(&text) {
        // Python's writers print NaN and Infinity for numbers, and agents are written in Python.
        Err(EventError::NotJson { .. }) if text.contains("NaN") || text.contains("Infinity") => {
            read_object(&without_python_numbers(&text))
        }
        read => read,
    }
}

/// The text with each `NaN`, `Infinity` and `-Infinity` outside of a string as `null`.
fn without_python_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        let number = ["NaN", "Infinity", "-Infinity"]
            .into_iter()
            .find(|number| !in_string && rest.starts_with(number));
        let taken = match (c, number) {
            (_, Some(number)) => {
                plain.push_str("null");
                rest = &rest[number.len()..];
                continue;
            }
            // An escaped character, so that an escaped quote does not end the string.
            ('\\', None) if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ => c.len_utf8(),
        };
        in_string ^= c == '"';
        plain.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    plain
}

fn read_object(text: &str) -> Result<BTreeMap<String, String>, EventError> {
    let not_json = |error: serde_json::Error| EventError::NotJson {
        line: error.line(),
        column: error.column(),
        message: strip_position(&error.to_string()),
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') | None => None,
        Some(b'[') => Some("an array"),
        Some(b'"') => Some("a string"),
        Some(b'n') => Some("null"),
        Some(b't' | b'f') => Some("a boolean"),
        Some(_) => Some("a number"),
    };
    if let Some(found) = found {
        IgnoredAny::deserialize(&mut deserializer).map_err(not_json)?;
        deserializer.end().map_err(not_json)?;
        return Err(EventError::NotAnObject { found });
    }
    let fields = deserializer.deserialize_map(Envelope).map_err(not_json)?;
    deserializer.end().map_err(not_json)?;
    Ok(fields)
}

/// serde_json's message ends in the position, which the error carries by itself.
fn strip_position(message: &str) -> String {
    message
        .split(" at line ")
        .next()
        .unwrap_or(message)
        .to_owned()
}

/// Reads the outermost object. `RawValue` and `IgnoredAny` walk over a value without recursion and
/// without looking into its strings and numbers, so neither depth nor odd content costs the event.
struct Envelope;

impl<'de> Visitor<'de> for Envelope {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = BTreeMap::new();
        while let Some(key) = map.next_key_seed(LenientText)? {
            if !KEPT_FIELDS.contains(&key.as_ref()) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let raw: &RawValue = map.next_value()?;
            // A later duplicate that is not a string takes the earlier one away: the last counts.
            fields.remove(key.as_ref());
            if raw.get().starts_with('"') {
                let mut value = serde_json::Deserializer::from_str(raw.get());
                let text = LenientText
                    .deserialize(&mut value)
                    .map_err(A::Error::custom)?;
                fields.insert(key.into_owned(), text.into_owned());
            }
        }
        Ok(fields)
    }
}

/// A JSON string of any bytes. Taking it as bytes keeps serde_json from refusing lone surrogates.
struct LenientText;

impl<'de> DeserializeSeed<'de> for LenientText {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl<'de> Visitor<'de> for LenientText {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(String::from_utf8_lossy(bytes))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(payload: impl Into<Bytes>) -> Result<String, EventError> {
        Event::parse(payload, None).map(|event| event.name().to_owned())
    }

    #[test]
    fn the_payload_names_the_event_in_each_agents_field() {
        for field in NAME_FIELDS {
            assert_eq!(
                name_of(format!(r#"{{"{field}": "Stop"}}"#)),
                Ok("Stop".to_owned())
            );
        }
    }

    #[test]
    fn an_empty_name_names_nothing() {
        let payload = r#"{"hook_event_name":"","event_type":"Stop"}"#;
        assert_eq!(name_of(payload), Ok("Stop".to_owned()));
        assert!(Event::parse(payload, Some("PreToolUse")).is_err());
    }

    #[test]
    fn real_payloads_with_odd_content_are_events_and_keep_their_bytes() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let payloads = [
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","x":"\ud800"}"#.to_owned(),
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","\udfff":1}"#.to_owned(),
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","n":[1e999,-0,123456789012345678901234567890]}"#.to_owned(),
            format!(r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","deep":{deep}}}"#),
            r#"{"tool_name":"Read","hook_event_name":"Stop","hook_event_name":"PreToolUse","tool_name":"Bash"}"#.to_owned(),
            "\u{feff}{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}".to_owned(),
            "\u{feff}\u{feff} \r\n{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\"}\n".to_owned(),
        ];
        for payload in payloads {
            let event = Event::parse(payload.clone(), None)
                .unwrap_or_else(|error| panic!("{error}: {payload:.90}"));
            assert_eq!(
                (event.name(), event.tool_name()),
                ("PreToolUse", Some("Bash"))
            );
            assert_eq!(event.bytes().as_ref(), payload.as_bytes());
        }
    }

    #[test]
    fn whatever_a_matcher_may_look_at_is_kept() {
        for (event, field) in crate::select::EVENTS {
            assert!(
                field.is_none_or(|field| KEPT_FIELDS.contains(&field)),
                "{event}"
            );
        }
    }

    #[test]
    fn pythons_numbers_are_walked_over() {
        let payload =
            r#"{"event":"tool.use","x":[NaN,Infinity,-Infinity],"tool_name":"NaN \"Infinity\\"}"#;
        let event = Event::parse(payload, None).unwrap();
        assert_eq!(
            (event.name(), event.tool_name()),
            ("tool.use", Some("NaN \"Infinity\\"))
        );
        assert_eq!(event.bytes().as_ref(), payload.as_bytes());
        assert!(matches!(
            name_of(r#"{"event":"x","y":NaNs}"#),
            Err(EventError::NotJson { .. })
        ));
    }

    #[test]
    fn bytes_that_are_not_utf8_are_kept_and_read_with_replacement() {
        let payload = b"{\"hook_event_name\":\"Stop\",\"tool_name\":\"B\xffsh\"}".to_vec();
        let event = Event::parse(payload.clone(), None).unwrap();
        assert_eq!(event.tool_name(), Some("B\u{fffd}sh"));
        assert_eq!(event.bytes().as_ref(), payload);
    }

    #[test]
    fn a_lone_surrogate_in_a_kept_field_is_replaced() {
        let event = Event::parse(r#"{"event":"Stop","tool_name":"a\ud800b"}"#, None).unwrap();
        assert_eq!(event.tool_name(), Some("a\u{fffd}\u{fffd}\u{fffd}b"));
    }

    #[test]
    fn a_later_duplicate_of_another_type_takes_the_field_away() {
        let event = Event::parse(
            r#"{"event":"Stop","tool_name":"Bash","tool_name":null}"#,
            None,
        )
        .unwrap();
        assert_eq!(event.tool_name(), None);
    }

    #[test]
    fn what_is_not_an_event_is_refused_by_its_own_error() {
        assert_eq!(name_of(""), Err(EventError::Empty));
        assert_eq!(name_of("\u{feff} \n"), Err(EventError::Empty));
        for (payload, found) in [
            ("null", "null"),
            ("[]", "an array"),
            ("\"Stop\"", "a string"),
            ("true", "a boolean"),
            ("-1", "a number"),
        ] {
            assert_eq!(name_of(payload), Err(EventError::NotAnObject { found }));
        }
        for payload in [
            "{",
            "{}{}",
            "{\"a\":}",
            "{\"hook_event_name\":\"Stop\"} x",
            "hello",
            "{'a':1}",
            "nul",
        ] {
            assert!(
                matches!(name_of(payload), Err(EventError::NotJson { .. })),
                "{payload}"
            );
        }
        for payload in [
            "{}",
            r#"{"hook_event_name":""}"#,
            r#"{"hook_event_name":5}"#,
            r#"{"hook_event_name":null}"#,
        ] {
            assert_eq!(name_of(payload), Err(EventError::NoName), "{payload}");
        }
        assert_eq!(
            Event::parse(r#"{"hook_event_name":"Stop"}"#, Some("PreToolUse")).unwrap_err(),
            EventError::NameMismatch {
                given: "PreToolUse".into(),
                in_payload: "Stop".into()
            }
        );
        assert_eq!(
            Event::parse_within(r#"{"event":"Stop"}"#, None, 10).unwrap_err(),
            EventError::TooLarge { limit: 10 }
        );
    }

    #[test]
    fn the_caller_may_name_an_event_that_does_not_name_itself() {
        assert_eq!(Event::parse("{}", Some("Stop")).unwrap().name(), "Stop");
        let empty = r#"{"hook_event_name":"","event_type":""}"#;
        assert_eq!(Event::parse(empty, Some("Stop")).unwrap().name(), "Stop");
        assert_eq!(
            Event::parse(r#"{"event":"Stop"}"#, Some("Stop"))
                .unwrap()
                .name(),
            "Stop"
        );
    }
}
