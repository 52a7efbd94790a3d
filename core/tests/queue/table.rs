//! Single cases that people can read.

use segue_core::Tick;
use segue_core::breaker::{Bank, Policy};
use segue_core::dispatch::{
    AbortReason, Budgets, Class, Dispatch, Effect, Failure, Heard, Input, Known, Lane, LanePlan,
    Mode, Plan, Resolution, Verdict,
};
use segue_core::lyrics::Song;
use segue_core::queue::*;
use segue_core::time::Wall;
use std::time::Duration;

const NOW: Moment = Moment {
    tick: Tick::ZERO,
    wall: Wall(1_000),
};

fn named(lane: Lane) -> Option<(String, Option<String>)> {
    Some((format!("lane{}", lane.0), None))
}

#[test]
fn markers_come_from_titles_and_albums() {
    let marker = |title: &str, album: Option<&str>| Marker::of(title, album).as_str().to_owned();
    assert_eq!(marker("Song", None), "");
    assert_eq!(marker("Song (Live)", None), "live");
    assert_eq!(marker("Song - Acoustic Remix", None), "acoustic+remix");
    assert_eq!(marker("Song", Some("Live at Wembley")), "live");
    assert_eq!(
        marker("Song", Some("MTV Unplugged in New York")),
        "acoustic"
    );
    assert_eq!(
        marker("Song (2009 Remaster)", Some("Live Through This")),
        ""
    );
    assert_eq!(marker("Live and Let Die", None), "");
}

#[test]
fn a_song_that_is_three_seconds_longer_is_the_same_and_any_longer_another() {
    let row = |number, seconds: Option<u64>| Variant {
        number,
        marker: Marker::default(),
        duration_ms: seconds.map(|s| s * 1_000),
    };
    let song = |ms: Option<u64>| {
        let song = Song {
            artist: "A".into(),
            title: "B".into(),
            duration_ms: ms,
            ..Song::default()
        };
        identify(&song).unwrap()
    };
    let rows = [row(0, Some(200)), row(1, Some(205))];
    assert_eq!(choose(&rows, &song(Some(203_000))), Choice::Join(1));
    assert_eq!(choose(&rows, &song(Some(197_000))), Choice::Join(0));
    assert_eq!(choose(&rows, &song(Some(196_999))), Choice::New(2));
    assert_eq!(choose(&rows, &song(None)), Choice::Join(0));
    assert_eq!(choose(&rows, &song(Some(0))), Choice::Join(0), "no length");
    let unknown = [row(0, None), row(1, Some(205))];
    assert_eq!(choose(&unknown, &song(Some(100_000))), Choice::Join(0));
    assert_eq!(choose(&unknown, &song(Some(206_000))), Choice::Join(1));
}

#[test]
fn q7_the_version_is_one_of_a_set_and_changes_with_it() {
    let version = providers_version(&["local", "lrclib"]);
    assert_eq!(version, providers_version(&["LRCLIB", "local", "lrclib"]));
    assert_ne!(version, providers_version(&["local"]));
    assert!(version > 0 && version <= 0x7fff_ffff);
}

#[test]
fn q6_a_throttled_lane_keeps_a_song_from_being_a_miss_and_the_other_is_not_asked_again() {
    let (now, mut bank) = (Tick::ZERO, Bank::new());
    let [mine, other] = [Lane(1), Lane(2)];
    bank.register(mine, Policy::provider());
    bank.register(other, Policy::provider());
    let plan = |known: Option<Known>| Plan {
        lanes: [(mine, None), (other, known)]
            .map(|(lane, known)| LanePlan {
                lane,
                budgets: Budgets::whole(Duration::from_secs(9)),
                known,
            })
            .to_vec(),
        mode: Mode::Ordered,
        deadline: None,
        last_resort: None,
        accept_within: None,
    };
    let mut machine: Dispatch<()> = Dispatch::start(plan(None), now, &mut bank);
    let retry_after = Some(Duration::from_secs(120));
    let mut settled = None;
    while let Some(effect) = machine.poll_effect() {
        match effect {
            Effect::Call { call, lane } if lane == mine => machine.handle(
                Input::Answered {
                    call,
                    verdict: Verdict::Failed(Failure::Throttled { retry_after }),
                },
                now,
                &mut bank,
            ),
            Effect::Call { call, .. } => machine.handle(
                Input::Answered {
                    call,
                    verdict: Verdict::Miss,
                },
                now,
                &mut bank,
            ),
            Effect::Settle(resolution) => settled = Some(resolution),
            Effect::Abort { .. } => panic!("nothing is aborted"),
        }
    }
    let step = decide(settled.unwrap(), Quality::None, |_| None, NOW);
    let due = Wall(1_000 + 120_000);
    assert_eq!(step, Step::Release { retry_at: due });
    let week = Ladders::default().miss(1).unwrap();
    let ledger = entries(machine.heard(), named, week, NOW);
    let said: Vec<_> = ledger.iter().map(|e| (e.answer, e.retry_at)).collect();
    assert_eq!(
        said,
        [(LaneAnswer::Throttled, Some(due)), (LaneAnswer::Miss, None)]
    );
    // When it is due, only the lane that has not answered is asked, and its miss makes it certain.
    let believed = known(&ledger[1], due);
    assert_eq!(
        (known(&ledger[0], due), believed),
        (None, Some(Known::Miss))
    );
    let later = Tick::from_millis(120_000);
    let mut machine: Dispatch<()> = Dispatch::start(plan(believed), later, &mut bank);
    let Some(Effect::Call { call, lane }) = machine.poll_effect() else {
        panic!("nobody is asked")
    };
    assert_eq!(lane, mine);
    let verdict = Verdict::Miss;
    machine.handle(Input::Answered { call, verdict }, later, &mut bank);
    assert_eq!(
        machine.poll_effect(),
        Some(Effect::Settle(Resolution::Miss))
    );
}

#[test]
fn every_way_a_lane_can_end_is_in_the_ledger() {
    let at = Tick::from_millis(7);
    let heard = [
        Heard::Waiting,
        Heard::Known(Known::Miss),
        Heard::Open { until: at },
        Heard::Suitable(Quality::Line),
        Heard::Unsuitable(Quality::Instrumental),
        Heard::Unsuitable(Quality::None),
        Heard::Failed {
            class: Class::Transport,
            retry_at: Some(at),
        },
        Heard::Discarded,
        Heard::GivenUp(AbortReason::LostRace),
        Heard::GivenUp(AbortReason::Deadline),
    ];
    let lanes = (0..).map(Lane).zip(heard);
    let found = entries(lanes, named, Duration::from_millis(50), NOW);
    let said: Vec<_> = found.iter().map(|e| (e.lane.as_str(), e.answer)).collect();
    assert_eq!(
        said,
        [
            ("lane2", LaneAnswer::Open),
            ("lane3", LaneAnswer::Found),
            ("lane4", LaneAnswer::Instrumental),
            ("lane5", LaneAnswer::Rejected),
            ("lane6", LaneAnswer::Transport),
            ("lane7", LaneAnswer::Cancelled),
            ("lane8", LaneAnswer::Lost),
            ("lane9", LaneAnswer::Transport),
        ]
    );
    for entry in &found {
        let is_no = matches!(
            entry.answer,
            LaneAnswer::Instrumental | LaneAnswer::Rejected
        );
        assert_eq!(entry.valid_until, is_no.then_some(Wall(1_050)), "{entry:?}");
    }
    assert_eq!(found[0].retry_at, Some(Wall(1_007)));
}

#[test]
fn what_is_due_in_the_middle_of_a_millisecond_is_not_due_before() {
    let at = Tick::from_nanos(1_500_001);
    assert_eq!(NOW.wall_at(at), Wall(1_002));
    assert_eq!(NOW.wall_at(Tick::ZERO), Wall(1_000));
}
