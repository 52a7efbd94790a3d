//! What is shown of what became one.

use super::builder::sources;
use segue_core::Wall;
use segue_core::catalog::model::CoverRef;

#[test]
fn m2_the_preferred_copy_is_the_first_of_the_shared_order() {
    let mut world = sources(&["a-peer", "home", "shelf"]);
    world.input.instances[0].local = false;
    for source in ["shelf", "home", "a-peer"] {
        world.album(source, "a", ("Somebody", "Album"), &["Song"]);
    }
    let preferred = |world: &super::builder::World| {
        let world = world.clone().merged();
        let copies = world.copies(&world.library().tracks[0].id);
        copies
            .iter()
            .find(|copy| copy.preferred)
            .map(|copy| copy.instance.clone())
            .expect("one is preferred")
    };
    assert_eq!(
        preferred(&world),
        "home",
        "local before peer, then the smaller id"
    );
    world.input.tracks[2].row.bit_rate = Some(901);
    assert_eq!(preferred(&world), "a-peer", "quality before nearness");
}

#[test]
fn m3_aac_and_alac_in_m4a_rank_by_what_they_are() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    world.album("f2", "a", ("Somebody", "Album"), &["Song"]);
    for (track, (format, bit_rate)) in world
        .input
        .tracks
        .iter_mut()
        .zip([("mp3", 64), ("m4a", 256)])
    {
        (track.row.format, track.row.bit_rate) = (format.to_owned(), Some(bit_rate));
    }
    let first = world.clone().merged();
    assert!(
        first.copies(&first.library().tracks[0].id)[1].preferred,
        "256 kbit/s of AAC before 64 of MP3"
    );
    world.input.tracks[0].row.bit_rate = Some(320);
    world.input.tracks[1].row.format = "alac".to_owned();
    let second = world.merged();
    assert!(
        second.copies(&second.library().tracks[0].id)[1].preferred,
        "ALAC before any MP3"
    );
}

#[test]
fn l1_what_is_shown_of_a_track_is_what_its_preferred_copy_is() {
    let mut world = sources(&["f1", "f2"]);
    world.album("f1", "a", ("somebody", "album"), &["song"]);
    world.as_mp3(1);
    world.input.tracks[0].row.genres = vec!["Pop".to_owned()];
    world.input.tracks[0].row.isrc = Some("XX1234567890".to_owned());
    world.album("f2", "a", ("Somebody", "Album"), &["Song"]);
    world.input.tracks[1].row.duration_ms = Some(111_500);
    let world = world.merged();
    let track = &world.library().tracks[0];
    assert_eq!(
        (
            track.title.as_str(),
            track.artist_name.as_str(),
            track.duration_ms
        ),
        ("Song", "somebody", Some(111_500))
    );
    assert_eq!(
        (track.genres.len(), track.isrc.is_some()),
        (1, true),
        "what the best copy lacks the next one says"
    );
    assert_eq!(world.library().release_groups[0].name, "Album");
    assert_eq!(world.library().release_groups[0].duration_ms, 111_500);
}

#[test]
fn covers_come_from_the_best_source_that_has_one_and_created_is_the_earliest() {
    let mut world = sources(&["f1", "f2"]);
    let album = world.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    (album.cover_art, album.created) = (Some("mp3-cover".to_owned()), Some(Wall(1_000)));
    world.as_mp3(1);
    world
        .album("f2", "a", ("Somebody", "Album"), &["Song"])
        .created = Some(Wall(2_000));
    let world = world.merged();
    let group = &world.library().release_groups[0];
    let cover = Some(CoverRef {
        instance: "f1".to_owned(),
        remote_id: "mp3-cover".to_owned(),
    });
    assert_eq!(
        (&group.cover_art, group.created),
        (&cover, Some(Wall(1_000)))
    );
    assert_eq!(
        world.library().tracks[0].cover_art,
        cover,
        "the album's, for want of its own"
    );
}

#[test]
fn a_track_artist_exists_for_every_track() {
    let mut world = sources(&["f1"]);
    world.album("f1", "a", ("", "Album"), &["Nobody"]);
    world.album("f1", "b", ("Somebody", "Album"), &["By the album"]);
    world.input.tracks[1].row.artist_name = String::new();
    world.track("f1", "b", 2, "By a guest").artist_name = "Guest".to_owned();
    let world = world.merged();
    let artist = |id| {
        let track = world.track_of("f1", id);
        let row = world
            .library()
            .artists
            .iter()
            .find(|artist| artist.id == track.artist_id)
            .expect("the artist lives");
        assert_eq!(row.name, track.artist_name);
        row.name.as_str()
    };
    assert_eq!(
        [artist("a/1"), artist("b/1"), artist("b/2")],
        ["[Unknown Artist]", "Somebody", "Guest"]
    );
}

#[test]
fn a_track_by_artist_and_guest_shows_both_and_belongs_to_the_artist() {
    let mut world = sources(&["f1"]);
    world.artist("f1", "1", "Somebody");
    world
        .album("f1", "a", ("Somebody", "Album"), &["Song"])
        .artist_remote_id = Some("1".to_owned());
    let track = &mut world.input.tracks[0].row;
    (track.artist_remote_id, track.artist_name) =
        (Some("1".to_owned()), "Somebody feat. Guest".to_owned());
    let world = world.merged();
    assert_eq!(world.artist_names(), ["Somebody"]);
    assert_eq!(
        world.library().tracks[0].artist_name,
        "Somebody feat. Guest"
    );
}

#[test]
fn the_true_artist_of_a_track_outweighs_the_id_of_various_artists() {
    let mut world = sources(&["f1"]);
    world.artist("f1", "va", "Various Artists");
    world
        .album("f1", "a", ("Various Artists", "Hits"), &["Think"])
        .artist_remote_id = Some("va".to_owned());
    let track = &mut world.input.tracks[0].row;
    (track.artist_remote_id, track.artist_name) = (Some("va".to_owned()), "Aretha".to_owned());
    let world = world.merged();
    assert_eq!(world.library().tracks[0].artist_name, "Aretha");
    assert_eq!(
        world.library().release_groups[0].artist_name,
        "Various Artists"
    );
}

#[test]
fn a_track_without_a_listed_album_is_not_lost() {
    let mut world = sources(&["f1"]);
    world.track("f1", "gone", 1, "One").artist_name = "Somebody".to_owned();
    world.track("f1", "gone", 2, "Two").artist_name = "Somebody".to_owned();
    world.track("f1", "", 1, "Stray").artist_name = "Stranger".to_owned();
    let world = world.merged();
    assert_eq!(
        world.albums(),
        [
            "Somebody / [Unknown Album]: One x1, Two x1",
            "Stranger / [Unknown Album]: Stray x1"
        ]
    );
    assert!(
        world.library().release_sources.is_empty(),
        "no source lists these albums"
    );
}

#[test]
fn m11_a_bad_row_is_skipped_and_reported() {
    let mut world = sources(&["f1"]);
    world.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    world.album("gone", "a", ("Somebody", "Album"), &["Song"]);
    world.artist("f1", "", "Nameless id");
    let twice = world.input.tracks[0].clone();
    world.input.tracks.push(twice);
    let world = world.merged();
    assert_eq!(world.albums(), ["Somebody / Album: Song x1"]);
    assert_eq!(
        world.skipped,
        [
            "artist without an id from f1",
            "album \"a\" is of an unknown source \"gone\"",
            "track \"a/1\" is of an unknown source \"gone\"",
            "track \"a/1\" of f1 came twice"
        ]
    );
}

#[test]
fn an_unknown_bit_rate_follows_from_size_and_length() {
    let mut world = sources(&["f1"]);
    world.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    let track = &mut world.input.tracks[0].row;
    (track.bit_rate, track.size, track.duration_ms) = (None, Some(1_000_000), Some(100_000));
    assert_eq!(world.merged().library().track_sources[0].bit_rate, 80);
}

#[test]
fn an_album_of_one_artist_and_guests_is_by_that_artist() {
    let mut world = sources(&["f1"]);
    world.bare_album("f1", "a", "Album", "");
    for (number, artist) in (1..).zip(["Somebody", "Somebody feat. Guest", "Somebody"]) {
        artist.clone_into(
            &mut world
                .track("f1", "a", number, &format!("Song {number}"))
                .artist_name,
        );
    }
    let mut compilation = world.clone();
    assert_eq!(
        world.merged().library().release_groups[0].artist_name,
        "Somebody"
    );
    compilation.input.albums[0].row.is_compilation = true;
    assert_eq!(
        compilation.merged().library().release_groups[0].artist_name,
        "Various Artists"
    );
}
