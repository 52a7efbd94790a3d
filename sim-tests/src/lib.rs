//! Whole stories about a hub in a simulated world, and what must hold in each of them.
//!
//! A [`Scenario`](scenario::Scenario) says who listens to what and what goes wrong; [`story::run`] plays it and hands back an
//! [`Outcome`](outcome::Outcome); [`check::check`] holds that against the contracts. See `docs/simulation.md`.

pub mod alone;
pub mod check;
mod faults;
pub mod keeper;
mod listener;
mod log;
pub mod lyrics;
pub mod marks;
pub mod outcome;
pub mod replay;
pub mod scenario;
pub mod seeds;
pub mod shelf;
pub mod soak;
mod station;
pub mod story;
pub mod strategy;
pub mod tale;
mod world;
