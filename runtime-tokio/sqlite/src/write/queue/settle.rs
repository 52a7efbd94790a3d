//! The end of a claim: each of these takes the row from its worker, and only from the worker that has it.

use super::held;
use crate::columns::maybe_millis;
use crate::queue::{Completed, grade};
use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::queue::{Completion, LaneEntry, Outcome, Quality, Ticket};
use segue_core::time::Wall;
use segue_core::twin::{self, Twin};

/// How good the document is that a row has: `redo` lets it count for nothing until there is another.
const KEPT: &str =
    "coalesce((SELECT d.quality FROM documents d WHERE d.number = work_queue.document), 0)";

/// The worker has come back with something: it is nobody's now, and none was lost on it.
const ENDED: &str = "owner = NULL, lease_until = NULL, lost_workers = 0";

impl Writer {
    /// Stores the answer: the document, the row, all targets that are linked to it, the sidecars to be written, what the
    /// lanes said, and the cache, together or not at all (Q1, Q2). Lyrics that the row has already are replaced by better
    /// ones only (S3).
    ///
    /// # Errors
    /// [`Error::StaleClaim`], and then nothing is stored, not even the document (Q3).
    pub fn complete(
        &self,
        ticket: Ticket,
        completion: &Completion,
        now: Wall,
    ) -> Result<Completed> {
        // First, for its number; a stale claim shows below, and takes it back.
        let document = match &completion.document {
            Some(document) => Some(self.put_document(document, now)?),
            None if completion.outcome == Outcome::Rejected => None,
            None => {
                return Err(Error::Conflict(
                    "an answer needs its document unless it was rejected".to_owned(),
                ));
            }
        };
        let quality = completion
            .document
            .as_ref()
            .map_or(Quality::None, |d| d.quality);
        let better = match twin::is(Twin::QualityFalls) {
            true => "1",
            false => "(?4 > quality OR document IS NULL)",
        };
        let sql = format!(
            "UPDATE work_queue SET status = 'done', {ENDED}, upgrade_after = ?8, completed_at = ?9, \
             updated_at = ?9, attempts = 0, miss_count = 0, \
             document = CASE WHEN {better} THEN ?3 ELSE document END, \
             outcome = CASE WHEN {better} THEN ?5 ELSE outcome END, \
             lane = CASE WHEN {better} THEN ?6 ELSE lane END, \
             reason = CASE WHEN {better} THEN ?7 ELSE reason END, \
             quality = CASE WHEN {better} THEN ?4 ELSE {KEPT} END \
             WHERE {}",
            held()
        );
        self.settled(
            &sql,
            params![
                ticket.work_id,
                ticket.epoch,
                document,
                grade(quality),
                completion.outcome.as_str(),
                completion.lane,
                completion.reason,
                maybe_millis(completion.upgrade_after),
                now.0
            ],
        )?;
        self.put_answers(ticket.work_id, &completion.answers)?;
        if let (Some(document), Outcome::Lyrics | Outcome::Instrumental) =
            (document, completion.outcome)
        {
            self.remember(ticket.work_id, document, completion, now)?;
        }
        if twin::is(Twin::TargetsForgotten) {
            return Ok(Completed::default());
        }
        self.answer_targets(ticket.work_id, now)
    }

    /// Ends a search for something better that found nothing better: the row is done as it was.
    ///
    /// # Errors
    /// [`Error::StaleClaim`]; [`Error::Conflict`] when the row has no answer that could be kept.
    pub fn keep(
        &self,
        ticket: Ticket,
        upgrade_after: Option<Wall>,
        answers: &[LaneEntry],
        now: Wall,
    ) -> Result<Completed> {
        self.check(ticket)?;
        let sql = format!(
            "UPDATE work_queue SET status = 'done', {ENDED}, upgrade_after = ?3, completed_at = ?4, \
             updated_at = ?4, attempts = 0, miss_count = 0, reason = NULL, quality = {KEPT} WHERE {} AND outcome IS NOT NULL",
            held()
        );
        let touched = self.run(
            &sql,
            params![
                ticket.work_id,
                ticket.epoch,
                maybe_millis(upgrade_after),
                now.0
            ],
        )?;
        if touched == 0 {
            return Err(self.refusal(ticket.work_id, "has no answer to keep"));
        }
        self.put_answers(ticket.work_id, answers)?;
        self.answer_targets(ticket.work_id, now)
    }

    /// Gives the row back, to be claimed at `retry_at`. Counts nothing (Q6).
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn release(
        &self,
        ticket: Ticket,
        retry_at: Wall,
        reason: Option<&str>,
        answers: &[LaneEntry],
        now: Wall,
    ) -> Result<()> {
        let counted = match twin::is(Twin::ReleaseCounted) {
            true => "attempts = attempts + 1, ",
            false => "",
        };
        let sql = format!(
            "UPDATE work_queue SET status = 'pending', {ENDED}, next_attempt_at = ?3, {counted}\
             reason = ?4, updated_at = ?5 WHERE {}",
            held()
        );
        self.settled(
            &sql,
            params![ticket.work_id, ticket.epoch, retry_at.0, reason, now.0],
        )?;
        self.put_answers(ticket.work_id, answers)
    }

    /// Counts a failure. `retry_at` comes from [`segue_core::queue::Ladders::backoff`] with one more than the claim's
    /// attempts; without it the row is parked.
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn fail(
        &self,
        ticket: Ticket,
        retry_at: Option<Wall>,
        reason: &str,
        answers: &[LaneEntry],
        now: Wall,
    ) -> Result<()> {
        let sql = format!(
            "UPDATE work_queue SET status = iif(?3 IS NULL, 'parked', 'failed'), {ENDED}, \
             next_attempt_at = ?3, attempts = attempts + 1, reason = ?4, updated_at = ?5 WHERE {}",
            held()
        );
        self.settled(
            &sql,
            params![
                ticket.work_id,
                ticket.epoch,
                maybe_millis(retry_at),
                reason,
                now.0
            ],
        )?;
        self.put_answers(ticket.work_id, answers)
    }

    /// Counts a miss, which every lane has confirmed. `retry_at` comes from [`segue_core::queue::Ladders::miss`] with one
    /// more than the claim's misses; without it the row is retired. It goes behind the songs that nobody has asked for yet.
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn defer(
        &self,
        ticket: Ticket,
        retry_at: Option<Wall>,
        reason: &str,
        answers: &[LaneEntry],
        now: Wall,
    ) -> Result<()> {
        let sql = format!(
            "UPDATE work_queue SET status = iif(?3 IS NULL, 'retired', 'deferred'), {ENDED}, \
             next_attempt_at = ?3, miss_count = miss_count + 1, attempts = 0, priority = -100, reason = ?4, updated_at = ?5 \
             WHERE {}",
            held()
        );
        self.settled(
            &sql,
            params![
                ticket.work_id,
                ticket.epoch,
                maybe_millis(retry_at),
                reason,
                now.0
            ],
        )?;
        self.put_answers(ticket.work_id, answers)
    }

    /// Writes what lanes said while the claim goes on, so that a crash does not have them asked again.
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn note_answers(&self, ticket: Ticket, answers: &[LaneEntry]) -> Result<()> {
        self.check(ticket)?;
        self.put_answers(ticket.work_id, answers)
    }

    /// Whether the claim still holds. Inside the transaction, so nothing can come between.
    pub(super) fn check(&self, ticket: Ticket) -> Result<()> {
        let sql = format!("SELECT 1 FROM work_queue WHERE {}", held());
        let held: Option<i64> =
            self.reader()
                .one(&sql, params![ticket.work_id, ticket.epoch], |c| c.next())?;
        match held {
            Some(_) => Ok(()),
            None => Err(Error::StaleClaim),
        }
    }

    fn put_answers(&self, work_id: i64, answers: &[LaneEntry]) -> Result<()> {
        for entry in answers {
            // What is believed stays believed when the lane is later not reached.
            self.run(
                "INSERT INTO lane_answers (work_id, lane, answer, reason, answered_at, valid_until, retry_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (work_id, lane) DO UPDATE SET answer = excluded.answer, \
                 reason = excluded.reason, answered_at = excluded.answered_at, valid_until = excluded.valid_until, \
                 retry_at = excluded.retry_at",
                params![
                    work_id,
                    entry.lane,
                    entry.answer.as_str(),
                    entry.reason,
                    entry.at.0,
                    maybe_millis(entry.valid_until),
                    maybe_millis(entry.retry_at)
                ],
            )?;
        }
        Ok(())
    }

    /// Gives the row's answer to all that are linked to it.
    fn answer_targets(&self, work_id: i64, now: Wall) -> Result<Completed> {
        let targets: Vec<(i64, bool)> = self.reader().all(
            "SELECT s.id, s.instance_id IS NOT NULL FROM work_queue_scan_results j JOIN scan_results s ON s.id = j.scan_id \
             WHERE j.work_id = ?1",
            [work_id],
            |c| Ok((c.next()?, c.next()?)),
        )?;
        for (scan_id, _) in &targets {
            self.run(
                "UPDATE scan_results SET status = 'done', reason = NULL, done_at = ?2, \
                 (document, quality) = (SELECT document, quality FROM work_queue WHERE id = ?1) WHERE id = ?3",
                params![work_id, now.0, scan_id],
            )?;
        }
        let deliveries = match targets.iter().any(|(_, is_file)| *is_file) {
            true => self.want_deliveries(work_id, None, now)?,
            false => 0,
        };
        Ok(Completed {
            targets: targets.len(),
            deliveries,
        })
    }

    /// Remembers the answer for a song that is put in anew.
    fn remember(
        &self,
        work_id: i64,
        document: i64,
        completion: &Completion,
        now: Wall,
    ) -> Result<()> {
        self.run(
            "INSERT INTO lyrics_cache (artist_key, title_key, marker, duration_ms, document, outcome, lane, stored_at) \
             SELECT artist_key, title_key, marker, coalesce(duration_ms, 0), ?2, ?3, ?4, ?5 FROM work_queue \
             WHERE id = ?1 AND document = ?2 \
             ON CONFLICT (artist_key, title_key, marker, duration_ms) DO UPDATE SET document = excluded.document, \
             outcome = excluded.outcome, lane = excluded.lane, stored_at = excluded.stored_at",
            params![
                work_id,
                document,
                completion.outcome.as_str(),
                completion.lane,
                now.0
            ],
        )?;
        Ok(())
    }
}
