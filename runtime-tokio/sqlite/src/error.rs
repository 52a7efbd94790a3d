//! Why a statement could not be carried out.

use segue_core::io::StoreError;

/// What every fallible function here returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a question has no answer or a change was not made. Never holds a bound value.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite's own complaint.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The tables could not be brought up to date.
    #[error("{0}")]
    Migration(String),
    /// A rule forbids the change, or a row it needs is missing.
    #[error("{0}")]
    Conflict(String),
    /// Another worker has the row by now, or its lease was over: the late write is discarded (contracts section 5).
    #[error("the claim is no longer valid")]
    StaleClaim,
    /// The disk failed in the middle of a transaction, and SQLite undid all of it; why.
    #[error("the transaction was given up, and nothing of it was kept: {0}")]
    GivenUp(String),
    /// A closure run inside a group or a snapshot failed for a reason of its own.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    /// Whether a uniqueness rule was broken.
    pub(crate) fn is_unique_violation(&self) -> bool {
        matches!(
            self,
            Error::Sqlite(rusqlite::Error::SqliteFailure(failure, _))
                if failure.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE
        )
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match error {
            Error::Sqlite(error) => StoreError::Database(error.to_string()),
            Error::Migration(text) => StoreError::Database(text),
            Error::GivenUp(_) => StoreError::Database(error.to_string()),
            Error::Conflict(text) => StoreError::Conflict(text),
            Error::StaleClaim => StoreError::StaleClaim,
            Error::Store(error) => error,
        }
    }
}
