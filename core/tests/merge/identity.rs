//! What becomes one, and what stays apart.

use super::builder::{World, sources};
use segue_core::catalog::model::InstanceTrack;

const NEVERMIND: [&str; 4] = [
    "Smells Like Teen Spirit",
    "In Bloom",
    "Come as You Are",
    "Breed",
];

/// One song on each of two sources, the second told apart by `change`.
fn two_copies(title: &str, change: impl FnOnce(&mut InstanceTrack)) -> World {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    world.album("f2", "a", ("Somebody", "Album"), &[title]);
    change(&mut world.input.tracks[1].row);
    world.merged()
}

fn joins(title: &str, change: impl FnOnce(&mut InstanceTrack)) -> bool {
    two_copies(title, change).library().tracks.len() == 1
}

#[test]
fn case_23_flac_and_mp3_of_one_album_are_one_album_with_two_copies_of_each_track() {
    let mut world = sources(&["f1", "f2"]);
    world
        .album("f2", "x", ("Nirvana", "Nevermind"), &NEVERMIND)
        .year = Some(1991);
    world
        .album("f1", "y", ("Nirvana", "Nevermind"), &NEVERMIND)
        .year = Some(2011);
    world.as_mp3(4);
    let world = world.merged();
    assert_eq!(
        world.albums(),
        [
            "Nirvana / Nevermind: Breed x2, Come as You Are x2, In Bloom x2, Smells Like Teen Spirit x2"
        ]
    );
    let breed = world.track_of("f1", "y/4");
    let preferred: Vec<(&str, bool)> = world
        .copies(&breed.id)
        .iter()
        .map(|copy| (copy.format.as_str(), copy.preferred))
        .collect();
    assert_eq!(preferred, [("mp3", false), ("flac", true)]);
    assert_eq!(
        world.group_of("f1", "y").year,
        Some(1991),
        "the year of the better rip"
    );
}

#[test]
fn case_23_both_rips_may_be_on_one_source() {
    let mut world = sources(&["f1"]);
    world.album("f1", "x", ("Nirvana", "Nevermind"), &NEVERMIND[..2]);
    world.album("f1", "y", ("Nirvana", "Nevermind"), &NEVERMIND[..2]);
    world.as_mp3(2);
    assert_eq!(
        world.merged().albums(),
        ["Nirvana / Nevermind: In Bloom x2, Smells Like Teen Spirit x2"]
    );
}

#[test]
fn case_25_nfc_and_nfd_are_one_artist_shown_in_nfc() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Bjo\u{308}rk", "Café"), &["Jóga"]);
    world.album("f2", "a", ("BJÖRK", "Cafe\u{301}"), &["Jo\u{301}ga"]);
    let world = world.merged();
    assert_eq!(world.artist_names(), ["Björk"]);
    assert_eq!(world.albums(), ["Björk / Café: Jóga x2"]);
    assert_eq!(world.library().artists[0].name_key, "bjork");
}

#[test]
fn m1_spellings_of_one_name_are_one_artist() {
    let mut world = sources(&["f1", "f2", "f3"]);
    world.artist("f1", "1", "Blink-182");
    world.artist("f2", "1", "blink\u{2011}182");
    world.artist("f3", "1", "Simon & Garfunkel");
    world.artist("f1", "2", "Simon and Garfunkel");
    world.artist("f2", "2", "Beatles, The");
    world.artist("f3", "2", "The Beatles");
    assert_eq!(
        world.merged().artist_names(),
        ["Beatles, The", "Blink-182", "Simon and Garfunkel"]
    );
}

#[test]
fn m6_artists_named_by_punctuation_stay_apart() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("!!!", "Louden Up Now"), &["Pardon My Freedom"]);
    world.album("f2", "a", ("???", "Louden Up Now"), &["Pardon My Freedom"]);
    world.album("f2", "b", ("The", "Louden Up Now"), &["Pardon My Freedom"]);
    assert_eq!(world.merged().artist_names(), ["!!!", "???", "The"]);
}

#[test]
fn m1_artists_of_one_name_with_two_ids_stay_apart() {
    let mut world = sources(&["f1", "f2", "f3"]);
    world.artist("f1", "us", "Nirvana").musicbrainz_id = Some("us-id".to_owned());
    world.artist("f2", "uk", "Nirvana").musicbrainz_id = Some("uk-id".to_owned());
    world
        .album("f1", "a", ("Nirvana", "Nevermind"), &NEVERMIND)
        .artist_remote_id = Some("us".to_owned());
    world
        .album(
            "f2",
            "a",
            ("Nirvana", "Local Anaesthetic"),
            &["Modus Operandi"],
        )
        .artist_remote_id = Some("uk".to_owned());
    world.artist("f3", "n", "nirvana");
    world
        .album("f3", "a", ("nirvana", "nevermind"), &NEVERMIND)
        .artist_remote_id = Some("n".to_owned());
    let world = world.merged();
    assert_eq!(
        world.artist_names(),
        ["Nirvana", "Nirvana"],
        "the one without an id is who shares its albums"
    );
    assert_eq!(world.group_of("f3", "a").id, world.group_of("f1", "a").id);
}

#[test]
fn m1_an_artist_without_an_id_joins_the_only_one_of_its_name() {
    let mut world = sources(&["f1", "f2"]);
    world.artist("f1", "1", "Björk").musicbrainz_id = Some("id".to_owned());
    world.artist("f2", "1", "Bjork");
    assert_eq!(world.merged().artist_names(), ["Björk"]);
}

#[test]
fn m5_one_id_on_two_names_of_one_source_joins_neither() {
    let mut world = sources(&["f1", "f2"]);
    for (source, id, name) in [("f1", "1", "Alice"), ("f1", "2", "Bob"), ("f2", "1", "Bob")] {
        world.artist(source, id, name).musicbrainz_id = Some("one".to_owned());
    }
    assert_eq!(world.merged().artist_names(), ["Alice", "Bob"]);
    let mut world = sources(&["f1", "f2"]);
    world.artist("f1", "1", "Пётр Чайковский").musicbrainz_id = Some("one".to_owned());
    world.artist("f2", "1", "Tchaikovsky").musicbrainz_id = Some("one".to_owned());
    assert_eq!(
        world.merged().artist_names(),
        ["Пётр Чайковский"],
        "two sources may write in two languages"
    );
}

#[test]
fn m5_duplicate_and_contradictory_album_ids_do_not_abort() {
    let mut world = sources(&["f1", "f2"]);
    for (source, id, artist, name, titles) in [
        ("f1", "1", "Alice", "One", ["a", "b"]),
        ("f1", "2", "Bob", "Two", ["c", "d"]),
        ("f2", "1", "Carol", "Three", ["e", "f"]),
    ] {
        let album = world.album(source, id, (artist, name), &titles);
        album.musicbrainz_id = Some("release".to_owned());
        album.release_group_mbid = Some("group".to_owned());
        for track in world.input.tracks.iter_mut().rev().take(2) {
            track.row.musicbrainz_id = Some("recording".to_owned());
        }
    }
    let world = world.merged();
    assert_eq!(
        world.albums(),
        [
            "Alice / One: a x1, b x1",
            "Bob / Two: c x1, d x1",
            "Carol / Three: e x1, f x1"
        ]
    );
    assert!(world.skipped.is_empty());
}

#[test]
fn case_26_albums_of_one_name_by_two_artists_stay_apart() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Queen", "Greatest Hits"), &["Bicycle Race"]);
    world.album("f2", "a", ("ABBA", "Greatest Hits"), &["Waterloo"]);
    assert_eq!(
        world.merged().albums(),
        [
            "ABBA / Greatest Hits: Waterloo x1",
            "Queen / Greatest Hits: Bicycle Race x1"
        ]
    );
}

const BLUE: [&str; 4] = ["My Name Is Jonas", "No One Else", "Buddy Holly", "Undone"];
const GREEN: [&str; 4] = [
    "Don't Let Go",
    "Photograph",
    "Hash Pipe",
    "Island in the Sun",
];

#[test]
fn case_26_two_works_of_one_name_by_one_artist_stay_apart() {
    type Change = fn(&mut segue_core::catalog::model::InstanceAlbum, bool);
    let evidence: [Change; 4] = [
        |album, blue| album.year = Some(if blue { 1994 } else { 2001 }),
        |album, blue| album.musicbrainz_id = Some(if blue { "blue" } else { "green" }.to_owned()),
        |album, blue| {
            album.release_group_mbid = Some(if blue { "blue" } else { "green" }.to_owned())
        },
        |_, _| {},
    ];
    for tell in evidence {
        let mut world = sources(&["f1", "f2"]);
        tell(world.album("f1", "blue", ("Weezer", "Weezer"), &BLUE), true);
        tell(
            world.album("f1", "green", ("Weezer", "Weezer"), &GREEN),
            false,
        );
        world.album("f2", "green", ("Weezer", "Weezer"), &GREEN);
        world.album("f2", "blue", ("Weezer", "Weezer"), &BLUE);
        let world = world.merged();
        assert_eq!(
            world.albums(),
            [
                "Weezer / Weezer: Buddy Holly x2, My Name Is Jonas x2, No One Else x2, Undone x2",
                "Weezer / Weezer: Don't Let Go x2, Hash Pipe x2, Island in the Sun x2, Photograph x2"
            ]
        );
    }
}

#[test]
fn case_26_years_tell_works_apart_where_tracks_have_no_numbers() {
    let works = |years: [i32; 2]| {
        let mut world = sources(&["f1", "f2"]);
        for ((source, titles), year) in [("f1", BLUE), ("f2", GREEN)].into_iter().zip(years) {
            world.bare_album(source, "a", "Weezer", "Weezer").year = Some(year);
            for title in titles {
                world.track(source, "a", 0, title);
            }
        }
        world.merged().library().release_groups.len()
    };
    assert_eq!((works([1994, 2001]), works([1994, 1994])), (2, 1));
}

#[test]
fn m8_a_longer_edition_joins_and_all_its_tracks_are_reachable() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Nirvana", "Nevermind"), &NEVERMIND[..3]);
    world.album("f2", "a", ("Nirvana", "Nevermind"), &NEVERMIND);
    let world = world.merged();
    assert_eq!(
        world.albums(),
        [
            "Nirvana / Nevermind: Breed x1, Come as You Are x2, In Bloom x2, Smells Like Teen Spirit x2"
        ]
    );
    let mut editions: Vec<u32> = world
        .library()
        .releases
        .iter()
        .map(|release| release.track_count)
        .collect();
    editions.sort();
    assert_eq!(editions, [3, 4]);
    let group = &world.library().release_groups[0];
    assert_eq!(
        (group.song_count, group.duration_ms),
        (4, 110_000 + 120_000 + 130_000 + 140_000)
    );
}

#[test]
fn m8_a_remaster_is_an_album_of_its_own() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("The Beatles", "Help!"), &["Help!", "Yesterday"]);
    world.album(
        "f2",
        "a",
        ("The Beatles", "Help! (2009 Remaster)"),
        &["Help!", "Yesterday"],
    );
    assert_eq!(
        world.merged().albums(),
        [
            "The Beatles / Help! (2009 Remaster): Help! x1, Yesterday x1",
            "The Beatles / Help!: Help! x1, Yesterday x1"
        ]
    );
}

#[test]
fn m8_a_remaster_of_one_release_group_shares_the_album_but_no_recording() {
    let mut world = sources(&["f1", "f2"]);
    for (source, name) in [("f1", "Help!"), ("f2", "Help! (2009 Remaster)")] {
        world
            .album(source, "a", ("The Beatles", name), &["Help!", "Yesterday"])
            .release_group_mbid = Some("help".to_owned());
    }
    assert_eq!(
        world.merged().albums(),
        ["The Beatles / Help!: Help! x1, Help! x1, Yesterday x1, Yesterday x1"]
    );
}

#[test]
fn case_28_one_title_twice_on_one_album_stays_two_songs() {
    let mut world = sources(&["f1", "f2"]);
    for source in ["f1", "f2"] {
        world.bare_album(source, "a", "Album", "Somebody");
        for number in [1, 9] {
            world.track(source, "a", number, "Intro").duration_ms = Some(60_000);
        }
        // No number at all, and the same length.
        for _ in 0..2 {
            world.track(source, "a", 0, "Skit").duration_ms = Some(9_000);
        }
    }
    let world = world.merged();
    assert_eq!(
        world.albums(),
        ["Somebody / Album: Intro x2, Intro x2, Skit x2, Skit x2"]
    );
    assert_ne!(
        world.track_of("f1", "a/3").id,
        world.track_of("f1", "a/4").id
    );
}

#[test]
fn m4_discs_are_kept_apart() {
    let mut world = sources(&["f1"]);
    world.bare_album("f1", "a", "Album", "Somebody");
    for disc in [1, 2] {
        world.track("f1", "a", 1, "Intro").disc_number = disc;
    }
    let world = world.merged();
    assert_eq!(world.albums(), ["Somebody / Album: Intro x1, Intro x1"]);
    assert!(!joins("Song", |copy| copy.disc_number = 2));
    assert!(
        joins("Song", |copy| copy.disc_number = 0),
        "no disc is the first disc"
    );
}

#[test]
fn a_recording_is_one_by_place_title_version_and_length() {
    assert!(joins("song", |_| {}));
    assert!(joins("Song (feat. Somebody Else)", |_| {}));
    assert!(joins("Song [Album Version]", |_| {}));
    assert!(joins("Song (Bonus Track)", |_| {}));
    assert!(joins("Song", |copy| copy.duration_ms = Some(113_000)));
    assert!(joins("Song", |copy| copy.duration_ms = Some(107_000)));
    assert!(!joins("Song", |copy| copy.duration_ms = Some(113_001)));
    assert!(!joins("Song", |copy| copy.track_number = Some(2)));
    assert!(!joins("Other Song", |_| {}));
    for version in [
        "Live",
        "2009 Remaster",
        "Remix",
        "Acoustic",
        "Mono",
        "Instrumental",
        "Radio Edit",
        "Demo",
    ] {
        assert!(!joins(&format!("Song ({version})"), |_| {}), "{version}");
    }
}

#[test]
fn a_recording_id_stands_in_for_the_title_and_two_keep_apart() {
    let with_ids = |title: &str, ids: [&str; 2]| {
        let mut world = two_copies(title, |_| {});
        for (track, id) in world.input.tracks.iter_mut().zip(ids) {
            track.row.musicbrainz_id = Some(id.to_owned());
        }
        world.input.previous = Default::default();
        world.merged().library().tracks.len()
    };
    assert_eq!(with_ids("Песня", ["x", "x"]), 1);
    assert_eq!(with_ids("Song", ["x", "y"]), 2);
    assert_eq!(
        with_ids("Song (Live)", ["x", "x"]),
        2,
        "an id does not make a live take the studio take"
    );
    assert_eq!(
        with_ids("Song", ["00000000-0000-0000-0000-000000000000", "y"]),
        1,
        "zeros are no id"
    );
}

#[test]
fn an_unknown_length_joins_where_there_is_one_choice() {
    assert!(joins("Song", |copy| copy.duration_ms = None));
    let mut world = sources(&["f1", "f2", "f3"]);
    for (source, length) in [("f1", Some(100_000)), ("f2", Some(200_000)), ("f3", None)] {
        world.album(source, "a", ("Somebody", "Album"), &["Song", "Another"]);
        world
            .input
            .tracks
            .iter_mut()
            .rev()
            .nth(1)
            .expect("a track")
            .row
            .duration_ms = length;
    }
    assert_eq!(
        world.merged().albums(),
        ["Somebody / Album: Another x3, Song x1, Song x1, Song x1"]
    );
}

#[test]
fn an_unknown_number_joins_where_there_is_one_choice() {
    assert!(joins("Song", |copy| copy.track_number = None));
    assert!(!joins("Song", |copy| (
        copy.track_number,
        copy.duration_ms
    ) = (None, None)));
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Somebody", "Album"), &["Intro", "Intro"]);
    world.album("f2", "a", ("Somebody", "Album"), &["Intro"]);
    world
        .input
        .tracks
        .iter_mut()
        .for_each(|track| track.row.duration_ms = Some(60_000));
    world.input.tracks[2].row.track_number = None;
    assert_eq!(world.merged().library().tracks.len(), 3);
}

#[test]
fn blank_names_join_nothing() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("", ""), &["", ""]);
    world.album("f2", "a", ("", " "), &["", ""]);
    let world = world.merged();
    let album = "[Unknown Artist] / [Unknown Album]: [Unknown Track] x1, [Unknown Track] x1";
    assert_eq!(world.albums(), [album, album]);
}

const HITS: [(&str, &str); 4] = [
    ("Aretha", "Think"),
    ("Blondie", "Maria"),
    ("Cher", "Believe"),
    ("Dido", "Thank You"),
];

fn a_compilation(world: &mut World, source: &str, id: &str, album_artist: &str) {
    world.bare_album(source, id, "Hits", album_artist);
    for (number, (artist, title)) in (1..).zip(HITS) {
        (*artist).clone_into(&mut world.track(source, id, number, title).artist_name);
    }
}

const COMPILED: &str = "Various Artists / Hits: Believe x2, Maria x2, Thank You x2, Think x2";

#[test]
fn case_29_a_compilation_without_an_album_artist_joins_the_one_with() {
    let mut world = sources(&["f1", "f2"]);
    a_compilation(&mut world, "f1", "a", "Various Artists");
    a_compilation(&mut world, "f2", "a", "");
    let world = world.merged();
    assert_eq!(world.albums(), [COMPILED]);
    assert_eq!(world.track_of("f2", "a/3").artist_name, "Cher");
    assert!(world.library().release_groups[0].is_compilation);
    let listed: Vec<&str> = world
        .library()
        .artists
        .iter()
        .filter(|artist| artist.is_album_artist)
        .map(|artist| artist.name.as_str())
        .collect();
    assert_eq!(listed, ["Various Artists"]);
}

#[test]
fn case_29_a_compilation_filed_under_each_tracks_artist_joins_too() {
    let mut world = sources(&["f1", "f2"]);
    a_compilation(&mut world, "f1", "a", "V.A.");
    for (number, (artist, title)) in (1..).zip(HITS) {
        let id = format!("hits-{artist}");
        world.bare_album("f2", &id, "Hits", artist);
        (*artist).clone_into(&mut world.track("f2", &id, number, title).artist_name);
    }
    // Of the same name, and of other music.
    world.album(
        "f2",
        "other",
        ("Cher", "Hits"),
        &["Strong Enough", "Bang Bang", "Walking in Memphis"],
    );
    let world = world.merged();
    assert_eq!(
        world.albums(),
        [
            "Cher / Hits: Bang Bang x1, Strong Enough x1, Walking in Memphis x1",
            &COMPILED.replace("Various Artists", "V.A.")
        ]
    );
}

#[test]
fn case_29_compilations_of_one_name_and_other_music_stay_apart() {
    let mut world = sources(&["f1", "f2"]);
    a_compilation(&mut world, "f1", "a", "Various Artists");
    world.bare_album("f2", "a", "Hits", "");
    for (number, (artist, _)) in (1..).zip(HITS) {
        (*artist).clone_into(
            &mut world
                .track("f2", "a", number, &format!("Something by {artist}"))
                .artist_name,
        );
    }
    assert_eq!(world.merged().library().release_groups.len(), 2);
}

#[test]
fn case_31_one_remote_id_on_two_sources_is_no_collision() {
    let mut world = sources(&["f1", "f2"]);
    for (source, name) in [("f1", "One"), ("f2", "Two")] {
        world.artist(source, "42", name).cover_art = Some("42".to_owned());
        world.album(source, "42", (name, name), &[name]).cover_art = Some("42".to_owned());
        world
            .input
            .tracks
            .last_mut()
            .expect("a track")
            .row
            .remote_id = "42".to_owned();
    }
    let world = world.merged();
    assert_eq!(world.albums(), ["One / One: One x1", "Two / Two: Two x1"]);
    for source in ["f1", "f2"] {
        let cover = world
            .track_of(source, "42")
            .cover_art
            .clone()
            .expect("the album's cover");
        assert_eq!(
            (cover.instance.as_str(), cover.remote_id.as_str()),
            (source, "42")
        );
    }
}
