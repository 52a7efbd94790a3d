//! What waits, why, and what comes next.

use super::gauge::tally;
use super::{Reader, limit};
use crate::queue::{
    DELIVERY, Discardable, LANE_COLUMNS, QUEUE_COLUMNS, QueueDetail, QueueRow, TARGET_COLUMNS,
    TargetRow, Unfinished, Wakeup, delivery_row, lane_entry, queue_row, target_row,
};
use crate::{DeliveryRow, Result};
use rusqlite::params;
use segue_core::queue::{LaneEntry, Status};
use segue_core::time::Wall;
use std::time::Duration;

/// What is kept of what nobody refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long a row that no track waits for is kept.
    pub unwanted: Duration,
    /// How long an answer is remembered for a song that is put in anew.
    pub cached: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        Retention {
            unwanted: 30 * DAY,
            cached: 365 * DAY,
        }
    }
}

/// When the first row of each priority is due.
pub(crate) fn first_due() -> String {
    format!(
        "{} SELECT min((SELECT next_attempt_at FROM work_queue WHERE priority = level AND next_attempt_at IS NOT NULL \
         ORDER BY next_attempt_at LIMIT 1)) FROM levels WHERE level IS NOT NULL",
        crate::write::queue::LEVELS
    )
}

impl Reader {
    /// When something is due that nobody announces.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn wakeup(&self) -> Result<Wakeup> {
        let earliest = |sql: &str| -> Result<Option<Wall>> {
            Ok(self.one(sql, [], |c| c.maybe_wall())?.flatten())
        };
        Ok(Wakeup {
            claim: earliest(&first_due())?,
            lease: earliest(
                "SELECT min(lease_until) FROM work_queue WHERE lease_until IS NOT NULL",
            )?,
            upgrade: earliest(
                "SELECT min(upgrade_after) FROM work_queue WHERE upgrade_after IS NOT NULL",
            )?,
            delivery: earliest(
                "SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at IS NOT NULL",
            )?,
        })
    }

    /// How many rows stand where; every status, zeros included.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn queue_counts(&self) -> Result<Vec<(Status, u64)>> {
        let found = self.tallies("songs")?;
        let count = |status: Status| (status, tally(&found, status.as_str()));
        Ok(Status::ALL.map(count).into())
    }

    /// Rows of a status, or all, in the order of their ids behind `after`.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn queue_list(
        &self,
        status: Option<Status>,
        after: i64,
        count: usize,
    ) -> Result<Vec<QueueRow>> {
        match status {
            Some(status) => self.all(
                &format!(
                    "SELECT {QUEUE_COLUMNS} FROM work_queue w WHERE w.status = ?1 AND w.id > ?2 ORDER BY w.id LIMIT ?3"
                ),
                params![status.as_str(), after, limit(count)],
                queue_row,
            ),
            None => self.all(
                &format!("SELECT {QUEUE_COLUMNS} FROM work_queue w WHERE w.id > ?1 ORDER BY w.id LIMIT ?2"),
                params![after, limit(count)],
                queue_row,
            ),
        }
    }

    /// The rows that come next, in the order in which they are claimed once they are due.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn queue_next(&self, count: usize) -> Result<Vec<QueueRow>> {
        self.all(
            &format!(
                "SELECT {QUEUE_COLUMNS} FROM work_queue w WHERE w.next_attempt_at IS NOT NULL \
                 ORDER BY w.priority DESC, w.next_attempt_at, w.id LIMIT ?1"
            ),
            [limit(count)],
            queue_row,
        )
    }

    /// A row with all that hangs on it.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn queue_show(&self, work_id: i64) -> Result<Option<QueueDetail>> {
        let row = self.one(
            &format!("SELECT {QUEUE_COLUMNS} FROM work_queue w WHERE w.id = ?1"),
            [work_id],
            queue_row,
        )?;
        let Some(row) = row else {
            return Ok(None);
        };
        Ok(Some(QueueDetail {
            row,
            document_id: self.one(
                "SELECT d.id FROM work_queue w JOIN documents d ON d.number = w.document WHERE w.id = ?1",
                [work_id],
                |c| c.next(),
            )?,
            targets: self.all(
                &format!(
                    "SELECT {TARGET_COLUMNS} FROM work_queue_scan_results j JOIN scan_results s ON s.id = j.scan_id \
                     WHERE j.work_id = ?1 ORDER BY s.id"
                ),
                [work_id],
                target_row,
            )?,
            answers: self.ledger_of(work_id)?,
            deliveries: self.all(
                &format!(
                    "{DELIVERY} WHERE d.scan_id IN (SELECT scan_id FROM work_queue_scan_results WHERE work_id = ?1) \
                     ORDER BY d.scan_id"
                ),
                [work_id],
                delivery_row,
            )?,
        }))
    }

    /// Targets that cannot be looked up, with the reason, in the order of their ids behind `after`.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn refused_targets(&self, after: i64, count: usize) -> Result<Vec<TargetRow>> {
        self.all(
            &format!(
                "SELECT {TARGET_COLUMNS} FROM scan_results s WHERE s.status = 'refused' AND s.id > ?1 ORDER BY s.id LIMIT ?2"
            ),
            params![after, limit(count)],
            target_row,
        )
    }

    /// The row that a track waits for, or that answered it; the latest, should it have had several.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn work_of_track(&self, track_id: &str) -> Result<Option<QueueRow>> {
        let living = self.resolve(track_id)?;
        self.one(
            &format!(
                "SELECT {QUEUE_COLUMNS} FROM scan_results s JOIN work_queue_scan_results j ON j.scan_id = s.id \
                 JOIN work_queue w ON w.id = j.work_id WHERE s.track_id = ?1 AND s.instance_id IS NULL ORDER BY w.id DESC LIMIT 1"
            ),
            [living.as_deref().unwrap_or(track_id)],
            queue_row,
        )
    }

    /// What each lane said of a song, by name.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn ledger_of(&self, work_id: i64) -> Result<Vec<LaneEntry>> {
        self.all(
            &format!("SELECT {LANE_COLUMNS} FROM lane_answers WHERE work_id = ?1 ORDER BY lane"),
            [work_id],
            lane_entry,
        )
    }

    /// Deliveries that are to be made, or were begun, in the order in which they are due.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn pending_deliveries(&self, count: usize) -> Result<Vec<DeliveryRow>> {
        self.all(
            &format!(
                "{DELIVERY} WHERE d.next_attempt_at IS NOT NULL ORDER BY d.next_attempt_at, d.id LIMIT ?1"
            ),
            [limit(count)],
            delivery_row,
        )
    }

    /// A target's delivery.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn delivery_of(&self, scan_id: i64) -> Result<Option<DeliveryRow>> {
        self.one(
            &format!("{DELIVERY} WHERE d.scan_id = ?1"),
            [scan_id],
            delivery_row,
        )
    }

    /// All deliveries behind `after`, in the order of their ids: for the look whether what was delivered is still there.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn deliveries(&self, after: i64, count: usize) -> Result<Vec<DeliveryRow>> {
        self.all(
            &format!("{DELIVERY} WHERE d.id > ?1 ORDER BY d.id LIMIT ?2"),
            params![after, limit(count)],
            delivery_row,
        )
    }

    /// Unfinished files that no delivery knows any more, those let go of first first, without those that one has begun anew.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn unfinished(&self, count: usize) -> Result<Vec<Unfinished>> {
        self.all(
            "SELECT u.instance_id, u.path, u.since FROM unfinished u WHERE NOT EXISTS (SELECT 1 FROM deliveries d \
             JOIN scan_results s ON s.id = d.scan_id WHERE d.intent_temp = u.path AND s.instance_id = u.instance_id) \
             ORDER BY u.since, u.instance_id, u.path LIMIT ?1",
            [limit(count)],
            |c| {
                Ok(Unfinished {
                    instance_id: c.next()?,
                    path: c.next()?,
                    since: c.wall()?,
                })
            },
        )
    }

    /// Up to about `count` rows of each kind that nobody needs: targets whose tracks are gone, rows without targets, answers
    /// remembered for too long, documents that nothing refers to. Reads whole tables; hand the outcome to
    /// [`crate::Writer::discard`].
    ///
    /// # Errors
    /// SQLite's own.
    pub fn discardable(&self, keep: Retention, now: Wall, count: usize) -> Result<Discardable> {
        let before = |kept: Duration| {
            let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
            now.0.saturating_sub(kept)
        };
        Ok(Discardable {
            targets: self.all(
                "SELECT s.id FROM scan_results s WHERE NOT EXISTS (SELECT 1 FROM unified_tracks t WHERE t.id = s.track_id) \
                 ORDER BY s.id LIMIT ?1",
                [limit(count)],
                |c| c.next(),
            )?,
            rows: self.all(
                "SELECT w.id FROM work_queue w WHERE w.updated_at < ?1 AND w.status <> 'processing' AND NOT EXISTS \
                 (SELECT 1 FROM work_queue_scan_results j WHERE j.work_id = w.id) ORDER BY w.id LIMIT ?2",
                params![before(keep.unwanted), limit(count)],
                |c| c.next(),
            )?,
            cached: self.all(
                "SELECT artist_key, title_key, marker, duration_ms FROM lyrics_cache WHERE stored_at < ?1 LIMIT ?2",
                params![before(keep.cached), limit(count)],
                |c| Ok((c.next()?, c.next()?, c.next()?, c.next()?)),
            )?,
            documents: self.all(
                "SELECT number, stored_at FROM documents WHERE number NOT IN (\
                 SELECT document FROM work_queue WHERE document IS NOT NULL \
                 UNION SELECT document FROM scan_results WHERE document IS NOT NULL \
                 UNION SELECT document FROM lyrics_cache \
                 UNION SELECT wanted_document FROM deliveries \
                 UNION SELECT intent_document FROM deliveries WHERE intent_document IS NOT NULL) LIMIT ?1",
                [limit(count)],
                |c| Ok((c.next()?, c.next()?)),
            )?,
        })
    }
}
