//! The real clocks: tokio's monotonic one, and the wall.

use segue_core::io::Clock;
use segue_core::time::{Tick, Wall};
use std::future::Future;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Tells real time, and waits on tokio's timer. Under tokio's paused time, `now` and `sleep_until` stand still with it.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    origin: Instant,
}

impl TokioClock {
    /// A clock that starts now. A process has one and clones it: ticks of two clocks do not compare.
    pub fn new() -> Self {
        TokioClock {
            origin: Instant::now(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        TokioClock::new()
    }
}

/// The longest wait asked of tokio at once; its timer cannot hold much more than two years.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Clock for TokioClock {
    fn now(&self) -> Tick {
        Tick::ZERO + self.origin.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn wall(&self) -> Wall {
        let millis = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        // A clock set before 1970 is wrong, but not a reason to stop.
        Wall(
            match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
                Ok(since) => millis(since),
                Err(before) => -millis(before.duration()),
            },
        )
    }

    fn sleep_until(&self, at: Tick) -> impl Future<Output = ()> + Send + 'static {
        let clock = *self;
        async move {
            loop {
                let left = at.since(clock.now());
                if left.is_zero() {
                    return;
                }
                tokio::time::sleep_until(Instant::now() + left.min(LONGEST)).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[test]
    fn a_sleep_is_over_when_its_tick_has_passed_and_not_before() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let clock = TokioClock::new();
        assert_eq!(clock.sleep_until(clock.now()).now_or_never(), Some(()));
        assert_eq!(clock.sleep_until(Tick::ZERO).now_or_never(), Some(()));
        let tomorrow = clock.now() + Duration::from_secs(24 * 60 * 60);
        assert_eq!(clock.sleep_until(tomorrow).now_or_never(), None);
        let never = Tick::from_nanos(u64::MAX);
        assert_eq!(clock.sleep_until(never).now_or_never(), None);
    }

    #[test]
    fn the_wall_is_in_this_century() {
        assert!(TokioClock::new().wall() > Wall(1_700_000_000_000));
    }
}
