//! What must hold in every run, whatever went wrong. Each check says the number of the invariant it holds.

mod breakers;
mod bytes;
mod kept;
mod leftovers;
mod liveness;
mod records;

use crate::outcome::Outcome;
use crate::scenario::Scenario;

/// A check: what is broken, in sentences that begin with the number of the invariant.
type Check = fn(&Scenario, &Outcome, &mut Vec<String>);

/// All checks, by what they go by.
const CHECKS: [Check; 6] = [
    bytes::check,
    records::check,
    breakers::check,
    liveness::check,
    kept::check,
    leftovers::check,
];

/// Everything that is broken in a run.
pub fn check(scenario: &Scenario, outcome: &Outcome) -> Vec<String> {
    let mut broken = Vec::new();
    for check in CHECKS {
        check(scenario, outcome, &mut broken);
    }
    broken
}
