//! A configuration file, in every dialect: read, or refused with a message that can be shown; every
//! mistake has a place within the file.
#![no_main]

use std::path::Path;
use std::time::Duration;

use hookcell::config::{Configuration, Handler, OnFailure};
use hookcell::dialect::Dialect;
use hookcell_fuzz::{EVENTS, assert_shown, assert_shown_on_one_line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, &[u8])| {
    let (is_settings, bytes) = input;
    let path = Path::new(if is_settings {
        "settings.json"
    } else {
        "hooks.json"
    });
    for dialect in [Dialect::Claude, Dialect::OpenHands, Dialect::Deepagents] {
        match Configuration::parse(bytes, path, dialect) {
            Ok(configuration) => check(&configuration, bytes),
            Err(error) => {
                assert_shown_on_one_line(&error.to_string());
                assert_shown_on_one_line(error.help().unwrap_or_default());
            }
        }
    }
});

fn check(configuration: &Configuration, bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    for diagnostic in &configuration.diagnostics {
        assert!((1..=lines).contains(&diagnostic.line), "{diagnostic:?}");
        assert!(
            (1..=bytes.len() + 1).contains(&diagnostic.column),
            "{diagnostic:?}"
        );
        assert!(
            diagnostic.span.start <= diagnostic.span.end,
            "{diagnostic:?}"
        );
        assert!(diagnostic.span.end <= bytes.len(), "{diagnostic:?}");
        assert_shown_on_one_line(&diagnostic.one_line());
        assert_shown(&diagnostic.plain());
    }
    for hook in &configuration.hooks {
        assert!((1..=lines).contains(&hook.line), "{hook:?}");
        assert!(hook.column >= 1, "{hook:?}");
        assert!(hook.timeout >= Duration::from_millis(1), "{hook:?}");
        assert!(hook.timeout <= Duration::from_secs(86_400), "{hook:?}");
        assert_shown_on_one_line(&hook.label);
        assert!(hook.label.chars().count() <= 60 * 10 + 1, "{hook:?}");
        match &hook.handler {
            Handler::Refused(message) => {
                assert_eq!(hook.on_failure, OnFailure::Block);
                assert!(hook.decides);
                assert_shown_on_one_line(message);
            }
            Handler::Component(component) => {
                let limits = component.limits;
                assert!((1..=1_000_000_000_000_000).contains(&limits.fuel));
                assert!((64 << 10..=4 << 30).contains(&limits.memory));
                assert!((1 << 10..=64 << 20).contains(&limits.stdout));
                assert!((1 << 10..=64 << 20).contains(&limits.stderr));
            }
            Handler::Command(_) => {}
        }
        for event in EVENTS {
            let _ = hook.selector.selects(event, Some("Bash"));
        }
    }
    // A dropped entry is told about.
    let is_silent = configuration.diagnostics.is_empty();
    if is_silent {
        let refused = |handler: &Handler| matches!(handler, Handler::Refused(_));
        assert!(
            !configuration
                .hooks
                .iter()
                .any(|hook| refused(&hook.handler))
        );
    }
}
