//! Covers: from whoever has one, kept, scaled, validated.

use crate::same::assert_bytes;
use crate::world::{AUTH, Pair, Reply, TestHub, assert_no_leak, forgiving};
use image::GenericImageView;
use segue::upstream::{Fault, Group};

async fn album_of(pair: &Pair) -> String {
    let song = pair.hub.rest("getSong", &format!("id={}", pair.id)).await;
    song["song"]["albumId"].as_str().expect("an id").to_owned()
}

async fn cover(hub: &TestHub, id: &str, rest: &str, headers: &[(&str, &str)]) -> Reply {
    let target = format!("/rest/getCoverArt?{AUTH}&f=json&id={id}&{rest}");
    hub.ask("GET", &target, headers).await
}

fn side(reply: &Reply) -> (u32, u32) {
    image::load_from_memory(&reply.body)
        .expect("a picture")
        .dimensions()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cover_is_fetched_once_and_then_kept_even_when_every_source_is_gone() {
    let pair = Pair::start().await;
    let id = album_of(&pair).await;
    let fetched = cover(&pair.hub, &id, "", &[]).await;
    assert_eq!((fetched.status, side(&fetched)), (200, (300, 300)));
    let asked = pair.first.counters().of("getCoverArt");
    assert_eq!(asked, 1);
    pair.first.faults().die().await;
    pair.second.faults().die().await;
    let kept = cover(&pair.hub, &id, "", &[]).await;
    assert_bytes!(kept.body, fetched.body);
    assert_eq!(pair.second.counters().of("getCoverArt"), 0);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cover_is_scaled_down_and_never_up() {
    let pair = Pair::start().await;
    let id = album_of(&pair).await;
    for (size, expected) in [
        ("100", 100),
        ("1", 1),
        ("299", 299),
        ("300", 300),
        ("2000", 300),
        ("0", 300),
        ("99999", 300),
        ("", 300),
    ] {
        let reply = cover(&pair.hub, &id, &format!("size={size}"), &[]).await;
        assert_eq!(
            (reply.status, side(&reply)),
            (200, (expected, expected)),
            "{size}"
        );
        // The hub scales: sources differ in what they make of a size.
        let seen = pair
            .first
            .shared()
            .last_seen("getCoverArt")
            .expect("a request");
        assert_eq!(seen.param("size"), None);
    }
    for size in ["abc", "-1", "1e3", "99999999999999999999"] {
        let reply = cover(&pair.hub, &id, &format!("size={size}"), &[]).await;
        assert_eq!(
            reply.json()["subsonic-response"]["error"]["code"],
            0,
            "{size}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn songs_albums_and_artists_have_covers() {
    let pair = Pair::start().await;
    let song = pair.hub.rest("getSong", &format!("id={}", pair.id)).await;
    for key in ["id", "coverArt", "albumId", "artistId"] {
        let id = song["song"][key].as_str().expect("an id");
        let reply = cover(&pair.hub, id, "", &[]).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, "image/png"),
            "{key}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_has_the_picture_is_told_so() {
    let pair = Pair::start().await;
    let id = album_of(&pair).await;
    let first = cover(&pair.hub, &id, "size=50", &[]).await;
    let etag = first.header("etag").to_owned();
    assert!(first.header("cache-control").contains("max-age"));
    for known in [
        etag.clone(),
        format!("\"other\", {etag}"),
        format!("W/{etag}"),
    ] {
        let reply = cover(&pair.hub, &id, "size=50", &[("if-none-match", &known)]).await;
        assert_eq!((reply.status, reply.body.len()), (304, 0), "{known}");
        assert_eq!(reply.header("etag"), etag);
    }
    let other = cover(&pair.hub, &id, "size=51", &[("if-none-match", &etag)]).await;
    assert_eq!(other.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_nobody_has_it_there_is_a_502_and_nothing_of_theirs() {
    let pair = Pair::with(forgiving()).await;
    let id = album_of(&pair).await;
    for upstream in [&pair.first, &pair.second] {
        upstream.faults().set(Group::Art, Fault::ErrorIn200Html);
    }
    let reply = cover(&pair.hub, &id, "", &[]).await;
    assert_eq!(
        (reply.status, reply.text().as_str()),
        (502, "No reachable source for cover art")
    );
    assert_no_leak(&reply);
    // Nothing of the kind is kept.
    pair.first.faults().clear();
    assert_eq!(cover(&pair.hub, &id, "", &[]).await.status, 200);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cover_of_nothing_is_an_envelope() {
    let pair = Pair::start().await;
    for (id, code) in [
        ("nothing", 70),
        ("", 10),
        ("%00", 70),
        ("al-%2e%2e%2f..%2fetc", 70),
        ("'%20or%201=1--", 70),
    ] {
        let reply = cover(&pair.hub, id, "", &[]).await;
        assert_eq!(
            reply.json()["subsonic-response"]["error"]["code"],
            code,
            "{id}"
        );
    }
    assert_eq!(pair.first.counters().of("getCoverArt"), 0);
}
