//! What goes into a dispatch and what comes out.

use super::plan::{CallId, Quality, Stage};
use crate::breaker::{Lane, Signal};
use crate::time::Tick;
use std::time::Duration;

/// Why a lane gave no answer.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Failure {
    /// Timed out, refused, reset, 5xx, malformed, oversized, panicked.
    Transport,
    /// 429, captcha, overload.
    Throttled {
        /// How long we were asked to wait.
        retry_after: Option<Duration>,
    },
    /// 401, 402, 403, expired token.
    Auth {
        /// Whether new credentials are needed, rather than these rejected.
        renewal: bool,
    },
}

impl Failure {
    /// What the lane's breaker makes of it.
    pub const fn signal(self) -> Signal {
        match self {
            Failure::Transport => Signal::Transient,
            Failure::Throttled { retry_after } => Signal::Throttled { retry_after },
            Failure::Auth { renewal: false } => Signal::AuthRejected,
            Failure::Auth { renewal: true } => Signal::RenewalRequired,
        }
    }

    /// Its place in the order of precedence.
    pub const fn class(self) -> Class {
        match self {
            Failure::Transport => Class::Transport,
            Failure::Throttled { .. } | Failure::Auth { .. } => Class::ThrottledOrAuth,
        }
    }
}

/// What a lane says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict<T> {
    /// It has something.
    Answer {
        /// What it has.
        value: T,
        /// How good it is.
        quality: Quality,
        /// Whether the guard and acceptance took it. Below [`Quality::Plain`] nothing is suitable,
        /// whatever this says.
        suitable: bool,
    },
    /// It cleanly does not have it.
    Miss,
    /// It failed.
    Failed(Failure),
    /// The call was given up by its driver. Says nothing, and is never a miss.
    Cancelled,
}

impl<T> Verdict<T> {
    /// What the lane's breaker makes of it.
    pub const fn signal(&self) -> Signal {
        match self {
            Verdict::Answer { .. } => Signal::Success,
            Verdict::Miss => Signal::Benign,
            Verdict::Failed(failure) => failure.signal(),
            Verdict::Cancelled => Signal::Abandoned,
        }
    }
}

/// What happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input<T> {
    /// A call made progress.
    Reached {
        /// Which.
        call: CallId,
        /// What it is waiting for now.
        stage: Stage,
    },
    /// A call ended, alone at this instant.
    Answered {
        /// Which.
        call: CallId,
        /// With what.
        verdict: Verdict<T>,
    },
    /// These calls have all ended at this instant. Their order does not matter: every breaker hears
    /// its verdict and the best answer is taken, by quality, then by rank.
    Answers(Vec<(CallId, Verdict<T>)>),
    /// Nobody wants the answer any more.
    Cancel,
}

/// What to do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect<T> {
    /// Call a lane.
    Call {
        /// Under this name.
        call: CallId,
        /// This one.
        lane: Lane,
    },
    /// Give a call up. What it may still say is ignored.
    Abort {
        /// Which.
        call: CallId,
        /// Why.
        why: AbortReason,
    },
    /// It is over. The last effect of every dispatch.
    Settle(Resolution<T>),
}

/// Why a call was given up.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum AbortReason {
    /// It spent too long in one stage. Counts as a transport failure.
    BudgetExceeded(Stage),
    /// Another lane won.
    LostRace,
    /// The time for the whole dispatch ran out.
    Deadline,
    /// Nobody wants the answer any more.
    Cancelled,
}

/// Why a dispatch wants to be woken.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Why {
    /// A call's budget for a stage ends.
    Budget(Stage),
    /// A slow call no longer holds up the next lane.
    Hedge,
    /// The held answer is committed.
    RaceWindow,
    /// The time for the whole dispatch ends.
    Deadline,
}

/// How certain a negative is, most certain first; the least certain one wins.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// A certain no.
    Miss,
    /// Not called, its breaker is open.
    Open,
    /// Failed, or there was no time for it.
    Transport,
    /// Asked us to wait or to log in.
    ThrottledOrAuth,
}

/// What a dispatch came to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Resolution<T> {
    /// A suitable answer.
    Won {
        /// The call that won.
        call: CallId,
        /// Its lane.
        lane: Lane,
        /// What it has.
        value: T,
        /// How good it is.
        quality: Quality,
    },
    /// Every lane gave a certain answer; none is suitable, this one is the best.
    BestAvailable {
        /// The call that gave it.
        call: CallId,
        /// Its lane.
        lane: Lane,
        /// What it has.
        value: T,
        /// How good it is.
        quality: Quality,
    },
    /// Every lane gave a certain answer, and the only ones that were not misses are in the caller's
    /// ledger ([`super::Known::Unsuitable`]).
    BestKnown {
        /// The best ranked of those lanes.
        lane: Lane,
    },
    /// Every lane gave a certain answer: no.
    Miss,
    /// Some lane gave no certain answer, so there is none.
    Uncertain {
        /// The least certain class among the lanes.
        class: Class,
        /// The earliest moment at which a lane that gave no certain answer is known to be worth
        /// asking again.
        retry_at: Option<Tick>,
        /// The best unsuitable answer so far.
        provisional: Option<(Lane, T, Quality)>,
    },
    /// No lane could be called.
    Unavailable {
        /// When the first breaker lets a call through again; `None` when there are no lanes.
        retry_at: Option<Tick>,
    },
    /// Nobody wants the answer any more, or the driver gave up a call on which it hangs.
    Cancelled,
}
