//! What is written beside the music, and what is left alone.

use crate::lanes::TIMED;
use crate::world::{Fake, Home, Says};
use segue_core::dispatch::{Mode, Quality};
use segue_core::driver::lyrics::Done;
use segue_core::io::Clock;
use segue_core::queue::Status;
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
