//! One dispatch over a few lanes: answers, progress, timers and the end of interest, in every order.
//!
//! Time moves to the moment of the next timer and stops there, so that everything may still come before the
//! timer is heard, or after it.

#[allow(dead_code, reason = "a part of it is for random cases")]
#[path = "../dispatch/case.rs"]
pub(crate) mod case;
#[allow(dead_code, reason = "a part of it is for random cases")]
#[path = "../dispatch/compare.rs"]
pub(crate) mod compare;
#[path = "../dispatch/paper.rs"]
mod paper;
#[allow(dead_code, reason = "a part of it is for random cases")]
#[path = "../dispatch/play.rs"]
mod play;
#[allow(dead_code, reason = "it is for random cases")]
#[path = "../dispatch/shared.rs"]
pub(crate) mod shared;

#[path = "dispatch/watch.rs"]
mod watch;

use crate::explore::{World, digest};
use case::{Case, Entry, How, Say, T0, tick};
use segue_core::breaker::Bank;
use segue_core::dispatch::*;
use std::collections::BTreeMap;
use watch::{Ask, Watch};

/// How long a plain answer is held, and a silent lane holds up the next one.
pub(crate) const PATIENCE: u64 = 2;

/// Every mode.
pub(crate) const HOWS: [How; 4] = [
    How::Ordered,
    How::Parallel(PATIENCE),
    How::HedgedUntilAnswered(PATIENCE),
    How::HedgedUntilAccepted(PATIENCE),
];

/// What a lane may say, all of it.
pub(crate) const EVERYTHING: [Say; 13] = [
    Say::Suitable(Quality::Plain),
    Say::Suitable(Quality::Line),
    Say::Suitable(Quality::Word),
    Say::Suitable(Quality::Instrumental),
    Say::Unsuitable(Quality::None),
    Say::Unsuitable(Quality::Word),
    Say::Miss,
    Say::Transport,
    Say::Throttled(None),
    Say::Throttled(Some(9)),
    Say::Auth,
    Say::Renewal,
    Say::Cancelled,
];

/// One of each kind that decides differently.
pub(crate) const KINDS: [Say; 5] = [
    Say::Suitable(Quality::Plain),
    Say::Suitable(Quality::Word),
    Say::Unsuitable(Quality::Instrumental),
    Say::Miss,
    Say::Transport,
];

/// Enough where the lanes are what matters.
const FEW: [Say; 3] = [
    Say::Suitable(Quality::Plain),
    Say::Throttled(Some(9)),
    Say::Miss,
];

/// How a breaker stands at the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stand {
    Closed,
    /// It reopens while the dispatch may still run.
    Open,
    HalfOpen,
}

pub(crate) const STANDS: [Stand; 3] = [Stand::Closed, Stand::Open, Stand::HalfOpen];

/// A small dispatch.
#[derive(Clone, Debug)]
pub(crate) struct OneDispatch {
    pub(crate) case: Case,
    pub(crate) says: &'static [Say],
    /// Which stages lanes report.
    pub(crate) progress: &'static [Stage],
    /// Whether two lanes may answer at one instant.
    pub(crate) together: bool,
}

/// A lane of a small dispatch.
pub(crate) fn entry(lane: u32, stand: Stand) -> Entry {
    Entry {
        lane,
        known: None,
        // So long ago, and for so long; the policy's own window is 6.
        tripped: match stand {
            Stand::Closed => None,
            Stand::Open => Some((2, 0)),
            Stand::HalfOpen => Some((9, 0)),
        },
        accepts: None,
        head: None,
        answers: None,
        says: Say::Miss,
        connect: 5,
        then: 3,
    }
}

/// Lanes of their own, with nothing that hurries.
pub(crate) fn dispatch(how: How, stands: &[Stand]) -> OneDispatch {
    let lanes = stands.iter().enumerate();
    OneDispatch {
        case: Case {
            how,
            lanes: lanes.map(|(n, stand)| entry(n as u32, *stand)).collect(),
            deadline: None,
            last_resort: None,
            cancel: None,
        },
        says: &KINDS,
        progress: &[],
        together: false,
    }
}

/// Two lanes that may say everything, alone or at one instant, and report how far they have got.
pub(crate) fn talkative(how: How) -> Vec<OneDispatch> {
    vec![OneDispatch {
        says: &EVERYTHING,
        progress: &[Stage::Head, Stage::FirstByte],
        together: true,
        ..dispatch(how, &[Stand::Closed; 2])
    }]
}

/// Three lanes whose breakers stand in every way, with and without a last resort, in a hurry or not.
pub(crate) fn suspicious(how: How) -> Vec<OneDispatch> {
    let mut worlds = Vec::new();
    for n in 0..27 {
        let stands = [STANDS[n % 3], STANDS[n / 3 % 3], STANDS[n / 9]];
        for (deadline, last_resort) in [
            (None, None),
            (None, Some(3)),
            (Some(4), None),
            (Some(4), Some(1)),
        ] {
            let mut world = dispatch(how, &stands);
            world.case.deadline = deadline;
            world.case.last_resort = last_resort;
            worlds.push(world);
        }
    }
    worlds
}

/// Three lanes of which two are the same.
pub(crate) fn twice(how: How) -> Vec<OneDispatch> {
    let plans = [([0, 0, 1], Some(3)), ([0, 1, 0], None)];
    let world = |(lanes, last_resort): ([u32; 3], Option<u64>)| {
        let mut world = dispatch(how, &[]);
        world.says = &FEW;
        world.progress = &[Stage::Head];
        world.case.lanes = lanes.map(|lane| entry(lane, Stand::Closed)).to_vec();
        world.case.last_resort = last_resort;
        world
    };
    plans.map(world).to_vec()
}

/// Three lanes that make progress, two of them at one instant; one of them known.
pub(crate) fn various(how: How) -> Vec<OneDispatch> {
    let three = dispatch(how, &[Stand::Closed; 3]);
    let progress = OneDispatch {
        progress: &[Stage::Head],
        ..three.clone()
    };
    let together = OneDispatch {
        together: true,
        ..three.clone()
    };
    let everything = OneDispatch {
        says: &EVERYTHING,
        ..three
    };
    let mut worlds = vec![progress.clone(), together, everything];
    for known in [Known::Miss, Known::Unsuitable] {
        for at in 0..3 {
            let mut ledger = progress.clone();
            ledger.case.lanes[at].known = Some(known);
            worlds.push(ledger);
        }
    }
    worlds
}

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Reached(CallId, Stage),
    Answered(CallId, Say),
    /// At one instant.
    Both(CallId, Say, CallId, Say),
    Cancel,
    /// Time moves to the moment of the next timer.
    Passes,
    /// The timers are heard.
    Wake,
}

/// A dispatch under way.
pub(crate) struct State {
    pub(crate) machine: Dispatch<u32>,
    pub(crate) bank: Bank,
    /// Milliseconds.
    pub(crate) now: u64,
    /// The calls in flight.
    pub(crate) open: BTreeMap<CallId, Stage>,
    pub(crate) watch: Watch,
}

impl World for OneDispatch {
    type State = State;
    type Event = Event;

    fn start(&self) -> Result<State, String> {
        let mut bank = self.case.bank();
        let before = bank.clone();
        let machine = Dispatch::start(self.case.plan(), tick(T0), &mut bank);
        let mut state = State {
            machine,
            bank,
            now: T0,
            open: BTreeMap::new(),
            watch: Watch::new(&self.case, &before),
        };
        state.drain(&self.case)?;
        Ok(state)
    }

    fn events(&self, state: &State) -> Vec<Event> {
        if state.machine.is_settled() {
            return Vec::new();
        }
        let mut events = vec![Event::Wake, Event::Cancel];
        if state.timer().is_some_and(|at| at > state.now) {
            events.push(Event::Passes);
        }
        let open: Vec<CallId> = state.open.keys().copied().collect();
        for (n, call) in open.iter().enumerate() {
            events.extend(self.says.iter().map(|say| Event::Answered(*call, *say)));
            let ahead = self.progress.iter().filter(|s| **s > state.open[call]);
            events.extend(ahead.map(|stage| Event::Reached(*call, *stage)));
            if self.together {
                for other in &open[n + 1..] {
                    let pairs = self.says.iter().flat_map(|a| {
                        let both = |b: &Say| Event::Both(*call, *a, *other, *b);
                        self.says.iter().map(both)
                    });
                    events.extend(pairs);
                }
            }
        }
        events
    }

    fn take(&self, state: &mut State, event: Event) -> Result<(), String> {
        let now = tick(state.now);
        let (machine, bank) = (&mut state.machine, &mut state.bank);
        match event {
            Event::Reached(call, stage) => {
                state.open.insert(call, stage);
                machine.handle(Input::Reached { call, stage }, now, bank);
            }
            Event::Answered(call, say) => {
                state.open.remove(&call);
                state.watch.told(call, say, state.now);
                let verdict = say.verdict(call.0);
                machine.handle(Input::Answered { call, verdict }, now, bank);
            }
            Event::Both(a, say_a, b, say_b) => {
                let answers = vec![(a, say_a.verdict(a.0)), (b, say_b.verdict(b.0))];
                for (call, say) in [(a, say_a), (b, say_b)] {
                    state.open.remove(&call);
                    state.watch.told(call, say, state.now);
                }
                machine.handle(Input::Answers(answers), now, bank);
            }
            Event::Cancel => {
                state.watch.cancelled = true;
                let before: Vec<_> = bank.lanes().map(|lane| bank.view(lane, now)).collect();
                machine.handle(Input::Cancel, now, bank);
                let after: Vec<_> = bank.lanes().map(|lane| bank.view(lane, now)).collect();
                if before != after {
                    return Err(format!("B8: {before:?}, then {after:?}"));
                }
            }
            Event::Passes => {
                let next = state.timer().expect("a timer");
                state.now = next;
                return state.watch.hold(&self.case, next);
            }
            Event::Wake => {
                let due = state.timer().is_some_and(|at| at <= state.now);
                let before = (!due).then(|| state.outside());
                state.watch.woken(&self.case, state.now, &state.open);
                state.machine.handle_timeout(now, &mut state.bank);
                if before.is_some_and(|before| before != state.outside()) {
                    return Err("waking early did something".to_owned());
                }
            }
        }
        state.drain(&self.case)?;
        if event == Event::Wake && state.timer().is_some_and(|at| at <= state.now) {
            return Err("the timer that was heard is still due".to_owned());
        }
        Ok(())
    }

    fn look(&self, state: &mut State) -> Result<(), String> {
        state.look(&self.case)
    }

    fn canon(&self, state: &State) -> u64 {
        digest((
            (&state.machine, &state.bank, state.now),
            (&state.open, &state.watch),
        ))
    }

    fn mirror(&self, event: Event) -> Option<Event> {
        match event {
            Event::Both(a, say_a, b, say_b) => Some(Event::Both(b, say_b, a, say_a)),
            Event::Reached(..)
            | Event::Answered(..)
            | Event::Cancel
            | Event::Passes
            | Event::Wake => None,
        }
    }
}

impl State {
    /// When the machine wants to be woken.
    fn timer(&self) -> Option<u64> {
        let next = self.machine.poll_timeout();
        next.map(|(at, _)| at.as_nanos() / 1_000_000)
    }

    /// All of it that can be seen.
    fn outside(&self) -> (Option<u64>, usize, Vec<(Lane, Heard)>, Bank) {
        let heard = self.machine.heard().collect();
        let running = self.machine.running();
        (self.timer(), running, heard, self.bank.clone())
    }

    /// Takes the effects out.
    fn drain(&mut self, case: &Case) -> Result<(), String> {
        if case.last_resort.is_some() {
            self.watch.failures(&self.bank, self.now);
        }
        while let Some(effect) = self.machine.poll_effect() {
            if self.watch.over.is_some() {
                return Err(format!("D1, D2: {effect:?} after the settlement"));
            }
            match effect {
                Effect::Call { call, lane } => {
                    let phase = self.bank.view(lane, tick(self.now)).map(|v| v.phase);
                    let ask = Ask {
                        call,
                        lane,
                        phase,
                        desperate: self.machine.is_last_resort(),
                        now: self.now,
                    };
                    self.watch.called(case, &ask, &self.open)?;
                    self.open.insert(call, Stage::Connect);
                }
                Effect::Abort { call, why } => {
                    if self.open.remove(&call).is_none() {
                        return Err(format!("D3: {call:?} was not in flight"));
                    }
                    self.watch.aborted(call, why);
                }
                Effect::Settle(resolution) => self.watch.over = Some(resolution),
            }
        }
        Ok(())
    }

    fn look(&mut self, case: &Case) -> Result<(), String> {
        let (running, out) = (self.machine.running(), self.bank.outstanding());
        if running != self.open.len() || out != running {
            return Err(format!("D3: {running} run, {:?}, {out} permits", self.open));
        }
        let lane = |call: &CallId| case.lanes[call.0 as usize].lane;
        let mut lanes: Vec<u32> = self.open.keys().map(lane).collect();
        lanes.sort_unstable();
        lanes.dedup();
        if lanes.len() != running || (case.how == How::Ordered && running > 1) {
            return Err(format!("D4: {:?}", self.open));
        }
        let heard: Vec<Heard> = self.machine.heard().map(|(_, heard)| heard).collect();
        match self.watch.over.clone() {
            Some(over) => {
                if running > 0 || self.machine.poll_timeout().is_some() {
                    return Err(format!("D5: {:?}", self.open));
                }
                self.watch.judge(case, &heard, &over)?;
                self.disturb()
            }
            None => self.watch.wait(case, &heard, running),
        }
    }

    /// After the settlement nothing has any effect (D2).
    fn disturb(&mut self) -> Result<(), String> {
        let before = self.bank.clone();
        let later = tick(self.now + 1_000);
        for rank in 0..self.watch.ranks() {
            let call = CallId(rank);
            let verdict = Say::Suitable(Quality::Word).verdict(rank);
            let stage = Stage::FirstByte;
            for input in [
                Input::Reached { call, stage },
                Input::Answered { call, verdict },
            ] {
                self.machine.handle(input, later, &mut self.bank);
            }
        }
        self.machine.handle_timeout(later, &mut self.bank);
        self.machine.handle(Input::Cancel, later, &mut self.bank);
        match self.machine.poll_effect() {
            Some(effect) => Err(format!("D1, D2: {effect:?} after the settlement")),
            None if self.bank != before => Err("D2: a breaker moved".to_owned()),
            None => Ok(()),
        }
    }
}
