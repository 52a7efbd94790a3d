//! `segue lyrics fetch`: one song through the lanes of the configuration, without the library.
//!
//! The very worker of the hub does it, with a desk that knows one song and keeps nothing. Breakers and paces that a hub
//! has stored still count: a command in a loop does not hammer a provider.

use super::data::{People, has_library};
use super::failure::Failure;
use super::{FetchArgs, show};
use crate::api::shown;
use crate::assemble::programs;
use crate::config::Config;
use crate::lyrics::{LyricsSettings, lane_states};
use crate::sources::salt;
use segue_core::Wall;
use segue_core::delivery::{Form, Intent, Removal};
use segue_core::dispatch::Quality;
use segue_core::driver::lock;
use segue_core::driver::lyrics::{
    Codec, Desk, Due, End, Job, LaneState, Lanes, Parcel, ParcelEnd, ParcelTicket, Worker, render,
};
use segue_core::io::{Clock, NoShelf, Runtime, Store, StoreError};
use segue_core::lyrics::Song;
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::provider::Provider;
use segue_core::queue::{Claim, Identity, LaneAnswer, LaneEntry, Priority, Ticket, identify};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::future::pending;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex};

/// Longer names of files are cut, in bytes: most file systems take 255, and the suffix wants room.
const NAME: usize = 200;

pub(super) async fn fetch(args: FetchArgs) -> Result<(), Failure> {
    let config = args.common.load(None)?.config;
    let settings = config.lyrics_settings();
    let lanes = lanes(&config, &settings).await?;
    let setup = lanes.setup();
    let song = Song {
        title: args.title.clone(),
        artist: args.artist.clone(),
        album: args.album.clone(),
        duration_ms: args.duration.map(|seconds| seconds.saturating_mul(1000)),
        ..Song::default()
    };
    let identity = identify(&song).map_err(|blank| Failure::new(blank.to_string()))?;
    let network = TokioNetwork::new();
    network.set_commands(programs(&settings));
    let worker = Worker {
        runtime: Alone {
            clock: TokioClock::new(),
            network,
        },
        desk: OneSong::new(song, identity),
        lanes: Arc::clone(&lanes),
        style: settings.style,
    };
    let mut never = pin!(pending());
    worker.step(never.as_mut()).await?;
    let end = lock(&worker.desk.end).take();
    let end = end.ok_or_else(|| {
        Failure::new(
            "no lane can be asked now: all are left alone for a while, or none is configured",
        )
    })?;
    let names: Vec<&str> = setup.slots.iter().map(|slot| slot.name()).collect();
    let found = Found::of(&end, &names, settings.style);
    let written = match (&args.out, &found.body) {
        (Some(dir), Some(body)) => Some(write(dir, &args, body, settings.style)?),
        (Some(_), None) | (None, _) => None,
    };
    match args.json {
        true => show::json(&found.json(written.as_deref()))?,
        false => found.tell(written.as_deref()),
    }
    match found.lane.is_some() {
        true => Ok(()),
        false => Err(Failure::told()),
    }
}

/// The lanes of the configuration, with what a hub has stored of them.
async fn lanes(config: &Config, settings: &LyricsSettings) -> Result<Arc<Lanes>, Failure> {
    let dir = &config.server.data_dir;
    let stored = match has_library(dir) {
        true => {
            let people = People::open(dir)?;
            let rows = people.read(|r| r.lanes()).await;
            people.close().await;
            lane_states(rows?)
        }
        false => BTreeMap::new(),
    };
    let mut codecs: Vec<Arc<dyn Codec>> = Vec::new();
    for provider in &settings.providers {
        let name = &provider.name;
        let unusable = |why: &dyn std::fmt::Display| Failure::new(format!("{name}: {why}"));
        let provider = Provider::new(provider.clone()).map_err(|error| unusable(&error))?;
        codecs.push(Arc::new(provider));
    }
    let clock = TokioClock::new();
    let book = settings.book(BTreeMap::new());
    let lanes = Lanes::new(book.clone());
    lanes.take_up(codecs, book, &stored, clock.now(), clock.wall());
    Ok(Arc::new(lanes))
}

/// A runtime without a store and without a shelf: nothing is kept.
#[derive(Clone)]
struct Alone {
    clock: TokioClock,
    network: TokioNetwork,
}

#[derive(Clone)]
struct NoStore;

impl Store for NoStore {
    type Reader = ();
    type Writer = ();

    async fn read<T, F>(&self, _: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&()) -> Result<T, StoreError> + Send + 'static,
    {
        Err(StoreError::Closed)
    }

    async fn write<T, F>(&self, _: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&()) -> Result<T, StoreError> + Send + 'static,
    {
        Err(StoreError::Closed)
    }
}

impl Runtime for Alone {
    type Clock = TokioClock;
    type Network = TokioNetwork;
    type Store = NoStore;
    type Shelf = NoShelf;

    fn clock(&self) -> &TokioClock {
        &self.clock
    }

    fn network(&self) -> &TokioNetwork {
        &self.network
    }

    fn store(&self) -> &NoStore {
        &NoStore
    }

    fn shelf(&self) -> &NoShelf {
        &NoShelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        work()
    }
}

/// A desk with one song on it.
struct OneSong {
    job: Mutex<Option<Job>>,
    end: Mutex<Option<End>>,
}

impl OneSong {
    fn new(song: Song, identity: Identity) -> Self {
        let claim = Claim {
            ticket: Ticket {
                work_id: 0,
                epoch: 0,
            },
            identity,
            song,
            lease_until: Wall(i64::MAX),
            priority: Priority::ASKED,
            attempts: 0,
            miss_count: 0,
            upgrades: 0,
            providers_version: 0,
            standing: Quality::None,
        };
        OneSong {
            job: Mutex::new(Some(Job {
                claim,
                copies: Vec::new(),
                ledger: Vec::new(),
                cached: None,
                ours: BTreeSet::new(),
            })),
            end: Mutex::default(),
        }
    }
}

impl Desk for OneSong {
    async fn take(&self, _: Wall, _: Wall, _: u32) -> Result<Option<Job>, StoreError> {
        Ok(lock(&self.job).take())
    }

    async fn heartbeat(&self, _: Ticket, _: Wall) -> Result<(), StoreError> {
        Ok(())
    }

    async fn end(&self, _: &Claim, end: End, _: Vec<LaneState>, _: Wall) -> Result<(), StoreError> {
        *lock(&self.end) = Some(end);
        Ok(())
    }

    async fn is_decoy(&self, _: &str, _: &Identity) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn take_parcel(&self, _: Wall, _: Wall) -> Result<Option<Parcel>, StoreError> {
        Ok(None)
    }

    async fn begin_parcel(
        &self,
        _: ParcelTicket,
        _: &str,
        _: &Intent,
        _: Wall,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    async fn begin_removal(&self, _: ParcelTicket, _: &Removal, _: Wall) -> Result<(), StoreError> {
        Ok(())
    }

    async fn end_parcel(&self, _: ParcelTicket, _: ParcelEnd, _: Wall) -> Result<(), StoreError> {
        Ok(())
    }

    async fn due(&self) -> Result<Due, StoreError> {
        Ok(Due {
            song: lock(&self.job).as_ref().map(|_| Wall(0)),
            parcel: None,
        })
    }

    async fn rung(&self) {
        pending().await
    }

    fn ring(&self) {}

    fn salt(&self) -> String {
        salt()
    }

    fn trouble(&self, what: &'static str, error: &StoreError) {
        tracing::error!(%error, "{what}");
    }
}

/// What came of it, for people and for scripts.
#[derive(Debug)]
struct Found {
    /// The lane that won.
    lane: Option<String>,
    quality: Quality,
    /// The lyrics as canonical JSON.
    body: Option<String>,
    /// How timed words are shown and written.
    style: LrcStyle,
    /// What each lane said, in the order in which they are asked.
    lanes: Vec<(String, Option<LaneEntry>)>,
}

impl Found {
    fn of(end: &End, names: &[&str], style: LrcStyle) -> Self {
        let said = |name: &str| end.answers().iter().find(|entry| entry.lane == name);
        let lanes = names
            .iter()
            .map(|name| ((*name).to_owned(), said(name).cloned()));
        let lanes = lanes.collect();
        match end {
            End::Complete(completion) => {
                let document = completion.document.as_ref();
                Found {
                    lane: completion.lane.clone().filter(|_| document.is_some()),
                    quality: document.map_or(Quality::None, |document| document.quality),
                    body: document.map(|document| document.body.clone()),
                    style,
                    lanes,
                }
            }
            End::Keep { .. } | End::Release { .. } | End::Fail { .. } | End::Defer { .. } => {
                Found {
                    lane: None,
                    quality: Quality::None,
                    body: None,
                    style,
                    lanes,
                }
            }
        }
    }

    fn text(&self) -> Option<String> {
        let rendered = render(self.body.as_ref()?, self.style)?;
        Some(String::from_utf8_lossy(&rendered.bytes).into_owned())
    }

    fn json(&self, written: Option<&Path>) -> Value {
        let lanes: Vec<Value> = self
            .lanes
            .iter()
            .map(|(name, entry)| match entry {
                Some(entry) => shown::answer(entry),
                None => json!({ "lane": name, "answer": "not_asked" }),
            })
            .collect();
        json!({
            "lane": self.lane,
            "quality": shown::quality(self.quality),
            "text": self.text(),
            "written": written.map(|path| path.display().to_string()),
            "lanes": lanes,
        })
    }

    fn tell(&self, written: Option<&Path>) {
        let heading = ["LANE", "SAID", "WHY"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        table.extend(self.lanes.iter().map(|(name, entry)| {
            let (said, why) = match entry {
                Some(entry) => (word(entry.answer), entry.reason.as_deref().unwrap_or("")),
                None => ("not asked", ""),
            };
            vec![name.clone(), said.to_owned(), why.to_owned()]
        }));
        show::table(&table);
        println!();
        match (&self.lane, self.quality) {
            (None, _) => println!("No lane has it."),
            (Some(lane), Quality::Instrumental) => {
                println!("{lane} says that there is nothing to sing.");
            }
            (Some(lane), Quality::Plain) => println!("{lane} has it, without times."),
            (Some(lane), Quality::Line) => println!("{lane} has it, line by line."),
            (Some(lane), Quality::Word) => println!("{lane} has it, word by word."),
            (Some(lane), Quality::None) => println!("{lane} has nothing that can be used."),
        }
        match (written, self.text()) {
            (Some(path), _) => println!("Written to {}.", path.display()),
            (None, Some(text)) => print!("\n{text}"),
            (None, None) => {}
        }
    }
}

const fn word(answer: LaneAnswer) -> &'static str {
    match answer {
        LaneAnswer::Found => "found",
        LaneAnswer::Instrumental => "instrumental",
        LaneAnswer::Rejected => "refused",
        LaneAnswer::Miss => "not there",
        LaneAnswer::Open => "not asked",
        LaneAnswer::Throttled => "wait",
        LaneAnswer::Transport => "failed",
        LaneAnswer::Lost => "given up",
        LaneAnswer::Cancelled => "given up",
    }
}

/// Writes a new file; one that is there is left alone.
fn write(dir: &Path, args: &FetchArgs, body: &str, style: LrcStyle) -> Result<PathBuf, Failure> {
    let rendered = render(body, style)
        .ok_or_else(|| Failure::new("there is nothing to sing, so there is nothing to write"))?;
    let suffix = match rendered.form {
        Form::Plain => "txt",
        Form::Synced => "lrc",
    };
    let stem = stem(&format!("{} - {}", args.artist, args.title));
    let path = dir.join(format!("{stem}.{suffix}"));
    let failed = |error: std::io::Error| {
        let why = match error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                "it is there already, and left as it is".to_owned()
            }
            _ => crate::config::reason(&error),
        };
        Failure::new(format!("{}: {why}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(failed)?;
    let mut file = File::create_new(&path).map_err(failed)?;
    file.write_all(&rendered.bytes).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(path)
}

/// A name as a file may have it: no separators, no control characters, not hidden, not too long.
fn stem(name: &str) -> String {
    let plain = |c: char| {
        if c.is_control() || matches!(c, '/' | '\\') {
            '_'
        } else {
            c
        }
    };
    let name: String = name.chars().map(plain).collect();
    let name = match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name,
    };
    let mut end = name.len().min(NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_that_leads_nowhere_else() {
        assert_eq!(stem("AC/DC - T\u{0}N\nT"), "AC_DC - T_N_T");
        assert_eq!(stem("../../etc - passwd"), "_._.._etc - passwd");
        assert_eq!(stem(&"é".repeat(150)).len(), 200);
        assert_eq!(stem("U.S.A. - A"), "U.S.A. - A");
    }
}
