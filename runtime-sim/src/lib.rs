//! The simulated world for `segue-core`: clock, network, disk and trace under madsim.
//!
//! The hub's node runs the real router, the real drivers and the real SQL; only what touches the world is
//! replaced. See `docs/architecture.md`, and `simulation` in its sibling crate `segue-sim-tests`.

mod clock;
pub mod disk;
pub mod http;
mod life;
mod net;
pub mod shelf;
mod store;
mod trace;
mod wire;
mod world;

pub use clock::SimClock;
pub use disk::Disk;
pub use life::Life;
pub use net::{Dark, Exchange, Place, SimBody, SimNetwork, Trapped, Traps, Watch};
pub use shelf::SimShelf;
pub use store::SimStore;
pub use trace::{Entry, SimTrace, Timeline};
pub use wire::{Links, WINDOW, Wire};
pub use world::SimRuntime;
