//! Real processes, real sockets, real files: what the simulator cannot see (docs/simulation.md).
//!
//! The real program is killed in the middle of its work, again and again, on one data directory.

mod chance;
mod client;
mod kill;
mod ledger;
mod plan;
mod program;
