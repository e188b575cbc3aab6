//! A guest through the whole host.

use std::cell::OnceCell;
use std::io::Write as _;

use hookcell::outcome::FailureKind;
use hookcell::{Event, Host};
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::runtime::{Builder, Runtime};

use crate::shown::assert_shown;

/// `limits.fuel`: enough for what such a guest does, and over within milliseconds.
const FUEL: u64 = 20_000_000;

/// `limits.memory`, in bytes.
const MEMORY: u64 = 2 << 20;

/// `limits.stdout` and `limits.stderr`, in bytes.
const OUTPUT: u64 = 4 << 10;

/// Dispatches one event to a host whose only hook is this guest, and panics unless that leaves
/// exactly one record, which keeps to the limits, is no fault of the host, and, since the hook says
/// `"onFailure": "block"`, blocks if it is a failure.
pub fn assert_one_record(guest: &[u8]) {
    let mut file = NamedTempFile::with_suffix(".wasm").expect("a temporary file");
    file.write_all(guest).expect("room for a guest");
    let configuration = json!({"hooks": {"PreToolUse": [{"hooks": [{
        "type": "component",
        "component": file.path(),
        "timeout": 0.3,
        "onFailure": "block",
        "limits": {"fuel": FUEL, "memory": MEMORY, "stdout": OUTPUT, "stderr": OUTPUT},
        "config": {"a": [1, "two"]},
    }]}]}});
    let host = Host::builder()
        .no_cache()
        .configuration_text(&configuration.to_string())
        .expect("a valid configuration")
        .build();
    assert_eq!(host.diagnostics().count(), 0);
    let event = Event::parse(
        r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#,
        None,
    )
    .expect("a valid event");

    let decision = with_runtime(|runtime| runtime.block_on(host.dispatch(&event)));

    let [record] = &decision.records[..] else {
        panic!("not exactly one record: {decision:?}");
    };
    assert!(
        record.memory_peak.is_none_or(|peak| peak <= MEMORY),
        "{record:?}"
    );
    assert!(record.stdout.len() as u64 <= OUTPUT * 10, "{record:?}");
    assert_shown(&record.stdout);
    assert_shown(&record.stderr);
    match &record.failure {
        Some(failure) => {
            assert_ne!(failure.kind, FailureKind::Host, "{record:?}");
            assert_shown(&failure.message);
            assert!(decision.is_blocked(), "{decision:?}");
            assert!(!record.success, "{record:?}");
        }
        None => {
            assert!(record.exit_code.is_some(), "{record:?}");
            assert_eq!(record.success, record.exit_code == Some(0), "{record:?}");
            assert!(record.fuel.is_some_and(|fuel| fuel <= FUEL), "{record:?}");
            assert_eq!(
                decision.is_blocked(),
                record.exit_code == Some(2),
                "{decision:?}"
            );
        }
    }
}

fn with_runtime<T>(run: impl FnOnce(&Runtime) -> T) -> T {
    thread_local! {
        static RUNTIME: OnceCell<Runtime> = const { OnceCell::new() };
    }
    RUNTIME.with(|runtime| {
        run(runtime.get_or_init(|| {
            Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime")
        }))
    })
}
