//! Simulated time, monotonic and wall.

use madsim::time::TimeHandle;
use segue_core::io::Clock;
use segue_core::{Tick, Wall};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

/// Holds the handle rather than looking it up: futures are also dropped after the runtime has left
/// its context, and drop code reads the clock.
#[derive(Clone)]
pub struct SimClock {
    time: TimeHandle,
    /// Milliseconds by which the wall clock was set.
    set_by: Arc<AtomicI64>,
}

impl SimClock {
    /// The clock of the simulation this is called in.
    pub fn current() -> Self {
        SimClock {
            time: TimeHandle::current(),
            set_by: Arc::default(),
        }
    }

    /// Sets the wall clock, of this and its clones, forward or back by so many milliseconds. Ticks go on as they were.
    pub fn set_wall_by(&self, millis: i64) {
        self.set_by.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Tick {
        Tick::from_nanos(u64::try_from(self.time.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn wall(&self) -> Wall {
        let since = self.time.now_time().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        let true_time = i64::try_from(millis).unwrap_or(i64::MAX);
        Wall(true_time.saturating_add(self.set_by.load(Ordering::Relaxed)))
    }

    fn sleep_until(&self, at: Tick) -> impl Future<Output = ()> + Send + 'static {
        let handle = self.time.clone();
        let wait = at.since(self.now());
        async move { handle.sleep(wait).await }
    }
}
