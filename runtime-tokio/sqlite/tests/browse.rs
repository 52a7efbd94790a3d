//! Lists, search, stars and plays over a small library.

mod common;

use common::{Shelf, Song, a_database, a_song, album_id, artist_id, merged, track_id};
use segue_core::catalog::model::{CoverRef, InstanceAlbum, InstanceTrack, Pass};
use segue_core::time::Wall;
use segue_sqlite::{AlbumOrder, DropGuard, RandomFilter, SearchQuery};

fn a_library() -> Shelf {
    let shelf = a_database().with_sources(&["home", "away"]);
    let song = |title, artist, album, genre, year, sources| Song {
        title,
        artist,
        album,
        genre,
        year,
        sources,
    };
    let home: &[_] = &[("home", "flac", 900)];
    let both: &[_] = &[("home", "flac", 900), ("away", "mp3", 320)];
    let away: &[_] = &[("away", "mp3", 320)];
    shelf.change(|w| {
        w.apply_merge(
            merged(&[
                song("Jóga", "Björk", "Homogenic", "Electronic", 1997, home),
                song(
                    "Bachelorette",
                    "Björk",
                    "Homogenic",
                    "Electronic",
                    1997,
                    home,
                ),
                song("Straße", "Die Ärzte", "Planet Punk", "Punk", 1995, both),
                song(
                    "100% Pure",
                    "The Ones",
                    "Snake_Case",
                    "electronic",
                    2005,
                    away,
                ),
                song("M*A*S*H", "The Ones", "Snake_Case", "Rock", 2005, away),
                song("The \"Quoted\" One", "Émile", "Zero", "Rock", 1980, home),
            ]),
            Wall(5),
        )
    });
    shelf
}

fn found(shelf: &Shelf, text: &str) -> Vec<String> {
    let query = SearchQuery {
        text: text.into(),
        song_count: 100,
        ..Default::default()
    };
    let found = shelf.reader.search(1, &query).unwrap();
    found
        .songs
        .into_iter()
        .map(|song| song.track.title)
        .collect()
}

#[test]
fn search_forgives_case_marks_and_normal_forms() {
    let shelf = a_library();
    let bjork = ["Bachelorette", "Jóga"];
    for text in [
        "björk",
        "bjork",
        "BJÖRK",
        "bjo\u{308}rk",
        "\"Björk\"",
        "bjork homogenic",
        "bjö*",
    ] {
        assert_eq!(found(&shelf, text), bjork, "{text}");
    }
    for text in ["straße", "STRASSE", "strasse ärzte", "arzte punk"] {
        assert_eq!(found(&shelf, text), ["Straße"], "{text}");
    }
    assert_eq!(found(&shelf, "emile quoted"), ["The \"Quoted\" One"]);
    assert_eq!(found(&shelf, "m*a*s*h"), ["M*A*S*H"]);
}

#[test]
fn a_query_is_data_not_a_pattern() {
    let shelf = a_library();
    assert_eq!(found(&shelf, "100%"), ["100% Pure"]);
    for text in ["%", "_", "%%%", "'; DROP TABLE plays; --", "björk nowhere"] {
        assert_eq!(found(&shelf, text), [] as [&str; 0], "{text}");
    }
    assert_eq!(found(&shelf, "snake_case pure"), ["100% Pure"]);
}

#[test]
fn an_empty_query_pages_through_everything_once() {
    let shelf = a_library();
    for everything in ["", "\"\"", "*"] {
        assert_eq!(found(&shelf, everything).len(), 6, "{everything}");
    }
    let mut paged = Vec::new();
    for offset in 0..7 {
        let query = SearchQuery {
            song_count: 1,
            song_offset: offset,
            ..Default::default()
        };
        let page = shelf.reader.search(1, &query).unwrap();
        assert!(page.artists.is_empty() && page.albums.is_empty());
        paged.extend(page.songs.into_iter().map(|song| song.track.title));
    }
    assert_eq!(paged, found(&shelf, ""));
}

#[test]
fn search_finds_artists_albums_and_ids_and_keeps_to_a_folder() {
    let shelf = a_library();
    let query = |text: &str, folder: Option<&str>| {
        let query = SearchQuery {
            text: text.into(),
            artist_count: 10,
            album_count: 10,
            song_count: 10,
            folder: folder.map(str::to_owned),
            ..Default::default()
        };
        let found = shelf.reader.search(1, &query).unwrap();
        (found.artists.len(), found.albums.len(), found.songs.len())
    };
    assert_eq!(query("the ones", None), (1, 1, 2));
    assert_eq!(query("the ones", Some("home")), (0, 0, 0));
    assert_eq!(query("strasse", Some("away")), (0, 0, 1));
    assert_eq!(query(&track_id("Straße", "Planet Punk"), None), (0, 0, 1));
    assert_eq!(query(&album_id("Zero"), None), (0, 1, 0));
    assert_eq!(query(&artist_id("Björk"), None), (1, 0, 0));
}

#[test]
fn an_exact_name_comes_before_one_that_contains_it() {
    let shelf = a_database().with_sources(&["home"]);
    let songs = [
        a_song("All of One", "Ada", "First"),
        a_song("One More", "Ada", "First"),
        a_song("One", "Ada", "First"),
    ];
    shelf.change(|w| w.apply_merge(merged(&songs), Wall(5)));
    assert_eq!(found(&shelf, "one"), ["One", "One More", "All of One"]);
}

fn albums(shelf: &Shelf, user: i64, order: &AlbumOrder) -> Vec<String> {
    let list = shelf.reader.album_list(user, order, 100, 0, None).unwrap();
    list.into_iter().map(|album| album.group.name).collect()
}

#[test]
fn albums_come_in_the_order_that_was_asked_for() {
    let shelf = a_library();
    let list = |order| albums(&shelf, 1, &order);
    assert_eq!(
        list(AlbumOrder::Newest),
        ["Zero", "Snake_Case", "Planet Punk", "Homogenic"]
    );
    assert_eq!(
        list(AlbumOrder::AlphabeticalByName),
        ["Homogenic", "Planet Punk", "Snake_Case", "Zero"]
    );
    assert_eq!(
        list(AlbumOrder::AlphabeticalByArtist),
        ["Planet Punk", "Homogenic", "Zero", "Snake_Case"]
    );
    assert_eq!(
        list(AlbumOrder::ByYear {
            from: 1980,
            to: 1997
        }),
        ["Zero", "Planet Punk", "Homogenic"]
    );
    assert_eq!(
        list(AlbumOrder::ByYear {
            from: 1997,
            to: 1980
        }),
        ["Homogenic", "Planet Punk", "Zero"]
    );
    assert_eq!(
        list(AlbumOrder::ByGenre("ELECTRONIC".into())),
        ["Homogenic", "Snake_Case"]
    );
    assert_eq!(list(AlbumOrder::Highest), [] as [&str; 0]);
    let page = shelf
        .reader
        .album_list(1, &AlbumOrder::AlphabeticalByName, 2, 1, None)
        .unwrap();
    assert_eq!(
        page.iter()
            .map(|album| album.group.name.as_str())
            .collect::<Vec<_>>(),
        ["Planet Punk", "Snake_Case"]
    );
    let away = shelf
        .reader
        .album_list(1, &AlbumOrder::Newest, 9, 0, Some("away"))
        .unwrap();
    assert_eq!(away.len(), 1, "only the album that source lists");
}

#[test]
fn a_seed_shuffles_the_same_way_and_pages_without_repeats() {
    let shelf = a_database().with_sources(&["home"]);
    let names: Vec<String> = (0..60).map(|n| format!("Album {n}")).collect();
    let songs: Vec<_> = names
        .iter()
        .map(|name| a_song("One", "Ada", name))
        .collect();
    shelf.change(|w| w.apply_merge(merged(&songs), Wall(5)));
    let order = AlbumOrder::Random { seed: 7 };
    let all = albums(&shelf, 1, &order);
    assert_eq!(all, albums(&shelf, 1, &order));
    assert_ne!(all, albums(&shelf, 1, &AlbumOrder::Random { seed: 8 }));
    let page = shelf.reader.album_list(1, &order, 10, 20, None).unwrap();
    assert_eq!(
        page.into_iter()
            .map(|album| album.group.name)
            .collect::<Vec<_>>(),
        all[20..30]
    );

    let draw = |seed| {
        let filter = RandomFilter {
            size: 10,
            seed,
            ..Default::default()
        };
        let songs = shelf.reader.random_songs(1, &filter).unwrap();
        songs
            .into_iter()
            .map(|song| song.album_name)
            .collect::<Vec<_>>()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert_eq!(draw(1).len(), 10);
}

#[test]
fn random_songs_keep_to_their_filter() {
    let shelf = a_library();
    let draw = |filter: RandomFilter| {
        let filter = RandomFilter {
            size: 50,
            seed: 3,
            ..filter
        };
        let mut titles: Vec<_> = shelf
            .reader
            .random_songs(1, &filter)
            .unwrap()
            .into_iter()
            .map(|s| s.track.title)
            .collect();
        titles.sort();
        titles
    };
    assert_eq!(
        draw(RandomFilter {
            genre: Some("electronic".into()),
            ..Default::default()
        }),
        ["100% Pure", "Bachelorette", "Jóga"]
    );
    assert_eq!(
        draw(RandomFilter {
            from_year: Some(1990),
            to_year: Some(1996),
            ..Default::default()
        }),
        ["Straße"]
    );
    assert_eq!(
        draw(RandomFilter {
            folder: Some("away".into()),
            from_year: Some(2000),
            ..Default::default()
        }),
        ["100% Pure", "M*A*S*H"]
    );
    assert_eq!(
        draw(RandomFilter {
            genre: Some("polka".into()),
            ..Default::default()
        }),
        [] as [&str; 0]
    );
}

#[test]
fn genres_that_differ_in_case_are_one() {
    let shelf = a_library();
    let genres: Vec<_> = shelf
        .reader
        .genres()
        .unwrap()
        .into_iter()
        .map(|g| (g.name, g.song_count, g.album_count))
        .collect();
    assert_eq!(
        genres,
        [
            ("Electronic".to_owned(), 3, 2),
            ("Punk".to_owned(), 1, 1),
            ("Rock".to_owned(), 2, 1)
        ]
    );
    let page = shelf
        .reader
        .songs_by_genre(1, "electronic", 2, 1, None)
        .unwrap();
    assert_eq!(
        page.iter()
            .map(|s| s.track.title.as_str())
            .collect::<Vec<_>>(),
        ["Bachelorette", "Jóga"]
    );
    assert_eq!(
        shelf
            .reader
            .songs_by_genre(1, "Electronic", 9, 0, Some("away"))
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn artists_are_listed_by_sort_key_with_their_albums() {
    let shelf = a_library();
    let names = |folder| {
        let artists = shelf.reader.artists(1, folder).unwrap();
        artists
            .into_iter()
            .map(|a| (a.artist.name, a.album_count))
            .collect::<Vec<_>>()
    };
    let expected = [
        ("Die Ärzte", 1),
        ("Björk", 1),
        ("Émile", 1),
        ("The Ones", 1),
    ]
    .map(|(n, c)| (n.to_owned(), c));
    assert_eq!(names(None), expected);
    assert_eq!(names(Some("away")), [("The Ones".to_owned(), 1)]);
    let albums = shelf
        .reader
        .albums_of_artist(1, &artist_id("Björk"))
        .unwrap();
    assert_eq!(albums[0].group.name, "Homogenic");
    assert_eq!(
        shelf
            .reader
            .songs_of_artist(1, &artist_id("Björk"))
            .unwrap()
            .len(),
        2
    );
    assert_eq!(
        shelf
            .reader
            .songs_of_album(1, &album_id("Homogenic"))
            .unwrap()[0]
            .track
            .title,
        "Jóga"
    );
}

#[test]
fn a_mere_track_artist_is_shown_with_the_albums_they_appear_on() {
    let shelf = a_database().with_sources(&["home"]);
    let mut library = merged(&[a_song("One", "Ada", "First"), a_song("Two", "Bo", "Second")]);
    library.library.artists[1].is_album_artist = false;
    library.library.release_groups[1].artist_id = artist_id("Ada");
    shelf.change(|w| w.apply_merge(library, Wall(5)));
    assert_eq!(shelf.reader.artists(1, None).unwrap().len(), 1);
    let bo = shelf.reader.artist(1, &artist_id("Bo")).unwrap().unwrap();
    assert_eq!(bo.album_count, 1);
    assert_eq!(
        shelf.reader.albums_of_artist(1, &artist_id("Bo")).unwrap()[0]
            .group
            .name,
        "Second"
    );
}

#[test]
fn stars_and_plays_are_each_users_own() {
    let shelf = a_library();
    let (alice, bob) = (shelf.user("alice"), shelf.user("bob"));
    let joga = track_id("Jóga", "Homogenic");
    for (at, id) in [
        (10, &joga),
        (11, &album_id("Zero")),
        (12, &artist_id("Björk")),
        (13, &album_id("Homogenic")),
    ] {
        assert!(shelf.change(|w| w.star(alice, id, Wall(at))));
    }
    assert!(
        shelf.change(|w| w.star(alice, &joga, Wall(99))),
        "again is fine"
    );
    assert!(!shelf.change(|w| w.star(alice, "tr-nowhere", Wall(1))));
    for at in [20, 30] {
        assert!(shelf.change(|w| w.record_play(alice, &joga, Wall(at), "phone")));
    }
    assert!(shelf.change(|w| w.record_play(
        alice,
        &track_id("Straße", "Planet Punk"),
        Wall(40),
        "phone"
    )));

    let starred = shelf.reader.starred(alice, None).unwrap();
    assert_eq!(
        starred.songs[0].starred,
        Some(Wall(10)),
        "the first star's time stays"
    );
    assert_eq!(
        starred
            .albums
            .iter()
            .map(|a| a.group.name.as_str())
            .collect::<Vec<_>>(),
        ["Homogenic", "Zero"]
    );
    assert_eq!(starred.artists[0].starred, Some(Wall(12)));
    let away = shelf.reader.starred(alice, Some("away")).unwrap();
    assert!(away.songs.is_empty() && away.albums.is_empty() && away.artists.is_empty());
    assert_eq!(
        shelf.reader.starred(bob, None).unwrap(),
        segue_sqlite::Starred::default()
    );

    assert_eq!(
        albums(&shelf, alice, &AlbumOrder::Starred),
        ["Homogenic", "Zero"]
    );
    assert_eq!(
        albums(&shelf, alice, &AlbumOrder::Frequent),
        ["Homogenic", "Planet Punk"]
    );
    assert_eq!(
        albums(&shelf, alice, &AlbumOrder::Recent),
        ["Planet Punk", "Homogenic"]
    );
    assert_eq!(albums(&shelf, bob, &AlbumOrder::Recent), [] as [&str; 0]);
    let song = shelf.reader.song(alice, &joga).unwrap().unwrap();
    assert_eq!((song.play_count, song.played), (2, Some(Wall(30))));
    let album = shelf
        .reader
        .album(alice, &album_id("Homogenic"))
        .unwrap()
        .unwrap();
    assert_eq!((album.play_count, album.played), (2, Some(Wall(30))));

    assert!(shelf.change(|w| w.unstar(alice, &joga)));
    assert!(shelf.reader.starred(alice, None).unwrap().songs.is_empty());
    assert!(!shelf.change(|w| w.unstar(alice, "tr-nowhere")));
    assert!(shelf.change(|w| w.remove_user(alice)));
    assert_eq!(
        shelf.reader.song(alice, &joga).unwrap().unwrap().play_count,
        0
    );
}

#[test]
fn users_and_keys() {
    let shelf = a_database();
    let alice = shelf.user("alice");
    assert_eq!(shelf.reader.user("ALICE").unwrap().unwrap().id, alice);
    let hash = [9; 32];
    let key = shelf.change(|w| w.add_api_key(alice, &hash, "phone", Wall(3)));
    assert_eq!(
        shelf.reader.user_by_api_key(&hash).unwrap().unwrap().name,
        "alice"
    );
    assert_eq!(shelf.reader.user_by_api_key(&[8; 32]).unwrap(), None);
    assert_eq!(shelf.reader.api_keys(alice).unwrap()[0].label, "phone");
    assert!(
        !shelf.change(|w| w.remove_api_key(alice + 1, key)),
        "not someone else's"
    );
    assert!(shelf.change(|w| w.remove_api_key(alice, key)));
    assert!(
        shelf.change(|w| w.set_password(alice, b"new"))
            && shelf.change(|w| w.set_admin(alice, true))
    );
    let row = shelf.reader.user("alice").unwrap().unwrap();
    assert!(row.is_admin && row.password_enc == b"new");
    assert!(
        !format!("{row:?}").contains("password"),
        "no secret in a log"
    );
    shelf.change(|w| w.set_setting("k", "1"));
    shelf.change(|w| w.set_setting("k", "2"));
    assert_eq!(shelf.reader.setting("k").unwrap().as_deref(), Some("2"));
}

#[test]
fn covers_are_every_picture_there_is_best_first() {
    let shelf = a_database().with_sources(&["home", "away"]);
    let mut song = a_song("One", "Ada", "First");
    song.sources = &[("away", "flac", 900), ("home", "mp3", 320)];
    shelf.change(|w| w.apply_merge(merged(&[song]), Wall(5)));
    let track = track_id("One", "First");
    let cover = |instance: &str, id: &str| CoverRef {
        instance: instance.into(),
        remote_id: id.into(),
    };
    for source in ["home", "away"] {
        let pass = Pass {
            albums: vec![InstanceAlbum {
                remote_id: album_id("First"),
                cover_art: Some(format!("{source}-album")),
                ..Default::default()
            }],
            tracks: vec![InstanceTrack {
                remote_id: format!("r-{track}"),
                cover_art: Some(format!("{source}-track")),
                ..Default::default()
            }],
            complete: true,
            ..Pass::default()
        };
        shelf.change(|w| w.apply_pass(source, pass, Wall(6), DropGuard::Refuse));
    }
    let chosen = cover("away", &format!("co-{track}"));
    assert_eq!(
        shelf.reader.covers(&track).unwrap(),
        [
            chosen,
            cover("away", "away-track"),
            cover("home", "home-track"),
            cover("away", "away-album")
        ]
    );
    assert_eq!(
        shelf.reader.covers(&album_id("First")).unwrap(),
        [cover("away", "away-album")]
    );
    assert_eq!(shelf.reader.covers("nonsense").unwrap(), []);
}
