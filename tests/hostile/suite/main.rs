//! The hostile suite: guests that try to hurt the host, and what becomes of each.
//!
//! A row is one event with one hostile guest on a warm host, beside a guard that is none. Whatever the
//! guest does, [`support::row::Row`] holds the host to the same bounds: the run ends in its time, the
//! host's memory stays within the guest's limit and 32 MiB, descriptors, threads and children come
//! back, there is exactly one record, no text in it acts on a terminal, and the next event on the same
//! host is decided by the guard as if nothing had been. Every hook says `"onFailure": "block"`, so a row
//! that fails has also shown that the operation does not go on.
//!
//! Rows are named by number and by what the guest does. `guests/` holds the guests, each under the name
//! of the test that it is for.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

#[macro_use]
mod guests {
    include!(concat!(env!("OUT_DIR"), "/guests.rs"));
}
mod answers;
mod cache;
mod compiling;
mod files;
mod hooks_together;
mod host_calls;
mod loading;
mod memory;
mod never_ending;
mod one_event_after_another;
mod output;
mod stopping;
mod support;
mod traps;
mod words;

/// A guest that no test names does not compile.
macro_rules! assert_test_exists {
    ($name:ident) => {
        const _: fn() = $name;
    };
}

use compiling::*;
use files::*;
use host_calls::*;
use memory::*;
use never_ending::*;
use one_event_after_another::*;
use output::*;
use traps::*;
use words::*;

foreach_guest!(assert_test_exists);
