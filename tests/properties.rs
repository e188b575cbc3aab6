//! What holds for every input, tried on generated ones. A failing case is shrunk and printed.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test says what it expects by panicking"
)]

#[path = "properties/contract.rs"]
mod contract;
#[path = "properties/event.rs"]
mod event;
#[path = "properties/generate.rs"]
mod generate;
#[path = "properties/matcher.rs"]
mod matcher;
#[path = "properties/merge.rs"]
mod merge;
mod support;
#[path = "properties/text.rs"]
mod text;
