//! The life of a row, from the first enqueue to the answer and beyond.

use crate::kit::{DAY, Kit, MINUTE, file, is_stale, request, track, words};
use segue_core::queue::{LOST_WORKERS, Priority, Quality, Status};
use segue_core::time::Wall;
use segue_sqlite::{Enqueued, TargetStatus, Which};

#[test]
fn a_song_goes_through_the_queue_to_its_tracks_and_files() {
    let kit = Kit::new();
    let wanted = [track("tr1"), file("tr1", "A/1.flac")];
    let work_id = kit.enqueue(&request("Björk", "Jóga", &wanted), 0);
    assert_eq!(kit.reader.wakeup().unwrap().claim, Some(Wall(0)));

    let claim = kit.claim(5).expect("it is due");
    assert_eq!((claim.ticket.work_id, claim.ticket.epoch), (work_id, 1));
    assert_eq!(
        (claim.song.title.as_str(), claim.providers_version),
        ("Jóga", 7)
    );
    assert_eq!(kit.claim(5), None);
    assert_eq!(kit.reader.wakeup().unwrap().lease, Some(Wall(5 + MINUTE)));

    let done = kit.complete(claim.ticket, 9).unwrap();
    assert_eq!((done.targets, done.deliveries), (2, 1));
    let detail = kit.reader.queue_show(work_id).unwrap().unwrap();
    assert_eq!(detail.row.status, Status::Done);
    assert_eq!(detail.row.completed_at, Some(Wall(9)));
    assert!(
        detail
            .targets
            .iter()
            .all(|t| t.status == TargetStatus::Done)
    );
    assert_eq!(kit.reader.pending_deliveries(9).unwrap().len(), 1);
    assert_eq!(
        kit.reader
            .document(&detail.document_id.unwrap())
            .unwrap()
            .unwrap(),
        "\"la\""
    );
}

#[test]
fn what_is_done_is_given_to_a_new_target_at_once() {
    let kit = Kit::new();
    let work_id = kit.enqueue(&request("Björk", "Jóga", &[track("tr1")]), 0);
    let claim = kit.claim(0).unwrap();
    kit.complete(claim.ticket, 1).unwrap();
    let again = request("BJÖRK", "joga", &[track("tr1"), file("tr2", "B/2.flac")]);
    let outcome = kit.change(|w| w.enqueue(&again, 8, Wall(2))).unwrap();
    let expected = Enqueued::Joined {
        work_id,
        status: Status::Done,
        linked: 1,
        answered: 1,
    };
    assert_eq!(outcome, expected);
    assert_eq!(
        kit.reader.pending_deliveries(9).unwrap()[0].file.path,
        "B/2.flac"
    );
    assert_eq!(kit.claim(DAY), None, "nobody is asked again");
}

#[test]
fn the_most_urgent_comes_first_and_then_who_waited_longest() {
    let kit = Kit::new();
    let late = kit.enqueue(&request("A", "late", &[]), 20);
    let early = kit.enqueue(&request("A", "early", &[]), 10);
    let urgent = kit.enqueue(
        &segue_core::queue::Request {
            priority: Priority::WEBHOOK,
            ..request("A", "urgent", &[])
        },
        30,
    );
    let future = kit.enqueue(&request("A", "later", &[]), 1_000);
    kit.change(|w| w.prioritise(future, Priority::MISS, Wall(0)))
        .unwrap();
    let taken: Vec<i64> = std::iter::from_fn(|| kit.claim(50))
        .map(|claim| claim.ticket.work_id)
        .collect();
    assert_eq!(taken, [urgent, early, late]);
    assert_eq!(kit.reader.wakeup().unwrap().claim, Some(Wall(1_000)));
}

#[test]
fn a_better_answer_replaces_a_worse_one_and_never_the_other_way_round() {
    let kit = Kit::new();
    let work_id = kit.enqueue(&request("A", "B", &[track("tr1")]), 0);
    let first = segue_core::queue::Completion {
        upgrade_after: Some(Wall(DAY)),
        ..words("plain", Quality::Plain)
    };
    let ticket = kit.claim(0).unwrap().ticket;
    kit.change(|w| w.complete(ticket, &first, Wall(1))).unwrap();
    assert_eq!(kit.reader.wakeup().unwrap().upgrade, Some(Wall(DAY)));
    assert_eq!(kit.change(|w| w.upgrade_due(Wall(DAY - 1), 9)).unwrap(), 0);
    assert_eq!(kit.change(|w| w.upgrade_due(Wall(DAY), 9)).unwrap(), 1);

    let again = kit.claim(DAY).unwrap();
    assert_eq!(
        (again.standing, again.priority),
        (Quality::Plain, Priority::UPGRADE)
    );
    kit.change(|w| w.complete(again.ticket, &words("line", Quality::Line), Wall(DAY)))
        .unwrap();
    kit.change(|w| w.redo(work_id, Wall(DAY))).unwrap();
    let ticket = kit.claim(DAY).unwrap().ticket;
    kit.change(|w| w.keep(ticket, None, &[], Wall(DAY)))
        .unwrap();
    let row = kit.reader.queue_show(work_id).unwrap().unwrap();
    assert_eq!(
        kit.reader
            .document(&row.document_id.unwrap())
            .unwrap()
            .unwrap(),
        "\"line\""
    );
}

#[test]
fn a_late_owner_matches_no_row() {
    let kit = Kit::new();
    let work_id = kit.enqueue(&request("A", "B", &[]), 0);
    let late = kit.claim(0).unwrap().ticket;
    assert_eq!(kit.change(|w| w.reclaim(Wall(MINUTE))).unwrap().len(), 0);
    assert_eq!(
        kit.change(|w| w.reclaim(Wall(MINUTE + 1))).unwrap(),
        [work_id]
    );
    assert!(is_stale(kit.complete(late, MINUTE + 2)));
    let owner = kit.claim(MINUTE + 2).unwrap().ticket;
    assert!(is_stale(kit.complete(late, MINUTE + 3)));
    assert!(is_stale(kit.change(|w| w.heartbeat(late, Wall(DAY)))));
    assert!(is_stale(kit.change(|w| w.release(
        late,
        Wall(0),
        None,
        &[],
        Wall(0)
    ))));
    assert!(is_stale(kit.change(|w| w.fail(
        late,
        None,
        "x",
        &[],
        Wall(0)
    ))));
    assert!(is_stale(kit.change(|w| w.defer(
        late,
        None,
        "x",
        &[],
        Wall(0)
    ))));
    assert!(is_stale(kit.change(|w| w.keep(late, None, &[], Wall(0)))));
    kit.complete(owner, MINUTE + 4).unwrap();
    assert!(is_stale(kit.complete(owner, MINUTE + 5)), "once is enough");
    assert_eq!(kit.status(work_id), "done");
}

#[test]
fn a_song_that_kills_its_workers_is_parked_and_one_that_came_back_in_between_is_not() {
    let kit = Kit::new();
    let id = kit.enqueue(&request("A", "B", &[track("tr1")]), 0);
    let mut now = 0;
    let mut die = |times: u32| {
        for _ in 0..times {
            assert!(kit.claim(now).is_some());
            now += MINUTE + 1;
            assert_eq!(kit.change(|w| w.reclaim(Wall(now))).unwrap(), [id]);
        }
        now
    };
    let at = die(LOST_WORKERS - 1);
    assert_eq!(kit.status(id), "pending");
    let ticket = kit.claim(at).unwrap().ticket;
    kit.change(|w| w.release(ticket, Wall(at), None, &[], Wall(at)))
        .unwrap();
    die(LOST_WORKERS - 1);
    assert_eq!(kit.status(id), "pending", "one came back in between");
    let at = die(1);
    let row = kit.reader.queue_show(id).unwrap().unwrap().row;
    assert_eq!(
        (row.status, row.reason.as_deref(), row.attempts),
        (Status::Parked, Some("its worker died 5 times on it"), 0)
    );
    assert!(kit.claim(at).is_none());
    let one = Which::One(id);
    kit.change(|w| w.retry(&one, 1, Wall(at))).unwrap();
    die(LOST_WORKERS - 1);
    assert_eq!(kit.status(id), "pending", "it begins anew");
}
