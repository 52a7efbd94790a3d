//! A breaker on disk, so that a restart loop does not hammer a provider (B10).

use super::{Breaker, Policy, RETRY_AFTER_LIMIT, State};
use crate::time::{Tick, Wall};
use crate::twin::{self, Twin};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What of a breaker survives a restart.
///
/// Permits do not: their calls died with the process. A probe that was out still holds its slot
/// until its deadline, or each restart of a crashing process would send one more.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Persisted {
    /// Trips since the last time it closed.
    pub trips: u32,
    /// [`super::Signal::Transient`]s in a row while closed.
    pub transient_run: u32,
    /// Whether it ever answered.
    pub ever_succeeded: bool,
    /// When the next call may go through; `None` when it was closed.
    pub open_until: Option<Wall>,
    /// The `retry_after` that made the window, the one reason why it may exceed the cap.
    pub retry_after: Duration,
    /// When this was written.
    pub saved_at: Wall,
}

impl Breaker {
    /// What to store at `now`, which the wall clock calls `wall`.
    pub fn snapshot(&self, now: Tick, wall: Wall) -> Persisted {
        let (transient_run, open_until, retry_after) = match &self.state {
            State::Closed { transient_run } => (*transient_run, None, Duration::ZERO),
            State::Open {
                until,
                retry_after,
                probes,
                ..
            } => {
                let full = probes.len() >= self.policy.probes as usize;
                let slot = probes.iter().map(|p| p.deadline).min().filter(|_| full);
                let left = slot.map_or(*until, |s| s.max(*until)).since(now);
                // A stored moment has whole milliseconds; round up, never to be more permissive.
                let reopens = wall + (left + Duration::from_nanos(999_999));
                (0, Some(reopens), *retry_after)
            }
        };
        Persisted {
            trips: self.trips,
            transient_run,
            ever_succeeded: self.ever_succeeded,
            open_until,
            retry_after,
            saved_at: wall,
        }
    }

    /// The breaker that `persisted` describes, at `now`, which the wall clock calls `wall`.
    ///
    /// It holds at most as long as it still had to when it was stored, even if the wall clock has
    /// stepped back since, and at most for the cap or the `retry_after` in force (B10).
    pub fn restore(policy: Policy, persisted: Persisted, now: Tick, wall: Wall) -> Self {
        let mut breaker = Breaker::new(policy);
        breaker.trips = persisted.trips;
        breaker.ever_succeeded = persisted.ever_succeeded;
        breaker.state = match persisted.open_until {
            None => State::Closed {
                transient_run: persisted.transient_run,
            },
            Some(until) => {
                let retry_after = persisted.retry_after.min(RETRY_AFTER_LIMIT);
                let from = match twin::is(Twin::StoredWaitGrows) {
                    true => wall,
                    false => wall.max(persisted.saved_at),
                };
                let left = until.millis_since(from).max(0);
                let left = Duration::from_millis(left.unsigned_abs());
                State::Open {
                    until: now + left.min(policy.cap.max(retry_after)),
                    retry_after,
                    last_failure: Some(now),
                    probes: Vec::new(),
                }
            }
        };
        breaker
    }
}
