//! The nodes of a story about lookups, and the ground that they stand on.

use super::history::{History, Look};
use super::lane::{self, LaneServer};
use super::probe::{Doom, Probe, ProbedStore};
use super::process::{Calls, Process};
use super::scenario::{Put, Scenario};
use super::songs::{FOLDER, TITLES, request, track, users_place, users_words};
use crate::log::{Errors, Log};
use madsim::runtime::Handle;
use madsim::time::sleep;
use segue::lyrics::LyricsSettings;
use segue_core::breaker::Policy;
use segue_core::dispatch::Mode;
use segue_core::driver::lock;
use segue_core::io::{Clock, Store, StoreError};
use segue_core::queue::{Ladders, providers_version};
use segue_runtime_sim::disk::Geometry;
use segue_runtime_sim::{
    Dark, Disk, Life, Links, SimClock, SimShelf, SimStore, SimTrace, Timeline, Traps,
};
use segue_sqlite::{Db, Reader};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tracing::Dispatch;

/// What all processes share. Clones share it.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) clock: SimClock,
    pub(crate) trace: SimTrace,
    pub(crate) dark: Dark,
    pub(crate) links: Links,
    pub(crate) disk: Disk,
    /// The database, when it is not on the disk.
    memory: Arc<Mutex<Option<Db>>>,
    pub(crate) shelf: SimShelf,
    pub(crate) history: History,
    pub(crate) calls: Calls,
    pub(crate) errors: Errors,
    pub(crate) traps: Traps,
}

impl Ground {
    /// The store for a node whose life ends with the power.
    pub(crate) fn open(&self, life: &Life) -> Result<SimStore, StoreError> {
        match &*lock(&self.memory) {
            Some(db) => SimStore::new(db, self.clock.clone()),
            None => {
                let store = SimStore::on_disk(&self.disk, self.clock.clone())?;
                Ok(store.dying_with(self.disk.clone(), life.clone()))
            }
        }
    }

    /// Looks at the store from beside it.
    pub(crate) fn look<T>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, segue_sqlite::Error>,
    ) -> T {
        let reader = match &*lock(&self.memory) {
            Some(db) => db.reader(),
            None => self.disk.database().and_then(|db| db.reader()),
        };
        let reader = reader.expect("a database that can be read");
        question(&reader).expect("a question that can be answered")
    }
}

/// Everything there is.
pub(crate) struct World {
    pub(crate) ground: Ground,
    pub(crate) lanes: Vec<LaneServer>,
    pub(crate) processes: Vec<Process>,
}

impl World {
    /// Builds the world of a scenario. Says what the log goes to.
    pub(crate) fn build(scenario: &Scenario, lines: Timeline) -> (World, Dispatch) {
        let clock = SimClock::current();
        let trace = SimTrace::new(clock.clone(), lines);
        let links = Links::default();
        let memory = match scenario.on_disk {
            true => None,
            false => Some(Db::open_in_memory().expect("memory")),
        };
        let shelf = SimShelf::new(clock.clone());
        shelf.allow(FOLDER);
        for (song, tune) in scenario.songs.iter().enumerate() {
            for file in 0..tune.files {
                shelf.put(&track(song, file), "music");
            }
            if let Some(users) = tune.users {
                shelf.put(&users_place(song, users), users_words(song));
            }
        }
        let ground = Ground {
            history: History::new(scenario, clock.clone(), trace.clone()),
            clock,
            trace,
            dark: Dark::default(),
            links,
            disk: match scenario.on_disk {
                true => formatted().copy(),
                false => Disk::new(Geometry::COMMON),
            },
            memory: Arc::new(Mutex::new(memory)),
            shelf,
            calls: Calls::default(),
            errors: Errors::default(),
            traps: Traps::default(),
        };
        let log = Log::new(
            ground.trace.clone(),
            ground.clock.clone(),
            Arc::clone(&ground.errors),
        );
        let lanes: Vec<LaneServer> = (0..scenario.lanes.len())
            .map(|number| LaneServer::build(number, scenario, &ground.links))
            .collect();
        let settings = settings(scenario, &lanes);
        let processes = (0..scenario.processes)
            .map(|number| {
                Process::build(number, ground.clone(), settings.clone(), scenario.workers)
            })
            .collect();
        let world = World {
            ground,
            lanes,
            processes,
        };
        (world, Dispatch::new(log))
    }

    /// Puts a song in, by several at once; ends when the store has it. Rings one process, as whoever does so does.
    pub(crate) async fn put(&self, scenario: &Scenario, put: Put) {
        let title = TITLES[put.song];
        let event = format!("{title} is put in by {}", put.times);
        self.ground.trace.note("puts", event);
        let version = providers_version(&lane::NAMES[..scenario.lanes.len()]);
        let putting: Vec<_> = (0..put.times)
            .map(|n| {
                let ground = self.ground.clone();
                let request = request(scenario, put, n);
                madsim::task::spawn(async move {
                    while !put_in(&ground, request.clone(), version).await {
                        sleep(Duration::from_millis(500)).await;
                    }
                })
            })
            .collect();
        for putting in putting {
            putting.await.expect("who is not killed");
        }
        for process in &self.processes {
            if let Some(hub) = process.hub() {
                hub.wanted().ring();
                break;
            }
        }
    }

    /// The machine loses its power.
    pub(crate) fn power_cut(&self, seed: u64) {
        let ground = &self.ground;
        ground.trace.note("world", "the power goes");
        ground.history.count("power cut");
        if lock(&ground.memory).is_none() {
            ground.disk.crash(seed);
        }
        ground.shelf.crash(seed);
        let look = ground.look(Look::at);
        ground.history.crashed(look, &ground.shelf);
        for process in &self.processes {
            process.bury();
        }
    }

    /// Ends all nodes.
    pub(crate) async fn end(self) {
        for process in &self.processes {
            process.end();
        }
        for lane in &self.lanes {
            Handle::current().kill(lane.node.id());
        }
        sleep(Duration::from_secs(1)).await;
        self.ground.disk.scrap();
        lock(&self.ground.memory).take();
    }
}

/// Whether the store has it by now. Where the power goes meanwhile, nobody learns.
async fn put_in(ground: &Ground, request: segue_core::queue::Request, version: u32) -> bool {
    let life = Life::default();
    let Ok(store) = ground.open(&life) else {
        return false;
    };
    let probe = Probe {
        owner: 0,
        life: life.clone(),
        doom: Doom::default(),
        history: ground.history.clone(),
    };
    let store = ProbedStore {
        inner: store,
        probe,
    };
    let now = ground.clock.wall();
    let putting = store.write(move |w| Ok(w.enqueue(&request, version, now)?));
    let putting = Box::pin(putting);
    let over = Box::pin(life.over());
    match futures_util::future::select(putting, over).await {
        futures_util::future::Either::Left((put, _)) => put.is_ok(),
        futures_util::future::Either::Right(_) => false,
    }
}

fn settings(scenario: &Scenario, lanes: &[LaneServer]) -> LyricsSettings {
    LyricsSettings {
        providers: lanes
            .iter()
            .map(|lane| lane.settings(scenario.spacing))
            .collect(),
        mode: match scenario.race_wait {
            Some(millis) => Mode::Parallel {
                race_wait: Duration::from_millis(millis),
            },
            None => Mode::Ordered,
        },
        // Short ladders: what is lost over time is lost over a short time too.
        ladders: Ladders {
            fail_base: Duration::from_secs(5),
            fail_cap: Duration::from_secs(60),
            park_after: 0,
            ..Ladders::default()
        },
        policy: Policy {
            base: Duration::from_secs(10),
            cap: Duration::from_secs(60),
            transient_threshold: 3,
            ..Policy::provider()
        },
        lease: Duration::from_millis(scenario.lease),
        workers: scenario.workers,
        ..LyricsSettings::default()
    }
}

/// A disk with a database that is made already.
fn formatted() -> &'static Disk {
    static FORMATTED: OnceLock<Disk> = OnceLock::new();
    FORMATTED.get_or_init(|| {
        let disk = Disk::new(Geometry::COMMON);
        drop(disk.database().expect("a database on a disk that is well"));
        disk
    })
}
