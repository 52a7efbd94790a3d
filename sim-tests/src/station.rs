//! The hub's node: a hub that can die at any await and starts again from what its disk has kept.

use crate::outcome::Fate;
use crate::scenario::{Death, Scenario, When, Work};
use crate::world::hub_at;
use bytes::Bytes;
use madsim::runtime::{Handle, NodeHandle};
use madsim::time::sleep;
use segue::assemble::{instances, take_over};
use segue::hub::{Folders, Hub, HubParts, Passwords, Pictures, Settings};
use segue::router::router;
use segue::sources::SourceSpec;
use segue::{sync, wanted};
use segue_core::Tick;
use segue_core::catalog::model::Pass;
use segue_core::driver::lock;
use segue_core::failover::Limits;
use segue_core::io::{Clock, StoreError};
use segue_runtime_sim::disk::{Failing, Geometry, Operation};
use segue_runtime_sim::{
    Disk, Life, Links, SimClock, SimNetwork, SimRuntime, SimStore, SimTrace, http,
};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How long whoever watches over a hub waits until it starts one that could not start once more.
const AGAIN: Duration = Duration::from_secs(1);

/// The hub of a story through all its lives. Clones share it.
#[derive(Clone)]
pub(crate) struct Station(Arc<Inner>);

struct Inner {
    clock: SimClock,
    trace: SimTrace,
    network: SimNetwork,
    links: Links,
    disk: Disk,
    life: Life,
    settings: Settings,
    sources: Vec<SourceSpec>,
    node: OnceLock<NodeHandle>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    hub: Option<Hub<SimRuntime>>,
    /// How it is to die, and how many milliseconds later to start again.
    doom: Option<(When, Death, u64)>,
    dead: bool,
    outages: Vec<(Tick, Option<Tick>)>,
    fate: Fate,
}

impl Station {
    /// A hub over `sources`, which starts at once.
    pub(crate) fn build(
        scenario: &Scenario,
        clock: &SimClock,
        trace: &SimTrace,
        network: SimNetwork,
        links: Links,
        sources: Vec<SourceSpec>,
    ) -> Station {
        let station = Station(Arc::new(Inner {
            clock: clock.clone(),
            trace: trace.clone(),
            network,
            links,
            disk: formatted().copy(),
            life: Life::default(),
            settings: Settings {
                limits: Limits {
                    mode: scenario.mode.into(),
                    midstream: scenario.midstream.into(),
                    ..Limits::default()
                },
                sync_interval: Duration::ZERO,
                ..Settings::default()
            },
            sources,
            node: OnceLock::new(),
            state: Mutex::default(),
        }));
        let lives = station.clone();
        let node = Handle::current()
            .create_node()
            .name("hub")
            .ip(hub_at().ip())
            .init(move || {
                let station = lives.clone();
                lives.0.life.task(async move { station.live().await })
            })
            .build();
        let _ = station.0.node.set(node);
        madsim::task::spawn(station.clone().watch());
        station
    }

    /// One life: starts as `segue serve` does, and serves.
    async fn live(&self) {
        let inner = &self.0;
        let hub = loop {
            match self.start().await {
                Ok(hub) => break hub,
                Err(error) => {
                    inner.trace.note("hub", format!("could not start: {error}"));
                    lock(&inner.state).fate.false_starts += 1;
                    sleep(AGAIN).await;
                }
            }
        };
        {
            let mut state = lock(&inner.state);
            state.hub = Some(hub.clone());
            if let Some((_, back)) = state.outages.last_mut() {
                *back = Some(inner.clock.now());
            }
        }
        inner.trace.note("hub", "serves");
        let life = inner.life.clone();
        let tended = hub.clone();
        madsim::task::spawn(life.task(async move { tended.tend_activity().await }));
        madsim::task::spawn(life.task(sync::tend(hub.clone())));
        madsim::task::spawn(life.task(wanted::tend(hub.clone())));
        let served = http::serve(hub_at(), router(hub), inner.links.clone(), life).await;
        panic!("the hub stopped serving: {served:?}");
    }

    async fn start(&self) -> Result<Hub<SimRuntime>, StoreError> {
        let inner = &self.0;
        let store = SimStore::on_disk(&inner.disk, inner.clock.clone());
        // Where the power goes in the opening itself, nobody is there to see the error.
        if inner.disk.is_off() {
            inner.life.stop();
            std::future::pending::<()>().await;
        }
        let store = store?.dying_with(inner.disk.clone(), inner.life.clone());
        let hub = Hub::new(HubParts {
            runtime: SimRuntime::new(inner.clock.clone(), inner.network.clone(), store),
            settings: inner.settings.clone(),
            sources: inner.sources.clone(),
            passwords: Arc::new(Clear),
            folders: Arc::new(NoFolders),
            pictures: Arc::new(NoPictures),
        });
        take_over(&hub, instances(&inner.sources)).await?;
        Ok(hub)
    }

    /// Buries the hub whenever it has died, and starts the next.
    async fn watch(self) {
        loop {
            self.0.life.over().await;
            let back = self.bury();
            sleep(Duration::from_millis(back)).await;
            self.start_again();
        }
    }

    /// A hub that has stopped is killed, its disk first: a task that is dropped would else close its connection in good
    /// order. Says how long it is to stay dead.
    fn bury(&self) -> u64 {
        let inner = &self.0;
        let mut state = lock(&inner.state);
        let (when, death, back) = match state.doom.take() {
            Some(doom) if !state.dead => doom,
            Some(_) | None => return 0,
        };
        inner.trace.note("hub", format!("dies: {death:?}"));
        state.dead = true;
        state.outages.push((inner.clock.now(), None));
        let hub = state.hub.take();
        match when {
            When::Now => {}
            When::Await(_) => state.fate.at_an_await += 1,
            When::Change(_) | When::Sync(_) => state.fate.in_a_change += 1,
        }
        match death {
            Death::Killed => {
                inner.disk.kill();
                state.fate.killed += 1;
            }
            Death::PowerCut(seed) => {
                inner.disk.crash(seed);
                state.fate.powerless += 1;
            }
        }
        drop(state);
        drop(hub);
        Handle::current().kill(self.node().id());
        back
    }

    fn start_again(&self) {
        if !std::mem::take(&mut lock(&self.0.state).dead) {
            return;
        }
        self.0.life.begin();
        let (handle, node) = (Handle::current(), self.node().id());
        // `restart` alone leaves its clock stopped if it was frozen.
        handle.kill(node);
        handle.resume(node);
        handle.restart(node);
    }

    /// Lets the hub die. One that is dead already, or is going to, does not die twice.
    pub(crate) fn doom(&self, when: When, death: Death, back: u64) {
        let inner = &self.0;
        {
            let mut state = lock(&inner.state);
            if state.dead || state.doom.is_some() {
                return;
            }
            state.doom = Some((when, death, back));
        }
        match when {
            When::Now => inner.life.stop(),
            When::Await(turns) => inner.life.stop_after(Some(turns)),
            When::Change(changes) => inner.disk.cut_power_after(changes),
            When::Sync(syncs) => inner.disk.cut_power_after_syncs(syncs),
        }
    }

    /// Stops the hub's tasks for a while, as SIGSTOP does.
    pub(crate) fn freeze(&self, duration: Duration) {
        let (handle, node) = (Handle::current(), self.node().id());
        handle.pause(node);
        madsim::task::spawn(async move {
            sleep(duration).await;
            Handle::current().resume(node);
        });
    }

    /// Lets one operation of the disk fail.
    pub(crate) fn fail(&self, work: Work, after: u64) {
        let operation = match work {
            Work::Write => Operation::Write,
            Work::Sync => Operation::Sync,
        };
        self.0.disk.fail(operation, Failing::Once { after });
    }

    /// Leaves the disk room for so many bytes more.
    pub(crate) fn fill_up(&self, room: u64) {
        self.0.disk.limit(Some(self.0.disk.used() + room));
    }

    /// The disk is well and has room. A power cut that was ordered still comes.
    pub(crate) fn mend_disk(&self) {
        for work in [Operation::Write, Operation::Sync] {
            self.0.disk.fail(work, Failing::Never);
        }
        self.0.disk.limit(None);
    }

    /// Undoes everything; a hub that is dead starts.
    pub(crate) fn heal(&self) {
        let inner = &self.0;
        inner.life.stop_after(None);
        inner.disk.heal();
        Handle::current().resume(self.node().id());
        if inner.life.is_over() {
            self.bury();
        }
        lock(&inner.state).doom = None;
        self.start_again();
    }

    /// The hub as it is now, once it serves.
    pub(crate) async fn hub(&self) -> Hub<SimRuntime> {
        loop {
            if let Some(hub) = self.serving() {
                return hub;
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// The hub, if there is one that serves.
    pub(crate) fn serving(&self) -> Option<Hub<SimRuntime>> {
        lock(&self.0.state).hub.clone()
    }

    /// When it was dead or starting.
    pub(crate) fn outages(&self) -> Vec<(Tick, Option<Tick>)> {
        lock(&self.0.state).outages.clone()
    }

    /// In which life it is, from 0.
    pub(crate) fn life(&self) -> usize {
        lock(&self.0.state).outages.len()
    }

    /// What became of it so far.
    pub(crate) fn fate(&self) -> Fate {
        let counts = self.0.disk.counts();
        Fate {
            failed_writes: counts.failed(Operation::Write),
            failed_syncs: counts.failed(Operation::Sync),
            full: counts.full,
            ..lock(&self.0.state).fate
        }
    }

    /// Files that it holds open.
    pub(crate) fn open_files(&self) -> usize {
        self.0.disk.open_files()
    }

    /// What is wrong with its database file, from beside it.
    pub(crate) fn damage(&self) -> Vec<String> {
        let copy = self.0.disk.copy();
        let damage = copy.database().and_then(|db| db.reader()?.damage());
        damage.unwrap_or_else(|error| vec![error.to_string()])
    }

    /// Ends it for good.
    pub(crate) fn end(&self) {
        lock(&self.0.state).hub.take();
        Handle::current().kill(self.node().id());
    }

    /// Gives back the memory of its disk, when it has ended.
    pub(crate) fn scrap(&self) {
        self.0.disk.scrap();
    }

    fn node(&self) -> &NodeHandle {
        self.0.node.get().expect("a station that is built")
    }
}

/// A disk with a database that is made already: making one takes longer than most stories.
fn formatted() -> &'static Disk {
    static FORMATTED: OnceLock<Disk> = OnceLock::new();
    FORMATTED.get_or_init(|| {
        let disk = Disk::new(Geometry::COMMON);
        drop(disk.database().expect("a database on a disk that is well"));
        disk
    })
}

/// Passwords that are not sealed: nothing here depends on how they are.
struct Clear;

impl Passwords for Clear {
    fn open(&self, sealed: &[u8]) -> Option<String> {
        String::from_utf8(sealed.to_vec()).ok()
    }

    fn seal(&self, clear: &str) -> Result<Vec<u8>, String> {
        Ok(clear.as_bytes().to_vec())
    }
}

struct NoFolders;

impl Folders for NoFolders {
    fn scan(
        &self,
        _root: &Path,
        _previous: &Pass,
        _progress: &dyn Fn(usize),
    ) -> Result<Pass, String> {
        Err("there are no folders in a simulation".to_owned())
    }
}

struct NoPictures;

impl Pictures for NoPictures {
    fn kept(&self, _key: &str) -> Option<(Bytes, String)> {
        None
    }

    fn keep(&self, _key: &str, _picture: &Bytes) {}

    fn media_type(&self, _picture: &Bytes) -> Option<String> {
        None
    }

    fn scale(&self, _picture: &Bytes, _size: u32) -> Option<(Bytes, String)> {
        None
    }
}
