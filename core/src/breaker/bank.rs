//! All breakers of a process: one per lane, never shared between lanes.

use super::{Admission, Breaker, Lane, NEVER, Permit, Persisted, Policy, Signal, View};
use crate::time::{Tick, Wall};
use std::collections::BTreeMap;
use std::time::Duration;

/// The breakers of all lanes, and how many permits are out.
///
/// A lane that is not registered is refused: its source was removed while somebody still had it in
/// a plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Bank {
    lanes: BTreeMap<Lane, Breaker>,
    outstanding: usize,
    /// Where a breaker that replaces another begins, so that permits of the old one are stale.
    first_generation: u32,
}

impl Bank {
    /// No lanes.
    pub fn new() -> Self {
        Bank::default()
    }

    /// Makes `lane` known, closed. One that is known keeps its state and takes the new policy.
    pub fn register(&mut self, lane: Lane, policy: Policy) {
        match self.lanes.get_mut(&lane) {
            Some(breaker) => breaker.policy = policy.sane(),
            None => self.put(lane, Breaker::new(policy)),
        }
    }

    /// Makes `lane` known, as it was when `persisted` was written (B10).
    pub fn restore(
        &mut self,
        lane: Lane,
        policy: Policy,
        persisted: Persisted,
        now: Tick,
        wall: Wall,
    ) {
        self.remove(lane);
        self.put(lane, Breaker::restore(policy, persisted, now, wall));
    }

    /// Forgets `lane`. Permits that are out for it stay counted until they are settled.
    pub fn remove(&mut self, lane: Lane) {
        if let Some(gone) = self.lanes.remove(&lane) {
            let next = gone.generation.wrapping_add(1);
            self.first_generation = self.first_generation.max(next);
        }
    }

    fn put(&mut self, lane: Lane, mut breaker: Breaker) {
        breaker.lane = lane;
        breaker.generation = self.first_generation;
        self.lanes.insert(lane, breaker);
    }

    /// Asks leave to call `lane`.
    pub fn admit(&mut self, lane: Lane, now: Tick) -> Admission {
        let asked = self.lanes.get_mut(&lane).map(|b| b.admit(now));
        self.counted(asked)
    }

    /// Asks leave to call `lane` though it may be open; see [`Breaker::admit_last_resort`].
    pub fn admit_last_resort(&mut self, lane: Lane, now: Tick, min_age: Duration) -> Admission {
        let asked = self.lanes.get_mut(&lane);
        let asked = asked.map(|b| b.admit_last_resort(now, min_age));
        self.counted(asked)
    }

    fn counted(&mut self, asked: Option<Admission>) -> Admission {
        let admission = asked.unwrap_or(Admission::Refused { until: NEVER });
        if let Admission::Granted(_) = admission {
            self.outstanding += 1;
        }
        admission
    }

    /// Hands a permit back with what came of it.
    ///
    /// # Panics
    /// When more permits come back than went out (B2).
    pub fn settle(&mut self, now: Tick, permit: Permit, signal: Signal) {
        if let Some(breaker) = self.taken_back(&permit) {
            breaker.settle(now, permit, signal);
        }
    }

    /// Hands a permit back whose call was not even accepted when another one won; see [`Breaker::settle_silent`].
    ///
    /// # Panics
    /// As [`Bank::settle`].
    pub fn settle_silent(&mut self, now: Tick, permit: Permit) {
        if let Some(breaker) = self.taken_back(&permit) {
            breaker.settle_silent(now, permit);
        }
    }

    /// The breaker of a permit that counts as out no longer.
    fn taken_back(&mut self, permit: &Permit) -> Option<&mut Breaker> {
        assert!(self.outstanding > 0, "B2: a permit of another bank");
        self.outstanding -= 1;
        self.lanes.get_mut(&permit.lane)
    }

    /// How `lane` stands at `now`; `None` when it is not registered. Changes nothing (B11).
    pub fn view(&self, lane: Lane, now: Tick) -> Option<View> {
        self.lanes.get(&lane).map(|b| b.view(now))
    }

    /// `lane` as it is to be stored; `None` when it is not registered.
    pub fn snapshot(&self, lane: Lane, now: Tick, wall: Wall) -> Option<Persisted> {
        self.lanes.get(&lane).map(|b| b.snapshot(now, wall))
    }

    /// The lanes that are registered.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> + '_ {
        self.lanes.keys().copied()
    }

    /// Permits handed out and not yet back. Zero whenever nothing is in flight (B2).
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }
}
