//! Looking songs up: the lanes of this hub, its workers, and what is swept beside them.
//!
//! The decisions are `segue_core`'s; here the worker meets the store and the configuration. One future ([`tend`]) runs
//! beside each hub, in production and in simulations alike.

mod desk;
mod leftovers;
mod newcomers;
mod restore;
mod settings;
mod sweep;

pub use desk::HubDesk;
pub use leftovers::remove_leftovers;
pub use newcomers::ask_new_lanes;
pub use restore::restore_missing;
pub use settings::{CommandSpec, LyricsSettings};
pub use sweep::enqueue_new;

use crate::hub::{Hub, HubRuntime};
use crate::sources::LinkSpec;
use futures_util::future::{join, join_all};
use segue_core::driver::lyrics::{Codec, LaneState, Lanes, Worker};
use segue_core::io::{Clock, StoreError};
use segue_core::provider::{Provider, Server};
use segue_sqlite::LaneStateRow;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
/// The channel through which [`tend`] is told to stop.
pub use tokio::sync::watch;

/// What a hub knows of looking songs up.
#[derive(Debug)]
pub struct Lookups {
    lanes: Arc<Lanes>,
    changed: tokio::sync::Notify,
    /// Folders have been read.
    passed: tokio::sync::Notify,
}

impl Lookups {
    /// No lanes yet: see [`take_up`].
    pub fn new(settings: &LyricsSettings) -> Self {
        Lookups {
            lanes: Arc::new(Lanes::new(settings.book(BTreeMap::new()))),
            changed: tokio::sync::Notify::new(),
            passed: tokio::sync::Notify::new(),
        }
    }

    /// The lanes with their breakers.
    pub fn lanes(&self) -> &Arc<Lanes> {
        &self.lanes
    }

    /// The set of lanes as one number, which new rows of the queue are stamped with (contracts section 5).
    pub fn providers_version(&self) -> u32 {
        self.lanes.setup().providers_version
    }

    /// The library was read anew: what is new is to be put into the queue, and what of ours is gone from its folders is
    /// to be written again.
    pub fn library_changed(&self) {
        self.changed.notify_one();
        self.passed.notify_one();
    }
}

/// Takes up the lanes of `settings`: at the start, and again when they were changed. What is stored of their breakers and
/// paces still counts; a lane that is in use goes on as it is.
///
/// # Errors
/// The store's.
pub async fn take_up<R: HubRuntime>(
    hub: &Hub<R>,
    settings: &LyricsSettings,
) -> Result<(), StoreError> {
    let mut codecs: Vec<Arc<dyn Codec>> = Vec::new();
    for provider in &settings.providers {
        match Provider::new(provider.clone()) {
            Ok(provider) => codecs.push(Arc::new(provider)),
            Err(unusable) => {
                tracing::error!(lane = provider.name, "not asked: {unusable}");
            }
        }
    }
    take_up_codecs(hub, settings, codecs).await
}

/// As [`take_up`], with these codecs for the settings' providers.
///
/// # Errors
/// The store's.
pub async fn take_up_codecs<R: HubRuntime>(
    hub: &Hub<R>,
    settings: &LyricsSettings,
    codecs: Vec<Arc<dyn Codec>>,
) -> Result<(), StoreError> {
    let stored = lane_states(hub.read(|r| r.lanes()).await?);
    let (now, wall) = (hub.clock().now(), hub.clock().wall());
    let mut book = settings.book(servers(hub));
    book.seed = hub.settings().lyrics.seed;
    hub.lookups()
        .lanes
        .take_up(codecs, book, &stored, now, wall);
    hub.lookups().changed.notify_one();
    hub.wanted().ring();
    Ok(())
}

/// How lanes stood when they were stored, by name.
pub(crate) fn lane_states(rows: Vec<LaneStateRow>) -> BTreeMap<String, LaneState> {
    let state = |row: LaneStateRow| {
        let state = LaneState {
            name: row.lane.clone(),
            breaker: row.breaker,
            next_call_at: row.next_call_at,
        };
        (row.lane, state)
    };
    rows.into_iter().map(state).collect()
}

/// The Subsonic sources, for the lane that asks them.
fn servers<R: HubRuntime>(hub: &Hub<R>) -> BTreeMap<String, Server> {
    let sources = hub.sources();
    let servers = sources.iter().filter_map(|source| match source.link() {
        LinkSpec::Subsonic { endpoint, .. } => {
            let server = Server {
                endpoint: endpoint.clone(),
                auth: source.auth_or_default(),
                structured: None,
            };
            Some((source.id().to_owned(), server))
        }
        LinkSpec::Folder { .. } => None,
    });
    servers.collect()
}

/// Makes sidecars due that earlier processes left half done. For the start, when nobody else works on the queue.
///
/// # Errors
/// The store's.
pub async fn recover<R: HubRuntime>(hub: &Hub<R>) -> Result<(), StoreError> {
    let now = hub.clock().wall();
    let left = hub.write(move |w| w.recover_deliveries(now)).await?;
    if left > 0 {
        tracing::info!(sidecars = left, "left half done, and gone on with");
    }
    Ok(())
}

/// Looks songs up with `workers` workers until `stopping` says so; then songs under way are given back.
pub async fn tend<R: HubRuntime>(hub: Hub<R>, workers: u32, stopping: watch::Receiver<bool>) {
    let working = (0..workers).map(|number| {
        let worker = worker(&hub, number);
        let stop = stopped(stopping.clone());
        async move { worker.run(stop).await }
    });
    let sweeping = async {
        let stop = pin!(stopped(stopping.clone()));
        let sweep = pin!(join(sweep::tend(&hub), restore::tend(&hub)));
        futures_util::future::select(stop, sweep).await;
    };
    join(join_all(working), sweeping).await;
}

/// Worker `number` of a hub, for whoever makes its steps.
pub fn worker<R: HubRuntime>(hub: &Hub<R>, number: u32) -> Worker<R, HubDesk<R>> {
    Worker {
        runtime: hub.runtime().clone(),
        desk: HubDesk::new(hub.clone(), number),
        lanes: Arc::clone(hub.lookups().lanes()),
        style: hub.settings().lyrics.style,
    }
}

async fn stopped(mut stopping: watch::Receiver<bool>) {
    // Whoever could say so is gone: that is a stop as well.
    let _ = stopping.wait_for(|stop| *stop).await;
}
