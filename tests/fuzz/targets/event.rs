//! An event envelope: any bytes are an event or a told error, and an event keeps its bytes.
#![no_main]

use hookcell::dialect;
use hookcell::{Decision, Event, EventError};
use hookcell_fuzz::assert_shown;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|payload: &[u8]| {
    match Event::parse(payload.to_vec(), None) {
        Ok(event) => {
            assert_eq!(event.bytes().as_ref(), payload);
            assert!(!event.name().is_empty());
            let mut names = ["hook_event_name", "event_type", "event"]
                .into_iter()
                .filter_map(|field| event.field(field));
            let named = names.find(|name| !name.is_empty());
            assert_eq!(named, Some(event.name()));
            assert_ne!(event.tool_name(), Some(""));
            assert_ne!(event.cwd(), Some(""));
            // Its own name may be given beside it, and no other.
            let again = Event::parse(payload.to_vec(), Some(event.name()));
            assert!(again.is_ok_and(|again| again.tool_name() == event.tool_name()));
            let other = format!("{}x", event.name());
            assert!(matches!(
                Event::parse(payload.to_vec(), Some(&other)),
                Err(EventError::NameMismatch { .. })
            ));
            // Whatever is valid JSON to a strict parser has the same members for it.
            if let Ok(strict) = serde_json::from_slice::<serde_json::Value>(payload) {
                for field in ["tool_name", "session_id", "cwd", "source", "file_path"] {
                    let expected = strict.get(field).and_then(serde_json::Value::as_str);
                    assert_eq!(event.field(field), expected, "{field}");
                }
            }
            assert_eq!(dialect::answer(&event, &Decision::default()).exit_code, 0);
        }
        Err(error) => {
            assert_shown(&error.to_string());
            assert!(!error.hint().is_empty());
            // A payload without a name is an event as soon as somebody names it.
            if error == EventError::NoName {
                let named = Event::parse(payload.to_vec(), Some("Stop"));
                assert!(named.is_ok_and(|event| event.name() == "Stop"));
            }
        }
    }
});
