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
        let count = self.one(
            "SELECT count(*) FROM scan_results WHERE status = 'refused'",
            [],
            |c| c.unsigned(),
        )?;
        Ok(count.unwrap_or(0))
    }

    /// How many sidecars stand where; every status, zeros included.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn delivery_counts(&self) -> Result<Vec<(DeliveryStatus, u64)>> {
        let found = self.all(
            "SELECT status, count(*) FROM deliveries GROUP BY status",
            [],
            |c| Ok((c.next::<String>()?, c.unsigned()?)),
        )?;
        let count = |status: DeliveryStatus| {
            let found = found.iter().find(|(word, _)| word == status.as_str());
            (status, found.map_or(0, |(_, count)| *count))
        };
        Ok(DeliveryStatus::ALL.map(count).into())
    }
}
