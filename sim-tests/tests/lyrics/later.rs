//! Stories that go on when a song has its words: S21 to S24 of the list of scenarios.

use crate::stories::{detail, play, sidecars};
use segue_core::dispatch::Quality;
use segue_core::io::Place;
use segue_sim_tests::lyrics::scenario::{Answer, Fault, Knows, Scenario, Users, When};
use segue_sim_tests::lyrics::story::Outcome;
use segue_sqlite::DeliveryStatus;

use Knows::{Line, Plain};
use When::{AfterShelf, AfterWrite, BeforeShelf};

const LRC: &str = "Boats/Lantern Hill 0.lrc";
const TXT: &str = "Boats/Lantern Hill 0.txt";
const BY_HAND: &str = "edited by hand";

/// One song that lanes know so, and then these things, long after it has its words.
fn then(knows: &[Knows], faults: &[Fault]) -> Scenario {
    Scenario {
        faults: faults.iter().map(|f| (20_000, f.clone())).collect(),
        ..Scenario::quiet(knows)
    }
}

fn text(outcome: &Outcome, path: &str) -> String {
    let bytes = outcome.files.get(&Place::new("shelf", path));
    String::from_utf8_lossy(bytes.map_or(&[][..], |bytes| bytes)).into_owned()
}

fn counted(outcome: &Outcome, what: &str) -> u64 {
    outcome.counts.0.get(what).copied().unwrap_or(0)
}

#[test]
fn s21_a_sidecar_that_is_gone_comes_back_and_nobody_is_asked() {
    let noticed = [
        Fault::Pass,
        Fault::Stop(0, 500),
        Fault::Kill(0, When::Now, 500),
        Fault::PowerCut(3, 500),
    ];
    for noticed in noticed {
        for on_disk in [false, true] {
            let outcome = play(&Scenario {
                on_disk,
                ..then(&[Line], &[Fault::SidecarGone(0), noticed.clone()])
            });
            assert_eq!(counted(&outcome, "a sidecar was removed"), 1);
            assert_eq!(sidecars(&outcome), [LRC], "{noticed:?}");
            assert_eq!(outcome.calls.len(), 1, "{noticed:?}");
        }
    }
}

#[test]
fn s21_whoever_dies_while_it_comes_back() {
    for n in 0..12 {
        for when in [AfterWrite(n), BeforeShelf(n), AfterShelf(n)] {
            let mut scenario = then(&[Line], &[Fault::SidecarGone(0)]);
            scenario.faults.push((100, Fault::Kill(0, when, 200)));
            scenario.faults.push((0, Fault::Pass));
            let outcome = play(&scenario);
            assert_eq!(sidecars(&outcome), [LRC], "{when:?}");
            assert_eq!(outcome.calls.len(), 1, "{when:?}");
        }
    }
}

#[test]
fn s22_what_somebody_edited_stays_whatever_comes() {
    let better = [
        Fault::SidecarEdited(0),
        Fault::Pass,
        Fault::Learns(0, 0, Line),
        Fault::Days(15),
        Fault::Pass,
    ];
    let outcome = play(&then(&[Plain], &better));
    assert_eq!(detail(&outcome).row.quality, Quality::Line);
    assert_eq!(sidecars(&outcome), [LRC, TXT], "ours beside his");
    assert_eq!(text(&outcome, TXT), BY_HAND);

    let outcome = play(&then(&[Line], &[Fault::SidecarEdited(0), Fault::Pass]));
    assert_eq!(sidecars(&outcome), [LRC]);
    assert_eq!(text(&outcome, LRC), BY_HAND);
}

/// Before the song is put in, and then at every moment of its delivery.
#[test]
fn s22_what_somebody_writes_at_any_moment_stays() {
    let mut seen = [false; 2];
    for after in 0..60 {
        let outcome = play(&Scenario {
            faults: vec![(100 + 4 * after, Fault::SidecarEdited(0))],
            ..Scenario::quiet(&[Line])
        });
        assert_eq!(text(&outcome, LRC), BY_HAND, "{after}");
        let parcel = &outcome.look.parcels[0];
        seen[usize::from(parcel.status == DeliveryStatus::Delivered)] = true;
    }
    assert_eq!(seen, [true; 2], "before it is delivered, and after");
}

#[test]
fn s22_a_file_that_was_there_before_stays_when_better_words_come() {
    for users in [Users::Lrc, Users::Txt] {
        let mut scenario = then(&[Plain], &[Fault::Learns(0, 0, Line), Fault::Days(15)]);
        scenario.songs[0].users = Some(users);
        let outcome = play(&scenario);
        let (his, all) = match users {
            Users::Lrc => (LRC, vec![LRC]),
            Users::Txt => (TXT, vec![LRC, TXT]),
        };
        assert_eq!(text(&outcome, his), "my own words of Lantern Hill");
        assert_eq!(sidecars(&outcome), all);
    }
}

#[test]
fn s23_plain_words_that_come_later_replace_no_timed_ones() {
    let outcome = play(&then(
        &[Line, Line],
        &[
            Fault::Learns(0, 0, Plain),
            Fault::Learns(0, 1, Plain),
            Fault::Days(15),
        ],
    ));
    assert_eq!(counted(&outcome, "kept what it had"), 1);
    assert_eq!(detail(&outcome).row.quality, Quality::Line);
    assert_eq!(sidecars(&outcome), [LRC]);
    assert!(text(&outcome, LRC).contains("[00:10.00]"));
}

#[test]
fn s24_a_later_search_that_finds_timed_words_replaces_plain_ones() {
    for learner in [0, 1] {
        let faults = [Fault::Learns(0, learner, Line), Fault::Days(15)];
        let outcome = play(&then(&[Plain, Plain], &faults));
        assert_eq!(counted(&outcome, "found something better"), 1);
        assert_eq!(sidecars(&outcome), [LRC]);
        let lane = ["first", "second"][learner];
        assert!(text(&outcome, LRC).contains(lane), "{lane}");
    }
}

/// The plain file goes and the timed one comes; never is there both of ours, nor neither when all is well (S1).
#[test]
fn s24_whoever_dies_while_it_is_replaced() {
    let better = [Fault::Learns(0, 0, Line), Fault::Days(15)];
    for n in 0..14 {
        for when in [AfterWrite(n), BeforeShelf(n), AfterShelf(n)] {
            let mut scenario = then(&[Plain], &better[..1]);
            scenario.faults.push((100, Fault::Kill(0, when, 200)));
            scenario.faults.push((0, better[1].clone()));
            assert_eq!(sidecars(&play(&scenario)), [LRC], "{when:?}");
        }
    }
    for n in 0..14 {
        let mut scenario = then(&[Plain], &better);
        scenario
            .faults
            .push((15_000 + 40 * n, Fault::PowerCut(n, 100)));
        assert_eq!(sidecars(&play(&scenario)), [LRC], "{n}");
    }
}

#[test]
fn after_years_every_song_has_the_best_that_anybody_knows() {
    for race_wait in [None, Some(500)] {
        let mut scenario = Scenario {
            race_wait,
            later: 90,
            ..Scenario::quiet(&[Plain, Line, Plain])
        };
        scenario.lanes[1] = vec![Answer::After(4_000)];
        let outcome = play(&scenario);
        assert_eq!(outcome.answered[0].quality, Quality::Plain);
        assert_eq!(detail(&outcome).row.quality, Quality::Line);
    }
}
