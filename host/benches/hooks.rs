//! The block-dangerous-commands hook as a warm component, as a bash script with jq, and as a
//! Python script: one event, decided through the same host, at three sizes of payload.
//!
//! Ratios within one run are what counts: `cargo xtask bench`.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use hookcell::{Event, Host};
use serde_json::json;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn runners() -> [(&'static str, serde_json::Value); 3] {
    let script = format!("{REPOSITORY}/plugins/block-dangerous-commands/hook.sh");
    let python = format!("{REPOSITORY}/host/benches/hooks.py");
    [
        (
            "component",
            json!({"type": "component", "component": "builtin:block-dangerous-commands"}),
        ),
        (
            "bash and jq",
            json!({"type": "command", "command": "bash", "args": [script]}),
        ),
        // The system's own Python: what `python3` on the PATH names may be a slow wrapper.
        (
            "python3",
            json!({"type": "command", "command": "/usr/bin/python3", "args": [python]}),
        ),
    ]
}

fn host(hook: &serde_json::Value) -> Host {
    let text = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}).to_string();
    Host::builder()
        .program(env!("CARGO_BIN_EXE_hookcell"))
        .project(Path::new(REPOSITORY))
        .configuration_text(&text)
        .expect("a valid configuration")
        .build()
}

fn event(size: usize) -> Event {
    let event = json!({
        "hook_event_name": "PreToolUse",
        "session_id": "bench",
        "tool_name": "Bash",
        "tool_input": {"command": "sudo rm -rf /", "description": "x".repeat(size)},
    });
    Event::parse(event.to_string(), None).expect("a valid event")
}

fn hooks(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let mut group = criterion.benchmark_group("block-dangerous-commands");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5));
    for (name, hook) in runners() {
        let host = host(&hook);
        for (size, label) in [
            (1 << 10, "1 KiB"),
            (100 << 10, "100 KiB"),
            (1 << 20, "1 MiB"),
        ] {
            let event = event(size);
            let decision = runtime.block_on(host.dispatch(&event));
            assert!(decision.is_blocked(), "{name} must block: {decision:?}");
            group.bench_with_input(BenchmarkId::new(name, label), &event, |bencher, event| {
                bencher.iter(|| black_box(runtime.block_on(host.dispatch(event))));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, hooks);
criterion_main!(benches);
