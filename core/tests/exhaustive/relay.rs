//! A committed stream: chunks, silence, the end and breaks, in every order, until nothing new comes.

use crate::explore::{World, digest};
use segue_core::Tick;
use segue_core::failover::relay::{Ending, Relay, Step};
use segue_core::io::NetError;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// One relay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneRelay {
    pub(crate) announced: Option<u64>,
    pub(crate) resumable: bool,
}

/// Of known and unknown length, with and without copies to go on from.
pub(crate) fn worlds() -> Vec<OneRelay> {
    let mut worlds = Vec::new();
    for announced in [None, Some(1), Some(6)] {
        for resumable in [false, true] {
            worlds.push(OneRelay {
                announced,
                resumable,
            });
        }
    }
    worlds
}

const IDLE: u64 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Chunk(u64),
    Ended,
    Broke,
    /// The client asks, and there is nothing yet.
    Waiting,
    /// A second passes.
    Second,
    /// A copy goes on.
    Resumed,
    /// There is none.
    NoCopy,
}

pub(crate) struct State {
    relay: Relay,
    now: u64,
    passed: u64,
    /// Since when the client has been waiting for the upstream.
    waits: Option<u64>,
    /// While a copy is looked for.
    searching: bool,
    over: bool,
}

impl OneRelay {
    fn is_whole(&self, state: &State) -> bool {
        self.announced == Some(state.passed)
    }

    /// The upstream has come to an end of some kind.
    fn ends(&self, state: &mut State, step: Step, because: Ending) -> Result<(), String> {
        let whole = self.is_whole(state);
        let clean_end = because == Ending::Completed && (whole || self.announced.is_none());
        let expected = if clean_end || (whole && because != Ending::Stalled) {
            Step::Finish
        } else {
            let ending = match because {
                Ending::Completed => Ending::Truncated,
                other => other,
            };
            match self.resumable && self.announced.is_some() {
                true => Step::Resume {
                    from: state.passed,
                    ending,
                },
                false => Step::Break(ending),
            }
        };
        (state.waits, state.searching) = (None, matches!(step, Step::Resume { .. }));
        state.over = !state.searching;
        match step == expected {
            true => Ok(()),
            false => Err(format!("3.7: {step:?}, not {expected:?}")),
        }
    }
}

impl World for OneRelay {
    type State = State;
    type Event = Event;

    fn start(&self) -> Result<State, String> {
        Ok(State {
            relay: Relay::new(self.announced, IDLE as u32 * SECOND, self.resumable),
            now: 0,
            passed: 0,
            waits: None,
            searching: false,
            over: false,
        })
    }

    fn events(&self, state: &State) -> Vec<Event> {
        if state.over {
            return Vec::new();
        }
        if state.searching {
            return vec![Event::Resumed, Event::NoCopy, Event::Second];
        }
        let mut events = vec![
            Event::Chunk(1),
            Event::Chunk(2),
            Event::Chunk(7),
            Event::Ended,
            Event::Broke,
            Event::Second,
        ];
        // Nobody waits for more than there is.
        if !self.is_whole(state) {
            events.push(Event::Waiting);
        }
        events
    }

    fn take(&self, state: &mut State, event: Event) -> Result<(), String> {
        let now = Tick::ZERO + state.now as u32 * SECOND;
        match event {
            Event::Chunk(len) => {
                let room = self.announced.map_or(len, |total| total - state.passed);
                let step = state.relay.chunk(len);
                state.passed += len.min(room);
                state.waits = None;
                if step != Step::Deliver(len.min(room)) {
                    return Err(format!("{step:?} of {len} with room for {room}"));
                }
            }
            Event::Ended => {
                let step = state.relay.ended();
                self.ends(state, step, Ending::Completed)?;
            }
            Event::Broke => {
                let step = state.relay.broke(NetError::Reset);
                self.ends(state, step, Ending::Truncated)?;
            }
            Event::Waiting => {
                state.relay.waiting(now);
                state.waits.get_or_insert(state.now);
            }
            Event::Second => {
                state.now += 1;
                let late = state.waits.is_some_and(|since| state.now >= since + IDLE);
                match state.relay.timed_out(now + SECOND) {
                    Some(step) if late => self.ends(state, step, Ending::Stalled)?,
                    None if !late => {}
                    other => return Err(format!("3.3: {other:?}, though late is {late}")),
                }
            }
            Event::Resumed => state.searching = false,
            Event::NoCopy => state.over = true,
        }
        Ok(())
    }

    fn look(&self, state: &mut State) -> Result<(), String> {
        let relay = &state.relay;
        let total = self.announced.map(|total| total - state.passed);
        if relay.passed() != state.passed || relay.remaining() != total {
            return Err(format!("{relay:?}, though {} passed", state.passed));
        }
        if relay.is_complete() != self.is_whole(state) {
            return Err(format!("{relay:?} is not whole"));
        }
        let due = state
            .waits
            .map(|at| Tick::ZERO + (at + IDLE) as u32 * SECOND);
        match state.over || relay.poll_timeout() == due {
            true => Ok(()),
            false => Err(format!("3.3: a timer at {:?}", relay.poll_timeout())),
        }
    }

    /// Moments count from now on, and without a length it does not matter how much has passed.
    fn canon(&self, state: &State) -> u64 {
        let waits = state.waits.map(|since| state.now - since);
        let passed = self.announced.map(|_| state.passed);
        digest((waits, passed, state.searching, state.over))
    }
}
