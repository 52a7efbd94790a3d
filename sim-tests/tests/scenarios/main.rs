//! The hub in stories that go wrong: written ones, random ones, and those that failed before.

#[path = "../common/elsewhere.rs"]
mod elsewhere;
mod random;
mod replay;
mod same_seed;
mod stories;

use segue_sim_tests::outcome::Outcome;
use segue_sim_tests::replay::verify;
use segue_sim_tests::scenario::Scenario;

/// Plays a scenario; whatever is broken ends the test.
fn play(scenario: &Scenario) -> Outcome {
    verify(scenario).unwrap_or_else(|report| panic!("\n{report}"))
}
