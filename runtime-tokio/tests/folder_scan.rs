//! Scanning real files: tags of every format, incremental passes, and everything that can be wrong.

use segue_core::catalog::model::{InstanceTrack, Pass};
use segue_runtime_tokio::folder::{Progress, ScanError, Scanned, Watch, scan};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

const RECORDING: &str = "0a3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f01";
const RELEASE: &str = "1b3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f02";
const RELEASE_GROUP: &str = "2c3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f03";
const ARTIST: &str = "3d3f0ea5-3fd4-4ab8-a52a-8d0e6e8c8f04";

/// A music folder under construction.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("music")
    }

    fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    fn tone(&self, fixture: &str, path: impl AsRef<Path>) -> PathBuf {
        self.write(path, &fixture_bytes(fixture))
    }

    fn scan(&self) -> Scanned {
        self.scan_after(&Pass::default())
    }

    fn scan_after(&self, previous: &Pass) -> Scanned {
        try_scan(&self.root(), previous).unwrap()
    }
}

fn try_scan(root: &Path, previous: &Pass) -> Result<Scanned, ScanError> {
    let watch = Watch {
        cancelled: &AtomicBool::new(false),
        progress: &|_| {},
    };
    scan(root, previous, watch)
}

fn fixture_bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read(path.join(name)).unwrap()
}

/// A second of silence without any tag.
fn plain_wav() -> Vec<u8> {
    let samples = 8000_u32 * 2;
    let mut wav = Vec::new();
    wav.extend(b"RIFF");
    wav.extend((36 + samples).to_le_bytes());
    wav.extend(b"WAVEfmt ");
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1_u16.to_le_bytes(), 1_u16.to_le_bytes()].concat());
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(16000_u32.to_le_bytes());
    wav.extend([2_u16.to_le_bytes(), 16_u16.to_le_bytes()].concat());
    wav.extend(b"data");
    wav.extend(samples.to_le_bytes());
    wav.resize(wav.len() + samples as usize, 0);
    wav
}

/// The same with artist and album in an `INFO` list.
fn wav_by(artist: &str, album: &str) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    for (key, value) in [(b"IART", artist), (b"IPRD", album)] {
        let mut value = value.as_bytes().to_vec();
        value.push(0);
        info.extend(key);
        info.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        value.resize(value.len().next_multiple_of(2), 0);
        info.extend(value);
    }
    let mut wav = plain_wav();
    wav.extend(b"LIST");
    wav.extend(u32::try_from(info.len()).unwrap().to_le_bytes());
    wav.extend(info);
    let riff = u32::try_from(wav.len() - 8).unwrap();
    wav[4..8].copy_from_slice(&riff.to_le_bytes());
    wav
}

/// Monkey's Audio as its header says it, with an APEv2 tag and no frames worth decoding.
fn tagged_ape() -> Vec<u8> {
    let mut ape = Vec::new();
    ape.extend(b"MAC ");
    ape.extend(3990_u16.to_le_bytes());
    ape.extend(0_u16.to_le_bytes());
    // Descriptor, header, seek table, WAV header, frame data (low and high), trailing data.
    for length in [52_u32, 24, 4, 0, 16, 0, 0] {
        ape.extend(length.to_le_bytes());
    }
    ape.extend([0; 16]);
    // Compression level and flags, then blocks per frame, final blocks, frames; depth, channels, rate.
    ape.extend([2000_u16.to_le_bytes(), 0_u16.to_le_bytes()].concat());
    for count in [73728_u32, 22050, 1] {
        ape.extend(count.to_le_bytes());
    }
    ape.extend([16_u16.to_le_bytes(), 2_u16.to_le_bytes()].concat());
    ape.extend(44100_u32.to_le_bytes());
    ape.extend([0; 4 + 16]);
    let mut items = Vec::new();
    for (key, value) in [("Title", "Jóga"), ("Track", "3/12"), ("Year", "1997")] {
        items.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        items.extend(0_u32.to_le_bytes());
        items.extend(key.as_bytes());
        items.push(0);
        items.extend(value.as_bytes());
    }
    ape.extend(&items);
    ape.extend(b"APETAGEX");
    let size = u32::try_from(items.len() + 32).unwrap();
    for field in [2000, size, 3, 0, 0, 0] {
        ape.extend(field.to_le_bytes());
    }
    ape
}

fn track<'a>(pass: &'a Pass, path: &str) -> &'a InstanceTrack {
    pass.tracks
        .iter()
        .find(|track| track.path.as_deref() == Some(path))
        .unwrap_or_else(|| panic!("no row for {path}: {pass:#?}"))
}

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
    let outside = folder.0.path().join("outside.flac");
    fs::write(&outside, fixture_bytes("tone.flac")).unwrap();
    fs::create_dir_all(folder.0.path().join("elsewhere")).unwrap();
    fs::write(
        folder.0.path().join("elsewhere/x.flac"),
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

#[test]
fn only_changed_files_are_read_again() {
    let folder = Folder::new();
    folder.tone("tone.flac", "A/1.flac");
    folder.tone("tone.mp3", "A/2.mp3");
    folder.write("B/C/3.wav", &plain_wav());
    folder.write("B/C/4.wav", &plain_wav());
    let first = folder.scan();
    assert_eq!((first.read, first.kept), (4, 0));

    let unchanged = folder.scan_after(&first.pass);
    assert_eq!((unchanged.read, unchanged.kept), (0, 4));
    assert_eq!(unchanged.pass, first.pass);

    let mut longer = fixture_bytes("tone.mp3");
    longer.extend([0; 7]);
    folder.write("A/2.mp3", &longer);
    fs::remove_file(folder.root().join("B/C/4.wav")).unwrap();
    folder.tone("tone.ogg", "A/5.ogg");
    let changed = folder.scan_after(&first.pass);
    assert_eq!((changed.read, changed.kept), (2, 2));
    let mut fresh = folder.scan().pass;
    // The age of a file that was known before is kept.
    for (row, old) in fresh.tracks.iter_mut().zip(&changed.pass.tracks) {
        row.created = old.created;
    }
    assert_eq!(changed.pass.tracks, fresh.tracks);
    assert_eq!(changed.pass.artists, fresh.artists);
}

#[test]
fn a_touched_file_is_read_again_and_keeps_its_age() {
    let folder = Folder::new();
    let path = folder.tone("tone.flac", "1.flac");
    let first = folder.scan();
    let earlier = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(earlier)
        .unwrap();
    let second = folder.scan_after(&first.pass);
    assert_eq!((second.read, second.kept), (1, 0));
    let (old, new) = (&first.pass.tracks[0], &second.pass.tracks[0]);
    assert_eq!(new.modified.unwrap().0, 1_000_000_000_000);
    assert_eq!((new.created, &new.remote_id), (old.created, &old.remote_id));
}

#[test]
fn a_track_whose_album_row_is_lost_is_read_again() {
    let folder = Folder::new();
    folder.tone("tone.flac", "1.flac");
    let mut first = folder.scan().pass;
    first.albums.clear();
    let second = folder.scan_after(&first);
    assert_eq!((second.read, second.pass.albums.len()), (1, 1));
}

#[test]
fn covers_beside_stand_before_covers_inside() {
    let folder = Folder::new();
    folder.tone("tone.flac", "A/in.flac");
    folder.tone("tone-alac.m4a", "A/none.m4a");
    let first = folder.scan().pass;
    assert_eq!(
        track(&first, "A/in.flac").cover_art.as_deref(),
        Some("A/in.flac")
    );
    assert_eq!(track(&first, "A/none.m4a").cover_art, None);
    assert_eq!(first.albums[0].cover_art.as_deref(), Some("A/in.flac"));

    folder.write("A/Folder.JPG", b"\xff\xd8\xff");
    folder.write("A/front.png", b"\x89PNG");
    folder.write("A/Booklet.png", b"\x89PNG");
    let beside = folder.scan_after(&first);
    assert_eq!(beside.read, 0);
    for row in &beside.pass.tracks {
        assert_eq!(row.cover_art.as_deref(), Some("A/Folder.JPG"));
    }

    fs::remove_file(folder.root().join("A/Folder.JPG")).unwrap();
    fs::remove_file(folder.root().join("A/front.png")).unwrap();
    let gone = folder.scan_after(&beside.pass);
    assert_eq!(
        gone.read, 2,
        "whether there is one inside must be looked up"
    );
    assert_eq!(gone.pass, first);
}

#[test]
fn a_cover_in_the_album_folder_stands_for_its_discs() {
    let folder = Folder::new();
    folder.write("Artist/Album/CD1/01 - A.wav", &plain_wav());
    folder.write("Artist/Album/cover.webp", b"RIFF");
    let pass = folder.scan().pass;
    assert_eq!(
        pass.tracks[0].cover_art.as_deref(),
        Some("Artist/Album/cover.webp")
    );
}

#[test]
fn a_missing_root_is_an_error_not_an_empty_library() {
    let folder = Folder::new();
    let error = try_scan(&folder.root(), &Pass::default()).unwrap_err();
    assert!(matches!(error, ScanError::Root(_)), "{error}");

    let file = folder.0.path().join("file");
    fs::write(&file, b"").unwrap();
    assert!(matches!(
        try_scan(&file, &Pass::default()),
        Err(ScanError::Root(_))
    ));
}

#[test]
fn an_emptied_root_is_an_error_when_it_held_music() {
    let folder = Folder::new();
    let path = folder.tone("tone.flac", "1.flac");
    let first = folder.scan().pass;
    fs::remove_file(path).unwrap();
    let error = try_scan(&folder.root(), &first).unwrap_err();
    assert!(
        matches!(error, ScanError::Emptied { tracks: 1, .. }),
        "{error}"
    );
    assert_eq!(
        folder.scan().pass,
        Pass {
            complete: true,
            ..Pass::default()
        }
    );
}

#[test]
fn what_cannot_be_looked_at_keeps_its_rows() {
    let folder = Folder::new();
    folder.tone("tone.flac", "Locked/1.flac");
    folder.tone("tone.mp3", "Open/2.mp3");
    let first = folder.scan().pass;
    let locked = folder.root().join("Locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    let enforced = fs::read_dir(&locked).is_err();
    let second = folder.scan_after(&first).pass;
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(second.tracks, first.tracks);
    assert_eq!(second.warnings.len(), usize::from(enforced));
}

#[test]
fn progress_is_told_and_a_cancelled_scan_gives_no_pass() {
    let folder = Folder::new();
    for number in 0..5 {
        folder.tone("tone.opus", format!("{number}.opus"));
    }
    let told = RefCell::new(Vec::new());
    let cancelled = AtomicBool::new(false);
    let watch = Watch {
        cancelled: &cancelled,
        progress: &|progress| told.borrow_mut().push(progress),
    };
    scan(&folder.root(), &Pass::default(), watch).unwrap();
    let expected: Vec<_> = (0..=5)
        .map(|read| Progress {
            found: 5,
            to_read: 5,
            read,
        })
        .collect();
    assert_eq!(told.into_inner(), expected);

    let watch = Watch {
        cancelled: &cancelled,
        progress: &|progress| {
            cancelled.fetch_or(progress.read == 2, Ordering::Relaxed);
        },
    };
    let error = scan(&folder.root(), &Pass::default(), watch).unwrap_err();
    assert!(matches!(error, ScanError::Cancelled));
}
