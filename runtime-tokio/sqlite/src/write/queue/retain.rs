//! Letting go of what nobody needs.

use crate::queue::Discardable;
use crate::{Result, Writer};
use rusqlite::params;

impl Writer {
    /// Removes rows that [`crate::Reader::discardable`] named, unless somebody needs them by now; how many went.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn discard(&self, rows: &Discardable) -> Result<usize> {
        let mut gone = 0;
        for target in &rows.targets {
            gone += self.run(
                "DELETE FROM scan_results WHERE id = ?1 \
                 AND NOT EXISTS (SELECT 1 FROM unified_tracks t WHERE t.id = scan_results.track_id) \
                 AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.scan_id = scan_results.id AND d.status = 'intent')",
                [target],
            )?;
        }
        for row in &rows.rows {
            gone += self.run(
                "DELETE FROM work_queue WHERE id = ?1 AND status <> 'processing' \
                 AND NOT EXISTS (SELECT 1 FROM work_queue_scan_results j WHERE j.work_id = work_queue.id)",
                [row],
            )?;
        }
        for (artist_key, title_key, marker, duration_ms) in &rows.cached {
            gone += self.run(
                "DELETE FROM lyrics_cache WHERE artist_key = ?1 AND title_key = ?2 AND marker = ?3 AND duration_ms = ?4",
                params![artist_key, title_key, marker, duration_ms],
            )?;
        }
        for (number, stored_at) in &rows.documents {
            // Whoever referred to it since has stored it anew.
            gone += self.run(
                "DELETE FROM documents WHERE number = ?1 AND stored_at = ?2",
                params![number, stored_at],
            )?;
        }
        Ok(gone)
    }
}
