//! What each lane has said so far, and what that comes to when nothing more is expected.

use super::exchange::{AbortReason, Class, Resolution};
use super::plan::{CallId, Known, LanePlan, Quality};
use crate::breaker::{Lane, NEVER};
use crate::time::Tick;
use crate::twin::{self, Twin};

/// What is known of one entry of the plan.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Heard {
    /// Not asked yet.
    Waiting,
    /// Not asked: an earlier answer is still valid.
    Known(Known),
    /// Not called: its breaker refused.
    Open {
        /// Until then.
        until: Tick,
    },
    /// Called, no answer yet.
    Called,
    /// A suitable answer.
    Suitable(Quality),
    /// An answer that is not suitable.
    Unsuitable(Quality),
    /// A clean no.
    Miss,
    /// A failure.
    Failed {
        /// Which kind.
        class: Class,
        /// When it is worth asking again, if that is known.
        retry_at: Option<Tick>,
    },
    /// Called, and given up by its driver.
    Discarded,
    /// Called, and given up by the dispatch.
    GivenUp(AbortReason),
}

/// An answer with where it came from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Best<T> {
    pub(super) call: CallId,
    pub(super) lane: Lane,
    pub(super) value: T,
    pub(super) quality: Quality,
}

impl<T> Best<T> {
    pub(super) fn won(self) -> Resolution<T> {
        let Best {
            call,
            lane,
            value,
            quality,
        } = self;
        Resolution::Won {
            call,
            lane,
            value,
            quality,
        }
    }
}

/// The resolution table of contracts section 2, below its first row.
pub(super) fn resolve<T>(
    lanes: &[LanePlan],
    heard: &[Heard],
    best: Option<Best<T>>,
) -> Resolution<T> {
    let mut sum = Sum::default();
    for (plan, heard) in lanes.iter().zip(heard) {
        sum.add(plan.lane, *heard);
    }
    let retry_at = sum.retry_at.filter(|at| *at < NEVER);
    if !sum.asked {
        // An empty plan asked nobody, so it knows nothing: not a miss.
        if sum.top == Some(Class::Open) || lanes.is_empty() {
            return Resolution::Unavailable { retry_at };
        }
    }
    if let Some(class) = sum.top {
        return Resolution::Uncertain {
            class,
            retry_at,
            provisional: best.map(|b| (b.lane, b.value, b.quality)),
        };
    }
    if sum.discarded {
        return Resolution::Cancelled;
    }
    match (best, sum.known_unsuitable) {
        (Some(b), _) => Resolution::BestAvailable {
            call: b.call,
            lane: b.lane,
            value: b.value,
            quality: b.quality,
        },
        (None, Some(lane)) => Resolution::BestKnown { lane },
        (None, None) => Resolution::Miss,
    }
}

/// What all lanes say together. No field depends on the order in which they said it (D10).
#[derive(Default)]
struct Sum {
    /// The top class of those that gave no certain answer.
    top: Option<Class>,
    retry_at: Option<Tick>,
    /// Whether any lane was called.
    asked: bool,
    discarded: bool,
    known_unsuitable: Option<Lane>,
}

impl Sum {
    fn add(&mut self, lane: Lane, heard: Heard) {
        match heard {
            Heard::Known(Known::Miss) => {}
            Heard::Known(Known::Unsuitable) => {
                self.known_unsuitable.get_or_insert(lane);
            }
            Heard::Open { until } => self.uncertain(Class::Open, Some(until)),
            // The time ran out before its turn came.
            Heard::Waiting => self.uncertain(Class::Transport, None),
            Heard::Called | Heard::GivenUp(_) => {
                self.asked = true;
                self.uncertain(Class::Transport, None);
            }
            Heard::Suitable(_) | Heard::Unsuitable(_) | Heard::Miss => self.asked = true,
            Heard::Failed { class, retry_at } => {
                self.asked = true;
                if !twin::is(Twin::MissDespiteDoubt) {
                    self.uncertain(class, retry_at);
                }
            }
            Heard::Discarded => {
                self.asked = true;
                self.discarded = true;
            }
        }
    }

    fn uncertain(&mut self, class: Class, retry_at: Option<Tick>) {
        self.top = self.top.max(Some(class));
        self.retry_at = match (self.retry_at, retry_at) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}
