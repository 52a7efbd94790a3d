//! The journal of sidecars (contracts section 6): what is wanted, an intent before the first byte, and how it ended.

use super::decoy::REASON;
use crate::queue::{
    DELIVERY, DeliveryEnd, DeliveryIntent, DeliveryRow, DeliveryTicket, Unfinished, delivery_row,
};
use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::time::Wall;

/// In the place of a document's number: nothing of ours is to lie there. Numbers begin with 1.
pub(super) const NOTHING: i64 = 0;

const HELD: &str = "id = ?1 AND epoch = ?2 AND status IN ('wanted', 'intent')";

pub(super) const CLAIM_DELIVERY: &str = "UPDATE deliveries SET epoch = epoch + 1, owner = ?2, next_attempt_at = ?3, updated_at = ?1 WHERE id = \
             (SELECT id FROM deliveries WHERE next_attempt_at <= ?1 ORDER BY next_attempt_at, id LIMIT 1) RETURNING id";

impl Writer {
    /// Notes that the files linked to a row, or one of them, want its lyrics beside them; how many. A delivery that is being
    /// made is made again afterwards; one that has this document already is left alone.
    pub(super) fn want_deliveries(
        &self,
        work_id: i64,
        scan_id: Option<i64>,
        now: Wall,
    ) -> Result<usize> {
        self.run(
            "INSERT INTO deliveries (scan_id, status, next_attempt_at, wanted_document, created_at, updated_at) \
             SELECT s.id, 'wanted', ?3, w.document, ?3, ?3 FROM work_queue w \
             JOIN work_queue_scan_results j ON j.work_id = w.id JOIN scan_results s ON s.id = j.scan_id \
             WHERE w.id = ?1 AND (?2 IS NULL OR s.id = ?2) AND s.instance_id IS NOT NULL \
             AND w.document IS NOT NULL AND w.outcome = 'lyrics' \
             ON CONFLICT (scan_id) DO UPDATE SET wanted_document = excluded.wanted_document, attempts = 0, reason = NULL, \
             status = iif(status = 'intent', 'intent', 'wanted'), next_attempt_at = coalesce(next_attempt_at, ?3), updated_at = ?3 \
             WHERE wanted_document <> excluded.wanted_document",
            params![work_id, scan_id, now.0],
        )
    }

    /// Takes the delivery that is due for longest, one that was begun and left included. Until `lease_until` no other takes
    /// it.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn claim_delivery(
        &self,
        owner: &str,
        now: Wall,
        lease_until: Wall,
    ) -> Result<Option<DeliveryRow>> {
        let id: Option<i64> =
            self.reader()
                .one(CLAIM_DELIVERY, params![now.0, owner, lease_until.0], |c| {
                    c.next()
                })?;
        match id {
            Some(id) => {
                self.reader()
                    .one(&format!("{DELIVERY} WHERE d.id = ?1"), [id], delivery_row)
            }
            None => Ok(None),
        }
    }

    /// Makes what earlier processes began, and did not end, due now; how many. Call it at start, when nobody else delivers.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn recover_deliveries(&self, now: Wall) -> Result<usize> {
        self.run(
            "UPDATE deliveries SET next_attempt_at = min(next_attempt_at, ?1), epoch = epoch + 1 WHERE next_attempt_at IS NOT NULL \
             AND (status = 'intent' OR owner IS NOT NULL)",
            [now.0],
        )
    }

    /// Writes down what is about to be written, before anything is.
    ///
    /// # Errors
    /// [`Error::StaleClaim`] when another has the delivery by now: touch nothing then (Q3).
    pub fn begin_delivery(
        &self,
        ticket: DeliveryTicket,
        document_id: &str,
        intent: &DeliveryIntent,
        now: Wall,
    ) -> Result<()> {
        self.let_go(ticket, Some(&intent.temp), now)?;
        let sql = format!(
            "UPDATE deliveries SET status = 'intent', intent_document = (SELECT number FROM documents WHERE id = ?3), \
             intent_sidecar = ?4, intent_temp = ?5, intent_old_hash = ?6, intent_new_hash = ?7, updated_at = ?8 WHERE {HELD} \
             AND EXISTS (SELECT 1 FROM documents WHERE id = ?3)"
        );
        self.settled(
            &sql,
            params![
                ticket.delivery_id,
                ticket.epoch,
                document_id,
                intent.sidecar,
                intent.temp,
                intent.old_hash,
                intent.new_hash,
                now.0
            ],
        )
    }

    /// Writes down what is about to be taken away, before it is.
    ///
    /// # Errors
    /// [`Error::StaleClaim`] when another has the delivery by now: touch nothing then (Q3).
    pub fn begin_removal(
        &self,
        ticket: DeliveryTicket,
        sidecar: &str,
        hash: &str,
        now: Wall,
    ) -> Result<()> {
        self.let_go(ticket, None, now)?;
        let sql = format!(
            "UPDATE deliveries SET status = 'intent', intent_document = {NOTHING}, intent_sidecar = ?3, intent_temp = NULL, \
             intent_old_hash = ?4, intent_new_hash = NULL, updated_at = ?5 WHERE {HELD}"
        );
        self.settled(
            &sql,
            params![ticket.delivery_id, ticket.epoch, sidecar, hash, now.0],
        )
    }

    /// Keeps the delivery for longer.
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn extend_delivery(&self, ticket: DeliveryTicket, lease_until: Wall) -> Result<()> {
        let sql = format!(
            "UPDATE deliveries SET next_attempt_at = max(next_attempt_at, ?3) WHERE {HELD}"
        );
        self.settled(
            &sql,
            params![ticket.delivery_id, ticket.epoch, lease_until.0],
        )
    }

    /// Ends a delivery. When another document is wanted by now, it is due again at once. An end without an intent is of the
    /// wanted document: what lies there was found to be right.
    ///
    /// # Errors
    /// [`Error::StaleClaim`].
    pub fn end_delivery(&self, ticket: DeliveryTicket, end: &DeliveryEnd, now: Wall) -> Result<()> {
        const CLEARED: &str = "owner = NULL, intent_document = NULL, intent_sidecar = NULL, intent_temp = NULL, \
            intent_old_hash = NULL, intent_new_hash = NULL, updated_at = ?3";
        let again = "coalesce(intent_document, wanted_document) <> wanted_document";
        match end {
            // It has become the sidecar, or stays in the journal.
            DeliveryEnd::Delivered { .. } | DeliveryEnd::Again { begun: true, .. } => {}
            DeliveryEnd::Refused(_)
            | DeliveryEnd::Withdrawn
            | DeliveryEnd::Again { begun: false, .. } => {
                self.let_go(ticket, None, now)?;
            }
        }
        let touched = match end {
            DeliveryEnd::Delivered { sidecar, hash } => self.run(
                &format!(
                    "UPDATE deliveries SET status = iif({again}, 'wanted', 'delivered'), next_attempt_at = iif({again}, ?3, NULL), \
                     attempts = 0, reason = NULL, delivered_document = coalesce(intent_document, wanted_document), \
                     delivered_quality = (SELECT iif(id IN (SELECT document_id FROM decoys), 0, quality) FROM documents \
                     WHERE number = coalesce(intent_document, wanted_document)), \
                     delivered_sidecar = ?4, delivered_hash = ?5, delivered_at = ?3, {CLEARED} WHERE {HELD}"
                ),
                params![ticket.delivery_id, ticket.epoch, now.0, sidecar, hash],
            )?,
            DeliveryEnd::Refused(reason) => self.run(
                &format!(
                    "UPDATE deliveries SET status = iif({again}, 'wanted', 'refused'), next_attempt_at = iif({again}, ?3, NULL), \
                     reason = ?4, {CLEARED} WHERE {HELD}"
                ),
                params![ticket.delivery_id, ticket.epoch, now.0, reason],
            )?,
            DeliveryEnd::Withdrawn => self.run(
                &format!(
                    "UPDATE deliveries SET status = iif({again}, 'wanted', 'refused'), next_attempt_at = iif({again}, ?3, NULL), \
                     attempts = 0, reason = ?4, {}, {CLEARED} WHERE {HELD}",
                    ["document", "sidecar", "hash", "at", "quality"]
                        .map(|of| format!("delivered_{of} = iif(delivered_quality = 0, NULL, delivered_{of})"))
                        .join(", ")
                ),
                params![ticket.delivery_id, ticket.epoch, now.0, REASON],
            )?,
            DeliveryEnd::Again {
                reason,
                retry_at,
                begun: true,
            } => self.run(
                &format!(
                    "UPDATE deliveries SET owner = NULL, next_attempt_at = ?5, attempts = attempts + 1, reason = ?4, \
                     updated_at = ?3 WHERE {HELD}"
                ),
                params![ticket.delivery_id, ticket.epoch, now.0, reason, retry_at.0],
            )?,
            DeliveryEnd::Again {
                reason,
                retry_at,
                begun: false,
            } => self.run(
                &format!(
                    "UPDATE deliveries SET status = 'wanted', next_attempt_at = iif({again}, ?3, ?5), attempts = attempts + 1, \
                     reason = ?4, {CLEARED} WHERE {HELD}"
                ),
                params![ticket.delivery_id, ticket.epoch, now.0, reason, retry_at.0],
            )?,
        };
        match touched {
            0 => Err(Error::StaleClaim),
            _ => Ok(()),
        }
    }

    /// Remembers the name of the unfinished file that this delivery is about to forget, unless it stays the same: whoever
    /// had an earlier turn may only be slow, and still make it.
    fn let_go(&self, ticket: DeliveryTicket, next: Option<&str>, now: Wall) -> Result<()> {
        self.run(
            "INSERT INTO unfinished (instance_id, path, since) SELECT s.instance_id, d.intent_temp, ?3 FROM deliveries d \
             JOIN scan_results s ON s.id = d.scan_id WHERE d.id = ?1 AND d.epoch = ?2 AND d.intent_temp IS NOT NULL \
             AND d.intent_temp IS NOT ?4 ON CONFLICT (instance_id, path) DO UPDATE SET since = excluded.since",
            params![ticket.delivery_id, ticket.epoch, now.0, next],
        )?;
        Ok(())
    }

    /// Forgets the name of an unfinished file that is gone for good.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn forget_unfinished(&self, file: &Unfinished) -> Result<()> {
        self.run(
            "DELETE FROM unfinished WHERE instance_id = ?1 AND path = ?2 AND since = ?3",
            params![file.instance_id, file.path, file.since.0],
        )?;
        Ok(())
    }

    /// Has a sidecar written again, because it is gone or its owner asks for it. Whether there was one to write.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn redeliver(&self, scan_id: i64, now: Wall) -> Result<bool> {
        let touched = self.run(
            "UPDATE deliveries SET status = 'wanted', next_attempt_at = ?2, attempts = 0, reason = NULL, updated_at = ?2 \
             WHERE scan_id = ?1 AND status IN ('delivered', 'refused')",
            params![scan_id, now.0],
        )?;
        Ok(touched > 0)
    }
}
