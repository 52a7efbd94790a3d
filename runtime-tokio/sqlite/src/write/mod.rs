//! Changes. Each runs inside the transaction that [`Writer::group`](crate::Writer::group) opened; none opens its own.

pub(crate) mod activity;
pub(crate) mod diff;
pub(crate) mod instances;
pub(crate) mod merge;
pub(crate) mod pass;
pub(crate) mod people;
pub(crate) mod put;
pub(crate) mod queue;
pub(crate) mod step;

use crate::{Reader, Result};
use rusqlite::{Connection, Params};
use std::time::Duration;

/// Changes rows over the one connection that may.
pub struct Writer {
    reader: Reader,
}

impl Writer {
    pub(crate) fn new(reader: Reader) -> Self {
        Writer { reader }
    }

    /// Questions inside the transaction, which sees its own changes.
    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn sql(&self) -> &Connection {
        self.reader.sql()
    }

    /// Runs one statement; how many rows it touched.
    pub(crate) fn run(&self, sql: &str, params: impl Params) -> Result<usize> {
        Ok(self.sql().prepare_cached(sql)?.execute(params)?)
    }

    /// Moves the write-ahead log into the database and cuts it to nothing. With a reader in the way it does what can be
    /// done at once and leaves the rest: changes must not wait for a question.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn checkpoint(&self) -> Result<()> {
        self.sql().busy_timeout(Duration::ZERO)?;
        let outcome = self
            .sql()
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        self.sql().busy_timeout(crate::db::BUSY_TIMEOUT)?;
        Ok(outcome?)
    }
}
