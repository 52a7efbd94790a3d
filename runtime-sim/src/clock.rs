//! Simulated time, monotonic and wall.

use madsim::time::TimeHandle;
use segue_core::io::Clock;
use segue_core::{Tick, Wall};
use std::future::Future;
use std::time::SystemTime;

/// Holds the handle rather than looking it up: futures are also dropped after the runtime has left
/// its context, and drop code reads the clock.
#[derive(Clone)]
pub struct SimClock(TimeHandle);

impl SimClock {
    /// The clock of the simulation this is called in.
    pub fn current() -> Self {
        SimClock(TimeHandle::current())
    }
}

impl Clock for SimClock {
    fn now(&self) -> Tick {
        Tick::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn wall(&self) -> Wall {
        let since = self.0.now_time().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        Wall(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    fn sleep_until(&self, at: Tick) -> impl Future<Output = ()> + Send + 'static {
        let handle = self.0.clone();
        let wait = at.since(self.now());
        async move { handle.sleep(wait).await }
    }
}
