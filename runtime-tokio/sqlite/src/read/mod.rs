//! Questions and their answers. Nothing here changes a row.

pub(crate) mod activity;
pub(crate) mod catalog;
pub(crate) mod lists;
pub(crate) mod people;
pub(crate) mod search;
pub(crate) mod sources;
pub(crate) mod stars;

use crate::Result;
use crate::columns::Columns;
use rusqlite::{Connection, OptionalExtension, Params};
use segue_core::rank;
use std::sync::LazyLock;

/// Answers questions over one connection. Ask related ones inside [`Reader::snapshot`].
pub struct Reader {
    connection: Connection,
}

/// The shared rank order (contracts section 4) over `track_sources s`.
pub(crate) static RANKED: LazyLock<String> = LazyLock::new(|| rank::order_by("s"));

impl Reader {
    pub(crate) fn new(connection: Connection) -> Self {
        Reader { connection }
    }

    pub(crate) fn sql(&self) -> &Connection {
        &self.connection
    }

    /// All rows of a statement.
    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map(params, |row| read(&mut Columns::of(row)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The first row of a statement.
    pub(crate) fn one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement
            .query_row(params, |row| read(&mut Columns::of(row)))
            .optional()?)
    }
}

/// A page size or offset as SQLite takes it.
pub(crate) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
