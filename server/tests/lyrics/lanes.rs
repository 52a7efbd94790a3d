//! Which lane is asked, what comes of what they say, and when a song is tried again.

use crate::world::{Fake, Home, LyricsHub, Says, wav_of};
use segue_core::breaker::{Admission, Signal};
use segue_core::dispatch::{Mode, Quality};
use segue_core::driver::lyrics::Done;
use segue_core::io::Clock;
use segue_core::queue::{Outcome, Status};
use segue_sqlite::QueueRow;
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;

pub(crate) const TIMED: &str = "[00:01.00]Paper boats go by\n[00:09.50]Down the river and away";
const WORDS: &str = "Paper boats go by\nDown the river and away";
const SONG: &str = "Lantern Hill";
const DAY: i64 = 86_400_000;

async fn two(mode: Mode) -> (Home, Fake, Fake, LyricsHub) {
    let home = Home::with(&[SONG]);
    let (one, other) = (Fake::start().await, Fake::start().await);
    let hub = home.hub(&[("lrclib", &one), ("other", &other)], mode).await;
    (home, one, other, hub)
}

/// How long after its last change a row is due.
fn wait(row: &QueueRow) -> i64 {
    let due = row.next_attempt_at.expect("it is due some time");
    due.millis_since(row.updated_at)
}

#[tokio::test]
async fn s1_a_hit_of_the_first_lane_is_one_call() {
    let (home, one, other, hub) = two(Mode::Ordered).await;
    one.says(SONG, Says::Synced(TIMED));
    hub.work_off().await;
    assert_eq!(one.log(), ["get Lantern Hill"]);
    assert_eq!(other.count(), 0);
    let row = hub.row(SONG).await;
    assert_eq!(
        (row.status, row.outcome),
        (Status::Done, Some(Outcome::Lyrics))
    );
    assert_eq!(
        (row.quality, row.lane.as_deref()),
        (Quality::Line, Some("lrclib"))
    );
    assert!(
        hub.lyrics(SONG)
            .await
            .expect("served")
            .body
            .contains("Paper boats")
    );
    let text = home.text("Lantern Hill.lrc").expect("written");
    assert_eq!(text.trim_end(), TIMED);
    assert_eq!(hub.work_off().await, 0, "it is done");
}

#[tokio::test]
async fn s2_the_second_lane_is_asked_after_a_miss() {
    let (_home, one, other, hub) = two(Mode::Ordered).await;
    other.says(SONG, Says::Synced(TIMED));
    hub.work_off().await;
    assert!(one.count() >= 1);
    assert_eq!(other.count(), 1);
    assert_eq!(hub.row(SONG).await.lane.as_deref(), Some("other"));
}

#[tokio::test]
async fn s3_a_song_that_no_lane_has_waits_for_a_week() {
    let (home, _one, _other, hub) = two(Mode::Ordered).await;
    hub.work_off().await;
    let row = hub.row(SONG).await;
    assert_eq!(
        (row.status, row.miss_count, row.attempts),
        (Status::Deferred, 1, 0)
    );
    assert_eq!(wait(&row), 7 * DAY);
    assert_eq!(home.sidecars(), [""; 0]);
}

#[tokio::test]
async fn s4_an_open_lane_makes_no_miss_and_the_other_is_not_asked_again() {
    let home = Home::with(&[SONG, "Harbour"]);
    let (one, other) = (Fake::start().await, Fake::start().await);
    let lanes = [("lrclib", &one), ("other", &other)];
    let hub = home.hub(&lanes, Mode::Ordered).await;
    for title in [SONG, "Harbour"] {
        one.says(title, Says::SlowDown(120));
    }
    hub.work_off().await;
    assert_eq!(one.count(), 1, "it asked us to slow down");
    for title in [SONG, "Harbour"] {
        let row = hub.row(title).await;
        assert_eq!(
            (row.status, row.miss_count, row.attempts),
            (Status::Pending, 0, 0)
        );
        assert!(wait(&row) > 100_000, "{title}: {}", wait(&row));
    }
    let asked = other.count();
    hub.wants(SONG).await;
    hub.work_off().await;
    assert_eq!(
        (one.count(), other.count()),
        (1, asked),
        "its no is remembered"
    );
    assert_eq!(hub.row(SONG).await.status, Status::Pending);
}

#[tokio::test]
async fn s5_an_instrumental_is_not_final_while_the_first_lane_has_not_answered() {
    let (_home, one, other, hub) = two(Mode::Ordered).await;
    one.says(SONG, Says::SlowDown(120));
    other.says(SONG, Says::Instrumental);
    hub.work_off().await;
    let row = hub.row(SONG).await;
    assert_eq!(
        (row.status, row.outcome, row.attempts),
        (Status::Pending, None, 0)
    );
    assert!(wait(&row) > 110_000);
}

#[tokio::test]
async fn s7_with_all_lanes_open_nobody_is_asked_and_nothing_is_counted() {
    let home = Home::with(&[SONG]);
    let one = Fake::start().await;
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    one.says(SONG, Says::SlowDown(300));
    hub.work_off().await;
    hub.wants(SONG).await;
    hub.work_off().await;
    let row = hub.row(SONG).await;
    assert_eq!((row.status, row.attempts), (Status::Pending, 0));
    assert!(wait(&row) > 290_000, "{}", wait(&row));
    assert_eq!(one.count(), 1);
}

#[tokio::test]
async fn s8_a_failure_is_no_miss_whichever_lane_failed() {
    for failing in [0, 1] {
        let (_home, one, other, hub) = two(Mode::Ordered).await;
        [&one, &other][failing].says(SONG, Says::Status(500));
        hub.work_off().await;
        let row = hub.row(SONG).await;
        assert_eq!(
            (row.status, row.attempts, row.miss_count),
            (Status::Failed, 1, 0)
        );
        assert!((30_000..=60_000).contains(&wait(&row)), "{}", wait(&row));
        let told = row.reason.expect("a reason");
        assert!(told.contains("answered 500"), "{told}");
    }
}

#[tokio::test]
async fn d7_timed_words_within_the_window_win_against_plain_ones() {
    let race_wait = Duration::from_secs(20);
    let (home, one, other, hub) = two(Mode::Parallel { race_wait }).await;
    one.says(SONG, Says::Plain(WORDS));
    other.says(SONG, Says::Synced(TIMED));
    hub.work_off().await;
    assert_eq!(hub.row(SONG).await.quality, Quality::Line);
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
}

#[tokio::test]
async fn d7_plain_words_are_taken_when_the_window_ends() {
    let race_wait = Duration::from_millis(50);
    let (home, one, other, hub) = two(Mode::Parallel { race_wait }).await;
    one.says(SONG, Says::Plain(WORDS));
    other.says(SONG, Says::Silence);
    hub.work_off().await;
    assert_eq!(hub.row(SONG).await.quality, Quality::Plain);
    assert_eq!(
        home.text("Lantern Hill.txt").expect("written").trim_end(),
        WORDS
    );
}

#[tokio::test]
async fn a_song_under_way_is_given_back_when_the_hub_stops() {
    let (_home, one, _other, hub) = two(Mode::Ordered).await;
    one.says(SONG, Says::Silence);
    let worker = segue::lyrics::worker(&hub.hub, 0);
    let done = worker.step(pin!(one.asked())).await.expect("a step");
    assert_eq!(done, Done::Stopped);
    let row = hub.row(SONG).await;
    assert_eq!((row.status, row.attempts), (Status::Pending, 0));
    let bank = hub.hub.lookups().lanes().bank().lock().expect("no panic");
    assert_eq!(bank.outstanding(), 0, "B2");
}

#[tokio::test]
async fn b10_a_lane_that_asked_us_to_slow_down_is_left_alone_after_a_restart() {
    let home = Home::with(&[SONG, "Harbour"]);
    let one = Fake::start().await;
    one.says(SONG, Says::SlowDown(300));
    one.says("Harbour", Says::SlowDown(300));
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    hub.work_off().await;
    hub.close().await;
    assert_eq!(one.count(), 1);
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    hub.wants(SONG).await;
    hub.work_off().await;
    assert_eq!(one.count(), 1);
}

#[tokio::test]
async fn an_instrumental_is_remembered_and_nothing_is_written() {
    let (home, one, _other, hub) = two(Mode::Ordered).await;
    one.says(SONG, Says::Instrumental);
    hub.work_off().await;
    let row = hub.row(SONG).await;
    assert_eq!(
        (row.status, row.outcome),
        (Status::Done, Some(Outcome::Instrumental))
    );
    assert_eq!(row.upgrade_after, None, "it is not asked for again");
    assert_eq!(home.sidecars(), [""; 0]);
}

#[tokio::test]
async fn the_same_words_for_a_stranger_of_the_same_length_are_kept_apart() {
    let home = Home::with(&[SONG]);
    home.put("b.wav", &crate::world::wav("Somebody Else", "Another Tune"));
    let one = Fake::start().await;
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    one.says(SONG, Says::Synced(TIMED));
    one.says("Another Tune", Says::Synced(TIMED));
    hub.work_off().await;
    let outcomes = [hub.row(SONG).await, hub.row("Another Tune").await].map(|row| row.outcome);
    let words = outcomes.iter().filter(|o| **o == Some(Outcome::Lyrics));
    assert_eq!(words.count(), 1, "{outcomes:?}");
    let refused = outcomes.iter().filter(|o| **o == Some(Outcome::Rejected));
    assert_eq!(refused.count(), 1, "{outcomes:?}");
}

#[tokio::test]
async fn a_lane_is_shown_as_it_stands_though_nothing_was_stored_of_it() {
    let (_home, _one, _other, hub) = two(Mode::Ordered).await;
    let stands = async || {
        let shown: Value = serde_json::from_str(&hub.get("/api/v1/lanes").await).expect("JSON");
        let lanes = shown["lanes"].as_array().expect("lanes").clone();
        let lanes = lanes
            .iter()
            .map(|lane| format!("{} {}", lane["name"], lane["state"]));
        lanes.collect::<Vec<_>>().join(", ").replace('"', "")
    };
    assert_eq!(stands().await, "local closed, lrclib closed, other closed");
    let lanes = hub.hub.lookups().lanes();
    let lane = lanes.setup().slots[1].lane;
    let now = hub.hub.clock().now();
    {
        let mut bank = lanes.bank().lock().expect("no panic");
        let Admission::Granted(permit) = bank.admit(lane, now) else {
            panic!("it is closed");
        };
        let retry_after = Some(Duration::from_secs(300));
        bank.settle(now, permit, Signal::Throttled { retry_after });
    }
    assert_eq!(stands().await, "local closed, lrclib open, other closed");
    let metrics = hub.get("/metrics").await;
    for state in ["\"lrclib\"} 2\n", "\"other\"} 0\n"] {
        let line = format!("segue_lyrics_lane_state{{lane={state}");
        assert!(metrics.contains(&line), "{line} of {metrics}");
    }
}

#[tokio::test]
async fn a_lookup_is_timed_for_each_lane_that_was_asked() {
    let (_home, one, _other, hub) = two(Mode::Ordered).await;
    one.says(SONG, Says::Synced(TIMED));
    hub.work_off().await;
    let metrics = hub.get("/metrics").await;
    let counts = metrics
        .lines()
        .filter(|line| line.starts_with("segue_lyrics_lookup_seconds_count"));
    let mut counts: Vec<&str> = counts.collect();
    counts.sort_unstable();
    let once = |lane: &str| format!("segue_lyrics_lookup_seconds_count{{lane=\"{lane}\"}} 1");
    assert_eq!(counts, [once("local"), once("lrclib")]);
}

#[tokio::test]
async fn s25_a_lane_that_is_added_is_asked_for_what_the_others_did_not_have_and_only_it() {
    let home = Home::with(&[SONG, "Harbour", "Estuary"]);
    let (one, other) = (Fake::start().await, Fake::start().await);
    one.says("Harbour", Says::Plain(WORDS));
    one.says("Estuary", Says::Instrumental);
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    let new = async |hub: &LyricsHub| {
        let songs = segue::lyrics::ask_new_lanes(&hub.hub).await.expect("asked");
        let now = hub.hub.clock().wall();
        let due = hub.hub.write(move |w| w.upgrade_due(now, 99)).await;
        due.expect("written");
        hub.work_off().await;
        songs
    };
    assert_eq!(new(&hub).await, 0, "they are all new");
    hub.work_off().await;
    assert_eq!(new(&hub).await, 0, "they are those of before");
    let asked = one.count();
    hub.close().await;

    for title in [SONG, "Harbour", "Estuary"] {
        other.says(title, Says::Synced(TIMED));
    }
    let lanes = [("lrclib", &one), ("other", &other)];
    let hub = home.hub(&lanes, Mode::Ordered).await;
    assert_eq!(new(&hub).await, 2);
    assert_eq!((one.count(), other.count()), (asked, 2), "{:?}", one.log());
    for title in [SONG, "Harbour"] {
        let row = hub.row(title).await;
        assert_eq!(
            (row.status, row.quality, row.lane.as_deref()),
            (Status::Done, Quality::Line, Some("other")),
            "{title}"
        );
    }
    assert_eq!(hub.row("Estuary").await.quality, Quality::Instrumental);
    assert_eq!(new(&hub).await, 0, "it is not new any more");
}

#[tokio::test]
async fn words_that_a_lane_gives_for_anything_are_taken_from_all_who_have_them() {
    let home = Home::with(&[SONG]);
    home.put("b.wav", &wav_of("Somebody Else", "Another Tune", 40));
    let (one, other) = (Fake::start().await, Fake::start().await);
    let lanes = [("lrclib", &one), ("other", &other)];
    let hub = home.hub(&lanes, Mode::Ordered).await;
    for title in [SONG, "Another Tune"] {
        one.says(title, Says::Synced(TIMED));
    }
    let right = "[00:02.00]Lantern on the hill\n[00:08.00]Lantern in the dark";
    other.says(SONG, Says::Synced(right));
    hub.wants("Another Tune").await;
    hub.work_off().await;
    let (right_ones, none) = (hub.row(SONG).await, hub.row("Another Tune").await);
    assert_eq!(
        (right_ones.outcome, right_ones.lane.as_deref()),
        (Some(Outcome::Lyrics), Some("other"))
    );
    assert_eq!(
        (none.outcome, none.quality),
        (Some(Outcome::Rejected), Quality::None)
    );
    assert!(none.reason.expect("a reason").contains("another song"));
    assert_eq!(
        home.text("Lantern Hill.lrc").expect("written").trim_end(),
        right
    );
    // It was written before anybody could know, and is taken away.
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);
    let id = none.work_id;
    let shown = hub.hub.read(move |r| r.queue_show(id)).await;
    let sidecars = shown.expect("read").expect("a row").deliveries;
    let reason = sidecars[0].reason.as_deref().expect("a reason");
    assert!(reason.contains("another song"), "{reason}");
    assert_eq!(segue::lyrics::restore_missing(&hub.hub).await, Ok(0));
    assert!(hub.lyrics("Another Tune").await.is_none());
}
