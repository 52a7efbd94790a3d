//! The hub in stories that go wrong.

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};
use segue_core::io::NetError;
use segue_sim_tests::marks::Marks;
use segue_sim_tests::outcome::{Ending, Outcome};
use segue_sim_tests::replay::{VARIABLE, from_text, kept, to_text, verify};
use segue_sim_tests::scenario::{Fault, Manner, Midstream, Mode, Part, Play, Scenario};
use segue_sim_tests::strategy::scenario;
use std::cell::RefCell;
use std::process::Command;

/// Random scenarios in a default run, for each of the two tests. `PROPTEST_CASES` overrides it.
const CASES: u32 = 120;

/// So many cases, from the same stream of random numbers, have seen everything that is marked.
const SEED: u64 = 20_261_129;

fn play(scenario: &Scenario) -> Outcome {
    verify(scenario).unwrap_or_else(|report| panic!("\n{report}"))
}

/// Scenarios that failed before, each for a reason of its own.
#[test]
fn a_failure_once_seen_stays_mended() {
    for (path, scenario) in kept() {
        if let Err(report) = verify(&scenario) {
            panic!("{}\n{report}", path.display());
        }
    }
}

/// The story of the README: a source dies while it plays, and the next request plays all the same.
#[test]
fn a_killed_source_gives_way_and_leaves_nothing_behind() {
    let outcome = play(&killed());
    let endings: Vec<_> = outcome
        .heard
        .iter()
        .map(|heard| (heard.ending, &heard.owners[..]))
        .collect();
    assert_eq!(endings[0], (Ending::Broken(NetError::Truncated), &[0][..]));
    assert_eq!(endings[1], (Ending::Clean, &[1][..]));
    let attempts = outcome.activity[1].attempts.iter();
    let attempts: Vec<_> = attempts
        .map(|attempt| (attempt.source_id.as_str(), attempt.outcome.as_str()))
        .collect();
    assert_eq!(attempts, [("home", "refused"), ("shelf", "served")]);
}

fn killed() -> Scenario {
    let slowly = Play {
        manner: Manner::Slowly(100),
        ..Play::whole(0)
    };
    Scenario {
        seed: 7,
        sources: 3,
        mode: Mode::Ordered,
        midstream: Midstream::Abort,
        listeners: vec![vec![slowly, Play::whole(0)]],
        faults: vec![(500, Fault::Kill(0))],
    }
}

/// Much goes on here, so much could go on in another order.
fn busy() -> Scenario {
    let plays = |first: usize| {
        let plays = (0..6_usize).map(|n| Play {
            after: 300,
            track: (first + n) % 4,
            part: if n % 2 == 0 {
                Part::Whole
            } else {
                Part::From(20_000)
            },
            manner: Manner::Slowly(40),
        });
        plays.collect()
    };
    Scenario {
        seed: 11,
        sources: 3,
        mode: Mode::Parallel,
        midstream: Midstream::Resume,
        listeners: vec![plays(0), plays(1), plays(2)],
        faults: vec![
            (400, Fault::Kill(2)),
            (900, Fault::Isolate(0)),
            (700, Fault::Sync),
            (2_000, Fault::Restart(2)),
            (2_000, Fault::Rejoin(0)),
        ],
    }
}

#[test]
fn the_same_seed_gives_the_same_story() {
    for scenario in [killed(), busy()] {
        let first = play(&scenario);
        let second = play(&scenario);
        assert!(first == second, "{:#?}\n{:#?}", first, second);
    }
    let mut other = busy();
    other.seed += 1;
    assert_ne!(play(&other).fingerprint, play(&busy()).fingerprint);
}

#[test]
fn the_same_seed_gives_the_same_story_in_another_process() {
    let here = play(&busy()).fingerprint;
    let program = std::env::current_exe().expect("this test");
    let child = Command::new(program)
        .args(["replay", "--exact", "--nocapture"])
        .env(VARIABLE, to_text(&busy()))
        .output()
        .expect("a child process");
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(
        said.contains(&format!("{here:?}")),
        "{here:?} is not in {said}"
    );
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

#[test]
fn whatever_goes_wrong_while_broken_streams_are_aborted() {
    random_stories(Midstream::Abort, &["a stream was resumed"]);
}

#[test]
fn whatever_goes_wrong_while_broken_streams_are_resumed() {
    random_stories(Midstream::Resume, &[]);
}

/// Plays random scenarios, the same in each run unless `PROPTEST_RNG_SEED` says otherwise, so that a red
/// submission is never luck.
fn random_stories(midstream: Midstream, impossible: &[&str]) {
    let mut config = Config {
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let enough = config.cases >= CASES;
    let marks = RefCell::new(Marks::default());
    let mut runner = TestRunner::new(config);
    let result = runner.run(&scenario(midstream), |scenario| {
        let outcome = verify(&scenario).map_err(TestCaseError::fail)?;
        marks.borrow_mut().note(&outcome);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(report, _)) => panic!("\n{report}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    let mut missing = marks.borrow().missing();
    missing.retain(|mark| !impossible.contains(mark));
    assert!(
        missing.is_empty() || !enough,
        "never happened, so nothing is proved about it: {missing:?} of {:?}",
        marks.borrow()
    );
    println!("{:#?}", marks.borrow());
}
