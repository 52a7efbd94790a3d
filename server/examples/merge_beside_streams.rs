//! Merges 200,000 rows of four sources in a running hub while a client plays, and says how long each request for
//! music had to wait for its first byte.
//!
//! `cargo run --release -p segue --example merge_beside_streams [ROWS]`

use bytes::Bytes;
use http_body_util::BodyExt;
use segue::assemble::{Setup, assemble, run};
use segue::hub::{Hub, Settings};
use segue::sources::{LinkSpec, SourceSpec};
use segue::sync::{DropGuard, sync};
use segue::world::World;
use segue_core::catalog::model::{InstanceAlbum, InstanceArtist, InstanceTrack, Pass, SourceKind};
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_sqlite::{InstanceSpec, NewUser};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

const SOURCES: [&str; 4] = ["home", "office", "peer-a", "peer-b"];
const TRACKS_PER_ALBUM: usize = 12;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rows: usize = std::env::args()
        .nth(1)
        .map_or(Ok(200_000), |rows| rows.parse())?;
    let dir = tempfile::tempdir()?;
    let music = dir.path().join("music");
    std::fs::create_dir(&music)?;
    std::fs::write(music.join("01 Noise.wav"), wav())?;
    let hub = hub(dir.path(), &music).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let base = format!("http://{}", listener.local_addr()?);
    tokio::spawn(run(hub.clone(), listener, std::future::pending()));
    sync(hub.clone(), Some("shelf".to_owned()), DropGuard::Refuse).await?;
    let id = hub.read(|r| r.random_songs(0, &one())).await?;
    let id = id.first().ok_or("no song")?.track.id.clone();
    let url = format!("{base}/rest/stream?u=ann&p=sesame&v=1.16.1&c=bench&id={id}");

    tell("with nothing else to do", &listen_for(&url, 2_000).await?);
    for (number, source) in SOURCES.iter().enumerate() {
        let pass = pass(number, rows / SOURCES.len());
        let now = hub.clock().wall();
        hub.write(move |w| {
            w.upsert_instance(&InstanceSpec {
                id: (*source).to_owned(),
                kind: SourceKind::Subsonic,
                name: (*source).to_owned(),
                local: number < 2,
            })?;
            w.apply_pass(source, pass, now, DropGuard::Refuse)
        })
        .await?;
    }
    beside(&hub, &url, "during the first merge").await?;
    beside(&hub, &url, "during a merge that changes nothing").await?;
    Ok(())
}

fn one() -> segue_sqlite::RandomFilter {
    segue_sqlite::RandomFilter {
        size: 1,
        ..segue_sqlite::RandomFilter::default()
    }
}

/// Merges, and plays until it is done.
async fn beside(hub: &Hub<World>, url: &str, when: &str) -> Result<(), Box<dyn Error>> {
    let clock = TokioClock::new();
    let done = Arc::new(AtomicBool::new(false));
    let (merging, ended) = (hub.clone(), Arc::clone(&done));
    let merge = tokio::spawn(async move {
        let began = clock.now();
        // A source of no name: nothing is pulled, everything is merged.
        let report = sync(merging, Some(String::new()), DropGuard::Refuse).await;
        ended.store(true, Ordering::Release);
        (report, clock.now().since(began))
    });
    let waits = listen(url, || !done.load(Ordering::Acquire)).await?;
    let (report, took) = merge.await?;
    let report = report?;
    println!(
        "merge of {} tracks: {:.2} s, {} rows changed",
        report.tracks,
        took.as_secs_f64(),
        report.changed
    );
    tell(when, &waits);
    Ok(())
}

async fn listen_for(url: &str, requests: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
    let left = std::cell::Cell::new(requests);
    listen(url, || left.replace(left.get().saturating_sub(1)) > 0).await
}

/// Asks for a part of the track again and again; the waits for each first byte.
async fn listen(url: &str, go_on: impl Fn() -> bool) -> Result<Vec<Duration>, Box<dyn Error>> {
    let (client, clock) = (TokioNetwork::new(), TokioClock::new());
    let mut waits = Vec::new();
    while go_on() {
        let request = http::Request::get(url).header("range", "bytes=0-65535");
        let asked = clock.now();
        let sent = client.send(request.body(Bytes::new())?, Accepted::default());
        let mut body = sent.await?.into_body();
        body.frame().await.ok_or("no music")??;
        waits.push(clock.now().since(asked));
        while let Some(frame) = body.frame().await {
            frame?;
        }
    }
    waits.sort();
    Ok(waits)
}

fn tell(when: &str, waits: &[Duration]) {
    let at = |part: f64| {
        let place = (waits.len() as f64 * part) as usize;
        let wait = waits.get(place.min(waits.len().saturating_sub(1)));
        wait.map_or(0.0, |wait| wait.as_secs_f64() * 1000.0)
    };
    println!(
        "first byte {when}: {} requests, p50 {:.2} ms, p99 {:.2} ms, longest {:.2} ms",
        waits.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

async fn hub(dir: &Path, music: &Path) -> Result<Hub<World>, Box<dyn Error>> {
    let hub = assemble(Setup {
        data_dir: dir.join("data"),
        sources: vec![SourceSpec {
            id: "shelf".to_owned(),
            local: true,
            max_streams: 0,
            link: LinkSpec::Folder {
                root: music.to_owned(),
                write_sidecars: false,
            },
        }],
        settings: Settings {
            sync_interval: Duration::ZERO,
            ..Settings::default()
        },
    })
    .await?;
    let ann = NewUser {
        name: "ann".to_owned(),
        password_enc: hub.passwords().seal("sesame")?,
        is_admin: true,
    };
    let now = hub.clock().wall();
    hub.write(move |w| w.add_user(&ann, now)).await?;
    Ok(hub)
}

/// Two megabytes of silence.
fn wav() -> Vec<u8> {
    const DATA: u32 = 2 * 1024 * 1024;
    let mut file = b"RIFF".to_vec();
    file.extend((DATA + 36).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    file.extend(44_100_u32.to_le_bytes());
    file.extend(88_200_u32.to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend(DATA.to_le_bytes());
    file.resize(file.len() + DATA as usize, 0);
    file
}

/// What one source says; every second album is on two of the four.
fn pass(number: usize, tracks: usize) -> Pass {
    let mut pass = Pass {
        complete: true,
        ..Pass::default()
    };
    for album in 0..tracks / TRACKS_PER_ALBUM {
        let owner = if album % 2 == 0 { number / 2 } else { number };
        let artist = format!("Artist {owner} {}", album / 5);
        let artist_id = format!("a{}", album / 5);
        if album % 5 == 0 {
            pass.artists.push(InstanceArtist {
                remote_id: artist_id.clone(),
                name: artist.clone(),
                ..InstanceArtist::default()
            });
        }
        pass.albums.push(InstanceAlbum {
            remote_id: format!("b{album}"),
            name: format!("Album {album}"),
            artist_remote_id: Some(artist_id.clone()),
            artist_name: artist.clone(),
            ..InstanceAlbum::default()
        });
        pass.tracks
            .extend((1..=TRACKS_PER_ALBUM).map(|place| InstanceTrack {
                remote_id: format!("t{album}-{place}"),
                album_remote_id: format!("b{album}"),
                title: format!("Track {place} of {album}"),
                artist_name: artist.clone(),
                artist_remote_id: Some(artist_id.clone()),
                track_number: u32::try_from(place).ok(),
                disc_number: 1,
                duration_ms: Some(180_000 + place as u64 * 7_000),
                bit_rate: Some(900),
                format: "flac".to_owned(),
                suffix: "flac".to_owned(),
                content_type: "audio/flac".to_owned(),
                size: Some(20_000_000 + (album * 100 + place) as u64),
                ..InstanceTrack::default()
            }));
    }
    pass
}
