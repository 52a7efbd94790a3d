//! The queue in numbers.

use super::Reader;
use crate::{DeliveryStatus, Result};
use segue_core::time::Wall;

impl Reader {
    /// When the song was put in that has waited longest without being looked up.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn oldest_waiting(&self) -> Result<Option<Wall>> {
        // Ids go up with time, and the index of statuses has them in order.
        self.one(
            "SELECT created_at FROM work_queue WHERE status = 'pending' ORDER BY id LIMIT 1",
            [],
            |c| c.wall(),
        )
    }

    /// How many tracks and files cannot be looked up.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn refused_count(&self) -> Result<u64> {
        Ok(tally(&self.tallies("targets")?, "refused"))
    }

    /// How many sidecars stand where; every status, zeros included.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn delivery_counts(&self) -> Result<Vec<(DeliveryStatus, u64)>> {
        let found = self.tallies("sidecars")?;
        let count = |status: DeliveryStatus| (status, tally(&found, status.as_str()));
        Ok(DeliveryStatus::ALL.map(count).into())
    }

    /// What is counted of a kind of row, by status.
    pub(crate) fn tallies(&self, kind: &str) -> Result<Vec<(String, u64)>> {
        self.all(TALLIES, [kind], |c| Ok((c.next()?, c.unsigned()?)))
    }

    /// Tallies that are not what is there, for [`Reader::damage`].
    pub(crate) fn false_tallies(&self) -> Result<Vec<String>> {
        self.all(
            "SELECT t.kind, t.status, t.count FROM tallies t WHERE t.count <> CASE t.kind \
             WHEN 'songs' THEN (SELECT count(*) FROM work_queue r WHERE r.status = t.status) \
             WHEN 'targets' THEN (SELECT count(*) FROM scan_results r WHERE r.status = t.status) \
             ELSE (SELECT count(*) FROM deliveries r WHERE r.status = t.status) END",
            [],
            |c| {
                let (kind, status, count): (String, String, i64) =
                    (c.next()?, c.next()?, c.next()?);
                Ok(format!(
                    "{count} {kind} are said to be {status}, which is not so"
                ))
            },
        )
    }
}

/// How many rows of the kind `?1` stand where, as it was kept up to date with each of them.
pub(crate) const TALLIES: &str = "SELECT status, count FROM tallies WHERE kind = ?1";

/// One of them.
pub(super) fn tally(found: &[(String, u64)], status: &str) -> u64 {
    let found = found.iter().find(|(word, _)| word == status);
    found.map_or(0, |(_, count)| *count)
}
