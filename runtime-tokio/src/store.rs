//! SQLite on threads: one writer that commits in groups, and a few readers.
//!
//! A change is a closure that runs on the writer's thread. The thread takes whatever waits, runs each change in a
//! savepoint of one transaction, commits, and only then tells the callers: what is acknowledged survives a power cut,
//! and sixty-four waiting callers pay for one fsync together. A caller that goes away leaves its change to run to its
//! end; there is no such thing as half a change.

use crate::clock::TokioClock;
use segue_core::io::{Clock as _, Store, StoreError};
use segue_core::time::Tick;
use segue_sqlite::{Db, Group, Reader, Writer};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// How a store is dimensioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOptions {
    /// Connections that read, and so threads that read at once.
    pub readers: usize,
    /// Changes that may wait for the writer; the next caller waits until there is room.
    pub queue: usize,
    /// Quiet after which the write-ahead log is emptied.
    pub idle: Duration,
}

impl Default for StoreOptions {
    /// Four readers; a queue longer than any burst seen; a second of quiet.
    fn default() -> Self {
        StoreOptions {
            readers: 4,
            queue: 1024,
            idle: Duration::from_secs(1),
        }
    }
}

/// Changes committed together at most. More would only make the first of them wait longer.
const GROUP: usize = 256;

/// The longest that a group waits for callers who were acknowledged a moment ago and are about to come again.
const GATHER: Duration = Duration::from_millis(2);

/// A database, its writer thread and its readers. Clones share all of them.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

struct Shared {
    db: Db,
    /// `None` once closed. The thread ends when this, the only sender, is gone and the queue is empty.
    queue: Mutex<Option<mpsc::Sender<Box<dyn Job>>>>,
    room: Arc<Semaphore>,
    ended: tokio::sync::watch::Receiver<bool>,
    readers: Mutex<Vec<Reader>>,
    reading: Arc<Semaphore>,
}

/// A change on its way through the writer's thread.
trait Job: Send {
    /// Makes the change inside the group's transaction.
    fn run(&mut self, group: &Group<'_>);

    /// Tells the caller, now that the group's fate is known.
    fn acknowledge(self: Box<Self>, fate: Result<(), StoreError>);
}

struct Change<T, F> {
    change: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    answer: oneshot::Sender<Result<T, StoreError>>,
    _room: OwnedSemaphorePermit,
}

impl<T, F> Job for Change<T, F>
where
    T: Send,
    F: FnOnce(&Writer) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, group: &Group<'_>) {
        self.outcome = self.change.take().map(|change| group.member(change));
    }

    fn acknowledge(self: Box<Self>, fate: Result<(), StoreError>) {
        let outcome = self.outcome.unwrap_or(Err(StoreError::Closed));
        // Nobody listens any more when the caller was dropped; the change stands all the same.
        let _ = self.answer.send(fate.and(outcome));
    }
}

impl SqliteStore {
    /// Opens or creates the database at `path` and starts its writer.
    ///
    /// # Errors
    /// When the file cannot be used, was written by a later version, or no thread can be started.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StoreError> {
        Self::over(Db::open(path)?, options)
    }

    /// A new database in memory, for one store.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn open_in_memory(options: StoreOptions) -> Result<Self, StoreError> {
        Self::over(Db::open_in_memory()?, options)
    }

    /// Starts a writer and readers over a database that is open already.
    ///
    /// # Errors
    /// When it cannot be opened once more, or no thread can be started.
    pub fn over(db: Db, options: StoreOptions) -> Result<Self, StoreError> {
        let writer = db.writer()?;
        let readers = (0..options.readers.max(1))
            .map(|_| db.reader())
            .collect::<Result<Vec<_>, _>>()?;
        let (queue, jobs) = mpsc::channel();
        let (ending, ended) = tokio::sync::watch::channel(false);
        let watched = db.clone();
        std::thread::Builder::new()
            .name("segue-writer".to_owned())
            .spawn(move || {
                write_all(&writer, &watched, &jobs, options.idle);
                drop(writer);
                ending.send_replace(true);
            })
            .map_err(|error| StoreError::Database(format!("no thread for the writer: {error}")))?;
        Ok(SqliteStore {
            shared: Arc::new(Shared {
                db,
                queue: Mutex::new(Some(queue)),
                room: Arc::new(Semaphore::new(options.queue.max(1))),
                ended,
                reading: Arc::new(Semaphore::new(readers.len())),
                readers: Mutex::new(readers),
            }),
        })
    }

    /// Bytes in the write-ahead log, for the metrics.
    pub fn wal_bytes(&self) -> u64 {
        self.shared.db.wal_bytes()
    }

    /// Takes no more changes, carries out those that were taken, and empties the write-ahead log. Questions are
    /// answered until the last clone is gone.
    pub async fn close(&self) {
        drop(lock(&self.shared.queue).take());
        let mut ended = self.shared.ended.clone();
        // An error means that the thread is gone without a word, which is an end as well.
        let _ = ended.wait_for(|ended| *ended).await;
    }
}

impl Store for SqliteStore {
    type Reader = Reader;
    type Writer = Writer;

    async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    {
        let permit = self.shared.reading.clone().acquire_owned().await;
        let permit = permit.map_err(|_| StoreError::Closed)?;
        let shared = self.shared.clone();
        // The permit and the reader travel with the closure, so a caller that goes away frees neither too early.
        let answer = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let reader = Lent::from(&shared)?;
            reader.get()?.snapshot(question)
        });
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::Database("the question panicked".to_owned())))
    }

    /// Runs here and now when a reader is free; waits in the line of [`Store::read`] otherwise.
    async fn look_up<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    {
        if let Ok(_permit) = self.shared.reading.try_acquire() {
            let reader = Lent::from(&self.shared)?;
            return reader.get()?.snapshot(question);
        }
        self.read(question).await
    }

    async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer) -> Result<T, StoreError> + Send + 'static,
    {
        let room = self.shared.room.clone().acquire_owned().await;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(Change {
            change: Some(change),
            outcome: None,
            answer,
            _room: room.map_err(|_| StoreError::Closed)?,
        });
        match lock(&self.shared.queue).as_ref() {
            Some(queue) => queue.send(job).map_err(|_| StoreError::Closed)?,
            None => return Err(StoreError::Closed),
        }
        answered.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// A reader out of the pool, which goes back into it whatever happens.
struct Lent<'s> {
    shared: &'s Shared,
    reader: Option<Reader>,
}

impl<'s> Lent<'s> {
    fn from(shared: &'s Shared) -> Result<Self, StoreError> {
        let reader = match lock(&shared.readers).pop() {
            Some(reader) => reader,
            None => shared.db.reader()?,
        };
        Ok(Lent {
            shared,
            reader: Some(reader),
        })
    }

    fn get(&self) -> Result<&Reader, StoreError> {
        self.reader.as_ref().ok_or(StoreError::Closed)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        lock(&self.shared.readers).extend(self.reader.take());
    }
}

/// The writer's thread: until the sender is gone and every job is done.
fn write_all(writer: &Writer, db: &Db, jobs: &mpsc::Receiver<Box<dyn Job>>, idle: Duration) {
    let clock = TokioClock::new();
    let mut group: Vec<Box<dyn Job>> = Vec::new();
    let mut gathering = Gathering::default();
    loop {
        if group.is_empty() {
            match jobs.recv_timeout(idle) {
                Ok(job) => group.push(job),
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    empty_log(writer, db);
                    if db.wal_bytes() > 0 {
                        // A reader was in the way; once more after the next quiet.
                        continue;
                    }
                    match jobs.recv() {
                        Ok(job) => group.push(job),
                        Err(mpsc::RecvError) => break,
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        gathering.fill(&mut group, jobs, clock);
        let begun = clock.now();
        let (fate, done) = commit(writer, std::mem::take(&mut group));
        let now = clock.now();
        // Who came during the commit, before those whom it held up can come again.
        group.extend(jobs.try_iter().take(GROUP));
        gathering = Gathering {
            expected: group.len() + done.len(),
            until: now + (now.since(begun) / 2).min(GATHER),
        };
        for job in done {
            job.acknowledge(fate.clone());
        }
    }
    empty_log(writer, db);
}

/// Whom the next group waits for. Sixty-four callers who each wait for their own change come again all at once after a
/// commit, but not in the same microsecond: a group that began with the first of them would leave the rest to the next
/// one, and every change would cost two syncs. So it waits for as many as were there before, and not for longer than
/// half of what the last commit took. A lone caller never waits.
#[derive(Clone, Copy, Debug, Default)]
struct Gathering {
    expected: usize,
    until: Tick,
}

impl Gathering {
    fn fill(
        self,
        group: &mut Vec<Box<dyn Job>>,
        jobs: &mpsc::Receiver<Box<dyn Job>>,
        clock: TokioClock,
    ) {
        loop {
            let room = GROUP.saturating_sub(group.len());
            group.extend(jobs.try_iter().take(room));
            let wait = self.until.since(clock.now());
            if group.len() >= self.expected.min(GROUP) || wait.is_zero() {
                return;
            }
            match jobs.recv_timeout(wait) {
                Ok(job) => group.push(job),
                Err(_) => return,
            }
        }
    }
}

/// Makes the changes and commits; what is to be told to whom.
fn commit(
    writer: &Writer,
    mut jobs: Vec<Box<dyn Job>>,
) -> (Result<(), StoreError>, Vec<Box<dyn Job>>) {
    let fate = writer
        .group(|group| jobs.iter_mut().for_each(|job| job.run(group)))
        .map_err(StoreError::from);
    if let Err(error) = &fate {
        tracing::error!(%error, changes = jobs.len(), "a group of changes was not kept");
    }
    (fate, jobs)
}

fn empty_log(writer: &Writer, db: &Db) {
    if db.wal_bytes() > 0
        && let Err(error) = writer.checkpoint()
    {
        tracing::warn!(%error, "the write-ahead log could not be emptied");
    }
}

/// A panic under one of these locks leaves nothing half done: they guard a `take`, a `push`, a `pop`.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Idle;

    impl Job for Idle {
        fn run(&mut self, _: &Group<'_>) {}

        fn acknowledge(self: Box<Self>, _: Result<(), StoreError>) {}
    }

    /// How many a group holds that began with one while so many waited.
    fn filled(expected: usize, patient: bool, waiting: usize) -> usize {
        let clock = TokioClock::new();
        let hour = Duration::from_secs(if patient { 3600 } else { 0 });
        let until = clock.now() + hour;
        let (queue, jobs) = mpsc::channel::<Box<dyn Job>>();
        for _ in 0..waiting {
            queue.send(Box::new(Idle)).unwrap();
        }
        let mut group: Vec<Box<dyn Job>> = vec![Box::new(Idle)];
        Gathering { expected, until }.fill(&mut group, &jobs, clock);
        group.len()
    }

    #[test]
    fn a_group_takes_all_that_wait_and_waits_only_for_those_who_are_expected() {
        assert_eq!(filled(1, true, 0), 1, "a lone caller does not wait");
        assert_eq!(filled(3, true, 2), 3, "who is expected is there");
        assert_eq!(filled(3, true, 9), 10, "and whoever else is");
        assert_eq!(filled(9, false, 2), 3, "they do not come in time");
        assert_eq!(filled(900, true, 900), GROUP, "no more than a group");
    }
}
