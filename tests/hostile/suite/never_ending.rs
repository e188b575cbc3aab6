//! Rows 1 to 5, and those of their kind: guests that do not end by themselves.

use hookcell::outcome::FailureKind;
use serde_json::json;

use crate::guests;
use crate::support::MOST_FUEL;
use crate::support::row::{Row, Seen};

/// A guest that only its deadline can end.
#[track_caller]
fn is_ended_in_time(guest: Vec<u8>) -> Seen {
    let seen = Row::of(guest)
        .hook(json!({"timeout": 0.5, "limits": {"fuel": MOST_FUEL}}))
        .fails(FailureKind::TimedOut);
    assert!(
        seen.message().ends_with("; 0.5 s are allowed (`timeout`)"),
        "{}",
        seen.message()
    );
    assert!(
        seen.record.elapsed_microseconds >= 500_000,
        "{:?}",
        seen.record
    );
    seen
}

/// A guest that its fuel ends, to the unit, long before its deadline.
#[track_caller]
fn is_ended_by_its_fuel(guest: Vec<u8>, fuel: u64) {
    let seen = Row::of(guest)
        .hook(json!({"limits": {"fuel": fuel}}))
        .fails(FailureKind::OutOfFuel)
        .says(&format!(
            "{fuel} fuel is used; {fuel} are allowed (`limits.fuel`)"
        ));
    assert_eq!(seen.record.fuel, Some(fuel));
}

#[test]
pub fn row_01_endless_loop() {
    is_ended_in_time(guests::row_01_endless_loop());
    is_ended_by_its_fuel(guests::row_01_endless_loop(), 3_000_000);
}

#[test]
pub fn row_01_endless_loop_in_a_component() {
    is_ended_in_time(guests::row_01_endless_loop_in_a_component());
    is_ended_by_its_fuel(guests::row_01_endless_loop_in_a_component(), 3_000_000);
}

/// Instantiating has a purse of its own, which is 100 million units at least.
#[track_caller]
fn is_ended_while_it_is_instantiated(guest: Vec<u8>) {
    is_ended_in_time(guest.clone());
    let seen = Row::of(guest)
        .hook(json!({"limits": {"fuel": 1000}}))
        .fails(FailureKind::OutOfFuel);
    assert_eq!(seen.record.fuel, Some(100_000_000));
}

#[test]
pub fn row_02_start_function() {
    is_ended_while_it_is_instantiated(guests::row_02_start_function());
}

#[test]
pub fn row_02_component_initialiser() {
    is_ended_while_it_is_instantiated(guests::row_02_component_initialiser());
}

#[test]
pub fn row_03_sleep_for_an_hour() {
    is_ended_in_time(guests::row_03_sleep_for_an_hour());
}

#[test]
pub fn row_03_wait_for_the_end_of_time() {
    is_ended_in_time(guests::row_03_wait_for_the_end_of_time());
}

#[test]
pub fn row_03_wait_for_nothing() {
    let seen = Row::of(guests::row_03_wait_for_nothing()).fails(FailureKind::Trap);
    assert!(
        seen.message().contains("empty poll list"),
        "{}",
        seen.message()
    );
}

#[test]
pub fn row_04_poll_again_and_again() {
    is_ended_in_time(guests::row_04_poll_again_and_again());
    is_ended_by_its_fuel(guests::row_04_poll_again_and_again(), 20_000);
}

#[test]
pub fn row_04_yield_again_and_again() {
    is_ended_in_time(guests::row_04_yield_again_and_again());
    is_ended_by_its_fuel(guests::row_04_yield_again_and_again(), 20_000);
}

#[test]
pub fn row_05_work_for_ever() {
    is_ended_by_its_fuel(guests::row_05_work_for_ever(), 3_000_000);
}
