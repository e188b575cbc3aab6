//! A matcher against an event: bounded time, the same answer every time, and never a panic.
#![no_main]

use hookcell::select::{Matcher, Selector, matched_field};
use hookcell_fuzz::EVENTS;
use libfuzzer_sys::fuzz_target;

// The event, the matcher, and behind the first line break, if there is one, what it is held against.
fuzz_target!(|input: (u8, &str)| {
    let (event, text) = input;
    let (matcher, matched) = match text.split_once('\n') {
        Some((matcher, matched)) => (matcher, Some(matched)),
        None => (text, None),
    };
    let event = EVENTS[usize::from(event) % EVENTS.len()];

    let openhands = Matcher::openhands(matcher);
    let fits_nothing = openhands.fits_nothing();
    let selector = Selector::event(event, openhands);
    let selects = selector.selects(event, matched);
    assert_eq!(selector.clone().selects(event, matched), selects);
    assert!(!(fits_nothing && selects));

    match Matcher::claude(matcher) {
        Ok(claude) => {
            let fits_nothing = claude.fits_nothing();
            let selector = Selector::event(event, claude);
            let selects = selector.selects(event, matched);
            assert_eq!(selector.clone().selects(event, matched), selects);
            // A guard must see what it cannot be held against.
            if matched.is_none_or(str::is_empty) || matched_field(event).is_none() {
                assert!(selects);
            } else if fits_nothing && !matches!(event, "FileChanged" | "StopFailure") {
                assert!(!selects);
            }
            assert!(!selector.selects("AnotherEvent", matched));
        }
        Err(error) => {
            assert!(error.offset <= matcher.chars().count(), "{error}");
            assert!(!error.message.is_empty());
        }
    }
});
