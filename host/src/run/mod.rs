//! Each hook by its handler, to an [`Outcome`](crate::outcome::Outcome). One file a handler; no
//! file knows another.

pub mod command;
pub mod component;
