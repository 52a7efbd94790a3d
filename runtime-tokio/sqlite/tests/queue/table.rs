//! Q8: every call on a row in every status, through the API.

use crate::kit::{DAY, Kit, is_stale, request, track, words};
use segue_core::io::StoreError;
use segue_core::queue::{Call, Priority, Quality, Status, Ticket};
use segue_core::time::Wall;
use segue_sqlite::{Error, Result, Which};

const NOW: Wall = Wall(10 * DAY);

/// A queue with one row in this status, and the ticket of its last claim.
fn standing(status: Status) -> (Kit, Ticket) {
    let kit = Kit::new();
    kit.enqueue(&request("A", "B", &[track("tr1")]), 0);
    let done = segue_core::queue::Completion {
        upgrade_after: Some(Wall(5)),
        ..words("la", Quality::Plain)
    };
    let ticket = kit.claim(0).unwrap().ticket;
    kit.change(|w| match status {
        Status::Pending => w.release(ticket, Wall(1), None, &[], Wall(1)),
        Status::Processing => Ok(()),
        Status::Done => w.complete(ticket, &done, Wall(1)).map(|_| ()),
        Status::Failed => w.fail(ticket, Some(Wall(2)), "x", &[], Wall(1)),
        Status::Deferred => w.defer(ticket, Some(Wall(2)), "x", &[], Wall(1)),
        Status::Parked => w.fail(ticket, None, "x", &[], Wall(1)),
        Status::Retired => w.defer(ticket, None, "x", &[], Wall(1)),
    })
    .unwrap();
    assert_eq!(kit.status(ticket.work_id), status.as_str());
    (kit, ticket)
}

/// Makes the call; whether it found a row to move.
fn make(kit: &Kit, call: Call, ticket: Ticket, again: bool) -> bool {
    let one = Which::One(ticket.work_id);
    let at = again.then_some(Wall(NOW.0 + 1));
    let named = |outcome: Result<()>| match outcome {
        Ok(()) => true,
        Err(Error::Store(StoreError::Conflict(why))) => {
            assert!(why.contains("row 1 is "), "{why}");
            false
        }
        Err(other) => panic!("{other}"),
    };
    match call {
        Call::Claim => {
            let claim = kit.change(|w| w.claim("w", NOW, Wall(NOW.0 + 1)));
            claim.unwrap().is_some()
        }
        Call::Heartbeat => !is_stale(kit.change(|w| w.heartbeat(ticket, NOW))),
        Call::Complete => !is_stale(kit.complete(ticket, NOW.0)),
        Call::Keep => match kit.change(|w| w.keep(ticket, None, &[], NOW)) {
            Err(Error::Store(StoreError::Conflict(_))) => false,
            other => !is_stale(other),
        },
        Call::Release => !is_stale(kit.change(|w| w.release(ticket, NOW, None, &[], NOW))),
        Call::Fail => !is_stale(kit.change(|w| w.fail(ticket, at, "x", &[], NOW))),
        Call::Defer => !is_stale(kit.change(|w| w.defer(ticket, at, "x", &[], NOW))),
        Call::Reclaim => !kit.change(|w| w.reclaim(NOW)).unwrap().is_empty(),
        Call::TakeBack => named(kit.change(|w| w.take_back(ticket.work_id, NOW))),
        Call::Retry => named(kit.change(|w| w.retry(&one, 1, NOW)).map(|_| ())),
        Call::Recheck => named(kit.change(|w| w.recheck(&one, 1, NOW)).map(|_| ())),
        Call::Upgrade => kit.change(|w| w.upgrade_due(NOW, 9)).unwrap() > 0,
        Call::Redo => named(kit.change(|w| w.redo(ticket.work_id, NOW))),
    }
}

#[test]
fn q8_no_call_moves_a_row_but_along_the_table() {
    for status in Status::ALL {
        for call in Call::ALL {
            for again in [true, false] {
                let (kit, ticket) = standing(status);
                let before = kit.reader.queue_show(ticket.work_id).unwrap();
                let moved = make(&kit, call, ticket, again);
                let after = kit.reader.queue_show(ticket.work_id).unwrap().unwrap();
                let story = format!("{call:?} of a row that is {status:?}");
                // Of a song that has no answer there is nothing to keep.
                let may = call.may_leave(status) && call != Call::Keep;
                assert_eq!(moved, may, "{story}");
                match moved {
                    true => assert!(call.leads(status).contains(&after.row.status), "{story}"),
                    false => assert_eq!(Some(after), before, "{story}"),
                }
            }
        }
    }
}

#[test]
fn q8_the_database_itself_refuses_rows_that_contradict_themselves() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    let writer = segue_sqlite::Db::open(&path).unwrap().writer().unwrap();
    writer
        .alone(|w| w.enqueue(&request("A", "B", &[]), 1, Wall(0)))
        .unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    for change in [
        "status = 'lost'",
        "status = 'processing', next_attempt_at = NULL",
        "status = 'processing', lease_until = 1",
        "status = 'done', next_attempt_at = NULL",
        "status = 'parked'",
        "next_attempt_at = NULL",
        "upgrade_after = 1",
        "priority = 101",
        "artist_key = ''",
    ] {
        let refused = raw.execute(&format!("UPDATE work_queue SET {change}"), []);
        assert!(refused.is_err(), "{change}");
    }
}

#[test]
fn q7_the_stamp_is_written_on_insert_only_and_others_do_not_read_the_cache() {
    let kit = Kit::new();
    kit.enqueue(&request("A", "B", &[track("tr1")]), 0);
    kit.complete(kit.claim(0).unwrap().ticket, 1).unwrap();
    assert_eq!(kit.change(|w| w.clear(Status::Done, 9)).unwrap(), 1);
    assert!(
        kit.reader.lyrics_of_track("tr1").unwrap().is_none(),
        "there is no such track"
    );

    // The song is put in anew, by a worker with lanes 7, and again by one with lanes 9.
    kit.enqueue(&request("A", "B", &[track("tr1")]), 2);
    let again = request("A", "B", &[track("tr2")]);
    kit.change(|w| w.enqueue(&again, 9, Wall(3))).unwrap();
    let claim = kit.claim(4).unwrap();
    assert_eq!(claim.providers_version, 7);
    let cached = kit.reader.cached(&claim, 7).unwrap().unwrap();
    assert_eq!(
        (cached.body.as_str(), cached.quality),
        ("\"la\"", Quality::Line)
    );
    assert_eq!(kit.reader.cached(&claim, 9).unwrap(), None);
}

#[test]
fn q6_releasing_counts_nothing_however_often() {
    let kit = Kit::new();
    let work_id = kit.enqueue(&request("A", "B", &[]), 0);
    for now in 0..50 {
        let ticket = kit.claim(now).unwrap().ticket;
        let change = |w: &segue_sqlite::Writer| {
            w.release(ticket, Wall(now + 1), Some("throttled"), &[], Wall(now))
        };
        kit.change(change).unwrap();
    }
    let row = kit.reader.queue_show(work_id).unwrap().unwrap().row;
    assert_eq!(
        (row.attempts, row.miss_count, row.status),
        (0, 0, Status::Pending)
    );
    assert_eq!(
        (row.claim_epoch, row.reason.as_deref()),
        (50, Some("throttled"))
    );
}

#[test]
fn a_failure_that_was_waited_out_and_a_play_make_it_due_but_a_miss_is_not_asked_sooner() {
    let kit = Kit::new();
    let failed = kit.enqueue(&request("A", "failed", &[]), 0);
    let missed = kit.enqueue(&request("A", "missed", &[]), 1);
    let one = kit.claim(1).unwrap().ticket;
    let two = kit.claim(1).unwrap().ticket;
    kit.change(|w| w.fail(one, Some(Wall(DAY)), "timed out", &[], Wall(1)))
        .unwrap();
    kit.change(|w| w.defer(two, Some(Wall(DAY)), "nobody has it", &[], Wall(1)))
        .unwrap();
    for row in [failed, missed] {
        assert!(
            kit.change(|w| w.prioritise(row, Priority::PLAYED, Wall(2)))
                .unwrap()
        );
        assert!(
            !kit.change(|w| w.prioritise(row, Priority::SCAN, Wall(2)))
                .unwrap()
        );
    }
    assert_eq!(kit.claim(2).unwrap().ticket.work_id, failed);
    assert_eq!(kit.claim(2), None);
    assert_eq!(kit.claim(DAY).unwrap().ticket.work_id, missed);
}
