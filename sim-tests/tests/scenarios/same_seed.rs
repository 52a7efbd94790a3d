//! One seed is one story, here and elsewhere.

use crate::play;
use segue_sim_tests::replay::{VARIABLE, to_text};
use segue_sim_tests::scenario::{Fault, Manner, Midstream, Mode, Part, Play, Scenario};
use std::process::Command;

/// Much goes on here, so much could go on in another order.
fn busy(seed: u64) -> Scenario {
    let plays = |first: usize| {
        let plays = (0..6_usize).map(|n| Play {
            after: 300,
            track: (first + n) % 4,
            part: match n % 2 {
                0 => Part::Whole,
                _ => Part::From(20_000),
            },
            manner: Manner::Slowly(40),
        });
        plays.collect()
    };
    Scenario {
        seed,
        sources: 3,
        mode: Mode::Parallel,
        midstream: Midstream::Resume,
        listeners: vec![plays(0), plays(1), plays(2)],
        deeds: Vec::new(),
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
    let (first, second) = (play(&busy(11)), play(&busy(11)));
    assert!(first == second, "{first:#?}\n{second:#?}");
    assert_ne!(play(&busy(12)).fingerprint, first.fingerprint);
}

#[test]
fn the_same_seed_gives_the_same_story_in_another_process() {
    let here = play(&busy(11)).fingerprint;
    let program = std::env::current_exe().expect("this test");
    let child = Command::new(program)
        .args(["replay::replay", "--exact", "--nocapture"])
        .env(VARIABLE, to_text(&busy(11)))
        .output()
        .expect("a child process");
    let said = String::from_utf8_lossy(&child.stdout);
    let expected = format!("all is well: {here:?}");
    assert!(said.contains(&expected), "not {expected:?} but {said}");
}
