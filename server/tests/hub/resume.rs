//! `stream.midstream = "resume"`: a raw stream goes on from a copy that is proved identical, or breaks.
//!
//! Contracts section 3, rule 7 and F2; row F11.

use crate::same::assert_bytes;
use crate::world::{OTHER, Pair, Reply, SONG, album, attempt_bytes, attempts, pairs, quick};
use futures_util::future::{Either, select};
use http_body_util::BodyExt;
use segue::upstream::{Fault, Group};
use segue_core::failover::{Limits, Midstream};
use serde_json::json;
use std::pin::pin;

fn resuming() -> Limits {
    Limits {
        midstream: Midstream::Resume,
        ..quick()
    }
}

fn assert_whole(reply: &Reply, bytes: &[u8]) {
    assert_eq!(reply.broken, None);
    assert_eq!(reply.body.len(), bytes.len());
    assert_bytes!(reply.body, bytes);
}

/// The client's bytes end with what `bytes` begins with, and its connection broke.
fn assert_broken(reply: &Reply, bytes: &[u8]) {
    assert!(reply.broken.is_some(), "never a clean end");
    assert_bytes!(reply.body, bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_a_stream_cut_anywhere_goes_on_from_its_twin() {
    let pair = Pair::twins(resuming()).await;
    // Before, at and after the length of the overlap that is compared.
    for at in [1, 100, 16_384, 16_385, 150_000, 299_999] {
        pair.fail_first(Fault::CutAt(at));
        let reply = pair.stream().await;
        assert_whole(&reply, &pair.first_bytes());
        let row = pair.hub.last_row().await;
        assert_eq!(row["status"], "completed");
        let tried = pairs(&[("one", "served"), ("two", "resumed")]);
        assert_eq!(attempts(&row), tried, "{at}");
        assert_eq!(row["attempts"][0]["bytes"], at);
        assert_eq!(
            (&row["bytes"], attempt_bytes(&row)),
            (&json!(300_000), 300_000)
        );
        let seen = pair.second.shared().last_seen("stream").expect("a request");
        let overlap = at.saturating_sub(16 * 1024);
        assert_eq!(seen.header("range"), Some(&*format!("bytes={overlap}-")));
        pair.hub.assert_at_rest().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_a_killed_source_is_taken_over_from_in_the_middle_of_a_body() {
    let pair = Pair::twins(resuming()).await;
    pair.fail_first(Fault::StallAt(200_000));
    let target = pair.hub.stream_target(&pair.id, "");
    let mut body = pair.hub.open("GET", &target, &[]).await.into_body();
    let mut got = Vec::new();
    while got.len() < 100_000 {
        let frame = body.frame().await.expect("more").expect("no break");
        got.extend(frame.into_data().expect("data"));
    }
    pair.first.faults().die().await;
    got.extend(body.collect().await.expect("the rest").to_bytes());
    assert_eq!(got, pair.first_bytes());
    let tried = pairs(&[("one", "served"), ("two", "resumed")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_a_silent_source_is_taken_over_from_after_the_idle_budget() {
    let pair = Pair::twins(resuming()).await;
    pair.fail_first(Fault::StallAt(123_456));
    assert_whole(&pair.stream().await, &pair.first_bytes());
    pair.first.until(|c| c.open_streams == 0).await;
    assert_eq!(pair.hub.last_row().await["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_goes_on_from_a_twin_and_ends_where_it_should() {
    let pair = Pair::twins(resuming()).await;
    pair.fail_first(Fault::CutAt(50_000));
    for (range, first, end) in [
        ("bytes=1000-200999", 1000, 201_000),
        ("bytes=7-", 7, 300_000),
    ] {
        let reply = pair.stream_with("", &[("range", range)]).await;
        assert_eq!(reply.status, 206);
        assert_whole(&reply, &pair.first_bytes()[first..end]);
        let row = pair.hub.last_row().await;
        assert_eq!(row["status"], "completed");
        assert_eq!(attempt_bytes(&row), (end - first) as u64);
        pair.second.until(|c| c.open_streams == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_only_hiccuped_goes_on_itself() {
    let pair = Pair::start_resuming_alone().await;
    let cut = Some(Fault::CutAt(150_000));
    pair.first.faults().next(Group::Media, cut);
    assert_whole(&pair.stream().await, &pair.first_bytes());
    let tried = pairs(&[("one", "served"), ("one", "resumed")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
    assert_eq!(pair.second.counters().streams, 0, "another encode");
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_another_encode_never_continues_a_stream() {
    let pair = Pair::start_resuming_alone().await;
    pair.fail_first(Fault::CutAt(1000));
    pair.first
        .faults()
        .next(Group::Media, Some(Fault::CutAt(1000)));
    pair.first
        .faults()
        .next(Group::Media, Some(Fault::Status(500)));
    assert_broken(&pair.stream().await, &pair.first_bytes()[..1000]);
    assert_eq!(pair.second.counters().streams, 0);
    let row = pair.hub.last_row().await;
    assert_eq!(
        (&row["status"], &row["bytes"]),
        (&json!("truncated"), &json!(1000))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_copy_of_the_same_length_with_other_bytes_never_continues_a_stream() {
    let same_size = album("flac", 900, 300_000);
    let pair = Pair::of(same_size.clone(), same_size, resuming()).await;
    // Far enough that the first source is asked to go on itself, too, and has lost the track.
    for at in [20_000, 100_000] {
        pair.first
            .faults()
            .next(Group::Media, Some(Fault::CutAt(at)));
        pair.first
            .faults()
            .next(Group::Media, Some(Fault::Status(404)));
        let reply = pair.stream().await;
        assert_broken(&reply, &pair.first_bytes()[..at as usize]);
        let row = pair.hub.last_row().await;
        assert_eq!(
            (&row["status"], &row["bytes"]),
            (&json!("truncated"), &json!(at))
        );
        assert_eq!(attempts(&row), pairs(&[("one", "served")]));
    }
    pair.second
        .until(|c| c.streams == 2 && c.open_streams == 0)
        .await;
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_twin_that_lies_about_its_bytes_is_found_out() {
    let pair = Pair::twins(resuming()).await;
    for fault in [
        Fault::WrongBytesOnResume,
        Fault::WrongContentRange,
        Fault::Whole200ToRange,
        Fault::ErrorIn200HtmlAsAudio,
        Fault::Empty200,
        Fault::CutAt(100),
    ] {
        pair.second.faults().set(Group::Media, fault.clone());
        pair.first
            .faults()
            .next(Group::Media, Some(Fault::CutAt(150_000)));
        pair.first
            .faults()
            .next(Group::Media, Some(Fault::Status(404)));
        let reply = pair.stream().await;
        assert!(reply.broken.is_some(), "{fault:?}");
        assert_bytes!(reply.body, pair.first_bytes()[..150_000], "{fault:?}");
        assert_eq!(
            pair.hub.last_row().await["status"],
            "truncated",
            "{fault:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcode_is_never_continued() {
    let pair = Pair::twins(resuming()).await;
    pair.fail_first(Fault::CutAt(50_000));
    let reply = pair.stream_with("maxBitRate=128", &[]).await;
    let first = pair.first.shared().track(SONG);
    let whole = first.transcode("first", "mp3", 128, 0).all();
    assert_broken(&reply, &whole[..50_000]);
    assert_eq!(pair.second.counters().streams, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_resume_not_even_a_twin_continues_a_stream() {
    let pair = Pair::twins(quick()).await;
    pair.fail_first(Fault::CutAt(50_000));
    assert_broken(&pair.stream().await, &pair.first_bytes()[..50_000]);
    assert_eq!(pair.second.counters().streams, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn f5_a_client_that_leaves_while_a_copy_is_sought_leaves_nothing() {
    let pair = Pair::twins(resuming()).await;
    pair.fail_first(Fault::CutAt(1000));
    let second = pair.second.faults();
    second.set(Group::Media, Fault::HangBeforeHead);
    {
        let playing = pin!(pair.stream());
        let sought = pin!(pair.second.until(|c| c.open_streams == 1));
        let first = select(playing, sought).await;
        assert!(matches!(first, Either::Right(_)));
    }
    pair.second.until(|c| c.open_streams == 0).await;
    let row = pair.hub.last_row().await;
    assert_eq!(
        (&row["status"], &row["bytes"]),
        (&json!("client_gone"), &json!(1000))
    );
    assert_eq!(pair.hub.state_of("two").await, "ok", "B8");
    pair.hub.assert_at_rest().await;
    // The next song is served as ever.
    second.clear();
    pair.first.faults().clear();
    let other = pair.hub.id_of(OTHER).await;
    assert_whole(
        &pair.hub.stream(&other).await,
        &pair.first.shared().bytes_of(OTHER),
    );
}

impl Pair {
    /// Two encodes, under resume: nobody can continue for `first` but itself.
    async fn start_resuming_alone() -> Pair {
        Pair::with(resuming()).await
    }
}
