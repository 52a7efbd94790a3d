//! Questions and their answers. Nothing here changes a row.

pub(crate) mod activity;
pub(crate) mod catalog;
pub(crate) mod gauge;
pub(crate) mod lists;
pub(crate) mod lyrics;
pub(crate) mod named;
pub(crate) mod people;
pub(crate) mod queue;
pub(crate) mod scope;
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

    /// What is wrong with the file, in SQLite's words: damaged pages, indexes that disagree with their tables, references
    /// that lead nowhere, counts that are not kept right. Empty when all is well. Reads the whole file.
    ///
    /// # Errors
    /// SQLite's own, when it cannot even look.
    pub fn damage(&self) -> Result<Vec<String>> {
        let mut damage = self.all("PRAGMA integrity_check", [], |c| c.next::<String>())?;
        damage.retain(|line| line != "ok");
        damage.extend(self.all("PRAGMA foreign_key_check", [], |c| {
            let (table, row): (String, Option<i64>) = (c.next()?, c.next()?);
            Ok(format!(
                "row {} of {table} refers to nothing",
                row.unwrap_or(0)
            ))
        })?);
        damage.extend(self.false_tallies()?);
        Ok(damage)
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
