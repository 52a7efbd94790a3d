//! Measures the lyrics queue: durable steps a second, what a claim costs among few and many rows, a library put in.
//!
//! `cargo run --release -p segue-runtime-tokio --example queue_bench [DIRECTORY] [ROWS]`

use segue_core::catalog::model::{
    Library, Merged, SourceKind, TrackSource, UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup,
    UnifiedTrack,
};
use segue_core::io::{Clock as _, Store as _, StoreError};
use segue_core::lyrics::Song;
use segue_core::queue::{
    Claim, Completion, NewDocument, Outcome, Priority, Quality, Request, Target,
};
use segue_core::time::Wall;
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::InstanceSpec;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Rows put in with one change, as the sweep after a merge does.
const PAGE: usize = 500;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let place = arguments
        .next()
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let rows: u64 = arguments
        .next()
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let directory = tempfile::tempdir_in(place)?;
    let clock = TokioClock::new();
    println!(
        "one fsync of a small append: {}",
        fsync(directory.path(), clock)?
    );

    let open = |name: &str| {
        let path = directory.path().join(name);
        SqliteStore::open(&path, StoreOptions::default())
    };
    let store = open("library.db")?;
    library(&store, clock, 100_000).await?;
    store.close().await;

    println!(
        "\nsteps of 64 producers: each claims a song, then completes it with 1.5 KB of lyrics"
    );
    let store = open("steps.db")?;
    fill(&store, 0, 120_000).await?;
    for producers in [1, 16, 64] {
        steps(&store, clock, producers).await?;
    }
    store.close().await;

    println!("\na claim, alone, among so many rows (each is released again)");
    let store = open("claims.db")?;
    fill(&store, 0, 1_000).await?;
    claims(&store, clock, 1_000).await?;
    let begun = clock.now();
    fill(&store, 1_000, rows).await?;
    println!(
        "({} more rows put in within {:.1?})",
        rows - 1_000,
        clock.now().since(begun)
    );
    claims(&store, clock, rows).await?;
    store.close().await;
    Ok(())
}

fn fsync(directory: &Path, clock: TokioClock) -> std::io::Result<String> {
    let mut file = std::fs::File::create(directory.join("fsync"))?;
    let mut waits = Vec::new();
    for _ in 0..500 {
        let asked = clock.now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        waits.push(clock.now().since(asked));
    }
    Ok(spread(waits))
}

/// A library that was just merged, put into the queue as the sweep after a merge does it.
async fn library(store: &SqliteStore, clock: TokioClock, tracks: u32) -> Result<(), StoreError> {
    store
        .write(|w| {
            Ok(w.upsert_instance(&InstanceSpec {
                id: "a".into(),
                kind: SourceKind::Subsonic,
                name: "a".into(),
                local: true,
            })?)
        })
        .await?;
    let merged = merged(tracks);
    let steps = store
        .read(move |r| Ok(r.plan_merge(merged, Wall(2))?))
        .await?;
    for step in steps {
        store.write(move |w| Ok(w.apply_step(step)?)).await?;
    }
    for round in ["put in", "looked through again"] {
        let begun = clock.now();
        let (mut after, mut new) = (Some(0), 0);
        let mut longest = Duration::ZERO;
        while let Some(from) = after {
            let page = store
                .read(move |r| Ok(r.tracks_without_lyrics(from, PAGE, &[])?))
                .await?;
            after = page.next;
            let asked = clock.now();
            let told = store
                .write(move |w| Ok(w.enqueue_many(&page.requests, 1, Wall(3))?))
                .await?;
            longest = longest.max(clock.now().since(asked));
            new += told.new;
        }
        println!(
            "a library of {tracks} tracks {round}: {:.2?}, {new} rows, longest change {longest:.1?}",
            clock.now().since(begun)
        );
    }
    Ok(())
}

async fn fill(store: &SqliteStore, from: u64, to: u64) -> Result<(), StoreError> {
    let mut next = from;
    while next < to {
        let until = (next + PAGE as u64).min(to);
        let requests: Vec<Request> = (next..until).map(request).collect();
        store
            .write(move |w| Ok(w.enqueue_many(&requests, 1, Wall(1))?))
            .await?;
        next = until;
    }
    Ok(())
}

fn request(number: u64) -> Request {
    Request {
        song: Song {
            title: format!("A Title of Usual Length {number}"),
            artist: format!("An Artist {}", number / 120),
            album: Some(format!("An Album {}", number / 12)),
            duration_ms: Some(200_000),
            ..Song::default()
        },
        targets: vec![Target {
            track_id: format!("tr{number:08}"),
            file: None,
        }],
        priority: Priority::SCAN,
    }
}

fn answer(claim: &Claim) -> Completion {
    let line = format!("[00:12.00] line of song {:020}", claim.ticket.work_id);
    Completion {
        outcome: Outcome::Lyrics,
        document: Some(NewDocument {
            id: format!("{:064x}", claim.ticket.work_id),
            body: line.repeat(32),
            quality: Quality::Line,
        }),
        lane: Some("lrclib".into()),
        reason: None,
        upgrade_after: Some(Wall(1_000_000)),
        answers: Vec::new(),
    }
}

async fn steps(store: &SqliteStore, clock: TokioClock, producers: u64) -> Result<(), StoreError> {
    let until = clock.now() + Duration::from_secs(2);
    let (begun, cpu) = (clock.now(), cpu_time());
    let tasks: Vec<_> = (0..producers)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let owner = format!("worker {number}");
                let mut waits = Vec::new();
                while clock.now() < until {
                    let (owner, asked) = (owner.clone(), clock.now());
                    let claim = store
                        .write(move |w| Ok(w.claim(&owner, Wall(2), Wall(60_000))?))
                        .await?;
                    waits.push(clock.now().since(asked));
                    let Some(claim) = claim else {
                        break;
                    };
                    let (answer, asked) = (answer(&claim), clock.now());
                    store
                        .write(move |w| Ok(w.complete(claim.ticket, &answer, Wall(3))?))
                        .await?;
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
    let cpu = cpu_time().saturating_sub(cpu) / u32::try_from(waits.len().max(1)).unwrap_or(1);
    println!(
        "{producers:>4} producers {rate:>8.0} steps/s, {cpu:.1?} of CPU each   {}",
        spread(waits)
    );
    Ok(())
}

async fn claims(store: &SqliteStore, clock: TokioClock, rows: u64) -> Result<(), StoreError> {
    let (mut statements, mut waits) = (Vec::new(), Vec::new());
    for _ in 0..3_000 {
        let asked = clock.now();
        let (claim, took) = store
            .write(move |w| {
                let begun = clock.now();
                let claim = w.claim("worker", Wall(2), Wall(60_000))?;
                Ok((claim, clock.now().since(begun)))
            })
            .await?;
        waits.push(clock.now().since(asked));
        statements.push(took);
        if let Some(claim) = claim {
            store
                .write(move |w| Ok(w.release(claim.ticket, Wall(2), None, &[], Wall(2))?))
                .await?;
        }
    }
    println!("{rows:>8} rows: the statement {}", spread(statements));
    println!("               acknowledged  {}", spread(waits));
    Ok(())
}

/// What this process has used, to the hundredth of a second; nothing on systems without `/proc`.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn spread(mut waits: Vec<Duration>) -> String {
    waits.sort();
    let at = |share: f64| {
        let at = (waits.len().saturating_sub(1) as f64 * share) as usize;
        waits.get(at).copied().unwrap_or_default()
    };
    format!(
        "p50 {:.1?}, p99 {:.1?}, max {:.1?} of {}",
        at(0.5),
        at(0.99),
        at(1.0),
        waits.len()
    )
}

fn merged(tracks: u32) -> Merged {
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
        }
        if n % 12 == 0 {
            library.release_groups.push(UnifiedReleaseGroup {
                id: group_id.clone(),
                name: format!("An Album {}", n / 12),
                name_key: format!("an album {}", n / 12),
                artist_id: artist_id.clone(),
                song_count: 12,
                ..UnifiedReleaseGroup::default()
            });
            library.releases.push(UnifiedRelease {
                id: format!("re{:08}", n / 12),
                release_group_id: group_id.clone(),
                ..UnifiedRelease::default()
            });
        }
        let id = format!("tr{n:08}");
        library.track_sources.push(TrackSource {
            instance: "a".into(),
            remote_id: format!("{n:08}"),
            track_id: id.clone(),
            preferred: true,
            ..TrackSource::default()
        });
        library.tracks.push(UnifiedTrack {
            id,
            release_group_id: group_id,
            title: format!("A Title of Usual Length {n}"),
            title_key: format!("a title of usual length {n}"),
            artist_id,
            artist_name: format!("An Artist {}", n / 120),
            duration_ms: Some(200_000),
            disc_number: 1,
            ..UnifiedTrack::default()
        });
    }
    Merged {
        library,
        ..Merged::default()
    }
}
