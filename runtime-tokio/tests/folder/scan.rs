//! What a scan makes of files: tags of every format, names, and everything that can be wrong.

use crate::kit::{Folder, fixture_bytes, plain_wav, tagged_ape, track, wav_by};
use segue_core::catalog::model::Pass;
use segue_runtime_tokio::folder::Scanned;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

const RECORDING: &str = "0a3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f01";
const RELEASE: &str = "1b3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f02";
const RELEASE_GROUP: &str = "2c3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f03";
const ARTIST: &str = "3d3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f04";

#[test]
fn every_format_gives_the_same_tags() {
    let cases = [
        ("tone.flac", "flac", "audio/flac"),
        ("tone.mp3", "mp3", "audio/mpeg"),
        ("tone.opus", "opus", "audio/ogg"),
        ("tone.ogg", "ogg", "audio/ogg"),
        ("tone-aac.m4a", "m4a", "audio/mp4"),
        ("tone-alac.m4a", "alac", "audio/mp4"),
        ("tone.wav", "wav", "audio/wav"),
        ("tone.aiff", "aiff", "audio/aiff"),
        ("tone.wv", "wv", "audio/x-wavpack"),
        ("tone.aac", "aac", "audio/aac"),
    ];
    for (fixture, format, content_type) in cases {
        let folder = Folder::new();
        folder.tone(fixture, fixture);
        let Pass {
            artists,
            albums,
            tracks,
            complete,
            warnings,
        } = folder.scan().pass;
        assert!(complete && warnings.is_empty(), "{fixture}: {warnings:?}");
        let [track] = &tracks[..] else {
            panic!("{fixture}: {tracks:?}")
        };
        let said = (
            track.title.as_str(),
            track.artist_name.as_str(),
            track.track_number,
            track.disc_number,
            track.year,
            track.musicbrainz_id.as_deref(),
            track.isrc.as_deref(),
        );
        let expected = (
            "Jóga",
            "Björk, Guest",
            Some(3),
            1,
            Some(1997),
            Some(RECORDING),
            Some("GBAYE9700123"),
        );
        assert_eq!(said, expected, "{fixture}");
        assert_eq!(track.genres, ["Electronic", "Art Pop"], "{fixture}");
        assert_eq!(track.format, format, "{fixture}");
        assert_eq!(track.content_type, content_type, "{fixture}");
        assert!(
            track.duration_ms.is_some_and(|ms| (50..900).contains(&ms)),
            "{track:?}"
        );
        assert!(
            track.bit_rate.is_some() && track.channel_count == Some(1),
            "{track:?}"
        );
        assert!(track.sampling_rate.is_some(), "{track:?}");
        assert_eq!(track.size, Some(fixture_bytes(fixture).len() as u64));

        let [album] = &albums[..] else {
            panic!("{fixture}: {albums:?}")
        };
        assert_eq!(album.remote_id, track.album_remote_id);
        assert_eq!(
            (album.name.as_str(), album.artist_name.as_str()),
            ("Homogenic", "Björk")
        );
        assert_eq!(album.musicbrainz_id.as_deref(), Some(RELEASE), "{fixture}");
        assert_eq!(
            album.release_group_mbid.as_deref(),
            Some(RELEASE_GROUP),
            "{fixture}"
        );
        assert_eq!((album.year, album.is_compilation), (Some(1997), false));

        let [artist] = &artists[..] else {
            panic!("{fixture}: {artists:?}")
        };
        assert_eq!(
            (artist.name.as_str(), artist.musicbrainz_id.as_deref()),
            ("Björk", Some(ARTIST))
        );
        assert_eq!(album.artist_remote_id.as_ref(), Some(&artist.remote_id));
        assert_eq!(track.artist_remote_id.as_ref(), Some(&artist.remote_id));
    }
}

#[test]
fn bit_depth_is_known_of_lossless_formats() {
    let folder = Folder::new();
    for fixture in [
        "tone.flac",
        "tone-alac.m4a",
        "tone.wav",
        "tone.aiff",
        "tone.wv",
        "tone.mp3",
    ] {
        folder.tone(fixture, fixture);
    }
    let pass = folder.scan().pass;
    let depths: Vec<_> = pass
        .tracks
        .iter()
        .map(|track| (track.format.as_str(), track.bit_depth))
        .collect();
    let expected = [
        ("alac", Some(16)),
        ("aiff", Some(16)),
        ("flac", Some(16)),
        ("mp3", None),
        ("wav", Some(16)),
        ("wv", Some(16)),
    ];
    assert_eq!(depths, expected);
}

#[test]
fn monkeys_audio_is_read() {
    let folder = Folder::new();
    folder.write("x.ape", &tagged_ape());
    let pass = folder.scan().pass;
    let track = track(&pass, "x.ape");
    let said = (track.title.as_str(), track.track_number, track.year);
    assert_eq!(said, ("Jóga", Some(3), Some(1997)));
    assert_eq!(
        (track.format.as_str(), track.duration_ms),
        ("ape", Some(500))
    );
}

#[test]
fn untagged_files_are_named_by_their_place() {
    let folder = Folder::new();
    folder.write("Artist/Album/CD 2/03 - Some Title.wav", &plain_wav());
    folder.write("Loose.wav", &plain_wav());
    let pass = folder.scan().pass;

    let numbered = track(&pass, "Artist/Album/CD 2/03 - Some Title.wav");
    assert_eq!(numbered.title, "Some Title");
    assert_eq!((numbered.disc_number, numbered.track_number), (2, Some(3)));
    assert_eq!(numbered.artist_name, "Artist");
    assert_eq!(numbered.duration_ms, Some(1000));

    let loose = track(&pass, "Loose.wav");
    assert_eq!(
        (loose.title.as_str(), loose.artist_name.as_str()),
        ("Loose", "")
    );
    assert_eq!(loose.artist_remote_id, None);

    let albums: Vec<_> = pass
        .albums
        .iter()
        .map(|album| (album.name.as_str(), album.artist_name.as_str()))
        .collect();
    assert!(albums.contains(&("Album", "Artist")), "{albums:?}");
    assert!(albums.contains(&("music", "")), "{albums:?}");
}

#[test]
fn an_album_without_album_artist_is_by_its_artist_or_by_various_artists() {
    let folder = Folder::new();
    folder.write("Mix/01.wav", &wav_by("A", "Both"));
    folder.write("Mix/02.wav", &wav_by("B", "Both"));
    folder.write("Mix/03.wav", &wav_by("A", "Mine"));
    let first = folder.scan().pass;
    let albums = |pass: &Pass| -> Vec<_> {
        let said = pass.albums.iter().map(|album| {
            let artist = pass
                .artists
                .iter()
                .find(|artist| Some(&artist.remote_id) == album.artist_remote_id.as_ref());
            assert_eq!(artist.unwrap().name, album.artist_name);
            (
                album.name.clone(),
                album.artist_name.clone(),
                album.is_compilation,
            )
        });
        let mut said: Vec<_> = said.collect();
        said.sort();
        said
    };
    let both = ("Both".to_owned(), "Various Artists".to_owned(), true);
    let mine = ("Mine".to_owned(), "A".to_owned(), false);
    assert_eq!(albums(&first), [both.clone(), mine]);

    // The artist follows the tracks also when most of them are not read again.
    folder.write("Mix/03.wav", &wav_by("Another", "Mine"));
    let second = folder.scan_after(&first);
    let mine = ("Mine".to_owned(), "Another".to_owned(), false);
    assert_eq!((second.read, albums(&second.pass)), (1, vec![both, mine]));
}

#[test]
fn broken_files_are_skipped_with_a_sentence_and_the_pass_is_complete() {
    let folder = Folder::new();
    folder.write(
        "B/broken.mp3",
        &[&[0xff, 0xfb, 0x90, 0][..], &[0; 200]].concat(),
    );
    folder.write("B/empty.flac", b"");
    folder.write("B/page.mp3", b"<html>not music</html>");
    folder.write("B/cut.m4a", &fixture_bytes("tone-aac.m4a")[..200]);
    folder.tone("tone.ogg", "B/good.ogg");
    let Scanned {
        pass,
        skipped,
        read,
        ..
    } = folder.scan();
    assert!(pass.complete);
    assert_eq!(
        (pass.tracks.len(), read, skipped),
        (1, 1, 4),
        "{:#?}",
        pass.warnings
    );
    for name in ["B/broken.mp3", "B/empty.flac", "B/page.mp3", "B/cut.m4a"] {
        let sentence = format!("\"{name}\" was skipped: ");
        let told = pass
            .warnings
            .iter()
            .any(|warning| warning.starts_with(&sentence));
        assert!(told, "{name}: {:?}", pass.warnings);
    }
}

#[test]
fn every_prefix_of_a_file_is_a_row_or_a_warning() {
    let folder = Folder::new();
    for fixture in [
        "tone.flac",
        "tone.mp3",
        "tone-alac.m4a",
        "tone.opus",
        "tone.wv",
    ] {
        let bytes = fixture_bytes(fixture);
        let suffix = fixture.rsplit('.').next().unwrap();
        for end in (0..bytes.len()).step_by(97) {
            folder.write(format!("{end:05}-{fixture}.{suffix}"), &bytes[..end]);
        }
    }
    let scanned = folder.scan();
    let files = fs::read_dir(folder.root()).unwrap().count();
    assert_eq!(scanned.read + scanned.skipped, files);
    assert_eq!(scanned.pass.tracks.len(), scanned.read);
    assert!(scanned.pass.warnings.len() <= 201);
}

#[test]
fn file_names_that_are_not_text_are_kept_as_bytes() {
    let folder = Folder::new();
    let name = OsStr::from_bytes(b"01 - caf\xe9.wav");
    folder.write(Path::new("100% Artist/Album").join(name), &plain_wav());
    let pass = folder.scan().pass;
    let [track] = &pass.tracks[..] else {
        panic!("{pass:?}")
    };
    let text = "100%25 Artist/Album/01 - caf%E9.wav";
    assert_eq!(track.path.as_deref(), Some(text));
    assert_eq!(track.title, "caf\u{fffd}");
    assert_eq!(track.artist_name, "100% Artist");
    assert_eq!(folder.scan_after(&pass).kept, 1);
}

#[test]
fn links_are_followed_inside_the_root_only() {
    let folder = Folder::new();
    let outside = folder.beside().join("outside.flac");
    fs::write(&outside, fixture_bytes("tone.flac")).unwrap();
    fs::create_dir_all(folder.beside().join("elsewhere")).unwrap();
    fs::write(
        folder.beside().join("elsewhere/x.flac"),
        fixture_bytes("tone.flac"),
    )
    .unwrap();
    folder.tone("tone.flac", "Real/a.flac");
    symlink("Real", folder.root().join("Linked")).unwrap();
    symlink("../outside.flac", folder.root().join("escape.flac")).unwrap();
    symlink(&outside, folder.root().join("absolute.flac")).unwrap();
    symlink("../elsewhere", folder.root().join("Escape")).unwrap();
    symlink("nowhere", folder.root().join("dangling.flac")).unwrap();
    symlink("..", folder.root().join("Real/loop")).unwrap();
    symlink(".", folder.root().join("Real/self")).unwrap();
    let pass = folder.scan().pass;
    let paths: Vec<_> = pass
        .tracks
        .iter()
        .filter_map(|track| track.path.clone())
        .collect();
    assert_eq!(paths, ["Linked/a.flac", "Real/a.flac"]);
    for stray in [
        "escape.flac",
        "absolute.flac",
        "Escape",
        "dangling.flac",
        "Real/self",
    ] {
        let told = pass.warnings.iter().any(|warning| warning.contains(stray));
        assert!(told, "{stray}: {:?}", pass.warnings);
    }
    assert!(pass.complete);
}

#[test]
fn hidden_files_and_other_files_are_passed_over_silently() {
    let folder = Folder::new();
    folder.tone("tone.flac", ".hidden.flac");
    folder.tone("tone.flac", ".trash/a.flac");
    folder.write("notes.txt", b"hello");
    folder.tone("tone.flac", "seen.FLAC");
    let pass = folder.scan().pass;
    assert_eq!((pass.tracks.len(), pass.warnings.len()), (1, 0));
    assert_eq!(pass.tracks[0].suffix, "flac");
}
