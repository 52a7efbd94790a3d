//! One question over several lanes: a stream over ranked sources, a song over lyrics providers.
//!
//! Contracts section 2. Sans-IO: feed what happened, then drain the effects, then see when to wake.
//!
//! ```
//! use segue_core::Tick;
//! use segue_core::breaker::{Bank, Lane, Policy};
//! use segue_core::dispatch::*;
//! use std::time::Duration;
//!
//! let (now, mut bank) = (Tick::ZERO, Bank::new());
//! bank.register(Lane(7), Policy::provider());
//! let budgets = Budgets::whole(Duration::from_secs(10));
//! let lanes = vec![LanePlan { lane: Lane(7), budgets, known: None }];
//! let plan = Plan { lanes, mode: Mode::Ordered, deadline: None, last_resort: None, accept_within: None };
//!
//! let mut machine = Dispatch::start(plan, now, &mut bank);
//! let Some(Effect::Call { call, lane: Lane(7) }) = machine.poll_effect() else { panic!() };
//! assert_eq!(machine.poll_effect(), None); // drained: now wait for an answer, at most until
//! assert_eq!(machine.poll_timeout(), Some((Tick::from_millis(10_000), Why::Budget(Stage::Connect))));
//!
//! let verdict = Verdict::Answer { value: "la la", quality: Quality::Line, suitable: true };
//! machine.handle(Input::Answered { call, verdict }, now, &mut bank);
//! assert!(matches!(machine.poll_effect(), Some(Effect::Settle(Resolution::Won { value: "la la", .. }))));
//! ```
//!
//! # One instant
//!
//! What happens at one instant takes effect in this order: cancel, then all answers that are ready
//! (best quality, then rank), then timers. A driver keeps to it by feeding [`Input::Cancel`] first,
//! then progress, then *all* calls that have ended in one [`Input::Answers`], and calling
//! [`Dispatch::handle_timeout`] last. A batch is taken as a whole, so the order inside it changes
//! nothing. Answers come before timers even when the driver woke late: our slowness is no lane's
//! failure. Of timers due together, budgets come first (facts about lanes), then the deadline, then
//! the race window, then the hedge.

mod exchange;
mod ledger;
mod plan;

pub use crate::breaker::Lane;
pub use exchange::{AbortReason, Class, Effect, Failure, Input, Resolution, Verdict, Why};
pub use ledger::Heard;
pub use plan::{Budgets, CallId, Known, LanePlan, Milestone, Mode, Plan, Quality, Stage};

use crate::breaker::{Admission, Bank, NEVER, Permit, Phase, RETRY_AFTER_LIMIT, Signal};
use crate::time::Tick;
use crate::twin::{self, Twin};
use ledger::{Best, resolve};
use std::collections::VecDeque;
use std::time::Duration;

/// The machine. `T` is what a lane answers with.
///
/// Dropping one that has not settled loses its permits (B2): a driver that stops early feeds
/// [`Input::Cancel`] first.
#[derive(Debug, Hash)]
pub struct Dispatch<T> {
    lanes: Vec<LanePlan>,
    /// One per lane of the plan.
    heard: Vec<Heard>,
    mode: Mode,
    deadline: Option<Tick>,
    last_resort: Option<Duration>,
    accept_within: Option<Duration>,
    /// Ranks still to be asked, in order.
    pending: VecDeque<usize>,
    /// Whether what is pending was refused before and is asked as a last resort.
    desperate: bool,
    /// In the order in which they were called.
    running: Vec<Running>,
    /// The call that was started last, while it holds up the next lane. Never in parallel.
    holder: Option<Holder>,
    /// The best suitable answer.
    held: Option<Best<T>>,
    /// When the held answer is committed.
    window: Option<Tick>,
    /// The best answer that is not suitable.
    unsuitable: Option<Best<T>>,
    settled: bool,
    effects: VecDeque<Effect<T>>,
}

#[derive(Debug, Hash)]
struct Running {
    rank: usize,
    permit: Permit,
    stage: Stage,
    expires: Tick,
    /// Until when it counts as being accepted as fast as can be expected.
    accept_by: Option<Tick>,
}

#[derive(Debug, Hash)]
struct Holder {
    rank: usize,
    /// When it stops holding; `None` when only its end does.
    lets_go: Option<Tick>,
}

impl<T> Dispatch<T> {
    /// Begins, and asks for the first calls.
    pub fn start(plan: Plan, now: Tick, bank: &mut Bank) -> Self {
        let heard: Vec<Heard> = plan
            .lanes
            .iter()
            .map(|l| l.known.map_or(Heard::Waiting, Heard::Known))
            .collect();
        let mut dispatch = Dispatch {
            pending: ranks(&heard, |h| h == Heard::Waiting),
            lanes: plan.lanes,
            heard,
            mode: plan.mode,
            deadline: plan.deadline.map(|d| now + d),
            last_resort: plan.last_resort,
            accept_within: plan.accept_within,
            desperate: false,
            running: Vec::new(),
            holder: None,
            held: None,
            window: None,
            unsuitable: None,
            settled: false,
            effects: VecDeque::new(),
        };
        dispatch.advance(now, bank);
        dispatch
    }

    /// Says what happened. News of calls that are not in flight, and all news after the settlement,
    /// is ignored.
    pub fn handle(&mut self, input: Input<T>, now: Tick, bank: &mut Bank) {
        if self.settled {
            return;
        }
        match input {
            Input::Reached { call, stage } => self.reached(call, stage, now),
            Input::Answered { call, verdict } => {
                self.hear(call, verdict, now, bank);
                self.decide(now, bank);
            }
            Input::Answers(mut answers) => {
                if !twin::is(Twin::BatchInGivenOrder) {
                    answers.sort_by_key(|(call, _)| *call);
                }
                for (call, verdict) in answers {
                    self.hear(call, verdict, now, bank);
                }
                self.decide(now, bank);
            }
            Input::Cancel => {
                self.settle(Resolution::Cancelled, AbortReason::Cancelled, now, bank);
            }
        }
    }

    /// Acts on the timers that are due. Harmless when none is, so a driver may wake early.
    pub fn handle_timeout(&mut self, now: Tick, bank: &mut Bank) {
        if self.settled {
            return;
        }
        while let Some(i) = self.running.iter().position(|r| r.expires <= now) {
            let Running {
                rank,
                permit,
                stage,
                ..
            } = self.end(i);
            bank.settle(now, permit, Signal::Transient);
            self.failed(rank, Failure::Transport, now, bank);
            self.abort(rank, AbortReason::BudgetExceeded(stage));
            if twin::is(Twin::BudgetShared) {
                let spent = Budgets::whole(std::time::Duration::ZERO);
                self.lanes.iter_mut().for_each(|lane| lane.budgets = spent);
            }
        }
        if is_due(self.deadline, now) {
            return self.conclude(AbortReason::Deadline, now, bank);
        }
        if is_due(self.window, now) {
            return self.conclude(AbortReason::LostRace, now, bank);
        }
        if self.holder.as_ref().is_some_and(|h| is_due(h.lets_go, now)) {
            self.holder = None;
        }
        self.advance(now, bank);
    }

    /// What to do next. Drain it to `None` after each other call.
    pub fn poll_effect(&mut self) -> Option<Effect<T>> {
        self.effects.pop_front()
    }

    /// When to call [`Dispatch::handle_timeout`] if nothing happens before, and why.
    pub fn poll_timeout(&self) -> Option<(Tick, Why)> {
        if self.settled {
            return None;
        }
        let budgets = self.running.iter();
        let budgets = budgets.map(|r| (r.expires, Why::Budget(r.stage)));
        let hedge = self.holder.as_ref().and_then(|h| h.lets_go);
        let hedge = hedge.filter(|_| self.pending.iter().any(|&rank| self.is_idle(rank)));
        budgets
            .chain(self.deadline.map(|at| (at, Why::Deadline)))
            .chain(self.window.map(|at| (at, Why::RaceWindow)))
            .chain(hedge.map(|at| (at, Why::Hedge)))
            .filter(|(at, _)| *at < NEVER)
            .min_by_key(|(at, _)| *at)
    }

    /// Whether it is over. [`Effect::Settle`] may still have to be drained.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Calls in flight.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Whether lanes are being tried although their breakers are open.
    pub fn is_last_resort(&self) -> bool {
        self.desperate
    }

    /// What each lane of the plan has said so far, in rank order.
    pub fn heard(&self) -> impl Iterator<Item = (Lane, Heard)> + '_ {
        let lanes = self.lanes.iter().map(|l| l.lane);
        lanes.zip(self.heard.iter().copied())
    }

    fn reached(&mut self, call: CallId, stage: Stage, now: Tick) {
        let Some(i) = self.position(call) else {
            return;
        };
        let running = &mut self.running[i];
        if stage <= running.stage {
            return;
        }
        running.stage = stage;
        if !twin::is(Twin::StageBudgetKept) {
            running.expires = now + self.lanes[running.rank].budgets.of(stage);
        }
        let accepted = matches!(
            self.mode,
            Mode::Hedged {
                until: Milestone::Accepted,
                ..
            }
        );
        match &mut self.holder {
            Some(h) if accepted && h.rank == running.rank && !twin::is(Twin::AcceptanceIgnored) => {
                h.lets_go = None;
            }
            Some(_) | None => {}
        }
    }

    /// Takes one answer in. Decides nothing: others may be ready at the same instant.
    fn hear(&mut self, call: CallId, verdict: Verdict<T>, now: Tick, bank: &mut Bank) {
        let Some(i) = self.position(call) else {
            return;
        };
        let Running { rank, permit, .. } = self.end(i);
        bank.settle(now, permit, verdict.signal());
        match verdict {
            Verdict::Answer {
                value,
                quality,
                suitable,
            } => self.keep(rank, value, quality, suitable),
            Verdict::Miss => self.heard[rank] = Heard::Miss,
            Verdict::Failed(failure) => self.failed(rank, failure, now, bank),
            Verdict::Cancelled => self.heard[rank] = Heard::Discarded,
        }
    }

    fn keep(&mut self, rank: usize, value: T, quality: Quality, suitable: bool) {
        let new = Best {
            call: call_id(rank),
            lane: self.lanes[rank].lane,
            value,
            quality,
        };
        if suitable && quality >= Quality::Plain {
            self.heard[rank] = Heard::Suitable(quality);
            // One batch is in rank order, so "strictly better" leaves a tie with the better rank.
            let better = |b: &Best<T>| new.quality > b.quality || twin::is(Twin::WorseAnswerWins);
            if self.held.as_ref().is_none_or(better) {
                self.held = Some(new);
            }
        } else {
            self.heard[rank] = Heard::Unsuitable(quality);
            let better = |b: &Best<T>| (new.quality, b.call) > (b.quality, new.call);
            if self.unsuitable.as_ref().is_none_or(better) {
                self.unsuitable = Some(new);
            }
        }
    }

    /// Notes a failure that the breaker has already been told of.
    fn failed(&mut self, rank: usize, failure: Failure, now: Tick, bank: &Bank) {
        let reopens = match bank.view(self.lanes[rank].lane, now).map(|v| v.phase) {
            Some(Phase::Open { until }) => Some(until),
            Some(Phase::Closed | Phase::HalfOpen) | None => None,
        };
        let asked = match failure {
            Failure::Throttled { retry_after } => {
                retry_after.map(|wait| now + wait.min(RETRY_AFTER_LIMIT))
            }
            Failure::Transport | Failure::Auth { .. } => None,
        };
        self.heard[rank] = Heard::Failed {
            class: failure.class(),
            retry_at: reopens.max(asked),
        };
    }

    /// Acts on the answers that were taken in.
    fn decide(&mut self, now: Tick, bank: &mut Bank) {
        if let Some(held) = &self.held {
            match self.mode {
                Mode::Parallel { race_wait } if held.quality < Quality::Line => {
                    if twin::is(Twin::WindowRestarted) {
                        self.window = None;
                    }
                    self.window.get_or_insert(now + race_wait);
                }
                Mode::Ordered | Mode::Hedged { .. } | Mode::Parallel { .. } => {
                    self.conclude(AbortReason::LostRace, now, bank);
                    if !twin::is(Twin::CallAfterSettle) {
                        return;
                    }
                }
            }
        }
        self.advance(now, bank);
    }

    /// Starts what may start, and concludes when nothing more is expected.
    fn advance(&mut self, now: Tick, bank: &mut Bank) {
        // Nothing starts at the deadline: its timer is due, and concludes unless nothing runs any more.
        if is_due(self.deadline, now) {
            if self.running.is_empty() && !twin::is(Twin::HeldAtTheDeadline) {
                self.conclude(AbortReason::Deadline, now, bank);
            }
            return;
        }
        loop {
            while self.holder.is_none()
                && let Some(rank) = self
                    .next_idle(now, bank)
                    .and_then(|at| self.pending.remove(at))
            {
                self.ask(rank, now, bank);
            }
            if !self.running.is_empty() {
                return;
            }
            if self.desperate || self.last_resort.is_none() || self.held.is_some() {
                break;
            }
            self.desperate = true;
            self.pending = ranks(&self.heard, |h| matches!(h, Heard::Open { .. }));
        }
        self.conclude(AbortReason::LostRace, now, bank);
    }

    /// Where in `pending` the next lane stands: the first that is not in flight (D4). When open lanes are tried, one that
    /// has become due since it was refused comes before all last resorts (contracts 3.2).
    fn next_idle(&self, now: Tick, bank: &Bank) -> Option<usize> {
        let first = |may: &dyn Fn(usize) -> bool| {
            let mut pending = self.pending.iter();
            pending.position(|&rank| self.is_idle(rank) && may(rank))
        };
        let is_due = |rank: usize| {
            let view = bank.view(self.lanes[rank].lane, now);
            view.is_some_and(|view| !matches!(view.phase, Phase::Open { .. }))
        };
        let due = match self.desperate && !twin::is(Twin::DuePassedOver) {
            true => first(&is_due),
            false => None,
        };
        due.or_else(|| first(&|_| true))
    }

    fn is_idle(&self, rank: usize) -> bool {
        let lane = self.lanes[rank].lane;
        twin::is(Twin::TwoCallsOfOneLane) || self.running.iter().all(|r| r.permit.lane() != lane)
    }

    /// Asks a lane's breaker, and calls the lane if it may be.
    fn ask(&mut self, rank: usize, now: Tick, bank: &mut Bank) {
        assert!(!self.settled, "D2: a call after the settlement");
        assert!(self.is_idle(rank), "D4: two calls of one lane");
        let LanePlan { lane, budgets, .. } = self.lanes[rank];
        let admission = match self.last_resort {
            Some(min_age) if self.desperate => bank.admit_last_resort(lane, now, min_age),
            Some(_) | None if twin::is(Twin::OpenLaneCalled) => {
                bank.admit_last_resort(lane, now, std::time::Duration::ZERO)
            }
            Some(_) | None => bank.admit(lane, now),
        };
        let permit = match admission {
            Admission::Granted(permit) => permit,
            // A second refusal does not hide when the breaker reopens.
            Admission::Refused { .. } if self.desperate => return,
            Admission::Refused { until } => {
                self.heard[rank] = Heard::Open { until };
                return;
            }
        };
        self.holder = match self.mode {
            Mode::Ordered if twin::is(Twin::OrderedOverlaps) => None,
            Mode::Ordered => Some(None),
            Mode::Hedged { after, .. } => Some(Some(now + after)),
            Mode::Parallel { .. } => None,
        }
        .map(|lets_go| Holder { rank, lets_go });
        self.heard[rank] = Heard::Called;
        self.running.push(Running {
            rank,
            permit,
            stage: Stage::Connect,
            expires: now + budgets.connect,
            accept_by: self.accept_within.map(|within| now + within),
        });
        let call = call_id(rank);
        self.effects.push_back(Effect::Call { call, lane });
    }

    fn position(&self, call: CallId) -> Option<usize> {
        self.running.iter().position(|r| call_id(r.rank) == call)
    }

    /// Takes a call out of flight.
    fn end(&mut self, at: usize) -> Running {
        let running = self.running.remove(at);
        if self.holder.as_ref().is_some_and(|h| h.rank == running.rank) {
            self.holder = None;
        }
        running
    }

    /// Tells the driver to give a call up, or never to make it when it has not been told of it.
    fn abort(&mut self, rank: usize, why: AbortReason) {
        let name = call_id(rank);
        let untold = |e: &Effect<T>| matches!(e, Effect::Call { call, .. } if *call == name);
        match self.effects.iter().position(untold) {
            Some(i) => drop(self.effects.remove(i)),
            None => self.effects.push_back(Effect::Abort { call: name, why }),
        }
    }

    /// Settles with the held answer, or with what the lanes have said.
    fn conclude(&mut self, why: AbortReason, now: Tick, bank: &mut Bank) {
        let resolution = match self.held.take() {
            Some(best) => best.won(),
            None => resolve(&self.lanes, &self.heard, self.unsuitable.take()),
        };
        self.settle(resolution, why, now, bank);
    }

    fn settle(&mut self, resolution: Resolution<T>, why: AbortReason, now: Tick, bank: &mut Bank) {
        assert!(!self.settled, "D1: settled twice");
        let may_go_on =
            twin::is(Twin::SecondCommit) && matches!(resolution, Resolution::Won { .. });
        self.settled = !may_go_on;
        for running in std::mem::take(&mut self.running) {
            let Running { rank, permit, .. } = running;
            let is_silent = running.stage == Stage::Connect && is_due(running.accept_by, now);
            let is_silent = is_silent && !twin::is(Twin::SilentLoserForgiven);
            if why == AbortReason::LostRace && is_silent {
                bank.settle_silent(now, permit);
                self.failed(rank, Failure::Transport, now, bank);
                self.abort(rank, AbortReason::BudgetExceeded(Stage::Connect));
                continue;
            }
            self.heard[rank] = Heard::GivenUp(why);
            if !twin::is(Twin::LoserNotAborted) {
                self.abort(rank, why);
            }
            if !twin::is(Twin::PermitLeakedOnCancel) {
                bank.settle(now, permit, given_up());
            }
        }
        self.effects.push_back(Effect::Settle(resolution));
    }
}

/// What a breaker hears of a call that is given up: nothing (B4, B8).
fn given_up() -> Signal {
    match twin::is(Twin::ClientGoneCounted) {
        true => Signal::Transient,
        false => Signal::Abandoned,
    }
}

fn is_due(at: Option<Tick>, now: Tick) -> bool {
    at.is_some_and(|at| at <= now)
}

fn call_id(rank: usize) -> CallId {
    CallId(u32::try_from(rank).unwrap_or(u32::MAX))
}

fn ranks(heard: &[Heard], which: impl Fn(Heard) -> bool) -> VecDeque<usize> {
    let all = heard.iter().enumerate();
    all.filter(|(_, h)| which(**h)).map(|(i, _)| i).collect()
}
