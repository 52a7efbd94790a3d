//! A committed stream: counts, waits, and decides what the end of the upstream means.
//!
//! Contracts section 3, rules 3 and 7. The machine sees lengths, never bytes.

use crate::io::NetError;
use crate::time::Tick;
use crate::twin::{self, Twin};
use std::time::Duration;

/// How a committed stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Everything that was announced has been handed over.
    Completed,
    /// The client went away first.
    ClientGone,
    /// The upstream ended, broke or ran over short of what it had announced.
    Truncated,
    /// The upstream stayed silent longer than the idle budget while we waited.
    Stalled,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Hand over this many bytes of the chunk; less than the chunk only when it runs past the announced length.
    Deliver(u64),
    /// Ask a proved copy for everything from this offset of the body, or break the client's connection when there is none.
    Resume {
        /// Bytes already handed over.
        from: u64,
        /// Why the last source is given up.
        ending: Ending,
    },
    /// Break the client's connection, short of its length, promptly.
    Break(Ending),
    /// End the client's response cleanly.
    Finish,
}

/// The relay of one committed body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relay {
    announced: Option<u64>,
    passed: u64,
    idle: Duration,
    resumable: bool,
    /// Since when we have been waiting for the upstream; `None` while the client is the slow one.
    waiting_since: Option<Tick>,
}

impl Relay {
    /// Begins behind the commit point. `announced` is the length of the body in bytes when it is known
    /// exactly; `resumable` says that another source may continue it (raw bytes, known length, configured).
    pub fn new(announced: Option<u64>, idle: Duration, resumable: bool) -> Self {
        Relay {
            announced,
            passed: 0,
            idle,
            resumable: resumable && announced.is_some(),
            waiting_since: None,
        }
    }

    /// The client wants bytes and the upstream has none ready.
    pub fn waiting(&mut self, now: Tick) {
        self.waiting_since.get_or_insert(now);
    }

    /// The upstream sent `len` bytes.
    pub fn chunk(&mut self, len: u64) -> Step {
        if !twin::is(Twin::IdleWhilePaused) {
            self.waiting_since = None;
        }
        let room = self.remaining().unwrap_or(u64::MAX);
        let deliver = match twin::is(Twin::OverlongDelivered) {
            true => len,
            false => len.min(room),
        };
        self.passed += deliver;
        Step::Deliver(deliver)
    }

    /// The upstream ended its body.
    pub fn ended(&mut self) -> Step {
        let whole = self.is_complete() || self.announced.is_none();
        if whole || twin::is(Twin::ShortBodyEndsCleanly) {
            return Step::Finish;
        }
        self.give_up(Ending::Truncated)
    }

    /// The upstream broke. A body that is already complete is complete all the same.
    pub fn broke(&mut self, _error: NetError) -> Step {
        if self.is_complete() || twin::is(Twin::BreakEndsCleanly) {
            return Step::Finish;
        }
        self.give_up(Ending::Truncated)
    }

    /// Whether the idle budget has run out at `now`.
    pub fn timed_out(&mut self, now: Tick) -> Option<Step> {
        let since = self.waiting_since?;
        (now >= since + self.idle).then(|| self.give_up(Ending::Stalled))
    }

    /// When to ask [`Self::timed_out`]. `None` while the client is the one that is waited for: a paused
    /// client is not a dead source.
    pub fn poll_timeout(&self) -> Option<Tick> {
        self.waiting_since.map(|since| since + self.idle)
    }

    /// Bytes handed over so far.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// What is still to come, when that is known.
    pub fn remaining(&self) -> Option<u64> {
        self.announced
            .map(|total| total.saturating_sub(self.passed))
    }

    /// Whether all that was announced has been handed over.
    pub fn is_complete(&self) -> bool {
        self.announced.is_some_and(|total| self.passed >= total)
    }

    fn give_up(&mut self, ending: Ending) -> Step {
        self.waiting_since = None;
        if self.resumable {
            Step::Resume {
                from: self.passed,
                ending,
            }
        } else {
            Step::Break(ending)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: Duration = Duration::from_secs(30);

    #[test]
    fn a_paused_client_is_not_a_dead_source() {
        let mut relay = Relay::new(Some(10), IDLE, false);
        assert_eq!(relay.chunk(4), Step::Deliver(4));
        assert_eq!(relay.poll_timeout(), None);
        assert_eq!(relay.timed_out(Tick::from_millis(3_600_000)), None);
    }

    #[test]
    fn a_silent_upstream_is_given_up_after_the_idle_budget() {
        let mut relay = Relay::new(Some(10), IDLE, false);
        relay.waiting(Tick::from_millis(100));
        relay.waiting(Tick::from_millis(20_000));
        assert_eq!(relay.poll_timeout(), Some(Tick::from_millis(30_100)));
        assert_eq!(relay.timed_out(Tick::from_millis(30_099)), None);
        assert_eq!(
            relay.timed_out(Tick::from_millis(30_100)),
            Some(Step::Break(Ending::Stalled))
        );
    }

    #[test]
    fn a_body_short_of_its_length_never_ends_cleanly() {
        let mut relay = Relay::new(Some(10), IDLE, false);
        relay.chunk(9);
        assert_eq!(relay.ended(), Step::Break(Ending::Truncated));
        assert_eq!(relay.broke(NetError::Reset), Step::Break(Ending::Truncated));
        relay.chunk(1);
        assert_eq!(relay.broke(NetError::Reset), Step::Finish);
    }

    #[test]
    fn nothing_beyond_the_announced_length_is_delivered() {
        let mut relay = Relay::new(Some(10), IDLE, false);
        assert_eq!(relay.chunk(25), Step::Deliver(10));
        assert_eq!(relay.chunk(5), Step::Deliver(0));
        assert_eq!(relay.passed(), 10);
    }

    #[test]
    fn only_a_body_of_known_length_is_resumed() {
        let mut relay = Relay::new(Some(10), IDLE, true);
        relay.chunk(3);
        assert_eq!(
            relay.broke(NetError::Reset),
            Step::Resume {
                from: 3,
                ending: Ending::Truncated
            }
        );
        let mut relay = Relay::new(None, IDLE, true);
        relay.chunk(3);
        assert_eq!(relay.broke(NetError::Reset), Step::Break(Ending::Truncated));
    }
}
