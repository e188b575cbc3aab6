//! Row 32: files that are quick to read and take for ever to compile.
//!
//! Whether one of them is compiled depends on the machine; what it may cost does not. The budget is
//! 5 s, and 3 s more a mebibyte.

use std::time::Duration;

use hookcell::outcome::FailureKind;

use crate::guests;
use crate::support::row::{Row, Seen};

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
