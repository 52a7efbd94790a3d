//! Searching, in three generations (rows 38 and 40 of the black-box tests).

use crate::library::{BJORK, DEBUT, HOSTILE_TRACK};
use crate::shape::{assert_album, assert_artist, assert_folder, assert_song, ids};
use crate::world::World;
use serde_json::Value;

async fn search(world: &World, query: &str) -> Value {
    world.ask("search3", query).await["searchResult3"].clone()
}

#[tokio::test]
async fn an_empty_query_finds_everything_in_pages() {
    let world = World::new();
    for query in ["query=", "query=%22%22", "query=*"] {
        let found = search(&world, query).await;
        assert_eq!(
            found["song"].as_array().expect("a list").len(),
            5,
            "{query}"
        );
        assert_eq!(
            found["album"].as_array().expect("a list").len(),
            4,
            "{query}"
        );
        found["artist"]
            .as_array()
            .expect("a list")
            .iter()
            .for_each(assert_artist);
        found["album"]
            .as_array()
            .expect("a list")
            .iter()
            .for_each(assert_album);
        found["song"]
            .as_array()
            .expect("a list")
            .iter()
            .for_each(assert_song);
    }
    let mut seen = Vec::new();
    for offset in 0..6 {
        let page = search(
            &world,
            &format!("query=&artistCount=0&albumCount=0&songCount=1&songOffset={offset}"),
        )
        .await;
        assert_eq!(ids(&page["artist"]).len() + ids(&page["album"]).len(), 0);
        seen.extend(ids(&page["song"]).into_iter().map(str::to_owned));
    }
    assert_eq!(seen.len(), 5);
}

#[tokio::test]
async fn spelling_does_not_matter_and_wildcards_mean_themselves() {
    let world = World::new();
    for query in ["bjork", "BJ%C3%96RK", "bjo%CC%88rk"] {
        let found = search(&world, &format!("query={query}")).await;
        assert!(ids(&found["artist"]).contains(&BJORK), "{query}");
    }
    for query in ["strasse", "Stra%C3%9Fe", "orsted", "%C3%98rsted"] {
        let found = search(&world, &format!("query={query}")).await;
        assert_eq!(ids(&found["song"]), ["tr-japan"], "{query}");
    }
    for (query, album) in [("AC%2FDC", "al-japan"), ("debut", DEBUT)] {
        let found = search(&world, &format!("query={query}")).await;
        assert!(ids(&found["album"]).contains(&album), "{query}");
    }
    for query in ["%25", "_", "%27%20OR%201%3D1--", "no+such+thing"] {
        let found = search(&world, &format!("query={query}")).await;
        let songs = found["song"].as_array().expect("a list").len();
        assert!(songs < 5, "{query} is no wildcard");
    }
}

#[tokio::test]
async fn the_second_generation_shows_folders_and_the_first_songs() {
    let world = World::new();
    let found = world.ask("search2", "query=debut").await;
    let found = &found["searchResult2"];
    found["album"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_folder);
    assert_eq!(ids(&found["album"]), [DEBUT]);
    let found = world.ask("search", "any=human").await;
    let found = &found["searchResult"];
    assert_eq!(found["offset"], 0);
    assert_eq!(found["totalHits"], 1);
    found["match"]
        .as_array()
        .expect("a list")
        .iter()
        .for_each(assert_song);
}

#[tokio::test]
async fn a_folder_narrows_the_search() {
    let world = World::new();
    let found = search(&world, "query=&musicFolderId=2").await;
    assert_eq!(ids(&found["album"]), [DEBUT]);
    assert!(!ids(&found["song"]).contains(&HOSTILE_TRACK));
    let found = search(&world, "query=&musicFolderId=5").await;
    assert!(ids(&found["song"]).is_empty());
}
