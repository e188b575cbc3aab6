//! Row 32: files that are quick to read and take for ever to compile.
//!
//! Whether one of them is compiled depends on the machine; what it may cost does not. The budget is
//! 5 s, and 3 s more a mebibyte.

use std::time::{Duration, Instant};

use hookcell::Event;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::row::{Row, Seen, is_blocked_with};
use crate::support::{alone, guest, host_with, runtime};

/// What is done besides compiling, on a machine that does other work as well.
const SLACK: Duration = Duration::from_secs(5);

#[track_caller]
fn costs_no_more_than_its_budget(bomb: Vec<u8>) -> Seen {
    let mebibytes = bomb.len() as f64 / f64::from(1 << 20);
    let budget = Duration::from_secs_f64(5.0 + 3.0 * mebibytes);
    let seen = Row::of(bomb)
        .without_cache()
        .around_the_run(budget + SLACK)
        .run();
    match &seen.record.failure {
        None => assert!(seen.record.success, "{:?}", seen.record),
        Some(failure) => assert!(
            matches!(
                failure.kind,
                FailureKind::NotCompiled | FailureKind::ComponentInvalid
            ),
            "{failure}"
        ),
    }
    seen
}

#[test]
pub fn row_32_fifty_thousand_functions() {
    costs_no_more_than_its_budget(guests::row_32_fifty_thousand_functions());
}

#[test]
pub fn row_32_one_function_of_four_megabytes() {
    costs_no_more_than_its_budget(guests::row_32_one_function_of_four_megabytes());
}

#[test]
pub fn row_32_three_hundred_thousand_loads() {
    costs_no_more_than_its_budget(guests::row_32_three_hundred_thousand_loads());
}

#[test]
pub fn row_32_twenty_thousand_merges() {
    costs_no_more_than_its_budget(guests::row_32_twenty_thousand_merges());
}

#[test]
pub fn row_32_two_hundred_thousand_nulls() {
    costs_no_more_than_its_budget(guests::row_32_two_hundred_thousand_nulls());
}

#[test]
pub fn row_32_fifty_thousand_blocks() {
    costs_no_more_than_its_budget(guests::row_32_fifty_thousand_blocks());
}

#[test]
pub fn row_32_types_within_types() {
    Row::of(guests::row_32_types_within_types()).fails(FailureKind::ComponentInvalid);
}

#[test]
pub fn row_32_components_within_components() {
    Row::of(guests::row_32_components_within_components()).fails(FailureKind::ComponentInvalid);
}

/// Names cost what they weigh, and nothing else.
#[test]
pub fn row_32_ten_megabytes_of_names() {
    Row::of(guests::row_32_ten_megabytes_of_names())
        .fails(FailureKind::Trap)
        .says("wasm trap: wasm `unreachable` instruction executed");
}

/// An event's bombs are compiled for as long as each may take. Meanwhile a guest of another event, which
/// nobody has compiled yet, is compiled and decides.
#[test]
fn row_32_bombs_without_number_do_not_keep_others_from_being_compiled() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let bombs: Vec<_> = (0..8_u8)
        .map(|number| {
            let name = format!("bomb{number}.wasm");
            let mut bomb = guests::row_32_two_hundred_thousand_nulls();
            // A section that means nothing makes it a file of its own.
            bomb.extend([0, 2, 1, b'0' + number]);
            std::fs::write(folder.path().join(&name), bomb).unwrap();
            json!({"type": "component", "component": name, "timeout": 20})
        })
        .collect();
    let answer = json!({"decision": "block", "reason": "compiled"}).to_string();
    std::fs::write(
        folder.path().join("new.wasm"),
        guest::says(answer.as_bytes(), b"", 0),
    )
    .unwrap();
    let hooks_json = json!({"hooks": {
        "Stop": [{"hooks": bombs}],
        "PreToolUse": [{"hooks": [{"type": "component", "component": "new.wasm", "timeout": 20}]}],
    }});
    let runtime = runtime();
    let host = host_with(&hooks_json, folder.path(), |builder| builder.no_cache());
    let event = |name| Event::parse("{}", Some(name)).unwrap();
    let bombs = runtime.spawn({
        let host = host.clone();
        async move { host.dispatch(&event("Stop")).await }
    });
    runtime.block_on(async { tokio::time::sleep(Duration::from_millis(300)).await });
    let started = Instant::now();
    is_blocked_with(
        &runtime.block_on(host.dispatch(&event("PreToolUse"))),
        "compiled",
    );
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "it took {:?}",
        started.elapsed()
    );
    assert_eq!(runtime.block_on(bombs).unwrap().records.len(), 8);
}

/// A compiler that got no processor says nothing about the file: whoever keeps the machine busy must not
/// keep a guard away for longer than that.
#[test]
fn row_32_a_compiler_that_was_kept_waiting_is_asked_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let waits = folder.path().join("waits");
    std::fs::write(&waits, "#!/bin/sh\nexec sleep 600\n").unwrap();
    std::fs::set_permissions(&waits, std::fs::Permissions::from_mode(0o700)).unwrap();
    let answer = json!({"decision": "block", "reason": "asked again"}).to_string();
    std::fs::write(
        folder.path().join("guard.wasm"),
        guest::says(answer.as_bytes(), b"", 0),
    )
    .unwrap();
    let hooks_json = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "component", "component": "guard.wasm", "timeout": 20}
    ]}]}});
    let runtime = runtime();
    let cache = folder.path().join("cache");
    let event = Event::parse("{}", Some("PreToolUse")).unwrap();
    let host = host_with(&hooks_json, folder.path(), |builder| {
        builder.program(&waits).cache_folder(&cache)
    });
    let decision = runtime.block_on(host.dispatch(&event));
    let failure = decision.records[0].failure.as_ref().unwrap();
    assert_eq!(failure.kind, FailureKind::NotCompiled, "{failure}");
    drop(host);
    let host = host_with(&hooks_json, folder.path(), |builder| {
        builder.cache_folder(&cache)
    });
    is_blocked_with(&runtime.block_on(host.dispatch(&event)), "asked again");
}
