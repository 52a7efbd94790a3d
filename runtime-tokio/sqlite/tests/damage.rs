//! A damaged file is told from a whole one.

use segue_core::time::Wall;
use segue_sqlite::{Db, NewUser};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

/// SQLite's usual page.
const PAGE: u64 = 4096;

fn a_file() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    let writer = Db::open(&path).unwrap().writer().unwrap();
    let filled = writer.alone(|w| {
        for number in 0..500 {
            let user = NewUser {
                name: format!("user {number}"),
                password_enc: vec![7; 40],
                is_admin: false,
            };
            w.add_user(&user, Wall(0))?;
        }
        Ok::<_, segue_sqlite::Error>(())
    });
    filled.unwrap();
    (dir, path)
}

fn damage(path: &std::path::Path) -> segue_sqlite::Result<Vec<String>> {
    Db::open(path)?.reader()?.damage()
}

#[test]
fn a_whole_file_has_none() {
    let (_dir, path) = a_file();
    assert_eq!(damage(&path).unwrap(), Vec::<String>::new());
}

#[test]
fn a_page_that_was_scribbled_on_shows() {
    let (_dir, path) = a_file();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    let pages = file.metadata().unwrap().len() / PAGE;
    file.write_all_at(&[0xff; 512], (pages - 2) * PAGE + 1024)
        .unwrap();
    let found = damage(&path);
    assert!(found.as_ref().map_or(true, |found| !found.is_empty()));
}

#[test]
fn a_row_that_refers_to_nothing_shows() {
    let (_dir, path) = a_file();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(
        "PRAGMA foreign_keys = OFF;
        INSERT INTO plays (id, user_id, track_id, played_at, client) VALUES (5, 7777, 't', 0, 'c');",
    )
    .unwrap();
    assert_eq!(damage(&path).unwrap(), ["row 5 of plays refers to nothing"]);
}
