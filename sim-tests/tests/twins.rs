//! Broken twins in whole stories: what a simulated world notices of each rule that is removed.
//!
//! The bugs of the server only show here; those of the machines also meet the checks of `core/tests/twins/`,
//! which notice all of them. `SEGUE_TWIN_STORIES=300` lets every twin meet so many random stories, and says which
//! are noticed.

use segue_core::twin::{self, Twin};
use segue_sim_tests::check::check;
use segue_sim_tests::replay::line;
use segue_sim_tests::scenario::{
    Death, Deed, Fault, Manner, Midstream, Mode, Part, Play, Scenario, Snag, Trouble, When, Work,
};
use segue_sim_tests::seeds::story;
use segue_sim_tests::story::{Run, run_within};
use std::io::Write as _;
use std::panic::{set_hook, take_hook};

/// Where the random stories come from.
const SEED: u64 = 20_261_129;

/// How many of them a twin meets at most; most are noticed in the first few.
const STORIES: usize = 40;

/// The environment variable that lets every twin meet so many.
const VARIABLE: &str = "SEGUE_TWIN_STORIES";

/// Bugs in the machines that show in a whole world soon enough for each run of the tests.
const SEEN_FROM_OUTSIDE: [Twin; 16] = [
    Twin::ProbeFlood,
    Twin::AbandonedCounts,
    Twin::RecoveryUnseen,
    Twin::LastResortAtOnce,
    Twin::PermitLeakedOnCancel,
    Twin::PermitLeakedOnDrop,
    Twin::ClientGoneCounted,
    Twin::CallAfterSettle,
    Twin::LoserNotAborted,
    Twin::AbortIgnored,
    Twin::OpenLaneCalled,
    Twin::DocumentAccepted,
    Twin::BreakEndsCleanly,
    Twin::ResumeUnproved,
    Twin::EndingUntold,
    Twin::BytesUncounted,
];

/// Three sources that are tried in turn, and listeners who all do the same.
fn written(
    midstream: Midstream,
    listeners: usize,
    plays: &[Play],
    faults: &[(u64, Fault)],
) -> Scenario {
    Scenario {
        seed: 7,
        sources: 3,
        mode: Mode::Ordered,
        midstream,
        listeners: vec![plays.to_vec(); listeners],
        deeds: Vec::new(),
        faults: faults.to_vec(),
    }
}

/// Stories that come to what random ones seldom come to.
fn pointed() -> Vec<Scenario> {
    let [home, shelf, attic] = [0, 1, 2];
    let [hunter, joga, unravel, pluto] = [0, 1, 2, 3];
    let play = |after, track, part| Play {
        after,
        part,
        ..Play::whole(track)
    };
    let whole = |after, track| play(after, track, Part::Whole);
    let paused = Play {
        manner: Manner::Pausing(50_000, 120_000),
        ..whole(100, hunter)
    };
    let slowly = Play {
        manner: Manner::Slowly(500),
        ..whole(100, hunter)
    };
    let failing = Fault::DiskFails(Work::Sync, 0);
    let dying = |death| Fault::HubDies(When::Now, death, 500);
    let trouble = |source, trouble| (0, Fault::Trouble(source, trouble));
    let late = |after, source, trouble| (after, Fault::Trouble(source, trouble));
    let (abort, resume) = (Midstream::Abort, Midstream::Resume);
    let slow = Trouble::SlowHead(3_000);
    let page = Trouble::ErrorIn200HtmlAsAudio;
    let cut = Trouble::CutAt(60_000);
    vec![
        // A source that is due again, and three who want it at once.
        written(
            abort,
            3,
            &[whole(1_000, hunter), whole(66_000, hunter)],
            &[
                late(500, home, Trouble::Status(500)),
                late(2_000, home, slow),
            ],
        ),
        // Somebody goes on with what the second best source has given him.
        written(
            abort,
            1,
            &[whole(100, hunter), play(70_000, hunter, Part::From(50_000))],
            &[
                trouble(home, Trouble::Status(500)),
                (5_000, Fault::Mend(home)),
            ],
        ),
        written(abort, 1, &[paused], &[]),
        written(
            abort,
            1,
            &[play(100, hunter, Part::From(9_000))],
            &[trouble(home, Trouble::WrongContentRange)],
        ),
        written(abort, 1, &[whole(100, hunter)], &[trouble(home, page)]),
        written(
            abort,
            1,
            &[whole(100, hunter)],
            &[trouble(home, Trouble::Status(404))],
        ),
        // A copy goes on; what only looks like one does not.
        written(resume, 1, &[whole(100, pluto)], &[trouble(attic, cut)]),
        written(
            resume,
            1,
            &[whole(100, unravel)],
            &[trouble(attic, cut), trouble(shelf, cut)],
        ),
        written(
            resume,
            1,
            &[whole(100, joga)],
            &[
                (0, Fault::TroubleEverywhere(Trouble::WrongBytesOnResume)),
                trouble(attic, cut),
            ],
        ),
        // A disk that fails once while somebody listens, and a hub that dies under him.
        written(abort, 1, std::slice::from_ref(&slowly), &[(2_000, failing)]),
        written(abort, 1, &[slowly], &[(2_000, dying(Death::Killed))]),
        written(
            abort,
            1,
            &[whole(100, hunter)],
            &[(0, Fault::Panic(home, Snag::Head))],
        ),
        Scenario {
            deeds: vec![(100, Deed::Star(hunter)), (100, Deed::Rate(joga, 5))],
            ..written(abort, 1, &[], &[(1_000, dying(Death::PowerCut(2)))])
        },
    ]
}

/// Random stories, with broken streams aborted and resumed, in turn.
fn random(count: usize) -> Vec<Scenario> {
    (SEED..).take(count).map(story).collect()
}

/// What is wrong in a story with this twin.
fn broken(scenario: &Scenario, twin: Option<Twin>) -> Option<String> {
    let Run { outcome, .. } = run_within(scenario, |simulation| twin::with(twin, simulation));
    match outcome {
        Ok(outcome) => check(scenario, &outcome).into_iter().next(),
        Err(panic) => Some(panic),
    }
}

/// Prints past the test harness, which would keep it to itself.
fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

/// In which story a twin is noticed, counted from one, and what is wrong there.
fn noticed(stories: &[Scenario], twin: Twin) -> Option<(usize, String)> {
    let mut stories = stories.iter().enumerate();
    stories.find_map(|(n, story)| Some((n + 1, broken(story, Some(twin))?)))
}

/// Lets each twin meet the stories, two at a time.
fn meet(stories: &[Scenario], twins: &[Twin]) -> Vec<(Twin, Option<(usize, String)>)> {
    let (one, other) = twins.split_at(twins.len() / 2);
    let all = |twins: &[Twin]| -> Vec<_> {
        let met = twins.iter().map(|twin| (*twin, noticed(stories, *twin)));
        met.collect()
    };
    std::thread::scope(|scope| {
        // Scoped, so it is joined here.
        let met = scope.spawn(|| all(one));
        let other = all(other);
        [met.join().expect("a thread that notices"), other].concat()
    })
}

#[test]
fn a_whole_world_notices_the_twins_of_the_server_and_many_of_the_machines() {
    let asked = std::env::var(VARIABLE).ok();
    let asked = asked.map(|count| count.parse().expect("a number of stories"));
    let stories = [pointed(), random(asked.unwrap_or(STORIES))].concat();
    for story in &stories {
        if let Some(why) = broken(story, None) {
            panic!("without a twin: {why}\n{}", line(story));
        }
    }
    let machines: &[Twin] = match asked {
        Some(_) => &Twin::CORE,
        None => &SEEN_FROM_OUTSIDE,
    };
    let twins: Vec<Twin> = Twin::SERVER.iter().chain(machines).copied().collect();
    // Assertions of the machines are among those who notice; they need not be read.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let table = meet(&stories, &twins);
    set_hook(hook);
    say("twin | rule | noticed in story");
    let mut missed = Vec::new();
    for (twin, found) in table {
        let by = match found {
            Some((n, why)) => format!("{n}: {}", why.chars().take(90).collect::<String>()),
            None => {
                missed.push(twin);
                "-".to_owned()
            }
        };
        say(&format!("{twin:?} | {} | {by}", twin.rule()));
    }
    let must = |twin: &Twin| Twin::SERVER.contains(twin) || SEEN_FROM_OUTSIDE.contains(twin);
    missed.retain(must);
    assert!(missed.is_empty(), "nobody noticed {missed:?}");
}
