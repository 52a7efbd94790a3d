//! Music folders as sources beside servers.

use crate::same::assert_bytes;
use crate::world::{
    OTHER, SONG, TestHub, attempts, folder, forgiving, pairs, quick, source, upstream,
};
use segue::upstream::{Library, Track, Upstream};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Two seconds in which every byte differs from its neighbours, tagged.
pub(crate) fn wav(title: &str, number: u32) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    let number = number.to_string();
    for (key, value) in [
        (b"IART", "Björk"),
        (b"IPRD", "Homogenic"),
        (b"INAM", title),
        (b"ITRK", &number),
    ] {
        let mut value = value.as_bytes().to_vec();
        value.push(0);
        info.extend(key);
        info.extend((value.len() as u32).to_le_bytes());
        value.resize(value.len().next_multiple_of(2), 0);
        info.extend(value);
    }
    let samples: Vec<u8> = (0..64_000_u32).map(|n| (n * 7 + n / 256) as u8).collect();
    let mut wav = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(32_000_u32.to_le_bytes());
    wav.extend([2, 0, 16, 0]);
    for (name, chunk) in [(b"LIST", &info), (b"data", &samples)] {
        wav.extend(name);
        wav.extend((chunk.len() as u32).to_le_bytes());
        wav.extend(chunk);
    }
    let riff = wav.len() as u32 - 8;
    wav[4..8].copy_from_slice(&riff.to_le_bytes());
    wav
}

/// A folder with two songs of an album.
pub(crate) struct Shelf(TempDir);

impl Shelf {
    pub(crate) fn new() -> Shelf {
        let shelf = Shelf(TempDir::new().expect("a folder"));
        for (title, number) in [(SONG, 1), (OTHER, 2)] {
            shelf.put(title, &wav(title, number));
        }
        shelf
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().join("music")
    }

    pub(crate) fn put(&self, title: &str, bytes: &[u8]) {
        let album = self.root().join("Björk/Homogenic");
        fs::create_dir_all(&album).expect("made");
        fs::write(album.join(format!("{title}.wav")), bytes).expect("written");
    }

    fn song(&self) -> Vec<u8> {
        fs::read(self.root().join(format!("Björk/Homogenic/{SONG}.wav"))).expect("read")
    }
}

/// The album of the shelf on a server, as MP3.
async fn server() -> Upstream {
    let library = Library::of_one_album("Björk", "Homogenic", &[SONG, OTHER]);
    let library = library.each_track(|track| {
        *track = Track::new(&track.title).format("mp3", 128).seconds(2);
    });
    upstream("server", library).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_a_folder_is_streamed_whole_and_in_parts() {
    let shelf = Shelf::new();
    let hub = TestHub::start(vec![folder("shelf", &shelf.root())]).await;
    let id = hub.id_of(SONG).await;
    let whole = shelf.song();
    let reply = hub.stream(&id).await;
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, "audio/wav")
    );
    assert_bytes!(reply.body, whole);
    let target = hub.stream_target(&id, "");
    for (range, first, end) in [
        ("bytes=0-9", 0, 10),
        ("bytes=30000-30999", 30_000, 31_000),
        ("bytes=60000-", 60_000, whole.len()),
        ("bytes=-100", whole.len() - 100, whole.len()),
    ] {
        let reply = hub.ask("GET", &target, &[("range", range)]).await;
        let says = format!("bytes {first}-{}/{}", end - 1, whole.len());
        assert_eq!((reply.status, reply.header("content-range")), (206, &*says));
        assert_bytes!(reply.body, whole[first..end]);
    }
    let reply = hub
        .ask("GET", &target, &[("range", "bytes=99999999-")])
        .await;
    let says = format!("bytes */{}", whole.len());
    assert_eq!((reply.status, reply.header("content-range")), (416, &*says));
    let row = hub.last_row().await;
    assert_eq!(
        (&row["source_id"], &row["source_kind"]),
        (&json!("shelf"), &json!("folder"))
    );
    assert_eq!(row["format"], "wav");
    hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_and_a_server_share_a_song_and_the_better_copy_plays() {
    let (shelf, server) = (Shelf::new(), server().await);
    let sources = vec![folder("shelf", &shelf.root()), source("server", &server)];
    let hub = TestHub::start(sources).await;
    let found = hub.rest("search3", &format!("query={SONG}")).await;
    assert_eq!(
        found["searchResult3"]["song"].as_array().map(Vec::len),
        Some(1)
    );
    let id = hub.id_of(SONG).await;
    assert_bytes!(hub.stream(&id).await.body, shelf.song());
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_folder_vanishes_the_server_serves_and_the_library_stays() {
    let (shelf, server) = (Shelf::new(), server().await);
    let sources = vec![folder("shelf", &shelf.root()), source("server", &server)];
    let hub = TestHub::start_with(sources, forgiving()).await;
    let id = hub.id_of(SONG).await;
    let away = shelf.0.path().join("away");
    fs::rename(shelf.root(), &away).expect("moved");
    assert_bytes!(hub.stream(&id).await.body, server.shared().bytes_of(SONG));
    let row = hub.last_row().await;
    assert_eq!(
        attempts(&row),
        pairs(&[("shelf", "status_5xx"), ("server", "served")])
    );

    // An empty mount point is no empty library.
    let report = hub.sync().await;
    assert_eq!(report.tracks, 2);
    let shelf_report = report
        .sources
        .iter()
        .find(|s| s.id == "shelf")
        .expect("a report");
    assert!(shelf_report.error.is_some(), "{shelf_report:?}");
    assert_eq!(hub.shown("shelf").await["tracks"], 2);

    fs::rename(&away, shelf.root()).expect("moved back");
    assert_bytes!(hub.stream(&id).await.body, shelf.song());
    hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_emptied_of_more_than_half_waits_for_the_operators_word() {
    let (shelf, server) = (Shelf::new(), server().await);
    let sources = vec![folder("shelf", &shelf.root()), source("server", &server)];
    let hub = TestHub::start_with(sources, quick()).await;
    fs::remove_dir_all(shelf.root().join("Björk")).expect("removed");
    let report = hub.sync().await;
    let warned = report
        .sources
        .iter()
        .find(|s| s.id == "shelf")
        .expect("a report");
    assert_eq!(warned.removed, 0, "{warned:?}");
    assert!(
        !warned.warnings.is_empty() || warned.error.is_some(),
        "{warned:?}"
    );
    assert_eq!(hub.shown("shelf").await["tracks"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_never_leaves_its_folder() {
    let shelf = Shelf::new();
    fs::write(shelf.0.path().join("secret.wav"), wav("Secret", 3)).expect("written");
    std::os::unix::fs::symlink(
        shelf.0.path().join("secret.wav"),
        shelf.root().join("link.wav"),
    )
    .expect("linked");
    let hub = TestHub::start(vec![folder("shelf", &shelf.root())]).await;
    let found = hub.rest("search3", "query=Secret").await;
    assert_eq!(found["searchResult3"]["song"], json!([]));
    // The root swapped for another folder's file while the hub runs.
    let id = hub.id_of(SONG).await;
    let file = shelf
        .root()
        .join(Path::new("Björk/Homogenic"))
        .join(format!("{SONG}.wav"));
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink(shelf.0.path().join("secret.wav"), &file).expect("linked");
    let reply = hub.stream(&id).await;
    assert_eq!(
        (reply.status, reply.text().as_str()),
        (502, "No reachable source for track")
    );
}
