//! The acts of a run: first things go wrong, then all is healed and must be well.

use crate::alone::{self, alone};
use crate::keeper::Done;
use crate::listener::Listener;
use crate::outcome::{Act, Heard, Outcome};
use crate::scenario::{AGAIN, Deed, Fault, Play, Scenario};
use crate::shelf::{NAMES, TITLES};
use crate::world::World;
use bytes::Bytes;
use http_body_util::BodyExt;
use madsim::Config;
use madsim::runtime::{Handle, NodeHandle, Runtime};
use madsim::time::sleep;
use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_sim::Timeline;
use std::collections::BTreeMap;
use std::time::Duration;

/// A last resort comes no sooner than 5 s after a failure (contracts 3.2).
const LAST_RESORT: Duration = Duration::from_secs(6);

/// A source is suspect for 60 s.
const SUSPECT: Duration = Duration::from_secs(61);

/// Longer than anything that was cancelled takes to go away.
const QUIET: Duration = Duration::from_secs(30);

/// What a run came to.
pub type Run = alone::Run<Outcome>;

/// Plays a scenario, in a thread of its own: `HashMap` and `getrandom` are only seeded in one that has
/// used neither yet.
pub fn run(scenario: &Scenario) -> Run {
    run_within(scenario, |simulation| simulation())
}

/// As [`run`], within something that is chosen for the thread of the simulation: a broken twin.
pub fn run_within(
    scenario: &Scenario,
    within: impl FnOnce(&mut dyn FnMut() -> Outcome) -> Outcome + Send,
) -> Run {
    alone(within, |lines| simulate(scenario, lines))
}

fn simulate(scenario: &Scenario, lines: Timeline) -> Outcome {
    let mut runtime = Runtime::with_seed_and_config(scenario.seed, Config::default());
    runtime.set_time_limit(Duration::from_secs(6 * 3600));
    runtime.block_on(async {
        let (mut world, log) = World::build(scenario, lines).await;
        let _logging = tracing::dispatcher::set_default(&log);
        let outcome = world.play(scenario).await;
        world.end().await;
        outcome
    })
}

impl World {
    async fn play(&mut self, scenario: &Scenario) -> Outcome {
        self.synchronised().await;
        self.introduce_tracks().await;
        assert!(!self.every_track().is_empty(), "nothing was synchronised");
        let ranked = self.ranked().await;
        sleep(Duration::from_secs(1)).await;
        let before = Before {
            tasks: tasks(),
            files: self.station.open_files(),
            ids: self.keeper.1.tracks.clone(),
            ranked,
        };

        let playing: Vec<_> = self
            .listeners
            .iter()
            .zip(&scenario.listeners)
            .map(|((node, listener), plays)| playing(node, listener, plays.clone(), Act::Trouble))
            .collect();
        let keeping = self.keeping(scenario.deeds.clone());
        let faults = self.go_wrong(&scenario.faults).await;
        let mut heard = Vec::new();
        for listener in playing {
            heard.extend(listener.await);
        }
        let mut deeds = keeping.await;
        self.heal();
        let healed = self.clock.now();
        self.trace.note("world", "all is healed");
        // The last one may have failed, and the next would come in a quarter of an hour.
        self.station.hub().await.sync_state().request();
        self.synchronised().await;

        sleep(LAST_RESORT).await;
        heard.extend(self.one_after_another(Act::Convalescence).await);
        sleep(SUSPECT).await;
        heard.extend(self.one_after_another(Act::Encore).await);
        heard.extend(self.all_at_once().await);
        sleep(QUIET).await;
        deeds.extend(self.keeping(vec![(0, Deed::Look)]).await);
        self.introduce_tracks().await;
        sleep(QUIET).await;
        heard.sort_by_key(|heard| heard.asked);
        self.outcome(before, heard, deeds, faults, healed).await
    }

    /// Waits for the synchronisation that was asked for last.
    async fn synchronised(&self) {
        loop {
            sleep(Duration::from_secs(1)).await;
            let hub = self.station.hub().await;
            let status = hub.sync_state().status();
            if status.last.is_some() && !status.running {
                return;
            }
        }
    }

    /// Tells the listeners the ids of the tracks, as a client finds them.
    async fn introduce_tracks(&mut self) {
        let (node, listener) = &self.listeners[0];
        let listener = listener.clone();
        let tracks = node.spawn(async move { find_tracks(&listener).await });
        let tracks = tracks.await.expect("a listener that is not killed");
        for (_, listener) in &mut self.listeners {
            listener.tracks.clone_from(&tracks);
        }
        self.keeper.1.tracks = tracks;
    }

    /// Which sources hold each track, best first.
    async fn ranked(&self) -> Vec<Vec<usize>> {
        let tracks = self.listeners[0].1.tracks.clone();
        let hub = self.station.hub().await;
        let rows = hub.read(move |reader| {
            let candidates = tracks.iter().map(|id| reader.candidates(id));
            candidates.collect::<Result<Vec<_>, _>>()
        });
        let number = |instance: &str| NAMES.iter().position(|name| *name == instance);
        let rows = rows.await.expect("a database that can be read");
        rows.iter()
            .map(|track| {
                track
                    .iter()
                    .filter_map(|row| number(&row.instance))
                    .collect()
            })
            .collect()
    }

    async fn go_wrong(&self, faults: &[(u64, Fault)]) -> Vec<(Tick, Fault)> {
        let mut made = Vec::new();
        for (after, fault) in faults {
            sleep(Duration::from_millis(*after)).await;
            self.trace.note("world", format!("{fault:?}"));
            self.inflict(fault);
            made.push((self.clock.now(), fault.clone()));
        }
        made
    }

    /// Sets the keeper to work; ends with what it did.
    fn keeping(&self, deeds: Vec<(u64, Deed)>) -> impl Future<Output = Vec<Done>> + use<> {
        let (node, keeper) = &self.keeper;
        let keeper = keeper.clone();
        let task = node.spawn(async move { keeper.do_all(&deeds).await });
        async move { task.await.expect("a keeper that is not killed") }
    }

    /// The tracks that exist.
    fn every_track(&self) -> Vec<Play> {
        let tracks = &self.listeners[0].1.tracks;
        let there = (0..tracks.len()).filter(|track| !tracks[*track].is_empty());
        there.map(Play::whole).collect()
    }

    async fn one_after_another(&self, act: Act) -> Vec<Heard> {
        self.trace.note("world", format!("{act:?}"));
        let (node, listener) = &self.listeners[0];
        playing(node, listener, self.every_track(), act).await
    }

    async fn all_at_once(&self) -> Vec<Heard> {
        self.trace.note("world", format!("{:?}", Act::Health));
        let playing: Vec<_> = self
            .listeners
            .iter()
            .map(|(node, listener)| playing(node, listener, self.every_track(), Act::Health))
            .collect();
        let mut heard = Vec::new();
        for listener in playing {
            heard.extend(listener.await);
        }
        heard
    }

    async fn outcome(
        &self,
        before: Before,
        heard: Vec<Heard>,
        deeds: Vec<Done>,
        faults: Vec<(Tick, Fault)>,
        healed: Tick,
    ) -> Outcome {
        let hub = self.station.hub().await;
        let activity = hub.read(|reader| reader.activity(10_000)).await;
        let mut activity = activity.expect("a database that can be read");
        activity.sort_by_key(|row| row.id);
        let leaked = tasks().into_iter().filter_map(|(node, tasks)| {
            let then = before.tasks.get(&node).copied().unwrap_or(0);
            (tasks != then).then_some((node, (tasks, then)))
        });
        let exchanges = self.network.exchanges();
        let shared = || self.sources.iter().map(|source| &source.shared);
        let is_source = |peer| self.sources.iter().any(|source| source.at == peer);
        Outcome {
            heard,
            calls: self.calls(),
            arrivals: shared().map(arrivals).collect(),
            deeds,
            faults,
            healed,
            activity,
            ranked: before.ranked,
            ranked_at_end: self.ranked().await,
            ids: (before.ids, self.keeper.1.tracks.clone()),
            outages: self.station.outages(),
            fate: self.station.fate(),
            damage: self.station.damage(),
            leaked: leaked.collect(),
            live: hub.activity().active_count(),
            permits: lock(hub.bank()).outstanding(),
            unclosed: exchanges.iter().filter(|e| e.closed.is_none()).count(),
            standing: shared()
                .map(|shared| shared.counters())
                .map(|counters| (counters.open_connections, counters.open_streams))
                .collect(),
            panics: alone::panics(),
            sockets: self.links.open(),
            files: (before.files, self.station.open_files()),
            strangers: exchanges
                .iter()
                .map(|exchange| exchange.peer)
                .filter(|peer| !is_source(*peer))
                .collect(),
            errors: lock(&self.errors).clone(),
            fingerprint: self.trace.fingerprint(),
            took: self.clock.now(),
        }
    }
}

/// How things stood before anything went wrong.
struct Before {
    tasks: BTreeMap<String, usize>,
    files: usize,
    ids: Vec<String>,
    ranked: Vec<Vec<usize>>,
}

/// Sets a listener to work, on its own node; ends with what it heard.
fn playing(
    node: &NodeHandle,
    listener: &Listener,
    plays: Vec<Play>,
    act: Act,
) -> impl Future<Output = Vec<Heard>> + use<> {
    let listener = listener.clone();
    let task = node.spawn(async move { listener.play_all(&plays, act).await });
    async move { task.await.expect("a listener that is not killed") }
}

fn tasks() -> BTreeMap<String, usize> {
    Handle::current().metrics().num_tasks_by_node()
}

/// The salts of the requests for media that a source has seen.
fn arrivals(shared: &segue::upstream::Shared) -> Vec<String> {
    let seen = shared.seen();
    let media = seen.iter().filter(|seen| seen.endpoint == "stream");
    // One who was sent round in a circle is the same one.
    media
        .filter(|seen| seen.param(AGAIN).is_none())
        .map(|seen| seen.param("s").unwrap_or_default().to_owned())
        .collect()
}

/// The ids of all titles; empty where there is no such track, or nobody who tells.
async fn find_tracks(listener: &Listener) -> Vec<String> {
    let songs = search(listener).await.unwrap_or_default();
    let songs = songs.as_array().map_or(&[][..], Vec::as_slice);
    TITLES
        .iter()
        .map(|title| {
            let song = songs.iter().find(|song| song["title"] == *title);
            let id = song.and_then(|song| song["id"].as_str());
            id.unwrap_or_default().to_owned()
        })
        .collect()
}

/// The songs that a search finds which looks for nothing.
async fn search(listener: &Listener) -> Option<serde_json::Value> {
    let credentials = Listener::credentials(listener.number, "finder");
    let uri = format!("http://{}/rest/search3?{credentials}&query=", listener.hub);
    let request = http::Request::get(uri).body(Bytes::new()).ok()?;
    let response = listener.network.send(request, Accepted::default()).await;
    let body = response.ok()?.into_body().collect().await.ok()?.to_bytes();
    let mut answer: serde_json::Value = serde_json::from_slice(&body).ok()?;
    Some(answer["subsonic-response"]["searchResult3"]["song"].take())
}
