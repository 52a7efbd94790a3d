//! What happened in a simulation, in order, with the simulated time.

use crate::SimClock;
use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::Clock;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

/// One line of a timeline.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// When.
    pub at: Tick,
    /// On which node.
    pub node: String,
    /// What.
    pub event: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.at.as_nanos();
        write!(
            f,
            "{:>6}.{:06} {:<10} {}",
            nanos / 1_000_000_000,
            nanos / 1_000 % 1_000_000,
            self.node,
            self.event
        )
    }
}

/// The timeline of one simulation; clones share it.
#[derive(Clone)]
pub struct SimTrace {
    clock: SimClock,
    log: Arc<Mutex<Vec<Entry>>>,
}

impl SimTrace {
    /// An empty one.
    pub fn new(clock: SimClock) -> Self {
        SimTrace {
            clock,
            log: Arc::default(),
        }
    }

    /// Something happened.
    pub fn note(&self, node: &str, event: impl Into<String>) {
        let entry = Entry {
            at: self.clock.now(),
            node: node.to_owned(),
            event: event.into(),
        };
        lock(&self.log).push(entry);
    }

    /// Everything so far.
    pub fn entries(&self) -> Vec<Entry> {
        lock(&self.log).clone()
    }

    /// A hash over everything so far. `DefaultHasher::new()` has fixed keys, unlike that of a `HashMap`.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        lock(&self.log).hash(&mut hasher);
        hasher.finish()
    }
}
