//! Matchers: never a panic, the same answer every time, and by the documented rule.

use hookcell::select::{EVENTS, Matcher, Selector, matched_field};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generate::text;

/// The names of tools, short enough that some are alike.
fn tool() -> impl Strategy<Value = String> {
    prop_oneof![
        select(vec![
            "Bash",
            "Edit",
            "Write",
            "mcp__fs__read",
            "a-b",
            "größe"
        ])
        .prop_map(str::to_owned),
        "[ab_-]{1,3}",
        text(),
    ]
}

/// Regular expressions of both languages, valid or not.
fn expression() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[abB_]{1,2}".prop_map(String::from),
        6 => select(vec![
            ".", ".*", "^", "$", "|", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<n>", "[", "]", "[^",
            "a-z", "*", "+", "?", "*?", "{2}", "{1,3}", "{", "}", "\\", "\\b", "\\w", "\\d", "\\1",
            "\\u{61}", "\\x41", "\\p{L}", "/", "(?i)", "&&", "\\A", "\\Z", "(?P<n>", "(?#", ",", " ",
        ]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

fn selects(matcher: Matcher, event: &str, matched: Option<&str>) -> bool {
    Selector::event(event, matcher).selects(event, matched)
}

/// `text` with every character escaped that means something in an expression.
fn literal(text: &str) -> String {
    let mut literal = String::new();
    for c in text.chars() {
        if r"\^$.|?*+()[]{}/".contains(c) {
            literal.push('\\');
        }
        literal.push(c);
    }
    literal
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    #[test]
    fn any_matcher_is_refused_with_a_place_or_answers_the_same_every_time(
        matcher in prop_oneof![expression(), text()],
        (event, field) in select(&EVENTS[..]),
        tool in tool(),
    ) {
        let matched = Some(tool.as_str());
        match Matcher::claude(&matcher) {
            Ok(first) => {
                let second = Matcher::claude(&matcher).unwrap();
                let selected = selects(first.clone(), event, matched);
                prop_assert_eq!(selects(first.clone(), event, matched), selected);
                prop_assert_eq!(selects(second, event, matched), selected);
                // What cannot be held against a matcher is shown to every guard.
                prop_assert!(selects(first.clone(), event, None));
                prop_assert!(selects(first.clone(), event, Some("")));
                prop_assert!(selected || field.is_some());
                prop_assert!(selects(first, event, Some(&"x".repeat(70_000))) || plain(&matcher));
            }
            Err(error) => {
                prop_assert!(error.offset <= matcher.chars().count());
                prop_assert!(!error.message.is_empty());
            }
        }
        let first = Matcher::openhands(&matcher);
        let selected = selects(first.clone(), event, matched);
        prop_assert_eq!(selects(first.clone(), event, matched), selected);
        prop_assert_eq!(selects(Matcher::openhands(&matcher), event, matched), selected);
        prop_assert!(!(selected && first.fits_nothing()));
    }

    #[test]
    fn a_list_of_names_is_compared_exactly(
        names in vec("[A-Za-z0-9_]{1,4}", 1..4),
        separator in select(vec!["|", ",", " | ", ", "]),
        tool in prop_oneof![Just("x".to_owned()), "[A-Za-z0-9_]{1,2}"],
        picked in any::<prop::sample::Index>(),
    ) {
        let matcher = Matcher::claude(&names.join(separator)).unwrap();
        for tool in [&tool, picked.get(&names)] {
            prop_assert_eq!(
                selects(matcher.clone(), "PreToolUse", Some(tool)),
                names.contains(tool)
            );
        }
    }

    #[test]
    fn an_expression_is_searched_for_by_claudes_rule_and_whole_by_openhands(
        before in text(),
        name in text(),
        behind in text(),
    ) {
        // Longer texts than this are not given to an engine that goes back.
        let tool: String = format!("{before}{name}{behind}");
        prop_assume!(!name.is_empty() && tool.chars().count() < 200);
        let text = format!("(?:{})", literal(&name));
        let claude = Matcher::claude(&text).unwrap();
        prop_assert!(selects(claude.clone(), "PreToolUse", Some(&tool)));
        let without = before.replace(&name, "");
        prop_assert_eq!(
            selects(claude, "PreToolUse", Some(&without)),
            without.is_empty() || without.contains(&name)
        );
        let openhands = Matcher::openhands(&text);
        prop_assert_eq!(selects(openhands.clone(), "PreToolUse", Some(&tool)), tool == name);
        prop_assert!(selects(openhands, "PostToolUse", Some(&name)));
    }

    #[test]
    fn a_hook_is_for_its_events_only(
        names in vec("[A-Za-z.]{1,6}", 0..4),
        event in "[A-Za-z.]{1,6}",
        tool in tool(),
    ) {
        let selector = Selector::events(names.clone());
        prop_assert_eq!(selector.selects(&event, Some(&tool)), names.is_empty() || names.contains(&event));
        for name in &names {
            prop_assert!(selector.selects(name, None));
        }
        if matched_field(&event).is_none() {
            let ignored = Selector::event(event.clone(), Matcher::claude("Bash").unwrap());
            prop_assert!(ignored.selects(&event, Some(&tool)));
        }
    }
}

/// Whether it is a list of names, by the wider of the two sets of plain characters.
fn plain(matcher: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_|,- ".contains(c);
    matcher.chars().all(is_plain)
}
