//! Browsing by tags and by folders.

use crate::library::{BJORK, DEBUT, GUEST, HOSTILE_ALBUM, HOSTILE_TRACK, MERGED, SHOWN, TRACK};
use crate::shape::{assert_album, assert_artist, assert_folder, assert_song, ids};
use crate::world::World;
use serde_json::{Value, json};

fn names(index: &Value) -> Vec<&str> {
    let items = index.as_array().expect("a list");
    items
        .iter()
        .map(|i| i["name"].as_str().expect("a name"))
        .collect()
}

#[tokio::test]
async fn music_folders_are_the_sources_with_whole_numbers() {
    let world = World::new();
    let payload = world.ask("getMusicFolders", "").await;
    assert_eq!(
        payload["musicFolders"]["musicFolder"],
        json!([{"id": 1, "name": "Home & Away"}, {"id": 2, "name": "Shelf"}])
    );
}

#[tokio::test]
async fn artists_come_by_letter_without_their_articles() {
    let world = World::new();
    let payload = world.ask("getArtists", "").await;
    let index = &payload["artists"]["index"];
    assert!(
        payload["artists"]["ignoredArticles"]
            .as_str()
            .expect("text")
            .contains("The")
    );
    assert!(names(index).contains(&"Q"), "The Queen is under Q: {index}");
    assert_eq!(names(index).last(), Some(&"#"));
    let all: Vec<_> = index
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|i| ids(&i["artist"]))
        .collect();
    assert!(!all.contains(&GUEST), "a mere track artist is not listed");
    assert_eq!(all.len(), 4);
    for letter in index.as_array().expect("a list") {
        letter["artist"]
            .as_array()
            .expect("a list")
            .iter()
            .for_each(assert_artist);
    }
}

#[tokio::test]
async fn a_folder_narrows_and_an_unknown_one_is_empty_l3() {
    let world = World::new();
    for query in ["musicFolderId=2", "musicFolderId=shelf"] {
        let payload = world.ask("getArtists", query).await;
        let index = payload["artists"]["index"]
            .as_array()
            .expect("a list")
            .clone();
        assert_eq!(index.len(), 1, "{query}");
        assert_eq!(ids(&index[0]["artist"]), [BJORK]);
    }
    let payload = world.ask("getArtists", "musicFolderId=77").await;
    assert_eq!(payload["artists"]["index"], json!([]));
    let payload = world.ask("getArtists", "musicFolderId=").await;
    assert!(
        payload["artists"]["index"]
            .as_array()
            .expect("a list")
            .len()
            > 1
    );
}

#[tokio::test]
async fn an_artist_has_albums_and_a_guest_those_they_appear_on() {
    let world = World::new();
    let payload = world.ask("getArtist", &format!("id={BJORK}")).await;
    let artist = &payload["artist"];
    assert_artist(artist);
    assert_eq!(artist["name"], "Björk");
    assert_eq!(artist["albumCount"], 1);
    assert_eq!(ids(&artist["album"]), [DEBUT]);
    artist["album"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_album);
    let payload = world.ask("getArtist", &format!("id={GUEST}")).await;
    assert_eq!(ids(&payload["artist"]["album"]), [DEBUT]);
}

#[tokio::test]
async fn an_album_has_its_songs_in_order() {
    let world = World::new();
    let payload = world.ask("getAlbum", &format!("id={DEBUT}")).await;
    let album = &payload["album"];
    assert_album(album);
    assert_eq!(album["songCount"], 2);
    assert_eq!(album["duration"], 25);
    assert_eq!(album["coverArt"], DEBUT);
    assert_eq!(album["genre"], "Pop");
    assert_eq!(album["genres"], json!([{"name": "Pop"}, {"name": "R&B"}]));
    assert_eq!(ids(&album["song"]), [TRACK, "tr-crying"]);
    album["song"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_song);
}

#[tokio::test]
async fn a_song_shows_its_preferred_source_l1() {
    let world = World::new();
    let payload = world.ask("getSong", &format!("id={TRACK}")).await;
    let song = &payload["song"];
    assert_song(song);
    for (field, value) in [
        ("suffix", json!("flac")),
        ("contentType", json!("audio/flac")),
        ("bitRate", json!(900)),
        ("size", json!(1_430_000)),
        ("bitDepth", json!(16)),
        ("samplingRate", json!(44_100)),
        ("channelCount", json!(2)),
        ("duration", json!(13)),
        ("track", json!(1)),
        ("year", json!(1993)),
        ("path", json!("Björk/Debut/01 Human Behaviour.flac")),
        ("parent", json!(DEBUT)),
        ("albumId", json!(DEBUT)),
        ("artistId", json!(BJORK)),
        ("coverArt", json!(TRACK)),
        ("isrc", json!(["GBAYE0601498"])),
        ("type", json!("music")),
        ("mediaType", json!("song")),
        ("replayGain", json!({})),
        ("playCount", json!(0)),
    ] {
        assert_eq!(song[field], value, "{field}");
    }
    assert!(song["created"].as_str().expect("text").ends_with('Z'));
    assert!(song.get("starred").is_none(), "not starred is not there");
}

#[tokio::test]
async fn hostile_text_is_the_same_in_both_formats() {
    let world = World::new();
    // `ask` compares XML and JSON.
    let payload = world.ask("getAlbum", &format!("id={HOSTILE_ALBUM}")).await;
    assert_eq!(payload["album"]["name"], SHOWN);
    assert_eq!(payload["album"]["song"][0]["title"], SHOWN);
    let path = payload["album"]["song"][0]["path"]
        .as_str()
        .expect("text")
        .to_owned();
    assert_eq!(path.matches('/').count(), 2, "{path}");
    world.ask("getSong", &format!("id={HOSTILE_TRACK}")).await;
    let payload = world.ask("getGenres", "").await;
    let genres = payload["genres"]["genre"]
        .as_array()
        .expect("a list")
        .clone();
    assert!(genres.iter().any(|g| g["value"] == SHOWN));
    for genre in &genres {
        assert!(
            genre["songCount"].is_u64() && genre["albumCount"].is_u64(),
            "{genre}"
        );
    }
}

#[tokio::test]
async fn the_made_up_tree_of_folders_leads_to_songs() {
    let world = World::new();
    let indexes = world.ask("getIndexes", "").await;
    assert_eq!(indexes["indexes"]["lastModified"], MERGED.0);
    let root = world.ask("getMusicDirectory", "id=1").await;
    assert_eq!(root["directory"]["id"], "1");
    root["directory"]["child"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_folder);
    assert!(ids(&root["directory"]["child"]).contains(&BJORK));
    let artist = world.ask("getMusicDirectory", &format!("id={BJORK}")).await;
    artist["directory"]["child"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_folder);
    assert_eq!(ids(&artist["directory"]["child"]), [DEBUT]);
    let album = world.ask("getMusicDirectory", &format!("id={DEBUT}")).await;
    assert_eq!(album["directory"]["parent"], BJORK);
    assert_eq!(ids(&album["directory"]["child"]), [TRACK, "tr-crying"]);
    album["directory"]["child"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_song);
}

#[tokio::test]
async fn unchanged_indexes_are_empty() {
    let world = World::new();
    let before = world
        .ask("getIndexes", &format!("ifModifiedSince={}", MERGED.0 - 1))
        .await;
    assert!(
        !before["indexes"]["index"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    let after = world
        .ask("getIndexes", &format!("ifModifiedSince={}", MERGED.0))
        .await;
    assert_eq!(after["indexes"]["index"], json!([]));
    assert_eq!(after["indexes"]["lastModified"], MERGED.0);
}

#[tokio::test]
async fn what_is_said_about_artists_and_albums_is_what_identifies_them() {
    let world = World::new();
    for (endpoint, name) in [
        ("getArtistInfo", "artistInfo"),
        ("getArtistInfo2", "artistInfo2"),
    ] {
        for id in [BJORK, DEBUT, TRACK] {
            let payload = world.ask(endpoint, &format!("id={id}")).await;
            assert_eq!(payload[name]["musicBrainzId"], "mbid-of-ar-bjork");
        }
        assert_eq!(world.code(endpoint, "id=nothing").await, 70);
    }
    for endpoint in ["getAlbumInfo", "getAlbumInfo2"] {
        let payload = world.ask(endpoint, &format!("id={DEBUT}")).await;
        assert!(payload["albumInfo"].is_object());
        assert_eq!(world.code(endpoint, "id=nothing").await, 70);
    }
}

#[tokio::test]
async fn similar_songs_share_a_genre_and_are_others() {
    let world = World::new();
    for (endpoint, name) in [
        ("getSimilarSongs", "similarSongs"),
        ("getSimilarSongs2", "similarSongs2"),
    ] {
        let payload = world.ask(endpoint, &format!("id={TRACK}&count=5")).await;
        assert_eq!(ids(&payload[name]["song"]), ["tr-crying"]);
        let none = world.ask(endpoint, "id=nothing").await;
        assert_eq!(none[name]["song"], json!([]));
    }
}

#[tokio::test]
async fn top_songs_are_found_by_name_in_any_spelling_or_by_id() {
    let world = World::new();
    for query in ["artist=bjork", "artist=BJ%C3%96RK", &format!("id={BJORK}")] {
        let payload = world.ask("getTopSongs", query).await;
        assert_eq!(ids(&payload["topSongs"]["song"]), [TRACK], "{query}");
    }
    let none = world.ask("getTopSongs", "artist=Nobody").await;
    assert_eq!(none["topSongs"]["song"], json!([]));
}

#[tokio::test]
async fn the_scan_is_described() {
    let world = World::new();
    let payload = world.ask("getScanStatus", "").await;
    assert_eq!(payload["scanStatus"]["scanning"], false);
    assert_eq!(payload["scanStatus"]["count"], 5);
    assert_eq!(payload["scanStatus"]["folderCount"], 2);
}

#[tokio::test]
async fn a_wish_for_a_scan_is_heard_and_answered_with_its_state() {
    let world = World::new();
    let payload = world.ask("startScan", "").await;
    assert!(payload["scanStatus"]["scanning"].is_boolean());
    world.hub.sync_state().requested().await;
}
