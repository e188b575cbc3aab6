//! The `hookcell` program in a process of its own, on one event.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use super::CACHE;

/// Starts `hookcell run` with this hooks.json, which it writes into the folder, on this event, and with
/// these variables.
pub fn start_with(
    folder: &Path,
    hooks_json: &Value,
    event: &str,
    payload: &str,
    variables: &[(&str, &Path)],
) -> Child {
    let file = folder.join("hooks.json");
    let text = hooks_json.to_string();
    // Programs that were started before may be about to read it.
    if std::fs::read_to_string(&file).ok().as_ref() != Some(&text) {
        std::fs::write(&file, text).unwrap();
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_hostile-host"))
        .args(["run", event, "--config"])
        .arg(&file)
        .arg("--project")
        .arg(folder)
        .env_remove("RUST_LOG")
        .envs(variables.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload.as_bytes()).unwrap();
    child
}

/// Starts it with the cache of all tests.
pub fn start(folder: &Path, hooks_json: &Value, event: &str, payload: &str) -> Child {
    start_with(
        folder,
        hooks_json,
        event,
        payload,
        &[("HOOKCELL_CACHE_DIRECTORY", Path::new(CACHE))],
    )
}

/// Runs it to its end, with a log.
pub fn run(folder: &Path, hooks_json: &Value, event: &str, payload: &str, log: &str) -> Output {
    let variables = [
        ("HOOKCELL_CACHE_DIRECTORY", Path::new(CACHE)),
        ("RUST_LOG", Path::new(log)),
    ];
    start_with(folder, hooks_json, event, payload, &variables)
        .wait_with_output()
        .unwrap()
}
