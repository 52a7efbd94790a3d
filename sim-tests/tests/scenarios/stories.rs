//! Stories with a point of their own; all checks hold in them as well.

use crate::play;
use segue_core::breaker::Phase;
use segue_core::io::NetError;
use segue_sim_tests::outcome::{Act, Ending, Heard, Outcome};
use segue_sim_tests::scenario::{Fault, Manner, Midstream, Mode, Play, Scenario, Trouble};
use segue_sqlite::OperationStatus;

const HUNTER: usize = 0;
const JOGA: usize = 1;
const UNRAVEL: usize = 2;
const PLUTO: usize = 3;

const HOME: usize = 0;
const SHELF: usize = 1;
const ATTIC: usize = 2;

/// One listener, and three sources that are tried in turn.
fn story(plays: Vec<Play>, faults: Vec<(u64, Fault)>) -> Scenario {
    Scenario {
        seed: 7,
        sources: 3,
        mode: Mode::Ordered,
        midstream: Midstream::Abort,
        listeners: vec![plays],
        deeds: Vec::new(),
        faults,
    }
}

fn resumed(story: Scenario) -> Scenario {
    Scenario {
        midstream: Midstream::Resume,
        ..story
    }
}

fn after(millis: u64, play: Play) -> Play {
    Play {
        after: millis,
        ..play
    }
}

fn with(manner: Manner, play: Play) -> Play {
    Play { manner, ..play }
}

/// What was heard while things went wrong.
fn troubled(outcome: &Outcome) -> Vec<&Heard> {
    let heard = outcome.heard.iter();
    heard.filter(|heard| heard.act == Act::Trouble).collect()
}

fn status(heard: &Heard) -> Option<u16> {
    heard.head.map(|(_, head)| head.status)
}

/// Sources and outcomes of the attempts for one request.
fn attempts<'a>(outcome: &'a Outcome, heard: &Heard) -> Vec<(&'a str, &'a str)> {
    let row = outcome.activity.iter().find(|row| row.client == heard.name);
    let attempts = row.into_iter().flat_map(|row| &row.attempts);
    attempts
        .map(|attempt| (attempt.source_id.as_str(), attempt.outcome.as_str()))
        .collect()
}

#[test]
fn a_killed_source_gives_way_and_leaves_nothing_behind() {
    let slowly = with(Manner::Slowly(100), Play::whole(HUNTER));
    let plays = vec![slowly, Play::whole(HUNTER)];
    let outcome = play(&story(plays, vec![(500, Fault::Kill(HOME))]));
    let heard = troubled(&outcome);
    assert_eq!(heard[0].ending, Ending::Broken(NetError::Truncated));
    assert_eq!(heard[0].owners, [HOME]);
    assert_eq!(heard[1].ending, Ending::Clean);
    assert_eq!(heard[1].owners, [SHELF]);
    assert_eq!(
        attempts(&outcome, heard[1]),
        [("home", "refused"), ("shelf", "served")]
    );
}

#[test]
fn a_stream_that_breaks_goes_on_from_a_copy_when_that_is_wanted() {
    let faults = vec![(0, Fault::Trouble(ATTIC, Trouble::CutAt(100_000)))];
    let plays = vec![after(100, Play::whole(PLUTO))];
    let outcome = play(&resumed(story(plays, faults)));
    let heard = troubled(&outcome)[0];
    assert_eq!(heard.ending, Ending::Clean);
    assert_eq!(
        attempts(&outcome, heard),
        [("attic", "served"), ("shelf", "resumed")]
    );
}

#[test]
fn f2_what_only_looks_like_a_copy_is_never_spliced_in() {
    for trouble in [Trouble::CutAt(60_000), Trouble::StallAt(60_000)] {
        let faults = vec![
            (0, Fault::Trouble(ATTIC, trouble)),
            (0, Fault::Trouble(SHELF, trouble)),
        ];
        let plays = vec![after(100, Play::whole(UNRAVEL))];
        let outcome = play(&resumed(story(plays, faults)));
        let heard = troubled(&outcome)[0];
        assert_eq!(heard.owners.len(), 1, "{heard:?}");
    }
    // And a true one that lies in the middle.
    let faults = vec![
        (0, Fault::TroubleEverywhere(Trouble::WrongBytesOnResume)),
        (0, Fault::Trouble(ATTIC, Trouble::CutAt(60_000))),
    ];
    let plays = vec![after(100, Play::whole(JOGA))];
    let outcome = play(&resumed(story(plays, faults)));
    assert_eq!(troubled(&outcome)[0].owners, [HOME, SHELF, ATTIC]);
}

#[test]
fn b1_listeners_who_return_together_send_one_probe() {
    let plays = vec![
        after(1_000, Play::whole(HUNTER)),
        after(66_000, Play::whole(HUNTER)),
    ];
    let faults = vec![
        (500, Fault::Trouble(HOME, Trouble::Status(500))),
        (2_000, Fault::Trouble(HOME, Trouble::SlowHead(3_000))),
    ];
    let outcome = play(&Scenario {
        listeners: vec![plays; 3],
        ..story(Vec::new(), faults)
    });
    let heard = troubled(&outcome);
    let last = heard[3].asked;
    let probes = outcome.calls.iter().filter(|call| {
        let phase = call.breakers[HOME].phase;
        call.source == HOME && call.began >= last && phase == Phase::HalfOpen
    });
    let in_trouble = probes.filter(|call| call.began <= outcome.healed);
    assert_eq!(in_trouble.count(), 1);
    assert!(heard.iter().all(|heard| status(heard) == Some(200)));
}

#[test]
fn f7_when_all_hang_the_listener_is_told_in_time() {
    // Three heads at five seconds each, and the connections: more than the whole opening may take.
    let hang = Fault::TroubleEverywhere(Trouble::HangBeforeHead);
    let plays = vec![after(100, Play::whole(HUNTER))];
    let outcome = play(&story(plays, vec![(0, hang)]));
    let heard = troubled(&outcome)[0];
    assert_eq!(status(heard), Some(502));
    let row = &outcome.activity[0];
    assert_eq!(row.status, OperationStatus::Failed);
    assert_eq!(row.attempts.len(), 3);
}

#[test]
fn a_paused_listener_is_not_a_dead_source() {
    let paused = with(Manner::Pausing(50_000, 120_000), Play::whole(HUNTER));
    let outcome = play(&story(vec![paused], Vec::new()));
    assert_eq!(troubled(&outcome)[0].ending, Ending::Clean);
}

#[test]
fn a_source_that_falls_silent_breaks_the_stream_within_its_idle_budget() {
    let faults = vec![(0, Fault::Trouble(HOME, Trouble::StallAt(50_000)))];
    let plays = vec![after(100, Play::whole(HUNTER))];
    let outcome = play(&story(plays, faults));
    let heard = troubled(&outcome)[0];
    assert_eq!(heard.ending, Ending::Broken(NetError::Truncated));
    let waited = heard.over.since(heard.asked).as_secs();
    assert!((30..32).contains(&waited), "{waited} s");
}
