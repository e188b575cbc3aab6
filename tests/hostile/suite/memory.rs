//! Rows 6, 7, 9 and 25: guests that take memory and handles until there are none.

use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::row::Row;
use crate::support::{MOST_FUEL, guest};

#[test]
pub fn row_06_grow_to_the_sky() {
    let seen = Row::of(guests::row_06_grow_to_the_sky())
        .fails(FailureKind::OutOfMemory)
        .says("it asked for 65.0 MiB of memory; 64.0 MiB are allowed (`limits.memory`)");
    assert_eq!(seen.record.memory_peak, Some(64 << 20));
}

#[test]
fn row_06_an_allocator_takes_all() {
    for row in Row::scripted(&["memory"]) {
        let seen = row.fails(FailureKind::OutOfMemory);
        assert!(
            seen.message()
                .ends_with("64.0 MiB are allowed (`limits.memory`)"),
            "{}",
            seen.message()
        );
    }
}

#[test]
pub fn row_06_twenty_memories() {
    let seen = Row::of(guests::row_06_twenty_memories())
        .fails(FailureKind::OutOfMemory)
        .says("it asked for 112.5 MiB of memory; 64.0 MiB are allowed (`limits.memory`)");
    assert_eq!(seen.record.memory_peak, Some(900 << 16));
}

/// Two memories of one module are a sum as well, from the start and when they grow.
#[test]
fn row_06_two_memories_of_one_module() {
    let module = |start: &str, memories: &str| {
        guest::text(&format!(
            r#"(module (memory (export "memory") 1) {memories} (func (export "_start") {start}))"#
        ))
    };
    Row::of(module("", "(memory 600) (memory 600)"))
        .fails(FailureKind::OutOfMemory)
        .says("it asked for 75.1 MiB of memory; 64.0 MiB are allowed (`limits.memory`)");
    let grow = "(drop (memory.grow 1 (i32.const 600))) (drop (memory.grow 2 (i32.const 600)))";
    let seen = Row::of(module(grow, "(memory 0) (memory 0)"))
        .fails(FailureKind::OutOfMemory)
        .says("it asked for 75.1 MiB of memory; 64.0 MiB are allowed (`limits.memory`)");
    assert_eq!(seen.record.memory_peak, Some(601 << 16));
}

#[test]
pub fn row_07_giant_initial_memory() {
    Row::of(guests::row_07_giant_initial_memory())
        .fails(FailureKind::OutOfMemory)
        .says("it asked for 4.0 GiB of memory; 64.0 MiB are allowed (`limits.memory`)");
}

#[test]
pub fn row_07_giant_initial_table() {
    let seen = Row::of(guests::row_07_giant_initial_table()).fails(FailureKind::TooManyResources);
    assert!(
        seen.message().contains("10000000 elements"),
        "{}",
        seen.message()
    );
}

#[test]
pub fn row_07_table_grows_for_ever() {
    let seen = Row::of(guests::row_07_table_grows_for_ever()).fails(FailureKind::TooManyResources);
    assert!(
        seen.message().contains("101000 elements"),
        "{}",
        seen.message()
    );
}

/// Tables are memory of the host like all others: they count in the guest's sum.
#[test]
pub fn row_07_many_tables() {
    Row::of(guests::row_07_many_tables())
        .hook(json!({"limits": {"memory": "1MiB"}}))
        .fails(FailureKind::OutOfMemory);
}

#[test]
pub fn row_09_fill_for_ever() {
    Row::of(guests::row_09_fill_for_ever())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
}

#[test]
pub fn row_09_copy_for_ever() {
    Row::of(guests::row_09_copy_for_ever())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
}

#[test]
pub fn row_25_pollables_for_ever() {
    Row::of(guests::row_25_pollables_for_ever()).fails(FailureKind::TooManyResources);
}

#[test]
pub fn row_25_resources_for_ever() {
    Row::of(guests::row_25_resources_for_ever()).fails(FailureKind::TooManyResources);
}

#[test]
pub fn row_25_five_hundred_instances() {
    Row::of(guests::row_25_five_hundred_instances()).fails(FailureKind::TooManyResources);
}
