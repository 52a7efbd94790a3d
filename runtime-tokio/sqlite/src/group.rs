//! Group commit: several changes in one transaction, each of which fails alone.

use crate::{Error, Reader, Result, Writer};
use segue_core::io::StoreError;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An open transaction that takes members. See [`Writer::group`].
pub struct Group<'w> {
    writer: &'w Writer,
    /// What made SQLite undo the whole transaction by itself, if it did.
    given_up: RefCell<Option<StoreError>>,
}

impl Writer {
    /// Runs `members` inside one `BEGIN IMMEDIATE` and commits. Acknowledge members only when this returned `Ok`:
    /// an error means that nothing of the group was kept.
    ///
    /// # Errors
    /// When the transaction cannot begin or commit.
    pub fn group<T>(&self, members: impl FnOnce(&Group<'_>) -> T) -> Result<T> {
        let sql = self.sql();
        run(sql, "BEGIN IMMEDIATE")?;
        let guard = RollBack(self);
        let group = Group {
            writer: self,
            given_up: RefCell::new(None),
        };
        let outcome = members(&group);
        if sql.is_autocommit() {
            // A full disk and its like make SQLite undo the whole transaction by itself.
            return Err(Error::GivenUp(match group.given_up.into_inner() {
                Some(StoreError::Database(cause) | StoreError::Conflict(cause)) => cause,
                Some(StoreError::StaleClaim | StoreError::Closed) | None => {
                    "for no reason that it told".to_owned()
                }
            }));
        }
        run(sql, "COMMIT")?;
        drop(guard);
        Ok(outcome)
    }

    /// One change in a transaction of its own.
    ///
    /// # Errors
    /// The change's own, or SQLite's.
    pub fn alone<T, E: Into<StoreError>>(
        &self,
        change: impl FnOnce(&Writer) -> Result<T, E>,
    ) -> Result<T> {
        Ok(self.group(|group| group.member(change))??)
    }
}

impl Group<'_> {
    /// Runs one change in a savepoint. An error or a panic undoes this change alone.
    ///
    /// # Errors
    /// The change's own; [`StoreError::Database`] when it panicked or SQLite gave the whole group up.
    pub fn member<T, E: Into<StoreError>>(
        &self,
        change: impl FnOnce(&Writer) -> Result<T, E>,
    ) -> Result<T, StoreError> {
        let sql = self.writer.sql();
        if sql.is_autocommit() {
            return Err(StoreError::Database(
                "the transaction was given up before this change".to_owned(),
            ));
        }
        run(sql, "SAVEPOINT member")?;
        // Whatever the closure left half done is in the database only, and is rolled back.
        let outcome = catch_unwind(AssertUnwindSafe(|| change(self.writer)))
            .map_err(|_| StoreError::Database("the change panicked".to_owned()))
            .and_then(|outcome| outcome.map_err(Into::into));
        match &outcome {
            Ok(_) => run(sql, "RELEASE member")?,
            Err(error) if sql.is_autocommit() => {
                self.given_up.replace(Some(error.clone()));
            }
            Err(_) => sql
                .execute_batch("ROLLBACK TO member; RELEASE member")
                .map_err(Error::from)?,
        }
        outcome
    }
}

impl Reader {
    /// Runs `questions` against one snapshot of the database.
    ///
    /// # Errors
    /// The question's own, or SQLite's.
    pub fn snapshot<T, E: From<Error>>(
        &self,
        questions: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        run(self.sql(), "BEGIN DEFERRED")?;
        let guard = EndRead(self);
        let outcome = questions(self);
        drop(guard);
        outcome
    }
}

/// Runs one of the statements around every change and question; prepared once, for they are short and run for all.
fn run(sql: &rusqlite::Connection, statement: &str) -> Result<()> {
    sql.prepare_cached(statement)?.execute([])?;
    Ok(())
}

/// Leaves no transaction open when a closure panics or a commit fails.
struct RollBack<'w>(&'w Writer);

impl Drop for RollBack<'_> {
    fn drop(&mut self) {
        end(self.0.sql());
    }
}

/// Leaves no read transaction open, which would hold the write-ahead log for ever.
struct EndRead<'r>(&'r Reader);

impl Drop for EndRead<'_> {
    fn drop(&mut self) {
        end(self.0.sql());
    }
}

fn end(sql: &rusqlite::Connection) {
    if !sql.is_autocommit()
        && let Err(error) = run(sql, "ROLLBACK")
    {
        tracing::error!(%error, "a transaction could not be rolled back");
    }
}
