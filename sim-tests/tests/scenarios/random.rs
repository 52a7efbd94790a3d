//! Random stories.

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use segue_sim_tests::marks::Marks;
use segue_sim_tests::replay::verify;
use segue_sim_tests::scenario::Midstream;
use segue_sim_tests::strategy::scenario;
use std::cell::RefCell;

/// Stories in a default run, for each of the tests. `PROPTEST_CASES` overrides it.
const CASES: u32 = 150;

/// Stories that are tried to make a failing one simpler. `PROPTEST_MAX_SHRINK_ITERS` overrides it.
const SHRINKING: u32 = 400;

/// Where the stories of a default run come from, so that a red submission is never luck. `PROPTEST_RNG_SEED`
/// overrides it. So many stories from it have seen everything that is marked.
const SEED: u64 = 20_261_129;

#[test]
fn whatever_goes_wrong_while_broken_streams_are_aborted() {
    random_stories(Midstream::Abort, &["a stream was resumed"]);
}

#[test]
fn whatever_goes_wrong_while_broken_streams_are_resumed() {
    random_stories(Midstream::Resume, &[]);
}

fn random_stories(midstream: Midstream, impossible: &[&str]) {
    let config = config();
    let enough = config.cases >= CASES;
    let marks = RefCell::new(Marks::default());
    let result = TestRunner::new(config).run(&scenario(midstream), |scenario| {
        let outcome = verify(&scenario).map_err(TestCaseError::fail)?;
        marks.borrow_mut().note(&outcome);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(report, _)) => panic!("\n{report}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    let marks = marks.into_inner();
    let mut missing = marks.missing();
    missing.retain(|mark| !impossible.contains(mark));
    let nothing_proved = "these never happened, so nothing is proved about them";
    assert!(
        missing.is_empty() || !enough,
        "{nothing_proved}: {missing:?}; {marks:#?}"
    );
    println!("{marks:#?}");
}

fn config() -> Config {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    let is_given = |name: &str| std::env::var_os(name).is_some();
    if !is_given("PROPTEST_CASES") {
        config.cases = CASES;
    }
    if !is_given("PROPTEST_MAX_SHRINK_ITERS") {
        config.max_shrink_iters = SHRINKING;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    config
}
