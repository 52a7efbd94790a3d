//! A whole dispatch as plain numbers: what is asked, what each lane will do, who cancels when.
//!
//! Times are milliseconds and small, so that things often happen at the same instant.

use crate::common::Dice;
use segue_core::breaker::{Admission, Bank, Policy, Signal};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::time::Duration;

/// When a dispatch begins.
pub(crate) const T0: u64 = 1_000;

pub(crate) fn tick(ms: u64) -> Tick {
    Tick::from_millis(ms)
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) how: How,
    pub(crate) lanes: Vec<Entry>,
    pub(crate) deadline: Option<u64>,
    pub(crate) last_resort: Option<u64>,
    /// After the beginning.
    pub(crate) cancel: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Ordered,
    Parallel(u64),
    HedgedUntilAnswered(u64),
    HedgedUntilAccepted(u64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) lane: u32,
    pub(crate) known: Option<Known>,
    /// How long before the beginning its breaker tripped, and for how long.
    pub(crate) tripped: Option<(u64, u64)>,
    /// How long it takes to accept, then to send the head, then to answer; `None`: not reported.
    pub(crate) accepts: Option<u64>,
    pub(crate) head: Option<u64>,
    /// `None`: never.
    pub(crate) answers: Option<u64>,
    pub(crate) says: Say,
    pub(crate) connect: u64,
    pub(crate) then: u64,
}

/// A verdict as it can be pasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    Suitable(Quality),
    Unsuitable(Quality),
    Miss,
    Transport,
    Throttled(Option<u64>),
    Auth,
    Renewal,
    Cancelled,
}

impl Say {
    pub(crate) fn verdict(self, value: u32) -> Verdict<u32> {
        let answer = |quality, suitable| Verdict::Answer {
            value,
            quality,
            suitable,
        };
        match self {
            Say::Suitable(q) => answer(q, true),
            Say::Unsuitable(q) => answer(q, false),
            Say::Miss => Verdict::Miss,
            Say::Transport => Verdict::Failed(Failure::Transport),
            Say::Throttled(ms) => Verdict::Failed(Failure::Throttled {
                retry_after: ms.map(Duration::from_millis),
            }),
            Say::Auth => Verdict::Failed(Failure::Auth { renewal: false }),
            Say::Renewal => Verdict::Failed(Failure::Auth { renewal: true }),
            Say::Cancelled => Verdict::Cancelled,
        }
    }

    /// The quality with which it may win.
    pub(crate) fn suits(self) -> Option<Quality> {
        match self {
            Say::Suitable(q) if q >= Quality::Plain => Some(q),
            _ => None,
        }
    }
}

impl Case {
    pub(crate) fn plan(&self) -> Plan {
        let ms = Duration::from_millis;
        let lanes = self.lanes.iter().map(|e| LanePlan {
            lane: Lane(e.lane),
            budgets: Budgets {
                connect: ms(e.connect),
                head: ms(e.then),
                first_byte: ms(e.then),
            },
            known: e.known,
        });
        Plan {
            lanes: lanes.collect(),
            mode: match self.how {
                How::Ordered => Mode::Ordered,
                How::Parallel(wait) => Mode::Parallel {
                    race_wait: ms(wait),
                },
                How::HedgedUntilAnswered(after) => Mode::Hedged {
                    after: ms(after),
                    until: Milestone::Answered,
                },
                How::HedgedUntilAccepted(after) => Mode::Hedged {
                    after: ms(after),
                    until: Milestone::Accepted,
                },
            },
            deadline: self.deadline.map(ms),
            last_resort: self.last_resort.map(ms),
            accept_within: None,
        }
    }

    /// The breakers as they stand at the beginning.
    pub(crate) fn bank(&self) -> Bank {
        let mut bank = Bank::new();
        let policy = Policy {
            base: Duration::from_millis(6),
            cap: Duration::from_millis(40),
            transient_threshold: 2,
            probes: 1,
            probe_deadline: Duration::from_secs(60),
            probe_recheck: Duration::from_secs(60),
        };
        for entry in &self.lanes {
            let lane = Lane(entry.lane);
            bank.register(lane, policy);
            let Some((ago, window)) = entry.tripped else {
                continue;
            };
            let then = tick(T0 - ago);
            if let Admission::Granted(permit) = bank.admit(lane, then) {
                let retry_after = Some(Duration::from_millis(window));
                bank.settle(then, permit, Signal::Throttled { retry_after });
            }
        }
        bank
    }

    /// Any case. `most` lanes; with `twins`, some stand in the plan twice.
    pub(crate) fn any(dice: &mut Dice, most: u64, twins: bool) -> Self {
        let how = match dice.below(4) {
            0 => How::Ordered,
            1 => How::Parallel(dice.below(8)),
            2 => How::HedgedUntilAnswered(dice.below(7)),
            _ => How::HedgedUntilAccepted(dice.below(7)),
        };
        let count = match dice.below(20) {
            19 => 0,
            _ => 1 + dice.below(most),
        };
        Case {
            how,
            lanes: (0..count)
                .map(|i| {
                    let lane = if twins { dice.below(3) } else { i };
                    Entry::any(dice, lane as u32)
                })
                .collect(),
            deadline: rarely(dice, 3, |d| d.below(25)),
            last_resort: rarely(dice, 3, |d| d.below(8)),
            cancel: rarely(dice, 5, |d| 1 + d.below(20)),
        }
    }
}

impl Entry {
    fn any(dice: &mut Dice, lane: u32) -> Self {
        Entry {
            lane,
            says: any_say(dice),
            answers: match dice.below(8) {
                7 => None,
                _ => Some(dice.below(7)),
            },
            accepts: rarely(dice, 2, |d| d.below(6)),
            head: rarely(dice, 2, |d| d.below(6)),
            connect: 3 + dice.below(12),
            then: 2 + dice.below(6),
            known: rarely(dice, 8, |d| d.pick(&[Known::Miss, Known::Unsuitable])),
            tripped: rarely(dice, 3, |d| (d.below(12), d.below(30))),
        }
    }
}

pub(crate) fn any_say(dice: &mut Dice) -> Say {
    use Quality::{Instrumental, Line, None, Plain, Word};
    match dice.below(14) {
        0..2 => Say::Miss,
        2..6 => Say::Suitable(dice.pick(&[Plain, Line, Word, Plain, Instrumental])),
        6..8 => Say::Unsuitable(dice.pick(&[Instrumental, None, Plain, Line])),
        8..10 => Say::Transport,
        10 => Say::Throttled(rarely(dice, 2, |d| d.below(60))),
        11 => Say::Auth,
        12 => Say::Renewal,
        _ => Say::Cancelled,
    }
}

/// Something, once in `n` times.
fn rarely<T>(dice: &mut Dice, n: u64, make: impl Fn(&mut Dice) -> T) -> Option<T> {
    (dice.below(n) == n - 1).then(|| make(dice))
}
