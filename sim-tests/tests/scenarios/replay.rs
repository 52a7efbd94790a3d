//! Scenarios that failed before.

use segue_sim_tests::replay::play_kept;
use segue_sim_tests::scenario::Scenario;

#[test]
fn a_failure_once_seen_stays_mended() {
    play_kept::<Scenario>();
}
