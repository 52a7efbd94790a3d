//! The breaker: every row of its tables, every invariant, and a reference that keeps the history.

#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "the small worlds ask for more")]
mod history;
mod laws;
mod oracle;
mod play;
mod table;
