//! Stories that failed before.

use segue_sim_tests::lyrics::scenario::Scenario;
use segue_sim_tests::replay::play_kept;

#[test]
fn a_failure_once_seen_stays_mended() {
    play_kept::<Scenario>();
}
