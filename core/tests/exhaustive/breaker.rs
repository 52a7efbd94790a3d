//! One breaker and up to three callers: admit, settle with each signal, drop, and let time pass, in every
//! order, until nothing new comes.
//!
//! Time is in seconds and small; every step is also compared with the reference that remembers everything.

#[allow(dead_code, reason = "a part of it is for random steps")]
#[path = "../breaker/history.rs"]
pub(crate) mod history;
#[allow(dead_code, reason = "a part of it is for random steps")]
#[path = "../breaker/play.rs"]
pub(crate) mod play;

use crate::explore::{World, digest};
use history::Witness;
use play::{Did, LANE, SECOND, Say, Step};
use segue_core::breaker::*;
use std::time::Duration;

/// How many permits may be out at once.
const CALLERS: usize = 3;

/// Of the last-resort calls.
const MIN_AGE: u64 = 1;

/// The longest `retry_after` that is asked for.
const LONGEST: u64 = 9;

const SAYS: [Say; 9] = [
    Say::Success,
    Say::Benign,
    Say::Transient,
    Say::Abandoned,
    Say::Throttled,
    Say::ThrottledFor(1),
    Say::ThrottledFor(LONGEST),
    Say::AuthRejected,
    Say::RenewalRequired,
];

/// One breaker of this policy.
#[derive(Debug)]
pub(crate) struct OneBreaker(pub(crate) Policy);

/// The policies of the contracts, shrunk: a window that never grows and trips at once, one that doubles twice
/// and forgives a hiccup, and one that lets two probes out.
pub(crate) fn policies() -> [Policy; 3] {
    let second = Duration::from_secs(1);
    let instance = Policy {
        base: 3 * second,
        cap: 3 * second,
        transient_threshold: 1,
        probes: 1,
        probe_deadline: 2 * second,
        probe_recheck: second,
    };
    let provider = Policy {
        base: 2 * second,
        cap: 8 * second,
        transient_threshold: 2,
        ..instance
    };
    let two_probes = Policy {
        probes: 2,
        ..instance
    };
    [instance, provider, two_probes]
}

impl OneBreaker {
    fn broke(rule: &str, why: impl std::fmt::Debug) -> Result<(), String> {
        Err(format!("{rule}: {why:?}"))
    }
}

impl World for OneBreaker {
    type State = Witness;
    type Event = Step;

    fn start(&self) -> Result<Witness, String> {
        Ok(Witness::new(self.0))
    }

    fn events(&self, witness: &Witness) -> Vec<Step> {
        let out = witness.player.out.len();
        let mut events = vec![Step::Wait(SECOND)];
        if out < CALLERS {
            events.extend([
                Step::Admit,
                Step::LastResort(MIN_AGE * SECOND),
                Step::LastResort(0),
            ]);
        }
        for nth in 0..out {
            events.extend(SAYS.map(|say| Step::Settle(nth, say)));
        }
        events
    }

    fn take(&self, witness: &mut Witness, step: Step) -> Result<(), String> {
        let (before, now) = (witness.player.view(), witness.player.now);
        let did = witness.take(step)?;
        let after = witness.player.view();
        if let Did::Settled(_, facts, signal) = did {
            let stale = facts.generation != before.generation;
            let late = facts.is_probe && facts.since + self.0.probe_deadline <= now;
            let silent = signal == Signal::Abandoned;
            for (rule, void) in [("B3", stale), ("B9", late), ("B4, B8", silent)] {
                if void && before != after {
                    return Self::broke(rule, (before, after));
                }
            }
            if let Signal::Throttled { retry_after } = signal
                && !stale
                && !late
            {
                let due = now + retry_after.unwrap_or_default();
                if !matches!(after.phase, Phase::Open { until } if until >= due) {
                    return Self::broke("B7", after);
                }
            }
        }
        if let (Phase::Open { until: was }, Phase::Open { until: is }) = (before.phase, after.phase)
            && is < was
        {
            return Self::broke("B5", (before, after));
        }
        if let (Phase::Closed, Phase::Open { until }) = (before.phase, after.phase) {
            let longest = self.0.cap.max(Duration::from_secs(LONGEST));
            if until > now + longest {
                return Self::broke("B6", after);
            }
        }
        Ok(())
    }

    fn look(&self, witness: &mut Witness) -> Result<(), String> {
        let player = &witness.player;
        let view = player.view();
        let live = player.out.iter().filter(|(_, facts)| {
            let deadline = facts.since + self.0.probe_deadline;
            facts.is_probe && facts.generation == view.generation && player.now < deadline
        });
        let live = live.count();
        if live > self.0.probes as usize {
            return Self::broke("B1", (live, view));
        }
        // B11: looked at again, now and later, it is the same, and it is due in time without traffic.
        let before = player.bank.clone();
        if let Phase::Open { until } = view.phase {
            let later = player.bank.view(LANE, until).map(|v| v.phase);
            if later != Some(Phase::HalfOpen) {
                return Self::broke("B11", later);
            }
        }
        if player.bank != before || player.bank.view(LANE, player.now) != Some(view) {
            return Self::broke("B11", view);
        }
        Ok(())
    }

    /// Everything that matters, and nothing that only counts: moments from now on, generations by whether they
    /// are this one, trips until the window stops growing.
    fn canon(&self, witness: &Witness) -> u64 {
        let (player, now) = (&witness.player, witness.player.now);
        let view = player.view();
        let (open, left) = match view.phase {
            Phase::Closed => (0, Duration::ZERO),
            Phase::HalfOpen => (1, Duration::ZERO),
            Phase::Open { until } => (2, until.since(now)),
        };
        let mut out: Vec<_> = (player.out.iter())
            .map(|(_, facts)| {
                let current = facts.generation == view.generation;
                // Whoever is let through while it is closed is dated by the generation alone.
                let age = now.since(facts.since).min(self.0.probe_deadline);
                let age = if current && facts.is_probe {
                    age
                } else {
                    Duration::ZERO
                };
                (current, current && facts.is_probe, age)
            })
            .collect();
        out.sort_unstable();
        let aged = witness.since_failure().min(Duration::from_secs(MIN_AGE));
        let grown = (1..).find(|trips| self.0.window(*trips) == self.0.cap);
        digest((
            (open, left, aged),
            (view.trips.min(grown.unwrap_or(0)), view.transient_run),
            (view.ever_succeeded, out),
        ))
    }
}
