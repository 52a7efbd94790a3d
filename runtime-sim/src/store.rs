//! Real SQLite behind a simulated wait.
//!
//! A statement itself takes no simulated time and cannot be interrupted, as on a disk that everybody
//! shares. The waits before and after are where a crash or a rival may come between.

use crate::{Disk, Life, SimClock};
use madsim::rand::{Rng, thread_rng};
use segue_core::driver::lock;
use segue_core::io::{Clock, Store, StoreError};
use segue_sqlite::{Db, Reader, Writer};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One database of a simulation.
#[derive(Clone)]
pub struct SimStore {
    both: Arc<Mutex<(Reader, Writer)>>,
    clock: SimClock,
    mortal: Option<(Disk, Life)>,
}

impl SimStore {
    /// Opens a store over `db`.
    pub fn new(db: &Db, clock: SimClock) -> Result<Self, StoreError> {
        Ok(SimStore {
            both: Arc::new(Mutex::new((db.reader()?, db.writer()?))),
            clock,
            mortal: None,
        })
    }

    /// Opens the database on `disk`, migrating it if need be. After a crash of the disk the store is dead: open another.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn on_disk(disk: &Disk, clock: SimClock) -> Result<Self, StoreError> {
        SimStore::new(&disk.database()?, clock)
    }

    /// The same store of a node that dies with the power of `disk`: where that goes, `life` stops, and nobody learns what
    /// became of his question or change.
    #[must_use]
    pub fn dying_with(self, disk: Disk, life: Life) -> Self {
        SimStore {
            mortal: Some((disk, life)),
            ..self
        }
    }

    /// Goes on only where there is power.
    async fn survive(&self) {
        if let Some((disk, life)) = &self.mortal
            && disk.is_off()
        {
            life.stop();
            pending::<()>().await;
        }
    }

    async fn wait(&self) {
        let micros = thread_rng().gen_range(1_000..5_000);
        let at = self.clock.now() + Duration::from_micros(micros);
        self.clock.sleep_until(at).await;
    }
}

impl Store for SimStore {
    type Reader = Reader;
    type Writer = Writer;

    async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    {
        self.wait().await;
        let answer = lock(&self.both).0.snapshot(question);
        self.survive().await;
        self.wait().await;
        answer
    }

    async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer) -> Result<T, StoreError> + Send + 'static,
    {
        self.wait().await;
        let answer = lock(&self.both).1.group(|group| group.member(change));
        self.survive().await;
        let answer = answer?;
        self.wait().await;
        answer
    }
}
