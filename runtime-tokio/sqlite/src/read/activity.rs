//! What is playing and what was played, from which source (contracts 3.10).

use super::{Reader, limit};
use crate::columns::Columns;
use crate::{OperationStatus, Result, StreamOperation};
use rusqlite::types::Type;

const OPERATION: &str = "SELECT id, track_id, track_title, artist_name, user, client, source_id, \
    source_kind, attempts, started_at, ended_at, status, bytes, format, bit_rate, transcoded, \
    range_start, error FROM stream_operations";

fn operation(c: &mut Columns<'_, '_>) -> rusqlite::Result<StreamOperation> {
    Ok(StreamOperation {
        id: c.next()?,
        track_id: c.next()?,
        track_title: c.next()?,
        artist_name: c.next()?,
        user: c.next()?,
        client: c.next()?,
        source_id: c.next()?,
        source_kind: c.maybe_kind()?,
        attempts: c.json()?,
        started_at: c.wall()?,
        ended_at: c.maybe_wall()?,
        status: status(c)?,
        bytes: c.unsigned()?,
        format: c.next()?,
        bit_rate: c.next()?,
        transcoded: c.next()?,
        range_start: c.maybe_unsigned()?,
        error: c.next()?,
    })
}

fn status(c: &mut Columns<'_, '_>) -> rusqlite::Result<OperationStatus> {
    let word: String = c.next()?;
    OperationStatus::from_word(&word).ok_or_else(|| {
        rusqlite::Error::FromSqlConversionFailure(11, Type::Text, "unknown status".into())
    })
}

impl Reader {
    /// The latest operations, newest first.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn activity(&self, limit_to: usize) -> Result<Vec<StreamOperation>> {
        self.all(
            &format!("{OPERATION} ORDER BY started_at DESC, id DESC LIMIT ?1"),
            [limit(limit_to)],
            operation,
        )
    }

    /// What is playing now, newest first.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn active_operations(&self) -> Result<Vec<StreamOperation>> {
        self.all(
            &format!("{OPERATION} WHERE status = 'active' ORDER BY started_at DESC, id DESC"),
            [],
            operation,
        )
    }
}
