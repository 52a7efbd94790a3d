//! The hub among strangers: real servers behind it, real client libraries before it.
//!
//! Needs ffmpeg and a Python environment with `requirements.txt` beside this file, named by
//! `SEGUE_TEST_VENV`. Without that variable these tests say so and check nothing; the pipeline sets it.

mod supysonic;
#[path = "../hub/world.rs"]
#[allow(
    dead_code,
    reason = "shared with the black-box tests, which need more of it"
)]
mod world;

use http_body_util::BodyExt;
use segue::sources::{LinkSpec, SourceSpec};
use segue_core::source::subsonic::{Auth, Credentials, Endpoint, Secret};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use supysonic::{Supysonic, Tags, make_track};
use tempfile::TempDir;
use world::{TestHub, attempts, pairs};

fn venv() -> Option<PathBuf> {
    let venv = std::env::var_os("SEGUE_TEST_VENV");
    if venv.is_none() {
        eprintln!("not checked: SEGUE_TEST_VENV names no Python environment with the peers");
    }
    venv.map(PathBuf::from)
}

const SHARED: [Tags; 2] = [
    Tags {
        artist: "The Björk Test",
        album: "Café Álbum",
        title: "Hunter",
        number: 1,
    },
    Tags {
        artist: "The Björk Test",
        album: "Café Álbum",
        title: "Jóga",
        number: 2,
    },
];

/// The same album without its accents, as another household tagged it.
const PLAIN: [Tags; 2] = [
    Tags {
        artist: "the bjork test",
        album: "Cafe Album",
        title: "Hunter",
        number: 1,
    },
    Tags {
        artist: "the bjork test",
        album: "Cafe Album",
        title: "Joga",
        number: 2,
    },
];

fn library(suffix: &str, seconds: u32, tracks: &[Tags]) -> (TempDir, Vec<PathBuf>) {
    let dir = TempDir::new().expect("a folder");
    let tracks = tracks.iter();
    let files = tracks.map(|tags| make_track(dir.path(), suffix, seconds, tags));
    let files = files.collect();
    (dir, files)
}

fn source(id: &str, server: &Supysonic) -> SourceSpec {
    let url = url::Url::parse(&server.url()).expect("a URL");
    let credentials = Credentials::password("alice", Secret::new("sesame"));
    SourceSpec {
        id: id.to_owned(),
        local: false,
        max_streams: 0,
        link: LinkSpec::Subsonic {
            endpoint: Endpoint::new(&url, credentials).expect("an endpoint"),
            auth: None,
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_server_killed_while_a_client_plays_costs_one_break_and_no_silence() {
    let Some(venv) = venv() else { return };
    let (flac, _) = library("flac", 60, &SHARED);
    let (mp3, copies) = library("mp3", 60, &PLAIN);
    let mut better = Supysonic::start(&venv, flac.path());
    let lesser = Supysonic::start(&venv, mp3.path());
    let hub = TestHub::start(vec![source("flac", &better), source("mp3", &lesser)]).await;

    // It knows passwords only, which the hub found out by itself.
    let sources = hub.hub.sources();
    let auth = sources.get("flac").and_then(|source| source.auth());
    assert_eq!(auth, Some(Auth::PasswordHex));
    let albums = hub.rest("getAlbumList2", "type=alphabeticalByName").await;
    let albums = albums["albumList2"]["album"].as_array().expect("albums");
    assert_eq!(albums.len(), 1, "two spellings, one album: {albums:?}");
    assert_eq!(albums[0]["songCount"], 2);

    let id = hub.id_of("Hunter").await;
    let playing = hub.open("GET", &hub.stream_target(&id, ""), &[]).await;
    let announced = playing.headers()["content-length"].to_str().expect("text");
    let announced: usize = announced.parse().expect("a length");
    let mut body = playing.into_body();
    let first = body.frame().await.expect("music").expect("whole");
    let mut got = first.into_data().expect("data").len();
    better.kill();
    let mut broken = false;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => got += frame.into_data().map_or(0, |data| data.len()),
            Err(_) => {
                broken = true;
                break;
            }
        }
    }
    assert!(broken && got < announced, "{got} of {announced}");

    let reply = hub.stream(&id).await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.body, fs::read(&copies[0]).expect("the copy"));
    let rows = hub.activity().await;
    assert_eq!(rows[0]["source_id"], "mp3");
    assert_eq!(
        attempts(&rows[0]),
        pairs(&[("flac", "refused"), ("mp3", "served")])
    );
    assert_eq!(rows[1]["source_id"], "flac");
    assert_eq!(rows[1]["status"], "truncated");

    // And from the second request on, nobody knocks at the dead one.
    hub.stream(&id).await;
    let rows = hub.activity().await;
    assert_eq!(attempts(&rows[0]), pairs(&[("mp3", "served")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn real_client_libraries_log_in_browse_search_and_stream() {
    let Some(venv) = venv() else { return };
    let (mp3, _) = library("mp3", 3, &SHARED);
    let server = Supysonic::start(&venv, mp3.path());
    let hub = TestHub::start(vec![source("mp3", &server)]).await;
    let port = hub.address.port().to_string();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/client.py");
    let output = tokio::task::spawn_blocking(move || {
        Command::new(venv.join("bin/python"))
            .arg(script)
            .args(["http://127.0.0.1", &port, "ann", "sesame", "Hunter"])
            .output()
    });
    let output = output.await.expect("joined").expect("python runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{complaints}");
    assert!(told.lines().count() > 70, "{told}");
}
