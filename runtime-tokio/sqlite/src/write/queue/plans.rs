//! How SQLite goes about the statements that run for every song: by an index, however many rows there are.

use super::claim::{CLAIM, RECLAIM};
use super::deliver::CLAIM_DELIVERY;
use super::enqueue::KNOWN;
use super::hand::UPGRADES;
use crate::read::gauge::TALLIES;
use crate::{Db, Writer};
use rusqlite::StatementStatus;
use segue_core::queue::Status;
use segue_core::time::Wall;

/// What SQLite says it will do.
fn plan(writer: &Writer, sql: &str) -> Vec<String> {
    let mut statement = writer
        .sql()
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
    let rows = statement.query_map(rusqlite::params_from_iter(nulls), |row| row.get(3));
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn what_runs_for_every_song_looks_rows_up_by_an_index() {
    let writer = Db::open_in_memory().unwrap().writer().unwrap();
    let first_due = crate::read::queue::first_due();
    for (sql, index) in [
        (CLAIM.as_str(), "work_queue_due"),
        (first_due.as_str(), "work_queue_due"),
        (RECLAIM.as_str(), "work_queue_leases"),
        (UPGRADES, "work_queue_upgrades"),
        (KNOWN, "sqlite_autoindex_work_queue_1"),
        (CLAIM_DELIVERY, "deliveries_due"),
    ] {
        let plan = plan(&writer, sql);
        let uses = plan.iter().any(|line| line.contains(index));
        // The levels of priority are a queue of their own, a row each.
        let scans = plan.iter().filter(|line| line.starts_with("SCAN"));
        let mut scans = scans.filter(|line| !line.contains("levels") && !line.contains("CONSTANT"));
        assert!(uses, "{sql}: {plan:?}");
        assert!(
            scans.all(|line| line.contains(index)),
            "{sql}: {plan:?} reads a whole table"
        );
        assert!(
            !plan.iter().any(|line| line.contains("TEMP B-TREE")),
            "{plan:?}"
        );
    }
}

/// `rows` songs, of which nine in ten are deferred into the future, and more urgent than those that are due.
fn a_queue_of(rows: u32) -> Writer {
    let writer = Db::open_in_memory().unwrap().writer().unwrap();
    let fill = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) \
         INSERT INTO work_queue (artist_key, title_key, variant, marker, song, status, priority, providers_version, \
         next_attempt_at, created_at, updated_at) SELECT 'a' || i % 100, 't' || i, 0, '', '{{\"title\":\"\",\"artist\":\"\",\
         \"artists\":[],\"isrcs\":[],\"copies\":[]}}', iif(i % 10, 'deferred', 'pending'), iif(i % 10, 20 + i % 3, -i % 4), 1, \
         iif(i % 10, 1000000 + i, i), 0, 0 FROM n"
    );
    writer.sql().execute_batch(&fill).unwrap();
    writer
}

/// The steps of SQLite's machine for one claim, and for the look at what is due next.
fn steps(rows: u32) -> (i32, i32) {
    let writer = a_queue_of(rows);
    let claim = writer.alone(|w| w.claim("w", Wall(500_000), Wall(600_000)));
    assert!(claim.unwrap().is_some());
    let sql = writer.sql();
    let mut statement = sql.prepare(&CLAIM).unwrap();
    let taken = statement.query_map(rusqlite::params![500_000, "w", 600_000], |row| row.get(0));
    let taken: Vec<i64> = taken.unwrap().collect::<Result<_, _>>().unwrap();
    assert_eq!(taken.len(), 1);
    let claim = statement.get_status(StatementStatus::VmStep);
    let mut statement = sql.prepare(&crate::read::queue::first_due()).unwrap();
    let due: i64 = statement.query_row([], |row| row.get(0)).unwrap();
    assert!(due < 500_000);
    (claim, statement.get_status(StatementStatus::VmStep))
}

#[test]
fn a_claim_takes_as_many_steps_among_fifty_thousand_rows_as_among_a_thousand() {
    let (few, many) = (steps(1_000), steps(50_000));
    assert_eq!(few, many, "steps of a claim, and of a look at the clock");
    assert!(few.0 < 2_000, "{few:?}");
}

#[test]
fn to_say_how_many_rows_stand_where_takes_as_many_steps_among_fifty_thousand_rows_as_among_a_thousand()
 {
    let steps = |rows: u32| {
        let writer = a_queue_of(rows);
        let counts = writer.reader().queue_counts().unwrap();
        let rows = u64::from(rows);
        assert_eq!(counts[0], (Status::Pending, rows / 10));
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), rows);
        let mut statement = writer.sql().prepare(TALLIES).unwrap();
        let read = statement.query_map(["songs"], |row| row.get(0));
        let read: Vec<String> = read.unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(read.len(), Status::ALL.len());
        statement.get_status(StatementStatus::VmStep)
    };
    assert_eq!(steps(1_000), steps(50_000));
}
