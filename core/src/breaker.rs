//! Whether a source or a lane may be called, and what its last answers mean.
//!
//! Contracts section 1. Pure values: time is passed in, and reading changes nothing.
//!
//! ```
//! use segue_core::Tick;
//! use segue_core::breaker::{Admission, Bank, Lane, Phase, Policy, Signal};
//! use std::time::Duration;
//!
//! let (lane, mut bank) = (Lane(0), Bank::new());
//! bank.register(lane, Policy::instance(Duration::from_secs(60)));
//! let Admission::Granted(permit) = bank.admit(lane, Tick::ZERO) else { panic!() };
//! bank.settle(Tick::ZERO, permit, Signal::Transient); // one failure is enough for an instance
//!
//! let minute = Tick::ZERO + Duration::from_secs(60);
//! assert!(matches!(bank.admit(lane, Tick::ZERO), Admission::Refused { until } if until == minute));
//! assert_eq!(bank.view(lane, minute).unwrap().phase, Phase::HalfOpen);
//! let Admission::Granted(probe) = bank.admit(lane, minute) else { panic!() };
//! bank.settle(minute, probe, Signal::Success);
//! assert_eq!(bank.view(lane, minute).unwrap().phase, Phase::Closed);
//! ```

mod bank;
mod persisted;

pub use bank::Bank;
pub use persisted::Persisted;

use crate::time::Tick;
use crate::twin::{self, Twin};
use std::time::Duration;

/// The longest `retry_after` that is honoured (B7).
pub const RETRY_AFTER_LIMIT: Duration = Duration::from_secs(6 * 3600);

/// No moment: what a lane that is not registered is refused until.
pub(crate) const NEVER: Tick = Tick::from_nanos(u64::MAX);

/// A source or a provider, by a number that means the same for as long as the process runs.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lane(pub u32);

/// How soon a breaker opens and how long it stays open.
///
/// Zero probes, a zero threshold and a zero probe deadline would wedge a breaker, so they count as
/// the least that does not.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Policy {
    /// The window after the first trip; each further trip doubles it.
    pub base: Duration,
    /// The longest window that is not a `retry_after`.
    pub cap: Duration,
    /// [`Signal::Transient`]s in a row that trip it.
    pub transient_threshold: u32,
    /// Permits that may be out while it is half-open (B1).
    pub probes: u32,
    /// How long after its admission a probe holds its slot and its verdict counts (B9).
    pub probe_deadline: Duration,
    /// While a probe is out, how soon the others are to ask again: it may be back long before its deadline.
    pub probe_recheck: Duration,
}

impl Policy {
    /// For stream sources: one failure keeps a source out for `suspect`, and waits do not grow.
    ///
    /// The probe deadline is twice the whole opening budget (15 s, contracts 3.3), so only a hung
    /// driver meets it. Nobody waits for a probe there: a listener is given another source.
    pub fn instance(suspect: Duration) -> Self {
        Policy {
            base: suspect,
            cap: suspect,
            transient_threshold: 1,
            probes: 1,
            probe_deadline: Duration::from_secs(30),
            probe_recheck: Duration::from_secs(30),
        }
    }

    /// For lyrics lanes: patient with hiccups, ever more patient with a lane that throttles. Songs that want a lane
    /// whose probe is out are looked at again every two seconds, so that none waits for long once it is well; that
    /// asks no lane, and a probe is out for as long as one lookup takes.
    pub fn provider() -> Self {
        Policy {
            base: Duration::from_secs(60),
            cap: Duration::from_secs(1800),
            transient_threshold: 5,
            probes: 1,
            probe_deadline: Duration::from_secs(60),
            probe_recheck: Duration::from_secs(2),
        }
    }

    /// How long trip number `trips` keeps the breaker open: `min(cap, base * 2^(trips-1))`,
    /// saturating (B6). Zero trips are no window.
    pub fn window(&self, trips: u32) -> Duration {
        let Some(doublings) = trips.checked_sub(1) else {
            return Duration::ZERO;
        };
        let base = self.base.as_nanos();
        // A `Duration` has at most 94 bits of nanoseconds, so what does not overflow is exact.
        if doublings > base.leading_zeros() {
            return if base == 0 { Duration::ZERO } else { self.cap };
        }
        let window = base.checked_shl(doublings).unwrap_or(0);
        if window >= self.cap.as_nanos() {
            return self.cap;
        }
        const NANOS: u128 = 1_000_000_000;
        let (secs, nanos) = (window / NANOS, window % NANOS);
        // Both fit: the window is below `cap`, which is a `Duration`.
        Duration::new(secs as u64, nanos as u32)
    }

    fn sane(self) -> Self {
        Policy {
            probes: self.probes.max(1),
            probe_deadline: self.probe_deadline.max(Duration::from_nanos(1)),
            probe_recheck: self.probe_recheck.max(Duration::from_nanos(1)),
            ..self
        }
    }
}

/// What came of a call, as far as its breaker cares.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Signal {
    /// It answered.
    Success,
    /// It answered, and cleanly said "not here".
    Benign,
    /// It asked us to wait.
    Throttled {
        /// For how long, if it said so. Clamped to [`RETRY_AFTER_LIMIT`].
        retry_after: Option<Duration>,
    },
    /// It does not accept our credentials.
    AuthRejected,
    /// It wants new credentials; asking again before they are there is pointless.
    RenewalRequired,
    /// It failed in a way that may pass.
    Transient,
    /// We gave the call up: cancelled, lost a race, the client went away. Says nothing (B4, B8).
    Abandoned,
}

/// Leave to make one call. Settle it with what came of it; a driver that drops the call settles it
/// as [`Signal::Abandoned`].
#[derive(PartialEq, Eq, Hash, Debug)]
#[must_use = "a permit that is never settled is a leak (B2)"]
pub struct Permit {
    lane: Lane,
    /// Dates it: a verdict from before a trip or a close is void (B3).
    generation: u32,
    /// Names it among the probes of one generation (B9).
    serial: u32,
    probe: bool,
}

impl Permit {
    /// The lane that may be called.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Whether the breaker was not closed when this was granted.
    pub fn is_probe(&self) -> bool {
        self.probe
    }
}

/// The answer to a request for a [`Permit`].
#[derive(PartialEq, Eq, Debug)]
#[must_use = "a permit that is never settled is a leak (B2)"]
pub enum Admission {
    /// Make the call.
    Granted(Permit),
    /// Do not.
    Refused {
        /// When it is worth asking again.
        until: Tick,
    },
}

/// Where a breaker stands.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    /// Calls go through.
    Closed,
    /// No call goes through.
    Open {
        /// Until then.
        until: Tick,
    },
    /// Its window has passed; the next call is a probe.
    HalfOpen,
}

/// A breaker as it is at one moment (B11).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// Where it stands.
    pub phase: Phase,
    /// Trips since the last time it closed.
    pub trips: u32,
    /// [`Signal::Transient`]s in a row while closed.
    pub transient_run: u32,
    /// Whether it ever answered: tells "wrong credentials" from "credentials expired".
    pub ever_succeeded: bool,
    /// Goes up at each trip and each close.
    pub generation: u32,
}

/// One breaker.
///
/// Half-open is not a state but an open breaker whose time has come, so recovery needs no traffic
/// to be seen (B11), and a last-resort call still out at that moment is the probe. Everything that
/// can be out under one generation is therefore either all regular calls or all probes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Breaker {
    policy: Policy,
    lane: Lane,
    state: State,
    generation: u32,
    serial: u32,
    trips: u32,
    ever_succeeded: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum State {
    Closed {
        transient_run: u32,
    },
    Open {
        until: Tick,
        /// The `retry_after` of this window: the one reason why it may exceed the cap.
        retry_after: Duration,
        /// `None` when it was only silent ([`Breaker::settle_silent`]).
        last_failure: Option<Tick>,
        probes: Vec<Probe>,
    },
}

/// A slot that is taken until `deadline`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Probe {
    serial: u32,
    deadline: Tick,
}

impl Breaker {
    /// A closed breaker that has seen nothing, for `Lane(0)`; a [`Bank`] tells them apart.
    pub fn new(policy: Policy) -> Self {
        Breaker::at(Lane(0), policy, 0)
    }

    fn at(lane: Lane, policy: Policy, generation: u32) -> Self {
        Breaker {
            policy: policy.sane(),
            lane,
            state: State::Closed { transient_run: 0 },
            generation,
            serial: 0,
            trips: 0,
            ever_succeeded: false,
        }
    }

    /// Whether a call may start. While open, says when to ask again.
    pub fn admit(&mut self, now: Tick) -> Admission {
        match &mut self.state {
            State::Closed { .. } => Admission::Granted(self.permit(false)),
            State::Open { until, .. } if now < *until => Admission::Refused { until: *until },
            State::Open { probes, .. } => match first_free(probes, self.policy.probes, now) {
                Some(free) if !twin::is(Twin::ProbeFlood) => Admission::Refused {
                    until: free.min(now + self.policy.probe_recheck),
                },
                Some(_) | None => self.probe(now),
            },
        }
    }

    /// Like [`Breaker::admit`], for a caller with nothing else left to try (contracts 3.2): while
    /// open, one extra call, and not sooner than `min_age` after the last failure.
    pub fn admit_last_resort(&mut self, now: Tick, min_age: Duration) -> Admission {
        let State::Open {
            until,
            last_failure,
            probes,
            ..
        } = &mut self.state
        else {
            return self.admit(now);
        };
        if now >= *until {
            return self.admit(now);
        }
        let mut aged = last_failure.map_or(now, |at| at + min_age);
        if twin::is(Twin::LastResortAtOnce) {
            aged = now;
        }
        let free = first_free(probes, 1, now).unwrap_or(now);
        if aged <= now && free <= now {
            return self.probe(now);
        }
        Admission::Refused {
            until: aged.max(free).min(*until),
        }
    }

    /// Hands a permit back with what came of it.
    pub fn settle(&mut self, now: Tick, permit: Permit, signal: Signal) {
        if permit.generation != self.generation && !twin::is(Twin::StaleSignalAccepted) {
            return;
        }
        if permit.probe && !self.take_slot(&permit, now) {
            return;
        }
        match signal {
            Signal::Success => {
                self.ever_succeeded = true;
                self.close();
            }
            Signal::Benign => {
                self.ever_succeeded |= twin::is(Twin::MissProvesCredentials);
                self.close();
            }
            Signal::Throttled { retry_after } => {
                let asked = retry_after.unwrap_or_default();
                self.trip(now, honoured(asked));
            }
            Signal::AuthRejected => self.trip(now, Duration::ZERO),
            Signal::RenewalRequired => self.open(now, self.policy.cap, Duration::ZERO),
            Signal::Transient => self.transient(now),
            Signal::Abandoned if twin::is(Twin::AbandonedCounts) => self.transient(now),
            Signal::Abandoned => {}
        }
    }

    /// Hands back the permit of a call that another one won against before it was even accepted. The lane
    /// is left alone like one that failed, for most that do not accept are switched off. Yet nothing has failed: should
    /// it be all that is left, it was merely far away, and a last resort does not wait for it.
    pub fn settle_silent(&mut self, now: Tick, permit: Permit) {
        let before = match self.state {
            State::Open { last_failure, .. } => last_failure,
            State::Closed { .. } => None,
        };
        let generation = self.generation;
        self.settle(now, permit, Signal::Transient);
        if let State::Open { last_failure, .. } = &mut self.state
            && generation != self.generation
        {
            *last_failure = before;
        }
    }

    /// How it stands at `now`. Changes nothing (B11).
    pub fn view(&self, now: Tick) -> View {
        let (phase, transient_run) = match self.state {
            State::Closed { transient_run } => (Phase::Closed, transient_run),
            State::Open { until, .. } if now < until || twin::is(Twin::RecoveryUnseen) => {
                (Phase::Open { until }, 0)
            }
            State::Open { .. } => (Phase::HalfOpen, 0),
        };
        View {
            phase,
            trips: self.trips,
            transient_run,
            ever_succeeded: self.ever_succeeded,
            generation: self.generation,
        }
    }

    fn permit(&mut self, probe: bool) -> Permit {
        self.serial = self.serial.wrapping_add(1);
        Permit {
            lane: self.lane,
            generation: self.generation,
            serial: self.serial,
            probe,
        }
    }

    fn probe(&mut self, now: Tick) -> Admission {
        let permit = self.permit(true);
        if let State::Open { probes, .. } = &mut self.state {
            probes.push(Probe {
                serial: permit.serial,
                deadline: now + self.policy.probe_deadline,
            });
            let most = self.policy.probes as usize;
            assert!(probes.len() <= most, "B1: {} probes out", probes.len());
        }
        Admission::Granted(permit)
    }

    /// Frees the slot of a probe; false when the probe had outlived it, so that its verdict is void.
    fn take_slot(&mut self, permit: &Permit, now: Tick) -> bool {
        let State::Open { probes, .. } = &mut self.state else {
            return false;
        };
        match probes.iter().position(|p| p.serial == permit.serial) {
            Some(i) => now < probes.remove(i).deadline || twin::is(Twin::LateVerdictCounts),
            None => false,
        }
    }

    fn close(&mut self) {
        self.trips = 0;
        match &mut self.state {
            State::Closed { transient_run } => *transient_run = 0,
            State::Open { .. } => {
                self.state = State::Closed { transient_run: 0 };
                self.generation = self.generation.wrapping_add(1);
            }
        }
    }

    fn transient(&mut self, now: Tick) {
        match &mut self.state {
            State::Closed { transient_run }
                if transient_run.saturating_add(1) < self.policy.transient_threshold =>
            {
                *transient_run += 1;
            }
            State::Closed { .. } | State::Open { .. } => self.trip(now, Duration::ZERO),
        }
    }

    fn trip(&mut self, now: Tick, retry_after: Duration) {
        self.trips = self.trips.saturating_add(1);
        let trips = match twin::is(Twin::WindowNeverGrows) {
            true => 1,
            false => self.trips,
        };
        self.open(now, self.policy.window(trips), retry_after);
    }

    fn open(&mut self, now: Tick, window: Duration, retry_after: Duration) {
        let mut until = now + window.max(retry_after);
        let mut longest = retry_after;
        if let State::Open {
            until: before,
            retry_after: asked,
            ..
        } = self.state
        {
            // A last-resort call that fails must not shorten the wait (B5).
            if before > until && !twin::is(Twin::ReopeningMovesBack) {
                until = before;
                longest = longest.max(asked);
            }
        }
        self.state = State::Open {
            until,
            retry_after: longest,
            last_failure: Some(now),
            probes: Vec::new(),
        };
        self.generation = self.generation.wrapping_add(1);
    }
}

/// The part of a `retry_after` that counts (B7).
fn honoured(asked: Duration) -> Duration {
    if twin::is(Twin::RetryAfterIgnored) {
        return Duration::ZERO;
    }
    if twin::is(Twin::RetryAfterUnclamped) {
        return asked;
    }
    asked.min(RETRY_AFTER_LIMIT)
}

/// Drops the probes that have outlived their slots; when still `most` are out, says when the first
/// slot comes free.
fn first_free(probes: &mut Vec<Probe>, most: u32, now: Tick) -> Option<Tick> {
    probes.retain(|p| now < p.deadline || twin::is(Twin::ProbeNeverExpires));
    if probes.len() < most as usize {
        return None;
    }
    probes.iter().map(|p| p.deadline).min()
}
