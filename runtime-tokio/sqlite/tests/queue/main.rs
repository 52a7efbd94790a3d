//! The queue over a real SQLite (contracts section 5).

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../../core/tests/common/mod.rs"]
mod dice;

mod basics;
mod contention;
mod decoys;
mod journal;
mod kit;
mod library;
mod story;
mod table;

/// Steps of random stories in each run of the tests.
const STEPS: u64 = 4_000;

#[test]
fn q1_to_q8_hold_whatever_workers_crashes_and_late_writes_do() {
    dice::hunt(STEPS, story::play);
}
