//! The simulated world as one bundle.

use crate::{SimClock, SimNetwork, SimShelf, SimStore};
use segue_core::io::Runtime;

/// What a hub in a simulation runs on.
#[derive(Clone)]
pub struct SimRuntime {
    clock: SimClock,
    network: SimNetwork,
    store: SimStore,
    shelf: SimShelf,
}

impl SimRuntime {
    /// Bundles its parts. Nothing may be written beside its music; see [`SimRuntime::with_shelf`].
    pub fn new(clock: SimClock, network: SimNetwork, store: SimStore) -> Self {
        SimRuntime {
            shelf: SimShelf::new(clock.clone()),
            clock,
            network,
            store,
        }
    }

    /// With this shelf.
    #[must_use]
    pub fn with_shelf(mut self, shelf: SimShelf) -> Self {
        self.shelf = shelf;
        self
    }
}

impl Runtime for SimRuntime {
    type Clock = SimClock;
    type Network = SimNetwork;
    type Store = SimStore;
    type Shelf = SimShelf;

    fn clock(&self) -> &SimClock {
        &self.clock
    }

    fn network(&self) -> &SimNetwork {
        &self.network
    }

    fn store(&self) -> &SimStore {
        &self.store
    }

    fn shelf(&self) -> &SimShelf {
        &self.shelf
    }

    /// A computation takes no simulated time.
    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        work()
    }
}
