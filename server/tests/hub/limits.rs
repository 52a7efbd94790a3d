//! How many streams a source is asked for at once.

use crate::same::assert_bytes;
use crate::world::{SONG, TestHub, album, attempts, pairs, quick, source, upstream};
use futures_util::future::join_all;
use http_body_util::BodyExt;
use segue::assemble::reload;
use segue::sources::SourceSpec;
use segue::upstream::{Fault, Group, Upstream};
use segue_core::failover::Limits;
use serde_json::{Value, json};

/// Two upstreams, of which `one` ranks first and serves only so many streams at once.
async fn limited(most: u32) -> (TestHub, Upstream, Upstream) {
    let first = upstream("first", album("flac", 900, 300_000)).await;
    let second = upstream("second", album("mp3", 128, 200_000)).await;
    let one = SourceSpec {
        max_streams: most,
        ..source("one", &first)
    };
    let limits = Limits {
        idle: Limits::default().idle,
        ..quick()
    };
    let hub = TestHub::start_with(vec![one, source("two", &second)], limits).await;
    (hub, first, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_serves_as_many_as_it_may_gives_way_to_the_next() {
    let (hub, first, second) = limited(1).await;
    let id = hub.id_of(SONG).await;
    first.faults().set(Group::Media, Fault::StallAt(1000));
    let playing = hub.open("GET", &hub.stream_target(&id, ""), &[]).await;
    let reply = hub.stream(&id).await;
    assert_bytes!(reply.body, second.shared().bytes_of(SONG));
    let tried = pairs(&[("one", "full"), ("two", "served")]);
    assert_eq!(attempts(&hub.last_row().await), tried);
    let shown = hub.shown("one").await;
    assert_eq!(
        (&shown["state"], &shown["last_error"]),
        (&json!("ok"), &Value::Null)
    );
    first.faults().clear();
    first.faults().release();
    playing.into_body().collect().await.expect("whole");
    let reply = hub.stream(&id).await;
    assert_bytes!(
        reply.body,
        first.shared().bytes_of(SONG),
        "there is room again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_do_not_slip_past_the_limit() {
    let (hub, first, second) = limited(3).await;
    let id = hub.id_of(SONG).await;
    first.faults().set(Group::Media, Fault::StallAt(1000));
    let target = hub.stream_target(&id, "");
    let open = async || hub.open("GET", &target, &[]).await.into_body();
    let playing = join_all((0..20).map(|_| open())).await;
    assert_eq!(first.counters().streams, 3);
    assert_eq!(second.counters().streams, 17);
    drop(playing);
    first.until(|c| c.open_streams == 0).await;
    hub.assert_at_rest().await;
    first.faults().clear();
    let reply = hub.stream(&id).await;
    assert_bytes!(
        reply.body,
        first.shared().bytes_of(SONG),
        "all the room is back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failover_does_not_slip_past_the_limit_either() {
    let (hub, first, second) = limited(3).await;
    let id = hub.id_of(SONG).await;
    // The better source is the limited one, so it is made the second choice by a copy that is better still.
    let best = upstream("best", album("flac", 1000, 300_000)).await;
    drop(second);
    let one = SourceSpec {
        max_streams: 3,
        ..source("one", &first)
    };
    let sources = vec![one, source("three", &best)];
    reload(&hub.hub, sources).await.expect("entered");
    hub.sync().await;
    best.faults().set(Group::Media, Fault::Status(404));
    first.faults().set(Group::Media, Fault::StallAt(1000));
    let target = hub.stream_target(&id, "");
    let open = async || hub.open("GET", &target, &[]).await;
    let playing = join_all((0..20).map(|_| open())).await;
    let good = playing
        .iter()
        .filter(|response| response.status() == 200)
        .count();
    assert_eq!((good, first.counters().streams), (3, 3));
    drop(playing);
    first.until(|c| c.open_streams == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_every_source_is_full_the_client_is_told_so_and_nobody_is_asked() {
    let (hub, first, _second) = limited(1).await;
    hub.hub.remove_source("two");
    let id = hub.id_of(SONG).await;
    first.faults().set(Group::Media, Fault::StallAt(1000));
    let playing = hub.open("GET", &hub.stream_target(&id, ""), &[]).await;
    let reply = hub.stream(&id).await;
    assert_eq!(
        (reply.status, reply.text().as_str()),
        (502, "No reachable source for track")
    );
    assert_eq!(first.counters().streams, 1);
    let row = hub.last_row().await;
    assert_eq!(row["status"], "failed");
    assert_eq!(attempts(&row), pairs(&[("one", "full")]));
    assert_eq!(hub.state_of("one").await, "ok");
    drop(playing);
    first.until(|c| c.open_streams == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_could_not_be_opened_takes_no_room() {
    let (hub, first, second) = limited(1).await;
    let id = hub.id_of(SONG).await;
    for _ in 0..3 {
        first.faults().set(Group::Media, Fault::Status(404));
        assert_bytes!(hub.stream(&id).await.body, second.shared().bytes_of(SONG));
        first.faults().clear();
        assert_bytes!(hub.stream(&id).await.body, first.shared().bytes_of(SONG));
    }
}
