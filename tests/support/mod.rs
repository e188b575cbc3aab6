//! What the whole-program tests share.
#![allow(dead_code, reason = "each test program uses a part")]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

use std::path::Path;

use hookcell::config::{Configuration, Severity};
use hookcell::dialect::Dialect;
use hookcell::{Decision, Event, Host, HostBuilder};
use serde_json::Value;

/// The scripted guest as a component: it does what its arguments say.
pub const COMPONENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/guests/scripted/scripted.component.wasm"
);

/// The scripted guest as a preview1 module.
pub const MODULE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/guests/scripted/scripted.module.wasm"
);

/// A builder whose hosts compile with the program that was built for the tests, and keep the
/// results among the tests' files.
pub fn builder() -> HostBuilder {
    Host::builder()
        .program(env!("CARGO_BIN_EXE_hookcell"))
        .cache_folder(concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
}

/// A host for this configuration, which must be without fault.
pub fn host(configuration: &Value) -> Host {
    host_in(configuration, Path::new("."), Dialect::Claude)
}

/// A host for this configuration, in this project, by the rules of this dialect.
pub fn host_in(configuration: &Value, project: &Path, dialect: Dialect) -> Host {
    let text = configuration.to_string();
    let configuration =
        Configuration::parse(text.as_bytes(), Path::new("hooks.json"), dialect).unwrap();
    let errors: Vec<_> = configuration
        .diagnostics
        .iter()
        .filter(|it| it.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    builder()
        .project(project)
        .configuration(configuration)
        .build()
}

/// The decision of these hooks on `PreToolUse` with this payload.
pub async fn pre_tool_use(hooks: Value, payload: Value) -> Decision {
    let host = host(&serde_json::json!({"hooks": {"PreToolUse": [{"hooks": hooks}]}}));
    host.dispatch(&Event::parse(payload.to_string(), Some("PreToolUse")).unwrap())
        .await
}

/// Looks again and again until there is an answer, for at most 20 seconds.
pub fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..2000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("waited in vain");
}
