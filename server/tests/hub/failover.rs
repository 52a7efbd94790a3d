//! Failover as a client sees it (contracts section 3; the rows F1 to F17).

use crate::world::{TestHub, attempts, pairs, source, upstream};
use segue::upstream::{Door, Fault, Group, Library};
use segue_core::source::range;

const TITLES: &[&str] = &["Hunter", "Jóga", "Bachelorette"];

fn shared() -> Library {
    Library::of_one_album("Björk", "Homogenic", TITLES)
}

/// The better copy first, the lesser second.
fn lesser() -> Library {
    shared().each_track(|track| *track = track.clone().format("mp3", 128))
}

fn better() -> Library {
    shared().each_track(|track| *track = track.clone().format("flac", 900))
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_a_refused_preferred_source_gives_way_to_a_copy() {
    let first = upstream("first", better()).await;
    let second = upstream("second", lesser()).await;
    let hub = TestHub::start(vec![source("one", &first), source("two", &second)]).await;
    let id = hub.id_of("Hunter").await;
    let reply = hub.stream(&id).await;
    assert_eq!(reply.body, first.shared().bytes_of("Hunter"));
    first.faults().door(Door::Refuse).await;
    first.faults().cut_connections();
    let reply = hub.stream(&id).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, second.shared().bytes_of("Hunter"));
    let rows = hub.activity().await;
    assert_eq!(rows[0]["source_id"], "two");
    assert_eq!(rows[0]["status"], "completed");
    assert_eq!(rows[0]["bytes"], reply.body.len());
    assert_eq!(
        attempts(&rows[0]),
        pairs(&[("one", "refused"), ("two", "served")])
    );
    let _ = (Group::Media, Fault::Empty200, range::parse(""));
}
