//! What every row shares: one event with a hostile guest on a warm host, and what it must leave.

pub mod guest;
pub mod process;
pub mod program;
pub mod row;

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hookcell::{Host, HostBuilder};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// More fuel than any guest here can use before its timeout.
pub const MOST_FUEL: u64 = 1_000_000_000_000_000;

/// The scripted guest's two builds, which do what their arguments say.
pub const SCRIPTED: [&str; 2] = [
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../guests/scripted/scripted.component.wasm"
    ),
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../guests/scripted/scripted.module.wasm"
    ),
];

/// Holds the process: what is measured is the process's, so one row is measured at a time.
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static WARM: OnceLock<Host> = OnceLock::new();
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // Keeps the guard compiled, which every row asks.
    WARM.get_or_init(|| {
        let hooks_json = json!({"hooks": [{"component": "builtin:block-dangerous-commands", "events": ["Stop"]}]});
        let host = host(&hooks_json, Path::new("."));
        assert!(runtime().block_on(host.prepare()).is_empty());
        host
    });
    alone
}

/// A host for this hooks.json, which must be without fault, in this project. What it compiles is kept
/// for the tests that follow.
pub fn host(hooks_json: &Value, project: &Path) -> Host {
    host_with(hooks_json, project, |builder| builder.cache_folder(CACHE))
}

/// The cache of all tests but those that are about it.
pub const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/hostile-cache");

/// A host with its own settings.
pub fn host_with(
    hooks_json: &Value,
    project: &Path,
    settings: impl FnOnce(HostBuilder) -> HostBuilder,
) -> Host {
    let builder = Host::builder().program(env!("CARGO_BIN_EXE_hostile-host"));
    let host = settings(builder)
        .project(project)
        .configuration_text(&hooks_json.to_string())
        .unwrap()
        .build();
    let diagnostics: Vec<_> = host.diagnostics().collect();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    host
}

/// The event loop of an embedding program, on this thread.
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Adds the members of `more` to `target`, object by object.
pub fn merge(target: &mut Value, more: Value) {
    match (target, more) {
        (Value::Object(target), Value::Object(more)) => {
            for (name, value) in more {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (target, more) => *target = more,
    }
}
