//! A part of the library, track by track, and how each stands with its lyrics.

use super::{Reader, limit};
use crate::Result;
use rusqlite::params;
use segue_core::queue::{Quality, Status};

/// A part of the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of it.
    All,
    /// What one source holds.
    Source(String),
    /// What a folder holds below a path; the path as the catalog writes it, without a slash at its end.
    Below {
        /// The folder.
        instance_id: String,
        /// The path, of a file or a folder.
        path: String,
    },
}

/// How a track stands with its lyrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its place in the order of the library.
    pub seq: i64,
    /// The track.
    pub track_id: String,
    /// How good its lyrics are; [`Quality::None`] without.
    pub quality: Quality,
    /// Its row in the queue, and where that stands.
    pub work: Option<(i64, Status)>,
}

const HELD: &str = "EXISTS (SELECT 1 FROM track_sources c WHERE c.track_id = t.id AND c.instance_id = ?3 AND ?4 = '')";

const BELOW: &str = "EXISTS (SELECT 1 FROM track_sources c JOIN instance_tracks it \
    ON it.instance_id = c.instance_id AND it.remote_id = c.remote_id WHERE c.track_id = t.id AND c.instance_id = ?3 \
    AND (it.path = ?4 OR substr(it.path, 1, length(?4) + 1) = ?4 || '/'))";

impl Reader {
    /// Up to `count` tracks of a part of the library behind `after`, in the order in which they came into it.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn standings(&self, scope: &Scope, after: i64, count: usize) -> Result<Vec<Standing>> {
        let (condition, instance, path) = match scope {
            Scope::All => ("?3 = ?4", "", ""),
            Scope::Source(instance) => (HELD, instance.as_str(), ""),
            Scope::Below { instance_id, path } => (BELOW, instance_id.as_str(), path.as_str()),
        };
        let sql = format!(
            "SELECT t.seq, t.id, s.quality, w.id, w.status FROM unified_tracks t \
             LEFT JOIN scan_results s ON s.track_id = t.id AND s.instance_id IS NULL \
             LEFT JOIN work_queue w ON w.id = (SELECT max(j.work_id) FROM work_queue_scan_results j WHERE j.scan_id = s.id) \
             WHERE t.seq > ?1 AND {condition} ORDER BY t.seq LIMIT ?2"
        );
        self.all(&sql, params![after, limit(count), instance, path], |c| {
            let (seq, track_id, quality) = (c.next()?, c.next()?, c.quality()?);
            let (work, status): (Option<i64>, _) = (c.next()?, c.maybe_word(Status::of)?);
            Ok(Standing {
                seq,
                track_id,
                quality,
                work: work.zip(status),
            })
        })
    }
}
