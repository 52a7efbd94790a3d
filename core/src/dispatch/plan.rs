//! What a dispatch is asked to do.

use crate::breaker::Lane;
use std::time::Duration;

/// One call of one lane: the place of the lane in [`Plan::lanes`], counted from zero. A lane is
/// called at most once per entry, so this names the call too.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallId(pub u32);

/// How good an answer is, worst first.
///
/// A stream has one quality, by convention [`Quality::Word`]: its bytes are good or they are not.
/// A text that was refused should come as [`Quality::None`], or it outranks an instrumental marker.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quality {
    /// Nothing that could be used.
    None,
    /// A statement that there is nothing to sing.
    Instrumental,
    /// Text without times. The least that can be suitable.
    Plain,
    /// A time per line. Enough to win a parallel dispatch at once.
    Line,
    /// A time per word.
    Word,
}

/// What a call must reach for its hedge timer to stop.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Milestone {
    /// The connection was accepted ([`Stage::Head`]).
    Accepted,
    /// There is an answer.
    Answered,
}

/// How the lanes are called.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// One at a time in rank order; the first suitable answer wins.
    Ordered,
    /// All at once; the best answer wins.
    Parallel {
        /// How long the first suitable but plain answer is held for a better one.
        race_wait: Duration,
    },
    /// Ordered, but a lane that is slow no longer holds up the next one; the first suitable answer
    /// wins. The timer belongs to the lane that was called last.
    Hedged {
        /// How long a call holds up the next lane.
        after: Duration,
        /// What makes a call hold it up for as long as it lasts.
        until: Milestone,
    },
}

/// How far one call has come; each stage has a fresh budget.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// Waiting for the connection to be accepted.
    Connect,
    /// Waiting for the response head.
    Head,
    /// Waiting for the first byte of the body.
    FirstByte,
}

/// How long one call may spend in each stage.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Budgets {
    /// From the call to an accepted connection.
    pub connect: Duration,
    /// From there to the response head.
    pub head: Duration,
    /// From there to the first byte of the body.
    pub first_byte: Duration,
}

impl Budgets {
    /// One budget for the whole call, when its driver reports no progress.
    pub const fn whole(budget: Duration) -> Self {
        Budgets {
            connect: budget,
            head: budget,
            first_byte: budget,
        }
    }

    pub(super) const fn of(&self, stage: Stage) -> Duration {
        match stage {
            Stage::Connect => self.connect,
            Stage::Head => self.head,
            Stage::FirstByte => self.first_byte,
        }
    }
}

/// A certain answer from an earlier dispatch that is still valid: the lane is not called.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// It does not have it.
    Miss,
    /// What it has is not suitable.
    Unsuitable,
}

/// One lane of a plan.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct LanePlan {
    /// Whom to call. The same lane may stand in several entries; they are never in flight together.
    pub lane: Lane,
    /// How long the call may take.
    pub budgets: Budgets,
    /// What the ledger has.
    pub known: Option<Known>,
}

/// What to dispatch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    /// Best rank first.
    pub lanes: Vec<LanePlan>,
    /// How they are called.
    pub mode: Mode,
    /// How long the whole may take.
    pub deadline: Option<Duration>,
    /// Whether lanes whose breakers are open are tried once nothing else is left, and how long
    /// after its last failure each may be (contracts 3.2).
    pub last_resort: Option<Duration>,
    /// How long a call may take to be accepted before it is held against its lane that another one won: a
    /// machine that swallows everything must not be waited for again each time. For drivers that report
    /// progress; without it, losing a race says nothing.
    pub accept_within: Option<Duration>,
}
