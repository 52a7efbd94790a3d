//! `stream_operations`: one row per operation, ended once (contracts 3.10).

mod common;

use common::a_database;
use segue_core::catalog::model::SourceKind;
use segue_core::time::Wall;
use segue_sqlite::{AttemptRow, OperationStatus, StreamOperation};

fn an_operation(started: i64) -> StreamOperation {
    StreamOperation {
        id: 0,
        track_id: "tr1".into(),
        track_title: "One".into(),
        artist_name: "Ada".into(),
        user: "alice".into(),
        client: "test".into(),
        source_id: Some("home".into()),
        source_kind: Some(SourceKind::Subsonic),
        attempts: attempts(0),
        started_at: Wall(started),
        ended_at: None,
        status: OperationStatus::Active,
        bytes: 0,
        format: Some("flac".into()),
        bit_rate: Some(900),
        transcoded: false,
        range_start: Some(100),
        error: None,
    }
}

fn attempts(bytes: u64) -> Vec<AttemptRow> {
    vec![
        AttemptRow {
            source_id: "away".into(),
            outcome: "connection refused".into(),
            ms: 3,
            bytes: 0,
        },
        AttemptRow {
            source_id: "home".into(),
            outcome: "ok".into(),
            ms: 12,
            bytes,
        },
    ]
}

#[test]
fn an_operation_ends_exactly_once() {
    let shelf = a_database();
    let id = shelf.change(|w| w.open_operation(&an_operation(10)));
    assert_eq!(shelf.reader.active_operations().unwrap().len(), 1);

    let close = |status, bytes| {
        shelf.change(|w| w.close_operation(id, Wall(20), status, bytes, &attempts(bytes), None))
    };
    assert!(close(OperationStatus::Completed, 5_000));
    assert!(!close(OperationStatus::ClientGone, 1));

    let expected = StreamOperation {
        id,
        ended_at: Some(Wall(20)),
        status: OperationStatus::Completed,
        bytes: 5_000,
        attempts: attempts(5_000),
        ..an_operation(10)
    };
    assert_eq!(shelf.reader.activity(10).unwrap(), [expected]);
    assert_eq!(shelf.reader.active_operations().unwrap(), []);
}

#[test]
fn a_failed_opening_leaves_its_attempts() {
    let shelf = a_database();
    let failed = StreamOperation {
        source_id: None,
        source_kind: None,
        format: None,
        bit_rate: None,
        ended_at: Some(Wall(11)),
        status: OperationStatus::Failed,
        error: Some("no reachable source".into()),
        ..an_operation(10)
    };
    let id = shelf.change(|w| w.open_operation(&failed));
    assert_eq!(
        shelf.reader.activity(1).unwrap(),
        [StreamOperation { id, ..failed }]
    );
}

#[test]
fn an_operation_is_active_exactly_as_long_as_it_has_no_end() {
    let shelf = a_database();
    let mut wrong = an_operation(10);
    wrong.ended_at = Some(Wall(11));
    assert!(shelf.writer.alone(|w| w.open_operation(&wrong)).is_err());
    wrong = an_operation(10);
    wrong.status = OperationStatus::Failed;
    assert!(shelf.writer.alone(|w| w.open_operation(&wrong)).is_err());
    let id = shelf.change(|w| w.open_operation(&an_operation(10)));
    let never = shelf
        .writer
        .alone(|w| w.close_operation(id, Wall(11), OperationStatus::Active, 0, &[], None));
    assert!(never.is_err());
}

#[test]
fn what_a_crash_left_active_is_interrupted_at_the_next_start() {
    let shelf = a_database();
    let first = shelf.change(|w| w.open_operation(&an_operation(10)));
    let second = shelf.change(|w| w.open_operation(&an_operation(90)));
    shelf.change(|w| w.close_operation(first, Wall(12), OperationStatus::Completed, 1, &[], None));
    // The wall clock may have stepped back meanwhile: an operation does not end before it began.
    assert_eq!(shelf.change(|w| w.close_orphans(Wall(50))), 1);
    let rows = shelf.reader.activity(10).unwrap();
    assert_eq!(
        (rows[0].id, rows[0].status, rows[0].ended_at),
        (second, OperationStatus::Interrupted, Some(Wall(90)))
    );
    assert_eq!(
        (rows[1].id, rows[1].status),
        (first, OperationStatus::Completed)
    );
    assert_eq!(shelf.change(|w| w.close_orphans(Wall(60))), 0);
    let late = shelf
        .change(|w| w.close_operation(second, Wall(70), OperationStatus::Completed, 9, &[], None));
    assert!(!late);
}

#[test]
fn activity_is_newest_first_and_pruning_keeps_the_latest_and_the_active() {
    let shelf = a_database();
    let mut ids = Vec::new();
    for started in 0..10 {
        let id = shelf.change(|w| w.open_operation(&an_operation(started)));
        if started != 2 {
            shelf.change(|w| {
                w.close_operation(id, Wall(99), OperationStatus::Completed, 0, &[], None)
            });
        }
        ids.push(id);
    }
    assert_eq!(shelf.change(|w| w.prune_operations(4)), 5);
    let left: Vec<i64> = shelf
        .reader
        .activity(100)
        .unwrap()
        .iter()
        .map(|row| row.id)
        .collect();
    assert_eq!(left, [ids[9], ids[8], ids[7], ids[6], ids[2]]);
    assert_eq!(shelf.reader.activity(2).unwrap().len(), 2);
    assert_eq!(shelf.change(|w| w.prune_operations(4)), 0);
}

#[test]
fn an_operation_is_written_as_the_api_promises() {
    let json = serde_json::to_value(an_operation(10)).unwrap();
    for field in [
        "id",
        "track_id",
        "user",
        "client",
        "source_id",
        "source_kind",
        "attempts",
        "started_at",
        "ended_at",
        "status",
        "bytes",
        "format",
        "bit_rate",
        "error",
    ] {
        assert!(json.get(field).is_some(), "{field}");
    }
    assert_eq!(json["status"], "active");
    assert_eq!(json["source_kind"], "subsonic");
    assert_eq!(json["attempts"][0]["source_id"], "away");
    assert_eq!(
        serde_json::to_value(OperationStatus::ClientGone).unwrap(),
        "client_gone"
    );
}
