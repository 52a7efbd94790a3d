//! Real processes, real sockets, real files: what the simulator cannot see (docs/simulation.md).
//!
//! [`kill`] kills the real program in the middle of its work, again and again, on one data directory, and [`steps`] in
//! the middle of a large sync. [`lookups`] kills two processes that look songs up on one queue, and [`storm`]
//! one that asks, as often as it is started. [`toxics`] puts every
//! fault of a network between a hub and a healthy source.

mod chance;
mod client;
mod kill;
mod ledger;
mod lookups;
mod plan;
mod program;
mod provider;
mod proxy;
mod songs;
mod spoilt;
mod steps;
mod storm;
mod toxics;
#[path = "../hub/world.rs"]
#[expect(dead_code, reason = "the other tests of a hub use the rest")]
mod world;
