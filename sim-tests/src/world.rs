//! The nodes of a simulation: sources that are our fake upstream, one real hub, and listeners.

use crate::keeper::{self, Keeper};
use crate::listener::Listener;
use crate::log::{Errors, Log};
use crate::outcome::Call;
use crate::scenario::{AGAIN, Scenario};
use crate::shelf;
use crate::station::Station;
use madsim::net::TcpListener;
use madsim::runtime::{Handle, NodeHandle};
use madsim::time::sleep;
use segue::sources::{LinkSpec, SourceSpec};
use segue::upstream::{Setup, Shared, serve_connection};
use segue_core::driver::lock;
use segue_core::io::Clock;
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use segue_runtime_sim::{
    Dark, Exchange, Links, SimClock, SimNetwork, SimTrace, Timeline, Traps, Wire,
};
use segue_sqlite::NewUser;
use std::collections::BTreeMap;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing::Dispatch;

/// Everything there is.
pub(crate) struct World {
    pub(crate) clock: SimClock,
    pub(crate) trace: SimTrace,
    pub(crate) dark: Dark,
    pub(crate) sources: Vec<Source>,
    pub(crate) station: Station,
    pub(crate) traps: Traps,
    pub(crate) links: Links,
    pub(crate) network: SimNetwork,
    pub(crate) listeners: Vec<(NodeHandle, Listener)>,
    pub(crate) keeper: (NodeHandle, Keeper),
    pub(crate) errors: Errors,
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
        let traps = Traps::default();
        let network = SimNetwork::new(clock.clone(), dark.clone(), links.clone());
        let network = network.watched(watcher.watch()).trapped(traps.clone());
        let specs = sources.iter().map(Source::spec).collect();
        let station = Station::build(
            scenario,
            &clock,
            &trace,
            network.clone(),
            links.clone(),
            specs,
        );
        watcher.meet(&station);
        let open_way = || SimNetwork::new(clock.clone(), Dark::default(), links.clone());
        let listeners = (0..scenario.listeners.len().max(1))
            .map(|number| {
                let node = node(&Listener::user(number), listener_at(number));
                let listener = Listener {
                    number,
                    hub: hub_at(),
                    network: open_way(),
                    clock: clock.clone(),
                    trace: trace.clone(),
                    tracks: Vec::new(),
                    sources: scenario.sources,
                };
                (node, listener)
            })
            .collect();
        let keeper = Keeper {
            hub: hub_at(),
            network: open_way(),
            clock: clock.clone(),
            trace: trace.clone(),
            tracks: Vec::new(),
        };
        let keeper = (node(keeper::NAME, address(3, 0, 0)), keeper);
        let errors = Errors::default();
        let log = Log::new(trace.clone(), clock.clone(), Arc::clone(&errors));
        let world = World {
            clock,
            trace,
            dark,
            sources,
            station,
            traps,
            links,
            network,
            listeners,
            keeper,
            errors,
            watcher,
        };
        world.admit(scenario).await;
        (world, Dispatch::new(log))
    }

    /// Enters the users, as the command line does.
    async fn admit(&self, scenario: &Scenario) {
        let listeners = 0..scenario.listeners.len().max(1);
        let names = listeners
            .map(Listener::user)
            .chain([keeper::NAME.to_owned()]);
        let names: Vec<String> = names.collect();
        let now = self.clock.wall();
        let hub = self.station.hub().await;
        let admitted = hub.write(move |w| {
            for name in names {
                let user = NewUser {
                    is_admin: name == keeper::NAME,
                    name,
                    password_enc: b"sesame".to_vec(),
                };
                w.add_user(&user, now)?;
            }
            Ok(())
        });
        admitted.await.expect("a database that can be written");
    }

    /// The hub's calls for media so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        lock(&self.watcher.calls).values().cloned().collect()
    }

    /// Ends all nodes. What waits for something inside itself would else stay in memory when the simulation is over.
    pub(crate) async fn end(self) {
        lock(&self.watcher.station).take();
        self.station.end();
        let handle = Handle::current();
        let sources = self.sources.iter().map(|source| &source.node);
        let listeners = self.listeners.iter().map(|(node, _)| node);
        for node in sources.chain(listeners).chain([&self.keeper.0]) {
            handle.kill(node.id());
        }
        // The tasks are dropped when their turn comes.
        sleep(Duration::from_secs(1)).await;
        self.station.scrap();
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

pub(crate) fn hub_at() -> SocketAddr {
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
    station: Arc<Mutex<Option<Station>>>,
    calls: Arc<Mutex<BTreeMap<usize, Call>>>,
    trace: SimTrace,
    sources: usize,
}

impl Watcher {
    fn new(trace: SimTrace, sources: usize) -> Self {
        Watcher {
            station: Arc::default(),
            calls: Arc::default(),
            trace,
            sources,
        }
    }

    fn meet(&self, station: &Station) {
        *lock(&self.station) = Some(station.clone());
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
        // A redirect that is followed is the same call.
        if query == AGAIN {
            return;
        }
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
        let station = lock(&self.station).clone();
        let hub = station.as_ref().and_then(Station::serving);
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
            life: station.as_ref().map_or(0, Station::life),
            began: exchange.began,
            accepted: None,
            answered: None,
            closed: None,
            breakers: breakers.collect(),
        }
    }
}
