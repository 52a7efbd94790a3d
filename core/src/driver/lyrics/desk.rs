//! What a worker needs of the store: the queue and the journal of sidecars, whichever database they lie in.

use super::lanes::LaneState;
use crate::delivery::{Intent, Removal};
use crate::dispatch::Quality;
use crate::io::{Digest, Place, StoreError};
use crate::lyrics::Copy;
use crate::queue::{Claim, Completion, Identity, LaneEntry, Outcome, Ticket};
use crate::time::Wall;
use std::collections::BTreeSet;
use std::future::Future;
use std::time::Duration;

/// A song that was taken, with all that is known of it.
#[derive(Clone, Debug)]
pub struct Job {
    /// The claim.
    pub claim: Claim,
    /// Where the song can be had from, best first.
    pub copies: Vec<Copy>,
    /// What the lanes said before.
    pub ledger: Vec<LaneEntry>,
    /// What a song of this identity was answered with before.
    pub cached: Option<Remembered>,
    /// SHA-256, in hexadecimal, of the sidecars that we wrote for it.
    pub ours: BTreeSet<String>,
}

/// An answer that is stored already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// As words, or that there are none.
    pub outcome: Outcome,
    /// The stored lyrics, as canonical JSON.
    pub body: String,
    /// How good they are.
    pub quality: Quality,
    /// The lane that had them.
    pub lane: Option<String>,
}

/// What becomes of a song.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is answered.
    Complete(Box<Completion>),
    /// It keeps the answer that it has.
    Keep {
        /// When to look for something better again.
        upgrade_after: Option<Wall>,
        /// What the lanes said.
        answers: Vec<LaneEntry>,
    },
    /// It is given back; nothing is counted.
    Release {
        /// When it may be taken again.
        retry_at: Wall,
        /// Why.
        reason: Option<String>,
        /// What the lanes said.
        answers: Vec<LaneEntry>,
    },
    /// A failure is counted.
    Fail {
        /// When to try again; `None` parks it.
        retry_at: Option<Wall>,
        /// Why.
        reason: String,
        /// What the lanes said.
        answers: Vec<LaneEntry>,
    },
    /// A miss is counted.
    Defer {
        /// When to ask again; `None` retires it.
        retry_at: Option<Wall>,
        /// Why.
        reason: String,
        /// What the lanes said.
        answers: Vec<LaneEntry>,
    },
}

impl End {
    /// What the lanes said.
    pub fn answers(&self) -> &[LaneEntry] {
        match self {
            End::Complete(completion) => &completion.answers,
            End::Keep { answers, .. }
            | End::Release { answers, .. }
            | End::Fail { answers, .. }
            | End::Defer { answers, .. } => answers,
        }
    }
}

/// A sidecar to be written, or to be taken away.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// To be named in every write.
    pub ticket: ParcelTicket,
    /// The track beside which it is to lie.
    pub track: Place,
    /// What is to lie there; `None` for nothing of ours, because what lies there turned out to be another song's.
    pub wanted: Option<Words>,
    /// What is being written already, and the canonical JSON from which.
    pub begun: Option<(Intent, String)>,
    /// What of ours lies there.
    pub delivered: Option<Written>,
    /// Attempts that failed.
    pub attempts: u32,
}

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// Its id.
    pub document: String,
    /// Its canonical JSON.
    pub body: String,
}

/// One taking of a parcel.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ParcelTicket {
    /// The delivery.
    pub delivery_id: i64,
    /// Its epoch.
    pub epoch: i64,
}

/// A sidecar that we wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Where.
    pub place: Place,
    /// Its bytes.
    pub digest: Digest,
    /// How good it is; [`Quality::None`] when its words turned out to be another song's.
    pub quality: Quality,
}

/// How a parcel ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParcelEnd {
    /// It lies there, and is ours.
    Delivered {
        /// Where.
        place: Place,
        /// Its bytes.
        digest: Digest,
    },
    /// It is not to be written, or what is to go stays; why.
    Refused(String),
    /// Nothing of ours that was to go lies there any more.
    Withdrawn,
    /// It could not be written.
    Again {
        /// Why.
        reason: String,
        /// When to try again.
        retry_at: Wall,
        /// Whether something of it may lie there: the intent is kept then.
        begun: bool,
    },
}

/// What is due, at the earliest.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// A song.
    pub song: Option<Wall>,
    /// A sidecar.
    pub parcel: Option<Wall>,
}

/// The store as workers see it. Every write names its ticket, and one that is not valid any more is
/// [`StoreError::StaleClaim`]: nothing was written then (Q3).
pub trait Desk: Send + Sync {
    /// Takes the next song that is due.
    fn take(
        &self,
        now: Wall,
        lease_until: Wall,
        providers_version: u32,
    ) -> impl Future<Output = Result<Option<Job>, StoreError>> + Send;

    /// Keeps a song for longer.
    fn heartbeat(
        &self,
        ticket: Ticket,
        lease_until: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends a song's turn, and stores how the lanes stand.
    fn end(
        &self,
        job: &Claim,
        end: End,
        lanes: Vec<LaneState>,
        now: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Whether these words are stored for a song of another title and another artist.
    fn is_decoy(
        &self,
        document: &str,
        identity: &Identity,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;

    /// A lane gave a song words that [`Desk::is_decoy`] knows: the strangers that have them from it lose them.
    ///
    /// By default they keep them.
    fn quarantine(
        &self,
        ticket: Ticket,
        lane: &str,
        document: &str,
        now: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = (ticket, lane, document, now);
        std::future::ready(Ok(()))
    }

    /// Takes the next sidecar that is due.
    fn take_parcel(
        &self,
        now: Wall,
        lease_until: Wall,
    ) -> impl Future<Output = Result<Option<Parcel>, StoreError>> + Send;

    /// Writes down what is about to be written, before anything is.
    fn begin_parcel(
        &self,
        ticket: ParcelTicket,
        document: &str,
        intent: &Intent,
        now: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Writes down what is about to be taken away, before it is.
    fn begin_removal(
        &self,
        ticket: ParcelTicket,
        removal: &Removal,
        now: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Ends a sidecar's turn.
    fn end_parcel(
        &self,
        ticket: ParcelTicket,
        end: ParcelEnd,
        now: Wall,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// When something is due.
    fn due(&self) -> impl Future<Output = Result<Due, StoreError>> + Send;

    /// Ends when something may have become due that was not announced by [`Desk::due`].
    fn rung(&self) -> impl Future<Output = ()> + Send;

    /// Wakes another worker.
    fn ring(&self);

    /// Fresh randomness for token authentication.
    fn salt(&self) -> String;

    /// A lane was asked for one song and has come out, whichever way; waiting for its turn apart, it `took` so long.
    fn timed(&self, lane: &str, took: Duration) {
        let _ = (lane, took);
    }

    /// The store failed, or a write came too late.
    fn trouble(&self, what: &'static str, error: &StoreError);
}
