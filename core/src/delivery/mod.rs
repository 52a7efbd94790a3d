//! Lyrics onto the shelf: which file is written beside a track, and how a crash at any moment is made good.
//!
//! Contracts section 6. Pure: [`plan`] decides whether to write at all, [`Intent::next`] decides the next step from what
//! lies there now. The first run and the recovery after a crash are the same machine, for it believes only what it sees.
//!
//! ```
//! use segue_core::delivery::*;
//! use segue_core::dispatch::Quality;
//! use segue_core::io::{Digest, Place, Seen};
//!
//! let track = Place::new("shelf", "Band/01. Song.flac");
//! let wanted = Wanted { form: Form::Synced, quality: Quality::Line, new: Digest::of(b"[00:01.00]la") };
//! let nothing = Beside { seen: Seen::Absent, ours: None };
//! let Plan::Write(changes) = plan(&wanted, nothing, nothing) else { panic!() };
//! let intent = Intent::new(&track, &wanted, changes, 7).unwrap();
//! assert_eq!(intent.target.path, "Band/01. Song.lrc");
//!
//! let (mut facts, mut progress) = (Facts::default(), Progress::default());
//! assert_eq!(intent.next(&facts, &progress), Step::Stage);
//! facts.temp = Seen::File(wanted.new);
//! progress.staged();
//! assert_eq!(intent.next(&facts, &progress), Step::Create);
//! (facts.temp, facts.target) = (Seen::Absent, Seen::File(wanted.new));
//! progress.changed();
//! assert_eq!(intent.next(&facts, &progress), Step::Settle);
//! progress.settled();
//! assert_eq!(intent.next(&facts, &progress), Step::Commit);
//! ```

mod journal;
mod name;
mod removal;

pub use journal::{Facts, Progress, Step};
pub use name::{NAME_LIMIT, sidecar, temp};
pub use removal::{Removal, RemovalStep};

use crate::dispatch::Quality;
use crate::io::{Digest, Place, Seen, ShelfError};
use crate::twin::{self, Twin};

/// What kind of file lyrics become.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Words without times: `.txt`.
    Plain,
    /// Words with times: `.lrc`.
    Synced,
}

impl Form {
    /// The form for lyrics of this quality; nothing is written for what cannot be sung.
    pub fn of(quality: Quality) -> Option<Form> {
        match quality {
            Quality::Word | Quality::Line => Some(Form::Synced),
            Quality::Plain => Some(Form::Plain),
            Quality::Instrumental | Quality::None => None,
        }
    }

    /// The suffix of its files. Only these two are read by every player.
    pub const fn suffix(self) -> &'static str {
        match self {
            Form::Plain => "txt",
            Form::Synced => "lrc",
        }
    }

    /// The other one.
    #[must_use]
    pub const fn other(self) -> Form {
        match self {
            Form::Plain => Form::Synced,
            Form::Synced => Form::Plain,
        }
    }
}

/// What is to lie beside a track.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// As which file.
    pub form: Form,
    /// How good it is.
    pub quality: Quality,
    /// Its bytes.
    pub new: Digest,
}

/// A file that we wrote, as we remember it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ours {
    /// Its bytes.
    pub digest: Digest,
    /// How good it was; [`Quality::None`] when its words turned out to be another song's.
    pub quality: Quality,
}

/// One name beside a track: what lies there, and what we last wrote there.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Beside {
    /// What lies there.
    pub seen: Seen,
    /// What we last wrote there.
    pub ours: Option<Ours>,
}

impl Beside {
    /// What lies there, if it is ours and nobody has edited it (S2).
    fn unchanged(&self) -> Option<Ours> {
        self.ours
            .filter(|ours| self.seen == Seen::File(ours.digest))
    }

    /// Whether what lies there is ours, unchanged, and not right any more.
    fn is_withdrawn(&self) -> bool {
        self.unchanged()
            .is_some_and(|ours| ours.quality == Quality::None)
    }
}

/// Whether to write.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Plan {
    /// Yes.
    Write(Changes),
    /// No.
    Leave(Left),
}

/// Which of our own files give way.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Changes {
    /// The file of the same name that is replaced.
    pub replaces: Option<Digest>,
    /// The file of the other form that is retired: a plain one whose words come with times now, or any whose words turned
    /// out to be another song's.
    pub retires: Option<Digest>,
}

/// Why nothing is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    /// These very bytes lie there.
    AlreadyThere,
    /// Somebody else's file lies there, or ours with somebody's edits (S2).
    NotOurs,
    /// Something at least as good lies there (S3).
    AsGood,
    /// There is nothing to sing.
    NothingToWrite,
}

impl Left {
    /// All of them.
    pub const ALL: [Left; 4] = [
        Left::AlreadyThere,
        Left::NotOurs,
        Left::AsGood,
        Left::NothingToWrite,
    ];

    /// The reason of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|left| left.word() == word)
    }

    /// One sentence, for people.
    pub const fn sentence(self) -> &'static str {
        match self {
            Left::AlreadyThere => "somebody's file with these very words lies there",
            Left::NotOurs => "somebody else's file lies there, or ours with somebody's changes",
            Left::AsGood => "something at least as good lies there",
            Left::NothingToWrite => "there is nothing to sing",
        }
    }

    /// One word, for the store and for people.
    pub const fn word(self) -> &'static str {
        match self {
            Left::AlreadyThere => "already_there",
            Left::NotOurs => "not_ours",
            Left::AsGood => "as_good",
            Left::NothingToWrite => "nothing_to_write",
        }
    }
}

/// Decides from what lies at the name that is wanted, and at the same name with the other suffix.
///
/// Somebody else's file is never touched (S2), nor is anything replaced by something worse (S3). Plain words are not
/// written beside a timed file, whoever wrote that; timed ones are written beside somebody's plain file, which stays. A file
/// of ours with another song's words gives way to any.
pub fn plan(wanted: &Wanted, here: Beside, other: Beside) -> Plan {
    match (wanted.form, other.seen) {
        (Form::Plain, Seen::File(_) | Seen::Other)
            if !other.is_withdrawn() && !twin::is(Twin::PlainBesideTimed) =>
        {
            return Plan::Leave(Left::AsGood);
        }
        (Form::Plain, _) | (Form::Synced, _) => {}
    }
    let replaces = match (here.seen, here.unchanged()) {
        (Seen::Absent, _) => None,
        (Seen::File(there), _) if there == wanted.new => return Plan::Leave(Left::AlreadyThere),
        (Seen::File(_), Some(ours)) if wanted.quality < ours.quality => {
            return Plan::Leave(Left::AsGood);
        }
        (Seen::File(there), Some(_)) => Some(there),
        (Seen::File(there), None) if twin::is(Twin::EditedReplaced) => Some(there),
        (Seen::File(_), None) | (Seen::Other, _) => return Plan::Leave(Left::NotOurs),
    };
    let retires = other.unchanged().map(|ours| ours.digest);
    Plan::Write(Changes { replaces, retires })
}

/// One file to be written, as it is stored before anything is touched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Intent {
    /// The track it lies beside.
    pub track: Place,
    /// Its name.
    pub target: Place,
    /// Its name while it is unfinished.
    pub temp: Place,
    /// Its bytes.
    pub new: Digest,
    /// How good it is.
    pub quality: Quality,
    /// The file of ours that it replaces.
    pub replaces: Option<Digest>,
    /// The file of ours that goes because of it.
    pub retires: Option<(Place, Digest)>,
}

impl Intent {
    /// To write `wanted` beside `track`. `seed` tells the unfinished files of different hubs apart.
    ///
    /// # Errors
    /// [`ShelfError::NameTooLong`] when no file system takes the name.
    pub fn new(
        track: &Place,
        wanted: &Wanted,
        changes: Changes,
        seed: u64,
    ) -> Result<Intent, ShelfError> {
        let target = sidecar(track, wanted.form)?;
        let retired = match changes.retires {
            Some(digest) => Some((sidecar(track, wanted.form.other())?, digest)),
            None => None,
        };
        Ok(Intent {
            track: track.clone(),
            temp: temp(&target, wanted.new, seed),
            target,
            new: wanted.new,
            quality: wanted.quality,
            replaces: changes.replaces,
            retires: retired,
        })
    }
}
