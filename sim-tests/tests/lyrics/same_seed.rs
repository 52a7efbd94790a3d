//! One seed is one story, here and elsewhere.

use crate::elsewhere::is_the_same_everywhere;
use segue_sim_tests::lyrics::scenario::{Answer, Fault, Knows, Put, Scenario, Tune, When};

/// Much goes on here, so much could go on in another order.
fn busy(seed: u64) -> Scenario {
    use Knows::{Instrumental, Line, Nothing, Plain};
    let tune = |knows: [Knows; 3]| Tune {
        knows: knows.to_vec(),
        files: 2,
        users: None,
    };
    Scenario {
        seed,
        processes: 3,
        workers: 2,
        race_wait: Some(2_000),
        lease: 2_000,
        on_disk: true,
        lanes: vec![
            vec![Answer::After(700), Answer::SlowDown(10), Answer::Reset],
            vec![Answer::After(300), Answer::Status(502)],
            vec![Answer::Hang],
        ],
        songs: vec![
            tune([Line, Plain, Nothing]),
            tune([Nothing, Plain, Plain]),
            tune([Nothing, Instrumental, Nothing]),
            tune([Nothing; 3]),
        ],
        puts: (0..4).map(|song| (200, Put { song, times: 3 })).collect(),
        faults: vec![
            (300, Fault::Kill(1, When::Await(40), 500)),
            (700, Fault::Freeze(0, 4_000)),
            (500, Fault::PowerCut(5, 300)),
            (500, Fault::WallStep(1)),
            (500, Fault::LaneDark(0)),
        ],
        ..Scenario::quiet(&[Nothing; 3])
    }
}

#[test]
fn the_same_seed_gives_the_same_story_here_and_in_another_process() {
    is_the_same_everywhere(&busy(11), &busy(12));
}
