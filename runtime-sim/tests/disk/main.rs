//! The simulated disk, and what SQLite and `segue-sqlite` make of it.

mod crash;
mod faults;
mod life;
mod sharing;
mod simulated;
