//! One lane in every mode side by side: whatever happens, they do the same (D11).

use crate::dispatch::case::{Case, How, Say, T0, tick};
use crate::dispatch::{EVERYTHING, HOWS, Stand, dispatch, entry};
use crate::explore::{World, digest};
use segue_core::breaker::Bank;
use segue_core::dispatch::*;

/// One lane, in every mode.
#[derive(Clone, Debug)]
pub(crate) struct OneLane(Case);

/// Its breaker in every position, with and without a deadline and a last resort.
pub(crate) fn worlds() -> Vec<OneLane> {
    let mut worlds = Vec::new();
    for stand in [Stand::Closed, Stand::Open, Stand::HalfOpen] {
        for deadline in [None, Some(0), Some(3), Some(5)] {
            for last_resort in [None, Some(1), Some(3)] {
                let mut case = dispatch(How::Ordered, &[stand]).case;
                case.lanes = vec![entry(0, stand)];
                (case.deadline, case.last_resort) = (deadline, last_resort);
                worlds.push(OneLane(case));
            }
        }
    }
    worlds
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Reached(Stage),
    Answered(Say),
    Cancel,
    Passes,
    Wake,
}

pub(crate) struct State {
    now: u64,
    machines: Vec<(Dispatch<u32>, Bank)>,
    /// What the first of them did; the others did it, too.
    did: Vec<Effect<u32>>,
}

impl State {
    fn timer(&self) -> Option<u64> {
        let next = self.machines[0].0.poll_timeout();
        next.map(|(at, _)| at.as_nanos() / 1_000_000)
    }

    fn drain(&mut self) -> Result<(), String> {
        let mut all = Vec::new();
        for (machine, bank) in &mut self.machines {
            let effects: Vec<_> = std::iter::from_fn(|| machine.poll_effect()).collect();
            let heard: Vec<_> = machine.heard().collect();
            all.push((effects, machine.poll_timeout(), heard, bank.clone()));
        }
        let first = all.swap_remove(0);
        for (other, how) in all.iter().zip([HOWS[3], HOWS[1], HOWS[2]]) {
            if *other != first {
                return Err(format!("D11: {how:?}: {other:?}, not {first:?}"));
            }
        }
        self.did.extend(first.0);
        Ok(())
    }
}

impl World for OneLane {
    type State = State;
    type Event = Event;

    fn start(&self) -> Result<State, String> {
        let begin = |how| {
            let case = Case {
                how,
                ..self.0.clone()
            };
            let mut bank = case.bank();
            (Dispatch::start(case.plan(), tick(T0), &mut bank), bank)
        };
        let mut state = State {
            now: T0,
            machines: HOWS.map(begin).into(),
            did: Vec::new(),
        };
        state.drain()?;
        Ok(state)
    }

    fn events(&self, state: &State) -> Vec<Event> {
        let mut events = Vec::new();
        if state.machines[0].0.is_settled() {
            return events;
        }
        events.extend([Event::Wake, Event::Cancel]);
        if state.timer().is_some_and(|at| at > state.now) {
            events.push(Event::Passes);
        }
        events.extend(EVERYTHING.map(Event::Answered));
        events.extend([Stage::Head, Stage::FirstByte].map(Event::Reached));
        events
    }

    fn take(&self, state: &mut State, event: Event) -> Result<(), String> {
        if let Event::Passes = event {
            state.now = state.timer().expect("a timer");
            return Ok(());
        }
        let (now, call) = (tick(state.now), CallId(0));
        for (machine, bank) in &mut state.machines {
            let input = match event {
                Event::Reached(stage) => Input::Reached { call, stage },
                Event::Answered(say) => {
                    let verdict = say.verdict(0);
                    Input::Answered { call, verdict }
                }
                Event::Cancel => Input::Cancel,
                Event::Passes | Event::Wake => {
                    machine.handle_timeout(now, bank);
                    continue;
                }
            };
            machine.handle(input, now, bank);
        }
        state.drain()
    }

    fn look(&self, state: &mut State) -> Result<(), String> {
        let over = state.machines[0].0.is_settled();
        let settled = matches!(state.did.last(), Some(Effect::Settle(_)));
        match over == settled {
            true => Ok(()),
            false => Err(format!("D1: {:?}", state.did)),
        }
    }

    fn canon(&self, state: &State) -> u64 {
        digest((state.now, &state.machines, &state.did))
    }
}
