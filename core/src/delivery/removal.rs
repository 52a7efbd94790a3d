//! The way of a file that we wrote off the shelf again.

use super::{Left, Progress};
use crate::io::{Digest, Place, Seen};
use crate::twin::{self, Twin};

/// One file of ours to be taken away, as it is stored before it is touched.
///
/// ```
/// use segue_core::delivery::*;
/// use segue_core::io::{Digest, Place, Seen};
///
/// let ours = Digest::of(b"[00:01.00]la");
/// let removal = Removal { place: Place::new("shelf", "Band/Song.lrc"), only: ours };
/// let mut progress = Progress::default();
/// assert_eq!(removal.next(Seen::File(ours), &progress), RemovalStep::Remove(ours));
/// progress.changed();
/// assert_eq!(removal.next(Seen::Absent, &progress), RemovalStep::Settle);
/// progress.settled();
/// assert_eq!(removal.next(Seen::Absent, &progress), RemovalStep::Commit);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Removal {
    /// Its name.
    pub place: Place,
    /// Its bytes, as we wrote them.
    pub only: Digest,
}

/// What to do next about a file that is to go. Look again after each.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum RemovalStep {
    /// Remove it, if its bytes are these.
    Remove(Digest),
    /// Make the folder's names durable.
    Settle,
    /// It is gone for good: note it.
    Commit,
    /// It stays: note why.
    Undo(Left),
}

impl Removal {
    /// The next step. It is the same after a crash at any moment as it would have been without.
    ///
    /// What is not there as we wrote it is somebody's, and stays (S2).
    pub fn next(&self, seen: Seen, progress: &Progress) -> RemovalStep {
        match seen {
            Seen::File(there) if there == self.only => RemovalStep::Remove(there),
            Seen::File(there) if twin::is(Twin::RemovalUnchecked) => RemovalStep::Remove(there),
            Seen::File(_) | Seen::Other => RemovalStep::Undo(Left::NotOurs),
            Seen::Absent if progress.is_settled() => RemovalStep::Commit,
            Seen::Absent => RemovalStep::Settle,
        }
    }
}
