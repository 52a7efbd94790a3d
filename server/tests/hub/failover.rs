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
