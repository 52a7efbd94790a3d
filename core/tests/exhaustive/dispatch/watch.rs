//! What is known of a dispatch from outside, and what must follow from it.

use super::case::{Case, Entry, How, Say, T0, tick};
use segue_core::breaker::{Bank, Phase};
use segue_core::dispatch::*;
use std::collections::BTreeMap;

/// What became of one entry of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Fate {
    Untouched,
    /// Called at this moment.
    Called(u64),
    Said(Said),
    /// Its time ran out.
    Late,
    GivenUp,
}

/// A verdict, as far as anything follows from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Said {
    Suitable(Quality),
    Unsuitable(Quality),
    Miss,
    Transport,
    Busy,
    Cancelled,
}

impl From<Say> for Said {
    fn from(say: Say) -> Said {
        match say {
            Say::Suitable(quality) if quality >= Quality::Plain => Said::Suitable(quality),
            Say::Suitable(quality) | Say::Unsuitable(quality) => Said::Unsuitable(quality),
            Say::Miss => Said::Miss,
            Say::Transport => Said::Transport,
            Say::Throttled(_) | Say::Auth | Say::Renewal => Said::Busy,
            Say::Cancelled => Said::Cancelled,
        }
    }
}

/// A call that begins.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) call: CallId,
    pub(crate) lane: Lane,
    /// Of its breaker, once it was asked.
    pub(crate) phase: Option<Phase>,
    /// Whether it is a last resort.
    pub(crate) desperate: bool,
    pub(crate) now: u64,
}

/// Looks on.
#[derive(Hash)]
pub(crate) struct Watch {
    fates: Vec<Fate>,
    /// When the breaker of each lane last opened, and its generation then.
    failed: BTreeMap<Lane, (u32, u64)>,
    /// Whether last-resort calls were made.
    desperate: bool,
    /// When the first suitable answer came.
    held: Option<u64>,
    last_called: Option<CallId>,
    /// Whether the timer of that call was heard before it had accepted.
    freed: bool,
    pub(crate) cancelled: bool,
    pub(crate) over: Option<Resolution<u32>>,
}

impl Watch {
    pub(crate) fn new(case: &Case, before: &Bank) -> Self {
        let mut watch = Watch {
            fates: vec![Fate::Untouched; case.lanes.len()],
            failed: BTreeMap::new(),
            desperate: false,
            held: None,
            last_called: None,
            freed: false,
            cancelled: false,
            over: None,
        };
        for entry in &case.lanes {
            if let Some((ago, _)) = entry.tripped {
                watch.failures(before, T0 - ago);
            }
        }
        watch
    }

    /// Notes which breakers have opened.
    pub(crate) fn failures(&mut self, bank: &Bank, now: u64) {
        for lane in bank.lanes() {
            let view = bank.view(lane, tick(now)).expect("it is registered");
            let known = self.failed.get(&lane).map(|(generation, _)| *generation);
            if matches!(view.phase, Phase::Open { .. }) && known != Some(view.generation) {
                self.failed.insert(lane, (view.generation, now));
            }
        }
    }

    pub(crate) fn ranks(&self) -> u32 {
        self.fates.len() as u32
    }

    pub(crate) fn told(&mut self, call: CallId, say: Say, now: u64) {
        let said = Said::from(say);
        if let Said::Suitable(_) = said {
            self.held.get_or_insert(now);
        }
        self.fates[call.0 as usize] = Fate::Said(said);
    }

    pub(crate) fn aborted(&mut self, call: CallId, why: AbortReason) {
        self.fates[call.0 as usize] = match why {
            AbortReason::BudgetExceeded(_) => Fate::Late,
            AbortReason::LostRace | AbortReason::Deadline | AbortReason::Cancelled => Fate::GivenUp,
        };
    }

    /// A call begins: may it?
    pub(crate) fn called(
        &mut self,
        case: &Case,
        ask: &Ask,
        open: &BTreeMap<CallId, Stage>,
    ) -> Result<(), String> {
        let rank = ask.call.0 as usize;
        let entry = &case.lanes[rank];
        if entry.lane != ask.lane.0 || entry.known.is_some() || self.fates[rank] != Fate::Untouched
        {
            return Err(format!("{ask:?} is not to be made"));
        }
        if ask.desperate {
            // Contracts 3.2: nothing else is left, and the last failure is some time ago.
            if !self.desperate && !open.is_empty() {
                return Err(format!("3.2: {ask:?} while {open:?}"));
            }
            self.desperate = true;
            let age = case.last_resort.unwrap_or(u64::MAX);
            let failed = self.failed.get(&ask.lane).map_or(0, |(_, at)| *at);
            let is_open = matches!(ask.phase, Some(Phase::Open { .. }));
            if is_open && ask.now < failed.saturating_add(age) {
                return Err(format!("3.2: {ask:?}, though it failed at {failed}"));
            }
        } else if !matches!(ask.phase, Some(Phase::Closed | Phase::HalfOpen)) {
            return Err(format!("D8: {ask:?}"));
        }
        let before = self.last_called.filter(|call| open.contains_key(call));
        let in_turn = self.freed || before.is_none() || matches!(case.how, How::Parallel(_));
        if !in_turn {
            return Err(format!("{before:?} still holds up {ask:?}"));
        }
        self.last_called = Some(ask.call);
        self.freed = false;
        self.fates[rank] = Fate::Called(ask.now);
        Ok(())
    }

    /// The timers are about to be heard.
    pub(crate) fn woken(&mut self, case: &Case, now: u64, open: &BTreeMap<CallId, Stage>) {
        let Some((call, stage)) = self.last_called.and_then(|c| Some((c, *open.get(&c)?))) else {
            return;
        };
        let Fate::Called(since) = self.fates[call.0 as usize] else {
            return;
        };
        self.freed |= match case.how {
            How::Ordered | How::Parallel(_) => false,
            How::HedgedUntilAnswered(after) => now >= since + after,
            How::HedgedUntilAccepted(after) => now >= since + after && stage == Stage::Connect,
        };
    }

    /// A held answer is not held for longer than the race window (D7).
    pub(crate) fn hold(&self, case: &Case, now: u64) -> Result<(), String> {
        match (case.how, self.held) {
            (How::Parallel(wait), Some(since)) if now > since + wait => {
                Err(format!("D7: held since {since}, and now it is {now}"))
            }
            _ => Ok(()),
        }
    }

    fn best(&self) -> Option<Quality> {
        let suitable = self.fates.iter().filter_map(|fate| match fate {
            Fate::Said(Said::Suitable(quality)) => Some(*quality),
            _ => None,
        });
        suitable.max()
    }

    /// It goes on: should it?
    pub(crate) fn wait(&self, case: &Case, heard: &[Heard], running: usize) -> Result<(), String> {
        let enough = match case.how {
            How::Parallel(_) => Quality::Line,
            How::Ordered | How::HedgedUntilAnswered(_) | How::HedgedUntilAccepted(_) => {
                Quality::Plain
            }
        };
        let won = self.best() >= Some(enough);
        let waiting = heard.contains(&Heard::Waiting);
        if won || self.cancelled || (running == 0 && !waiting) {
            return Err(format!("it goes on, though {:?}", self.fates));
        }
        Ok(())
    }

    /// It is over: as the table of resolutions says (D6, D10)?
    pub(crate) fn judge(
        &self,
        case: &Case,
        heard: &[Heard],
        over: &Resolution<u32>,
    ) -> Result<(), String> {
        let expected = self.expected(case, heard);
        let seen = match over {
            Resolution::Won {
                call,
                lane,
                value,
                quality,
            } => {
                let said = self.fates[call.0 as usize];
                let told = Fate::Said(Said::Suitable(*quality));
                let named = case.lanes[call.0 as usize].lane == lane.0 && *value == call.0;
                if said != told || !named {
                    return Err(format!("D6: {over:?} of {said:?}"));
                }
                Outcome::Won(*quality)
            }
            Resolution::BestAvailable { quality, .. } => Outcome::BestAvailable(*quality),
            Resolution::BestKnown { .. } => Outcome::BestKnown,
            Resolution::Miss => Outcome::Miss,
            Resolution::Uncertain { class, .. } => Outcome::Uncertain(*class),
            Resolution::Unavailable { .. } => Outcome::Unavailable,
            Resolution::Cancelled => Outcome::Cancelled,
        };
        if seen != expected {
            let fates = &self.fates;
            return Err(format!("D6, D10: {seen:?}, not {expected:?}, of {fates:?}"));
        }
        Ok(())
    }

    /// The table of resolutions, from what each lane did. Nothing here has an order in time.
    fn expected(&self, case: &Case, heard: &[Heard]) -> Outcome {
        if self.cancelled {
            return Outcome::Cancelled;
        }
        if let Some(best) = self.best() {
            return Outcome::Won(best);
        }
        let (mut class, mut best, mut given_up, mut asked) = (None, None, false, false);
        for ((fate, entry), heard) in self.fates.iter().zip(&case.lanes).zip(heard) {
            asked |= *fate != Fate::Untouched;
            let doubt = match fate {
                Fate::Untouched => match (entry.known, heard) {
                    (Some(_), _) => None,
                    (None, Heard::Open { .. }) => Some(Class::Open),
                    (None, _) => Some(Class::Transport),
                },
                Fate::Called(_) | Fate::Late | Fate::GivenUp => Some(Class::Transport),
                Fate::Said(Said::Suitable(_) | Said::Miss) => None,
                Fate::Said(Said::Unsuitable(quality)) => {
                    best = best.max(Some(*quality));
                    None
                }
                Fate::Said(Said::Transport) => Some(Class::Transport),
                Fate::Said(Said::Busy) => Some(Class::ThrottledOrAuth),
                Fate::Said(Said::Cancelled) => {
                    given_up = true;
                    None
                }
            };
            class = class.max(doubt);
        }
        let known = |e: &Entry| e.known == Some(Known::Unsuitable);
        match (class, best) {
            (Some(Class::Open), _) if !asked => Outcome::Unavailable,
            (Some(class), _) => Outcome::Uncertain(class),
            (None, _) if given_up => Outcome::Cancelled,
            (None, Some(quality)) => Outcome::BestAvailable(quality),
            (None, None) if case.lanes.iter().any(known) => Outcome::BestKnown,
            (None, None) => Outcome::Miss,
        }
    }
}

/// A resolution, as far as the table fixes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Outcome {
    Won(Quality),
    BestAvailable(Quality),
    BestKnown,
    Miss,
    Uncertain(Class),
    Unavailable,
    Cancelled,
}
