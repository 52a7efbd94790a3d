//! Group commit, snapshots, and what survives.

mod common;

use common::a_database;
use segue_core::io::StoreError;
use segue_core::time::Wall;
use segue_sqlite::{Db, Error, NewUser, Writer};

fn named(name: &str) -> NewUser {
    NewUser {
        name: name.into(),
        password_enc: vec![],
        is_admin: false,
    }
}

fn add(name: &'static str) -> impl FnOnce(&Writer) -> Result<i64, StoreError> {
    move |w| Ok(w.add_user(&named(name), Wall(1))?)
}

fn names(shelf: &common::Shelf) -> Vec<String> {
    let users = shelf.reader.users().unwrap();
    users.into_iter().map(|user| user.name).collect()
}

#[test]
fn a_change_that_fails_undoes_itself_and_none_of_its_neighbours() {
    let shelf = a_database();
    let outcomes = shelf
        .writer
        .group(|group| {
            let a = group.member(add("ann"));
            let b = group.member(|w| {
                w.add_user(&named("bob"), Wall(1))?;
                Err::<(), _>(StoreError::Conflict("second thoughts".into()))
            });
            let c = group.member(add("cid"));
            let again = group.member(add("ANN"));
            (a.is_ok(), b, c.is_ok(), again)
        })
        .unwrap();
    assert!(outcomes.0 && outcomes.2);
    assert_eq!(
        outcomes.1,
        Err(StoreError::Conflict("second thoughts".into()))
    );
    assert_eq!(
        outcomes.3,
        Err(StoreError::Conflict(
            "there is already a user \"ANN\"".into()
        ))
    );
    assert_eq!(names(&shelf), ["ann", "cid"]);
}

#[test]
fn a_change_that_panics_undoes_itself_and_none_of_its_neighbours() {
    let shelf = a_database();
    let outcome = shelf
        .writer
        .group(|group| {
            group.member(add("ann")).unwrap();
            let panicked = group.member::<(), StoreError>(|w| {
                w.add_user(&named("bob"), Wall(1)).unwrap();
                panic!("on purpose");
            });
            group.member(add("cid")).unwrap();
            panicked
        })
        .unwrap();
    assert_eq!(
        outcome,
        Err(StoreError::Database("the change panicked".into()))
    );
    assert_eq!(names(&shelf), ["ann", "cid"]);
}

#[test]
fn a_panic_outside_the_changes_keeps_nothing_and_wedges_nothing() {
    let shelf = a_database();
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        shelf.writer.group(|group| {
            group.member(add("ann")).unwrap();
            panic!("on purpose");
        })
    }));
    assert!(unwound.is_err());
    shelf.writer.alone(add("bob")).unwrap();
    assert_eq!(names(&shelf), ["bob"]);
}

#[test]
fn nothing_is_seen_before_the_commit() {
    let shelf = a_database();
    let seen = shelf
        .writer
        .group(|group| {
            group.member(add("ann")).unwrap();
            let inside = group
                .member(|w| Ok::<_, Error>(w.reader().users()?.len()))
                .unwrap();
            (inside, names(&shelf).len())
        })
        .unwrap();
    assert_eq!(seen, (1, 0));
    assert_eq!(names(&shelf), ["ann"]);
}

#[test]
fn a_snapshot_does_not_move() {
    let shelf = a_database();
    let (before, after) = shelf
        .reader
        .snapshot(|r| {
            let before = r.users()?.len();
            shelf.writer.alone(add("ann")).unwrap();
            Ok::<_, Error>((before, r.users()?.len()))
        })
        .unwrap();
    assert_eq!((before, after), (0, 0));
    assert_eq!(names(&shelf), ["ann"]);
    let failed = shelf
        .reader
        .snapshot(|_| Err::<(), _>(Error::Conflict("no".into())));
    assert!(failed.is_err());
    shelf.reader.snapshot(|r| r.users()).unwrap();
}

#[test]
fn what_was_committed_is_there_after_a_reopening() {
    let shelf = a_database();
    shelf.writer.alone(add("ann")).unwrap();
    assert!(shelf.db.wal_bytes() > 0);
    let common::Shelf {
        dir,
        db,
        writer,
        reader,
    } = shelf;
    drop((db, writer, reader));
    let again = Db::open(&dir.path().join("segue.db")).unwrap();
    assert!(again.reader().unwrap().user("Ann").unwrap().is_some());
}

#[test]
fn what_was_committed_needs_no_clean_end() {
    let shelf = a_database();
    shelf.writer.alone(add("ann")).unwrap();
    // As after a kill: the log was never moved into the file, and nobody closed anything.
    let copy = tempfile::tempdir().unwrap();
    for name in ["segue.db", "segue.db-wal"] {
        std::fs::copy(shelf.dir.path().join(name), copy.path().join(name)).unwrap();
    }
    let again = Db::open(&copy.path().join("segue.db")).unwrap();
    assert!(again.reader().unwrap().user("ann").unwrap().is_some());
}

#[test]
fn a_checkpoint_empties_the_log() {
    let shelf = a_database();
    shelf.writer.alone(add("ann")).unwrap();
    shelf.writer.checkpoint().unwrap();
    assert_eq!(shelf.db.wal_bytes(), 0);
}

#[test]
fn a_checkpoint_does_not_wait_for_a_reader() {
    let shelf = a_database();
    shelf.writer.alone(add("ann")).unwrap();
    let during = shelf.reader.snapshot(|r| {
        r.users()?;
        shelf.writer.alone(add("bob"))?;
        // With a busy timeout this would hold the writer for seconds, and then fail.
        shelf.writer.checkpoint()?;
        Ok::<_, Error>(shelf.db.wal_bytes())
    });
    assert!(during.unwrap() > 0);
    shelf.writer.checkpoint().unwrap();
    assert_eq!(shelf.db.wal_bytes(), 0);
}

#[test]
fn each_database_in_memory_is_one_of_its_own() {
    let db = Db::open_in_memory().unwrap();
    let first = db.writer().unwrap();
    first.alone(add("ann")).unwrap();
    drop(first);
    assert_eq!(db.clone().reader().unwrap().users().unwrap().len(), 1);
    let other = Db::open_in_memory().unwrap();
    assert_eq!(other.reader().unwrap().users().unwrap().len(), 0);
}
