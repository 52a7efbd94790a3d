//! What a pass over a source may do to its rows (product.md section 4).

mod common;

use common::{a_database, a_pass};
use segue_core::time::Wall;
use segue_sqlite::DropGuard;

fn numbers(report: &segue_sqlite::PassReport) -> [u64; 4] {
    [
        report.added,
        report.updated,
        report.removed,
        report.unchanged,
    ]
}

#[test]
fn only_rows_that_differ_are_written() {
    let shelf = a_database().with_sources(&["home"]);
    let first = shelf.change(|w| w.apply_pass("home", a_pass(0..30), Wall(10), DropGuard::Refuse));
    assert_eq!(numbers(&first), [30, 0, 0, 0]);
    assert_eq!((first.albums.added, first.artists.added), (3, 1));

    let mut next = a_pass(2..31);
    next.tracks[0].title = "Retitled".into();
    let second = shelf.change(|w| w.apply_pass("home", next.clone(), Wall(20), DropGuard::Refuse));

    assert_eq!(numbers(&second), [1, 1, 2, 27]);
    assert_eq!(
        shelf.reader.previous_pass("home").unwrap().tracks,
        next.tracks
    );
    let row = shelf.reader.instance("home").unwrap().unwrap();
    assert_eq!((row.track_count, row.online), (29, true));
    assert_eq!(
        (row.last_seen, row.last_sync),
        (Some(Wall(20)), Some(Wall(20)))
    );
}

#[test]
fn an_incomplete_pass_removes_nothing() {
    let shelf = a_database().with_sources(&["home"]);
    shelf.change(|w| w.apply_pass("home", a_pass(0..30), Wall(10), DropGuard::Refuse));
    let mut part = a_pass(28..33);
    part.complete = false;
    let report = shelf.change(|w| w.apply_pass("home", part, Wall(20), DropGuard::Allow));
    assert_eq!(numbers(&report), [3, 0, 0, 30]);
    assert_eq!((report.held_back, report.albums.removed), (None, 0));
    let row = shelf.reader.instance("home").unwrap().unwrap();
    assert_eq!(row.track_count, 33);
    assert_eq!(
        (row.last_seen, row.last_sync),
        (Some(Wall(20)), Some(Wall(10)))
    );
}

#[test]
fn an_empty_pass_wipes_nothing() {
    let shelf = a_database().with_sources(&["home"]);
    shelf.change(|w| w.apply_pass("home", a_pass(0..30), Wall(10), DropGuard::Refuse));
    let report = shelf.change(|w| w.apply_pass("home", a_pass(0..0), Wall(20), DropGuard::Refuse));
    assert_eq!(numbers(&report), [0, 0, 0, 30]);
    assert!(report.held_back.is_some());
}

#[test]
fn a_drop_of_more_than_half_waits_for_the_operators_word() {
    let shelf = a_database().with_sources(&["home"]);
    shelf.change(|w| w.apply_pass("home", a_pass(0..30), Wall(10), DropGuard::Refuse));

    let held = shelf.change(|w| w.apply_pass("home", a_pass(0..14), Wall(20), DropGuard::Refuse));
    assert_eq!(numbers(&held), [0, 0, 0, 30]);
    let sentence = held.held_back.unwrap();
    assert!(
        sentence.contains("14") && sentence.contains("30"),
        "{sentence}"
    );
    assert_eq!(
        held.albums.removed, 0,
        "albums of the missing tracks stay as well"
    );
    let row = shelf.reader.instance("home").unwrap().unwrap();
    assert_eq!(row.last_error, Some(sentence));

    let half = shelf.change(|w| w.apply_pass("home", a_pass(0..15), Wall(30), DropGuard::Refuse));
    assert_eq!(numbers(&half), [0, 0, 15, 15], "half is not more than half");

    let allowed = shelf.change(|w| w.apply_pass("home", a_pass(0..3), Wall(40), DropGuard::Allow));
    assert_eq!(numbers(&allowed), [0, 0, 12, 3]);
    let row = shelf.reader.instance("home").unwrap().unwrap();
    assert_eq!((row.track_count, row.last_error), (3, None));
}

#[test]
fn a_source_that_renumbered_its_tracks_lost_none() {
    let shelf = a_database().with_sources(&["home"]);
    shelf.change(|w| w.apply_pass("home", a_pass(0..30), Wall(10), DropGuard::Refuse));
    let report =
        shelf.change(|w| w.apply_pass("home", a_pass(1000..1030), Wall(20), DropGuard::Refuse));
    assert_eq!(numbers(&report), [30, 0, 30, 0]);
    assert_eq!(report.held_back, None);
}

#[test]
fn a_track_listed_twice_is_one_track() {
    let shelf = a_database().with_sources(&["home"]);
    let mut twice = a_pass(0..10);
    let again = twice.tracks.clone();
    twice.tracks.extend(again);
    let report = shelf.change(|w| w.apply_pass("home", twice, Wall(10), DropGuard::Refuse));
    assert_eq!(numbers(&report), [10, 0, 0, 0]);
    let fewer = shelf.change(|w| {
        let mut twice = a_pass(0..4);
        let again = twice.tracks.clone();
        twice.tracks.extend(again);
        w.apply_pass("home", twice, Wall(20), DropGuard::Refuse)
    });
    assert!(
        fewer.held_back.is_some(),
        "a repeated row does not hide a drop"
    );
}

#[test]
fn sources_do_not_touch_each_others_rows() {
    let shelf = a_database().with_sources(&["home", "away"]);
    shelf.change(|w| w.apply_pass("home", a_pass(0..10), Wall(10), DropGuard::Refuse));
    shelf.change(|w| w.apply_pass("away", a_pass(5..25), Wall(10), DropGuard::Refuse));
    shelf.change(|w| w.apply_pass("away", a_pass(5..20), Wall(20), DropGuard::Refuse));
    let input = shelf.reader.snapshot(|r| r.merge_input()).unwrap();
    let of = |id: &str| input.tracks.iter().filter(|row| row.instance == id).count();
    assert_eq!((of("home"), of("away")), (10, 15));
    let locals: Vec<_> = input
        .instances
        .iter()
        .map(|row| (row.id.as_str(), row.local))
        .collect();
    assert_eq!(locals, [("away", false), ("home", true)]);
}

#[test]
fn an_unknown_source_is_a_conflict() {
    let shelf = a_database();
    let error = shelf
        .reader
        .plan_pass("nobody", a_pass(0..1), Wall(1), DropGuard::Refuse)
        .unwrap_err();
    assert!(error.to_string().contains("nobody"));
    let outcome = shelf
        .writer
        .alone(|w| w.mark_instance("nobody", true, Wall(1), None));
    assert!(outcome.is_err());
}

#[test]
fn an_offline_source_keeps_its_rows_and_its_number_is_never_given_out_again() {
    let shelf = a_database().with_sources(&["home", "away"]);
    shelf.change(|w| w.apply_pass("away", a_pass(0..10), Wall(10), DropGuard::Refuse));
    shelf.change(|w| w.mark_instance("away", false, Wall(20), Some("connection refused")));
    let row = shelf.reader.instance("away").unwrap().unwrap();
    assert_eq!(
        (row.online, row.last_seen, row.track_count),
        (false, Some(Wall(10)), 10)
    );
    assert_eq!(row.last_error.as_deref(), Some("connection refused"));

    let number = row.folder_number;
    assert_eq!(
        shelf.change(|w| w.upsert_instance(&common::a_source("away", true))),
        number
    );
    assert!(shelf.change(|w| w.remove_instance("away")));
    assert!(!shelf.change(|w| w.remove_instance("away")));
    assert_eq!(shelf.reader.previous_pass("away").unwrap().tracks, []);
    assert!(shelf.change(|w| w.upsert_instance(&common::a_source("away", true))) > number);
}
