//! The data directory as commands use it: one hub at a time, and its users' store.

use super::failure::Failure;
use crate::assemble::make_data_dir;
use crate::hub::Passwords;
use crate::ports::SealedPasswords;
use segue_core::io::Store;
use segue_runtime_tokio::secrets::KeyFile;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::{NewUser, Reader, Writer};
use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// The right to run a hub on a data directory, until it is dropped or the process ends.
#[derive(Debug)]
pub(crate) struct Claim(File);

/// A hub that has that right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    /// Its process.
    pub(crate) pid: u32,
    /// Where it answers; `None` while it starts.
    pub(crate) url: Option<String>,
}

impl Claim {
    /// Takes the right, or tells who has it.
    pub(crate) fn take(dir: &Path) -> Result<Result<Claim, Running>, Failure> {
        make_data_dir(dir)?;
        let path = dir.join("segue.lock");
        let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", path.display()));
        let mut options = File::options();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                let claim = Claim(file);
                claim.write("").map_err(failed)?;
                Ok(Ok(claim))
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text).map_err(failed)?;
                Ok(Err(Running::read(&text)))
            }
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// As [`Claim::take`], for those that cannot go on beside a running hub.
    pub(crate) fn take_alone(dir: &Path) -> Result<Claim, Failure> {
        Claim::take(dir)?.map_err(|running| {
            Failure::new(format!(
                "process {} runs a hub on {} already",
                running.pid,
                dir.display()
            ))
        })
    }

    /// Lets others know where the hub answers.
    pub(crate) fn answers_at(&self, url: &str) {
        if let Err(error) = self.write(url) {
            tracing::warn!(%error, "other commands will not find this hub");
        }
    }

    fn write(&self, url: &str) -> std::io::Result<()> {
        let mut file = &self.0;
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{}\n{url}\n", std::process::id())
    }
}

impl Running {
    fn read(text: &str) -> Self {
        let mut lines = text.lines();
        Running {
            pid: lines.next().and_then(|pid| pid.parse().ok()).unwrap_or(0),
            url: lines
                .next()
                .filter(|url| !url.is_empty())
                .map(str::to_owned),
        }
    }
}

/// The users of a data directory. May be used beside a running hub.
pub(crate) struct People {
    store: SqliteStore,
    passwords: SealedPasswords,
}

impl People {
    /// Opens the directory; a new one is made.
    pub(crate) fn open(dir: &Path) -> Result<Self, Failure> {
        make_data_dir(dir)?;
        let key = KeyFile::open_or_create(&dir.join("segue.key"))?;
        Ok(People {
            store: SqliteStore::open(&dir.join("segue.db"), StoreOptions::default())?,
            passwords: SealedPasswords::new(key),
        })
    }

    /// A new user as it is stored.
    pub(crate) fn sealed(
        &self,
        name: &str,
        password: &str,
        is_admin: bool,
    ) -> Result<NewUser, Failure> {
        Ok(NewUser {
            name: name.to_owned(),
            password_enc: self.seal(password)?,
            is_admin,
        })
    }

    /// A password as it is stored.
    pub(crate) fn seal(&self, password: &str) -> Result<Vec<u8>, Failure> {
        self.passwords.seal(password).map_err(Failure::new)
    }

    /// Asks the store.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Reader) -> segue_sqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.store.read(|reader| Ok(question(reader)?)).await?)
    }

    /// Changes the store.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Writer) -> segue_sqlite::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.store.write(|writer| Ok(change(writer)?)).await?)
    }

    /// Closes the store.
    pub(crate) async fn close(self) {
        self.store.close().await;
    }
}

/// Whether a library has been begun there.
pub(crate) fn has_library(dir: &Path) -> bool {
    database(dir).exists()
}

fn database(dir: &Path) -> PathBuf {
    dir.join("segue.db")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_hub_at_a_time_and_others_learn_where_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let claim = Claim::take(dir.path()).unwrap().unwrap();
        let running = Claim::take(dir.path()).unwrap().unwrap_err();
        assert_eq!((running.pid, running.url), (std::process::id(), None));
        claim.answers_at("http://127.0.0.1:4747");
        let running = Claim::take(dir.path()).unwrap().unwrap_err();
        assert_eq!(running.url.as_deref(), Some("http://127.0.0.1:4747"));
        drop(claim);
        assert!(Claim::take(dir.path()).unwrap().is_ok());
    }
}
