//! Merging what two real syncs brought: one thing is shown once, two things stay two.
//!
//! Product section 5; the merging rows of the public bug reports, M5 and L3.

use crate::same::assert_bytes;
use crate::shelf::{each_field, text};
use crate::world::{AUTH, Pair, TestHub, quick, source, upstream};
use segue::upstream::{Album, Artist, Audio, Library, Track, Upstream};
use serde_json::json;

/// A hub over two servers, which go on for as long as the hub is looked at.
async fn hub_of(first: Library, second: Library) -> (TestHub, [Upstream; 2]) {
    let upstreams = [
        upstream("first", first).await,
        upstream("second", second).await,
    ];
    let sources = vec![source("one", &upstreams[0]), source("two", &upstreams[1])];
    (TestHub::start_with(sources, quick()).await, upstreams)
}

fn names(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    crate::world::pairs(pairs)
}

fn one(artist: &str, album: Album) -> Library {
    Library::new().artist(Artist::new(artist).album(album))
}

fn small(title: &str) -> Track {
    Track::new(title).size(2000)
}

#[tokio::test(flavor = "multi_thread")]
async fn os23_an_album_in_two_formats_is_one_album_with_the_better_copy_first() {
    let pair = Pair::start().await;
    assert_eq!(
        pair.hub.album_names().await,
        names(&[("Björk", "Homogenic")])
    );
    let albums = pair.hub.albums().await;
    assert_eq!(albums[0]["songCount"], 3);
    for song in pair.hub.songs().await {
        let sources = pair.hub.sources_of(&text(&song["id"])).await;
        let formats = sources
            .iter()
            .map(|s| (&*s.instance, &*s.format, s.preferred));
        let formats: Vec<_> = formats.collect();
        assert_eq!(formats, [("one", "flac", true), ("two", "mp3", false)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os25_composed_and_decomposed_names_are_one_artist() {
    let (nfc, nfd) = ("Café Tacvba", "Cafe\u{301} Tacvba");
    let first = one(nfc, Album::new("Re").track(small("El Ciclón")));
    let second = one(nfd, Album::new("Re").track(small("El Ciclo\u{301}n")));
    let (hub, _upstreams) = hub_of(second, first).await;
    assert_eq!(hub.album_names().await, names(&[(nfc, "Re")]));
    let songs = hub.songs().await;
    let titles = songs.iter().map(|song| text(&song["title"]));
    assert_eq!(titles.collect::<Vec<_>>(), ["El Ciclón"]);
    for query in ["Caf%C3%A9", "Cafe%CC%81", "cafe", "CAF%C3%89%20TACVBA"] {
        let found = hub.rest("search3", &format!("query={query}")).await;
        let artists = found["searchResult3"]["artist"].as_array().map(Vec::len);
        assert_eq!(artists, Some(1), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os26_albums_that_only_share_a_name_stay_apart() {
    let hits = |artist: &str, song: &str| {
        Artist::new(artist).album(Album::new("Greatest Hits").track(small(song)))
    };
    let weezer = |year, mbid: &str, song: &str| {
        let album = Album::new("Weezer").year(year).mbid(mbid);
        Artist::new("Weezer").album(album.track(small(song)))
    };
    let first = Library::new()
        .artist(hits("Queen", "Bohemian Rhapsody"))
        .artist(weezer(
            1994,
            "11111111-1111-4111-8111-111111111111",
            "Buddy Holly",
        ));
    let second = Library::new()
        .artist(hits("ABBA", "Waterloo"))
        .artist(weezer(
            2001,
            "22222222-2222-4222-8222-222222222222",
            "Hash Pipe",
        ));
    let (hub, _upstreams) = hub_of(first, second).await;
    let mut albums = hub.album_names().await;
    albums.sort();
    let expected = [
        ("ABBA", "Greatest Hits"),
        ("Queen", "Greatest Hits"),
        ("Weezer", "Weezer"),
        ("Weezer", "Weezer"),
    ];
    assert_eq!(albums, names(&expected));
    let artists = hub.rest("search3", "query=Weezer").await;
    assert_eq!(
        artists["searchResult3"]["artist"].as_array().map(Vec::len),
        Some(1)
    );
    for song in hub.songs().await {
        assert_eq!(hub.sources_of(&text(&song["id"])).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os28_a_title_twice_on_one_album_is_two_songs() {
    let album = || {
        Album::new("Bookends")
            .track(small("Intro").place(1, 1))
            .track(small("America").place(1, 5))
            .track(small("Intro").place(1, 9))
    };
    let (hub, _upstreams) = hub_of(one("S & G", album()), one("S & G", album())).await;
    let songs = hub.songs().await;
    let shown = songs
        .iter()
        .map(|song| (text(&song["title"]), song["track"].clone()));
    let expected = [("Intro", 1), ("America", 5), ("Intro", 9)];
    let expected = expected.map(|(title, n)| (title.to_owned(), json!(n)));
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    for song in &songs {
        assert_eq!(hub.sources_of(&text(&song["id"])).await.len(), 2, "{song}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os29_a_compilation_is_one_album_whoever_tells_of_its_artist() {
    let album = || {
        Album::new("Trainspotting")
            .compilation()
            .track(small("Lust for Life").by("Iggy Pop"))
            .track(small("Born Slippy").by("Underworld"))
    };
    let (hub, _upstreams) = hub_of(one("Various Artists", album()), one("", album())).await;
    let expected = [("Various Artists", "Trainspotting")];
    assert_eq!(hub.album_names().await, names(&expected));
    let songs = hub.songs().await;
    let shown: Vec<_> = songs.iter().map(|song| text(&song["artist"])).collect();
    assert_eq!(shown, ["Iggy Pop", "Underworld"]);
    for song in &songs {
        assert_eq!(hub.sources_of(&text(&song["id"])).await.len(), 2, "{song}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os31_equal_ids_of_two_servers_never_collide() {
    let library = |artist: &str, title: &str| {
        let track = small(title).id("42");
        let album = Album::new(title).id("42").track(track);
        Library::new().artist(Artist::new(artist).id("42").album(album))
    };
    let (hub, [first, second]) = hub_of(library("A", "Left"), library("B", "Right")).await;
    let (left, right) = (hub.id_of("Left").await, hub.id_of("Right").await);
    assert_ne!(left, right);
    assert_bytes!(
        hub.stream(&left).await.body,
        first.shared().bytes_of("Left")
    );
    assert_bytes!(
        hub.stream(&right).await.body,
        second.shared().bytes_of("Right")
    );
    hub.rest("star", &format!("id={left}")).await;
    let starred = hub.rest("getStarred2", "").await;
    assert_eq!(
        starred["starred2"]["song"].as_array().map(Vec::len),
        Some(1)
    );
    let mut covers = Vec::new();
    for song in [&left, &right] {
        let cover = format!("/rest/getCoverArt?{AUTH}&id={song}");
        covers.push(hub.get(&cover).await.body);
    }
    assert_ne!(covers[0], covers[1]);
    assert_eq!(hub.albums().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_nothing_but_signs_stay_apart() {
    let library = |suffix: &str| {
        ["!!!", "???", "+/-", "…", "★"]
            .iter()
            .fold(Library::new(), |library, name| {
                let track = small(name).format(suffix, 300);
                library.artist(Artist::new(name).album(Album::new(name).track(track)))
            })
    };
    let (hub, _upstreams) = hub_of(library("flac"), library("mp3")).await;
    let mut albums = hub.album_names().await;
    albums.sort();
    let mut expected = names(&[
        ("!!!", "!!!"),
        ("???", "???"),
        ("+/-", "+/-"),
        ("…", "…"),
        ("★", "★"),
    ]);
    expected.sort();
    assert_eq!(albums, expected);
    for song in hub.songs().await {
        assert_eq!(hub.sources_of(&text(&song["id"])).await.len(), 2, "{song}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m5_one_musicbrainz_id_on_everything_costs_no_track() {
    let id = "33333333-3333-4333-8333-333333333333";
    let album = |name: &str| {
        let album = Album::new(name).mbid(id);
        album
            .track(small(&format!("{name} A")).mbid(id))
            .track(small(&format!("{name} B")).mbid(id))
    };
    let library = || {
        let artist = |name: &str| Artist::new(name).mbid(id).album(album(name));
        Library::new().artist(artist("X")).artist(artist("Y"))
    };
    let (hub, [first, _second]) = hub_of(library(), library()).await;
    for title in ["X A", "X B", "Y A", "Y B"] {
        let id = hub.id_of(title).await;
        assert_bytes!(hub.stream(&id).await.body, first.shared().bytes_of(title));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn l3_a_music_folder_shows_what_one_source_has() {
    let first = one(
        "Shared",
        Album::new("Both").track(small("Both").audio(Audio::Own)),
    )
    .artist(Artist::new("Left").album(Album::new("Left").track(small("Left"))));
    let second = one("Shared", Album::new("Both").track(small("Both")))
        .artist(Artist::new("Right").album(Album::new("Right").track(small("Right"))));
    let (hub, _upstreams) = hub_of(first, second).await;
    let folders = hub.rest("getMusicFolders", "").await;
    let folders = folders["musicFolders"]["musicFolder"]
        .as_array()
        .expect("a list")
        .clone();
    let number = |name: &str| {
        let folder = folders.iter().find(|folder| folder["name"] == name);
        folder.expect("a folder")["id"].as_u64().expect("a number")
    };
    assert_ne!(number("one"), number("two"));
    let titles = async |endpoint: &str, params: &str, list: &[&str]| {
        let answer = hub.rest(endpoint, params).await;
        let mut titles = Vec::new();
        each_field(&answer, &mut |name, value| {
            if list.contains(&name) {
                for item in value.as_array().into_iter().flatten() {
                    titles.extend(
                        item["title"]
                            .as_str()
                            .or(item["name"].as_str())
                            .map(str::to_owned),
                    );
                }
            }
        });
        titles.retain(|title| title.chars().count() > 1);
        titles.sort();
        titles.dedup();
        titles
    };
    for (folder, own) in [
        (number("one"), "Left"),
        (number("two"), "Right"),
        (999_999, ""),
    ] {
        let scope = format!("musicFolderId={folder}");
        let expected = |both: &str| match own {
            "" => Vec::new(),
            own => {
                let mut expected = vec![both.to_owned(), own.to_owned()];
                expected.sort();
                expected
            }
        };
        for (endpoint, params, list, both) in [
            ("getArtists", "", &["artist"][..], "Shared"),
            ("getIndexes", "", &["artist"], "Shared"),
            ("getAlbumList2", "&type=newest", &["album"], "Both"),
            ("getAlbumList", "&type=newest", &["album"], "Both"),
            ("getRandomSongs", "&size=10", &["song"], "Both"),
            (
                "search3",
                "&query=&artistCount=0&albumCount=0",
                &["song"],
                "Both",
            ),
        ] {
            let found = titles(endpoint, &format!("{scope}{params}"), list).await;
            assert_eq!(found, expected(both), "{endpoint} of {folder}");
        }
    }
}
