//! The queue of songs to look up: who may move a row where, when it is tried again, and what makes two songs one.
//!
//! Contracts section 5. Pure: rows live in a store, which reads its guards from [`TABLE`]; time and seeds are handed in.
//!
//! ```
//! use segue_core::Tick;
//! use segue_core::dispatch::Resolution;
//! use segue_core::lyrics::Song;
//! use segue_core::queue::*;
//! use segue_core::time::Wall;
//!
//! let song = Song { artist: "Björk".into(), title: "Jóga".into(), ..Song::default() };
//! let identity = identify(&song)?;
//! assert_eq!((identity.artist_key.as_str(), identity.title_key.as_str()), ("bjork", "joga"));
//! assert_eq!(choose(&[], &identity), Choice::New(0));
//!
//! let moment = Moment { tick: Tick::ZERO, wall: Wall(0) };
//! let step: Step<()> = decide(Resolution::Miss, Quality::None, |_| None, moment);
//! assert_eq!(step, Step::Defer);
//! assert!(Call::Defer.leads(Status::Processing).contains(&Status::Deferred));
//! assert_eq!(Ladders::default().miss(1).map(|wait| wait.as_secs()), Some(7 * 86_400));
//! # Ok::<(), Blank>(())
//! ```

mod identity;
mod ladder;
mod lanes;
mod model;
mod status;
mod step;

pub use crate::dispatch::Quality;
pub use identity::{Blank, Choice, Identity, Marker, TOLERANCE_MS, Variant, choose, identify, key};
pub use ladder::{LOST_WORKERS, Ladders};
pub use lanes::providers_version;
pub use model::{
    Claim, Completion, File, LaneAnswer, LaneEntry, NewDocument, Outcome, Priority, Request,
    Target, Ticket,
};
pub use status::{Call, Guard, Status, TABLE, Transition};
pub use step::{Moment, NO_LANES, RETRY_UNKNOWN, Step, decide, entries, known};
