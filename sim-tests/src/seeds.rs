//! One number, one story: the number chooses everything in it, from the sources to the last fault.

use crate::replay::verify;
use crate::scenario::{Midstream, Scenario};
use crate::strategy::scenario;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Stories that are tried at most to make a failing one simpler.
const SHRINKING: usize = 400;

/// The story of a number. Broken streams are aborted in even ones and resumed in odd ones.
pub fn story(seed: u64) -> Scenario {
    tree(seed).current()
}

fn tree(seed: u64) -> impl ValueTree<Value = Scenario> {
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..Config::default()
    });
    let midstream = match seed.is_multiple_of(2) {
        true => Midstream::Abort,
        false => Midstream::Resume,
    };
    let tree = scenario(midstream).new_tree(&mut runner);
    tree.expect("a strategy that rejects nothing")
}

/// The simplest story found that is still wrong, and its report: fewer faults and requests than in the story of `seed`,
/// whose own report is `report`.
pub fn shrunk(seed: u64, report: String) -> (Scenario, String) {
    let mut tree = tree(seed);
    let mut simplest = (tree.current(), report);
    if !tree.simplify() {
        return simplest;
    }
    for _ in 0..SHRINKING {
        let candidate = tree.current();
        let goes_on = match verify(&candidate) {
            Err(report) => {
                simplest = (candidate, report);
                tree.simplify()
            }
            Ok(_) => tree.complicate(),
        };
        if !goes_on {
            break;
        }
    }
    simplest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_always_the_same_story() {
        for seed in 0..50 {
            assert_eq!(story(seed), story(seed));
        }
        assert_ne!(story(2), story(4));
    }
}
