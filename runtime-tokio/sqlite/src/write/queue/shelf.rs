//! Documents and lanes.

use crate::columns::maybe_millis;
use crate::queue::{LaneStateRow, grade};
use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::queue::{NewDocument, Quality};
use segue_core::time::Wall;

impl Writer {
    /// Stores a document under its hash; its number. One that is there already counts as stored now, so that retention
    /// does not take it away under whoever is about to refer to it.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it holds nothing.
    pub(super) fn put_document(&self, document: &NewDocument, now: Wall) -> Result<i64> {
        if document.quality == Quality::None {
            return Err(Error::Conflict("a document must hold something".to_owned()));
        }
        let number = self.reader().one(
            "INSERT INTO documents (id, quality, body, stored_at) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (id) DO UPDATE SET stored_at = max(stored_at + 1, excluded.stored_at) RETURNING number",
            params![document.id, grade(document.quality), document.body, now.0],
            |c| c.next(),
        )?;
        number.ok_or_else(|| Error::Conflict("the document was not stored".to_owned()))
    }

    /// Stores how a lane stands.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn put_lane_state(&self, state: &LaneStateRow) -> Result<()> {
        let breaker = serde_json::to_string(&state.breaker)
            .map_err(|error| Error::Conflict(format!("a breaker cannot be written: {error}")))?;
        self.run(
            "INSERT INTO lane_state (lane, breaker, next_call_at, note, saved_at) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (lane) DO UPDATE SET breaker = excluded.breaker, next_call_at = excluded.next_call_at, \
             note = excluded.note, saved_at = excluded.saved_at",
            params![
                state.lane,
                breaker,
                maybe_millis(state.next_call_at),
                state.note,
                state.saved_at.0
            ],
        )?;
        Ok(())
    }
}
