//! A database with songs in the queue.

use segue_core::lyrics::Song;
use segue_core::queue::{
    Claim, Completion, File, NewDocument, Outcome, Priority, Quality, Request, Target, Ticket,
};
use segue_core::time::Wall;
use segue_sqlite::{Completed, Db, Enqueued, Error, Reader, Result, Writer};

pub(crate) const MINUTE: i64 = 60_000;
pub(crate) const DAY: i64 = 24 * 60 * MINUTE;

/// A database with one writer, and a reader beside it.
pub(crate) struct Kit {
    pub(crate) writer: Writer,
    pub(crate) reader: Reader,
}

impl Kit {
    pub(crate) fn new() -> Self {
        let db = Db::open_in_memory().unwrap();
        Kit {
            writer: db.writer().unwrap(),
            reader: db.reader().unwrap(),
        }
    }

    /// One change in a transaction of its own.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&Writer) -> Result<T>) -> Result<T> {
        self.writer.alone(change)
    }

    pub(crate) fn enqueue(&self, request: &Request, now: i64) -> i64 {
        match self.change(|w| w.enqueue(request, 7, Wall(now))).unwrap() {
            Enqueued::New { work_id } | Enqueued::Joined { work_id, .. } => work_id,
            Enqueued::Refused(why) => panic!("{why}"),
        }
    }

    pub(crate) fn claim(&self, now: i64) -> Option<Claim> {
        self.change(|w| w.claim("w", Wall(now), Wall(now + MINUTE)))
            .unwrap()
    }

    pub(crate) fn complete(&self, ticket: Ticket, now: i64) -> Result<Completed> {
        self.change(|w| w.complete(ticket, &words("la", Quality::Line), Wall(now)))
    }

    /// How a row stands, as a word.
    pub(crate) fn status(&self, work_id: i64) -> &'static str {
        let detail = self.reader.queue_show(work_id).unwrap();
        detail.map_or("gone", |detail| detail.row.status.as_str())
    }
}

pub(crate) fn song(artist: &str, title: &str) -> Song {
    Song {
        artist: artist.into(),
        title: title.into(),
        duration_ms: Some(200_000),
        ..Song::default()
    }
}

pub(crate) fn request(artist: &str, title: &str, targets: &[Target]) -> Request {
    Request {
        song: song(artist, title),
        targets: targets.to_vec(),
        priority: Priority::SCAN,
    }
}

pub(crate) fn track(id: &str) -> Target {
    Target {
        track_id: id.into(),
        file: None,
    }
}

pub(crate) fn file(track_id: &str, path: &str) -> Target {
    Target {
        track_id: track_id.into(),
        file: Some(File {
            instance_id: "shelf".into(),
            remote_id: format!("r-{path}"),
            path: path.into(),
        }),
    }
}

/// Lyrics that say `text`.
pub(crate) fn words(text: &str, quality: Quality) -> Completion {
    Completion {
        outcome: match quality {
            Quality::Instrumental => Outcome::Instrumental,
            Quality::None => Outcome::Rejected,
            Quality::Plain | Quality::Line | Quality::Word => Outcome::Lyrics,
        },
        document: (quality > Quality::None).then(|| document(text, quality)),
        lane: Some("lrclib".into()),
        reason: None,
        upgrade_after: None,
        answers: Vec::new(),
    }
}

pub(crate) fn document(text: &str, quality: Quality) -> NewDocument {
    let sum = text.bytes().fold(7_u128, |sum, byte| {
        sum.wrapping_mul(0x1_0000_01b3).wrapping_add(byte.into())
    });
    NewDocument {
        id: format!("{sum:064x}"),
        body: format!("{text:?}"),
        quality,
    }
}

pub(crate) fn is_stale<T: std::fmt::Debug>(outcome: Result<T>) -> bool {
    match outcome {
        Err(Error::StaleClaim) => true,
        // What `alone` makes of it.
        Err(Error::Store(segue_core::io::StoreError::StaleClaim)) => true,
        Err(other) => panic!("{other}"),
        Ok(_) => false,
    }
}
