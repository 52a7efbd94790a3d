//! Failover as a client sees it: which source serves, what the record says, whom it blames.
//!
//! Contracts section 3; rows F1, F2, F6, F7, F9, F14 and F17, and the streaming rows of the public bug reports.

use crate::same::assert_bytes;
use crate::world::{
    Pair, SONG, TestHub, album, assert_no_leak, attempts, forgiving, pairs, quick, source, upstream,
};
use http_body_util::BodyExt;
use segue::assemble::reload;
use segue::upstream::{Door, Fault, Group};
use segue_core::failover::{Limits, StreamMode};
use std::pin::pin;
use std::time::Duration;

const UNREACHABLE: &str = "No reachable source for track";

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_refused_preferred_source_gives_way_to_a_copy() {
    let pair = Pair::start().await;
    assert_bytes!(pair.stream().await.body, pair.first_bytes());
    pair.first.faults().die().await;
    let reply = pair.stream().await;
    assert_eq!(reply.status, 200);
    assert_bytes!(reply.body, pair.second_bytes());
    assert_eq!(reply.header("content-type"), "audio/mpeg");
    let row = pair.hub.last_row().await;
    assert_eq!(row["source_id"], "two");
    assert_eq!(row["source_kind"], "subsonic");
    assert_eq!(row["status"], "completed");
    assert_eq!(row["bytes"], reply.body.len());
    let tried = pairs(&[("one", "refused"), ("two", "served")]);
    assert_eq!(attempts(&row), tried);
    assert_eq!(pair.hub.state_of("one").await, "suspect");
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_source_that_accepts_and_never_answers_is_left_within_the_head_budget() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::HangBeforeHead);
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    // Not only given up, but closed.
    pair.first.until(|c| c.open_streams == 0).await;
    let tried = pairs(&[("one", "timeout"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_black_hole_holds_up_the_next_source_for_the_stagger_once() {
    // The connect budget is out of reach, so only the stagger can have started the second source.
    let limits = Limits {
        connect: Duration::from_secs(600),
        open_budget: Duration::from_secs(900),
        ..quick()
    };
    let pair = Pair::with(limits).await;
    pair.first.faults().door(Door::BlackHole).await;
    pair.first.faults().cut_connections();
    let reply = pair.stream().await;
    assert_bytes!(reply.body, pair.second_bytes());
    let tried = pairs(&[("one", "timeout"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
    // It is suspect now: the next listener does not wait for it at all.
    pair.stream().await;
    let tried = pairs(&[("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_when_all_fail_there_is_one_502_with_a_generic_body() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::Status(500));
    let second = pair.second.faults();
    second.set(Group::Media, Fault::ErrorIn200Html);
    let reply = pair.stream().await;
    assert_eq!((reply.status, reply.text()), (502, UNREACHABLE.to_owned()));
    assert_no_leak(&reply);
    // Both windows are 60 s; what is left of the first is said in whole seconds.
    assert!((1..=60).contains(&reply.retry_after()));
    let row = pair.hub.last_row().await;
    assert_eq!(row["status"], "failed");
    assert_eq!(row["error"], UNREACHABLE);
    assert_eq!(row["source_id"], serde_json::Value::Null);
    assert_eq!(row["bytes"], 0);
    let tried = pairs(&[("one", "status_5xx"), ("two", "error_document")]);
    assert_eq!(attempts(&row), tried);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_the_opening_budget_bounds_any_number_of_silent_sources() {
    let limits = Limits {
        open_budget: Duration::from_millis(1500),
        ..quick()
    };
    let mut upstreams = Vec::new();
    for name in ["a", "b", "c", "d"] {
        upstreams.push(upstream(name, album("flac", 900, 10_000)).await);
    }
    let ids = ["a", "b", "c", "d"].iter().zip(&upstreams);
    let sources = ids.map(|(id, upstream)| source(id, upstream)).collect();
    let hub = TestHub::start_with(sources, limits).await;
    let id = hub.id_of(SONG).await;
    for upstream in &upstreams {
        upstream.faults().set(Group::Media, Fault::HangBeforeHead);
    }
    let reply = hub.stream(&id).await;
    assert_eq!((reply.status, reply.text()), (502, UNREACHABLE.to_owned()));
    // One second each: the budget ends while the second is asked, and nobody else is.
    let asked = upstreams.iter().map(|u| u.counters().streams);
    assert_eq!(asked.collect::<Vec<_>>(), [1, 1, 0, 0]);
    let row = hub.last_row().await;
    let tried = pairs(&[("a", "timeout"), ("b", "timeout")]);
    assert_eq!(attempts(&row), tried, "who was not asked is not accused");
    hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f6_no_source_at_all_is_404() {
    let pair = Pair::start().await;
    pair.hub.hub.remove_source("one");
    pair.hub.hub.remove_source("two");
    for method in ["GET", "HEAD"] {
        let target = pair.hub.stream_target(&pair.id, "f=json");
        let reply = pair.hub.ask(method, &target, &[]).await;
        assert_eq!(reply.status, 404);
        if method == "GET" {
            assert_eq!(reply.json()["subsonic-response"]["error"]["code"], 70);
        }
    }
    assert_eq!(pair.hub.activity().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_a_suspect_source_is_not_contacted_within_its_window() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::Status(500));
    pair.stream().await;
    pair.first.faults().clear();
    let before = pair.first.counters();
    let reply = pair.stream().await;
    assert_bytes!(reply.body, pair.second_bytes());
    assert_eq!(pair.first.counters(), before);
    let row = pair.hub.last_row().await;
    assert_eq!(attempts(&row), pairs(&[("two", "served")]));
    let shown = pair.hub.shown("one").await;
    assert_eq!(shown["state"], "suspect");
    assert!(shown["suspect_until"].is_string());
    assert_eq!(shown["last_error"], "answered with status 500");
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_after_the_window_one_probe_decides() {
    let pair = Pair::with(forgiving()).await;
    pair.fail_first(Fault::Status(500));
    pair.stream().await;
    assert_eq!(pair.hub.state_of("one").await, "half_open");
    pair.fail_first(Fault::StallAt(0));
    let mut probing = pin!(pair.stream());
    {
        let arrived = pin!(pair.first.until(|c| c.streams == 2));
        let first = futures_util::future::select(probing.as_mut(), arrived).await;
        assert!(matches!(first, futures_util::future::Either::Right(_)));
    }
    // While the probe is out nobody else is sent there (B1).
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    assert_eq!(pair.first.counters().streams, 2);
    pair.first.faults().release();
    assert_bytes!(probing.await.body, pair.first_bytes());
    assert_eq!(pair.hub.state_of("one").await, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn f7_when_all_are_suspect_a_client_hears_at_once_when_to_come_back() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::CloseBeforeHead);
    let second = pair.second.faults();
    second.set(Group::Media, Fault::CloseBeforeHead);
    pair.stream().await;
    let before = (pair.first.counters(), pair.second.counters());
    // The last resort waits for 5 s after a failure (rule 2).
    let reply = pair.stream().await;
    assert_eq!((reply.status, reply.text()), (502, UNREACHABLE.to_owned()));
    assert!((1..=60).contains(&reply.retry_after()));
    assert_eq!((pair.first.counters(), pair.second.counters()), before);
    let row = pair.hub.last_row().await;
    let tried = pairs(&[("one", "suspect"), ("two", "suspect")]);
    assert_eq!(attempts(&row), tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn f9_parameters_are_resolved_again_for_each_candidate() {
    let pair = Pair::with(forgiving()).await;
    let asked = |upstream: &segue::upstream::Upstream| {
        let seen = upstream.shared().last_seen("stream").expect("a request");
        ["format", "maxBitRate", "timeOffset"].map(|name| seen.param(name).map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    // FLAC at 900 is over the cap, MP3 at 128 is not.
    let wish = "maxBitRate=192&timeOffset=5&estimateContentLength=true";
    let reply = pair.stream_with(wish, &[]).await;
    assert_eq!(asked(&pair.first), [some("mp3"), some("192"), some("5")]);
    let first = pair.first.shared();
    let transcoded = first.track(SONG).transcode("first", "mp3", 192, 5);
    assert_bytes!(reply.body, transcoded.all());
    let row = pair.hub.last_row().await;
    assert_eq!(row["transcoded"], true);
    assert_eq!(
        (&row["format"], &row["bit_rate"]),
        (&"mp3".into(), &192.into())
    );

    pair.fail_first(Fault::ErrorIn200Json { code: 0 });
    let reply = pair.stream_with(wish, &[]).await;
    assert_eq!(asked(&pair.second), [some("raw"), None, None]);
    assert_bytes!(reply.body, pair.second_bytes());
    let row = pair.hub.last_row().await;
    assert_eq!(row["transcoded"], false);
    assert_eq!(
        (&row["format"], &row["bit_rate"]),
        (&"mp3".into(), &128.into())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f14_a_redirect_to_another_host_is_refused() {
    let pair = Pair::start().await;
    let trap = upstream("trap", album("flac", 900, 10_000)).await;
    let there = format!("{}/rest/stream?id={}", trap.url(), pair.id);
    for location in [there.clone(), there.replace("127.0.0.1", "localhost")] {
        pair.fail_first(Fault::RedirectTo(location));
        assert_bytes!(pair.stream().await.body, pair.second_bytes());
    }
    assert_eq!(trap.counters().connections, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn f14_a_redirect_to_the_same_host_is_followed_three_times() {
    let pair = Pair::with(forgiving()).await;
    pair.stream().await;
    let seen = pair.first.shared().last_seen("stream").expect("a request");
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let here = format!(
        "/rest/stream.view?{}",
        query.extend_pairs(&seen.params).finish()
    );
    for _ in 0..3 {
        let again = Fault::RedirectTo(here.clone());
        pair.first.faults().next(Group::Media, Some(again));
    }
    assert_bytes!(pair.stream().await.body, pair.first_bytes());
    // A loop ends.
    let before = pair.first.counters().streams;
    pair.fail_first(Fault::RedirectTo(here));
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    assert_eq!(pair.first.counters().streams - before, 4);
    let tried = pairs(&[("one", "redirect"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn f17_a_source_removed_at_run_time_leaves_its_tracks_to_the_others_at_once() {
    let pair = Pair::start().await;
    pair.hub.hub.remove_source("one");
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    let row = pair.hub.last_row().await;
    assert_eq!(attempts(&row), pairs(&[("two", "served")]));
    let head = pair.hub.stream_target(&pair.id, "");
    let head = pair.hub.ask("HEAD", &head, &[]).await;
    assert_eq!(head.header("content-type"), "audio/mpeg");
}

#[tokio::test(flavor = "multi_thread")]
async fn f17_a_changed_list_of_sources_is_taken_up_while_streams_go_on() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::StallAt(1000));
    let target = pair.hub.stream_target(&pair.id, "");
    let playing = pair.hub.open("GET", &target, &[]).await.into_body();
    let third = upstream("third", album("flac", 1000, 50_000)).await;
    let changed = vec![source("two", &pair.second), source("three", &third)];
    reload(&pair.hub.hub, changed).await.expect("entered");
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    pair.hub.sync().await;
    assert_bytes!(pair.stream().await.body, third.shared().bytes_of(SONG));
    // The source that is gone plays its last song to the end.
    pair.first.faults().release();
    let whole = playing.collect().await.expect("the rest").to_bytes();
    assert_eq!(whole, pair.first_bytes());
    let back = vec![source("one", &pair.first), source("two", &pair.second)];
    reload(&pair.hub.hub, back).await.expect("entered");
    pair.first.faults().clear();
    assert_bytes!(pair.stream().await.body, pair.first_bytes());
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_went_stale_is_dialled_again_and_blames_nobody() {
    let pair = Pair::start().await;
    pair.stream().await;
    pair.first.faults().cut_connections();
    pair.first.until(|c| c.open_connections == 0).await;
    assert_bytes!(pair.stream().await.body, pair.first_bytes());
    let row = pair.hub.last_row().await;
    assert_eq!(attempts(&row), pairs(&[("one", "served")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_copies_on_one_server_are_two_candidates() {
    let mut library = album("flac", 900, 30_000);
    let again = album("mp3", 128, 20_000).artists.remove(0).albums.remove(0);
    library.artists[0].albums.push(again.id("al-again"));
    let home = upstream("home", library).await;
    let hub = TestHub::start_with(vec![source("one", &home)], forgiving()).await;
    let id = hub.id_of(SONG).await;
    let copies = hub.sources_of(&id).await;
    assert_eq!(copies.len(), 2);
    let bytes_of = |remote_id: &str| {
        let library = home.shared().library();
        let (_, _, track) = library
            .tracks()
            .find(|(_, _, t)| t.id == remote_id)
            .expect("it");
        track.content("home").all()
    };
    assert_bytes!(hub.stream(&id).await.body, bytes_of(&copies[0].remote_id));
    // The file of one is gone; the server is not.
    let faults = home.faults();
    faults.set_for(Group::Media, &copies[0].remote_id, Fault::Status(404));
    assert_bytes!(hub.stream(&id).await.body, bytes_of(&copies[1].remote_id));
    let row = hub.last_row().await;
    assert_eq!(
        attempts(&row),
        pairs(&[("one", "not_found"), ("one", "served")])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_songs_are_played() {
    let pair = Pair::start().await;
    let song = pair.hub.rest("getSong", &format!("id={}", pair.id)).await;
    for key in ["albumId", "artistId"] {
        let id = song["song"][key].as_str().expect("an id");
        let reply = pair.hub.stream(id).await;
        assert_eq!(reply.status, 404, "{key}");
    }
    assert_eq!(pair.first.counters().streams, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn os1_an_id_that_went_stale_is_served_elsewhere_and_blames_nobody() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::ErrorIn200Json { code: 70 });
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    assert_eq!(pair.hub.activity().await.len(), 1);
    assert_eq!(pair.hub.last_row().await["source_id"], "two");
    assert_eq!(pair.hub.state_of("one").await, "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn os5_each_source_has_a_head_budget_of_its_own() {
    let limits = Limits {
        head: Duration::from_millis(1500),
        ..quick()
    };
    let pair = Pair::with(limits).await;
    pair.fail_first(Fault::HangBeforeHead);
    let late = Fault::SlowHead(Duration::from_millis(900));
    pair.second.faults().set(Group::Media, late);
    let reply = pair.stream().await;
    assert_bytes!(reply.body, pair.second_bytes());
    let tried = pairs(&[("one", "timeout"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
    let asked = (
        pair.first.counters().streams,
        pair.second.counters().streams,
    );
    assert_eq!(asked, (1, 1), "no double switch");
}

#[tokio::test(flavor = "multi_thread")]
async fn os8_a_source_that_is_busy_is_left_alone_for_as_long_as_it_asks() {
    // Without its own window, only Retry-After can hold it.
    let pair = Pair::with(forgiving()).await;
    let busy = Fault::Status429 {
        retry_after: Some(70),
    };
    pair.fail_first(busy);
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    pair.first.faults().clear();
    let before = pair.first.counters();
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    assert_eq!(pair.first.counters(), before);
    assert_eq!(pair.hub.state_of("one").await, "suspect");
}

#[tokio::test(flavor = "multi_thread")]
async fn os8_without_another_source_the_client_is_told_when_to_come_back() {
    let pair = Pair::with(forgiving()).await;
    pair.hub.hub.remove_source("two");
    let busy = Fault::Status503 {
        retry_after: Some(70),
    };
    pair.fail_first(busy);
    let reply = pair.stream().await;
    assert_eq!((reply.status, reply.header("retry-after")), (502, "70"));
    let reply = pair.stream().await;
    assert_eq!(reply.status, 502);
    assert!((1..=70).contains(&reply.retry_after()));
    assert_eq!(pair.first.counters().streams, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_mode_serves_from_whoever_can() {
    for mode in [
        StreamMode::Ordered,
        StreamMode::Hedged,
        StreamMode::Parallel,
    ] {
        let pair = Pair::with(Limits { mode, ..quick() }).await;
        pair.fail_first(Fault::HangBeforeHead);
        assert_bytes!(pair.stream().await.body, pair.second_bytes(), "{mode:?}");
        pair.first.until(|c| c.open_streams == 0).await;
        let row = pair.hub.last_row().await;
        assert_eq!(row["source_id"], "two", "{mode:?}");
        let (lost, state) = match mode {
            StreamMode::Ordered => ("timeout", "suspect"),
            // Overtaken, not judged.
            StreamMode::Hedged | StreamMode::Parallel => ("given_up", "ok"),
        };
        let tried = pairs(&[("one", lost), ("two", "served")]);
        assert_eq!(attempts(&row), tried, "{mode:?}");
        assert_eq!(pair.hub.state_of("one").await, state, "{mode:?}");
        pair.hub.assert_at_rest().await;
    }
}
