//! A process's way to the store and to the music folder: whatever passes is shown to the [`History`], and at a chosen write
//! or step the process dies.

use super::history::{History, Look};
use super::scenario::When;
use bytes::Bytes;
use segue_core::driver::lock;
use segue_core::io::{Digest, Place, Runtime, Seen, Shelf, ShelfError, Store, StoreError};
use segue_runtime_sim::{Life, SimClock, SimNetwork, SimShelf, SimStore};
use segue_sqlite::{Reader, Writer};
use std::future::pending;
use std::sync::{Arc, Mutex};

/// What one life of a process runs on.
#[derive(Clone)]
pub(crate) struct Probed {
    pub(crate) clock: SimClock,
    pub(crate) network: SimNetwork,
    pub(crate) store: ProbedStore,
    pub(crate) shelf: ProbedShelf,
}

impl Runtime for Probed {
    type Clock = SimClock;
    type Network = SimNetwork;
    type Store = ProbedStore;
    type Shelf = ProbedShelf;

    fn clock(&self) -> &SimClock {
        &self.clock
    }

    fn network(&self) -> &SimNetwork {
        &self.network
    }

    fn store(&self) -> &ProbedStore {
        &self.store
    }

    fn shelf(&self) -> &ProbedShelf {
        &self.shelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        work()
    }
}

/// At which write or step a process is to die.
#[derive(Clone, Default)]
pub(crate) struct Doom(Arc<Mutex<Option<When>>>);

/// What a write or a step is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Write,
    Shelf,
}

impl Doom {
    pub(crate) fn set(&self, when: Option<When>) {
        *lock(&self.0) = when;
    }

    /// Whether the process dies at this deed: before it, or after it.
    fn comes(&self, deed: Deed) -> (bool, bool) {
        let mut doom = lock(&self.0);
        let Some(when) = doom.as_mut() else {
            return (false, false);
        };
        let (of, left, before) = match when {
            When::BeforeWrite(left) => (Deed::Write, left, true),
            When::AfterWrite(left) => (Deed::Write, left, false),
            When::BeforeShelf(left) => (Deed::Shelf, left, true),
            When::AfterShelf(left) => (Deed::Shelf, left, false),
            When::Now | When::Await(_) => return (false, false),
        };
        if of != deed {
            return (false, false);
        }
        match left.checked_sub(1) {
            Some(less) => {
                *left = less;
                (false, false)
            }
            None => {
                *doom = None;
                (before, !before)
            }
        }
    }
}

/// Who writes, and how it may end.
#[derive(Clone)]
pub(crate) struct Probe {
    /// The process's life, as it is named in its claims; 0 for whoever puts songs in.
    pub(crate) owner: u64,
    pub(crate) life: Life,
    pub(crate) doom: Doom,
    pub(crate) history: History,
}

impl Probe {
    async fn die_if(&self, dies: bool) {
        if dies {
            self.life.stop();
            pending::<()>().await;
        }
    }
}

/// See the module.
#[derive(Clone)]
pub(crate) struct ProbedStore {
    pub(crate) inner: SimStore,
    pub(crate) probe: Probe,
}

impl Store for ProbedStore {
    type Reader = Reader;
    type Writer = Writer;

    async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    {
        self.inner.read(question).await
    }

    async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer) -> Result<T, StoreError> + Send + 'static,
    {
        let probe = &self.probe;
        let (before, after) = probe.doom.comes(Deed::Write);
        probe.die_if(before).await;
        let (history, owner) = (probe.history.clone(), probe.owner);
        let answer = self.inner.write(move |writer| {
            let answer = change(writer)?;
            // Inside the transaction: nobody else can have written since.
            history.written(owner, &Look::at(writer.reader())?, writer.reader());
            Ok(answer)
        });
        let answer = answer.await;
        probe.die_if(after).await;
        answer
    }
}

/// See the module.
#[derive(Clone)]
pub(crate) struct ProbedShelf {
    pub(crate) inner: SimShelf,
    pub(crate) probe: Probe,
}

impl ProbedShelf {
    async fn step<T>(
        &self,
        what: &str,
        at: &Place,
        step: impl Future<Output = Result<T, ShelfError>>,
    ) -> Result<T, ShelfError> {
        let (before, after) = self.probe.doom.comes(Deed::Shelf);
        self.probe.die_if(before).await;
        let done = step.await;
        self.probe
            .history
            .step(self.probe.owner, what, at, done.as_ref().err());
        self.probe.history.shelf(&self.inner.files());
        self.probe.die_if(after).await;
        done
    }
}

impl Shelf for ProbedShelf {
    async fn look(&self, at: &Place) -> Result<Seen, ShelfError> {
        self.step("looks at", at, self.inner.look(at)).await
    }

    async fn stage(&self, temp: &Place, like: &Place, bytes: Bytes) -> Result<(), ShelfError> {
        self.step("writes", temp, self.inner.stage(temp, like, bytes))
            .await
    }

    async fn create(&self, temp: &Place, target: &Place) -> Result<(), ShelfError> {
        self.step("publishes", target, self.inner.create(temp, target))
            .await
    }

    async fn replace(&self, temp: &Place, target: &Place, old: Digest) -> Result<(), ShelfError> {
        self.step("replaces", target, self.inner.replace(temp, target, old))
            .await
    }

    async fn remove(&self, at: &Place, only: Digest) -> Result<(), ShelfError> {
        self.step("removes", at, self.inner.remove(at, only)).await
    }

    async fn discard(&self, temp: &Place) -> Result<(), ShelfError> {
        self.step("discards", temp, self.inner.discard(temp)).await
    }

    async fn settle(&self, at: &Place) -> Result<(), ShelfError> {
        self.step("makes durable", at, self.inner.settle(at)).await
    }
}
