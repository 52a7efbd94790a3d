//! What an operator, a listener or a sweep moves.

use super::may_leave;
use crate::{Result, Writer};
use rusqlite::params;
use segue_core::queue::{Call, Priority, Status};
use segue_core::time::Wall;

pub(super) const UPGRADES: &str = "UPDATE work_queue SET status = 'pending', upgrade_after = NULL, upgrades = upgrades + 1, priority = ?3, \
             next_attempt_at = ?1, updated_at = ?1 WHERE id IN (SELECT id FROM work_queue WHERE upgrade_after <= ?1 \
             ORDER BY upgrade_after LIMIT ?2) AND status = 'done'";

/// How long what the other lanes said is believed anew when a new lane is asked, in milliseconds: as long as though they had
/// said it now.
pub(super) const BELIEVED_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Rows that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// This one; it is an error when it cannot be moved.
    One(i64),
    /// All that stand so.
    All(Status),
    /// All deferred or retired ones that this lane was never asked for: it is new.
    NotAskedOf(String),
}

impl Writer {
    /// Makes up to `limit` failed or parked rows due now, with their failures forgotten; how many. Of many, move a few
    /// thousand at a time until none is left.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when one row is meant and cannot be retried.
    pub fn retry(&self, which: &Which, limit: usize, now: Wall) -> Result<usize> {
        self.reopen(
            which,
            Call::Retry,
            "attempts = 0, lost_workers = 0",
            limit,
            now,
        )
    }

    /// Has up to `limit` deferred or retired rows asked for again; how many. All lanes are asked, but of [`Which::NotAskedOf`] only those
    /// that have not answered: what the others said is believed for another week. Retired rows begin their ladder again.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when one row is meant and cannot be rechecked.
    pub fn recheck(&self, which: &Which, limit: usize, now: Wall) -> Result<usize> {
        self.reopen(
            which,
            Call::Recheck,
            "miss_count = iif(status = 'retired', 0, miss_count)",
            limit,
            now,
        )
    }

    /// Has an answered row looked up again, and lets any answer replace the one it has, which is served until then.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] when the row is not done.
    pub fn redo(&self, work_id: i64, now: Wall) -> Result<()> {
        self.reopen(
            &Which::One(work_id),
            Call::Redo,
            "quality = 0, upgrade_after = NULL, upgrades = 0",
            1,
            now,
        )?;
        Ok(())
    }

    /// Puts answered rows back whose time for something better has come, at most `limit`; how many.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn upgrade_due(&self, now: Wall, limit: usize) -> Result<usize> {
        self.run(
            UPGRADES,
            params![now.0, crate::read::limit(limit), Priority::UPGRADE.get()],
        )
    }

    /// Has something better looked for soon: an answered row that has words, but not timed word by word, is due for the
    /// next [`Writer::upgrade_due`]. Whether it is.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn upgrade_soon(&self, work_id: i64, now: Wall) -> Result<bool> {
        let touched = self.run(
            "UPDATE work_queue SET upgrade_after = ?2 WHERE id = ?1 AND status = 'done' AND quality IN (2, 3)",
            params![work_id, now.0],
        )?;
        Ok(touched > 0)
    }

    /// Has a lane asked that is new: up to `limit` answered rows behind `after` that it might better, because they have no
    /// words, or words that are not timed word by word, are due for the next [`Writer::upgrade_due`]. Which. The lanes that have
    /// answered them are not asked again within a week.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn upgrade_for(&self, lane: &str, after: i64, limit: usize, now: Wall) -> Result<Vec<i64>> {
        let mut rows: Vec<i64> = self.reader().all(
            "UPDATE work_queue SET upgrade_after = ?1 WHERE id IN (SELECT id FROM work_queue WHERE status = 'done' AND id > ?2 \
             AND outcome IN ('lyrics', 'rejected') AND quality IN (0, 2, 3) AND NOT EXISTS \
             (SELECT 1 FROM lane_answers l WHERE l.work_id = work_queue.id AND l.lane = ?3) ORDER BY id LIMIT ?4) RETURNING id",
            params![now.0, after, lane, crate::read::limit(limit)],
            |c| c.next(),
        )?;
        rows.sort_unstable();
        for row in &rows {
            // It had what the row has: nothing better, as a search for that would find.
            self.run(
                "UPDATE lane_answers SET answer = 'rejected', reason = 'has nothing better' \
                 WHERE work_id = ?1 AND answer = 'found'",
                [row],
            )?;
            self.believe(*row, now)?;
        }
        Ok(rows)
    }

    /// What lanes have answered is believed anew.
    fn believe(&self, work_id: i64, now: Wall) -> Result<()> {
        self.run(
            "UPDATE lane_answers SET valid_until = max(coalesce(valid_until, 0), ?2) \
             WHERE work_id = ?1 AND answer IN ('miss', 'rejected', 'instrumental')",
            params![work_id, now.0.saturating_add(BELIEVED_MS)],
        )?;
        Ok(())
    }

    /// Raises a row; never lowers it. A row that waits only for its turn, or for a lane that failed, is due now.
    /// Whether it rose.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn prioritise(&self, work_id: i64, priority: Priority, now: Wall) -> Result<bool> {
        let touched = self.run(
            "UPDATE work_queue SET next_attempt_at = CASE WHEN status IN ('pending', 'failed') \
             THEN min(next_attempt_at, ?3) ELSE next_attempt_at END, priority = ?2 WHERE id = ?1 AND priority < ?2",
            params![work_id, priority.get(), now.0],
        )?;
        Ok(touched > 0)
    }

    /// Raises the rows that a track waits for. Whether one rose.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn prioritise_track(&self, track_id: &str, priority: Priority, now: Wall) -> Result<bool> {
        let living = self.reader().resolve(track_id)?;
        let rows: Vec<i64> = self.reader().all(
            "SELECT j.work_id FROM scan_results s JOIN work_queue_scan_results j ON j.scan_id = s.id \
             WHERE s.track_id = ?1 AND s.instance_id IS NULL",
            [living.as_deref().unwrap_or(track_id)],
            |c| c.next(),
        )?;
        let mut rose = false;
        for row in rows {
            rose |= self.prioritise(row, priority, now)?;
        }
        Ok(rose)
    }

    /// Removes up to `limit` rows of a status; how many. Answers stay with the tracks that have them; who still waits for
    /// one is put in again by the next sweep. Nothing is removed from a worker.
    ///
    /// # Errors
    /// [`crate::Error::Conflict`] for rows in work.
    pub fn clear(&self, status: Status, limit: usize) -> Result<usize> {
        if status == Status::Processing {
            return Err(crate::Error::Conflict(
                "rows in work cannot be cleared; release them first".to_owned(),
            ));
        }
        let rows: Vec<i64> = self.reader().all(
            "SELECT id FROM work_queue WHERE status = ?1 ORDER BY id LIMIT ?2",
            params![status.as_str(), crate::read::limit(limit)],
            |c| c.next(),
        )?;
        for row in &rows {
            self.remove(*row)?;
        }
        Ok(rows.len())
    }

    /// Removes a row, and the targets that wait for nothing else.
    pub(super) fn remove(&self, work_id: i64) -> Result<()> {
        self.run(
            "DELETE FROM scan_results WHERE status = 'pending' AND document IS NULL AND id IN (SELECT scan_id FROM work_queue_scan_results \
             WHERE work_id = ?1) AND NOT EXISTS (SELECT 1 FROM work_queue_scan_results o \
             WHERE o.scan_id = scan_results.id AND o.work_id <> ?1)",
            [work_id],
        )?;
        self.run("DELETE FROM work_queue WHERE id = ?1", [work_id])?;
        Ok(())
    }

    fn reopen(
        &self,
        which: &Which,
        call: Call,
        sets: &str,
        limit: usize,
        now: Wall,
    ) -> Result<usize> {
        let asks_all = call == Call::Recheck && !matches!(which, Which::NotAskedOf(_));
        let (condition, param): (&str, rusqlite::types::Value) = match which {
            Which::One(id) => ("id = ?2", (*id).into()),
            Which::All(status) => ("status = ?2", status.as_str().to_owned().into()),
            Which::NotAskedOf(lane) => (
                "NOT EXISTS (SELECT 1 FROM lane_answers l WHERE l.work_id = work_queue.id AND l.lane = ?2)",
                lane.clone().into(),
            ),
        };
        let sql = format!(
            "UPDATE work_queue SET status = 'pending', next_attempt_at = ?1, priority = max(priority, 0), reason = NULL, \
             updated_at = ?1, {sets} WHERE id IN (SELECT id FROM work_queue WHERE {condition} AND {may} LIMIT ?3) AND {may} \
             RETURNING id",
            may = may_leave(call)
        );
        let moved: Vec<i64> = self.reader().all(
            &sql,
            params![now.0, param, crate::read::limit(limit)],
            |c| c.next(),
        )?;
        if let (Which::One(id), true) = (which, moved.is_empty()) {
            let why = match call {
                Call::Retry => "can be retried when it has failed or is parked",
                Call::Recheck => "can be rechecked when it is deferred or retired",
                _ => "can be looked up again when it is done",
            };
            return Err(self.refusal(*id, why));
        }
        if let Which::NotAskedOf(_) = which {
            for id in &moved {
                self.believe(*id, now)?;
            }
        }
        if asks_all || call == Call::Redo {
            for id in &moved {
                self.run(
                    "UPDATE lane_answers SET valid_until = NULL WHERE work_id = ?1",
                    [id],
                )?;
            }
        }
        Ok(moved.len())
    }
}
