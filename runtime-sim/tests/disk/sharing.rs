//! Several connections to one database in WAL mode.

use crate::life::{a_disk, a_user, contents, plain};
use segue_core::time::Wall;
use segue_runtime_sim::disk::{Disk, Geometry};
use segue_sqlite::Error;

#[test]
fn a_writer_and_two_readers_share_a_database() {
    let disk = a_disk(Geometry::COMMON);
    let db = disk.database().unwrap();
    let (first, second) = (db.reader().unwrap(), db.reader().unwrap());
    let writer = db.writer().unwrap();
    let add = |n| writer.alone(|w| w.add_user(&a_user(n), Wall(1))).unwrap();
    let count = |r: &segue_sqlite::Reader| r.users().map(|users| users.len());
    add(1);
    let seen = first.snapshot(|early| {
        let before = count(early)?;
        add(2);
        let late = second.snapshot(count)?;
        add(3);
        // The early one's snapshot keeps the log from being emptied under it.
        writer.checkpoint()?;
        Ok::<_, Error>((before, late, count(early)?))
    });
    assert_eq!(seen.unwrap(), (1, 2, 1));
    assert_eq!((count(&first).unwrap(), count(&second).unwrap()), (3, 3));
    assert!(!disk.files()["segue.db-wal"].is_empty());
    writer.checkpoint().unwrap();
    assert!(disk.files()["segue.db-wal"].is_empty());
    assert_eq!(disk.open_files(), 6, "three connections, each with its log");
    drop((writer, first, second, db));
    assert_eq!(disk.open_files(), 0);
    assert_eq!(disk.files().keys().collect::<Vec<_>>(), ["segue.db"]);
    assert_eq!(
        disk.database()
            .unwrap()
            .reader()
            .unwrap()
            .users()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_second_writer_is_told_that_the_database_is_busy_and_time_does_not_pass() {
    let disk = a_disk(Geometry::COMMON);
    let db = disk.database().unwrap();
    let (one, other) = (db.writer().unwrap(), db.writer().unwrap());
    let outcome = one.group(|group| {
        group.member(|w| w.add_user(&a_user(1), Wall(1))).unwrap();
        other.alone(|w| w.add_user(&a_user(2), Wall(1)))
    });
    let refused = outcome.unwrap().unwrap_err();
    assert_eq!(refused.to_string(), "database is locked");
    other.alone(|w| w.add_user(&a_user(2), Wall(1))).unwrap();
}

#[test]
fn two_disks_know_nothing_of_each_other() {
    let (one, other) = (a_disk(Geometry::COMMON), a_disk(Geometry::COMMON));
    let before = contents(&other);
    let writer = one.database().unwrap().writer().unwrap();
    writer.alone(|w| w.add_user(&a_user(1), Wall(1))).unwrap();
    assert_ne!(contents(&one), before);
    assert_eq!(contents(&other), before);
}

#[test]
fn a_disk_lives_as_long_as_a_file_on_it_and_no_longer() {
    let disk = a_disk(Geometry::COMMON);
    let path = disk.path("segue.db");
    let connection = plain(&disk);
    drop(disk);
    let count = "SELECT count(*) FROM users";
    let users: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(users, 0);
    drop(connection);
    assert!(segue_sqlite::Db::open_with_vfs(&path, segue_runtime_sim::disk::VFS).is_err());
}

#[test]
fn a_rollback_journal_works_as_well() {
    let disk = Disk::new(Geometry::HARSH);
    let connection = plain(&disk);
    let tables =
        "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TEMP TABLE u AS SELECT * FROM t;";
    connection.execute_batch(tables).unwrap();
    let other = plain(&disk);
    connection
        .execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
        .unwrap();
    assert!(other.execute_batch("BEGIN IMMEDIATE").is_err());
    connection.execute_batch("ROLLBACK; VACUUM").unwrap();
    let sum: i64 = other
        .query_row("SELECT sum(a) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sum, 1);
}

#[test]
fn sqlite_asks_no_clock() {
    let connection = plain(&a_disk(Geometry::COMMON));
    let now: String = connection
        .query_row("SELECT datetime('now')", [], |row| row.get(0))
        .unwrap();
    assert_eq!(now, "2000-01-01 12:00:00");
}

/// In production each connection has a thread of its own.
#[test]
fn threads_share_a_database_and_each_sees_whole_changes_only() {
    const PAIRS: usize = 150;
    let disk = a_disk(Geometry::HARSH);
    let db = disk.database().unwrap();
    let read = |reader: segue_sqlite::Reader| {
        let mut last = 0;
        while last < 2 * PAIRS {
            let seen = reader.snapshot(|r| {
                let rows = r.users()?.len();
                Ok::<_, Error>((rows, r.users()?.len()))
            });
            let (first, second) = seen.unwrap();
            assert!(first == second && first % 2 == 0 && first >= last);
            last = first;
        }
    };
    std::thread::scope(|scope| {
        for name in ["one", "two"] {
            let reader = db.reader().unwrap();
            let named = std::thread::Builder::new().name(name.to_owned());
            named.spawn_scoped(scope, move || read(reader)).unwrap();
        }
        let writer = db.writer().unwrap();
        for pair in 0..PAIRS as u64 {
            let both = writer.group(|group| {
                let add = |n| group.member(|w| w.add_user(&a_user(n), Wall(1)));
                (add(2 * pair), add(2 * pair + 1))
            });
            assert!(matches!(both.unwrap(), (Ok(_), Ok(_))));
            if pair % 20 == 0 {
                writer.checkpoint().unwrap();
            }
        }
    });
    drop(db);
    assert_eq!(disk.open_files(), 0);
}
