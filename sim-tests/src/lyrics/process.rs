//! A worker process: the hub's own wiring of lanes, workers and sweeps, which can die at any await, write or step.

use super::history::History;
use super::probe::{Doom, Probe, Probed, ProbedShelf, ProbedStore};
use super::scenario::When;
use super::songs::FOLDER;
use super::world::Ground;
use bytes::Bytes;
use madsim::runtime::{Handle, NodeHandle};
use madsim::time::sleep;
use segue::hub::{Folders, Hub, HubParts, Passwords, Pictures, Settings};
use segue::lyrics::watch;
use segue::lyrics::{self, LyricsSettings};
use segue::sources::{LinkSpec, SourceSpec};
use segue_core::Tick;
use segue_core::breaker::Phase;
use segue_core::catalog::model::Pass;
use segue_core::driver::lock;
use segue_runtime_sim::{Exchange, Life, SimNetwork};
use std::collections::BTreeMap;
use std::future::pending;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// One request of a process to a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The life of the process.
    pub owner: u64,
    /// The lane.
    pub lane: usize,
    /// The song.
    pub song: usize,
    /// Whether it is the last that a lookup of a song makes when all is right.
    pub last: bool,
    /// When it was begun.
    pub began: Tick,
    /// When the head was there, and its status.
    pub status: Option<u16>,
    /// When it was over.
    pub closed: Option<Tick>,
    /// How the lane's breaker stood.
    pub phase: Option<Phase>,
}

/// All calls of a story, by life and serial number.
pub(crate) type Calls = Arc<Mutex<BTreeMap<(u64, usize), Call>>>;

/// A process through all its lives. Clones share it.
#[derive(Clone)]
pub(crate) struct Process(Arc<Inner>);

struct Inner {
    number: usize,
    ground: Ground,
    settings: LyricsSettings,
    workers: u32,
    life: Life,
    doom: Doom,
    node: OnceLock<NodeHandle>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    hub: Option<Hub<Probed>>,
    stop: Option<watch::Sender<bool>>,
    lives: u64,
    owner: u64,
    back: u64,
    dead: bool,
}

impl Process {
    pub(crate) fn build(
        number: usize,
        ground: Ground,
        settings: LyricsSettings,
        workers: u32,
    ) -> Process {
        let process = Process(Arc::new(Inner {
            number,
            ground,
            settings,
            workers,
            life: Life::default(),
            doom: Doom::default(),
            node: OnceLock::new(),
            state: Mutex::default(),
        }));
        let lives = process.clone();
        let node = Handle::current()
            .create_node()
            .name(format!("worker{}", number + 1))
            .ip([10, 1, 1, u8::try_from(number + 1).expect("few processes")].into())
            .init(move || {
                let process = lives.clone();
                lives.0.life.task(async move { process.live().await })
            })
            .build();
        let _ = process.0.node.set(node);
        madsim::task::spawn(process.clone().watch());
        process
    }

    /// One life.
    async fn live(&self) {
        let inner = &self.0;
        let (stop, stopping) = watch::channel(false);
        let owner = {
            let mut state = lock(&inner.state);
            state.lives += 1;
            state.owner = (inner.number as u64 + 1) * 1_000 + state.lives;
            state.stop = Some(stop);
            state.owner
        };
        let ground = &inner.ground;
        ground.history.begins(owner);
        let probe = Probe {
            owner,
            life: inner.life.clone(),
            doom: inner.doom.clone(),
            history: ground.history.clone(),
        };
        let store = loop {
            match ground.open(&inner.life) {
                Ok(store) => break store,
                // Without power nobody sees the error.
                Err(_) if ground.disk.is_off() => {
                    inner.life.stop();
                    pending::<()>().await;
                }
                Err(error) => panic!("a store that cannot be opened: {error}"),
            }
        };
        let runtime = Probed {
            clock: ground.clock.clone(),
            network: self.network(owner),
            store: ProbedStore {
                inner: store,
                probe: probe.clone(),
            },
            shelf: ProbedShelf {
                inner: ground.shelf.clone(),
                probe,
            },
        };
        let hub = Hub::new(HubParts {
            runtime,
            settings: Settings {
                lyrics: LyricsSettings {
                    seed: owner,
                    ..inner.settings.clone()
                },
                ..Settings::default()
            },
            sources: vec![folder()],
            passwords: Arc::new(Nothing),
            folders: Arc::new(Nothing),
            pictures: Arc::new(Nothing),
        });
        if let Err(error) = lyrics::take_up(&hub, &inner.settings).await {
            panic!("lanes that cannot be taken up: {error}");
        }
        lock(&inner.state).hub = Some(hub.clone());
        ground
            .trace
            .note(&self.name(), format!("begins life {owner}"));
        lyrics::tend(hub, inner.workers, stopping).await;
        ground.trace.note(&self.name(), "stops as it was told");
        let out = self.permits();
        if out != 0 {
            ground
                .history
                .breach(format!("D5: {out} permits are out when the process ends"));
        }
        inner.life.stop();
        pending::<()>().await;
    }

    /// Shows every request to the history.
    fn network(&self, owner: u64) -> SimNetwork {
        let ground = &self.0.ground;
        let (process, calls, history) = (
            Arc::downgrade(&self.0),
            Arc::clone(&ground.calls),
            ground.history.clone(),
        );
        let network = SimNetwork::new(
            ground.clock.clone(),
            ground.dark.clone(),
            ground.links.clone(),
        );
        let network = network.trapped(ground.traps.clone());
        let (trace, name) = (ground.trace.clone(), self.name());
        network.watched(Arc::new(move |exchange: &Exchange| {
            let mut calls = lock(&calls);
            let key = (owner, exchange.serial);
            if let Some(call) = calls.get_mut(&key) {
                call.status = exchange.answered.and_then(|(_, status)| status.ok());
                call.closed = exchange.closed;
                let lane = super::lane::NAMES[call.lane];
                let event = match (exchange.answered, exchange.closed) {
                    (_, Some(_)) => format!("closes {lane}"),
                    (Some((_, Ok(status))), None) => format!("is answered {status} by {lane}"),
                    (Some((_, Err(error))), None) => format!("gets nowhere at {lane}: {error}"),
                    (None, None) => format!("waits for {lane}"),
                };
                return trace.note(&name, event);
            }
            let Some(lane) =
                (0..super::lane::NAMES.len()).find(|n| super::lane::at(*n) == exchange.peer)
            else {
                return history.breach(format!("3.5: {} is no lane", exchange.peer));
            };
            let song = song_of(&exchange.target);
            let phase = process.upgrade().and_then(|inner| {
                let hub = lock(&inner.state).hub.clone()?;
                let lanes = hub.lookups().lanes();
                let setup = lanes.setup();
                let slot = setup
                    .slots
                    .iter()
                    .find(|slot| slot.name() == super::lane::NAMES[lane])?;
                let view = lock(lanes.bank()).view(slot.lane, exchange.began)?;
                Some(view.phase)
            });
            let stands = phase.map_or("unknown".to_owned(), |phase| format!("{phase:?}"));
            let event = format!(
                "asks {} for {}; its breaker: {stands}",
                super::lane::NAMES[lane],
                super::songs::TITLES[song],
            );
            trace.note(&name, event);
            history.asked(owner, song, super::lane::NAMES[lane]);
            calls.insert(
                key,
                Call {
                    owner,
                    lane,
                    song,
                    last: !exchange.target.starts_with("/api/get"),
                    began: exchange.began,
                    status: None,
                    closed: None,
                    phase,
                },
            );
        }))
    }

    /// Buries the process whenever it has died, and starts the next one.
    async fn watch(self) {
        loop {
            self.0.life.over().await;
            if self.0.ground.disk.is_off() {
                // The whole machine is without power; whoever sees to that starts it again.
                sleep(Duration::from_millis(1)).await;
                continue;
            }
            let back = self.bury();
            sleep(Duration::from_millis(back)).await;
            self.start_again();
        }
    }

    /// Kills its node if it has not been; says for how long it is to stay dead.
    pub(crate) fn bury(&self) -> u64 {
        let inner = &self.0;
        let (hub, back) = {
            let mut state = lock(&inner.state);
            if state.dead {
                return state.back;
            }
            state.dead = true;
            inner.ground.trace.note(&self.name(), "dies");
            inner.ground.history.ends(state.owner);
            (state.hub.take(), state.back)
        };
        inner.doom.set(None);
        drop(hub);
        Handle::current().kill(self.node().id());
        back
    }

    pub(crate) fn start_again(&self) {
        {
            let mut state = lock(&self.0.state);
            if !state.dead || self.0.ground.disk.is_off() {
                return;
            }
            state.dead = false;
        }
        self.0.life.begin();
        let (handle, node) = (Handle::current(), self.node().id());
        handle.kill(node);
        handle.resume(node);
        handle.restart(node);
    }

    /// Lets it die, unless it is dead.
    pub(crate) fn doom(&self, when: When, back: u64) {
        let inner = &self.0;
        {
            let mut state = lock(&inner.state);
            if state.dead {
                return;
            }
            state.back = back;
        }
        match when {
            When::Now => inner.life.stop(),
            When::Await(turns) => inner.life.stop_after(Some(turns)),
            When::BeforeWrite(_)
            | When::AfterWrite(_)
            | When::BeforeShelf(_)
            | When::AfterShelf(_) => inner.doom.set(Some(when)),
        }
    }

    /// Tells it to stop.
    pub(crate) fn stop(&self, back: u64) {
        let mut state = lock(&self.0.state);
        state.back = back;
        if let Some(stop) = &state.stop {
            stop.send_replace(true);
        }
    }

    /// Lets it stand still for a while.
    pub(crate) fn freeze(&self, millis: u64) {
        let (handle, node) = (Handle::current(), self.node().id());
        handle.pause(node);
        let owner = lock(&self.0.state).owner;
        let history: History = self.0.ground.history.clone();
        history.disturb(owner);
        madsim::task::spawn(async move {
            sleep(Duration::from_millis(millis)).await;
            history.disturb(owner);
            Handle::current().resume(node);
        });
    }

    /// Undoes what was going to happen to it.
    pub(crate) fn heal(&self) {
        let inner = &self.0;
        inner.life.stop_after(None);
        inner.doom.set(None);
        let owner = lock(&inner.state).owner;
        inner.ground.history.disturb(owner);
        Handle::current().resume(self.node().id());
    }

    /// The process as it is now, if it is up.
    pub(crate) fn hub(&self) -> Option<Hub<Probed>> {
        lock(&self.0.state).hub.clone()
    }

    /// Permits that are out.
    pub(crate) fn permits(&self) -> usize {
        let hub = self.hub();
        hub.map_or(0, |hub| lock(hub.lookups().lanes().bank()).outstanding())
    }

    /// Lookups that wait for their lane's turn.
    pub(crate) fn waiting(&self) -> usize {
        let Some(hub) = self.hub() else {
            return 0;
        };
        let setup = hub.lookups().lanes().setup();
        setup.slots.iter().map(|slot| slot.turn.waiting()).sum()
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        format!("worker{}", self.0.number + 1)
    }

    /// Ends it for good.
    pub(crate) fn end(&self) {
        lock(&self.0.state).hub.take();
        Handle::current().kill(self.node().id());
    }

    fn node(&self) -> &NodeHandle {
        self.0.node.get().expect("a process that is built")
    }
}

/// The music folder, as it is configured.
fn folder() -> SourceSpec {
    SourceSpec {
        id: FOLDER.to_owned(),
        local: true,
        max_streams: 0,
        link: LinkSpec::Folder {
            root: FOLDER.into(),
            write_sidecars: true,
        },
    }
}

/// The song that a request asks for.
fn song_of(target: &str) -> usize {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let title = pairs.find(|(key, _)| key == "track_name" || key == "q_track");
    let title = title.map(|(_, title)| title.into_owned());
    title
        .and_then(|title| super::songs::number_of(&title))
        .unwrap_or(0)
}

/// What a worker process has no use for.
struct Nothing;

impl Passwords for Nothing {
    fn open(&self, _: &[u8]) -> Option<String> {
        None
    }

    fn seal(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("there is no password box".to_owned())
    }
}

impl Folders for Nothing {
    fn scan(&self, _: &Path, _: &Pass, _: &dyn Fn(usize)) -> Result<Pass, String> {
        Err("there are no folders".to_owned())
    }
}

impl Pictures for Nothing {
    fn kept(&self, _: &str) -> Option<(Bytes, String)> {
        None
    }

    fn keep(&self, _: &str, _: &Bytes) {}

    fn media_type(&self, _: &Bytes) -> Option<String> {
        None
    }

    fn scale(&self, _: &Bytes, _: u32) -> Option<(Bytes, String)> {
        None
    }
}
