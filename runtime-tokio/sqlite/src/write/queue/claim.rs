//! Taking a row, keeping it, and taking it from whoever is gone.

use super::{held, may_leave};
use crate::queue::{CLAIM_COLUMNS, claim};
use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::queue::{Call, Claim, LOST_WORKERS, Ticket};
use segue_core::time::Wall;
use segue_core::twin::{self, Twin};
use std::sync::LazyLock;

/// The priorities that rows wait in, highest first, one index seek each.
pub(crate) const LEVELS: &str = "WITH RECURSIVE levels (level) AS (\
    SELECT (SELECT priority FROM work_queue WHERE next_attempt_at IS NOT NULL ORDER BY priority DESC LIMIT 1) \
    UNION ALL SELECT (SELECT priority FROM work_queue WHERE next_attempt_at IS NOT NULL AND priority < level \
    ORDER BY priority DESC LIMIT 1) FROM levels WHERE level IS NOT NULL)";

/// The row to be taken next at `?1`: of the highest priority in which one is due, the one that is due for longest. Most often
/// that is the highest priority of all, so the others are gone through only when nothing of that is due.
pub(crate) fn next_due() -> String {
    let first_of = |level: &str| {
        format!(
            "(SELECT id FROM work_queue WHERE priority = {level} AND next_attempt_at <= ?1 ORDER BY next_attempt_at, id LIMIT 1)"
        )
    };
    let highest = "(SELECT priority FROM work_queue WHERE next_attempt_at IS NOT NULL ORDER BY priority DESC LIMIT 1)";
    format!(
        "SELECT coalesce({}, ({LEVELS} SELECT {} AS found FROM levels WHERE level IS NOT NULL AND found IS NOT NULL LIMIT 1))",
        first_of(highest),
        first_of("level")
    )
}

pub(super) static RECLAIM: LazyLock<String> = LazyLock::new(|| {
    let last = format!("lost_workers + 1 >= {LOST_WORKERS}");
    format!(
        "UPDATE work_queue SET lost_workers = lost_workers + 1, owner = NULL, lease_until = NULL, updated_at = ?1, \
         status = iif({last}, 'parked', 'pending'), next_attempt_at = iif({last}, NULL, ?1), \
         reason = iif({last}, 'its worker died {LOST_WORKERS} times on it', 'its worker did not come back') \
         WHERE lease_until < ?1 AND +status = 'processing' RETURNING id"
    )
});

pub(super) static CLAIM: LazyLock<String> = LazyLock::new(|| claim_sql("claim_epoch + 1"));

fn claim_sql(epoch: &str) -> String {
    format!(
        "UPDATE work_queue SET status = 'processing', claim_epoch = {epoch}, owner = ?2, lease_until = ?3, \
         next_attempt_at = NULL, updated_at = ?1 WHERE id = ({}) AND {} RETURNING {CLAIM_COLUMNS}",
        next_due(),
        may_leave(Call::Claim)
    )
}

impl Writer {
    /// Takes the next row that is due: highest priority first, then whoever waited longest. One statement.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn claim(&self, owner: &str, now: Wall, lease_until: Wall) -> Result<Option<Claim>> {
        let kept = twin::is(Twin::EpochKept).then(|| claim_sql("max(claim_epoch, 1)"));
        let sql = kept.as_ref().unwrap_or_else(|| &CLAIM);
        self.reader()
            .one(sql, params![now.0, owner, lease_until.0], claim)
    }

    /// Extends the lease; never shortens it.
    ///
    /// # Errors
    /// [`Error::StaleClaim`] when the row is no longer this claim's: give the song up then.
    pub fn heartbeat(&self, ticket: Ticket, lease_until: Wall) -> Result<()> {
        if twin::is(Twin::HeartbeatLost) {
            return Ok(());
        }
        let sql = format!(
            "UPDATE work_queue SET lease_until = max(lease_until, ?3) WHERE {}",
            held()
        );
        self.settled(&sql, params![ticket.work_id, ticket.epoch, lease_until.0])
    }

    /// Gives back the rows whose leases are over; which. The epoch stays, so a late owner's writes match no row. A row that
    /// [`LOST_WORKERS`] workers in a row have left so is parked: it would go on for ever.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn reclaim(&self, now: Wall) -> Result<Vec<i64>> {
        if twin::is(Twin::LeaseIgnored) {
            return Ok(Vec::new());
        }
        self.reader().all(&RECLAIM, [now.0], |c| c.next())
    }

    /// Takes a row from its worker, whose writes then match no row.
    ///
    /// # Errors
    /// [`Error::Conflict`] when no worker has it.
    pub fn take_back(&self, work_id: i64, now: Wall) -> Result<()> {
        let touched = self.run(
            "UPDATE work_queue SET status = 'pending', owner = NULL, lease_until = NULL, next_attempt_at = ?2, updated_at = ?2, \
             reason = 'taken from its worker by hand' WHERE id = ?1 AND status = 'processing'",
            params![work_id, now.0],
        )?;
        match touched {
            0 => Err(self.refusal(work_id, "is not in work")),
            _ => Ok(()),
        }
    }

    /// Runs a guarded statement; no row is a stale claim.
    pub(super) fn settled(&self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        match self.run(sql, params)? {
            0 => Err(Error::StaleClaim),
            _ => Ok(()),
        }
    }

    /// Why a row cannot be moved: it is not there, or stands elsewhere.
    pub(super) fn refusal(&self, work_id: i64, why: &str) -> Error {
        let status = self.reader().one(
            "SELECT status FROM work_queue WHERE id = ?1",
            [work_id],
            |c| c.next::<String>(),
        );
        match status {
            Ok(Some(status)) => Error::Conflict(format!("row {work_id} is {status}; it {why}")),
            Ok(None) => Error::Conflict(format!("there is no row {work_id}")),
            Err(error) => error,
        }
    }
}
