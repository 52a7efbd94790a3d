//! One song over all lanes: drives a [`Dispatch`] over codecs and a network.
//!
//! As for streams, the calls in flight live inside this future: dropping it gives everything up, and hands every
//! permit back (B2, D5).

use super::ask::{self, Asked, Asking};
use super::desk::Desk;
use super::lanes::{Setup, Slot};
use crate::breaker::{Bank, View};
use crate::dispatch::{
    Budgets, CallId, Dispatch, Effect, Failure, Heard, Input, Known, Lane, LanePlan, Plan, Quality,
    Resolution, Stage, Verdict,
};
use crate::driver::lock;
use crate::io::{Clock, Runtime};
use crate::lyrics::document::Document;
use crate::lyrics::{Lyrics, Matched, Song, accept};
use crate::provider::{Candidate, Outcome};
use crate::queue::{Identity, Ticket};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// How long a lookup may wait for its lane's turn.
const LINE: Duration = Duration::from_secs(10 * 60);

/// A lookup's time, in requests of its lane.
const REQUESTS: u32 = 4;

/// What a lane has, as far as it may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The words, or that there are none; `None` when refused.
    pub lyrics: Option<Lyrics>,
    /// What it says it is.
    pub matched: Matched,
    /// Why it was refused, or is less than it could be.
    pub reason: Option<String>,
}

/// What a dispatch needs to know.
pub(super) struct Race<'a, R: Runtime, D> {
    pub(super) runtime: &'a R,
    pub(super) desk: &'a D,
    pub(super) bank: &'a Mutex<Bank>,
    pub(super) setup: &'a Setup,
    pub(super) asked: &'a Asked,
    pub(super) identity: &'a Identity,
    /// The claim, for what it finds out about other songs.
    pub(super) ticket: Ticket,
    /// How good the lyrics are that the song has.
    pub(super) standing: Quality,
    pub(super) known: BTreeMap<Lane, Known>,
}

/// What came of a dispatch.
#[derive(Debug)]
pub(super) struct Raced {
    pub(super) resolution: Resolution<Answer>,
    pub(super) heard: Vec<(Lane, Heard)>,
    /// What each lane said, in a few words.
    pub(super) reasons: BTreeMap<Lane, String>,
}

impl<R: Runtime, D: Desk> Race<'_, R, D> {
    /// Asks until it is settled.
    pub(super) async fn run(&self) -> Raced {
        let clock = self.runtime.clock();
        let machine = Dispatch::start(self.plan(), clock.now(), &mut lock(self.bank));
        let mut run = Guarded {
            machine,
            bank: self.bank,
            clock,
        };
        let mut calls = Calls(Vec::new());
        let mut reasons = BTreeMap::new();
        loop {
            while let Some(effect) = run.machine.poll_effect() {
                match effect {
                    Effect::Call { call, lane } => calls.0.extend(self.call(call, lane)),
                    Effect::Abort { call, .. } => calls.0.retain(|c| c.call != call),
                    Effect::Settle(resolution) => {
                        return Raced {
                            resolution,
                            heard: run.machine.heard().collect(),
                            reasons,
                        };
                    }
                }
            }
            let wake_at = run.machine.poll_timeout().map(|(at, _)| at);
            let wake_at = wake_at.expect("D5: an unsettled dispatch has a budget");
            let mut timer = pin!(clock.sleep_until(wake_at));
            // Answers first: one that arrives with the timer still counts.
            let events = poll_fn(|cx| {
                let events = calls.poll_events(cx);
                match events.is_empty() {
                    true => timer.as_mut().poll(cx).map(|()| events),
                    false => Poll::Ready(events),
                }
            })
            .await;
            run.feed(events, &mut reasons);
        }
    }

    fn plan(&self) -> Plan {
        let lane = |slot: &Slot| {
            let timeout = slot.codec.descriptor().timeout;
            let whole = timeout.saturating_mul(REQUESTS);
            LanePlan {
                lane: slot.lane,
                budgets: Budgets {
                    connect: LINE,
                    head: whole,
                    first_byte: whole,
                },
                known: self.known.get(&slot.lane).copied(),
            }
        };
        Plan {
            lanes: self.setup.slots.iter().map(lane).collect(),
            mode: self.setup.book.mode,
            deadline: None,
            last_resort: None,
            accept_within: None,
        }
    }

    fn call<'s>(&'s self, call: CallId, lane: Lane) -> Option<InFlight<'s>> {
        let slot = self.setup.slot(lane)?;
        let begun = std::sync::Arc::new(AtomicBool::new(false));
        let admitted = lock(self.bank).view(lane, self.runtime.clock().now());
        let told = std::sync::Arc::clone(&begun);
        Some(InFlight {
            call,
            lane,
            told: false,
            begun,
            lookup: Box::pin(async move { self.verdict(slot, admitted, &told).await }),
        })
    }

    async fn verdict(&self, slot: &Slot, admitted: Option<View>, begun: &AtomicBool) -> Told {
        let asking = ask::ask(
            self.runtime,
            self.bank,
            self.setup,
            slot,
            self.asked,
            admitted,
            begun,
        );
        let outcome = match asking.await {
            Asking::Heard { outcome, since } => {
                if let Some(since) = since {
                    let took = self.runtime.clock().now().since(since);
                    self.desk.timed(slot.name(), took);
                }
                outcome
            }
            Asking::Closed { wait } => {
                let failure = Failure::Throttled {
                    retry_after: Some(wait),
                };
                return Told::because(Verdict::Failed(failure), "left alone for a while");
            }
        };
        let candidates = match outcome {
            Outcome::Found(candidates) => candidates,
            Outcome::Miss(reason) => {
                return Told::because(Verdict::Miss, ask::words_of_miss(reason));
            }
            Outcome::Failed(trouble) => {
                let verdict = Verdict::Failed(trouble.failure());
                return Told::because(verdict, ask::words_of_trouble(trouble));
            }
        };
        let (song, rules) = (&self.asked.song, &self.setup.book.rules);
        let Ok(mut answer) = ask::isolated(|| accepted(song, candidates, rules)) else {
            let trouble = crate::provider::Trouble::Panicked;
            let verdict = Verdict::Failed(trouble.failure());
            return Told::because(verdict, ask::words_of_trouble(trouble));
        };
        if slot.is_remote() && self.is_decoy(slot.name(), &answer).await {
            answer = Answer {
                lyrics: None,
                reason: Some("the same words were given for another song".to_owned()),
                ..answer
            };
        }
        let quality = answer
            .lyrics
            .as_ref()
            .map_or(Quality::None, Lyrics::quality);
        // No better than what the song has: another lane may have better, so this does not end the search (S3).
        let suitable = quality >= Quality::Plain && quality > self.standing;
        let reason = match suitable || self.standing == Quality::None {
            true => answer.reason.clone(),
            false => Some("has nothing better".to_owned()),
        };
        Told {
            reason,
            verdict: Verdict::Answer {
                value: answer,
                quality,
                suitable,
            },
        }
    }

    /// Whether these words were stored for a song that has nothing to do with this one; then that one does not keep them
    /// either. A store that cannot say lets them pass.
    async fn is_decoy(&self, lane: &str, answer: &Answer) -> bool {
        let words = answer.lyrics.as_ref();
        let Some(words) = words.filter(|lyrics| lyrics.quality() >= Quality::Plain) else {
            return false;
        };
        let document = Document::of(words).id;
        let told = self.desk.is_decoy(document.as_str(), self.identity).await;
        if !told.unwrap_or(false) {
            return false;
        }
        let now = self.runtime.clock().wall();
        let taken = self
            .desk
            .quarantine(self.ticket, lane, document.as_str(), now);
        if let Err(error) = taken.await {
            self.desk.trouble(
                "words that were given for anything stay where they are",
                &error,
            );
        }
        true
    }
}

/// The best candidate as it may be used, or why there is none.
fn accepted(song: &Song, candidates: Vec<Candidate>, rules: &accept::Rules) -> Answer {
    let views: Vec<_> = candidates.iter().map(|c| (&c.lyrics, &c.matched)).collect();
    let best = accept::best(song, &views, rules);
    let chosen = best.map_or(0, |pick| pick.index);
    let Some(candidate) = candidates.into_iter().nth(chosen) else {
        return Answer {
            lyrics: None,
            matched: Matched::default(),
            reason: None,
        };
    };
    let matched = candidate.matched;
    match accept::admit(song, candidate.lyrics, &matched, rules) {
        Ok(admitted) => Answer {
            lyrics: Some(admitted.lyrics),
            reason: admitted.mistimed.map(|why| why.to_string()),
            matched,
        },
        Err(refused) => Answer {
            lyrics: None,
            reason: Some(refused.to_string()),
            matched,
        },
    }
}

struct Told {
    verdict: Verdict<Answer>,
    reason: Option<String>,
}

impl Told {
    fn because(verdict: Verdict<Answer>, reason: impl Into<String>) -> Self {
        Told {
            verdict,
            reason: Some(reason.into()),
        }
    }
}

struct InFlight<'a> {
    call: CallId,
    lane: Lane,
    told: bool,
    begun: std::sync::Arc<AtomicBool>,
    lookup: Pin<Box<dyn Future<Output = Told> + Send + 'a>>,
}

enum Event {
    Begun(CallId),
    Done(CallId, Lane, Box<Told>),
}

/// The calls in flight, polled in the order they were made.
struct Calls<'a>(Vec<InFlight<'a>>);

impl Calls<'_> {
    /// Everything that is ready at this instant.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Vec<Event> {
        let mut events = Vec::new();
        self.0.retain_mut(|c| match c.lookup.as_mut().poll(cx) {
            Poll::Ready(told) => {
                events.push(Event::Done(c.call, c.lane, Box::new(told)));
                false
            }
            Poll::Pending => {
                if !c.told && c.begun.load(Ordering::Acquire) {
                    c.told = true;
                    events.push(Event::Begun(c.call));
                }
                true
            }
        });
        events
    }
}

/// Hands every permit back even when the driver is dropped half-way (B2).
struct Guarded<'a, C: Clock> {
    machine: Dispatch<Answer>,
    bank: &'a Mutex<Bank>,
    clock: &'a C,
}

impl<C: Clock> Guarded<'_, C> {
    /// Feeds what was ready, or the timer when nothing was.
    fn feed(&mut self, events: Vec<Event>, reasons: &mut BTreeMap<Lane, String>) {
        let now = self.clock.now();
        let bank = &mut lock(self.bank);
        if events.is_empty() {
            self.machine.handle_timeout(now, bank);
        }
        let mut answers = Vec::new();
        for event in events {
            match event {
                Event::Begun(call) => {
                    let stage = Stage::Head;
                    let input = Input::Reached { call, stage };
                    self.machine.handle(input, now, bank);
                }
                Event::Done(call, lane, told) => {
                    reasons.extend(told.reason.map(|reason| (lane, reason)));
                    answers.push((call, told.verdict));
                }
            }
        }
        if !answers.is_empty() {
            self.machine.handle(Input::Answers(answers), now, bank);
        }
    }
}

impl<C: Clock> Drop for Guarded<'_, C> {
    fn drop(&mut self) {
        let now = self.clock.now();
        self.machine
            .handle(Input::Cancel, now, &mut lock(self.bank));
        while self.machine.poll_effect().is_some() {}
    }
}
