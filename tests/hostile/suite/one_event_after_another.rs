//! Rows 37 and 39: what one event leaves for the next, and what a guest can measure.

use hookcell::Event;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::row::{Row, blocks_what_is_dangerous};
use crate::support::{alone, guest, host, runtime};

#[test]
pub fn row_37_leaves_work_half_done() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("hook.wasm"),
        guests::row_37_leaves_work_half_done(),
    )
    .unwrap();
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": [{"type": "component", "component": "hook.wasm", "timeout": 20}]}],
        "PreToolUse": [{"hooks": [{"type": "component", "component": "builtin:block-dangerous-commands", "timeout": 20}]}],
    }});
    let (runtime, host) = (runtime(), host(&hooks_json, folder.path()));
    let stop = Event::parse("{}", Some("Stop")).unwrap();
    let runs: Vec<_> = (0..5)
        .map(|_| {
            let decision = runtime.block_on(host.dispatch(&stop));
            let record = &decision.records[0];
            assert_eq!(
                record.failure.as_ref().map(|it| it.kind),
                Some(FailureKind::Trap),
                "{record:?}"
            );
            assert_eq!(decision.permission, None);
            (record.fuel, record.memory_peak, record.stdout.clone())
        })
        .collect();
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
    assert_eq!(runs[0].2, "");
    blocks_what_is_dangerous(&runtime, &host);
}

/// A guest has a clock, and no second thread that would be a finer one.
#[test]
fn row_39_there_are_no_threads_to_count_time_with() {
    for (text, kind) in [
        (
            r#"(module (memory (export "memory") 1 1 shared) (func (export "_start")))"#,
            FailureKind::ComponentInvalid,
        ),
        (
            r#"(module (import "wasi" "thread-spawn" (func (param i32) (result i32)))
                (memory (export "memory") 1) (func (export "_start")))"#,
            FailureKind::UnknownImport,
        ),
        (
            r#"(module (import "env" "memory" (memory 1 1 shared)) (export "memory" (memory 0)) (func (export "_start")))"#,
            FailureKind::UnknownImport,
        ),
    ] {
        Row::of(guest::text(text)).fails(kind);
    }
}
