//! What holds for any library.

use super::builder::{World, sources};
use proptest::prelude::*;
use segue_core::catalog::model::*;
use segue_core::rank::{RankKey, compare, compare_unpreferred};
use std::collections::{BTreeMap, BTreeSet};

const SOURCES: [&str; 3] = ["f1", "f2", "f3"];

fn pick(from: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(from).prop_map(str::to_owned)
}

fn perhaps(from: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    prop_oneof![3 => Just(None), 1 => pick(from).prop_map(Some)]
}

fn names() -> impl Strategy<Value = String> {
    pick(&[
        "Alpha",
        "ALPHÄ",
        "The Alpha",
        "Beta",
        "Various Artists",
        "VA",
        "",
        "!!!",
        "Alpha & Beta",
    ])
}

prop_compose! {
    fn artists()(remote_id in pick(&["1", "2", "3"]), name in names(), musicbrainz_id in perhaps(&["x", "y"])) -> InstanceArtist {
        InstanceArtist { remote_id, name, musicbrainz_id, cover_art: None }
    }
}

prop_compose! {
    fn albums()(
        remote_id in pick(&["1", "2", "3", "4"]),
        name in pick(&["Hits", "hits", "Hits (2009 Remaster)", "Hits (Deluxe)", "Live", "", "???"]),
        artist_remote_id in perhaps(&["1", "2", "9"]),
        artist_name in names(),
        year in prop_oneof![Just(None), Just(Some(1994)), Just(Some(2001))],
        musicbrainz_id in perhaps(&["r1", "r2"]),
        release_group_mbid in perhaps(&["g1", "g2"]),
    ) -> InstanceAlbum {
        InstanceAlbum { remote_id, name, artist_remote_id, artist_name, year, musicbrainz_id, release_group_mbid, ..Default::default() }
    }
}

prop_compose! {
    fn tracks()(
        (remote_id, album_remote_id) in (0..12u32, pick(&["1", "2", "3", "4", "", "9"])),
        title in pick(&["Song", "song", "Song (Live)", "Other", "", "Song (feat. Beta)", "Third", "Fourth"]),
        artist_name in names(),
        artist_remote_id in perhaps(&["1", "2", "9"]),
        (track_number, disc_number) in (prop_oneof![Just(None), (1..4u32).prop_map(Some)], 0..3u32),
        duration_ms in prop_oneof![1 => Just(None), 4 => (0..8u64).prop_map(|n| Some(100_000 + n * 1_500))],
        musicbrainz_id in perhaps(&["t1", "t2"]),
        (format, bit_rate) in (pick(&["flac", "mp3", "opus"]), prop_oneof![Just(None), Just(Some(128)), Just(Some(320))]),
    ) -> InstanceTrack {
        InstanceTrack {
            remote_id: remote_id.to_string(), album_remote_id, title, artist_name, artist_remote_id, track_number, disc_number,
            duration_ms, musicbrainz_id, format, bit_rate, ..Default::default()
        }
    }
}

fn rows<T: std::fmt::Debug + Clone>(
    of: impl Strategy<Value = T>,
    most: usize,
) -> impl Strategy<Value = Vec<Of<T>>> {
    let row = (prop::sample::select(&SOURCES), of).prop_map(|(id, row)| Of {
        instance: id.to_owned(),
        row,
    });
    prop::collection::vec(row, 0..most)
}

/// A library in which everything is likely to be mistaken for something else, duplicate and dangling rows included.
fn worlds() -> impl Strategy<Value = World> {
    (rows(artists(), 8), rows(albums(), 10), rows(tracks(), 40)).prop_map(
        |(artists, albums, tracks)| {
            let mut world = sources(&SOURCES);
            world.input.instances[2].local = false;
            (world.input.artists, world.input.albums, world.input.tracks) =
                (artists, albums, tracks);
            world
        },
    )
}

fn shuffled(world: World) -> impl Strategy<Value = (World, World)> {
    let MergeInput {
        instances,
        artists,
        albums,
        tracks,
        ..
    } = world.input.clone();
    let rows = (
        Just(instances).prop_shuffle(),
        Just(artists).prop_shuffle(),
        Just(albums).prop_shuffle(),
        Just(tracks).prop_shuffle(),
    );
    rows.prop_map(move |(instances, artists, albums, tracks)| {
        let mut other = world.clone();
        other.input = MergeInput {
            instances,
            artists,
            albums,
            tracks,
            ..world.input.clone()
        };
        (world.clone(), other)
    })
}

fn rank(source: &TrackSource) -> RankKey<'_> {
    RankKey {
        preferred: source.preferred,
        format_rank: source.format_rank,
        bit_rate: source.bit_rate,
        local: source.local,
        instance: &source.instance,
        remote_id: &source.remote_id,
    }
}

/// Every reference leads to a row, every list is sorted, counts add up, aliases lead to the living.
fn check(world: &World) {
    let library = world.library();
    let sorted = |ids: Vec<&str>| ids.is_sorted_by(|a, b| a < b);
    assert!(sorted(
        library.artists.iter().map(|row| row.id.as_str()).collect()
    ));
    assert!(sorted(
        library
            .release_groups
            .iter()
            .map(|row| row.id.as_str())
            .collect()
    ));
    assert!(sorted(
        library.releases.iter().map(|row| row.id.as_str()).collect()
    ));
    assert!(sorted(
        library.tracks.iter().map(|row| row.id.as_str()).collect()
    ));
    assert!(library.artist_sources.is_sorted() && library.release_sources.is_sorted());
    assert!(
        library
            .track_sources
            .is_sorted_by_key(|row| (row.instance.clone(), row.remote_id.clone()))
    );

    let artists: BTreeMap<&str, &UnifiedArtist> = library
        .artists
        .iter()
        .map(|row| (row.id.as_str(), row))
        .collect();
    let groups: BTreeSet<&str> = library
        .release_groups
        .iter()
        .map(|row| row.id.as_str())
        .collect();
    let releases: BTreeMap<&str, &UnifiedRelease> = library
        .releases
        .iter()
        .map(|row| (row.id.as_str(), row))
        .collect();
    for group in &library.release_groups {
        let tracks: Vec<&UnifiedTrack> = library
            .tracks
            .iter()
            .filter(|track| track.release_group_id == group.id)
            .collect();
        assert_eq!(group.song_count as usize, tracks.len());
        assert_eq!(
            group.duration_ms,
            tracks
                .iter()
                .filter_map(|track| track.duration_ms)
                .sum::<u64>()
        );
        assert!(artists[group.artist_id.as_str()].is_album_artist && !group.name.is_empty());
    }
    for row in &library.release_sources {
        assert_eq!(
            releases[row.release_id.as_str()].release_group_id,
            row.release_group_id
        );
        assert!(groups.contains(row.release_group_id.as_str()));
    }
    for track in &library.tracks {
        assert!(
            groups.contains(track.release_group_id.as_str())
                && artists.contains_key(track.artist_id.as_str())
        );
        assert!(!track.title.is_empty() && !track.artist_name.is_empty());
        check_copies(world, &world.copies(&track.id));
    }
    let living: BTreeSet<&str> = groups
        .into_iter()
        .chain(artists.into_keys())
        .chain(releases.into_keys())
        .chain(library.tracks.iter().map(|row| row.id.as_str()))
        .collect();
    for alias in &world.input.aliases {
        assert!(living.contains(alias.new_id.as_str()) && !living.contains(alias.old_id.as_str()));
    }
}

/// One copy is preferred, and it is the first of the shared order with and without that; none is from the same album as another.
fn check_copies(world: &World, copies: &[&TrackSource]) {
    let first = copies
        .iter()
        .min_by(|a, b| compare(&rank(a), &rank(b)))
        .expect("a track has a copy");
    let unpreferred = copies
        .iter()
        .min_by(|a, b| compare_unpreferred(&rank(a), &rank(b)));
    assert_eq!((Some(first), first.preferred), (unpreferred, true));
    assert_eq!(copies.iter().filter(|copy| copy.preferred).count(), 1);
    let mut albums = BTreeSet::new();
    for copy in copies {
        let rows = world
            .input
            .tracks
            .iter()
            .filter(|row| row.instance == copy.instance && row.row.remote_id == copy.remote_id);
        let of: BTreeSet<&str> = rows.map(|row| row.row.album_remote_id.as_str()).collect();
        // Which of two rows with one id counted, and which album a track without one got, is not for this test to know.
        if let (1, Some(album)) = (of.len(), of.first().filter(|album| !album.is_empty())) {
            assert!(
                albums.insert((&copy.instance, *album)),
                "two tracks of one album are one"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn m12_any_library_comes_out_consistent(world in worlds()) {
        check(&world.merged());
    }

    #[test]
    fn r3_merging_an_unchanged_library_changes_no_row(world in worlds()) {
        let once = world.merged();
        let twice = once.clone().merged();
        prop_assert_eq!(once.library(), twice.library());
        prop_assert_eq!(&once.input.aliases, &twice.input.aliases);
    }

    #[test]
    fn m10_the_order_of_the_rows_does_not_matter((world, other) in worlds().prop_flat_map(shuffled)) {
        let (world, other) = (world.merged(), other.merged());
        prop_assert_eq!(world.library(), other.library());
        prop_assert_eq!(world.skipped, other.skipped);
    }

    #[test]
    fn r3_a_changed_library_comes_to_rest_at_once(before in worlds(), after in worlds()) {
        let changed = after.after(&before.merged()).merged();
        check(&changed);
        let again = changed.clone().merged();
        prop_assert_eq!(changed.library(), again.library());
    }

    #[test]
    fn m7_every_source_that_stays_finds_its_id_alive_or_led_on(world in worlds(), gone in prop::sample::select(&SOURCES)) {
        let all = world.merged();
        let fewer = all.without(gone).merged();
        let back = all.clone().after(&fewer).merged();
        check(&fewer);
        check(&back);
        for source in &all.library().track_sources {
            let then = &source.track_id;
            let now = |world: &World| world.track_of(&source.instance, &source.remote_id).id.clone();
            // A split gives all but one part a new id; what an id leads to is alive as long as any of its sources is.
            let alive = |world: &World| world.library().tracks.iter().any(|track| track.id == world.resolve(then));
            if source.instance != gone {
                prop_assert!(alive(&fewer) && alive(&back));
            }
            if all.copies(then).len() == 1 && source.instance != gone {
                prop_assert_eq!(fewer.resolve(then), now(&fewer));
            }
            // Where the absence made two into one, the one that led elsewhere does not get its id back: it was given out.
            if fewer.input.aliases.is_empty() {
                prop_assert_eq!(back.resolve(then), now(&back), "removed and added again");
            }
        }
    }
}

#[test]
fn m9_a_large_library_is_merged_completely() {
    let mut world = sources(&["f1", "f2"]);
    for number in 0..800 {
        let (artist, name) = (format!("Artist {}", number / 4), format!("Album {number}"));
        let titles: Vec<String> = (0..12)
            .map(|track| format!("Song {track} of {number}"))
            .collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        for source in ["f1", "f2"] {
            // The builder looks for the album's other tracks: of many albums it would take too long.
            let mut one = sources(&[source]);
            one.album(source, &number.to_string(), (&artist, &name), &titles);
            world.input.albums.append(&mut one.input.albums);
            world.input.tracks.append(&mut one.input.tracks);
        }
    }
    let world = world.merged();
    let library = world.library();
    assert_eq!(
        (library.artists.len(), library.release_groups.len()),
        (200, 800)
    );
    assert_eq!(
        (library.tracks.len(), library.track_sources.len()),
        (9_600, 19_200)
    );
    assert_eq!(*library, *world.clone().merged().library());
}

#[test]
fn m9_thousands_of_namesakes_do_not_take_for_ever() {
    let mut world = sources(&["f1", "f2"]);
    for (source, number) in (0..3_000).flat_map(|number| [("f1", number), ("f2", number)]) {
        let mut one = sources(&[source]);
        let album = one.album(
            source,
            &format!("al{number}"),
            ("Somebody", "Live"),
            &[&format!("Song {number}")],
        );
        album.musicbrainz_id = Some("one for all".to_owned());
        one.artist(source, &format!("ar{number}"), "Somebody")
            .musicbrainz_id = Some(format!("id {number}"));
        let track = one.track(source, "junk", 0, "Track");
        track.remote_id = format!("tr{number}");
        world.input.artists.append(&mut one.input.artists);
        world.input.albums.append(&mut one.input.albums);
        world.input.tracks.append(&mut one.input.tracks);
    }
    let world = world.merged();
    assert_eq!(world.library().track_sources.len(), 12_000);
    assert_eq!(*world.library(), *world.clone().merged().library());
}
