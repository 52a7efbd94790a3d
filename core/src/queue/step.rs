//! From what a dispatch came to, to what happens to the row and to the ledger (contracts section 2, Resolution).

use super::model::{LaneAnswer, LaneEntry, Outcome};
use crate::dispatch::{AbortReason, Class, Heard, Known, Lane, Quality, Resolution};
use crate::time::{Tick, Wall};
use crate::twin::{self, Twin};
use std::time::Duration;

/// When a song is tried again after lanes that asked us to wait, and did not say for how long.
pub const RETRY_UNKNOWN: Duration = Duration::from_secs(60);

/// When a song is looked at again while there is no lane to ask.
pub const NO_LANES: Duration = Duration::from_hours(1);

/// One moment on both clocks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Of this process.
    pub tick: Tick,
    /// Of the wall.
    pub wall: Wall,
}

impl Moment {
    /// What the wall will show then, rounded up to its milliseconds: never sooner.
    #[must_use]
    pub fn wall_at(self, at: Tick) -> Wall {
        self.wall + (at.since(self.tick) + Duration::from_nanos(999_999))
    }
}

/// What a worker does with the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<T> {
    /// Complete it.
    Complete {
        /// As this.
        outcome: Outcome,
        /// The lane that had it.
        lane: Lane,
        /// What it had; `None` when it is in the ledger only.
        value: Option<T>,
    },
    /// Leave it with the lyrics that it has.
    Keep,
    /// Give it back; nothing is counted (Q6).
    Release {
        /// When it may be claimed again.
        retry_at: Wall,
    },
    /// Count a failure.
    Fail,
    /// Count a miss.
    Defer,
}

/// What becomes of a row. `standing` is how good the lyrics are that it has already, `ledger` what an earlier dispatch
/// stored of a lane.
///
/// A row that has lyrics was looked up for better ones: a certain answer that is no better keeps them (S3).
pub fn decide<T>(
    resolution: Resolution<T>,
    standing: Quality,
    ledger: impl Fn(Lane) -> Option<LaneAnswer>,
    moment: Moment,
) -> Step<T> {
    let again = |at: Option<Tick>, unknown| match at {
        Some(at) => moment.wall_at(at),
        None => moment.wall + unknown,
    };
    let has_lyrics = standing > Quality::None;
    match resolution {
        Resolution::Won { quality, .. } if quality <= standing => Step::Keep,
        Resolution::Won { lane, value, .. } => Step::Complete {
            outcome: Outcome::Lyrics,
            lane,
            value: Some(value),
        },
        Resolution::BestAvailable { .. } | Resolution::BestKnown { .. } | Resolution::Miss
            if has_lyrics =>
        {
            Step::Keep
        }
        Resolution::BestAvailable {
            lane,
            value,
            quality,
            ..
        } => Step::Complete {
            outcome: match quality {
                Quality::Instrumental => Outcome::Instrumental,
                Quality::None | Quality::Plain | Quality::Line | Quality::Word => Outcome::Rejected,
            },
            lane,
            value: Some(value),
        },
        Resolution::BestKnown { lane } => Step::Complete {
            outcome: match ledger(lane) {
                Some(LaneAnswer::Instrumental) => Outcome::Instrumental,
                Some(_) | None => Outcome::Rejected,
            },
            lane,
            value: None,
        },
        Resolution::Miss => Step::Defer,
        Resolution::Uncertain {
            class, retry_at, ..
        } => match class {
            Class::Transport => Step::Fail,
            Class::ThrottledOrAuth | Class::Open if twin::is(Twin::ThrottledMissed) => Step::Defer,
            Class::ThrottledOrAuth | Class::Open => Step::Release {
                retry_at: again(retry_at, RETRY_UNKNOWN),
            },
            // A dispatch never says so: a miss is certain.
            Class::Miss => Step::Defer,
        },
        Resolution::Unavailable { retry_at } => Step::Release {
            retry_at: again(retry_at, NO_LANES),
        },
        Resolution::Cancelled => match twin::is(Twin::CancelCounted) {
            true => Step::Fail,
            false => Step::Release {
                retry_at: moment.wall,
            },
        },
    }
}

/// The ledger's entries of a dispatch. `name` tells each lane's name and the reason of what it said, in a few words;
/// a certain no is believed for `validity`. Lanes that were not reached, or known before, have no new entry.
pub fn entries(
    heard: impl Iterator<Item = (Lane, Heard)>,
    name: impl Fn(Lane) -> Option<(String, Option<String>)>,
    validity: Duration,
    moment: Moment,
) -> Vec<LaneEntry> {
    let entry = |(lane, heard): (Lane, Heard)| {
        let (answer, retry_at) = match heard {
            Heard::Waiting | Heard::Known(_) => return None,
            Heard::Open { until } => (LaneAnswer::Open, Some(until)),
            Heard::Called => (LaneAnswer::Lost, None),
            Heard::Suitable(_) => (LaneAnswer::Found, None),
            Heard::Unsuitable(Quality::Instrumental) => (LaneAnswer::Instrumental, None),
            Heard::Unsuitable(_) => (LaneAnswer::Rejected, None),
            Heard::Miss => (LaneAnswer::Miss, None),
            Heard::Failed { class, retry_at } => match class {
                Class::ThrottledOrAuth => (LaneAnswer::Throttled, retry_at),
                Class::Miss | Class::Open | Class::Transport => (LaneAnswer::Transport, retry_at),
            },
            Heard::Discarded | Heard::GivenUp(AbortReason::Cancelled) => {
                (LaneAnswer::Cancelled, None)
            }
            Heard::GivenUp(AbortReason::LostRace) => (LaneAnswer::Lost, None),
            Heard::GivenUp(AbortReason::Deadline | AbortReason::BudgetExceeded(_)) => {
                (LaneAnswer::Transport, None)
            }
        };
        let (lane, reason) = name(lane)?;
        let is_believed = match answer {
            LaneAnswer::Miss | LaneAnswer::Instrumental | LaneAnswer::Rejected => true,
            LaneAnswer::Found
            | LaneAnswer::Open
            | LaneAnswer::Throttled
            | LaneAnswer::Transport
            | LaneAnswer::Lost
            | LaneAnswer::Cancelled => false,
        };
        Some(LaneEntry {
            lane,
            answer,
            reason,
            at: moment.wall,
            valid_until: is_believed.then(|| moment.wall + validity),
            retry_at: retry_at.map(|at| moment.wall_at(at)),
        })
    };
    heard.filter_map(entry).collect()
}

/// What a stored entry spares a dispatch: a lane whose certain no is still believed is not asked.
#[must_use]
pub fn known(entry: &LaneEntry, now: Wall) -> Option<Known> {
    let is_believed = entry.valid_until.is_some_and(|until| now < until);
    if !is_believed && !twin::is(Twin::LedgerNeverExpires) {
        return None;
    }
    match entry.answer {
        LaneAnswer::Miss => Some(Known::Miss),
        LaneAnswer::Instrumental | LaneAnswer::Rejected => Some(Known::Unsuitable),
        LaneAnswer::Found
        | LaneAnswer::Open
        | LaneAnswer::Throttled
        | LaneAnswer::Transport
        | LaneAnswer::Lost
        | LaneAnswer::Cancelled => None,
    }
}
