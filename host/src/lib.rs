pub mod config;
pub mod dialect;
pub mod event;
pub mod outcome;
pub mod run;
pub mod select;
