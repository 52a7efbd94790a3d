//! The real world as one bundle: tokio's clock, real sockets, SQLite on its threads, files beside the music.

use crate::crew::Crew;
use segue_core::io::Runtime;
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::shelf::FolderShelf;
use segue_runtime_tokio::store::SqliteStore;
use std::future::pending;
use std::sync::{Arc, OnceLock};

/// What a hub in production runs on.
#[derive(Clone)]
pub struct World {
    clock: TokioClock,
    network: TokioNetwork,
    store: SqliteStore,
    shelf: FolderShelf,
    crew: Arc<OnceLock<Crew>>,
}

impl World {
    /// Bundles its parts.
    pub fn new(clock: TokioClock, network: TokioNetwork, store: SqliteStore) -> Self {
        World {
            clock,
            network,
            store,
            shelf: FolderShelf::default(),
            crew: Arc::default(),
        }
    }
}

impl World {
    /// Answers for these folders from now on.
    pub fn set_folders(&self, folders: segue_runtime_tokio::net::Folders) {
        self.network.set_folders(folders);
    }

    /// Answers with these programs from now on.
    pub fn set_commands(&self, commands: segue_runtime_tokio::net::Commands) {
        self.network.set_commands(commands);
    }

    /// Writes beside the music below these roots, by instance, from now on, and nowhere else.
    pub fn set_shelves(&self, roots: segue_runtime_tokio::shelf::Roots) {
        self.shelf.set_roots(roots);
    }

    /// Holds this place among those that work on the queue, for as long as the world is used.
    pub fn set_crew(&self, crew: Crew) {
        // It is taken once, at the start.
        let _ = self.crew.set(crew);
    }

    /// Stores what was promised and closes the database.
    pub async fn close(&self) {
        self.store.close().await;
    }
}

impl Runtime for World {
    type Clock = TokioClock;
    type Network = TokioNetwork;
    type Store = SqliteStore;
    type Shelf = FolderShelf;

    fn clock(&self) -> &TokioClock {
        &self.clock
    }

    fn network(&self) -> &TokioNetwork {
        &self.network
    }

    fn store(&self) -> &SqliteStore {
        &self.store
    }

    fn shelf(&self) -> &FolderShelf {
        &self.shelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The process is shutting down: whoever asked is dropped next.
                Err(_) => pending().await,
            },
        }
    }
}
