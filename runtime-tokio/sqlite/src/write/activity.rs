//! The truth about streams, written once at each end (contracts 3.10).

use crate::columns::{maybe_millis, maybe_signed, signed};
use crate::{AttemptRow, Error, OperationStatus, Result, StreamOperation, Writer};
use rusqlite::params;
use segue_core::time::Wall;

impl Writer {
    /// Adds an operation; its row id. `operation.id` is not looked at. A failed opening is added as it ended.
    ///
    /// # Errors
    /// [`Error::Conflict`] when an active operation has an end or an ended one has none.
    pub fn open_operation(&self, operation: &StreamOperation) -> Result<i64> {
        if (operation.status == OperationStatus::Active) != operation.ended_at.is_none() {
            return Err(Error::Conflict(
                "an operation is active exactly as long as it has no end".to_owned(),
            ));
        }
        self.run(
            "INSERT INTO stream_operations (track_id, track_title, artist_name, user, client, source_id, \
             source_kind, attempts, started_at, ended_at, status, bytes, format, bit_rate, transcoded, \
             range_start, error) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            params![
                operation.track_id,
                operation.track_title,
                operation.artist_name,
                operation.user,
                operation.client,
                operation.source_id,
                operation.source_kind.map(|kind| kind.as_str()),
                attempts_json(&operation.attempts)?,
                operation.started_at.0,
                maybe_millis(operation.ended_at),
                operation.status.as_str(),
                signed(operation.bytes),
                operation.format,
                operation.bit_rate,
                operation.transcoded,
                maybe_signed(operation.range_start),
                operation.error,
            ],
        )?;
        Ok(self.sql().last_insert_rowid())
    }

    /// Ends an active operation; `false` when it had ended before, and then nothing is changed.
    ///
    /// # Errors
    /// [`Error::Conflict`] when `status` is `Active`.
    pub fn close_operation(
        &self,
        id: i64,
        ended: Wall,
        status: OperationStatus,
        bytes: u64,
        attempts: &[AttemptRow],
        error: Option<&str>,
    ) -> Result<bool> {
        if status == OperationStatus::Active {
            return Err(Error::Conflict(
                "an operation cannot end as active".to_owned(),
            ));
        }
        let touched = self.run(
            "UPDATE stream_operations SET ended_at = ?2, status = ?3, bytes = ?4, attempts = ?5, error = ?6 \
             WHERE id = ?1 AND status = 'active'",
            params![
                id,
                ended.0,
                status.as_str(),
                signed(bytes),
                attempts_json(attempts)?,
                error
            ],
        )?;
        Ok(touched == 1)
    }

    /// Ends what an earlier process left active; how many. Call it at start, before the first operation.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn close_orphans(&self, now: Wall) -> Result<usize> {
        self.run(
            "UPDATE stream_operations SET ended_at = max(?1, started_at), status = 'interrupted' WHERE status = 'active'",
            [now.0],
        )
    }

    /// Forgets all ended operations but about the latest `keep`; how many. Cheap, but not for every stream's end.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn prune_operations(&self, keep: usize) -> Result<usize> {
        // Ids rise with time, so the primary key alone finds where to cut.
        self.run(
            "DELETE FROM stream_operations WHERE status <> 'active' AND id <= \
             (SELECT id FROM stream_operations ORDER BY id DESC LIMIT 1 OFFSET ?1)",
            [crate::read::limit(keep)],
        )
    }
}

fn attempts_json(attempts: &[AttemptRow]) -> Result<String> {
    serde_json::to_string(attempts)
        .map_err(|error| Error::Conflict(format!("attempts cannot be written: {error}")))
}
