//! One database file: opening it, its pragmas, its migrations.

use crate::{Error, Reader, Result, Writer};
use rusqlite::{Connection, OpenFlags};
use rusqlite_migration::{M, Migrations};
use segue_core::twin::{self, Twin};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Numbered, forward only; a released one is never edited.
const NUMBERED: &[M<'static>] = &[
    M::up(include_str!("../migrations/001-catalog.sql")),
    M::up(include_str!("../migrations/002-people-and-activity.sql")),
    M::up(include_str!("../migrations/003-ratings.sql")),
    M::up(include_str!("../migrations/004-lyrics.sql")),
    M::up(include_str!("../migrations/005-unfinished.sql")),
    M::up(include_str!("../migrations/006-tallies.sql")),
];
const MIGRATIONS: Migrations<'static> = Migrations::from_slice(NUMBERED);

/// How long a connection waits for another's lock. Only start-up and other processes contend: there is one writer.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a checkpoint leaves of the write-ahead log on disk.
const WAL_KEPT_BYTES: i64 = 16 * 1024 * 1024;

/// Pages in the write-ahead log at which a commit moves them into the database. A checkpoint costs two more syncs and
/// writes each page once, however often it was changed since the last one: with SQLite's own 1,000 pages, every third or
/// fourth group of lookups paid for one. As many as [`WAL_KEPT_BYTES`] hold, so the log is written in place.
const CHECKPOINT_PAGES: i64 = WAL_KEPT_BYTES / 4096;

/// Page cache of one connection, in KiB (SQLite writes it as a negative number).
const CACHE_KIB: i64 = 8 * 1024;

/// Statements a connection keeps prepared: more than this crate has.
const PREPARED: usize = 256;

/// A database whose tables are up to date. Hands out connections; one in memory lives as long as this or a connection.
#[derive(Clone)]
pub struct Db {
    place: Place,
    synchronous: Synchronous,
    /// Keeps a database in memory alive between two connections.
    _anchor: Option<Arc<Mutex<Connection>>>,
}

#[derive(Clone, Debug)]
enum Place {
    File(PathBuf),
    OnVfs { path: PathBuf, vfs: String },
    Memory(u64),
}

/// When a commit returns.
#[derive(Clone, Copy, Debug)]
enum Synchronous {
    /// Once it is on the disk: what is acknowledged survives a power cut (product.md section 4).
    Full,
    /// Before that.
    Normal,
}

impl Db {
    /// Opens or creates the database at `path` and migrates it.
    ///
    /// # Errors
    /// When the file cannot be used, or was written by a later version.
    pub fn open(path: &Path) -> Result<Self> {
        Self::open_at(Place::File(path.to_owned()))
    }

    /// Opens or creates the database at `path` of the VFS that is registered under the name `vfs`, as [`Db::open`] does
    /// on the system's. A simulated disk is such a VFS.
    ///
    /// # Errors
    /// As [`Db::open`], and when there is no such VFS.
    pub fn open_with_vfs(path: &Path, vfs: &str) -> Result<Self> {
        Self::open_at(Place::OnVfs {
            path: path.to_owned(),
            vfs: vfs.to_owned(),
        })
    }

    fn open_at(place: Place) -> Result<Self> {
        let synchronous = match twin::is(Twin::AcknowledgedEarly) {
            true => Synchronous::Normal,
            false => Synchronous::Full,
        };
        migrate(&mut connect(&place, synchronous)?)?;
        Ok(Db {
            place,
            synchronous,
            _anchor: None,
        })
    }

    /// The same database, whose connections acknowledge a commit before it is on the disk. Only good for seeing a test
    /// of durability fail.
    #[must_use]
    pub fn acknowledging_early(self) -> Self {
        Db {
            synchronous: Synchronous::Normal,
            ..self
        }
    }

    /// A new database in memory. Its connections are those of this `Db` and its clones; when they are gone, it is gone.
    ///
    /// It has no write-ahead log, so a writer waits for open snapshots, and they for it.
    ///
    /// # Errors
    /// When memory is short.
    pub fn open_in_memory() -> Result<Self> {
        // Under one name all connections of a process would share one database, whoever opened it.
        static OPENED: AtomicU64 = AtomicU64::new(0);
        let place = Place::Memory(OPENED.fetch_add(1, Ordering::Relaxed));
        let synchronous = Synchronous::Full;
        let mut anchor = connect(&place, synchronous)?;
        migrate(&mut anchor)?;
        Ok(Db {
            place,
            synchronous,
            _anchor: Some(Arc::new(Mutex::new(anchor))),
        })
    }

    /// A connection that only reads.
    ///
    /// # Errors
    /// When SQLite cannot open the file once more.
    pub fn reader(&self) -> Result<Reader> {
        let connection = connect(&self.place, self.synchronous)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(Reader::new(connection))
    }

    /// The connection that writes. Have one: a second one waits for the first.
    ///
    /// # Errors
    /// When SQLite cannot open the file once more.
    pub fn writer(&self) -> Result<Writer> {
        Ok(Writer::new(Reader::new(connect(
            &self.place,
            self.synchronous,
        )?)))
    }

    /// Bytes in the write-ahead log; 0 in memory and on a VFS of its own, where nobody asks.
    pub fn wal_bytes(&self) -> u64 {
        match &self.place {
            Place::File(path) => {
                let mut name = path.clone().into_os_string();
                name.push("-wal");
                std::fs::metadata(name).map_or(0, |found| found.len())
            }
            Place::OnVfs { .. } | Place::Memory(_) => 0,
        }
    }
}

fn connect(place: &Place, synchronous: Synchronous) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match place {
        // No URI flag here: a path is a path, whatever it is called.
        Place::File(path) => Connection::open_with_flags(path, flags)?,
        Place::OnVfs { path, vfs } => {
            Connection::open_with_flags_and_vfs(path, flags, vfs.as_str())?
        }
        Place::Memory(number) => Connection::open_with_flags(
            format!("file:/segue-{number}?vfs=memdb"),
            flags | OpenFlags::SQLITE_OPEN_URI,
        )?,
    };
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    // `memdb` has no log and answers with the mode it keeps, so the answer is not checked.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    let synchronous = match synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", WAL_KEPT_BYTES, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<()> {
    MIGRATIONS.to_latest(connection).map_err(|error| {
        use rusqlite_migration::{Error as E, MigrationDefinitionError::DatabaseTooFarAhead};
        Error::Migration(match error {
            E::MigrationDefinition(DatabaseTooFarAhead) => {
                "the database was written by a later version of Segue; use that version, or another data directory".to_owned()
            }
            other => other.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_sound() {
        MIGRATIONS.validate().unwrap();
    }
}
