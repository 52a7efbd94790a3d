//! What is written beside the music, and what is left alone.

use crate::lanes::TIMED;
use crate::world::{Fake, Home, Says};
use segue_core::dispatch::{Mode, Quality};
use segue_core::driver::lyrics::{Done, render};
use segue_core::io::{Clock, Digest};
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::queue::Status;
use segue_sqlite::DeliveryIntent;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const WORDS: &str = "Paper boats go by\nDown the river and away";
const SONG: &str = "Lantern Hill";

#[tokio::test]
async fn s2_a_users_words_are_served_and_left_as_they_are() {
    let home = Home::with(&[SONG]);
    home.put("Lantern Hill.lrc", b"[00:02.00]By hand");
    let one = Fake::start().await;
    one.says(SONG, Says::Synced(TIMED));
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    hub.work_off().await;
    assert_eq!(
        home.text("Lantern Hill.lrc").as_deref(),
        Some("[00:02.00]By hand")
    );
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
    let lyrics = hub.lyrics(SONG).await.expect("served");
    assert!(lyrics.body.contains("By hand"), "{}", lyrics.body);
    assert_eq!(one.count(), 0, "nobody needs to be asked");
}

#[tokio::test]
async fn s3_plain_words_give_way_to_timed_ones_and_never_the_other_way() {
    let home = Home::with(&[SONG]);
    let one = Fake::start().await;
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    one.says(SONG, Says::Plain(WORDS));
    hub.work_off().await;
    assert_eq!(home.sidecars(), ["Lantern Hill.txt"]);

    let look_again = || async {
        let later = hub.hub.clock().wall() + Duration::from_secs(400 * 86_400);
        let due = hub.hub.write(move |w| w.upgrade_due(later, 10)).await;
        assert_eq!(due.expect("written"), 1);
        // The claim is due "later" by that clock: somebody wants it now.
        hub.wants(SONG).await;
        hub.work_off().await;
    };
    one.says(SONG, Says::Synced(TIMED));
    look_again().await;
    assert_eq!(hub.row(SONG).await.quality, Quality::Line);
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);

    one.says(SONG, Says::Plain("Something else\nAnd something more"));
    look_again().await;
    let row = hub.row(SONG).await;
    assert_eq!((row.status, row.quality), (Status::Done, Quality::Line));
    assert_eq!(
        home.text("Lantern Hill.lrc").expect("there").trim_end(),
        TIMED
    );
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
}

#[tokio::test]
async fn s4_a_crash_before_the_sidecar_needs_no_second_call() {
    let home = Home::with(&[SONG]);
    let one = Fake::start().await;
    one.says(SONG, Says::Synced(TIMED));
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    assert_eq!(hub.step().await, Done::Song);
    hub.close().await;
    assert_eq!(home.sidecars(), [""; 0], "stored, and not written yet");
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    hub.work_off().await;
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
    assert_eq!(one.count(), 1);
}

#[tokio::test]
async fn an_edited_sidecar_is_the_users_from_then_on() {
    let home = Home::with(&[SONG]);
    let one = Fake::start().await;
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    one.says(SONG, Says::Plain(WORDS));
    hub.work_off().await;
    home.put("Lantern Hill.txt", b"Paper boats, edited");
    let later = hub.hub.clock().wall() + Duration::from_secs(400 * 86_400);
    let due = hub.hub.write(move |w| w.upgrade_due(later, 10)).await;
    assert_eq!(due.expect("written"), 1);
    one.says(SONG, Says::Synced(TIMED));
    hub.wants(SONG).await;
    hub.work_off().await;
    assert_eq!(
        home.text("Lantern Hill.txt").as_deref(),
        Some("Paper boats, edited")
    );
    assert_eq!(
        home.text("Lantern Hill.lrc").expect("written").trim_end(),
        TIMED
    );
}

#[tokio::test]
async fn a_sidecar_of_ours_that_is_gone_comes_back_and_nobody_is_asked() {
    let home = Home::with(&[SONG, "Harbour"]);
    let one = Fake::start().await;
    for title in [SONG, "Harbour"] {
        one.says(title, Says::Synced(TIMED));
    }
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    hub.work_off().await;
    let (written, asked) = (home.text("Lantern Hill.lrc"), one.count());
    let restore = || async {
        let gone = segue::lyrics::restore_missing(&hub.hub).await;
        hub.work_off().await;
        gone.expect("looked")
    };
    assert_eq!(restore().await, 0, "all are there");

    home.remove("Lantern Hill.lrc");
    home.put("Harbour.lrc", b"[00:02.00]By hand");
    assert_eq!(restore().await, 1);
    assert_eq!(home.text("Lantern Hill.lrc"), written);
    assert_eq!(
        home.text("Harbour.lrc").as_deref(),
        Some("[00:02.00]By hand"),
        "S2"
    );
    assert_eq!(one.count(), asked);

    home.remove("Lantern Hill.lrc");
    home.remove("Lantern Hill.wav");
    assert_eq!(restore().await, 0, "its track is gone too");
}

#[tokio::test]
async fn s1_a_slow_worker_that_has_lost_its_turn_spoils_no_file() {
    let home = Home::with(&[SONG]);
    let one = Fake::start().await;
    one.says(SONG, Says::Synced(TIMED));
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    assert_eq!(hub.step().await, Done::Song);
    let now = hub.hub.clock().wall();
    let begun = hub.hub.write(move |w| {
        let row = w.claim_delivery("slow", now, now)?.expect("wanted");
        let document = row.document_id.expect("words");
        let body = w.reader().document(&document)?.expect("stored");
        let rendered = render(&body, LrcStyle::default()).expect("words");
        let intent = DeliveryIntent {
            sidecar: "Lantern Hill.lrc".to_owned(),
            temp: ".segue-slow.tmp".to_owned(),
            old_hash: None,
            new_hash: Digest::of(&rendered.bytes).to_hex(),
        };
        w.begin_delivery(row.ticket, &document, &intent, now)
    });
    begun.await.expect("begun");

    let (over, unfinished) = (AtomicBool::new(false), home.music().join(".segue-slow.tmp"));
    let over = Arc::new(over);
    let told = Arc::clone(&over);
    let slow = std::thread::Builder::new().name("slow worker".to_owned());
    let slow = slow.spawn(move || {
        while !told.load(Ordering::Relaxed) {
            fs::write(&unfinished, b"[00:01.00]Paper").expect("written");
        }
        fs::remove_file(&unfinished).expect("there");
    });
    let slow = slow.expect("a thread");
    while home.text(".segue-slow.tmp").is_none() {
        std::thread::yield_now();
    }
    hub.work_off().await;
    over.store(true, Ordering::Relaxed);
    slow.join().expect("no panic");
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
    let text = home.text("Lantern Hill.lrc").expect("written");
    assert_eq!(text.trim_end(), TIMED);
    let rows = hub.hub.read(|r| r.deliveries(0, 10)).await.expect("read");
    assert!(rows[0].delivered.is_some(), "{rows:?}");
}
