//! Activity truth: what is recorded is what happened, and nothing is left behind, however a stream ends.
//!
//! Contracts section 3, rules 3, 7, 9 and 10; rows F11, F12, L1 and L2, and the public bug reports about
//! clients that leave and sources that stop.

use crate::same::assert_bytes;
use crate::world::{
    Pair, SONG, TestHub, album, attempt_bytes, attempts, pairs, quick, source, upstream,
};
use futures_util::future::{Either, join_all, select};
use http_body_util::BodyExt;
use segue::upstream::{Fault, Group};
use segue_core::failover::Limits;
use segue_runtime_tokio::net::Body;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;

/// Reads at least `bytes` of a body, and leaves the rest.
async fn read(body: &mut Body, bytes: usize) -> usize {
    let mut got = 0;
    while got < bytes {
        let frame = body.frame().await.expect("more").expect("no break");
        got += frame.into_data().map_or(0, |data| data.len());
    }
    got
}

async fn open(hub: &TestHub, id: &str) -> Body {
    let target = hub.stream_target(id, "");
    let response = hub.open("GET", &target, &[]).await;
    assert_eq!(response.status(), 200);
    response.into_body()
}

/// For clients that take their time: no budget of these tests may cut them.
fn patient() -> Limits {
    Limits {
        idle: Limits::default().idle,
        ..quick()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_a_source_that_dies_in_the_middle_breaks_the_connection_with_a_true_count() {
    let pair = Pair::start().await;
    for at in [1, 1000, 150_000, 299_999] {
        pair.fail_first(Fault::CutAt(at));
        let reply = pair.stream().await;
        assert!(reply.broken.is_some(), "never a clean end");
        assert_eq!(reply.header("content-length"), "300000");
        assert_bytes!(reply.body, pair.first_bytes()[..at as usize]);
        let row = pair.hub.last_row().await;
        assert_eq!(row["status"], "truncated");
        assert_eq!((&row["bytes"], attempt_bytes(&row)), (&json!(at), at));
        assert_eq!(
            row["error"],
            "The source stopped in the middle of the stream"
        );
        assert_eq!(attempts(&row), pairs(&[("one", "served")]));
        pair.hub.assert_at_rest().await;
    }
    // At its very end it is whole.
    pair.fail_first(Fault::CutAt(300_000));
    let reply = pair.stream().await;
    assert_eq!((reply.broken, reply.body), (None, pair.first_bytes()));
    assert_eq!(pair.hub.last_row().await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_a_source_that_falls_silent_is_cut_after_the_idle_budget() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::StallAt(150_000));
    let reply = pair.stream().await;
    assert!(reply.broken.is_some(), "never a hang");
    assert_bytes!(reply.body, pair.first_bytes()[..150_000]);
    let row = pair.hub.last_row().await;
    assert_eq!(
        (&row["status"], &row["bytes"]),
        (&json!("truncated"), &json!(150_000))
    );
    assert_eq!(
        row["error"],
        "The source fell silent in the middle of the stream"
    );
    pair.first.until(|c| c.open_streams == 0).await;
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn os16_a_body_shorter_than_announced_never_ends_cleanly() {
    let short = upstream("short", album("mp3", 128, 1000)).await;
    let hub = TestHub::start_with(vec![source("one", &short)], quick()).await;
    let id = hub.id_of(SONG).await;
    short.faults().set(Group::Media, Fault::CutAt(600));
    let reply = hub.stream(&id).await;
    assert_eq!(reply.header("content-length"), "1000");
    assert!(reply.broken.is_some());
    assert_eq!(reply.body.len(), 600);
    assert_eq!(hub.last_row().await["status"], "truncated");
}

#[tokio::test(flavor = "multi_thread")]
async fn os7_a_slow_stream_outlives_every_budget_but_the_idle_one() {
    let limits = Limits {
        open_budget: Duration::from_secs(1),
        ..quick()
    };
    let pair = Pair::with(limits).await;
    // Ten pauses that together outlast every budget, each shorter than the idle one.
    pair.fail_first(Fault::SlowDrip {
        bytes: 30_000,
        every: Duration::from_millis(150),
    });
    let reply = pair.stream().await;
    assert_eq!((reply.broken, reply.body), (None, pair.first_bytes()));
    assert_eq!(pair.hub.last_row().await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_client_is_not_a_dead_source() {
    let big = album("flac", 900, 12_000_000);
    let pair = Pair::of(big, album("mp3", 128, 200_000), quick()).await;
    let mut paused = open(&pair.hub, &pair.id).await;
    let began = read(&mut paused, 1).await;
    // Somebody else's stream shows that the idle budget has passed meanwhile.
    pair.fail_first(Fault::StallAt(1000));
    assert!(pair.stream().await.broken.is_some());
    let rest = paused.collect().await.expect("the rest").to_bytes();
    assert_eq!(began + rest.len(), 12_000_000);
    let rows = pair.hub.activity().await;
    let ends = rows.iter().map(|row| &row["status"]).collect::<Vec<_>>();
    assert_eq!(ends, ["truncated", "completed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn f12_a_client_that_leaves_stops_everything_at_once_and_blames_nobody() {
    let pair = Pair::with(patient()).await;
    pair.fail_first(Fault::StallAt(200_000));
    let mut body = open(&pair.hub, &pair.id).await;
    let taken = read(&mut body, 100_000).await;
    drop(body);
    let left = pair.first.until(|c| c.open_streams == 0).await;
    assert_eq!(left.aborted, 1);
    let row = pair.hub.last_row().await;
    assert_eq!(row["status"], "client_gone");
    assert_eq!(row["error"], Value::Null);
    let sent = row["bytes"].as_u64().expect("bytes");
    assert!((taken as u64..=200_000).contains(&sent), "{taken} {sent}");
    assert_eq!(attempt_bytes(&row), sent);
    assert_eq!(pair.hub.state_of("one").await, "ok", "B8");
    assert_eq!(pair.second.counters().streams, 0);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f12_a_client_that_leaves_during_failover_stops_that_too() {
    let pair = Pair::with(patient()).await;
    for fault in [Fault::HangBeforeHead, Fault::HangAfterHead] {
        // The first refuses, and the second is being asked when the client leaves.
        pair.fail_first(Fault::Status(404));
        let second = pair.second.faults();
        second.set(Group::Media, fault);
        {
            let waiting = pin!(pair.stream());
            let asked = pin!(pair.second.until(|c| c.open_streams == 1));
            let first = select(waiting, asked).await;
            assert!(matches!(first, Either::Right(_)));
        }
        pair.second.until(|c| c.open_streams == 0).await;
        assert_eq!(pair.hub.state_of("two").await, "ok", "B8");
        assert_eq!(pair.hub.activity().await.len(), 0, "nothing was played");
        pair.hub.assert_at_rest().await;
    }
    // And nobody is held back for it.
    pair.second.faults().clear();
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn os10_fifty_clients_that_leave_leave_nothing() {
    let pair = Pair::with(patient()).await;
    pair.fail_first(Fault::StallAt(100_000));
    let leave = async || {
        let mut body = open(&pair.hub, &pair.id).await;
        read(&mut body, 65_536).await;
    };
    join_all((0..50).map(|_| leave())).await;
    let left = pair
        .first
        .until(|c| c.streams == 50 && c.open_streams == 0)
        .await;
    assert_eq!(left.aborted, 50);
    let rows = pair.hub.activity().await;
    assert_eq!(rows.len(), 50);
    for row in rows {
        assert_eq!(row["status"], "client_gone");
        let sent = row["bytes"].as_u64().expect("bytes");
        assert!((65_536..=100_000).contains(&sent), "{sent}");
    }
    assert_eq!(pair.hub.state_of("one").await, "ok", "B8");
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l2_what_plays_is_shown_while_it_plays_and_kept_when_it_ends() {
    let pair = Pair::with(patient()).await;
    pair.fail_first(Fault::StallAt(100_000));
    let mut body = open(&pair.hub, &pair.id).await;
    read(&mut body, 100_000).await;
    let active = pair.hub.api("activity/active").await;
    let shown = &active["operations"][0];
    for (name, expected) in [
        ("track_id", json!(pair.id)),
        ("track_title", json!(SONG)),
        ("artist_name", json!("Björk")),
        ("user", json!("ann")),
        ("client", json!("test")),
        ("source_id", json!("one")),
        ("source_kind", json!("subsonic")),
        ("status", json!("active")),
        ("bytes", json!(100_000)),
        ("format", json!("flac")),
        ("bit_rate", json!(900)),
        ("transcoded", json!(false)),
        ("ended_at", Value::Null),
        ("error", Value::Null),
    ] {
        assert_eq!(shown[name], expected, "{name}");
    }
    let kept = pair.hub.last_row().await;
    assert_eq!(
        (&kept["id"], &kept["status"]),
        (&shown["id"], &json!("active"))
    );

    pair.first.faults().release();
    body.collect().await.expect("the rest");
    pair.hub.assert_at_rest().await;
    let rows = pair.hub.activity().await;
    assert_eq!(rows.len(), 1, "one row per operation");
    assert_eq!(rows[0]["id"], shown["id"]);
    assert_eq!(rows[0]["status"], "completed");
    assert_eq!(rows[0]["bytes"], 300_000);
    assert!(rows[0]["ended_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn l2_many_at_once_have_a_row_each_that_adds_up() {
    let pair = Pair::start().await;
    let replies = join_all((0..20).map(|_| pair.stream())).await;
    for reply in &replies {
        assert_bytes!(reply.body, pair.first_bytes());
    }
    let rows = pair.hub.activity().await;
    assert_eq!(rows.len(), 20);
    for row in rows {
        assert_eq!(row["status"], "completed");
        assert_eq!(
            (&row["bytes"], attempt_bytes(&row)),
            (&json!(300_000), 300_000)
        );
    }
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn l1_what_a_song_shows_is_what_a_raw_stream_sends() {
    let pair = Pair::start().await;
    let shown = pair.hub.rest("getSong", &format!("id={}", pair.id)).await;
    let song = &shown["song"];
    let reply = pair.stream_with("format=raw", &[]).await;
    assert_eq!(song["size"], reply.body.len());
    assert_eq!(song["suffix"], "flac");
    assert_eq!(song["bitRate"], 900);
    assert_eq!(song["contentType"], reply.header("content-type"));
    let row = pair.hub.last_row().await;
    assert_eq!(
        (&row["format"], &row["bit_rate"]),
        (&song["suffix"], &song["bitRate"])
    );
    // The same in every list.
    let album = pair
        .hub
        .rest(
            "getAlbum",
            &format!("id={}", song["albumId"].as_str().expect("an id")),
        )
        .await;
    let songs = album["album"]["song"].as_array().expect("songs");
    let listed = songs.iter().find(|listed| listed["id"] == song["id"]);
    assert_eq!(listed, Some(song));
}

#[tokio::test(flavor = "multi_thread")]
async fn os17_an_estimated_length_is_never_promised() {
    let pair = Pair::start().await;
    let reply = pair
        .stream_with("format=mp3&maxBitRate=96&estimateContentLength=true", &[])
        .await;
    assert_eq!(reply.header("content-length"), "");
    assert_eq!(reply.header("transfer-encoding"), "chunked");
    let first = pair.first.shared().track(SONG);
    assert_bytes!(reply.body, first.transcode("first", "mp3", 96, 0).all());
    let seen = pair.first.shared().last_seen("stream").expect("a request");
    assert_eq!(seen.param("estimateContentLength"), None);
    assert_eq!(pair.hub.last_row().await["bytes"], reply.body.len());
}
