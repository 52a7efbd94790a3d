//! `segue queue` and `segue lyrics`.

use crate::{failed, folder, ok, out, segue};
use segue_core::dispatch::Quality;
use segue_core::queue::{Completion, LaneAnswer, LaneEntry, NewDocument, Outcome};
use segue_core::time::Wall;
use segue_sqlite::{Db, DeliveryEnd, Writer};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A second of silence without tags: its place says what it is.
fn wav() -> Vec<u8> {
    let mut wav = b"RIFF\x64\x3e\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\x40\x3e\0\0".to_vec();
    wav.resize(44 + 16_000, 0);
    wav
}

/// A folder with three songs of two artists, read into a library.
fn library(dir: &Path) {
    for path in [
        "Björk/Homogenic/01 - Hunter.wav",
        "Björk/Homogenic/02 - Jóga.wav",
        "Ada Quill/Inkwell/01 - Blot.wav",
    ] {
        let path = dir.join("music").join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, wav()).expect("written");
    }
    ok(&segue(dir, &["source", "add", "shelf", "--path", "music"]));
    ok(&segue(dir, &["sync"]));
}

fn change(dir: &Path, change: impl FnOnce(&Writer) -> segue_sqlite::Result<()>) {
    let db = Db::open(&dir.join("segue-data/segue.db")).expect("a database");
    let writer = db.writer().expect("a writer");
    writer.alone(change).expect("changed");
}

/// A worker takes the next song, and fails for good.
fn park(dir: &Path, reason: &str) {
    change(dir, |w| {
        let now = Wall(4_000_000_000_000);
        let claim = w
            .claim("w", now, Wall(now.0 + 60_000))?
            .expect("one is due");
        let answers = [LaneEntry {
            lane: "lrclib".into(),
            answer: LaneAnswer::Transport,
            reason: Some("502".into()),
            at: now,
            valid_until: None,
            retry_at: None,
        }];
        w.fail(claim.ticket, None, reason, &answers, now)
    });
}

fn json_of(dir: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&ok(&segue(dir, arguments))).expect("JSON")
}

fn counts(dir: &Path) -> Value {
    json_of(dir, &["queue", "list", "--json"])["counts"].clone()
}

#[test]
fn a_scan_says_what_it_would_do_and_does_it_for_a_part_or_all() {
    let dir = folder();
    let dir = dir.path();
    assert!(failed(&segue(dir, &["lyrics", "scan"])).starts_with("error: there is no library in "));
    library(dir);
    let told = ok(&segue(dir, &["lyrics", "scan", "--dry-run"]));
    assert_eq!(
        told,
        "3 tracks: 0 with lyrics, 0 in the queue already\n3 songs would be looked up\n"
    );
    assert_eq!(counts(dir)["pending"], 0);
    let below = json_of(dir, &["lyrics", "scan", "music/Björk", "--json"]);
    assert_eq!((&below["tracks"], &below["new"]), (&json!(2), &json!(2)));
    let one = json_of(
        dir,
        &[
            "lyrics",
            "scan",
            "music/Björk/Homogenic/01 - Hunter.wav",
            "--json",
        ],
    );
    assert_eq!(
        (&one["tracks"], &one["new"], &one["waiting"]),
        (&json!(1), &json!(0), &json!(1))
    );
    let source = json_of(dir, &["lyrics", "scan", "shelf", "--json"]);
    assert_eq!((&source["tracks"], &source["new"]), (&json!(3), &json!(1)));
    assert_eq!(counts(dir)["pending"], 3);
    assert!(
        failed(&segue(dir, &["lyrics", "scan", "segue-data"]))
            .contains("lies in none of the music folders")
    );
    assert!(
        failed(&segue(dir, &["lyrics", "scan", "nowhere"]))
            .contains("is no source, and no path: no such file")
    );
}

#[test]
fn the_queue_explains_itself_and_can_be_moved() {
    let dir = folder();
    let dir = dir.path();
    library(dir);
    assert_eq!(ok(&segue(dir, &["queue", "list"])), "The queue is empty.\n");
    ok(&segue(dir, &["lyrics", "scan"]));
    park(dir, "lrclib answered 502 five times");
    let listed = ok(&segue(dir, &["queue", "list", "--status", "parked"]));
    assert!(
        listed.starts_with("2 pending, 1 parked\n\nID  STATUS  PRIORITY  ARTIST"),
        "{listed}"
    );
    assert!(
        listed.ends_with("lrclib answered 502 five times\n"),
        "{listed}"
    );
    let parked = json_of(dir, &["queue", "list", "--status", "parked", "--json"]);
    let id = parked["items"][0]["id"].to_string();
    let shown = ok(&segue(dir, &["queue", "show", &id]));
    assert!(
        shown.contains("\nLANE    SAID       AT") && shown.contains("for the file "),
        "{shown}"
    );
    assert_eq!(
        json_of(dir, &["queue", "show", &id, "--json"])["lanes"][0]["reason"],
        "502"
    );
    assert_eq!(
        ok(&segue(dir, &["queue", "retry", &id])),
        "1 song will be tried again.\n"
    );
    assert!(failed(&segue(dir, &["queue", "retry", &id])).contains("can be retried when"));
    assert_eq!(counts(dir)["pending"], 3);
    assert_eq!(
        ok(&segue(dir, &["queue", "recheck", "--all"])),
        "0 songs will be asked for again.\n"
    );
    assert_eq!(
        ok(&segue(dir, &["queue", "recheck", "--lane", "new"])),
        "0 songs will be asked for again.\n"
    );
    assert!(failed(&segue(dir, &["queue", "show", "999"])).contains("there is no row 999"));
}

#[test]
fn what_destroys_asks_first() {
    let dir = folder();
    let dir = dir.path();
    library(dir);
    ok(&segue(dir, &["lyrics", "scan"]));
    change(dir, |w| {
        w.claim("hung", Wall(4_000_000_000_000), Wall(4_000_000_060_000))?;
        Ok(())
    });
    let refused = segue(dir, &["queue", "release", "--all"]);
    assert!(failed(&refused).contains("Say so with --yes") && out(&refused).is_empty());
    assert_eq!(
        ok(&segue(dir, &["queue", "release", "--all", "--yes"])),
        "1 song taken back.\n"
    );
    let refused = segue(dir, &["queue", "clear", "--status", "pending"]);
    assert_eq!(
        failed(&refused),
        "error: Remove 3 songs from the queue (pending)? Say so with --yes\n"
    );
    assert_eq!(counts(dir)["pending"], 3);
    let cleared = ok(&segue(
        dir,
        &["queue", "clear", "--status", "pending", "--yes"],
    ));
    assert_eq!(cleared, "3 songs removed.\n");
    assert_eq!(counts(dir)["pending"], 0);
    for wrong in [
        &["queue", "clear"][..],
        &["queue", "retry"],
        &["queue", "clear", "--status", "processing"],
        &["queue", "retry", "1", "--all"],
        &["queue", "recheck", "1", "--lane", "x"],
    ] {
        assert_eq!(segue(dir, wrong).status.code(), Some(2), "{wrong:?}");
    }
}

/// A worker takes the next song, and finds words.
fn answer(dir: &Path) -> i64 {
    let mut row = 0;
    change(dir, |w| {
        let now = Wall(4_000_000_000_000);
        let claim = w.claim("w", now, Wall(now.0 + 60_000))?;
        let ticket = claim.expect("one is due").ticket;
        let completion = Completion {
            outcome: Outcome::Lyrics,
            document: Some(NewDocument {
                id: "a".repeat(64),
                body: "{}".into(),
                quality: Quality::Line,
            }),
            lane: Some("lrclib".into()),
            reason: None,
            upgrade_after: None,
            answers: Vec::new(),
        };
        row = ticket.work_id;
        w.complete(ticket, &completion, now).map(drop)
    });
    row
}

#[test]
fn files_tell_how_their_sidecars_stand_and_untagged_ones_why_they_are_refused() {
    let dir = folder();
    let dir = dir.path();
    library(dir);
    fs::write(dir.join("music/untagged.wav"), wav()).expect("written");
    let config = dir.join("segue.toml");
    let text = fs::read_to_string(&config).expect("a configuration");
    let writable = text.replace("path = ", "write_sidecars = true\npath = ");
    fs::write(&config, writable).expect("written");
    ok(&segue(dir, &["sync"]));
    ok(&segue(dir, &["lyrics", "scan"]));
    let told = ok(&segue(dir, &["queue", "list"]));
    assert!(
        told.contains("3 pending, ") && told.contains("--status refused\n"),
        "{told}"
    );
    let refused = ok(&segue(dir, &["queue", "list", "--status", "refused"]));
    assert!(
        refused.contains("untagged.wav") && refused.contains("the track names no artist"),
        "{refused}"
    );

    let id = answer(dir).to_string();
    let show = || ok(&segue(dir, &["queue", "show", &id]));
    let shown = show();
    assert!(
        shown.contains(".wav of shelf: waits to be written\n"),
        "{shown}"
    );
    let end = |end: DeliveryEnd| {
        change(dir, |w| {
            let now = Wall(4_000_000_000_000);
            let parcel = w.claim_delivery("w", now, Wall(now.0 + 60_000))?;
            let parcel = parcel.expect("one is due");
            w.end_delivery(parcel.ticket, &end, now)
        });
    };
    end(DeliveryEnd::Again {
        reason: "the disk is full".into(),
        retry_at: Wall(4_000_000_000_000),
        begun: false,
    });
    let shown = show();
    assert!(
        shown.contains("could not be written, again at 2096-"),
        "{shown}"
    );
    assert!(shown.contains(": the disk is full\n"), "{shown}");
    end(DeliveryEnd::Refused("not_ours".into()));
    let shown = show();
    assert!(
        shown.contains(": not written: somebody else's file "),
        "{shown}"
    );
    change(dir, |w| {
        let file = w.reader().deliveries(0, 1)?.remove(0);
        w.redeliver(file.scan_id, Wall(4_000_000_000_000)).map(drop)
    });
    end(DeliveryEnd::Delivered {
        sidecar: "somewhere.lrc".into(),
        hash: "b".repeat(64),
    });
    let shown = show();
    assert!(shown.contains(": written as somewhere.lrc\n"), "{shown}");
    let json = json_of(dir, &["queue", "show", &id, "--json"]);
    let targets = json["targets"].as_array().expect("targets");
    let stands: Vec<&Value> = targets.iter().map(|t| &t["sidecar"]["status"]).collect();
    assert_eq!(stands, [&Value::Null, &json!("delivered")]);
}
