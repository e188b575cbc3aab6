//! The envelope: read as leniently as payloads are odd, and passed on byte for byte.

use std::collections::BTreeMap;

use hookcell::{Event, EventError};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::{bytes, json, json_string, text};

const NAMES: [&str; 3] = ["hook_event_name", "event_type", "event"];

/// The members that selection may look at, and some that nobody does.
const MEMBERS: [&str; 10] = [
    "hook_event_name",
    "event_type",
    "event",
    "tool_name",
    "session_id",
    "cwd",
    "source",
    "file_path",
    "tool_input",
    "Tool_Name",
];

/// One member as it is written, and its value if that is a string.
#[derive(Debug, Clone)]
struct Member {
    name: &'static str,
    written: String,
    value: Option<String>,
}

fn member() -> impl Strategy<Value = Member> {
    let value = prop_oneof![
        4 => text().prop_map(|text| (serde_json::Value::from(&*text).to_string(), Some(text))),
        1 => text().prop_map(|text| (in_escapes(&text), Some(text))),
        1 => select(vec!["NaN", "-Infinity", "[Infinity, \"NaN\"]", "1e9999", "{\"a\": NaN}"])
            .prop_map(|odd| (odd.to_owned(), None)),
        1 => json().prop_filter("not a string", |json| !json.starts_with('"'))
            .prop_map(|json| (json, None)),
        1 => (1_usize..3_000).prop_map(|depth| {
            (format!("{}{}", "[".repeat(depth), "]".repeat(depth)), None)
        }),
    ];
    (select(&MEMBERS[..]), value).prop_map(|(name, (written, value))| Member {
        name,
        written,
        value,
    })
}

/// Every character as `\uXXXX`, in surrogates where it takes two: Python's way for what is not ASCII.
fn in_escapes(text: &str) -> String {
    let escapes: String = text
        .encode_utf16()
        .map(|unit| format!("\\u{unit:04x}"))
        .collect();
    format!("\"{escapes}\"")
}

/// A payload, and its string members: of duplicates the last counts.
fn payload() -> impl Strategy<Value = (String, BTreeMap<&'static str, String>)> {
    let marks = select(vec!["", "\u{feff}", "\u{feff}\u{feff}"]);
    let space = select(vec!["", " ", "\r\n\t"]);
    (marks, vec(member(), 0..8), space).prop_map(|(marks, members, space)| {
        let mut expected = BTreeMap::new();
        for member in &members {
            match &member.value {
                Some(value) => expected.insert(member.name, value.clone()),
                None => expected.remove(member.name),
            };
        }
        let written: Vec<String> = members
            .iter()
            .map(|member| format!("\"{}\":{space}{}", member.name, member.written))
            .collect();
        let payload = format!(
            "{marks}{space}{{{space}{}{space}}}{space}",
            written.join(&format!("{space},{space}"))
        );
        (payload, expected)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn an_event_has_the_members_that_its_payload_has((payload, members) in payload()) {
        let mut named = NAMES.iter().filter_map(|name| members.get(name));
        let event = Event::parse(payload.clone(), None);
        let Some(name) = named.find(|name| !name.is_empty()) else {
            prop_assert_eq!(event.err(), Some(EventError::NoName));
            // Whoever knows its name may say it.
            let event = Event::parse(payload, Some("Stop")).unwrap();
            prop_assert_eq!(event.name(), "Stop");
            return Ok(());
        };
        let event = event.unwrap();
        prop_assert_eq!(event.name(), name);
        prop_assert_eq!(event.bytes().as_ref(), payload.as_bytes());
        for field in &MEMBERS[..8] {
            prop_assert_eq!(event.field(field), members.get(field).map(String::as_str), "{}", field);
        }
    }

    #[test]
    fn any_bytes_are_an_event_that_keeps_them_or_an_error_that_can_be_shown(
        bytes in prop_oneof![
            bytes(),
            payload().prop_map(|(payload, _)| payload.into_bytes()),
            (payload(), any::<prop::sample::Index>(), bytes()).prop_map(|((payload, _), at, odd)| {
                let mut payload = payload.into_bytes();
                let at = at.index(payload.len() + 1);
                payload.splice(at..at, odd);
                payload
            }),
        ],
        name in prop_oneof![Just(None), json_string().prop_map(Some)],
    ) {
        match Event::parse(bytes.clone(), name.as_deref()) {
            Ok(event) => {
                prop_assert_eq!(event.bytes().as_ref(), &*bytes);
                prop_assert!(!event.name().is_empty());
                prop_assert!(name.is_none_or(|name| name == event.name()));
            }
            Err(error) => {
                let shown = error.to_string();
                prop_assert!(!shown.chars().any(char::is_control), "{:?}", shown);
                prop_assert!(!error.hint().is_empty());
            }
        }
    }

    #[test]
    fn an_event_beyond_the_limit_is_refused_unread((payload, _) in payload(), less in 1_usize..20) {
        let limit = payload.len().saturating_sub(less);
        prop_assert_eq!(
            Event::parse_within(payload.clone(), Some("Stop"), limit).err(),
            Some(EventError::TooLarge { limit })
        );
        let within = Event::parse_within(payload.clone(), None, payload.len());
        prop_assert_eq!(within.err(), Event::parse(payload, None).err());
    }
}
