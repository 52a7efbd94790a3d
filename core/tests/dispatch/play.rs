//! A driver for cases: no runtime, no futures, no clock but a number.

use super::case::*;
use crate::common::Dice;
use segue_core::breaker::{Bank, Phase};
use segue_core::dispatch::*;
use std::collections::BTreeMap;

/// How well the driver behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manners {
    /// Follows the order of one instant to the letter, and is never late.
    Prompt,
    /// The same, but shuffles batches, wakes early, and repeats itself.
    Noisy,
    /// Wakes late, and feeds answers one by one.
    Late,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Effect(Effect<u32>),
    /// An answer was fed that the machine was waiting for.
    Fed(CallId, Verdict<u32>),
    Timer(Option<(segue_core::time::Tick, Why)>),
}

#[derive(Debug)]
pub(crate) struct Run {
    /// In order, with the time in milliseconds.
    pub(crate) trace: Vec<(u64, Seen)>,
    pub(crate) bank: Bank,
    pub(crate) heard: Vec<(Lane, Heard)>,
    /// The most calls that were in flight at once.
    pub(crate) widest: usize,
    /// Calls of the machine before it settled.
    pub(crate) steps: u64,
}

impl Run {
    pub(crate) fn effects(&self) -> Vec<(u64, Effect<u32>)> {
        let effects = self.trace.iter().filter_map(|(at, seen)| match seen {
            Seen::Effect(e) => Some((*at, e.clone())),
            Seen::Fed(..) | Seen::Timer(_) => None,
        });
        effects.collect()
    }

    pub(crate) fn settled(&self) -> (u64, Resolution<u32>) {
        match self.effects().pop() {
            Some((at, Effect::Settle(resolution))) => (at, resolution),
            other => panic!("the last effect is the settlement, not {other:?}"),
        }
    }
}

/// What one call will still do.
#[derive(Clone, Debug)]
struct Script {
    reaches: Vec<(u64, Stage)>,
    answers: Option<(u64, Verdict<u32>)>,
}

struct Player<'a> {
    case: &'a Case,
    manners: Manners,
    machine: Dispatch<u32>,
    open: BTreeMap<CallId, Script>,
    now: u64,
    run: Run,
    noise: Dice,
}

/// Plays a case to its settlement, checking at each step what must hold at all times.
pub(crate) fn play(case: &Case, manners: Manners, noise: u64) -> Run {
    let mut bank = case.bank();
    let machine = Dispatch::start(case.plan(), tick(T0), &mut bank);
    let mut player = Player {
        case,
        manners,
        machine,
        open: BTreeMap::new(),
        now: T0,
        run: Run {
            trace: Vec::new(),
            bank,
            heard: Vec::new(),
            widest: 0,
            steps: 1,
        },
        noise: Dice::seeded(noise),
    };
    player.drain();
    while !player.machine.is_settled() {
        player.step();
        player.drain();
    }
    player.after();
    player.run.heard = player.machine.heard().collect();
    player.run
}

impl Player<'_> {
    fn see(&mut self, seen: Seen) {
        self.run.trace.push((self.now, seen));
    }

    fn drain(&mut self) {
        let bank = &self.run.bank;
        assert_eq!(bank.outstanding(), self.machine.running(), "D3, B2");
        while let Some(effect) = self.machine.poll_effect() {
            match &effect {
                Effect::Call { call, lane } => {
                    let phase = self.run.bank.view(*lane, tick(self.now)).unwrap().phase;
                    let open = matches!(phase, Phase::Open { .. });
                    let desperate = self.machine.is_last_resort();
                    assert!(!open || desperate, "D8");
                    assert!(!desperate || self.case.last_resort.is_some(), "D8");
                    let script = self.script(*call);
                    assert_eq!(self.case.lanes[call.0 as usize].lane, lane.0);
                    assert!(self.open.insert(*call, script).is_none(), "called twice");
                }
                Effect::Abort { call, .. } => {
                    assert!(
                        self.open.remove(call).is_some(),
                        "D3: {call:?} was not open"
                    );
                }
                Effect::Settle(_) => assert!(self.machine.is_settled()),
            }
            self.see(Seen::Effect(effect));
        }
        let mut lanes: Vec<u32> = self.open.keys().map(|c| self.lane(*c)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        assert_eq!(lanes.len(), self.open.len(), "D4: two calls of one lane");
        assert_eq!(self.machine.running(), self.open.len(), "D3");
        self.run.widest = self.run.widest.max(self.open.len());
        let timer = self.machine.poll_timeout();
        self.see(Seen::Timer(timer));
    }

    fn lane(&self, call: CallId) -> u32 {
        self.case.lanes[call.0 as usize].lane
    }

    fn script(&self, call: CallId) -> Script {
        let entry = &self.case.lanes[call.0 as usize];
        let (mut at, mut reaches) = (self.now, Vec::new());
        for (delay, stage) in [(entry.accepts, Stage::Head), (entry.head, Stage::FirstByte)] {
            if let Some(delay) = delay {
                at += delay;
                reaches.push((at, stage));
            }
        }
        let answers = entry.answers.map(|d| (at + d, entry.says.verdict(call.0)));
        Script { reaches, answers }
    }

    /// Everything that is due at the next instant at which anything is, in its order.
    fn step(&mut self) {
        let timer = self
            .machine
            .poll_timeout()
            .map(|(at, _)| at.as_nanos() / 1_000_000);
        let cancel = self.case.cancel.map(|c| T0 + c);
        let reaches = self
            .open
            .values()
            .filter_map(|s| s.reaches.first().map(|r| r.0));
        let answers = self
            .open
            .values()
            .filter_map(|s| s.answers.as_ref().map(|a| a.0));
        let next = reaches.chain(answers).chain(timer).chain(cancel).min();
        let Some(next) = next else {
            panic!("nothing will ever happen: {:?}", self.case);
        };
        if self.manners == Manners::Noisy && next > self.now {
            self.now += self.noise.below(next - self.now);
            self.disturb();
        }
        self.now = self.now.max(next);
        if self.manners == Manners::Late {
            self.now += self.noise.below(4);
        }
        if cancel.is_some_and(|c| c <= self.now) {
            return self.feed(Input::Cancel);
        }
        self.progress();
        let ready: Vec<CallId> = self
            .open
            .iter()
            .filter(|(_, s)| self.is_ready(s))
            .map(|(c, _)| *c)
            .collect();
        if ready.is_empty() {
            if timer.is_some_and(|t| t <= self.now) {
                self.wake();
            }
            return;
        }
        self.answer(ready);
    }

    fn is_ready(&self, script: &Script) -> bool {
        script.answers.as_ref().is_some_and(|a| a.0 <= self.now)
    }

    fn progress(&mut self) {
        let now = self.now;
        let mut due = Vec::new();
        for (call, script) in &mut self.open {
            let (past, future) = script.reaches.iter().partition(|r| r.0 <= now);
            script.reaches = future;
            due.extend(Vec::into_iter(past).map(|(_, stage)| (*call, stage)));
        }
        for (call, stage) in due {
            self.feed(Input::Reached { call, stage });
        }
    }

    fn answer(&mut self, ready: Vec<CallId>) {
        let mut batch = Vec::new();
        for call in ready {
            let script = self.open.remove(&call).unwrap();
            let (_, verdict) = script.answers.unwrap();
            self.see(Seen::Fed(call, verdict.clone()));
            batch.push((call, verdict));
        }
        match self.manners {
            Manners::Prompt => {}
            Manners::Noisy => {
                let by = self.noise.below(batch.len() as u64) as usize;
                batch.rotate_left(by);
            }
            Manners::Late => {
                // The rest would be ready in the next round; a driver that forgets its manners.
                for (call, verdict) in batch.split_off(1) {
                    let (reaches, answers) = (Vec::new(), Some((self.now, verdict)));
                    self.open.insert(call, Script { reaches, answers });
                    self.run.trace.pop();
                }
                let (call, verdict) = batch.remove(0);
                return self.feed(Input::Answered { call, verdict });
            }
        }
        self.feed(Input::Answers(batch));
    }

    fn feed(&mut self, input: Input<u32>) {
        self.run.steps += 1;
        self.machine
            .handle(input, tick(self.now), &mut self.run.bank);
    }

    fn wake(&mut self) {
        self.run.steps += 1;
        self.machine
            .handle_timeout(tick(self.now), &mut self.run.bank);
    }

    /// News that is none. Whatever happens because of it is drained at its own time.
    fn disturb(&mut self) {
        let closed = |c: &CallId| !self.open.contains_key(c);
        let call = Some(CallId(self.noise.below(9) as u32)).filter(closed);
        let call = call.unwrap_or(CallId(77));
        match self.noise.below(4) {
            0 => self.wake(),
            1 => self.feed(Input::Reached {
                call,
                stage: Stage::FirstByte,
            }),
            2 => self.feed(Input::Answers(vec![(call, Verdict::Miss)])),
            _ => {
                let verdict = Say::Suitable(Quality::Word).verdict(0);
                self.feed(Input::Answered { call, verdict });
            }
        }
        assert_eq!(self.machine.poll_effect(), None, "out of nothing");
    }

    /// After the settlement nothing has any effect.
    fn after(&mut self) {
        assert_eq!(self.machine.running(), 0, "D5");
        assert_eq!(self.run.bank.outstanding(), 0, "D5");
        assert_eq!(self.machine.poll_timeout(), None, "D2");
        let before = self.run.steps;
        for call in 0..self.case.lanes.len() as u32 {
            let (call, stage) = (CallId(call), Stage::Head);
            self.feed(Input::Reached { call, stage });
            let verdict = Say::Suitable(Quality::Word).verdict(0);
            self.feed(Input::Answered { call, verdict });
        }
        self.now += 1_000;
        self.wake();
        self.feed(Input::Cancel);
        assert_eq!(self.machine.poll_effect(), None, "D2");
        self.run.steps = before;
    }
}
