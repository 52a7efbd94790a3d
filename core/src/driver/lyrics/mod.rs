//! Songs and the lanes that may have their words: claim, ask, accept, complete, and lay the words beside the music.
//!
//! Nothing is spawned: a worker is one future that holds its lookups, its heartbeat and its sidecar. Dropping it gives
//! everything up; a claim that it held is taken back when its lease is over.

mod ask;
mod desk;
mod lanes;
mod post;
mod race;
mod turn;
mod work;

pub use desk::{Desk, Due, End, Job, Parcel, ParcelEnd, ParcelTicket, Remembered, Words, Written};
pub use lanes::{Codec, LaneState, Lanes, Rulebook, Setup, Slot};
pub use post::{Rendered, render};
pub use race::Answer;
pub use turn::{Held, Taking, Turn};
pub use work::{Done, Worker};
