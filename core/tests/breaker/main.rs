//! The breaker: every row of its tables, every invariant, and a reference that keeps the history.

#[path = "../common/mod.rs"]
mod common;
mod history;
mod laws;
mod oracle;
mod play;
mod table;
