//! The nodes of a simulation: sources that are our fake upstream, one real hub, and listeners.

use crate::listener::Listener;
use crate::log::Log;
use crate::outcome::Call;
use crate::scenario::Scenario;
use crate::shelf;
use bytes::Bytes;
use madsim::net::TcpListener;
use madsim::runtime::{Handle, NodeHandle};
use madsim::time::sleep;
use segue::hub::{Folders, Hub, HubParts, Passwords, Pictures, Settings};
use segue::router::router;
use segue::sources::{LinkSpec, SourceSpec};
use segue::sync;
use segue::upstream::{Setup, Shared, serve_connection};
use segue_core::catalog::model::Pass;
use segue_core::driver::lock;
use segue_core::failover::Limits;
use segue_core::io::Clock;
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use segue_runtime_sim::{
    Dark, Exchange, Links, SimClock, SimNetwork, SimRuntime, SimStore, SimTrace, Timeline, Wire,
    http,
};
use segue_sqlite::{Db, InstanceSpec, NewUser};
use std::collections::BTreeMap;
use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::Dispatch;

/// Everything there is.
pub(crate) struct World {
    pub(crate) clock: SimClock,
    pub(crate) trace: SimTrace,
    pub(crate) dark: Dark,
    pub(crate) sources: Vec<Source>,
    pub(crate) hub: Hub<SimRuntime>,
    hub_node: NodeHandle,
    pub(crate) network: SimNetwork,
    pub(crate) listeners: Vec<(NodeHandle, Listener)>,
    pub(crate) errors: Arc<Mutex<Vec<String>>>,
    watcher: Watcher,
}

/// A source and the node it runs on.
pub(crate) struct Source {
    pub(crate) node: NodeHandle,
    pub(crate) at: SocketAddr,
    pub(crate) shared: Shared,
}

impl World {
    /// Builds the world of a scenario; nothing is synchronised yet. Says what the log goes to.
    pub(crate) async fn build(scenario: &Scenario, lines: Timeline) -> (World, Dispatch) {
        let clock = SimClock::current();
        let trace = SimTrace::new(clock.clone(), lines);
        let links = Links::default();
        let dark = Dark::default();
        let sources: Vec<Source> = (0..scenario.sources)
            .map(|number| Source::build(number, &clock, &links))
            .collect();
        let watcher = Watcher::new(trace.clone(), scenario.sources);
        let network = SimNetwork::new(clock.clone(), dark.clone(), links.clone());
        let network = network.watched(watcher.watch());
        let hub = build_hub(scenario, &clock, &network, &sources).await;
        watcher.meet(&hub);
        let listeners = (0..scenario.listeners.len().max(1))
            .map(|number| {
                let node = node(&Listener::user(number), listener_at(number));
                let listener = Listener {
                    number,
                    hub: hub_at(),
                    network: SimNetwork::new(clock.clone(), Dark::default(), links.clone()),
                    clock: clock.clone(),
                    trace: trace.clone(),
                    tracks: Vec::new(),
                    sources: scenario.sources,
                };
                (node, listener)
            })
            .collect();
        let hub_node = start_hub(&hub, links);
        let errors = Arc::default();
        let log = Log::new(trace.clone(), Arc::clone(&errors));
        let world = World {
            clock,
            trace,
            dark,
            sources,
            hub,
            hub_node,
            network,
            listeners,
            errors,
            watcher,
        };
        (world, Dispatch::new(log))
    }

    /// The hub's calls for media so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        lock(&self.watcher.calls).values().cloned().collect()
    }

    /// Ends all nodes. What waits for something inside itself would else stay in memory when the simulation is over.
    pub(crate) async fn end(self) {
        lock(&self.watcher.hub).take();
        let handle = Handle::current();
        let sources = self.sources.iter().map(|source| &source.node);
        let listeners = self.listeners.iter().map(|(node, _)| node);
        for node in sources.chain(listeners).chain([&self.hub_node]) {
            handle.kill(node.id());
        }
        // The tasks are dropped when their turn comes.
        sleep(Duration::from_secs(1)).await;
    }
}

impl Source {
    fn build(number: usize, clock: &SimClock, links: &Links) -> Source {
        let at = source_at(number);
        let shared = Shared::new(Setup::new(shelf::NAMES[number], shelf::library(number)));
        let (clock, links, served) = (clock.clone(), links.clone(), shared.clone());
        let node = Handle::current()
            .create_node()
            .name(shelf::NAMES[number])
            .ip(at.ip())
            .init(move || serve_source(at, served.clone(), clock.clone(), links.clone()))
            .build();
        Source { node, at, shared }
    }

    fn spec(&self) -> SourceSpec {
        let setup = self.shared.setup();
        let password = Secret::new(setup.password.clone());
        let credentials = Credentials::password(setup.username.clone(), password);
        let url = url::Url::parse(&format!("http://{}", self.at)).expect("a URL");
        SourceSpec {
            id: setup.name.clone(),
            local: false,
            max_streams: 0,
            link: LinkSpec::Subsonic {
                endpoint: Endpoint::new(&url, credentials).expect("an endpoint"),
                auth: None,
            },
        }
    }
}

async fn serve_source(at: SocketAddr, shared: Shared, clock: SimClock, links: Links) {
    let listener = TcpListener::bind(at).await.expect("a free address");
    while let Ok((stream, _)) = listener.accept().await {
        let Ok(wire) = Wire::accepted(stream, &links) else {
            continue;
        };
        madsim::task::spawn(serve_connection(wire, clock.clone(), shared.clone()));
    }
    // A node whose first task ends is taken for dead.
    pending().await
}

/// Puts the hub together as `segue serve` does, with a database in memory.
async fn build_hub(
    scenario: &Scenario,
    clock: &SimClock,
    network: &SimNetwork,
    sources: &[Source],
) -> Hub<SimRuntime> {
    let db = Db::open_in_memory().expect("a database in memory");
    let store = SimStore::new(&db, clock.clone()).expect("its connections");
    let specs: Vec<SourceSpec> = sources.iter().map(Source::spec).collect();
    let instances: Vec<InstanceSpec> = specs.iter().map(instance).collect();
    let hub = Hub::new(HubParts {
        runtime: SimRuntime::new(clock.clone(), network.clone(), store),
        settings: Settings {
            limits: Limits {
                mode: scenario.mode.into(),
                midstream: scenario.midstream.into(),
                ..Limits::default()
            },
            sync_interval: Duration::ZERO,
            ..Settings::default()
        },
        sources: specs,
        passwords: Arc::new(Clear),
        folders: Arc::new(NoFolders),
        pictures: Arc::new(NoPictures),
    });
    let users = scenario.listeners.len().max(1);
    let now = clock.wall();
    hub.write(move |w| {
        for instance in &instances {
            w.upsert_instance(instance)?;
        }
        for number in 0..users {
            let user = NewUser {
                name: Listener::user(number),
                password_enc: b"sesame".to_vec(),
                is_admin: number == 0,
            };
            w.add_user(&user, now)?;
        }
        Ok(())
    })
    .await
    .expect("a database that can be written");
    hub
}

fn instance(source: &SourceSpec) -> InstanceSpec {
    InstanceSpec {
        id: source.id.clone(),
        kind: source.kind(),
        name: source.id.clone(),
        local: source.local,
    }
}

fn start_hub(hub: &Hub<SimRuntime>, links: Links) -> NodeHandle {
    let hub = hub.clone();
    Handle::current()
        .create_node()
        .name("hub")
        .ip(hub_at().ip())
        .init(move || {
            let (hub, links) = (hub.clone(), links.clone());
            async move {
                let tended = hub.clone();
                madsim::task::spawn(async move { tended.tend_activity().await });
                madsim::task::spawn(sync::tend(hub.clone()));
                let served = http::serve(hub_at(), router(hub), links).await;
                panic!("the hub stopped serving: {served:?}");
            }
        })
        .build()
}

fn node(name: &str, at: SocketAddr) -> NodeHandle {
    Handle::current()
        .create_node()
        .name(name)
        .ip(at.ip())
        .build()
}

fn source_at(number: usize) -> SocketAddr {
    address(0, number, 4533)
}

fn hub_at() -> SocketAddr {
    address(1, 0, 4040)
}

fn listener_at(number: usize) -> SocketAddr {
    address(2, number, 0)
}

fn address(net: u8, number: usize, port: u16) -> SocketAddr {
    let number = u8::try_from(number + 1).expect("few nodes");
    SocketAddr::from(([10, 0, net, number], port))
}

/// Sees the hub's calls for media, and how its breakers stood when each began.
#[derive(Clone)]
struct Watcher {
    hub: Arc<Mutex<Option<Hub<SimRuntime>>>>,
    calls: Arc<Mutex<BTreeMap<usize, Call>>>,
    trace: SimTrace,
    sources: usize,
}

impl Watcher {
    fn new(trace: SimTrace, sources: usize) -> Self {
        Watcher {
            hub: Arc::default(),
            calls: Arc::default(),
            trace,
            sources,
        }
    }

    fn meet(&self, hub: &Hub<SimRuntime>) {
        *lock(&self.hub) = Some(hub.clone());
    }

    fn watch(&self) -> segue_runtime_sim::Watch {
        let watcher = self.clone();
        Arc::new(move |exchange| watcher.see(exchange))
    }

    fn see(&self, exchange: &Exchange) {
        let Some(source) = (0..self.sources).find(|n| source_at(*n) == exchange.peer) else {
            return;
        };
        let Some(query) = exchange.target.strip_prefix("/rest/stream?") else {
            return;
        };
        let mut calls = lock(&self.calls);
        let call = calls
            .entry(exchange.serial)
            .or_insert_with(|| self.begun(source, query, exchange));
        call.accepted = exchange.accepted;
        call.answered = exchange.answered;
        call.closed = exchange.closed;
        let name = shelf::NAMES[source];
        let salt = &call.salt;
        let event = match (exchange.answered, exchange.closed) {
            (_, Some(_)) => format!("closes {name} {salt}"),
            (Some((_, Ok(status))), None) => format!("is answered {status} by {name} {salt}"),
            (Some((_, Err(error))), None) => format!("gets nowhere at {name} {salt}: {error}"),
            (None, None) => {
                let phases: Vec<_> = call.breakers.iter().map(|view| view.phase).collect();
                format!("calls {name} {salt}: {phases:?}")
            }
        };
        self.trace.note("hub", event);
    }

    fn begun(&self, source: usize, query: &str, exchange: &Exchange) -> Call {
        let param = |name: &str| {
            let mut pairs = url::form_urlencoded::parse(query.as_bytes());
            pairs
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let id = param("id");
        let hub = lock(&self.hub);
        let breakers = hub.iter().flat_map(|hub| {
            let bank = lock(hub.bank());
            let sources = hub.sources();
            let views: Vec<_> = shelf::NAMES[..self.sources]
                .iter()
                .filter_map(|name| bank.view(sources.get(name)?.lane(), exchange.began))
                .collect();
            views
        });
        Call {
            source,
            track: id.and_then(|id| shelf::number_of(source, &id)),
            salt: param("s").unwrap_or_default(),
            ranged: exchange.ranged,
            began: exchange.began,
            accepted: None,
            answered: None,
            closed: None,
            breakers: breakers.collect(),
        }
    }
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
