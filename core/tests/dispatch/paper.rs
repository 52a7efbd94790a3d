//! A whole dispatch worked out on paper: who is called when follows from when the ones before end,
//! and when it is over follows from that. No queue of events, no inputs, nothing is held.

use super::case::*;
use segue_core::breaker::{Admission, Bank, Phase, Signal};
use segue_core::dispatch::*;
use segue_core::time::Tick;
use std::time::Duration;

const NEVER: u64 = u64::MAX;

/// What a lane leaves that gave no certain answer: its class, and when to ask it again.
type Doubt = (Class, Option<Tick>);

/// A call as it would go if nobody gave it up.
#[derive(Clone, Copy, Debug)]
struct Fate {
    rank: usize,
    start: u64,
    /// Whether a timer made it start.
    by_timer: bool,
    accepted: u64,
    ends: u64,
    /// `Err`: its budget for this stage runs out.
    with: Result<Say, Stage>,
}

impl Fate {
    fn new(rank: usize, e: &Entry, start: u64, by_timer: bool) -> Self {
        let (mut accepted, mut at, mut stage, mut expires) =
            (NEVER, start, Stage::Connect, start + e.connect);
        let steps = [
            (e.accepts, Some(Stage::Head)),
            (e.head, Some(Stage::FirstByte)),
            (Some(e.answers.unwrap_or(NEVER - 1_000_000)), None),
        ];
        for (delay, next) in steps {
            let Some(delay) = delay else {
                continue;
            };
            at += delay;
            if at > expires {
                break;
            }
            match next {
                Some(next) => {
                    accepted = accepted.min(at);
                    (stage, expires) = (next, at + e.then);
                }
                None => {
                    let (ends, with) = (at, Ok(e.says));
                    return Fate {
                        rank,
                        start,
                        by_timer,
                        accepted,
                        ends,
                        with,
                    };
                }
            }
        }
        Fate {
            rank,
            start,
            by_timer,
            accepted,
            ends: expires,
            with: Err(stage),
        }
    }

    fn suits(&self) -> Option<Quality> {
        self.with.ok().and_then(Say::suits)
    }
}

/// What a breaker is told.
fn signal(says: Say) -> Signal {
    match says {
        Say::Suitable(_) | Say::Unsuitable(_) => Signal::Success,
        Say::Miss => Signal::Benign,
        Say::Transport => Signal::Transient,
        Say::Throttled(ms) => Signal::Throttled {
            retry_after: ms.map(Duration::from_millis),
        },
        Say::Auth => Signal::AuthRejected,
        Say::Renewal => Signal::RenewalRequired,
        Say::Cancelled => Signal::Abandoned,
    }
}

/// What is expected of one dispatch.
#[derive(Debug)]
pub(crate) struct Paper {
    pub(crate) effects: Vec<(u64, Effect<u32>)>,
    pub(crate) bank: Bank,
}

struct Desk<'a> {
    case: &'a Case,
    bank: Bank,
    calls: Vec<Fate>,
    /// When the breaker of each refused lane reopens.
    refused: Vec<(usize, u64)>,
    asked: usize,
}

/// How it ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Cancelled,
    Answer,
    Window,
    Deadline,
    Exhausted,
}

pub(crate) fn work_out(case: &Case) -> Paper {
    let mut desk = Desk {
        case,
        bank: case.bank(),
        calls: Vec::new(),
        refused: Vec::new(),
        asked: 0,
    };
    let ranks: Vec<usize> = (0..case.lanes.len())
        .filter(|r| case.lanes[*r].known.is_none())
        .collect();
    desk.call_all(&ranks, T0, false);
    let (over, by_timer) = desk.exhausted();
    if case.last_resort.is_some()
        && desk.asked == ranks.len()
        && desk.calls.iter().all(|c| c.suits().is_none())
        && over < desk.cut()
    {
        let suspects: Vec<usize> = desk.refused.iter().map(|r| r.0).collect();
        desk.asked = 0;
        desk.call_all(&suspects, over, by_timer);
        desk.asked = if desk.asked == suspects.len() {
            ranks.len()
        } else {
            0
        };
    }
    let all_asked = desk.asked == ranks.len();
    let (at, end) = desk.end(all_asked);
    desk.write(at, end, &ranks)
}

impl Desk<'_> {
    fn deadline(&self) -> u64 {
        self.case.deadline.map_or(NEVER, |d| T0 + d)
    }

    fn cancel(&self) -> u64 {
        self.case.cancel.map_or(NEVER, |c| T0 + c)
    }

    /// From this moment on nothing starts.
    fn cut(&self) -> u64 {
        self.deadline().min(self.cancel())
    }

    /// Calls `ranks` in the way of the case, from `at` on.
    fn call_all(&mut self, ranks: &[usize], mut at: u64, mut by_timer: bool) {
        let again = !self.refused.is_empty() || !self.calls.is_empty();
        let mut ranks = ranks.to_vec();
        while !ranks.is_empty() {
            // Whoever is due by now comes before whoever is a last resort.
            let due = ranks
                .iter()
                .position(|&rank| self.reopens(rank, at, false).is_none());
            let rank = ranks.remove(due.filter(|_| again).unwrap_or(0));
            let won = self
                .calls
                .iter()
                .any(|c| c.suits().is_some() && c.ends <= at);
            if at >= self.cut() || (won && !matches!(self.case.how, How::Parallel(_))) {
                return;
            }
            self.asked += 1;
            let reopens = self.reopens(rank, at, again && self.refused.iter().any(|r| r.0 == rank));
            if let Some(reopens) = reopens {
                if !self.refused.iter().any(|r| r.0 == rank) {
                    self.refused.push((rank, reopens));
                }
                continue;
            }
            let fate = Fate::new(rank, &self.case.lanes[rank], at, by_timer);
            self.calls.push(fate);
            let (hedge, holds) = match self.case.how {
                How::Parallel(_) => continue,
                How::Ordered => (NEVER, true),
                How::HedgedUntilAnswered(after) => (at + after, false),
                How::HedgedUntilAccepted(after) => (
                    at + after,
                    fate.accepted <= at + after && fate.accepted <= fate.ends,
                ),
            };
            let hedge = if holds { NEVER } else { hedge };
            by_timer = hedge < fate.ends || fate.with.is_err();
            at = hedge.min(fate.ends);
        }
    }

    /// When the lane's breaker lets a call through, if it does not do so now.
    fn reopens(&self, rank: usize, at: u64, last_resort: bool) -> Option<u64> {
        let (ago, window) = self.case.lanes[rank].tripped?;
        let tripped = T0 - ago;
        let until = tripped + window.max(6);
        let age = self.case.last_resort.unwrap_or(0);
        let let_through = at >= until || (last_resort && at >= tripped + age);
        (!let_through).then_some(until)
    }

    /// When the last call has ended, and whether by a timer.
    fn exhausted(&self) -> (u64, bool) {
        let over = self.calls.iter().map(|c| c.ends).max().unwrap_or(T0);
        let expired = |c: &Fate| c.ends == over && c.with.is_err();
        (over, self.calls.iter().any(expired))
    }

    fn end(&self, all_asked: bool) -> (u64, End) {
        let over = if all_asked { self.exhausted().0 } else { NEVER };
        let best = |least| {
            let good = self.calls.iter().filter(move |c| c.suits() >= Some(least));
            good.map(|c| c.ends).min().unwrap_or(NEVER)
        };
        let (answer, window) = match self.case.how {
            How::Parallel(wait) => (
                best(Quality::Line),
                best(Quality::Plain).saturating_add(wait),
            ),
            _ => (best(Quality::Plain), NEVER),
        };
        // At one instant: cancel, answers, the deadline, the window.
        let mut ends = [
            (self.cancel(), End::Cancelled),
            (answer, End::Answer),
            (self.deadline(), End::Deadline),
            (window, End::Window),
            (over, End::Exhausted),
        ];
        // Nobody could be called: over before it began.
        if all_asked && self.calls.is_empty() && self.deadline() > T0 {
            return (T0, End::Exhausted);
        }
        ends.sort_by_key(|(at, _)| *at);
        ends[0]
    }

    fn write(mut self, at: u64, end: End, ranks: &[usize]) -> Paper {
        let timers_ran = match end {
            End::Deadline | End::Window | End::Exhausted => true,
            End::Cancelled => false,
            End::Answer => self.calls.iter().any(|c| c.start == at && c.by_timer),
        };
        let mut effects = Vec::new();
        let mut heard = Vec::new();
        for c in self.calls.clone() {
            let (call, lane) = (CallId(c.rank as u32), Lane(self.case.lanes[c.rank].lane));
            effects.push((c.start, Effect::Call { call, lane }));
            let in_time = match c.with {
                Ok(_) => c.ends < at || (c.ends == at && end != End::Cancelled),
                Err(_) => c.ends < at || (c.ends == at && timers_ran),
            };
            let last_resort = self.refused.iter().any(|r| r.0 == c.rank);
            let age = Duration::from_millis(self.case.last_resort.unwrap_or(0));
            let start = tick(c.start);
            let admission = if last_resort {
                self.bank.admit_last_resort(lane, start, age)
            } else {
                self.bank.admit(lane, start)
            };
            let Admission::Granted(permit) = admission else {
                panic!("{c:?} could not be called");
            };
            let why = match (in_time, c.with, end) {
                (true, Ok(says), _) => {
                    self.bank.settle(tick(c.ends), permit, signal(says));
                    heard.push(self.class(&c, says));
                    continue;
                }
                (true, Err(stage), _) => {
                    self.bank.settle(tick(c.ends), permit, Signal::Transient);
                    heard.push(self.class(&c, Say::Transport));
                    let why = AbortReason::BudgetExceeded(stage);
                    effects.push((c.ends, Effect::Abort { call, why }));
                    continue;
                }
                (false, _, End::Cancelled) => AbortReason::Cancelled,
                (false, _, End::Deadline) => AbortReason::Deadline,
                (false, _, End::Answer | End::Window | End::Exhausted) => AbortReason::LostRace,
            };
            self.bank.settle(tick(at), permit, Signal::Abandoned);
            heard.push(Some((Class::Transport, None)));
            effects.push((at, Effect::Abort { call, why }));
        }
        let resolution = self.resolution(at, end, ranks, &heard);
        effects.push((at, Effect::Settle(resolution)));
        Paper {
            effects,
            bank: self.bank,
        }
    }

    /// The class of an answer that is no answer, and when to ask again.
    fn class(&self, c: &Fate, says: Say) -> Option<Doubt> {
        let class = match says {
            Say::Transport => Class::Transport,
            Say::Throttled(_) | Say::Auth | Say::Renewal => Class::ThrottledOrAuth,
            Say::Suitable(_) | Say::Unsuitable(_) | Say::Miss | Say::Cancelled => return None,
        };
        let view = self
            .bank
            .view(Lane(self.case.lanes[c.rank].lane), tick(c.ends));
        let reopens = match view.unwrap().phase {
            Phase::Open { until } => Some(until),
            Phase::Closed | Phase::HalfOpen => None,
        };
        let asked = match says {
            Say::Throttled(ms) => ms.map(|ms| tick(c.ends + ms)),
            _ => None,
        };
        Some((class, reopens.max(asked)))
    }

    fn resolution(
        &self,
        at: u64,
        end: End,
        ranks: &[usize],
        heard: &[Option<Doubt>],
    ) -> Resolution<u32> {
        if end == End::Cancelled {
            return Resolution::Cancelled;
        }
        let arrived = |c: &&Fate| c.with.is_ok() && c.ends <= at;
        // The best of what has arrived; among plain ones the first, else the best ranked.
        let first = |c: &Fate| {
            if c.suits() == Some(Quality::Plain) {
                c.ends
            } else {
                0
            }
        };
        let won = self
            .calls
            .iter()
            .filter(arrived)
            .filter(|c| c.suits().is_some());
        let won = won.min_by_key(|c| (std::cmp::Reverse(c.suits()), first(c), c.rank));
        let name = |c: &Fate| (CallId(c.rank as u32), Lane(self.case.lanes[c.rank].lane));
        if let Some(c) = won {
            let (call, lane) = name(c);
            return Resolution::Won {
                call,
                lane,
                value: call.0,
                quality: c.suits().unwrap(),
            };
        }
        let quality = |c: &Fate| match c.with {
            Ok(Say::Suitable(q) | Say::Unsuitable(q)) => Some(q),
            _ => None,
        };
        let best = self
            .calls
            .iter()
            .filter(arrived)
            .filter(|c| quality(c).is_some());
        let best = best.min_by_key(|c| (std::cmp::Reverse(quality(c)), c.rank));
        let mut doubts: Vec<Doubt> = heard.iter().flatten().copied().collect();
        for &rank in ranks {
            if self.calls.iter().any(|c| c.rank == rank) {
                continue;
            }
            doubts.push(match self.refused.iter().find(|r| r.0 == rank) {
                Some((_, until)) => (Class::Open, Some(tick(*until))),
                None => (Class::Transport, None),
            });
        }
        let retry_at = doubts.iter().filter_map(|d| d.1).min();
        let class = doubts.iter().map(|d| d.0).max();
        let none_called =
            self.calls.is_empty() && (class == Some(Class::Open) || self.case.lanes.is_empty());
        if none_called {
            return Resolution::Unavailable { retry_at };
        }
        if let Some(class) = class {
            let provisional = best.map(|c| (name(c).1, c.rank as u32, quality(c).unwrap()));
            return Resolution::Uncertain {
                class,
                retry_at,
                provisional,
            };
        }
        if self.calls.iter().any(|c| c.with == Ok(Say::Cancelled)) {
            return Resolution::Cancelled;
        }
        if let Some(c) = best {
            let (call, lane) = name(c);
            return Resolution::BestAvailable {
                call,
                lane,
                value: call.0,
                quality: quality(c).unwrap(),
            };
        }
        let known = self
            .case
            .lanes
            .iter()
            .find(|e| e.known == Some(Known::Unsuitable));
        match known {
            Some(e) => Resolution::BestKnown { lane: Lane(e.lane) },
            None => Resolution::Miss,
        }
    }
}
