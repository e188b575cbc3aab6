//! What may be granted: nothing of it is there without its grant, and with it no more than it says.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

#[path = "grants/denials.rs"]
mod denials;
#[path = "grants/network.rs"]
mod network;
#[path = "grants/repeatable.rs"]
mod repeatable;
#[path = "grants/server.rs"]
mod server;
#[path = "grants/state.rs"]
mod state;
mod support;
#[path = "grants/tls.rs"]
mod tls;

use hookcell::record::Record;
use serde_json::{Value, json};

/// The guest that uses what must be granted. It imports `wasi:http` and `wasi:keyvalue`.
const GRANTED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/guests/granted/granted.component.wasm"
);

/// The record of one run of a guest with these arguments and these fields of its hook.
async fn run(file: &str, args: &[&str], more: Value) -> Record {
    let mut hook = json!({"type": "component", "component": file, "args": args, "timeout": 20});
    hook.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let decision = support::pre_tool_use(json!([hook]), json!({})).await;
    assert_eq!(decision.records.len(), 1);
    let mut record = decision.records.into_iter().next().unwrap();
    record.denied.retain(|it| !it.what.starts_with(FOLDERS));
    record
}

/// What some C libraries ask for as they start, whatever the program does.
const FOLDERS: &str = "files: it asks for folders";

/// A record as JSON, without what every guest asks for.
fn without_folders(record: &mut Value) {
    let denied = record["denied"].as_array_mut().unwrap();
    denied.retain(|it| !it["what"].as_str().unwrap().starts_with(FOLDERS));
}

/// What was denied, each with the number of times.
fn denied(record: &Record) -> Vec<(&str, u64)> {
    record
        .denied
        .iter()
        .map(|it| (it.what.as_str(), it.count))
        .collect()
}
