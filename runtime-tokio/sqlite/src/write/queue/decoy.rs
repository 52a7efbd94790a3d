//! Words that a lane gives for anything: taken from the songs that got them before that was known.

use super::deliver::NOTHING;
use super::hand::BELIEVED_MS;
use super::may_leave;
use crate::{Result, Writer};
use rusqlite::params;
use segue_core::queue::{Call, TOLERANCE_MS, Ticket};
use segue_core::time::Wall;

/// Why a song lost its words, for the row and the ledger.
pub(super) const REASON: &str = "the same words were given for another song";

/// Answered songs that the lane `?2` gave the document `?1`, of another title and another artist than the row `?3`, and of
/// another length: one recording under names in two scripts has the same words with good reason.
const STRANGERS: &str = "SELECT w.id FROM documents d JOIN work_queue w ON w.document = d.number JOIN work_queue mine ON mine.id = ?3 \
    WHERE d.id = ?1 AND d.quality >= 2 AND w.lane = ?2 AND w.title_key <> mine.title_key AND w.artist_key <> mine.artist_key \
    AND abs(w.duration_ms - mine.duration_ms) > ?4 AND w.";

impl Writer {
    /// A lane gave the song of this claim the same words as a stranger: all answered strangers that have them from that lane
    /// lose them and are looked up again, while the lane's answer counts as refused; how many. From then on the words are a
    /// decoy for whoever gives them.
    ///
    /// A sidecar that was written with them is to be taken away, by way of the journal.
    ///
    /// # Errors
    /// [`crate::Error::StaleClaim`], and then nothing is changed (Q3).
    pub fn quarantine(
        &self,
        ticket: Ticket,
        lane: &str,
        document_id: &str,
        now: Wall,
    ) -> Result<usize> {
        self.check(ticket)?;
        let tolerance = crate::columns::signed(TOLERANCE_MS);
        let strangers: Vec<i64> = self.reader().all(
            &format!("{STRANGERS}{}", may_leave(Call::Redo)),
            params![document_id, lane, ticket.work_id, tolerance],
            |c| c.next(),
        )?;
        if strangers.is_empty() {
            return Ok(0);
        }
        self.run(
            "INSERT OR IGNORE INTO decoys (document_id, lane, found_at) VALUES (?1, ?2, ?3)",
            params![document_id, lane, now.0],
        )?;
        self.run(
            "DELETE FROM lyrics_cache WHERE document = (SELECT number FROM documents WHERE id = ?1)",
            [document_id],
        )?;
        for row in &strangers {
            self.take_words(*row, lane, now)?;
        }
        Ok(strangers.len())
    }

    /// Takes a row's words, and those of its targets, and has it looked up again.
    fn take_words(&self, work_id: i64, lane: &str, now: Wall) -> Result<()> {
        self.run(
            "INSERT INTO lane_answers (work_id, lane, answer, reason, answered_at, valid_until) \
             VALUES (?1, ?2, 'rejected', ?3, ?4, ?5) ON CONFLICT (work_id, lane) DO UPDATE SET answer = excluded.answer, \
             reason = excluded.reason, answered_at = excluded.answered_at, valid_until = excluded.valid_until",
            params![work_id, lane, REASON, now.0, now.0.saturating_add(BELIEVED_MS)],
        )?;
        // What is being written at this moment is written, and then taken away.
        self.run(
            &format!(
                "UPDATE deliveries SET wanted_document = {NOTHING}, attempts = 0, reason = ?2, updated_at = ?3, \
                 delivered_quality = iif(delivered_document = wanted_document, 0, delivered_quality), \
                 status = CASE WHEN status = 'intent' THEN 'intent' WHEN delivered_hash IS NULL THEN 'refused' ELSE 'wanted' END, \
                 next_attempt_at = CASE WHEN status = 'intent' THEN next_attempt_at WHEN delivered_hash IS NULL THEN NULL ELSE ?3 END, \
                 owner = iif(status = 'intent', owner, NULL), epoch = iif(status = 'intent', epoch, epoch + 1) WHERE scan_id IN \
                 (SELECT scan_id FROM work_queue_scan_results WHERE work_id = ?1)"
            ),
            params![work_id, REASON, now.0],
        )?;
        self.run(
            "UPDATE scan_results SET status = 'pending', document = NULL, quality = 0, done_at = NULL \
             WHERE id IN (SELECT scan_id FROM work_queue_scan_results WHERE work_id = ?1)",
            [work_id],
        )?;
        self.run(
            "UPDATE work_queue SET status = 'pending', next_attempt_at = ?2, updated_at = ?2, outcome = NULL, document = NULL, \
             quality = 0, lane = NULL, upgrade_after = NULL, upgrades = 0, reason = ?3 WHERE id = ?1",
            params![work_id, now.0, REASON],
        )?;
        Ok(())
    }
}
