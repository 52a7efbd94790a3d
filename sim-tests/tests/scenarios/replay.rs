//! Scenarios that failed before.

use crate::play;
use segue_sim_tests::replay::{VARIABLE, from_text, kept, verify};

#[test]
fn a_failure_once_seen_stays_mended() {
    for (path, scenario) in kept() {
        if let Err(report) = verify(&scenario) {
            panic!("{}\n{report}", path.display());
        }
    }
}

/// Plays the scenario in the environment; without one there is nothing to do.
#[test]
fn replay() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let scenario = from_text(&text).expect("a scenario");
    let outcome = play(&scenario);
    println!(
        "{:#?}\nall is well: {:?}",
        outcome.heard, outcome.fingerprint
    );
}
