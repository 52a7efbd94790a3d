//! One seed is one story, here and elsewhere.

use crate::elsewhere::is_the_same_everywhere;
use crate::play;
use segue_sim_tests::scenario::{Fault, Manner, Midstream, Mode, Part, Play, Scenario};

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
    is_the_same_everywhere(&busy(11), &busy(12));
}
