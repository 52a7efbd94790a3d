//! The next step of a delivery, from what lies on the shelf.

use super::{Intent, Left};
use crate::io::Seen;

/// What lies at the names of an intent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facts {
    /// At its target.
    pub target: Seen,
    /// At the name of its unfinished file.
    pub temp: Seen,
    /// At the name of the file that it retires.
    pub retiring: Seen,
}

impl Default for Facts {
    /// An empty folder.
    fn default() -> Self {
        Facts {
            target: Seen::Absent,
            temp: Seen::Absent,
            retiring: Seen::Absent,
        }
    }
}

/// What this process has seen to itself. After a crash nothing is known to be durable, whatever can be read.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    staged: bool,
    settled: bool,
}

impl Progress {
    /// The unfinished file was written, and its bytes are durable.
    pub fn staged(&mut self) {
        self.staged = true;
        self.settled = false;
    }

    /// A name was made or removed.
    pub fn changed(&mut self) {
        self.settled = false;
    }

    /// The names in the folder are durable.
    pub fn settled(&mut self) {
        self.settled = true;
    }

    /// Whether they are.
    pub(super) fn is_settled(self) -> bool {
        self.settled
    }
}

/// What to do next. Look again after each.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Write the unfinished file.
    Stage,
    /// Remove the plain file that gives way.
    Retire,
    /// Make the folder's names durable.
    Settle,
    /// Give the unfinished file its name, which is free.
    Create,
    /// Give the unfinished file its name, in the place of ours.
    Replace,
    /// Remove the unfinished file.
    Discard,
    /// It is written and durable: note it.
    Commit,
    /// It is not written, and nothing of it is left: note why.
    Undo(Left),
}

impl Intent {
    /// The next step. It is the same after a crash at any moment as it would have been without.
    ///
    /// A plain file that gives way is gone for good before the timed one appears, so no moment shows both (S1).
    pub fn next(&self, facts: &Facts, progress: &Progress) -> Step {
        let retiring = self
            .retires
            .as_ref()
            .is_some_and(|(_, digest)| facts.retiring == Seen::File(*digest));
        match facts.target {
            Seen::File(there) if there == self.new => {
                if facts.temp != Seen::Absent {
                    Step::Discard
                } else if retiring {
                    Step::Retire
                } else if progress.settled {
                    Step::Commit
                } else {
                    Step::Settle
                }
            }
            Seen::File(there) if Some(there) == self.replaces => self.publish(facts, progress),
            Seen::Absent => self.publish(facts, progress),
            Seen::File(_) | Seen::Other if facts.temp != Seen::Absent => Step::Discard,
            // What was discarded must not come back once nobody knows its name any more.
            Seen::File(_) | Seen::Other if !progress.settled => Step::Settle,
            Seen::File(_) | Seen::Other => Step::Undo(Left::NotOurs),
        }
    }

    /// The way to the target, which is free or ours.
    fn publish(&self, facts: &Facts, progress: &Progress) -> Step {
        if facts.temp != Seen::File(self.new) || !progress.staged {
            return Step::Stage;
        }
        if let Some((_, digest)) = self.retires {
            if facts.retiring == Seen::File(digest) {
                return Step::Retire;
            }
            // Its removal must not come undone once the other one is there.
            if !progress.settled {
                return Step::Settle;
            }
        }
        match facts.target {
            Seen::Absent => Step::Create,
            Seen::File(_) | Seen::Other => Step::Replace,
        }
    }
}
