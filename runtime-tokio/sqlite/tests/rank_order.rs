//! R1: the comparator and SQLite put the same rows in the same order.

use proptest::prelude::*;
use rusqlite::{Connection, params};
use segue_core::rank::{RankKey, compare, order_by};

/// A row of `track_sources`, as far as the rank looks at it.
type Row = (bool, u32, u32, bool, String, String);

fn key(row: &Row) -> RankKey<'_> {
    let (preferred, format_rank, bit_rate, local, instance, remote_id) = row;
    RankKey {
        preferred: *preferred,
        format_rank: *format_rank,
        bit_rate: *bit_rate,
        local: *local,
        instance,
        remote_id,
    }
}

/// The rows in SQLite's order. `NOCASE` on the columns: the fragment must not depend on how a table declares them.
fn sorted_by_sqlite(rows: &[Row]) -> rusqlite::Result<Vec<Row>> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(
        "CREATE TABLE track_sources (preferred INTEGER, format_rank INTEGER, bit_rate INTEGER, local INTEGER,
         instance_id TEXT COLLATE NOCASE, remote_id TEXT COLLATE NOCASE)",
    )?;
    let mut insert = db.prepare("INSERT INTO track_sources VALUES (?, ?, ?, ?, ?, ?)")?;
    for (preferred, format_rank, bit_rate, local, instance, remote_id) in rows {
        insert.execute(params![
            preferred,
            format_rank,
            bit_rate,
            local,
            instance,
            remote_id
        ])?;
    }
    let mut select = db.prepare(&format!(
        "SELECT preferred, format_rank, bit_rate, local, instance_id, remote_id FROM track_sources AS ts ORDER BY {}",
        order_by("ts")
    ))?;
    select
        .query_map([], |r| {
            Ok((
                r.get(0)?,
                r.get(1)?,
                r.get(2)?,
                r.get(3)?,
                r.get(4)?,
                r.get(5)?,
            ))
        })?
        .collect()
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let text = prop_oneof![Just(String::new()), "[a-bA-B0-1é]{0,3}", any::<String>()];
    let number = prop_oneof![0..3u32, any::<u32>()];
    let row = (
        any::<bool>(),
        number.clone(),
        number,
        any::<bool>(),
        text.clone(),
        text,
    );
    prop::collection::vec(row, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn r1_sqlite_and_the_comparator_agree(rows in rows()) {
        let mut ours = rows.clone();
        ours.sort_by(|a, b| compare(&key(a), &key(b)));
        prop_assert_eq!(ours, sorted_by_sqlite(&rows).expect("SQLite sorts"));
    }
}
