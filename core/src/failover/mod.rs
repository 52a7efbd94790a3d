//! One stream request: from ranked candidates to a committed source, and from there to the last byte.
//!
//! Contracts section 3. [`Failover`] is the opening: a [`Dispatch`] over the candidates that keeps
//! the list of attempts. [`relay::Relay`] is what follows the commit point.
//!
//! Driven like every machine here: feed [`Failover::handle`] or [`Failover::handle_timeout`], then
//! drain [`Failover::poll_effect`] to `None`, then wait until [`Failover::poll_timeout`].
//!
//! ```
//! use segue_core::breaker::{Bank, Lane, Policy};
//! use segue_core::failover::{Candidate, Effect, Failover, Input, Limits, Outcome};
//! use segue_core::source::refusal::Refusal;
//! use segue_core::{Tick, io::NetError};
//!
//! let mut bank = Bank::new();
//! let candidates: Vec<Candidate> = ["home", "shelf"].iter().enumerate().map(|(n, id)| {
//!     bank.register(Lane(n as u32), Policy::instance(Limits::default().suspect));
//!     Candidate { lane: Lane(n as u32), source: (*id).to_owned() }
//! }).collect();
//! let mut session = Failover::start(candidates, &Limits::default(), Tick::ZERO, &mut bank);
//! let Some(Effect::Open { call, candidate: 0 }) = session.poll_effect() else { panic!() };
//! let refused = Err(Refusal::Net(NetError::Refused));
//! session.handle(Input::Answers(vec![(call, refused)]), Tick::ZERO, &mut bank);
//! let Some(Effect::Open { call, candidate: 1 }) = session.poll_effect() else { panic!() };
//! session.handle(Input::Answers(vec![(call, Ok("music"))]), Tick::ZERO, &mut bank);
//! assert_eq!(
//!     session.poll_effect(),
//!     Some(Effect::Settle(Outcome::Committed { candidate: 1, opening: "music" })),
//! );
//! ```

pub mod ranges;
pub mod relay;

use crate::breaker::{Bank, Lane};
use crate::catalog::model::InstanceId;
use crate::dispatch::{
    self, AbortReason, Budgets, CallId, Dispatch, Heard, LanePlan, Milestone, Mode, Plan, Quality,
    Resolution, Stage, Verdict, Why,
};
use crate::source::refusal::{Refusal, RefusalClass};
use crate::time::Tick;
use crate::twin::{self, Twin};
use std::time::Duration;

/// How long each part of an opening may take, and how candidates are tried. Configuration `[stream]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How candidates are tried.
    pub mode: StreamMode,
    /// Until a candidate must have accepted a connection.
    pub connect: Duration,
    /// Then until its response head.
    pub head: Duration,
    /// Then until its first body byte.
    pub first_byte: Duration,
    /// The whole opening, over all candidates (F7).
    pub open_budget: Duration,
    /// How long the upstream of a committed stream may stay silent while we wait for it.
    pub idle: Duration,
    /// After this long without an accepted connection, a candidate no longer holds up the next one.
    pub stagger: Duration,
    /// How long a source that failed is suspect: the `instance` policy's window.
    pub suspect: Duration,
    /// What happens when the upstream dies after the commit point.
    pub midstream: Midstream,
}

impl Default for Limits {
    /// The numbers of contracts section 3 and product section 2.
    fn default() -> Self {
        Limits {
            mode: StreamMode::Ordered,
            connect: Duration::from_secs(2),
            head: Duration::from_secs(5),
            first_byte: Duration::from_secs(5),
            open_budget: Duration::from_secs(15),
            idle: Duration::from_secs(30),
            stagger: Duration::from_millis(250),
            suspect: Duration::from_secs(60),
            midstream: Midstream::Abort,
        }
    }
}

/// `stream.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamMode {
    /// One after another in rank order; only a candidate that does not even accept is overtaken.
    Ordered,
    /// As ordered, but the next also starts when the current one has not answered within the stagger.
    Hedged,
    /// All at once; the first good opening wins.
    Parallel,
}

/// `stream.midstream`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Midstream {
    /// The client's connection breaks, short of its length (rule 7).
    Abort,
    /// Raw streams go on from a copy proved byte-identical; anything else aborts.
    Resume,
}

/// A last-resort attempt comes no sooner than this after its instance's last failure (rule 2).
pub const LAST_RESORT_AFTER: Duration = Duration::from_secs(5);

/// A place to open the track, in rank order. What to request there is the caller's to know, by index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The breaker of its instance.
    pub lane: Lane,
    /// Its instance, for the record.
    pub source: InstanceId,
}

/// What happened.
#[derive(Debug)]
pub enum Input<T> {
    /// A call has got as far as waiting for `stage`.
    Reached {
        /// Which call.
        call: CallId,
        /// What it waits for now.
        stage: Stage,
    },
    /// These calls have all ended at this instant: each with a validated opening (rule 5), or with why the
    /// candidate gave nothing that could be sent. Their order does not matter.
    Answers(Vec<(CallId, Result<T, Refusal>)>),
    /// The client went away (rule 9, B8).
    Cancel,
}

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect<T> {
    /// Open this candidate.
    Open {
        /// The call to answer with.
        call: CallId,
        /// Index into the candidates.
        candidate: usize,
    },
    /// Drop the call; an answer to it is ignored.
    Abort {
        /// Which call.
        call: CallId,
    },
    /// The last effect of every session's opening.
    Settle(Outcome<T>),
}

/// How an opening ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The commit point is passed: from now on only this candidate's bytes go to the client (F1, F2).
    Committed {
        /// Index into the candidates.
        candidate: usize,
        /// As it was handed in.
        opening: T,
    },
    /// No candidate could be opened: 502.
    Exhausted {
        /// How long a client does well to wait, when that is known.
        retry_after: Option<Duration>,
    },
    /// The client left first.
    Cancelled,
}

/// One candidate's part in a session, for `stream_operations.attempts`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attempt {
    /// Index into the candidates.
    pub candidate: usize,
    /// What came of it.
    pub outcome: AttemptOutcome,
    /// How long it was under way.
    pub took: Duration,
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttemptOutcome {
    /// Under way.
    Running,
    /// Its bytes were chosen.
    Served,
    /// It gave nothing that could be sent.
    Refused(Refusal),
    /// Another candidate was faster, or the client left.
    GivenUp,
    /// Its breaker was open, so it was not contacted (rule 2).
    Suspect,
}

impl AttemptOutcome {
    /// The word stored in `stream_operations.attempts`.
    pub fn as_str(&self) -> &'static str {
        match self {
            AttemptOutcome::Running => "running",
            AttemptOutcome::Served => "served",
            AttemptOutcome::Refused(refusal) => refusal.outcome(),
            AttemptOutcome::GivenUp => "given_up",
            AttemptOutcome::Suspect => "suspect",
        }
    }
}

#[derive(Debug, Hash)]
struct Running {
    call: CallId,
    attempt: usize,
    began: Tick,
}

/// The opening of one stream request.
#[derive(Debug, Hash)]
pub struct Failover<T> {
    dispatch: Dispatch<T>,
    candidates: Vec<Candidate>,
    running: Vec<Running>,
    attempts: Vec<Attempt>,
    now: Tick,
}

impl<T> Failover<T> {
    /// Begins with `candidates` in rank order. Drain the effects next.
    pub fn start(candidates: Vec<Candidate>, limits: &Limits, now: Tick, bank: &mut Bank) -> Self {
        let budgets = Budgets {
            connect: limits.connect,
            head: limits.head,
            first_byte: limits.first_byte,
        };
        let mode = match limits.mode {
            StreamMode::Ordered => Mode::Hedged {
                after: limits.stagger,
                until: Milestone::Accepted,
            },
            StreamMode::Hedged => Mode::Hedged {
                after: limits.stagger,
                until: Milestone::Answered,
            },
            // Streams have one quality, which wins at once: there is nothing to wait for.
            StreamMode::Parallel => Mode::Parallel {
                race_wait: Duration::ZERO,
            },
        };
        let plan = Plan {
            lanes: candidates
                .iter()
                .map(|c| LanePlan {
                    lane: c.lane,
                    budgets,
                    known: None,
                })
                .collect(),
            mode,
            deadline: Some(limits.open_budget).filter(|_| !twin::is(Twin::OpeningUnbounded)),
            last_resort: Some(LAST_RESORT_AFTER),
            accept_within: Some(limits.stagger),
        };
        Failover {
            dispatch: Dispatch::start(plan, now, bank),
            candidates,
            running: Vec::new(),
            attempts: Vec::new(),
            now,
        }
    }

    /// Takes in what happened. Drain the effects next.
    pub fn handle(&mut self, input: Input<T>, now: Tick, bank: &mut Bank) {
        self.now = now;
        let input = match input {
            Input::Reached { call, stage } => dispatch::Input::Reached { call, stage },
            Input::Answers(answers) => {
                let verdicts = answers.into_iter().map(|(call, answer)| match answer {
                    // For streams there is one quality: the bytes are good or they are not.
                    Ok(value) => {
                        // Of several that are ready at one instant one wins, and the others end here.
                        if !twin::is(Twin::FastLoserRunning) {
                            self.end(call, AttemptOutcome::GivenUp, now);
                        }
                        let (quality, suitable) = (Quality::Word, true);
                        let verdict = Verdict::Answer {
                            value,
                            quality,
                            suitable,
                        };
                        (call, verdict)
                    }
                    Err(refusal) => {
                        self.end(call, AttemptOutcome::Refused(refusal), now);
                        (call, verdict(refusal.class()))
                    }
                });
                dispatch::Input::Answers(verdicts.collect())
            }
            Input::Cancel => dispatch::Input::Cancel,
        };
        self.dispatch.handle(input, now, bank);
    }

    /// Tells the session that the time of [`Self::poll_timeout`] has come; harmless when it has not.
    pub fn handle_timeout(&mut self, now: Tick, bank: &mut Bank) {
        self.now = now;
        self.dispatch.handle_timeout(now, bank);
    }

    /// When to call [`Self::handle_timeout`] if nothing else happens before.
    pub fn poll_timeout(&self) -> Option<(Tick, Why)> {
        self.dispatch.poll_timeout()
    }

    /// Takes the next thing to do; drain to `None` after every other call.
    pub fn poll_effect(&mut self) -> Option<Effect<T>> {
        let effect = match self.dispatch.poll_effect()? {
            dispatch::Effect::Call { call, .. } => {
                let candidate = index(call);
                self.attempts.push(Attempt {
                    candidate,
                    outcome: AttemptOutcome::Running,
                    took: Duration::ZERO,
                });
                self.running.push(Running {
                    call,
                    attempt: self.attempts.len() - 1,
                    began: self.now,
                });
                Effect::Open { call, candidate }
            }
            dispatch::Effect::Abort { call, why } => {
                let outcome = match why {
                    AbortReason::BudgetExceeded(stage) => {
                        AttemptOutcome::Refused(Refusal::TimedOut(stage))
                    }
                    AbortReason::Deadline => {
                        AttemptOutcome::Refused(Refusal::TimedOut(Stage::Head))
                    }
                    AbortReason::LostRace | AbortReason::Cancelled => AttemptOutcome::GivenUp,
                };
                self.end(call, outcome, self.now);
                Effect::Abort { call }
            }
            dispatch::Effect::Settle(resolution) => Effect::Settle(self.settle(resolution)),
        };
        Some(effect)
    }

    /// Every candidate that was contacted so far, in the order of contact, and, once settled
    /// without having been contacted, the suspects.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    fn settle(&mut self, resolution: Resolution<T>) -> Outcome<T> {
        let outcome = match resolution {
            Resolution::Won { call, value, .. } | Resolution::BestAvailable { call, value, .. } => {
                let candidate = index(call);
                let mut attempts = self.attempts.iter_mut();
                let winner = attempts.find(|a| a.candidate == candidate);
                winner.expect("F6: the winner was called").outcome = AttemptOutcome::Served;
                Outcome::Committed {
                    candidate,
                    opening: value,
                }
            }
            Resolution::Miss | Resolution::BestKnown { .. } => {
                Outcome::Exhausted { retry_after: None }
            }
            Resolution::Uncertain { retry_at, .. } | Resolution::Unavailable { retry_at } => {
                Outcome::Exhausted {
                    retry_after: retry_at.map(|at| at.since(self.now)),
                }
            }
            Resolution::Cancelled => Outcome::Cancelled,
        };
        if let Outcome::Exhausted { .. } = outcome {
            self.note_suspects();
        }
        outcome
    }

    /// A failed session's record also names the candidates whose breakers refused. One whose turn never came
    /// is not accused of anything.
    fn note_suspects(&mut self) {
        for (candidate, (_, heard)) in self.dispatch.heard().enumerate() {
            if matches!(heard, Heard::Open { .. }) {
                self.attempts.push(Attempt {
                    candidate,
                    outcome: AttemptOutcome::Suspect,
                    took: Duration::ZERO,
                });
            }
        }
    }

    /// Closes the record of a call.
    fn end(&mut self, call: CallId, outcome: AttemptOutcome, now: Tick) {
        let Some(at) = self.running.iter().position(|r| r.call == call) else {
            return;
        };
        let Running { attempt, began, .. } = self.running.remove(at);
        let attempt = &mut self.attempts[attempt];
        attempt.outcome = outcome;
        attempt.took = now.since(began);
    }
}

/// A call's id is its lane's place in the plan, so it is also the candidate's.
fn index(call: CallId) -> usize {
    usize::try_from(call.0).unwrap_or(usize::MAX)
}

/// The table of contracts section 3, as dispatch understands it.
fn verdict<T>(class: RefusalClass) -> Verdict<T> {
    match class {
        RefusalClass::Miss if twin::is(Twin::MissingTrackBlamed) => {
            Verdict::Failed(dispatch::Failure::Transport)
        }
        RefusalClass::Miss => Verdict::Miss,
        RefusalClass::Transport => Verdict::Failed(dispatch::Failure::Transport),
        RefusalClass::Throttled { retry_after } => {
            Verdict::Failed(dispatch::Failure::Throttled { retry_after })
        }
        RefusalClass::Auth => Verdict::Failed(dispatch::Failure::Auth { renewal: false }),
    }
}
