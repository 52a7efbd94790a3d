//! Servers that write their answers in their own way, and tags that nobody meant well.
//!
//! The typing rows of the public bug reports.

use crate::same::assert_bytes;
use crate::shelf::{each_field, text};
use crate::world::{AUTH, SONG, TestHub, album, source, upstream};
use quick_xml::XmlVersion;
use quick_xml::events::Event;
use segue::upstream::{Album, Answers, Artist, Library, Quirks, Setup, Track, Upstream};
use serde_json::Value;

fn one(artist: &str, album: Album) -> Library {
    Library::new().artist(Artist::new(artist).album(album))
}

fn small(title: &str) -> Track {
    Track::new(title).size(2000)
}

/// What a client that looks at everything is told.
async fn everything(hub: &TestHub) -> Vec<Value> {
    let mut answers = Vec::new();
    for (endpoint, params) in [
        ("getArtists", ""),
        ("getIndexes", ""),
        ("getGenres", ""),
        ("getMusicFolders", ""),
        ("getAlbumList", "type=newest"),
        ("getAlbumList2", "type=newest"),
        ("getRandomSongs", "size=500"),
        ("search3", "query="),
        ("search2", "query="),
    ] {
        answers.push(hub.rest(endpoint, params).await);
    }
    for album in hub.albums().await {
        for (endpoint, id) in [
            ("getAlbum", "id"),
            ("getMusicDirectory", "id"),
            ("getArtist", "artistId"),
        ] {
            let id = text(&album[id]);
            answers.push(hub.rest(endpoint, &format!("id={id}")).await);
        }
    }
    for song in hub.songs().await {
        answers.push(
            hub.rest("getSong", &format!("id={}", text(&song["id"])))
                .await,
        );
    }
    answers
}

/// The shared album on a server with these quirks.
async fn quirky(quirks: Quirks) -> Upstream {
    let mut setup = Setup::new("quirky", album("flac", 900, 2000));
    setup.quirks = quirks;
    Upstream::start(setup).await.expect("a free port")
}

#[tokio::test(flavor = "multi_thread")]
async fn os35_os37_every_quirk_of_a_server_gives_the_same_library() {
    let plain = Quirks::default;
    let quirks = [
        plain(),
        Quirks {
            numeric_ids: true,
            ..plain()
        },
        Quirks {
            null_fields: true,
            ..plain()
        },
        Quirks {
            bare_single: true,
            ..plain()
        },
        Quirks {
            bit_rate_in_bits: true,
            ..plain()
        },
        Quirks {
            no_empty_search: true,
            ..plain()
        },
        Quirks {
            classic: true,
            ..plain()
        },
        Quirks {
            answers: Answers::XmlOnly,
            ..plain()
        },
        Quirks {
            answers: Answers::JsonOnly,
            ..plain()
        },
        Quirks {
            answers: Answers::XmlOnly,
            classic: true,
            numeric_ids: true,
            no_ranges: true,
            ..plain()
        },
    ];
    let mut expected = None;
    for quirks in quirks {
        let server = quirky(quirks.clone()).await;
        let hub = TestHub::start(vec![source("one", &server)]).await;
        let songs = hub.songs().await.into_iter().map(|mut song| {
            // What the server's own ids decide may differ.
            for name in [
                "id",
                "albumId",
                "artistId",
                "coverArt",
                "parent",
                "artists",
                "albumArtists",
            ] {
                song[name].take();
            }
            song
        });
        let songs: Vec<Value> = songs.collect();
        assert_eq!(songs.len(), 3, "{quirks:?}");
        assert_eq!(songs[0]["bitRate"], 900, "{quirks:?}");
        assert_eq!(
            &songs,
            expected.get_or_insert_with(|| songs.clone()),
            "{quirks:?}"
        );
        let reply = hub.stream(&hub.id_of(SONG).await).await;
        assert_bytes!(reply.body, server.shared().bytes_of(SONG), "{quirks:?}");
        for answer in everything(&hub).await {
            each_field(&answer, &mut |name, value| {
                assert!(!value.is_null(), "{name} is null in {answer}");
                if matches!(name, "id" | "parent" | "albumId" | "artistId" | "coverArt")
                    && answer["musicFolders"].is_null()
                {
                    assert!(value.is_string(), "{name} is {value}");
                }
            });
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os37_genres_always_have_a_name() {
    let library = one(
        "X",
        Album::new("Y")
            .genre("")
            .genre("  ")
            .genre("Art Pop")
            .track(small("Z")),
    );
    let server = upstream("home", library).await;
    let hub = TestHub::start(vec![source("one", &server)]).await;
    let genres = hub.rest("getGenres", "").await["genres"]["genre"].take();
    for genre in genres.as_array().expect("a list") {
        assert!(!text(&genre["value"]).trim().is_empty(), "{genres}");
    }
    for song in hub.songs().await {
        for genre in song["genres"].as_array().into_iter().flatten() {
            assert!(!text(&genre["name"]).trim().is_empty(), "{song}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn os38_hostile_text_is_text() {
    let titles = [
        ("A\u{8}B", "AB"),
        ("<&\"'>", "<&\"'>"),
        ("]]> <!-- &amp; &#0;", "]]> <!-- &amp; &#0;"),
        (
            "🎵 \u{1F468}\u{200D}\u{1F469}",
            "🎵 \u{1F468}\u{200D}\u{1F469}",
        ),
        ("'; DROP TABLE users; --", "'; DROP TABLE users; --"),
        ("{\"json\": [1]}", "{\"json\": [1]}"),
    ];
    let tracks = titles.iter().map(|(title, _)| small(title));
    let server = upstream(
        "home",
        one("<b>&", tracks.fold(Album::new("\"'"), Album::track)),
    )
    .await;
    let hub = TestHub::start(vec![source("one", &server)]).await;
    let songs = hub.songs().await;
    let shown: Vec<_> = songs.iter().map(|song| text(&song["title"])).collect();
    assert_eq!(shown, titles.map(|(_, shown)| shown));
    let album = text(&songs[0]["albumId"]);
    let xml = hub.get(&format!("/rest/getAlbum?{AUTH}&id={album}")).await;
    assert_eq!(titles_in(&xml.text()), shown);
    for song in &songs {
        let id = text(&song["id"]);
        let download = hub.get(&format!("/rest/download?{AUTH}&id={id}")).await;
        let name = download.header("content-disposition");
        assert!(name.starts_with("attachment; filename*=UTF-8''"), "{name}");
        assert!(
            name.bytes().all(|b| b.is_ascii_graphic() || b == b' '),
            "{name}"
        );
    }
}

/// The titles of all songs of an XML reply, which must be well-formed.
fn titles_in(xml: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut titles = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Eof => return titles,
            Event::Start(element) | Event::Empty(element) if element.name().as_ref() == "song" => {
                let title = element
                    .attributes()
                    .flatten()
                    .find(|a| a.key.as_ref() == "title");
                let title = title
                    .expect("a title")
                    .normalized_value(XmlVersion::Explicit1_0);
                titles.push(title.expect("a legal value").into_owned());
            }
            _ => {}
        }
    }
}
