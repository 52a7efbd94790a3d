//! Merges written to a real database.

mod common;

use common::{a_database, a_pass, a_song, album_id, artist_id, merged, track_id};
use segue_core::catalog::merge::merge;
use segue_core::catalog::model::Alias;
use segue_core::time::Wall;
use segue_sqlite::{DropGuard, MergeReport};

#[test]
fn r3_merging_an_unchanged_library_writes_nothing() {
    let shelf = a_database().with_sources(&["home", "away"]);
    let songs = || {
        let mut songs = vec![
            a_song("One", "Ada", "First"),
            a_song("Two", "Ada", "First"),
            a_song("Three", "Bo", "Second"),
        ];
        songs[1].sources = &[("home", "flac", 900), ("away", "mp3", 320)];
        merged(&songs)
    };
    let report = shelf.change(|w| w.apply_merge(songs(), Wall(5)));
    assert_eq!((report.tracks.added, report.track_sources.added), (3, 4));
    assert_eq!(shelf.reader.library_modified().unwrap(), Wall(5));
    let before = shelf.track_sources_dump();
    assert_eq!(before.lines().count(), 4);

    let again = shelf.change(|w| w.apply_merge(songs(), Wall(6)));

    assert_eq!(again.changed(), 0);
    assert_eq!(shelf.track_sources_dump(), before);
    assert_eq!(shelf.reader.library_modified().unwrap(), Wall(5));
}

#[test]
fn r3_from_pass_to_track_sources_the_second_time_changes_no_byte() {
    let shelf = a_database().with_sources(&["home", "away"]);
    let sync = |now| {
        shelf.change(|w| w.apply_pass("home", a_pass(0..40), now, DropGuard::Refuse));
        let mut lossless = a_pass(20..60);
        for track in &mut lossless.tracks {
            track.format = "flac".into();
        }
        shelf.change(|w| w.apply_pass("away", lossless, now, DropGuard::Refuse));
        let input = shelf.reader.snapshot(|r| r.merge_input()).unwrap();
        shelf.change(|w| w.apply_merge(merge(input), now))
    };
    let first = sync(Wall(5));
    assert_eq!((first.tracks.added, first.track_sources.added), (60, 80));
    assert_eq!(first.skipped, [] as [&str; 0]);
    let before = shelf.track_sources_dump();
    let library = shelf.reader.library().unwrap();
    let preferred = library.track_sources.iter().filter(|row| row.preferred);
    assert_eq!(preferred.clone().count(), 60);
    assert_eq!(preferred.filter(|row| row.instance == "away").count(), 40);

    let second = sync(Wall(6));

    assert_eq!(second.changed(), 0, "{second:?}");
    assert_eq!(shelf.track_sources_dump(), before);
    assert_eq!(shelf.reader.library().unwrap(), library);
}

#[test]
fn what_was_written_is_what_is_read() {
    let shelf = a_database().with_sources(&["home"]);
    let wanted = merged(&[a_song("One", "Ada", "First"), a_song("Two", "Bo", "Second")]);
    shelf.change(|w| w.apply_merge(wanted.clone(), Wall(5)));
    let stored = shelf.reader.library().unwrap();
    let mut wanted = wanted.library;
    wanted.artists.sort_by(|a, b| a.id.cmp(&b.id));
    wanted.tracks.sort_by(|a, b| a.id.cmp(&b.id));
    wanted
        .track_sources
        .sort_by(|a, b| a.remote_id.cmp(&b.remote_id));
    assert_eq!(stored, wanted);
}

#[test]
fn a_vanished_row_goes_with_everything_that_hung_on_it() {
    let shelf = a_database().with_sources(&["home"]);
    let both = merged(&[a_song("One", "Ada", "First"), a_song("Two", "Bo", "Second")]);
    shelf.change(|w| w.apply_merge(both, Wall(5)));
    let report = shelf.change(|w| w.apply_merge(merged(&[a_song("One", "Ada", "First")]), Wall(6)));
    let removed = |report: &MergeReport| {
        [
            report.artists.removed,
            report.release_groups.removed,
            report.releases.removed,
            report.tracks.removed,
            report.track_sources.removed,
        ]
    };
    assert_eq!(removed(&report), [1; 5]);
    assert_eq!(
        shelf.reader.resolve(&track_id("Two", "Second")).unwrap(),
        None
    );
    assert_eq!(shelf.reader.counts().unwrap().tracks, 1);
}

#[test]
fn an_old_id_goes_on_resolving_and_its_star_rating_and_plays_follow() {
    let shelf = a_database().with_sources(&["home"]);
    let user = shelf.user("alice");
    let (old, new) = (track_id("One", "First"), track_id("Two", "Second"));
    let both = merged(&[a_song("One", "Ada", "First"), a_song("Two", "Bo", "Second")]);
    shelf.change(|w| w.apply_merge(both, Wall(5)));
    shelf.change(|w| w.star(user, &old, Wall(7)));
    shelf.change(|w| w.set_rating(user, &old, 4, Wall(7)));
    shelf.change(|w| w.record_play(user, &old, Wall(8), "test"));

    let mut one = merged(&[a_song("Two", "Bo", "Second")]);
    one.aliases.push(Alias {
        old_id: old.clone(),
        new_id: new.clone(),
    });
    shelf.change(|w| w.apply_merge(one, Wall(9)));

    assert_eq!(shelf.reader.resolve(&old).unwrap(), Some(new.clone()));
    let song = shelf.reader.song(user, &old).unwrap().unwrap();
    assert_eq!(
        (song.track.id, song.starred, song.play_count, song.played),
        (new, Some(Wall(7)), 1, Some(Wall(8)))
    );
    assert_eq!(song.rating, Some(4));
}

#[test]
fn a_bad_row_costs_that_row_alone() {
    let shelf = a_database().with_sources(&["home"]);
    let mut bad = merged(&[a_song("One", "Ada", "First"), a_song("Two", "Bo", "Second")]);
    bad.library.tracks[1].release_group_id = "al-nowhere".into();
    let twin = bad.library.artists[0].clone();
    bad.library.artists.push(twin);
    let report = shelf.change(|w| w.apply_merge(bad, Wall(5)));
    assert_eq!(report.tracks.added, 1);
    assert_eq!(report.skipped.len(), 3, "{:?}", report.skipped);
    assert!(
        shelf
            .reader
            .song(0, &track_id("One", "First"))
            .unwrap()
            .is_some()
    );
}

#[test]
fn every_prefix_of_the_steps_is_a_library_and_the_next_merge_completes_it() {
    let shelf = a_database().with_sources(&["home"]);
    let titles: Vec<String> = (0..1500).map(|n| format!("Song {n}")).collect();
    let songs = |album: &str| {
        let songs: Vec<_> = titles
            .iter()
            .map(|title| a_song(title, "Ada", album))
            .collect();
        merged(&songs)
    };
    shelf.change(|w| w.apply_merge(songs("First"), Wall(5)));
    let plan = shelf.reader.plan_merge(songs("Second"), Wall(6)).unwrap();
    let steps: Vec<_> = plan.collect();
    assert!(steps.len() > 4);
    for step in steps.into_iter().take(3) {
        assert!(step.rows() <= 2_000);
        shelf.change(|w| w.apply_step(step));
    }
    // A crash here. What is there can be browsed.
    for song in shelf.reader.songs_of_album(0, &album_id("Second")).unwrap() {
        assert_eq!(song.album_name, "Second");
    }
    let report = shelf.change(|w| w.apply_merge(songs("Second"), Wall(7)));
    assert!(report.changed() > 0);
    assert_eq!(
        shelf
            .change(|w| w.apply_merge(songs("Second"), Wall(8)))
            .changed(),
        0
    );
    assert_eq!(
        shelf
            .reader
            .songs_of_album(0, &album_id("Second"))
            .unwrap()
            .len(),
        1500
    );
    assert!(shelf.reader.album(0, &album_id("First")).unwrap().is_none());
}

#[test]
fn a_renamed_album_is_found_by_its_songs_new_album_name() {
    let shelf = a_database().with_sources(&["home"]);
    shelf.change(|w| w.apply_merge(merged(&[a_song("One", "Ada", "First")]), Wall(5)));
    let mut renamed = merged(&[a_song("One", "Ada", "First")]);
    renamed.library.release_groups[0].name = "Debut".into();
    renamed.library.release_groups[0].name_key = "debut".into();
    let report = shelf.change(|w| w.apply_merge(renamed, Wall(6)));
    assert_eq!(
        (report.release_groups.updated, report.tracks.updated),
        (1, 1)
    );
    let query = segue_sqlite::SearchQuery {
        text: "debut one".into(),
        song_count: 5,
        ..Default::default()
    };
    assert_eq!(shelf.reader.search(0, &query).unwrap().songs.len(), 1);
}

#[test]
fn a_source_that_is_removed_is_not_played_from() {
    let shelf = a_database().with_sources(&["home", "away"]);
    let mut song = a_song("One", "Ada", "First");
    song.sources = &[("home", "flac", 900), ("away", "mp3", 320)];
    shelf.change(|w| w.apply_merge(merged(&[song]), Wall(5)));
    assert!(shelf.change(|w| w.remove_instance("home")));
    let left = shelf.reader.candidates(&track_id("One", "First")).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].instance, "away");
    let song = shelf
        .reader
        .song(0, &track_id("One", "First"))
        .unwrap()
        .unwrap();
    assert_eq!(song.source.instance, "away");
    assert_eq!(
        shelf
            .reader
            .artist(0, &artist_id("Ada"))
            .unwrap()
            .unwrap()
            .album_count,
        1
    );
}
