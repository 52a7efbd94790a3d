//! Stories that are written out, each for one point: S1 to S20 of the list of scenarios, as far as a whole world can tell.

use segue_core::dispatch::Quality;
use segue_core::queue::{LaneAnswer, Outcome as Found, Status};
use segue_sim_tests::lyrics::scenario::{Answer, Fault, Knows, Put, Scenario, Tune, When};
use segue_sim_tests::lyrics::story::Outcome;
use segue_sim_tests::replay::verify;
use segue_sim_tests::scenario::Snag;
use segue_sqlite::QueueDetail;

use Knows::{Instrumental, Line, Nothing, Plain};

/// Plays a scenario; whatever is broken ends the test.
pub(crate) fn play(scenario: &Scenario) -> Outcome {
    verify(scenario).unwrap_or_else(|report| panic!("\n{report}"))
}

fn with(knows: &[Knows], lanes: &[&[Answer]]) -> Scenario {
    Scenario {
        lanes: lanes.iter().map(|answers| answers.to_vec()).collect(),
        ..Scenario::quiet(knows)
    }
}

pub(crate) fn detail(outcome: &Outcome) -> &QueueDetail {
    &outcome.details[0]
}

fn calls(outcome: &Outcome, lane: usize) -> usize {
    outcome
        .calls
        .iter()
        .filter(|call| call.lane == lane)
        .count()
}

fn said(outcome: &Outcome, lane: &str) -> Option<LaneAnswer> {
    let answers = &detail(outcome).answers;
    let entry = answers.iter().find(|entry| entry.lane == lane)?;
    Some(entry.answer)
}

pub(crate) fn sidecars(outcome: &Outcome) -> Vec<&str> {
    let paths = outcome.files.keys().map(|at| at.path.as_str());
    paths.filter(|path| !path.ends_with(".flac")).collect()
}

#[test]
fn s1_a_hit_of_the_first_lane_is_one_call_in_all() {
    let outcome = play(&Scenario::quiet(&[Line, Line]));
    assert_eq!(outcome.calls.len(), 1);
    assert_eq!(sidecars(&outcome), ["Boats/Lantern Hill 0.lrc"]);
}

#[test]
fn s2_after_a_miss_the_second_lane_is_asked() {
    let outcome = play(&Scenario::quiet(&[Nothing, Plain]));
    assert_eq!(detail(&outcome).row.lane.as_deref(), Some("musixmatch"));
    assert_eq!(sidecars(&outcome), ["Boats/Lantern Hill 0.txt"]);
}

#[test]
fn s3_what_no_lane_has_waits_for_a_week() {
    let outcome = play(&Scenario::quiet(&[Nothing, Nothing]));
    let row = &detail(&outcome).row;
    let wait = row
        .next_attempt_at
        .map(|at| at.millis_since(row.updated_at));
    assert_eq!(wait, Some(7 * 86_400_000));
}

#[test]
fn s4_an_open_lane_is_no_miss_and_the_other_is_not_asked_again() {
    let bad = [Answer::Status(500); 3];
    let scenario = Scenario {
        songs: vec![
            Tune {
                knows: vec![Nothing, Nothing],
                files: 0,
                users: None
            };
            3
        ],
        puts: (0..3).map(|song| (0, Put { song, times: 1 })).collect(),
        ..with(&[Nothing, Nothing], &[&bad, &[]])
    };
    let outcome = play(&scenario);
    assert!(
        outcome
            .details
            .iter()
            .all(|d| d.row.status == Status::Deferred)
    );
    assert_eq!(calls(&outcome, 1), 3, "each song asks it once");
}

#[test]
fn s5_an_instrumental_is_not_final_before_the_lane_that_asked_us_to_wait_has_answered() {
    let scenario = with(&[Line, Instrumental], &[&[Answer::SlowDown(120)], &[]]);
    let outcome = play(&scenario);
    let row = &detail(&outcome).row;
    assert_eq!((row.outcome, row.attempts), (Some(Found::Lyrics), 0));
    assert_eq!(calls(&outcome, 1), 1);
    let [before, after] = [0, 1].map(|n| {
        outcome
            .calls
            .iter()
            .filter(|c| c.lane == 0)
            .nth(n)
            .expect("two")
            .began
    });
    assert!(after.since(before).as_secs() >= 120);
}

#[test]
fn s6_each_way_to_fail_is_of_its_own_class() {
    let cases = [
        (Answer::SlowDown(30), 0),
        (Answer::Status(403), 0),
        (Answer::Garbage, 1),
        (Answer::CutShort, 1),
        (Answer::Status(502), 1),
    ];
    for (answer, failures) in cases {
        let outcome = play(&with(&[Nothing, Nothing], &[&[], &[answer]]));
        let failed = outcome.counts.0.get("failed").copied().unwrap_or(0);
        assert_eq!(failed, failures, "{answer:?}");
        assert_eq!(
            said(&outcome, "musixmatch"),
            Some(LaneAnswer::Miss),
            "{answer:?}"
        );
    }
}

#[test]
fn s7_while_all_are_open_nobody_is_called_and_nothing_is_counted() {
    let wait = [Answer::SlowDown(40)];
    let outcome = play(&with(&[Plain, Plain], &[&wait, &wait]));
    assert_eq!(outcome.counts.0.get("failed"), None);
    assert!(outcome.calls.len() >= 4);
    let again = outcome.calls[2].began;
    assert!(again.since(outcome.calls[1].began).as_secs() >= 38);
}

#[test]
fn s8_a_failure_and_a_miss_are_a_failure_in_either_order() {
    for lanes in [
        [&[Answer::Status(500)][..], &[]],
        [&[], &[Answer::Status(500)][..]],
    ] {
        let outcome = play(&with(&[Nothing, Nothing], &lanes));
        assert_eq!(outcome.counts.0.get("failed"), Some(&1));
        assert_eq!(detail(&outcome).row.status, Status::Deferred, "in the end");
    }
}

fn race(knows: &[Knows], lanes: &[&[Answer]]) -> Outcome {
    play(&Scenario {
        race_wait: Some(2_000),
        ..with(knows, lanes)
    })
}

#[test]
fn s9_better_words_within_the_window_win() {
    let outcome = race(&[Line, Plain], &[&[Answer::After(1_200)], &[]]);
    assert_eq!(detail(&outcome).row.quality, Quality::Line);
}

#[test]
fn s10_better_words_after_the_window_do_not() {
    let outcome = race(&[Line, Plain], &[&[Answer::After(4_000)], &[]]);
    assert_eq!(detail(&outcome).row.quality, Quality::Plain);
    let answered = &outcome.answered[0];
    let took = answered.at.since(answered.claimed).as_millis();
    assert!((2_000..2_200).contains(&took), "{took}");
}

#[test]
fn s11_a_tie_is_decided_in_the_same_way_each_time() {
    let lanes = || {
        race(
            &[Line, Line],
            &[&[Answer::After(500)], &[Answer::After(500)]],
        )
    };
    assert_eq!(lanes().fingerprint, lanes().fingerprint);
}

#[test]
fn s12_of_two_plain_answers_one_is_kept_and_the_window_does_not_begin_anew() {
    let knows = [Plain, Plain, Line];
    let outcome = race(
        &knows,
        &[
            &[Answer::After(700), Answer::After(700)],
            &[],
            &[Answer::Hang],
        ],
    );
    assert_eq!(detail(&outcome).row.quality, Quality::Plain);
}

#[test]
fn s13_who_is_told_to_stop_gives_the_song_back_uncounted() {
    for after in [0, 5, 60, 150, 400] {
        let outcome = play(&Scenario {
            faults: vec![(100 + after, Fault::Stop(0, 500))],
            ..with(&[Plain], &[&[Answer::After(300), Answer::After(300)]])
        });
        assert_eq!(outcome.counts.0.get("failed"), None);
        assert!(outcome.details[0].row.claim_epoch <= 2);
    }
}

#[test]
fn s14_a_loser_that_never_answers_is_let_go() {
    let outcome = race(&[Line, Line], &[&[], &[Answer::Hang]]);
    assert_eq!(said(&outcome, "musixmatch"), Some(LaneAnswer::Lost));
}

#[test]
fn s15_whatever_a_lane_sends_it_fails_alone() {
    let bad = [
        Answer::Garbage,
        Answer::Oversized,
        Answer::Reset,
        Answer::CutShort,
        Answer::Elsewhere,
        Answer::Hang,
    ];
    for answer in bad {
        let outcome = play(&with(&[Line, Plain], &[&[answer], &[]]));
        assert_eq!(
            detail(&outcome).row.lane.as_deref(),
            Some("musixmatch"),
            "{answer:?}"
        );
    }
}

#[test]
fn s15_whoever_panics_at_an_answer_takes_nobody_with_him() {
    for snag in [Snag::Head, Snag::Body(1)] {
        for race_wait in [None, Some(2_000)] {
            let outcome = play(&Scenario {
                race_wait,
                faults: vec![(0, Fault::Panic(0, snag))],
                ..with(&[Line, Plain], &[&[], &[]])
            });
            assert_eq!(detail(&outcome).row.lane.as_deref(), Some("musixmatch"));
            assert_eq!(said(&outcome, "lrclib"), Some(LaneAnswer::Transport));
            assert_eq!(detail(&outcome).row.claim_epoch, 1, "nobody died of it");
        }
    }
}

/// Three processes, many songs, and one of them is always dying.
#[test]
fn s16_one_success_of_each_claim_however_many_die() {
    let kill = |n: u64| {
        let when = if n.is_multiple_of(2) {
            When::Await(n * 9)
        } else {
            When::AfterWrite(n % 5)
        };
        (700, Fault::Kill((n % 3) as usize, when, 300))
    };
    for seed in 0..5 {
        play(&Scenario {
            seed,
            processes: 3,
            workers: 2,
            lease: 2_000,
            songs: vec![
                Tune {
                    knows: vec![Nothing, Plain],
                    files: 2,
                    users: None
                };
                6
            ],
            puts: (0..6).map(|song| (50, Put { song, times: 3 })).collect(),
            faults: (0..8).map(kill).collect(),
            ..Scenario::quiet(&[Nothing, Plain])
        });
    }
}

/// One process dies at each write and each step in turn; after what is stored no lane is asked again (S4).
#[test]
fn s17_a_crash_at_each_write_and_each_step_converges() {
    for on_disk in [false, true] {
        for n in 0..9 {
            for when in [
                When::BeforeWrite(n),
                When::AfterWrite(n),
                When::BeforeShelf(n),
                When::AfterShelf(n),
            ] {
                play(&Scenario {
                    on_disk,
                    lease: 2_000,
                    faults: vec![(0, Fault::Kill(0, when, 200))],
                    ..Scenario::quiet(&[Line])
                });
            }
        }
    }
    for n in 0..12 {
        play(&Scenario {
            on_disk: true,
            lease: 2_000,
            faults: vec![(80, Fault::PowerCutAtChange(4 * n))],
            ..Scenario::quiet(&[Line])
        });
        play(&Scenario {
            lease: 2_000,
            faults: vec![(130 + 10 * n, Fault::PowerCut(n, 100))],
            ..Scenario::quiet(&[Line])
        });
    }
}

#[test]
fn s18_who_comes_late_changes_nothing() {
    let outcome = play(&Scenario {
        processes: 2,
        lease: 2_000,
        faults: vec![(300, Fault::Freeze(0, 30_000)), (1, Fault::Freeze(1, 10))],
        ..with(&[Line], &[&[Answer::After(1_000)]])
    });
    assert_eq!(outcome.answered.len(), 1);
    assert_eq!(detail(&outcome).row.claim_epoch, 2);
}

#[test]
fn s19_a_hundred_who_put_one_song_in_make_one_row_and_one_dispatch() {
    let outcome = play(&Scenario {
        processes: 3,
        puts: vec![(
            100,
            Put {
                song: 0,
                times: 100,
            },
        )],
        ..Scenario::quiet(&[Line])
    });
    assert_eq!((outcome.details.len(), outcome.calls.len()), (1, 1));
}

#[test]
fn s20_two_files_of_one_song_both_have_their_sidecar() {
    let outcome = play(&Scenario {
        songs: vec![Tune {
            knows: vec![Line],
            files: 2,
            users: None,
        }],
        puts: vec![(100, Put { song: 0, times: 2 })],
        ..Scenario::quiet(&[Line])
    });
    assert_eq!(
        sidecars(&outcome),
        ["Boats/Lantern Hill 0.lrc", "Boats/Lantern Hill 1.lrc"]
    );
}

/// Found by random stories: the intent was forgotten, and what lay there taken for somebody else's.
#[test]
fn a_folder_that_is_full_for_a_moment_loses_no_intent() {
    for after in 0..20 {
        play(&Scenario {
            faults: vec![(120 + 4 * after, Fault::FolderFull(500))],
            ..Scenario::quiet(&[Line])
        });
    }
}

#[test]
fn after_an_outage_songs_wait_for_the_probe_and_not_for_its_deadline() {
    let songs = 20;
    let scenario = Scenario {
        workers: 4,
        songs: vec![
            Tune {
                knows: vec![Line],
                files: 0,
                users: None
            };
            songs
        ],
        puts: (0..songs).map(|song| (0, Put { song, times: 1 })).collect(),
        ..with(&[Line], &[&[Answer::SlowDown(120), Answer::After(3_000)]])
    };
    let outcome = play(&scenario);
    let done = |d: &QueueDetail| d.row.status == Status::Done && d.row.attempts == 0;
    assert!(outcome.details.iter().all(done));
    assert_eq!(outcome.calls.len(), songs + 1, "nobody asks in vain");
    let began: Vec<_> = outcome.calls.iter().map(|call| call.began).collect();
    let since = |call: usize, other: usize| began[call].since(began[other]).as_millis();
    assert!(since(1, 0) >= 120_000);
    assert!(since(2, 1) >= 3_000, "b1: one probe");
    // Three seconds of probe, two until the next look, and twenty spacings: not the minute that a probe may take.
    assert!(since(songs, 1) <= 11_000, "{} ms", since(songs, 1));
}
