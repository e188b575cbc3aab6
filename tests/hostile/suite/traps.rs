//! Rows 8, 20 and 41 to 46: guests that end where no program ends.

use hookcell::contract::Permission;
use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::MOST_FUEL;
use crate::support::guest;
use crate::support::row::{Row, Seen};

/// Traps with a message that begins so.
#[track_caller]
fn traps(guest: Vec<u8>, message: &str) -> Seen {
    let seen = Row::of(guest).fails(FailureKind::Trap);
    assert!(
        seen.message().starts_with(&format!("trap: {message}")),
        "{}",
        seen.message()
    );
    assert_eq!(seen.record.exit_code, None);
    seen
}

const STACK: &str = "wasm trap: call stack exhausted";

#[test]
pub fn row_08_stack_overflow() {
    traps(guests::row_08_stack_overflow(), STACK);
}

#[test]
pub fn row_08_mutual_recursion() {
    traps(guests::row_08_mutual_recursion(), STACK);
}

#[test]
pub fn row_08_large_frames() {
    traps(guests::row_08_large_frames(), STACK);
}

#[test]
pub fn row_20_unreachable() {
    traps(
        guests::row_20_unreachable(),
        "wasm trap: wasm `unreachable` instruction executed (in innermost < inner < outer)",
    );
}

#[test]
fn row_20_every_trap() {
    for (instructions, message) in [
        (
            "(drop (i32.div_s (i32.const 1) (i32.const 0)))",
            "wasm trap: integer divide by zero",
        ),
        (
            "(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))",
            "wasm trap: integer overflow",
        ),
        (
            "(drop (i32.trunc_f64_s (f64.const nan)))",
            "wasm trap: invalid conversion to integer",
        ),
        (
            "(drop (i32.load (i32.const -1)))",
            "wasm trap: out of bounds memory access",
        ),
        (
            "(i32.store (i32.const 65533) (i32.const 0))",
            "wasm trap: out of bounds memory access",
        ),
        (
            "(memory.fill (i32.const 65535) (i32.const 0) (i32.const -1))",
            "wasm trap: out of bounds memory access",
        ),
    ] {
        traps(guest::start(instructions), message);
    }
    let table = |instructions: &str| {
        guest::text(&format!(
            r#"(module (memory (export "memory") 1) (table 2 funcref) (elem (i32.const 0) $other)
                (func $other (param i32)) (func (export "_start") {instructions}))"#
        ))
    };
    traps(
        table("(call_indirect (i32.const 1))"),
        "wasm trap: uninitialized element",
    );
    traps(
        table("(call_indirect (i32.const 0))"),
        "wasm trap: indirect call type mismatch",
    );
    traps(
        table("(call_indirect (i32.const 2))"),
        "wasm trap: undefined element: out of bounds table access",
    );
}

#[test]
pub fn row_41_memory_for_the_host_that_is_not_there() {
    traps(
        guests::row_41_memory_for_the_host_that_is_not_there(),
        "realloc return",
    );
}

#[test]
pub fn row_41_memory_for_the_host_takes_for_ever() {
    Row::of(guests::row_41_memory_for_the_host_takes_for_ever())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
}

#[test]
pub fn row_41_memory_for_the_host_calls_the_host() {
    traps(
        guests::row_41_memory_for_the_host_calls_the_host(),
        "wasm trap: cannot leave component instance",
    );
}

#[test]
pub fn row_42_exits_while_instantiated() {
    let seen =
        Row::of(guests::row_42_exits_while_instantiated()).blocks("blocked by hook `hostile`");
    assert_eq!(seen.record.exit_code, Some(2));
}

#[test]
pub fn row_44_closes_its_streams() {
    let seen = Row::of(guests::row_44_closes_its_streams()).blocks("blocked by hook `hostile`");
    assert_eq!(seen.record.exit_code, Some(2));
}

/// Each of these calls fails or ends the guest; none reaches beyond its memory.
#[test]
pub fn row_45_pointers_to_nowhere() {
    traps(guests::row_45_pointers_to_nowhere(), "");
}

/// What it wrote before it ended badly decides nothing.
#[test]
pub fn row_46_approves_and_traps() {
    let seen = Row::of(guests::row_46_approves_and_traps()).fails(FailureKind::Trap);
    assert_eq!(seen.record.stdout, r#"{"decision":"approve"}"#);
    assert_eq!(seen.decision.permission, Some(Permission::Deny));
}

#[test]
pub fn row_46_approves_and_hangs() {
    let seen = Row::of(guests::row_46_approves_and_hangs())
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
    assert_eq!(seen.record.stdout, r#"{"decision":"approve"}"#);
}
