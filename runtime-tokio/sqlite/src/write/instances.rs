//! The configured sources.

use crate::{Error, Result, Writer};
use rusqlite::params;
use segue_core::catalog::model::SourceKind;
use segue_core::time::Wall;

/// A source as it is configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceSpec {
    /// Its id.
    pub id: String,
    /// What it is.
    pub kind: SourceKind,
    /// Display name.
    pub name: String,
    /// Ranks before others at equal quality; takes effect with the next merge.
    pub local: bool,
}

impl Writer {
    /// Adds a source or takes over what was configured anew; its folder number, which it keeps.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn upsert_instance(&self, spec: &InstanceSpec) -> Result<i64> {
        let mut statement = self.sql().prepare_cached(
            "INSERT INTO instances (id, kind, name, local) VALUES (?1, ?2, ?3, ?4) \
             ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, name = excluded.name, local = excluded.local \
             RETURNING folder_number",
        )?;
        Ok(statement.query_row(
            params![spec.id, spec.kind.as_str(), spec.name, spec.local],
            |row| row.get(0),
        )?)
    }

    /// Forgets a source and everything it said, at once; whether it was there. Its tracks leave the library with the
    /// next merge, and are not played from it any more.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn remove_instance(&self, id: &str) -> Result<bool> {
        Ok(self.run("DELETE FROM instances WHERE id = ?1", [id])? > 0)
    }

    /// Notes whether the source answered. An offline one keeps its rows (product.md section 4).
    ///
    /// # Errors
    /// [`Error::Conflict`] when there is no such source.
    pub fn mark_instance(
        &self,
        id: &str,
        online: bool,
        at: Wall,
        error: Option<&str>,
    ) -> Result<()> {
        let touched = self.run(
            "UPDATE instances SET online = ?2, last_seen = iif(?2, ?3, last_seen), last_error = ?4 WHERE id = ?1",
            params![id, online, at.0, error],
        )?;
        found(touched, id)
    }

    pub(crate) fn end_pass(
        &self,
        id: &str,
        at: Wall,
        complete: bool,
        error: Option<&str>,
    ) -> Result<()> {
        let touched = self.run(
            "UPDATE instances SET online = 1, last_seen = ?2, last_sync = iif(?3, ?2, last_sync), \
             last_error = iif(?3, ?4, last_error), \
             track_count = (SELECT count(*) FROM instance_tracks WHERE instance_id = ?1) WHERE id = ?1",
            params![id, at.0, complete, error],
        )?;
        found(touched, id)
    }
}

fn found(touched: usize, id: &str) -> Result<()> {
    if touched == 0 {
        return Err(Error::Conflict(format!("there is no source {id:?}")));
    }
    Ok(())
}
