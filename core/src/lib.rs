//! What Segue decides, as plain values.
//!
//! No I/O, no clock, no threads, no async runtime, no randomness that was not handed in. Time comes
//! in as an argument, effects go out as values, and everything that touches the world is a thin
//! driver over the traits in [`io`]. See `docs/architecture.md`.

#![forbid(unsafe_code)]

pub mod breaker;
pub mod catalog;
pub mod delivery;
pub mod dispatch;
pub mod driver;
pub mod failover;
pub mod io;
pub mod lyrics;
pub mod provider;
pub mod queue;
pub mod rank;
pub mod source;
pub mod time;
pub mod twin;
pub mod webhook;

pub use time::{Tick, Wall};
