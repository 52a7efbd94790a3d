//! Broken twins in stories about lookups: after how many stories each rule that is removed is noticed.

use segue_core::twin::{self, Twin};
use segue_sim_tests::lyrics::check::check;
use segue_sim_tests::lyrics::scenario::{Answer, Fault, Knows, Put, Scenario, When};
use segue_sim_tests::lyrics::story::{Run, run_within};
use segue_sim_tests::lyrics::strategy::story;
use segue_sim_tests::replay::line;
use segue_sim_tests::scenario::Snag;
use std::io::Write as _;
use std::panic::{set_hook, take_hook};

/// Where the stories come from.
const SEED: u64 = 20_261_130;

/// How many a twin meets at most.
const STORIES: u64 = 40;

/// Bugs that whole stories show soon enough for each run of the tests: the compare-and-set, the epoch, the lease and its
/// heartbeat, the targets, what is counted, the window, the precedence of doubt, open lanes, panics, the journal, and whose
/// files give way.
const SEEN: [Twin; 14] = [
    Twin::StatusIgnored,
    Twin::EpochIgnored,
    Twin::EpochKept,
    Twin::LeaseIgnored,
    Twin::HeartbeatLost,
    Twin::TargetsForgotten,
    Twin::ReleaseCounted,
    Twin::ThrottledMissed,
    Twin::MissDespiteDoubt,
    Twin::WindowRestarted,
    Twin::PanicSpreads,
    Twin::JournalSkipped,
    Twin::EditedReplaced,
    Twin::PlainBesideTimed,
];

/// Stories that come to what random ones seldom come to.
fn pointed() -> Vec<Scenario> {
    use Answer::{After, Hang};
    use Knows::{Line, Plain};
    // Its worker stands still while another is at the next song, and then at this one.
    let late = (14..30).map(|seconds| Scenario {
        processes: 2,
        lease: 2_000,
        lanes: vec![vec![After(1_000), Hang, Hang, Hang]],
        songs: vec![Scenario::quiet(&[Line]).songs[0].clone(); 2],
        puts: [(100, 0), (400, 1)]
            .map(|(after, song)| (after, Put { song, times: 1 }))
            .to_vec(),
        faults: vec![(300, Fault::Freeze(0, seconds * 1_000))],
        ..Scenario::quiet(&[Line])
    });
    // A lookup that takes longer than a lease, when it is looked for leases that are over.
    let long = Scenario {
        lease: 2_000,
        lanes: vec![vec![Hang]; 3],
        puts: vec![(3_000, Put { song: 0, times: 1 })],
        ..Scenario::quiet(&[Line, Line, Line])
    };
    let held_twice = Scenario {
        race_wait: Some(2_000),
        lanes: vec![vec![After(700); 2], Vec::new(), vec![Hang]],
        ..Scenario::quiet(&[Plain, Plain, Line])
    };
    let panicking = Scenario {
        faults: vec![(0, Fault::Panic(0, Snag::Head))],
        ..Scenario::quiet(&[Line, Plain])
    };
    // A process that dies around the moment in which a sidecar gets its name.
    let interrupted = (5..10).map(|step| Scenario {
        lease: 2_000,
        faults: vec![(0, Fault::Kill(0, When::AfterShelf(step), 200))],
        ..Scenario::quiet(&[Line])
    });
    (late.chain([long, held_twice, panicking]))
        .chain(interrupted)
        .collect()
}

fn broken(scenario: &Scenario, twin: Option<Twin>) -> Option<String> {
    let Run { outcome, .. } = run_within(scenario, |simulation| twin::with(twin, simulation));
    match outcome {
        Ok(outcome) => check(scenario, &outcome).into_iter().next(),
        Err(panic) => Some(panic),
    }
}

#[test]
fn stories_about_lookups_notice_every_twin_that_they_can_see() {
    let random = (0..STORIES).map(|n| story(SEED + n));
    let stories: Vec<Scenario> = pointed().into_iter().chain(random).collect();
    for story in &stories {
        if let Some(why) = broken(story, None) {
            panic!("without a twin: {why}\n{}", line(story));
        }
    }
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let table = SEEN.map(|twin| {
        let mut stories = (1_usize..).zip(&stories);
        let noticed = stories.find_map(|(n, story)| Some((n, broken(story, Some(twin))?)));
        (twin, noticed)
    });
    set_hook(hook);
    let mut out = std::io::stdout();
    let mut missed = Vec::new();
    for (twin, noticed) in &table {
        let by = match noticed {
            Some((n, why)) => format!("{n}: {}", why.chars().take(90).collect::<String>()),
            None => {
                missed.push(*twin);
                "-".to_owned()
            }
        };
        let _ = writeln!(out, "{twin:?} | {} | {by}", twin.rule());
    }
    assert!(missed.is_empty(), "nobody noticed {missed:?}");
}
