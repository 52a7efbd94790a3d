//! The simulated world as one bundle.

use crate::{SimClock, SimNetwork, SimStore};
use segue_core::io::Runtime;

/// What a hub in a simulation runs on.
#[derive(Clone)]
pub struct SimRuntime {
    clock: SimClock,
    network: SimNetwork,
    store: SimStore,
}

impl SimRuntime {
    /// Bundles its parts.
    pub fn new(clock: SimClock, network: SimNetwork, store: SimStore) -> Self {
        SimRuntime {
            clock,
            network,
            store,
        }
    }
}

impl Runtime for SimRuntime {
    type Clock = SimClock;
    type Network = SimNetwork;
    type Store = SimStore;

    fn clock(&self) -> &SimClock {
        &self.clock
    }

    fn network(&self) -> &SimNetwork {
        &self.network
    }

    fn store(&self) -> &SimStore {
        &self.store
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
