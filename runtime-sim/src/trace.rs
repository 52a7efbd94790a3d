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

/// The lines of a timeline. Made outside the simulation, it is there even when the simulation panics.
pub type Timeline = Arc<Mutex<Vec<Entry>>>;

/// Writes the timeline of one simulation; clones share it.
#[derive(Clone)]
pub struct SimTrace {
    clock: SimClock,
    lines: Timeline,
}

impl SimTrace {
    /// Writes to `lines`.
    pub fn new(clock: SimClock, lines: Timeline) -> Self {
        SimTrace { clock, lines }
    }

    /// Something happened.
    pub fn note(&self, node: &str, event: impl Into<String>) {
        let entry = Entry {
            at: self.clock.now(),
            node: node.to_owned(),
            event: event.into(),
        };
        lock(&self.lines).push(entry);
    }

    /// The number of lines so far, and a hash over them. `DefaultHasher::new()` has fixed keys, unlike that of a
    /// `HashMap`.
    pub fn fingerprint(&self) -> (usize, u64) {
        let mut hasher = DefaultHasher::new();
        let lines = lock(&self.lines);
        lines.hash(&mut hasher);
        (lines.len(), hasher.finish())
    }
}
