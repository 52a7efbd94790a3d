//! Databases of earlier versions, and of later ones.

use segue_core::time::Wall;
use segue_sqlite::Db;

fn file_with(sql: &str, version: i64) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(sql).unwrap();
    raw.pragma_update(None, "user_version", version).unwrap();
    (dir, path)
}

const FIRST: &str = include_str!("../migrations/001-catalog.sql");

#[test]
fn a_file_of_the_first_version_is_brought_forward_with_its_rows() {
    let rows =
        "INSERT INTO instances (id, kind, name, local) VALUES ('home', 'subsonic', 'Home', 1);
        INSERT INTO instance_artists VALUES ('home', 'a1', 'Ada', NULL, NULL);
        INSERT INTO settings VALUES ('library_modified', '42');";
    let (_dir, path) = file_with(&format!("{FIRST}{rows}"), 1);
    let db = Db::open(&path).unwrap();
    let reader = db.reader().unwrap();
    assert_eq!(reader.instances().unwrap().len(), 1);
    assert_eq!(reader.merge_input().unwrap().artists[0].row.name, "Ada");
    assert_eq!(reader.library_modified().unwrap(), Wall(42));
    assert_eq!(reader.activity(10).unwrap(), []);
    assert_eq!(
        db.writer()
            .unwrap()
            .alone(|w| w.close_orphans(Wall(1)))
            .unwrap(),
        0
    );
    drop((db, reader));
    Db::open(&path).expect("a second start finds nothing to do");
}

#[test]
fn a_file_from_before_the_lyrics_keeps_its_rows_and_has_an_empty_queue() {
    const SECOND: &str = include_str!("../migrations/002-people-and-activity.sql");
    const THIRD: &str = include_str!("../migrations/003-ratings.sql");
    let rows =
        "INSERT INTO instances (id, kind, name, local) VALUES ('home', 'subsonic', 'Home', 1);
        INSERT INTO unified_artists (id, name, name_key, sort_key, is_album_artist) VALUES ('ar1', 'Ada', 'ada', 'ada', 1);
        INSERT INTO unified_release_groups (id, name, name_key, artist_id, artist_name, genres, is_compilation, song_count,
          duration_ms) VALUES ('al1', 'Album', 'album', 'ar1', 'Ada', '[]', 0, 1, 0);
        INSERT INTO unified_tracks (id, release_group_id, title, title_key, artist_id, artist_name, disc_number, genres)
          VALUES ('tr1', 'al1', 'Song', 'song', 'ar1', 'Ada', 1, '[]');
        INSERT INTO users (name, password_enc, is_admin, created) VALUES ('alice', x'00', 1, 1);
        INSERT INTO ratings VALUES (1, 'tr1', 5, 1);";
    let (_dir, path) = file_with(&format!("{FIRST}{SECOND}{THIRD}{rows}"), 3);
    let db = Db::open(&path).unwrap();
    let (writer, reader) = (db.writer().unwrap(), db.reader().unwrap());
    assert_eq!(reader.users().unwrap().len(), 1);
    assert!(reader.queue_list(None, 0, 9).unwrap().is_empty());
    let page = reader.tracks_without_lyrics(0, 9, &[]).unwrap();
    let report = writer.alone(|w| w.enqueue_many(&page.requests, 1, Wall(1)));
    assert_eq!(report.unwrap().new, 1);
    assert_eq!(reader.damage().unwrap(), Vec::<String>::new());
    drop((db, writer, reader));
    Db::open(&path).expect("a second start finds nothing to do");
}

#[test]
fn a_file_from_before_unfinished_files_were_remembered_remembers_those_under_way() {
    const SECOND: &str = include_str!("../migrations/002-people-and-activity.sql");
    const THIRD: &str = include_str!("../migrations/003-ratings.sql");
    const FOURTH: &str = include_str!("../migrations/004-lyrics.sql");
    let rows = "INSERT INTO scan_results (id, track_id, instance_id, remote_id, path, artist, title, status, created_at)
          VALUES (1, 'tr1', 'shelf', 'r1', 'A/1.flac', 'Ada', 'Blot', 'done', 1);
        INSERT INTO deliveries (scan_id, status, next_attempt_at, wanted_document, intent_document, intent_sidecar,
          intent_temp, intent_new_hash, created_at, updated_at)
          VALUES (1, 'intent', 1, 1, 1, 'A/1.lrc', 'A/.1.tmp', 'new', 1, 7);";
    let (_dir, path) = file_with(&format!("{FIRST}{SECOND}{THIRD}{FOURTH}{rows}"), 4);
    let db = Db::open(&path).unwrap();
    let being_written = || {
        let reader = db.reader().unwrap();
        assert_eq!(reader.damage().unwrap(), Vec::<String>::new());
        let counts = reader.delivery_counts().unwrap();
        counts.into_iter().map(|(_, count)| count).sum::<u64>()
    };
    assert_eq!(being_written(), 1, "counted from the beginning");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "foreign_keys", true).unwrap();
    raw.execute("DELETE FROM scan_results", []).unwrap();
    assert_eq!(being_written(), 0);
    let left = db.reader().unwrap().unfinished(9).unwrap();
    assert_eq!(left.len(), 1, "the row went, the file may be there");
    assert_eq!(
        (
            left[0].instance_id.as_str(),
            left[0].path.as_str(),
            left[0].since
        ),
        ("shelf", "A/.1.tmp", Wall(7))
    );
    assert_eq!(db.reader().unwrap().deliveries(0, 9).unwrap(), []);
}

#[test]
fn a_file_of_a_later_version_is_refused_with_advice_and_not_touched() {
    let (_dir, path) = file_with("CREATE TABLE from_the_future (x);", 4_000);
    let before = std::fs::read(&path).unwrap();
    let error = Db::open(&path).err().unwrap().to_string();
    assert!(error.contains("later version of Segue"), "{error}");
    let raw = rusqlite::Connection::open(&path).unwrap();
    let tables: i64 = raw
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .unwrap();
    assert_eq!(tables, 1);
    assert!(!before.is_empty());
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    std::fs::write(
        &path,
        "a letter to my aunt, long enough to be looked at twice\n".repeat(40),
    )
    .unwrap();
    let error = Db::open(&path).err().unwrap().to_string();
    assert!(error.contains("not a database"), "{error}");
}

#[test]
fn every_connection_is_durable_and_checks_references() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("odd ?name=#1%20.db");
    let db = Db::open(&path).unwrap();
    assert!(path.exists(), "a path is a path, not a URI");
    let unknown_user = db
        .writer()
        .unwrap()
        .alone(|w| w.add_api_key(7, &[0; 32], "phone", Wall(1)));
    assert!(
        unknown_user
            .unwrap_err()
            .to_string()
            .contains("FOREIGN KEY")
    );
}
