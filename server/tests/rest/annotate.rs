//! Stars, plays, and who listens to what.

use crate::library::{BJORK, DEBUT, TRACK};
use crate::shape::{assert_album, assert_artist, assert_folder, assert_song, ids};
use crate::world::{ADMIN, ALICE, BEGINNING, World};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn stars_are_kept_by_user_and_any_parameter_takes_any_id() {
    let world = World::new();
    world
        .ask("star", &format!("id={TRACK}&id={DEBUT}&artistId={BJORK}"))
        .await;
    let payload = world.ask("getStarred2", "").await;
    let starred = &payload["starred2"];
    assert_eq!(ids(&starred["song"]), [TRACK]);
    assert_eq!(ids(&starred["album"]), [DEBUT]);
    assert_eq!(ids(&starred["artist"]), [BJORK]);
    assert_song(&starred["song"][0]);
    assert_album(&starred["album"][0]);
    assert_artist(&starred["artist"][0]);
    assert_eq!(starred["song"][0]["starred"], BEGINNING.to_string());
    let old = world.ask("getStarred", "").await;
    assert_folder(&old["starred"]["album"][0]);
    let song = world.ask("getSong", &format!("id={TRACK}")).await;
    assert_eq!(song["song"]["starred"], BEGINNING.to_string());
    let list = world.ask("getAlbumList2", "type=starred").await;
    assert_eq!(ids(&list["albumList2"]["album"]), [DEBUT]);
    let others = world.ask_as(ALICE, "getStarred2", "").await;
    assert_eq!(
        others["starred2"],
        json!({"artist": [], "album": [], "song": []})
    );

    world
        .ask("unstar", &format!("albumId={DEBUT}&id={BJORK}&id=nothing"))
        .await;
    let payload = world.ask("getStarred2", "").await;
    assert_eq!(ids(&payload["starred2"]["song"]), [TRACK]);
    assert_eq!(ids(&payload["starred2"]["album"]).len(), 0);
}

#[tokio::test]
async fn one_unknown_id_stars_nothing() {
    let world = World::new();
    assert_eq!(
        world.code("star", &format!("id={TRACK}&id=nothing")).await,
        70
    );
    let payload = world.ask("getStarred2", "").await;
    assert_eq!(payload["starred2"]["song"], json!([]));
}

#[tokio::test]
async fn ratings_are_kept_by_user_and_order_albums() {
    let world = World::new();
    for (id, rating) in [
        (TRACK, 4),
        (DEBUT, 3),
        ("al-queen", 5),
        (BJORK, 1),
        (BJORK, 0),
    ] {
        let query = format!("id={id}&rating={rating}");
        assert_eq!(world.code("setRating", &query).await, -1, "{query}");
    }
    let song = world.ask("getSong", &format!("id={TRACK}")).await;
    assert_eq!(song["song"]["userRating"], 4);
    let artist = world.ask("getArtist", &format!("id={BJORK}")).await;
    assert!(artist["artist"].get("userRating").is_none());
    let list = world.ask("getAlbumList2", "type=highest").await;
    assert_eq!(ids(&list["albumList2"]["album"]), ["al-queen", DEBUT]);
    assert_eq!(list["albumList2"]["album"][0]["userRating"], 5);
    let other = world.ask_as(ALICE, "getAlbumList2", "type=highest").await;
    assert_eq!(other["albumList2"]["album"], json!([]));
}

#[tokio::test]
async fn plays_pair_ids_with_times_in_milliseconds_or_seconds() {
    let world = World::new();
    let query = format!("id={TRACK}&id=tr-queen&id=nothing&time=1700000000000&time=1700000500");
    assert_eq!(world.code("scrobble", &query).await, -1);
    for (id, played) in [
        (TRACK, "2023-11-14T22:13:20.000Z"),
        ("tr-queen", "2023-11-14T22:21:40.000Z"),
    ] {
        let song = world.ask("getSong", &format!("id={id}")).await;
        assert_eq!(song["song"]["played"], played);
        assert_eq!(song["song"]["playCount"], 1);
    }
    let recent = world.ask("getAlbumList2", "type=recent").await;
    assert_eq!(ids(&recent["albumList2"]["album"]), ["al-queen", DEBUT]);
    let other = world.ask_as(ALICE, "getSong", &format!("id={TRACK}")).await;
    assert_eq!(other["song"]["playCount"], 0);
}

#[tokio::test]
async fn a_play_in_the_future_or_without_a_time_is_now() {
    let world = World::new();
    for query in ["time=99999999999999", "", "time="] {
        assert_eq!(
            world.code("scrobble", &format!("id={TRACK}&{query}")).await,
            -1
        );
    }
    let song = world.ask("getSong", &format!("id={TRACK}")).await;
    assert_eq!(song["song"]["played"], BEGINNING.to_string());
    assert_eq!(song["song"]["playCount"], 3);
}

#[tokio::test]
async fn playing_now_is_no_play_and_is_forgotten() {
    let world = World::new();
    let form = format!("{ADMIN}&f=json&id={TRACK}&submission=false");
    assert_eq!(world.post("scrobble.view", form).await.code(), -1);
    world.wait(Duration::from_secs(125));
    let payload = world.ask_as(ALICE, "getNowPlaying", "").await;
    let entry = &payload["nowPlaying"]["entry"][0];
    assert_song(entry);
    assert_eq!(entry["id"], TRACK);
    assert_eq!(entry["username"], "admin");
    assert_eq!(entry["minutesAgo"], 2);
    assert_eq!(entry["playerName"], "test");
    assert!(entry["playerId"].is_u64());
    let song = world.ask("getSong", &format!("id={TRACK}")).await;
    assert_eq!(song["song"]["playCount"], 0);
    world.wait(Duration::from_secs(3600));
    let payload = world.ask("getNowPlaying", "").await;
    assert_eq!(payload["nowPlaying"]["entry"], json!([]));
}
