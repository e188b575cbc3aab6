//! The `hookcell` program in a process of its own, on one event.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use super::CACHE;

/// Starts `hookcell run` with this hooks.json, which it writes into the folder, on this event.
pub fn start(folder: &Path, hooks_json: &Value, event: &str, payload: &str, log: &str) -> Child {
    let file = folder.join("hooks.json");
    std::fs::write(&file, hooks_json.to_string()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hostile-host"))
        .args(["run", event, "--config"])
        .arg(&file)
        .arg("--project")
        .arg(folder)
        .env("RUST_LOG", log)
        .env("HOOKCELL_CACHE_DIRECTORY", CACHE)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload.as_bytes())
        .unwrap();
    child
}

/// Runs it to its end.
pub fn run(folder: &Path, hooks_json: &Value, event: &str, payload: &str, log: &str) -> Output {
    start(folder, hooks_json, event, payload, log)
        .wait_with_output()
        .unwrap()
}
