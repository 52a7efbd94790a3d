//! Stories about songs that are looked up: several worker processes on one store, lanes that misbehave, and a music folder
//! that forgets at a crash what was not made durable.
//!
//! A [`Scenario`](scenario::Scenario) says what is known where, who puts which song in, and what goes wrong;
//! [`story::run`] plays it. What must hold at every write is held against it by the [`history`] as it happens, the rest by
//! [`check::check`] at the end. The processes are the hub's own wiring (`segue::lyrics::tend`) over simulated sockets.
//! See `docs/simulation.md`.

pub mod check;
mod dice;
mod faults;
pub mod history;
mod lane;
pub mod marks;
mod probe;
mod process;
pub mod scenario;
pub mod shrink;
mod songs;
pub mod story;
pub mod strategy;
mod world;
