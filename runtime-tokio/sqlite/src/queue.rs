//! The rows of the queue, the shelf and the lanes as they are handed out.

use crate::columns::Columns;
use rusqlite::types::Type;
use segue_core::breaker::Persisted;
use segue_core::lyrics::Song;
use segue_core::queue::{
    Claim, File, Identity, LaneAnswer, LaneEntry, Marker, Outcome, Priority, Quality, Status,
    Ticket,
};
use segue_core::time::Wall;

/// What became of a song that was put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It has a row now.
    New {
        /// The row.
        work_id: i64,
    },
    /// It had one already.
    Joined {
        /// The row.
        work_id: i64,
        /// Where it stands.
        status: Status,
        /// Targets that were not linked to it before.
        linked: u32,
        /// Of those, how many have their answer already.
        answered: u32,
    },
    /// It cannot be looked up.
    Refused(segue_core::queue::Blank),
}

/// What many songs came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct EnqueueReport {
    /// Songs with a new row.
    pub new: u64,
    /// Songs that had one.
    pub joined: u64,
    /// Songs that cannot be looked up.
    pub refused: u64,
}

/// What a completion came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    /// Targets that have their answer now.
    pub targets: usize,
    /// Sidecars that are to be written now.
    pub deliveries: usize,
}

/// When something is due that nobody announces. Each is the earliest of its kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wakeup {
    /// A row may be claimed.
    pub claim: Option<Wall>,
    /// A lease is over.
    pub lease: Option<Wall>,
    /// Something better may be looked for.
    pub upgrade: Option<Wall>,
    /// A sidecar is to be written.
    pub delivery: Option<Wall>,
}

/// A queue row as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// Its id.
    pub work_id: i64,
    /// The song.
    pub song: Song,
    /// Which kind of version, as text.
    pub marker: String,
    /// Where it stands.
    pub status: Status,
    /// Its priority.
    pub priority: Priority,
    /// Failures.
    pub attempts: u32,
    /// Misses.
    pub miss_count: u32,
    /// Searches for something better.
    pub upgrades: u32,
    /// The lanes there were when it was put in.
    pub providers_version: u32,
    /// How often it was claimed.
    pub claim_epoch: i64,
    /// Which worker has it.
    pub owner: Option<String>,
    /// Until when.
    pub lease_until: Option<Wall>,
    /// When it may be claimed.
    pub next_attempt_at: Option<Wall>,
    /// When something better is looked for.
    pub upgrade_after: Option<Wall>,
    /// How it was answered.
    pub outcome: Option<Outcome>,
    /// How good its lyrics are.
    pub quality: Quality,
    /// Which lane had them.
    pub lane: Option<String>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
    /// When it was put in.
    pub created_at: Wall,
    /// When it last moved.
    pub updated_at: Wall,
    /// When it was answered.
    pub completed_at: Option<Wall>,
}

/// A row with all that hangs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueDetail {
    /// The row.
    pub row: QueueRow,
    /// The id of its document.
    pub document_id: Option<String>,
    /// Who wants the answer.
    pub targets: Vec<TargetRow>,
    /// What the lanes said, by name.
    pub answers: Vec<LaneEntry>,
    /// The sidecars of those of its targets that are files and have had one wanted.
    pub deliveries: Vec<DeliveryRow>,
}

/// Whether a target has its answer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TargetStatus {
    /// Not yet.
    Pending,
    /// It has.
    Done,
    /// It cannot be looked up.
    Refused,
}

/// A row of `scan_results`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRow {
    /// Its id.
    pub scan_id: i64,
    /// The track.
    pub track_id: String,
    /// The file, when it is one.
    pub file: Option<File>,
    /// Artist as it was put in.
    pub artist: String,
    /// Title as it was put in.
    pub title: String,
    /// Whether it has its answer.
    pub status: TargetStatus,
    /// Why it was refused.
    pub reason: Option<String>,
    /// How good the answer is.
    pub quality: Quality,
}

/// The lyrics that a track is served with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackLyrics {
    /// The document's id.
    pub document_id: String,
    /// Canonical JSON.
    pub body: String,
    /// How good they are.
    pub quality: Quality,
    /// Since when.
    pub stored_at: Wall,
}

/// Lyrics remembered from before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// As words, or that there are none.
    pub outcome: Outcome,
    /// The document's id.
    pub document_id: String,
    /// Canonical JSON.
    pub body: String,
    /// How good they are.
    pub quality: Quality,
    /// The lane that had them.
    pub lane: Option<String>,
}

/// A lane as it was stored.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneStateRow {
    /// Its name.
    pub lane: String,
    /// Its breaker.
    pub breaker: Persisted,
    /// When it may be called again, by its pace.
    pub next_call_at: Option<Wall>,
    /// What an operator should know.
    pub note: Option<String>,
    /// When this was stored.
    pub saved_at: Wall,
}

/// Where a delivery stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryStatus {
    /// To be written.
    Wanted,
    /// Being written, or a crash came in between.
    Intent,
    /// What lies there is what was wanted.
    Delivered,
    /// Something of somebody else's, or something better, lies there.
    Refused,
}

impl DeliveryStatus {
    /// All of them.
    pub const ALL: [DeliveryStatus; 4] = [
        DeliveryStatus::Wanted,
        DeliveryStatus::Intent,
        DeliveryStatus::Delivered,
        DeliveryStatus::Refused,
    ];

    /// The word in tables and JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DeliveryStatus::Wanted => "wanted",
            DeliveryStatus::Intent => "intent",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Refused => "refused",
        }
    }
}

/// One delivery's claim: what every write of a deliverer must name.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DeliveryTicket {
    /// The delivery.
    pub delivery_id: i64,
    /// Its epoch.
    pub epoch: i64,
}

/// What is about to be written. Paths are below the folder's root, as the catalog writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryIntent {
    /// The sidecar.
    pub sidecar: String,
    /// The temporary file beside it.
    pub temp: String,
    /// The hash of what lies there; `None` for nothing.
    pub old_hash: Option<String>,
    /// The hash of what will lie there.
    pub new_hash: String,
}

/// What of ours lies beside a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredFile {
    /// The sidecar's path below the root.
    pub sidecar: String,
    /// The hash of its bytes.
    pub hash: String,
    /// How good it is; [`Quality::None`] when its words turned out to be another song's.
    pub quality: Quality,
    /// The document it was written from, if that is still there.
    pub document_id: Option<String>,
    /// Since when.
    pub at: Wall,
}

/// How a delivery ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryEnd {
    /// What lies there is what was wanted, and ours.
    Delivered {
        /// The sidecar's path below the root.
        sidecar: String,
        /// The hash of its bytes.
        hash: String,
    },
    /// It must not be written, or what is to go stays; why.
    Refused(String),
    /// Nothing lies there that was to go.
    Withdrawn,
    /// It could not be written.
    Again {
        /// Why.
        reason: String,
        /// When to try again.
        retry_at: Wall,
        /// Whether something of it may lie there: the intent stays then, to be gone on with.
        begun: bool,
    },
}

/// A row of the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    /// To be named in every write.
    pub ticket: DeliveryTicket,
    /// The target.
    pub scan_id: i64,
    /// The track.
    pub track_id: String,
    /// The audio file.
    pub file: File,
    /// Where it stands.
    pub status: DeliveryStatus,
    /// What is wanted; `None` for nothing.
    pub document_id: Option<String>,
    /// How good that is.
    pub quality: Quality,
    /// What is being written, and from which document. A removal that has begun is not shown.
    pub intent: Option<(DeliveryIntent, String)>,
    /// What of ours lies there.
    pub delivered: Option<DeliveredFile>,
    /// Attempts that failed.
    pub attempts: u32,
    /// When it is next tried.
    pub next_attempt_at: Option<Wall>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
}

/// An unfinished file that no delivery knows any more, and that may still lie somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The folder's instance.
    pub instance_id: String,
    /// Path below its root.
    pub path: String,
    /// When its delivery let go of it.
    pub since: Wall,
}

/// Rows that may go. See [`crate::Reader::discardable`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discardable {
    pub(crate) targets: Vec<i64>,
    pub(crate) rows: Vec<i64>,
    pub(crate) cached: Vec<(String, String, String, i64)>,
    pub(crate) documents: Vec<(i64, i64)>,
}

impl Discardable {
    /// How many rows it names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len() + self.rows.len() + self.cached.len() + self.documents.len()
    }

    /// Whether there is nothing to discard.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A quality as SQLite keeps it.
pub(crate) const fn grade(quality: Quality) -> i64 {
    match quality {
        Quality::None => 0,
        Quality::Instrumental => 1,
        Quality::Plain => 2,
        Quality::Line => 3,
        Quality::Word => 4,
    }
}

fn of_grade(grade: i64) -> Quality {
    match grade {
        1 => Quality::Instrumental,
        2 => Quality::Plain,
        3 => Quality::Line,
        4 => Quality::Word,
        _ => Quality::None,
    }
}

impl Columns<'_, '_> {
    pub(crate) fn quality(&mut self) -> rusqlite::Result<Quality> {
        Ok(of_grade(self.next::<Option<i64>>()?.unwrap_or(0)))
    }

    pub(crate) fn priority(&mut self) -> rusqlite::Result<Priority> {
        self.next().map(Priority::new)
    }

    /// A word of a closed set.
    pub(crate) fn word<T>(&mut self, of: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
        let word: String = self.next()?;
        of(&word).ok_or_else(|| unknown(&word))
    }

    pub(crate) fn maybe_word<T>(
        &mut self,
        of: impl Fn(&str) -> Option<T>,
    ) -> rusqlite::Result<Option<T>> {
        let word: Option<String> = self.next()?;
        word.map(|word| of(&word).ok_or_else(|| unknown(&word)))
            .transpose()
    }
}

fn unknown(word: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, format!("unknown word {word}").into())
}

pub(crate) const CLAIM_COLUMNS: &str = "id, claim_epoch, artist_key, title_key, marker, duration_ms, song, lease_until, \
    priority, attempts, miss_count, upgrades, providers_version, quality";

pub(crate) fn claim(c: &mut Columns<'_, '_>) -> rusqlite::Result<Claim> {
    Ok(Claim {
        ticket: Ticket {
            work_id: c.next()?,
            epoch: c.next()?,
        },
        identity: Identity {
            artist_key: c.next()?,
            title_key: c.next()?,
            marker: Marker::stored(c.next()?),
            duration_ms: c.maybe_unsigned()?,
        },
        song: c.json()?,
        lease_until: c.wall()?,
        priority: c.priority()?,
        attempts: c.next()?,
        miss_count: c.next()?,
        upgrades: c.next()?,
        providers_version: c.next()?,
        standing: c.quality()?,
    })
}

pub(crate) const QUEUE_COLUMNS: &str = "w.id, w.song, w.marker, w.status, w.priority, w.attempts, w.miss_count, w.upgrades, \
    w.providers_version, w.claim_epoch, w.owner, w.lease_until, w.next_attempt_at, w.upgrade_after, w.outcome, w.quality, \
    w.lane, w.reason, w.created_at, w.updated_at, w.completed_at";

pub(crate) fn queue_row(c: &mut Columns<'_, '_>) -> rusqlite::Result<QueueRow> {
    Ok(QueueRow {
        work_id: c.next()?,
        song: c.json()?,
        marker: c.next()?,
        status: c.word(Status::of)?,
        priority: c.priority()?,
        attempts: c.next()?,
        miss_count: c.next()?,
        upgrades: c.next()?,
        providers_version: c.next()?,
        claim_epoch: c.next()?,
        owner: c.next()?,
        lease_until: c.maybe_wall()?,
        next_attempt_at: c.maybe_wall()?,
        upgrade_after: c.maybe_wall()?,
        outcome: c.maybe_word(Outcome::of)?,
        quality: c.quality()?,
        lane: c.next()?,
        reason: c.next()?,
        created_at: c.wall()?,
        updated_at: c.wall()?,
        completed_at: c.maybe_wall()?,
    })
}

pub(crate) const TARGET_COLUMNS: &str = "s.id, s.track_id, s.instance_id, s.remote_id, s.path, s.artist, s.title, s.status, s.reason, s.quality";

pub(crate) fn target_row(c: &mut Columns<'_, '_>) -> rusqlite::Result<TargetRow> {
    Ok(TargetRow {
        scan_id: c.next()?,
        track_id: c.next()?,
        file: maybe_file(c)?,
        artist: c.next()?,
        title: c.next()?,
        status: c.word(|word| match word {
            "pending" => Some(TargetStatus::Pending),
            "done" => Some(TargetStatus::Done),
            "refused" => Some(TargetStatus::Refused),
            _ => None,
        })?,
        reason: c.next()?,
        quality: c.quality()?,
    })
}

fn maybe_file(c: &mut Columns<'_, '_>) -> rusqlite::Result<Option<File>> {
    let (instance_id, remote_id, path): (Option<String>, Option<String>, Option<String>) =
        (c.next()?, c.next()?, c.next()?);
    let of = instance_id.zip(remote_id).zip(path);
    Ok(of.map(|((instance_id, remote_id), path)| File {
        instance_id,
        remote_id,
        path,
    }))
}

pub(crate) const LANE_COLUMNS: &str = "lane, answer, reason, answered_at, valid_until, retry_at";

pub(crate) fn lane_entry(c: &mut Columns<'_, '_>) -> rusqlite::Result<LaneEntry> {
    Ok(LaneEntry {
        lane: c.next()?,
        answer: c.word(LaneAnswer::of)?,
        reason: c.next()?,
        at: c.wall()?,
        valid_until: c.maybe_wall()?,
        retry_at: c.maybe_wall()?,
    })
}

/// From `deliveries d JOIN scan_results s`, with the documents behind the numbers.
pub(crate) const DELIVERY: &str = "SELECT d.id, d.epoch, d.scan_id, s.track_id, s.instance_id, s.remote_id, s.path, d.status, \
    w.id, w.quality, d.intent_sidecar, d.intent_temp, d.intent_old_hash, d.intent_new_hash, i.id, \
    d.delivered_sidecar, d.delivered_hash, d.delivered_quality, o.id, d.delivered_at, d.attempts, d.next_attempt_at, d.reason \
    FROM deliveries d JOIN scan_results s ON s.id = d.scan_id LEFT JOIN documents w ON w.number = d.wanted_document \
    LEFT JOIN documents i ON i.number = d.intent_document LEFT JOIN documents o ON o.number = d.delivered_document";

pub(crate) fn delivery_row(c: &mut Columns<'_, '_>) -> rusqlite::Result<DeliveryRow> {
    Ok(DeliveryRow {
        ticket: DeliveryTicket {
            delivery_id: c.next()?,
            epoch: c.next()?,
        },
        scan_id: c.next()?,
        track_id: c.next()?,
        file: File {
            instance_id: c.next()?,
            remote_id: c.next()?,
            path: c.next()?,
        },
        status: c.word(|word| {
            DeliveryStatus::ALL
                .into_iter()
                .find(|status| status.as_str() == word)
        })?,
        document_id: c.next()?,
        quality: c.quality()?,
        intent: {
            let (sidecar, temp): (Option<String>, Option<String>) = (c.next()?, c.next()?);
            let (old_hash, new_hash): (Option<String>, Option<String>) = (c.next()?, c.next()?);
            let document: Option<String> = c.next()?;
            let whole = sidecar.zip(temp).zip(new_hash).zip(document);
            whole.map(|(((sidecar, temp), new_hash), document)| {
                let intent = DeliveryIntent {
                    sidecar,
                    temp,
                    old_hash,
                    new_hash,
                };
                (intent, document)
            })
        },
        delivered: {
            let (sidecar, hash): (Option<String>, Option<String>) = (c.next()?, c.next()?);
            let (quality, document_id, at) = (c.quality()?, c.next()?, c.maybe_wall()?);
            let whole = sidecar.zip(hash).zip(at);
            whole.map(|((sidecar, hash), at)| DeliveredFile {
                sidecar,
                hash,
                quality,
                document_id,
                at,
            })
        },
        attempts: c.next()?,
        next_attempt_at: c.maybe_wall()?,
        reason: c.next()?,
    })
}
