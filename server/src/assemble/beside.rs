//! A process that only looks songs up, beside a hub on the same data directory or without one.
//!
//! It plays nothing and serves nothing, so what streams, syncs and pictures leave there is not its to tidy up.

use super::{AssembleError, GIVING_BACK, Setup, folders, join_crew, look_up, seed, shelves};
use crate::hub::{Hub, HubParts, Pictures};
use crate::lyrics;
use crate::ports::{LocalFolders, SealedPasswords};
use crate::sync;
use crate::world::World;
use bytes::Bytes;
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::secrets::KeyFile;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use std::sync::Arc;
use tokio::sync::watch;

/// Puts together what workers need on a data directory that is there.
///
/// # Errors
/// See [`AssembleError`].
pub async fn assemble_beside(mut setup: Setup) -> Result<Hub<World>, AssembleError> {
    let key = KeyFile::open_or_create(&setup.data_dir.join("segue.key"))?;
    let store = SqliteStore::open(&setup.data_dir.join("segue.db"), StoreOptions::default())?;
    let network = TokioNetwork::new().with_folders(folders(&setup.sources, None));
    let shelves = shelves(&setup.sources);
    setup.settings.lyrics.seed = seed();
    let lyrics = setup.settings.lyrics.clone();
    let hub = Hub::new(HubParts {
        runtime: World::new(TokioClock::new(), network, store),
        settings: setup.settings,
        sources: setup.sources,
        passwords: Arc::new(SealedPasswords::new(key)),
        folders: Arc::new(LocalFolders::default()),
        pictures: Arc::new(NoPictures),
    });
    join_crew(&hub, &setup.data_dir).await?;
    sync::recall(&hub).await?;
    hub.runtime().set_shelves(shelves);
    look_up(&hub, &lyrics).await?;
    Ok(hub)
}

/// Looks songs up until `shutdown` ends; those under way are given back then.
pub async fn run_beside(hub: Hub<World>, workers: u32, shutdown: impl Future<Output = ()>) {
    let (stop, stopping) = watch::channel(false);
    let looking = tokio::spawn(lyrics::tend(hub.clone(), workers, stopping));
    shutdown.await;
    stop.send_replace(true);
    if tokio::time::timeout(GIVING_BACK, looking).await.is_err() {
        tracing::warn!("a worker did not stop in time");
    }
    hub.runtime().close().await;
}

/// Who serves nothing needs none.
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
