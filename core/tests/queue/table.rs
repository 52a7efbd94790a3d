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
fn priorities_stand_in_their_order_and_somebody_waits_from_what_was_just_added_on() {
    let all = [
        (Priority::MISS, -100, false),
        (Priority::UPGRADE, -50, false),
        (Priority::SCAN, 0, false),
        (Priority::WEBHOOK, 10, true),
        (Priority::PLAYED, 20, true),
        (Priority::ASKED, 30, true),
    ];
    for (priority, number, is_urgent) in all {
        assert_eq!((priority.get(), priority.is_urgent()), (number, is_urgent));
        assert_eq!(Priority::new(i64::from(number)), priority);
    }
    assert_eq!(Priority::new(i64::MAX).get(), 100);
    assert_eq!(Priority::new(i64::MIN).get(), -100);
}

#[test]
fn words_in_tables_and_json_stay_what_they_are() {
    let answers = "found instrumental rejected miss open throttled transport lost cancelled";
    let outcomes = "lyrics instrumental rejected";
    assert_eq!(LaneAnswer::ALL.map(LaneAnswer::as_str).join(" "), answers);
    assert_eq!(Outcome::ALL.map(Outcome::as_str).join(" "), outcomes);
    for answer in LaneAnswer::ALL {
        assert_eq!(LaneAnswer::of(answer.as_str()), Some(answer));
        let is_word_of_outcome = Outcome::of(answer.as_str()).is_some();
        let certain = ["found", "miss"].contains(&answer.as_str()) || is_word_of_outcome;
        assert_eq!(answer.is_certain(), certain, "{answer:?}");
    }
    for outcome in Outcome::ALL {
        assert_eq!(Outcome::of(outcome.as_str()), Some(outcome));
    }
    assert_eq!((LaneAnswer::of(""), Outcome::of("")), (None, None));
}

#[test]
fn q7_remembered_answers_are_for_the_lanes_there_were() {
    let song = Song {
        title: "Song".to_owned(),
        artist: "Singer".to_owned(),
        ..Song::default()
    };
    let claim = Claim {
        ticket: Ticket {
            work_id: 1,
            epoch: 1,
        },
        identity: identify(&song).unwrap(),
        song,
        lease_until: Wall(0),
        priority: Priority::SCAN,
        attempts: 0,
        miss_count: 0,
        upgrades: 0,
        providers_version: 7,
        standing: Quality::None,
    };
    assert!(claim.may_read_cache(7));
    assert!(!claim.may_read_cache(8));
}

#[test]
fn what_failed_together_comes_back_spread_evenly_over_a_quarter_of_the_wait() {
    let ladders = Ladders::default();
    // The third failure: four minutes, and up to one less.
    let early = |seed| Duration::from_secs(240) - ladders.backoff(3, seed).unwrap();
    let mut tenths = [0_u32; 10];
    for seed in 0..10_000 {
        assert_ne!(early(seed), early(seed + 1), "seed {seed}");
        tenths[(early(seed).as_millis() / 6_000) as usize] += 1;
    }
    let is_even = |songs: &u32| (850..1_150).contains(songs);
    assert!(tenths.iter().all(is_even), "{tenths:?}");
}

#[test]
fn a_ladder_that_is_to_end_at_zero_never_ends() {
    let endless = Ladders {
        park_after: 0,
        retire_after: 0,
        ..Ladders::default()
    };
    for count in [0, 1, 100, u32::MAX] {
        assert!(endless.backoff(count, 7).is_some(), "{count} failures");
        assert!(endless.miss(count).is_some(), "{count} misses");
    }
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
    let live = Marker::of("Song (Live)", None);
    assert_eq!(Marker::stored(live.as_str().to_owned()), live);
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
