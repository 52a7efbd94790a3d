//! The queue and the library: sweeps, aliases, tags that change, retention.

use crate::common::{Shelf, a_database, a_song, merged, track_id};
use crate::kit::{DAY, document, words};
use segue_core::catalog::model::{Alias, Merged};
use segue_core::queue::{Completion, LaneAnswer, LaneEntry, Priority, Quality, Status, Ticket};
use segue_core::time::Wall;
use segue_sqlite::{EnqueueReport, LaneStateRow, Reader, Result, Retention, Which};

impl Shelf {
    fn read<T>(&self, question: impl FnOnce(&Reader) -> Result<T>) -> T {
        self.reader.snapshot(question).unwrap()
    }
}

fn a_library() -> Shelf {
    let shelf = a_database().with_sources(&["home"]);
    let songs = [
        a_song("Joga", "Bjork", "Homogenic"),
        a_song("Hunter", "Bjork", "Homogenic"),
        a_song("Joga", "Bjork", "Greatest Hits"),
        a_song("Untitled", "[Unknown Artist]", "Odds"),
    ];
    shelf.change(|w| w.apply_merge(merged(&songs), Wall(1)));
    shelf
}

/// Puts in what is not in the queue yet, two at a time.
fn sweep(shelf: &Shelf, now: i64) -> EnqueueReport {
    let (mut after, mut sum) = (0, EnqueueReport::default());
    loop {
        let page = shelf.read(|r| r.tracks_without_lyrics(after, 2, &[]));
        let told = shelf.change(|w| w.enqueue_many(&page.requests, 7, Wall(now)));
        sum.new += told.new;
        sum.joined += told.joined;
        sum.refused += told.refused;
        match page.next {
            Some(next) => after = next,
            None => return sum,
        }
    }
}

fn answer(shelf: &Shelf, text: &str, now: i64) -> Option<Ticket> {
    let claim = shelf.change(|w| w.claim("w", Wall(now), Wall(now + 9)))?;
    shelf.change(|w| w.complete(claim.ticket, &words(text, Quality::Line), Wall(now)));
    Some(claim.ticket)
}

#[test]
fn every_track_is_put_in_once_and_two_albums_share_one_row() {
    let shelf = a_library();
    let report = sweep(&shelf, 5);
    let expected = EnqueueReport {
        new: 2,
        joined: 1,
        refused: 1,
    };
    assert_eq!(report, expected);
    assert_eq!(sweep(&shelf, 6), EnqueueReport::default());
    let refused = shelf.read(|r| r.refused_targets(0, 9));
    assert_eq!(
        refused[0].reason.as_deref(),
        Some("the track names no artist")
    );

    let joga = track_id("Joga", "Greatest Hits");
    assert!(shelf.change(|w| w.prioritise_track(&joga, Priority::PLAYED, Wall(6))));
    answer(&shelf, "joga", 7).unwrap();
    for album in ["Homogenic", "Greatest Hits"] {
        let lyrics = shelf.read(|r| r.lyrics_of_track(&track_id("Joga", album)));
        assert_eq!(lyrics.unwrap().body, "\"joga\"");
    }
    let hunter = track_id("Hunter", "Homogenic");
    assert_eq!(shelf.read(|r| r.lyrics_of_track(&hunter)), None);
    let row = shelf.read(|r| r.work_of_track(&hunter)).unwrap();
    assert_eq!(
        (row.status, row.song.title.as_str()),
        (Status::Pending, "Hunter")
    );
    let copies = shelf.read(|r| r.copies_of_work(row.work_id));
    assert_eq!(copies[0].instance_id, "home");
    assert!(shelf.change(|w| w.prioritise_track(&hunter, Priority::PLAYED, Wall(8))));
    assert_eq!(
        shelf.read(|r| r.queue_next(1))[0].priority,
        Priority::PLAYED
    );
}

#[test]
fn lyrics_follow_a_track_that_got_another_id() {
    let shelf = a_library();
    sweep(&shelf, 5);
    while answer(&shelf, "la", 6).is_some() {}
    let songs = [
        a_song("Joga", "Bjork", "Homogenic Deluxe"),
        a_song("Hunter", "Bjork", "Homogenic"),
    ];
    let (old, new) = (
        track_id("Joga", "Homogenic"),
        track_id("Joga", "Homogenic Deluxe"),
    );
    let aliases = vec![Alias {
        old_id: old.clone(),
        new_id: new.clone(),
    }];
    let moved = Merged {
        aliases,
        ..merged(&songs)
    };
    shelf.change(|w| w.apply_merge(moved, Wall(7)));
    for id in [&old, &new] {
        let lyrics = shelf.read(|r| r.lyrics_of_track(id));
        assert_eq!(lyrics.unwrap().body, "\"la\"", "{id}");
    }
    assert_eq!(sweep(&shelf, 8), EnqueueReport::default());
    let request = shelf
        .read(|r| r.request_for(&old, &[], Priority::ASKED))
        .unwrap();
    assert_eq!(request.targets[0].track_id, new);
}

#[test]
fn a_track_whose_tags_change_leaves_the_words_of_the_other_song_behind() {
    let shelf = a_library();
    sweep(&shelf, 5);
    while answer(&shelf, "la", 6).is_some() {}
    let mut changed = merged(&[a_song("Hunter", "Bjork", "Homogenic")]);
    changed.library.tracks[0].title = "The Hunter".into();
    shelf.change(|w| w.apply_merge(changed, Wall(7)));
    let report = sweep(&shelf, 8);
    assert_eq!((report.new, report.joined), (1, 0));
    let hunter = track_id("Hunter", "Homogenic");
    assert_eq!(shelf.read(|r| r.lyrics_of_track(&hunter)), None);
    answer(&shelf, "the hunter", 9).unwrap();
    let lyrics = shelf.read(|r| r.lyrics_of_track(&hunter)).unwrap();
    assert_eq!(lyrics.body, "\"the hunter\"");
}

#[test]
fn what_nobody_needs_goes_and_nothing_else() {
    let shelf = a_library();
    sweep(&shelf, 5);
    while answer(&shelf, "la", 6).is_some() {}
    let keep = Retention::default();
    assert!(
        shelf
            .read(|r| r.discardable(keep, Wall(1_000 * DAY), 99))
            .len()
            < 4,
        "only the cache is old"
    );
    let homogenic = [a_song("Hunter", "Bjork", "Homogenic")];
    shelf.change(|w| w.apply_merge(merged(&homogenic), Wall(7)));
    // First the targets, then the rows without one, then what is remembered of them, then the documents.
    let mut rounds = 0;
    while let rows = shelf.read(|r| r.discardable(keep, Wall(2_000 * DAY), 99))
        && !rows.is_empty()
    {
        assert!(shelf.change(|w| w.discard(&rows)) > 0);
        rounds += 1;
        assert!(rounds < 9);
    }
    let left: u64 = shelf
        .read(|r| r.queue_counts())
        .iter()
        .map(|(_, n)| n)
        .sum();
    assert_eq!(left, 1);
    let hunter = track_id("Hunter", "Homogenic");
    assert!(shelf.read(|r| r.lyrics_of_track(&hunter)).is_some());
    assert!(
        shelf
            .read(|r| r.document(&document("la", Quality::Line).id))
            .is_some()
    );
}

#[test]
fn cleared_rows_leave_answers_where_they_are_and_the_rest_comes_back() {
    let shelf = a_library();
    sweep(&shelf, 5);
    let joga = track_id("Joga", "Homogenic");
    shelf.change(|w| w.prioritise_track(&joga, Priority::ASKED, Wall(6)));
    answer(&shelf, "la", 6).unwrap();
    assert_eq!(shelf.change(|w| w.clear(Status::Done, 9)), 1);
    assert_eq!(shelf.change(|w| w.clear(Status::Pending, 9)), 1);
    assert!(shelf.read(|r| r.lyrics_of_track(&joga)).is_some());
    assert_eq!(sweep(&shelf, 7).new, 1);
}

#[test]
fn a_new_lane_is_asked_for_all_that_the_others_do_not_have() {
    let shelf = a_library();
    sweep(&shelf, 5);
    let said = |lane: &str| LaneEntry {
        lane: lane.into(),
        answer: LaneAnswer::Miss,
        reason: Some("not found".into()),
        at: Wall(6),
        valid_until: Some(Wall(7 * DAY)),
        retry_at: None,
    };
    let answers = [said("local"), said("lrclib")];

    for _ in 0..2 {
        let ticket = shelf
            .change(|w| w.claim("w", Wall(6), Wall(9)))
            .unwrap()
            .ticket;
        let week = Some(Wall(7 * DAY));
        shelf.change(|w| w.defer(ticket, week, "nobody has it", &answers, Wall(6)));
    }
    let lacking = |lane: &str| Which::NotAskedOf(lane.to_owned());
    assert_eq!(
        shelf.change(|w| w.recheck(&lacking("lrclib"), 99, Wall(7))),
        0
    );
    assert_eq!(
        shelf.change(|w| w.recheck(&lacking("petitlyrics"), 1, Wall(7))),
        1
    );
    assert_eq!(
        shelf.change(|w| w.recheck(&lacking("petitlyrics"), 99, Wall(7))),
        1
    );
    let row = shelf.read(|r| r.queue_next(9))[0].clone();
    assert_eq!((row.status, row.miss_count), (Status::Pending, 1));
    // What the others said is as good as new.
    let ledger = shelf.read(|r| r.ledger_of(row.work_id));
    let believed = answers.map(|entry| LaneEntry {
        valid_until: Some(Wall(7 + 7 * DAY)),
        ..entry
    });
    assert_eq!(ledger, believed);

    // Whoever rechecks by hand wants all lanes asked.
    let ticket = shelf
        .change(|w| w.claim("w", Wall(8), Wall(9)))
        .unwrap()
        .ticket;
    shelf.change(|w| w.defer(ticket, None, "nobody has it", &[], Wall(8)));
    let one = Which::One(ticket.work_id);
    assert_eq!(shelf.change(|w| w.recheck(&one, 1, Wall(8))), 1);
    let ledger = shelf.read(|r| r.ledger_of(ticket.work_id));
    assert!(ledger.iter().all(|entry| entry.valid_until.is_none()));
    assert_eq!(
        shelf
            .read(|r| r.queue_show(ticket.work_id))
            .unwrap()
            .row
            .miss_count,
        0
    );
}

#[test]
fn a_lane_is_found_again_as_it_was_stored() {
    let shelf = a_database();
    let state = LaneStateRow {
        lane: "lrclib".into(),
        breaker: segue_core::breaker::Persisted {
            trips: 2,
            transient_run: 0,
            ever_succeeded: true,
            open_until: Some(Wall(99)),
            retry_after: std::time::Duration::from_secs(3),
            saved_at: Wall(7),
        },
        next_call_at: Some(Wall(12)),
        note: Some("asked us to wait".into()),
        saved_at: Wall(7),
    };
    shelf.change(|w| w.put_lane_state(&state));
    let later = LaneStateRow {
        saved_at: Wall(8),
        ..state
    };
    shelf.change(|w| w.put_lane_state(&later));
    assert_eq!(shelf.read(|r| r.lanes()), [later]);
}

#[test]
fn a_new_lane_is_asked_for_better_words_and_those_who_answered_are_not() {
    let shelf = a_library();
    sweep(&shelf, 5);
    let said = |lane: &str, answer: LaneAnswer| LaneEntry {
        lane: lane.into(),
        answer,
        reason: None,
        at: Wall(6),
        valid_until: None,
        retry_at: None,
    };
    let mut rows = Vec::new();
    for quality in [Quality::Plain, Quality::Word] {
        let claim = shelf.change(|w| w.claim("w", Wall(6), Wall(9))).unwrap();
        let answer = Completion {
            answers: vec![
                said("local", LaneAnswer::Miss),
                said("lrclib", LaneAnswer::Found),
            ],
            ..words("la", quality)
        };
        shelf.change(|w| w.complete(claim.ticket, &answer, Wall(6)));
        rows.push(claim.ticket.work_id);
    }
    let ask = |lane: &str, after: i64| shelf.change(|w| w.upgrade_for(lane, after, 9, Wall(7)));
    assert_eq!(ask("lrclib", 0), [0_i64; 0], "it was asked");
    assert_eq!(ask("petitlyrics", rows[0]), [0_i64; 0], "it is behind that");
    assert_eq!(ask("petitlyrics", 0), [rows[0]]);
    let ledger = shelf.read(|r| r.ledger_of(rows[0]));
    let told: Vec<_> = ledger.iter().map(|e| (e.answer, e.valid_until)).collect();
    let week = Some(Wall(7 + 7 * DAY));
    assert_eq!(
        told,
        [(LaneAnswer::Miss, week), (LaneAnswer::Rejected, week)]
    );
    assert_eq!(shelf.change(|w| w.upgrade_due(Wall(7), 9)), 1);
    let claim = shelf.change(|w| w.claim("w", Wall(7), Wall(9))).unwrap();
    assert_eq!(
        (claim.ticket.work_id, claim.standing),
        (rows[0], Quality::Plain)
    );
}
