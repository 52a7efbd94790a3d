//! Measures the store: durable changes a second by group size, and what a big merge costs and makes others wait.
//!
//! `cargo run --release -p segue-runtime-tokio --example store_bench [DIRECTORY] [TRACKS]`

use segue_core::catalog::model::{
    ArtistSource, InstanceTrack, Library, Merged, Pass, ReleaseSource, SourceKind, TrackSource,
    UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup, UnifiedTrack,
};
use segue_core::io::{Clock as _, Store as _, StoreError};
use segue_core::time::Wall;
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::{DropGuard, InstanceSpec, OperationStatus, SearchQuery, StreamOperation};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SOURCES: [&str; 4] = ["a", "b", "c", "d"];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let tracks: u32 = arguments.next().map_or(Ok(50_000), |text| text.parse())?;
    let directory = tempfile::tempdir_in(place)?;
    let store = SqliteStore::open(&directory.path().join("segue.db"), StoreOptions::default())?;
    let clock = TokioClock::new();

    println!("durable changes (one row of stream_operations each, acknowledged after the commit)");
    for producers in [1, 4, 16, 64, 256] {
        group_commit(&store, clock, producers).await?;
    }

    println!(
        "\na library of {tracks} tracks, each on {} sources",
        SOURCES.len()
    );
    store
        .write(|w| {
            for id in SOURCES {
                w.upsert_instance(&InstanceSpec {
                    id: id.to_owned(),
                    kind: SourceKind::Subsonic,
                    name: id.to_owned(),
                    local: id == "a",
                })?;
            }
            Ok(())
        })
        .await?;
    for id in SOURCES {
        beside(
            &store,
            clock,
            &format!("pass over {id}"),
            pass(&store, id, tracks),
        )
        .await?;
    }
    beside(&store, clock, "read all merge input", async {
        store.read(|r| Ok(r.merge_input()?)).await.map(drop)
    })
    .await?;
    beside(
        &store,
        clock,
        "first merge written",
        merge(&store, tracks, "flac"),
    )
    .await?;
    beside(
        &store,
        clock,
        "unchanged merge",
        merge(&store, tracks, "flac"),
    )
    .await?;
    beside(
        &store,
        clock,
        "every source changed",
        merge(&store, tracks, "mp3"),
    )
    .await?;
    questions(&store, clock, tracks).await?;
    store.close().await;
    Ok(())
}

async fn group_commit(
    store: &SqliteStore,
    clock: TokioClock,
    producers: u64,
) -> Result<(), StoreError> {
    let until = clock.now() + Duration::from_secs(2);
    let begun = clock.now();
    let tasks: Vec<_> = (0..producers)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut waits = Vec::new();
                while clock.now() < until {
                    let asked = clock.now();
                    store.write(|w| Ok(w.open_operation(&operation())?)).await?;
                    waits.push(clock.now().since(asked));
                }
                Ok::<_, StoreError>(waits)
            })
        })
        .collect();
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await.map_err(|_| StoreError::Closed)??);
    }
    let rate = waits.len() as f64 / clock.now().since(begun).as_secs_f64();
    println!(
        "{producers:>4} producers {rate:>8.0} rows/s   {}",
        spread(waits)
    );
    Ok(())
}

/// Runs `work` while another caller writes small changes, and says what each had to wait.
async fn beside(
    store: &SqliteStore,
    clock: TokioClock,
    what: &str,
    work: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    let over = Arc::new(AtomicBool::new(false));
    let other = tokio::spawn({
        let (store, over) = (store.clone(), over.clone());
        async move {
            let mut waits = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let asked = clock.now();
                store.write(|w| Ok(w.open_operation(&operation())?)).await?;
                waits.push(clock.now().since(asked));
                clock
                    .sleep_until(clock.now() + Duration::from_millis(2))
                    .await;
            }
            Ok::<_, StoreError>(waits)
        }
    });
    let (begun, cpu) = (clock.now(), cpu_time());
    work.await?;
    let (took, cpu) = (clock.now().since(begun), cpu_time().saturating_sub(cpu));
    over.store(true, Ordering::Relaxed);
    let waits = other.await.map_err(|_| StoreError::Closed)??;
    println!(
        "{what:<22} {took:>9.2?}, {cpu:.2?} of CPU   a small change beside it: {}",
        spread(waits)
    );
    Ok(())
}

/// What this process has used, to the hundredth of a second; nothing on systems without `/proc`.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

fn spread(mut waits: Vec<Duration>) -> String {
    waits.sort();
    let at = |share: f64| {
        waits
            .get(((waits.len() as f64 - 1.0) * share) as usize)
            .copied()
            .unwrap_or_default()
    };
    format!(
        "p50 {:.2?}, p99 {:.2?}, max {:.2?} of {}",
        at(0.5),
        at(0.99),
        at(1.0),
        waits.len()
    )
}

fn operation() -> StreamOperation {
    StreamOperation {
        id: 0,
        track_id: "tr000001".into(),
        track_title: "A Title of Usual Length".into(),
        artist_name: "An Artist".into(),
        user: "alice".into(),
        client: "bench".into(),
        source_id: Some("a".into()),
        source_kind: Some(SourceKind::Subsonic),
        attempts: vec![],
        started_at: Wall(1_700_000_000_000),
        ended_at: Some(Wall(1_700_000_001_000)),
        status: OperationStatus::Completed,
        bytes: 30_000_000,
        format: Some("flac".into()),
        bit_rate: Some(900),
        transcoded: false,
        range_start: None,
        error: None,
    }
}

async fn pass(store: &SqliteStore, id: &'static str, tracks: u32) -> Result<(), StoreError> {
    let found = Pass {
        complete: true,
        tracks: (0..tracks)
            .map(|n| InstanceTrack {
                remote_id: format!("{n:08}"),
                album_remote_id: format!("al{}", n / 12),
                title: format!("A Title of Usual Length {n}"),
                artist_name: format!("An Artist {}", n / 120),
                track_number: Some(n % 12 + 1),
                disc_number: 1,
                duration_ms: Some(200_000),
                bit_rate: Some(900),
                format: "flac".into(),
                suffix: "flac".into(),
                content_type: "audio/flac".into(),
                size: Some(30_000_000),
                genres: vec!["Rock".into()],
                cover_art: Some(format!("co{}", n / 12)),
                ..InstanceTrack::default()
            })
            .collect(),
        ..Pass::default()
    };
    let steps = store
        .read(move |r| Ok(r.plan_pass(id, found, Wall(1), DropGuard::Refuse)?))
        .await?;
    for step in steps {
        store.write(move |w| Ok(w.apply_step(step)?)).await?;
    }
    Ok(())
}

async fn merge(store: &SqliteStore, tracks: u32, format: &'static str) -> Result<(), StoreError> {
    let merged = merged(tracks, format);
    let steps = store
        .read(move |r| Ok(r.plan_merge(merged, Wall(2))?))
        .await?;
    for step in steps {
        store.write(move |w| Ok(w.apply_step(step)?)).await?;
    }
    Ok(())
}

fn merged(tracks: u32, format: &str) -> Merged {
    let mut library = Library::default();
    for n in 0..tracks {
        let (artist_id, group_id) = (format!("ar{:08}", n / 120), format!("al{:08}", n / 12));
        if n % 120 == 0 {
            library.artists.push(UnifiedArtist {
                id: artist_id.clone(),
                name: format!("An Artist {}", n / 120),
                name_key: format!("an artist {}", n / 120),
                sort_key: format!("artist {}", n / 120),
                is_album_artist: true,
                ..UnifiedArtist::default()
            });
            library
                .artist_sources
                .extend(SOURCES.map(|id| ArtistSource {
                    instance: id.into(),
                    remote_id: artist_id.clone(),
                    artist_id: artist_id.clone(),
                }));
        }
        if n % 12 == 0 {
            let release_id = format!("re{:08}", n / 12);
            library.release_groups.push(UnifiedReleaseGroup {
                id: group_id.clone(),
                name: format!("An Album {}", n / 12),
                name_key: format!("an album {}", n / 12),
                artist_id: artist_id.clone(),
                artist_name: format!("An Artist {}", n / 120),
                genres: vec!["Rock".into()],
                song_count: 12,
                ..UnifiedReleaseGroup::default()
            });
            library.releases.push(UnifiedRelease {
                id: release_id.clone(),
                release_group_id: group_id.clone(),
                name: format!("An Album {}", n / 12),
                ..UnifiedRelease::default()
            });
            library
                .release_sources
                .extend(SOURCES.map(|id| ReleaseSource {
                    instance: id.into(),
                    remote_id: group_id.clone(),
                    release_id: release_id.clone(),
                    release_group_id: group_id.clone(),
                }));
        }
        let id = format!("tr{n:08}");
        library
            .track_sources
            .extend(SOURCES.map(|source| TrackSource {
                instance: source.into(),
                remote_id: format!("{n:08}"),
                track_id: id.clone(),
                preferred: source == "a",
                format_rank: 3,
                bit_rate: 900,
                local: source == "a",
                format: format.into(),
                suffix: format.into(),
                content_type: format!("audio/{format}"),
                size: Some(30_000_000),
                ..TrackSource::default()
            }));
        library.tracks.push(UnifiedTrack {
            id,
            release_group_id: group_id,
            title: format!("A Title of Usual Length {n}"),
            title_key: format!("a title of usual length {n}"),
            artist_id,
            artist_name: format!("An Artist {}", n / 120),
            track_number: Some(n % 12 + 1),
            disc_number: 1,
            genres: vec!["Rock".into()],
            ..UnifiedTrack::default()
        });
    }
    Merged {
        library,
        ..Merged::default()
    }
}

async fn questions(store: &SqliteStore, clock: TokioClock, tracks: u32) -> Result<(), StoreError> {
    let last = format!("{}", tracks - 1);
    let search = SearchQuery {
        text: format!("usual {last}"),
        artist_count: 20,
        album_count: 20,
        song_count: 20,
        ..SearchQuery::default()
    };
    let everything = SearchQuery {
        song_count: 500,
        song_offset: tracks as usize - 500,
        ..SearchQuery::default()
    };
    for round in 0..2 {
        let begun = clock.now();
        let (search, everything) = (search.clone(), everything.clone());
        let spent = store
            .read(move |r| {
                let mut spent = Vec::new();
                let mut at = clock.now();
                let mut lap = |what: &str| {
                    spent.push(format!("{what} {:.2?}", clock.now().since(at)));
                    at = clock.now();
                };
                r.song(1, "tr00000777")?;
                lap("song");
                r.candidates("tr00000777")?;
                lap("candidates");
                r.songs_of_album(1, "al00000077")?;
                lap("album");
                r.search(1, &search)?;
                lap("search");
                r.search(1, &everything)?;
                lap("last page of 500");
                r.random_songs(
                    1,
                    &segue_sqlite::RandomFilter {
                        size: 50,
                        seed: 1,
                        ..Default::default()
                    },
                )?;
                lap("random");
                r.genres()?;
                lap("genres");
                r.artists(1, None)?;
                lap("artists");
                r.activity(100)?;
                lap("activity");
                Ok(spent)
            })
            .await?;
        println!(
            "round {round}: {} (all {:.2?})",
            spent.join(", "),
            clock.now().since(begun)
        );
    }
    Ok(())
}
