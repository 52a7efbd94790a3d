//! Drives a [`Failover`] to its outcome over a real or simulated network.

use super::exchange::{self, Opening, Progress, Wanted};
use super::{contained, lock};
use crate::breaker::Bank;
use crate::dispatch::{CallId, Stage};
use crate::failover::{Attempt, Candidate, Effect, Failover, Input, Limits, Outcome};
use crate::io::{Clock, Network, Runtime};
use crate::source::range::ByteRange;
use crate::source::refusal::Refusal;
use crate::twin::{self, Twin};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll};

/// The request to open one candidate with.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// Ready to be sent.
    pub request: http::Request<Bytes>,
    /// The range it carries, to judge the answer by.
    pub range: Option<ByteRange>,
}

/// How an opening went.
#[derive(Debug)]
pub struct Opened<B> {
    /// The commit, or why there is none.
    pub outcome: Outcome<Opening<B>>,
    /// Everything that was tried.
    pub attempts: Vec<Attempt>,
}

/// Opens the best candidate that can be had. `request_for` makes the request of a candidate, by index; it is
/// asked afresh for each (rule 4).
pub async fn open<R: Runtime>(
    runtime: &R,
    bank: &Mutex<Bank>,
    candidates: Vec<Candidate>,
    limits: &Limits,
    wanted: Wanted,
    request_for: impl Fn(usize) -> Result<OpenRequest, Refusal> + Send + Sync,
) -> Opened<<R::Network as Network>::Body> {
    let clock = runtime.clock();
    let session = Failover::start(candidates, limits, clock.now(), &mut lock(bank));
    let mut run = Guarded {
        session,
        bank,
        clock,
    };
    let mut calls = Calls(Vec::new());
    loop {
        while let Some(effect) = run.session.poll_effect() {
            match effect {
                Effect::Open { call, candidate } => {
                    let progress = Progress::default();
                    let exchange = exchange::open_one(
                        runtime,
                        request_for(candidate),
                        wanted,
                        progress.clone(),
                    );
                    calls.0.push(InFlight {
                        call,
                        progress,
                        reached: Stage::Connect,
                        exchange: Box::pin(exchange),
                    });
                }
                Effect::Abort { .. } if twin::is(Twin::AbortIgnored) => {}
                Effect::Abort { call } => calls.0.retain(|c| c.call != call),
                Effect::Settle(outcome) => {
                    return Opened {
                        outcome,
                        attempts: run.session.attempts().to_vec(),
                    };
                }
            }
        }
        let (wake_at, _) = run
            .session
            .poll_timeout()
            .expect("F7: an unsettled opening has a deadline");
        let mut timer = pin!(clock.sleep_until(wake_at));
        // Answers first: one that arrives with the timer still counts.
        let events = poll_fn(|cx| {
            if twin::is(Twin::TimerBeforeAnswer) && timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Vec::new());
            }
            let events = calls.poll_events(cx);
            if events.is_empty() {
                timer.as_mut().poll(cx).map(|()| events)
            } else {
                Poll::Ready(events)
            }
        })
        .await;
        run.feed(events);
    }
}

enum Event<B> {
    Reached(CallId, Stage),
    Done(CallId, Result<Opening<B>, Refusal>),
}

struct InFlight<F> {
    call: CallId,
    progress: Progress,
    reached: Stage,
    exchange: Pin<Box<F>>,
}

/// The calls in flight, polled in the order they were made.
struct Calls<F>(Vec<InFlight<F>>);

impl<B, F: Future<Output = Result<Opening<B>, Refusal>>> Calls<F> {
    /// Everything that is ready at this instant.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> Vec<Event<B>> {
        let mut events = Vec::new();
        self.0
            .retain_mut(|c| match contained(|| c.exchange.as_mut().poll(cx)) {
                Poll::Ready(result) => {
                    let result = result.unwrap_or_else(|panicked| Err(Refusal::Net(panicked)));
                    events.push(Event::Done(c.call, result));
                    false
                }
                Poll::Pending => {
                    let stage = c.progress.stage();
                    if stage != c.reached {
                        c.reached = stage;
                        events.push(Event::Reached(c.call, stage));
                    }
                    true
                }
            });
        events
    }
}

/// Hands every permit back even when the driver is dropped half-way (B2, B8).
struct Guarded<'a, T, C: Clock> {
    session: Failover<T>,
    bank: &'a Mutex<Bank>,
    clock: &'a C,
}

impl<B, C: Clock> Guarded<'_, Opening<B>, C> {
    /// Feeds what was ready, or the timer when nothing was.
    fn feed(&mut self, events: Vec<Event<B>>) {
        let now = self.clock.now();
        let bank = &mut lock(self.bank);
        if events.is_empty() {
            self.session.handle_timeout(now, bank);
        }
        let mut answers = Vec::new();
        for event in events {
            match event {
                Event::Reached(call, stage) => {
                    self.session
                        .handle(Input::Reached { call, stage }, now, bank);
                }
                Event::Done(call, answer) => answers.push((call, answer)),
            }
        }
        if !answers.is_empty() {
            self.session.handle(Input::Answers(answers), now, bank);
        }
    }
}

impl<T, C: Clock> Drop for Guarded<'_, T, C> {
    fn drop(&mut self) {
        if twin::is(Twin::PermitLeakedOnDrop) {
            return;
        }
        let now = self.clock.now();
        self.session
            .handle(Input::Cancel, now, &mut lock(self.bank));
        while self.session.poll_effect().is_some() {}
    }
}
