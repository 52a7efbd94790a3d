//! The queue over a real SQLite (contracts section 5).

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod kit;
