//! Lists of albums and songs.

use crate::library::{DEBUT, HOSTILE_ALBUM};
use crate::shape::{assert_album, assert_folder, assert_song, ids};
use crate::world::World;
use serde_json::{Value, json};

async fn albums(world: &World, query: &str) -> Value {
    world.ask("getAlbumList2", query).await["albumList2"]["album"].clone()
}

#[tokio::test]
async fn every_order_of_albums() {
    let world = World::new();
    for (query, expected) in [
        (
            "type=newest",
            vec!["al-japan", HOSTILE_ALBUM, DEBUT, "al-queen"],
        ),
        ("type=newest&size=1&offset=2", vec![DEBUT]),
        (
            "type=byYear&fromYear=1990&toYear=2005",
            vec![DEBUT, HOSTILE_ALBUM],
        ),
        (
            "type=byYear&fromYear=2005&toYear=1990",
            vec![HOSTILE_ALBUM, DEBUT],
        ),
        ("type=byGenre&genre=Rock", vec!["al-queen"]),
        ("type=byGenre&genre=rock", vec!["al-queen"]),
        ("type=byGenre&genre=Polka", vec![]),
        ("type=starred", vec![]),
        ("type=recent", vec![]),
        ("type=frequent", vec![]),
        ("type=highest", vec![]),
        ("type=newest&musicFolderId=2", vec![DEBUT]),
        ("type=newest&musicFolderId=9", vec![]),
    ] {
        let found = albums(&world, query).await;
        assert_eq!(ids(&found), expected, "{query}");
        found
            .as_array()
            .expect("a list")
            .iter()
            .for_each(assert_album);
    }
    for query in [
        "type=alphabeticalByName",
        "type=alphabeticalByArtist",
        "type=random",
    ] {
        let found = albums(&world, query).await;
        assert_eq!(found.as_array().expect("a list").len(), 4, "{query}");
    }
}

#[tokio::test]
async fn past_the_end_is_empty_and_ok() {
    let world = World::new();
    for kind in ["newest", "alphabeticalByName", "random"] {
        let found = albums(&world, &format!("type={kind}&offset=4000000000&size=500")).await;
        assert_eq!(found, json!([]), "{kind}");
    }
    let songs = world.ask("getSongsByGenre", "genre=Pop&offset=100").await;
    assert_eq!(songs["songsByGenre"]["song"], json!([]));
}

#[tokio::test]
async fn pages_of_a_random_list_do_not_repeat() {
    let world = World::new();
    let mut seen = Vec::new();
    for offset in 0..4 {
        let page = albums(&world, &format!("type=random&size=1&offset={offset}")).await;
        seen.extend(ids(&page).into_iter().map(str::to_owned));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[tokio::test]
async fn the_first_generation_shows_albums_as_folders() {
    let world = World::new();
    let payload = world.ask("getAlbumList", "type=newest").await;
    let found = payload["albumList"]["album"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(found.len(), 4);
    found.iter().for_each(assert_folder);
}

#[tokio::test]
async fn random_songs_and_those_of_a_genre() {
    let world = World::new();
    let all = world.ask("getRandomSongs", "size=500").await;
    let all = all["randomSongs"]["song"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(all.len(), 5);
    all.iter().for_each(assert_song);
    let seventies = world
        .ask("getRandomSongs", "fromYear=1970&toYear=1979")
        .await;
    assert_eq!(ids(&seventies["randomSongs"]["song"]), ["tr-queen"]);
    let shelf = world.ask("getRandomSongs", "musicFolderId=2").await;
    assert_eq!(ids(&shelf["randomSongs"]["song"]).len(), 2);
    let none = world.ask("getRandomSongs", "musicFolderId=77").await;
    assert_eq!(none["randomSongs"]["song"], json!([]));
    let pop = world.ask("getSongsByGenre", "genre=Pop&count=1").await;
    assert_eq!(
        ids(&pop["songsByGenre"]["song"]),
        ["tr-crying"],
        "in the order of arrival"
    );
}
