//! What goes into the queue and what comes out of it.

use super::identity::Identity;
use crate::dispatch::Quality;
use crate::lyrics::document::Document;
use crate::lyrics::{Lyrics, Song};
use crate::time::Wall;

/// How soon a song is looked up, from -100 to 100: higher first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i8);

impl Priority {
    /// No lane had it before.
    pub const MISS: Priority = Priority(-100);
    /// It has words already, and better ones are looked for.
    pub const UPGRADE: Priority = Priority(-50);
    /// A track of the library.
    pub const SCAN: Priority = Priority(0);
    /// It has just been added to the library.
    pub const WEBHOOK: Priority = Priority(10);
    /// Somebody listens to it.
    pub const PLAYED: Priority = Priority(20);
    /// Somebody asks for it.
    pub const ASKED: Priority = Priority(30);

    /// A priority, moved into the allowed range.
    #[must_use]
    pub fn new(value: i64) -> Self {
        Priority(i8::try_from(value.clamp(-100, 100)).unwrap_or(0))
    }

    /// As a number.
    #[must_use]
    pub const fn get(self) -> i8 {
        self.0
    }

    /// Whether somebody waits for it.
    #[must_use]
    pub fn is_urgent(self) -> bool {
        self >= Priority::WEBHOOK
    }
}

/// A song to be looked up, and who wants the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The song. Its copies are not stored: they are found when it is claimed.
    pub song: Song,
    /// Who wants the answer; may be nobody.
    pub targets: Vec<Target>,
    /// How soon.
    pub priority: Priority,
}

/// A track of the library, or one file of it, that wants lyrics: a row of `scan_results`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// The unified track's id; an alias is followed.
    pub track_id: String,
    /// The file that wants a sidecar; `None` for the track itself, which is served.
    pub file: Option<File>,
}

/// A file in a music folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    /// The folder.
    pub instance_id: String,
    /// The track's id there.
    pub remote_id: String,
    /// The path below the folder's root, as the catalog writes it.
    pub path: String,
}

/// One claim of one row: what every write of a worker must name (Q1, Q3).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket {
    /// The row.
    pub work_id: i64,
    /// Its `claim_epoch`.
    pub epoch: i64,
}

/// A song that a worker has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// To be named in every write.
    pub ticket: Ticket,
    /// What it is looked up under.
    pub identity: Identity,
    /// What to look up; without copies.
    pub song: Song,
    /// Until when it is this worker's.
    pub lease_until: Wall,
    /// Its priority.
    pub priority: Priority,
    /// Failures so far.
    pub attempts: u32,
    /// Misses so far.
    pub miss_count: u32,
    /// Searches for something better so far.
    pub upgrades: u32,
    /// The lanes there were when it was put in.
    pub providers_version: u32,
    /// How good the lyrics are that it has already; [`Quality::None`] without.
    pub standing: Quality,
}

impl Claim {
    /// Whether remembered answers may be used: not if the lanes are others than when the song was put in (Q7).
    #[must_use]
    pub const fn may_read_cache(&self, providers_version: u32) -> bool {
        self.providers_version == providers_version
    }
}

/// How a song was answered.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// With words.
    Lyrics,
    /// There is nothing to sing.
    Instrumental,
    /// What there is was refused; the reason says why.
    Rejected,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 3] = [Outcome::Lyrics, Outcome::Instrumental, Outcome::Rejected];

    /// The word in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Lyrics => "lyrics",
            Outcome::Instrumental => "instrumental",
            Outcome::Rejected => "rejected",
        }
    }

    /// The outcome of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }
}

/// Lyrics to be stored under the hash of their bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument {
    /// SHA-256 of `body`, in hex.
    pub id: String,
    /// Canonical JSON.
    pub body: String,
    /// How good they are.
    pub quality: Quality,
}

impl NewDocument {
    /// These lyrics, in their canonical form.
    #[must_use]
    pub fn of(lyrics: &Lyrics) -> Self {
        let Document { id, json } = Document::of(lyrics);
        NewDocument {
            id: id.as_str().to_owned(),
            body: json,
            quality: lyrics.quality(),
        }
    }
}

/// What a worker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// In a word.
    pub outcome: Outcome,
    /// The lyrics, or that there are none to sing; `None` when rejected.
    pub document: Option<NewDocument>,
    /// The lane that had it; `None` for the cache.
    pub lane: Option<String>,
    /// Why it was rejected.
    pub reason: Option<String>,
    /// When to look for something better.
    pub upgrade_after: Option<Wall>,
    /// What each lane said.
    pub answers: Vec<LaneEntry>,
}

/// What one lane said of one song when it was last asked, or not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneEntry {
    /// Its name.
    pub lane: String,
    /// In a word.
    pub answer: LaneAnswer,
    /// Why, in a few words.
    pub reason: Option<String>,
    /// When.
    pub at: Wall,
    /// Until when a certain no is believed; `None` for what is not believed at all.
    pub valid_until: Option<Wall>,
    /// When it is worth asking again, if that is known.
    pub retry_at: Option<Wall>,
}

/// What a lane can have said (contracts section 2).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneAnswer {
    /// It has suitable lyrics.
    Found,
    /// It says that there is nothing to sing.
    Instrumental,
    /// What it has was refused.
    Rejected,
    /// It has nothing.
    Miss,
    /// It was not asked: its breaker is open.
    Open,
    /// It asked us to wait or to log in.
    Throttled,
    /// It failed.
    Transport,
    /// It was given up because another lane won.
    Lost,
    /// It was given up because nobody wanted the answer any more.
    Cancelled,
}

impl LaneAnswer {
    /// All of them.
    pub const ALL: [LaneAnswer; 9] = [
        LaneAnswer::Found,
        LaneAnswer::Instrumental,
        LaneAnswer::Rejected,
        LaneAnswer::Miss,
        LaneAnswer::Open,
        LaneAnswer::Throttled,
        LaneAnswer::Transport,
        LaneAnswer::Lost,
        LaneAnswer::Cancelled,
    ];

    /// The word in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            LaneAnswer::Found => "found",
            LaneAnswer::Instrumental => "instrumental",
            LaneAnswer::Rejected => "rejected",
            LaneAnswer::Miss => "miss",
            LaneAnswer::Open => "open",
            LaneAnswer::Throttled => "throttled",
            LaneAnswer::Transport => "transport",
            LaneAnswer::Lost => "lost",
            LaneAnswer::Cancelled => "cancelled",
        }
    }

    /// The answer of that word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == word)
    }

    /// Whether the lane gave a certain answer.
    #[must_use]
    pub const fn is_certain(self) -> bool {
        match self {
            LaneAnswer::Found
            | LaneAnswer::Instrumental
            | LaneAnswer::Rejected
            | LaneAnswer::Miss => true,
            LaneAnswer::Open
            | LaneAnswer::Throttled
            | LaneAnswer::Transport
            | LaneAnswer::Lost
            | LaneAnswer::Cancelled => false,
        }
    }
}
