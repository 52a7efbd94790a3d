//! Steps that can be taken with one breaker, and somebody who takes them.

use crate::common::Dice;
use segue_core::breaker::*;
use segue_core::time::Tick;
use std::time::Duration;

pub(crate) const LANE: Lane = Lane(3);
pub(crate) const SECOND: u64 = 1_000_000_000;

/// What can happen. Every step is possible at every time, so any sub-sequence is a case too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Admit,
    /// With this `min_age` in nanoseconds.
    LastResort(u64),
    /// Settles one of the permits that are out, counted modulo their number.
    Settle(usize, Say),
    /// Nanoseconds.
    Wait(u64),
    /// To so many nanoseconds around the moment it reopens.
    ToReopening(i64),
    /// To so many nanoseconds around the deadline of the permit that is out the longest.
    ToDeadline(i64),
}

/// A signal as it can be pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    Success,
    Benign,
    Transient,
    Abandoned,
    Throttled,
    /// For so many seconds.
    ThrottledFor(u64),
    AuthRejected,
    RenewalRequired,
}

impl Say {
    pub(crate) fn signal(self) -> Signal {
        match self {
            Say::Success => Signal::Success,
            Say::Benign => Signal::Benign,
            Say::Transient => Signal::Transient,
            Say::Abandoned => Signal::Abandoned,
            Say::Throttled => Signal::Throttled { retry_after: None },
            Say::ThrottledFor(s) => Signal::Throttled {
                retry_after: Some(Duration::from_secs(s)),
            },
            Say::AuthRejected => Signal::AuthRejected,
            Say::RenewalRequired => Signal::RenewalRequired,
        }
    }
}

/// The two policies of the contracts and two that are harder to serve.
pub(crate) fn policies() -> [Policy; 4] {
    let small = Policy {
        base: Duration::from_secs(10),
        cap: Duration::from_secs(70),
        transient_threshold: 2,
        probes: 1,
        probe_deadline: Duration::from_secs(5),
        probe_recheck: Duration::from_secs(3),
    };
    [
        small,
        Policy {
            probes: 2,
            transient_threshold: 1,
            ..small
        },
        Policy::instance(Duration::from_secs(60)),
        Policy::provider(),
    ]
}

pub(crate) fn any_say(dice: &mut Dice) -> Say {
    let waits = [1, 11, 75, 4000, 6 * 3600 - 1, 6 * 3600, 6 * 3600 + 1];
    match dice.below(14) {
        0..3 => Say::Transient,
        3..5 => Say::Abandoned,
        5..7 => Say::Success,
        7..9 => Say::Benign,
        9 => Say::Throttled,
        10..12 => Say::ThrottledFor(dice.pick(&waits)),
        12 => Say::AuthRejected,
        _ => Say::RenewalRequired,
    }
}

pub(crate) fn any_step(dice: &mut Dice) -> Step {
    let nudge = |dice: &mut Dice| dice.pick(&[0, -1, 1]);
    match dice.below(16) {
        0..5 => Step::Admit,
        5..10 => Step::Settle(dice.below(4) as usize, any_say(dice)),
        10 => Step::LastResort(dice.pick(&[5, 0, 60]) * SECOND),
        11..13 => Step::ToReopening(nudge(dice)),
        13 => Step::ToDeadline(nudge(dice)),
        14 => Step::Wait(dice.pick(&[1, 4, 5, 11, 60]) * SECOND),
        _ => Step::Wait(dice.below(100 * SECOND)),
    }
}

pub(crate) fn any_steps(dice: &mut Dice, most: u64) -> Vec<Step> {
    (0..dice.below(most) + 1).map(|_| any_step(dice)).collect()
}

/// A permit that is or was out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) since: Tick,
    /// Of the breaker, when it was granted.
    pub(crate) generation: u32,
    pub(crate) is_probe: bool,
}

/// Takes steps.
pub(crate) struct Player {
    pub(crate) policy: Policy,
    pub(crate) bank: Bank,
    pub(crate) now: Tick,
    pub(crate) out: Vec<(Permit, Facts)>,
}

/// What a step led to.
#[derive(Debug)]
pub(crate) enum Did {
    Granted(Facts),
    Refused(Tick),
    Settled(usize, Facts, Signal),
    Nothing,
}

impl Player {
    pub(crate) fn new(policy: Policy) -> Self {
        let mut bank = Bank::new();
        bank.register(LANE, policy);
        Player {
            policy,
            bank,
            now: Tick::from_millis(1_000),
            out: Vec::new(),
        }
    }

    pub(crate) fn view(&self) -> View {
        self.bank.view(LANE, self.now).unwrap()
    }

    /// The permit that a [`Step::Settle`] would settle.
    pub(crate) fn chosen(&self, nth: usize) -> Option<usize> {
        nth.checked_rem(self.out.len())
    }

    pub(crate) fn take(&mut self, step: Step) -> Did {
        match step {
            Step::Admit => {
                let admission = self.bank.admit(LANE, self.now);
                self.admitted(admission)
            }
            Step::LastResort(nanos) => {
                let age = Duration::from_nanos(nanos);
                let admission = self.bank.admit_last_resort(LANE, self.now, age);
                self.admitted(admission)
            }
            Step::Settle(nth, say) => match self.chosen(nth) {
                Some(i) => {
                    let (permit, facts) = self.out.remove(i);
                    self.bank.settle(self.now, permit, say.signal());
                    Did::Settled(i, facts, say.signal())
                }
                None => Did::Nothing,
            },
            Step::Wait(nanos) => {
                self.now += Duration::from_nanos(nanos);
                Did::Nothing
            }
            Step::ToReopening(nudge) => {
                if let Phase::Open { until } = self.view().phase {
                    self.go(until, nudge);
                }
                Did::Nothing
            }
            Step::ToDeadline(nudge) => {
                if let Some(first) = self.out.first() {
                    self.go(first.1.since + self.policy.probe_deadline, nudge);
                }
                Did::Nothing
            }
        }
    }

    fn admitted(&mut self, admission: Admission) -> Did {
        match admission {
            Admission::Granted(permit) => {
                let facts = Facts {
                    since: self.now,
                    generation: self.view().generation,
                    is_probe: permit.is_probe(),
                };
                self.out.push((permit, facts));
                Did::Granted(facts)
            }
            Admission::Refused { until } => Did::Refused(until),
        }
    }

    /// Time never goes back.
    fn go(&mut self, to: Tick, nudge: i64) {
        let to = Tick::from_nanos(to.as_nanos().saturating_add_signed(nudge));
        self.now = self.now.max(to);
    }
}
