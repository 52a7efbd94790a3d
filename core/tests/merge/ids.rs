//! Ids last (M7; case 32).

use super::builder::{World, sources};
use segue_core::catalog::model::{Alias, Of};

const TITLES: [&str; 3] = ["One", "Two", "Three"];

fn an_album_on(ids: &[&str]) -> World {
    let mut world = sources(ids);
    for source in ids {
        world.artist(source, "x", "Somebody");
        world
            .album(source, "a", ("Somebody", "Album"), &TITLES)
            .artist_remote_id = Some("x".to_owned());
    }
    world
}

/// All ids of the library, sorted by what they are of.
fn ids(world: &World) -> Vec<String> {
    let library = world.library();
    let artists = library.artists.iter().map(|row| row.id.clone());
    let groups = library.release_groups.iter().map(|row| row.id.clone());
    let tracks = library.tracks.iter().map(|row| row.id.clone());
    artists.chain(groups).chain(tracks).collect()
}

#[test]
fn m7_ids_survive_sources_that_come_and_go() {
    let home = an_album_on(&["home"]).merged();
    let before = ids(&home);
    let both = an_album_on(&["a-peer", "home"]).after(&home).merged();
    assert_eq!(ids(&both), before, "a peer came");
    let peer = both.without("home").merged();
    assert_eq!(ids(&peer), before, "the founder went");
    let back = an_album_on(&["a-peer", "home"]).after(&peer).merged();
    assert_eq!(ids(&back), before, "and came back");
    assert!(back.input.aliases.is_empty());
}

#[test]
fn m7_a_source_removed_and_added_again_finds_its_ids() {
    let before = an_album_on(&["home"]).merged();
    let empty = before.without("home").merged();
    assert!(empty.library().tracks.is_empty() && empty.library().artists.is_empty());
    assert_eq!(
        ids(&an_album_on(&["home"]).after(&empty).merged()),
        ids(&before)
    );
}

#[test]
fn m7_an_mbid_that_appears_changes_no_id() {
    let before = an_album_on(&["home"]).merged();
    let mut after = before.clone();
    after.input.artists[0].row.musicbrainz_id = Some("artist".to_owned());
    after.input.albums[0].row.musicbrainz_id = Some("release".to_owned());
    after.input.albums[0].row.release_group_mbid = Some("group".to_owned());
    after.input.tracks[0].row.musicbrainz_id = Some("recording".to_owned());
    assert_eq!(ids(&after.merged()), ids(&before));
}

#[test]
fn m7_when_two_join_the_larger_keeps_its_id_and_the_other_leads_to_it() {
    let mut apart = sources(&["f1", "f2", "f3"]);
    for (source, title) in [("f1", "Helo"), ("f2", "Hello"), ("f3", "Hello")] {
        apart.album(source, "a", ("Somebody", "Album"), &[title, "Goodbye"]);
    }
    let apart = apart.merged();
    let (small, large) = (
        apart.track_of("f1", "a/1").id.clone(),
        apart.track_of("f2", "a/1").id.clone(),
    );
    assert_ne!(small, large);
    let mut joined = apart;
    joined.input.tracks[0].row.title = "Hello".to_owned();
    let joined = joined.merged();
    assert_eq!(joined.track_of("f1", "a/1").id, large);
    assert_eq!(
        joined.input.aliases,
        [Alias {
            old_id: small.clone(),
            new_id: large.clone()
        }]
    );

    let mut split = joined;
    split.input.tracks[0].row.title = "Helo".to_owned();
    let split = split.merged();
    assert_eq!(
        split.track_of("f2", "a/1").id,
        large,
        "the larger part keeps the id"
    );
    let new = &split.track_of("f1", "a/1").id;
    assert!(
        *new != small && *new != large,
        "an id that was given out is not given out again"
    );
    assert_eq!(split.resolve(&small), large);
}

#[test]
fn m7_when_one_splits_evenly_its_founder_keeps_the_id() {
    let founded = an_album_on(&["f2"]).merged();
    let id = founded.track_of("f2", "a/1").id.clone();
    let mut split = an_album_on(&["f1", "f2"]).after(&founded).merged();
    assert_eq!(split.track_of("f1", "a/1").id, id);
    split.input.tracks[0].row.title = "Another".to_owned();
    let split = split.merged();
    assert_eq!(split.track_of("f2", "a/1").id, id);
    assert_ne!(split.track_of("f1", "a/1").id, id);
}

#[test]
fn case_32_replacing_a_file_by_a_better_one_keeps_the_id() {
    let before = an_album_on(&["f1"]).merged();
    let mut after = before.clone();
    for track in &mut after.input.tracks {
        track.row.remote_id = format!("{}.flac", track.row.remote_id);
    }
    after.input.albums[0].row.year = Some(2011);
    assert_eq!(ids(&after.merged()), ids(&before));
}

#[test]
fn case_32_removing_one_of_two_copies_keeps_the_id() {
    let before = an_album_on(&["f1", "f2"]).merged();
    let mut after = before.clone();
    after.input.tracks.retain(|track| track.instance == "f2");
    assert_eq!(ids(&after.merged()), ids(&before));
}

#[test]
fn case_1_a_server_that_renumbers_everything_changes_no_id() {
    let before = an_album_on(&["f1"]).merged();
    let mut after = before.clone();
    let renumber = |id: &mut String| id.insert_str(0, "new-");
    after
        .input
        .artists
        .iter_mut()
        .for_each(|row| renumber(&mut row.row.remote_id));
    for album in &mut after.input.albums {
        renumber(&mut album.row.remote_id);
        album.row.artist_remote_id.iter_mut().for_each(renumber);
    }
    for track in &mut after.input.tracks {
        renumber(&mut track.row.remote_id);
        renumber(&mut track.row.album_remote_id);
    }
    assert_eq!(ids(&after.merged()), ids(&before));
}

#[test]
fn m7_a_renamed_album_with_a_new_id_is_known_by_its_tracks() {
    let before = an_album_on(&["f1"]).merged();
    let mut after = before.clone();
    after.input.albums[0].row.remote_id = "b".to_owned();
    after.input.albums[0].row.name = "Album, With Its Full Name".to_owned();
    after
        .input
        .tracks
        .iter_mut()
        .for_each(|track| track.row.album_remote_id = "b".to_owned());
    let after = after.merged();
    assert_eq!(after.group_of("f1", "b").id, before.group_of("f1", "a").id);
}

#[test]
fn m7_a_copy_that_goes_leads_to_the_one_that_stays() {
    let mut before = sources(&["f1"]);
    before.bare_album("f1", "a", "Album", "Somebody");
    for _ in 0..2 {
        before.track("f1", "a", 1, "Song");
    }
    let before = before.merged();
    let (first, second) = (
        before.track_of("f1", "a/1").id.clone(),
        before.track_of("f1", "a/2").id.clone(),
    );
    let mut after = before;
    after.input.tracks.pop();
    let after = after.merged();
    assert_eq!(
        after.resolve(&second),
        first,
        "same place, title and length: the star goes on"
    );
}

#[test]
fn m7_alias_chains_are_resolved_and_dead_ends_dropped() {
    let mut world = an_album_on(&["f1"]).merged();
    let living = world.track_of("f1", "a/1").id.clone();
    let alias = |from: &str, to: &str| Alias {
        old_id: from.to_owned(),
        new_id: to.to_owned(),
    };
    world.input.aliases = vec![
        alias("trc", "trb"),
        alias("trb", &living),
        alias("trdead", "trgone"),
        alias("trx", "try"),
        alias("try", "trx"),
    ];
    assert_eq!(
        world.merged().input.aliases,
        [alias("trb", &living), alias("trc", &living)]
    );
}

#[test]
fn ids_are_opaque_words_with_the_prefix_of_their_kind() {
    let world = an_album_on(&["f1", "f2"]).merged();
    for (id, prefix) in ids(&world).iter().zip(["ar", "al", "tr", "tr", "tr"]) {
        assert!(id.starts_with(prefix) && id.len() >= 18, "{id}");
        assert!(
            id.bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
            "{id}"
        );
    }
    assert!(
        world
            .library()
            .releases
            .iter()
            .all(|release| release.id.starts_with("re"))
    );
}

#[test]
fn an_id_is_a_fixed_function_of_its_founder() {
    // Stored in users' stars and playlists: it must not change from version to version.
    let world = an_album_on(&["f1"]).merged();
    assert_eq!(
        ids(&world)[..2],
        ["ar379dedd1c0851b37998e", "al6813bc4202c0d9a38e93"]
    );
}

#[test]
fn an_artist_known_by_name_only_keeps_its_id_when_a_source_lists_it() {
    let mut before = sources(&["f1", "f2"]);
    before.album("f1", "a", ("Somebody", "Album"), &["Song"]);
    let before = before.merged();
    let mut after = before.clone();
    let row = segue_core::catalog::model::InstanceArtist {
        remote_id: "1".to_owned(),
        name: "SOMEBODY".to_owned(),
        musicbrainz_id: Some("id".to_owned()),
        cover_art: None,
    };
    after.input.artists.push(Of {
        instance: "f2".to_owned(),
        row,
    });
    let after = after.merged();
    assert_eq!(
        after.library().artists[0].id,
        before.library().artists[0].id
    );
    assert_eq!(after.library().artists.len(), 1);
}

#[test]
fn a_deleted_album_does_not_lead_to_another_work_of_its_name() {
    let mut world = sources(&["f1"]);
    world
        .album("f1", "blue", ("Weezer", "Weezer"), &["Buddy Holly"])
        .year = Some(1994);
    world
        .album("f1", "green", ("Weezer", "Weezer"), &["Hash Pipe"])
        .year = Some(2001);
    let mut fewer = world.merged();
    let blue = fewer.group_of("f1", "blue").id.clone();
    fewer.input.albums.remove(0);
    fewer.input.tracks.remove(0);
    let fewer = fewer.merged();
    assert_eq!(fewer.resolve(&blue), blue);
    assert!(fewer.input.aliases.is_empty());
}
