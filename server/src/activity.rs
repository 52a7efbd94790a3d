//! `stream_operations`: one row per operation, opened at the commit point and closed exactly once.
//!
//! Contracts section 3, rule 10. A stream never waits for the disk: what happened is queued in order
//! and stored by one loop ([`Activity::tend`]), which also tells each session its row id.

use segue_core::Wall;
use segue_core::driver::lock;
use segue_core::io::{Clock, Store};
use segue_core::twin::{self, Twin};
use segue_sqlite::{AttemptRow, OperationStatus, Reader, StreamOperation, Writer};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};

/// How many events go into one transaction at most.
const BATCH: usize = 256;

/// How long an event may wait for others to share a transaction with. Each costs the disk a sync and the processor a
/// quarter of a millisecond, which is much beside a stream's four.
const GATHER: Duration = Duration::from_millis(50);

/// How long what the disk has refused waits to be tried again, when nobody waits for it.
const AGAIN: Duration = Duration::from_secs(1);

/// How much of what the disk refuses is kept for better times, in events. Beyond that only the ends of operations whose
/// beginnings are stored are: no row may stay open for ever.
const UNSTORED: usize = 10_000;

/// History beyond this many finished operations is forgotten.
const KEEP: usize = 100_000;

/// Old rows are pruned once per this many stored operations, not after each.
const PRUNE_EVERY: u64 = 1_000;

/// How an operation ended.
#[derive(Clone, Debug)]
pub struct Closed {
    /// When.
    pub at: Wall,
    /// How.
    pub status: OperationStatus,
    /// Bytes handed to the client.
    pub bytes: u64,
    /// What each attempt came to.
    pub attempts: Vec<AttemptRow>,
    /// One sentence when it failed.
    pub error: Option<String>,
}

#[derive(Clone)]
enum Event {
    Opened(u64, Box<StreamOperation>),
    Closed(u64, Closed),
    Failed(Box<StreamOperation>),
}

enum Message {
    Happened(Event),
    Flush(oneshot::Sender<()>),
}

#[derive(Debug)]
struct Live {
    row: StreamOperation,
    bytes: Arc<AtomicU64>,
}

/// The activity of one hub.
#[derive(Debug)]
pub struct Activity {
    sender: mpsc::UnboundedSender<Message>,
    receiver: AsyncMutex<mpsc::UnboundedReceiver<Message>>,
    live: Mutex<BTreeMap<u64, Live>>,
    next: AtomicU64,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Message::Happened(Event::Opened(..)) => "Opened",
            Message::Happened(Event::Closed(..)) => "Closed",
            Message::Happened(Event::Failed(..)) => "Failed",
            Message::Flush(..) => "Flush",
        })
    }
}

impl Default for Activity {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Activity {
            sender,
            receiver: AsyncMutex::new(receiver),
            live: Mutex::default(),
            next: AtomicU64::new(0),
        }
    }
}

/// One committed operation. Close it once.
#[derive(Clone, Debug)]
pub struct Operation {
    serial: u64,
    bytes: Arc<AtomicU64>,
}

impl Operation {
    /// Bytes on their way to the client.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

impl Activity {
    /// The commit point is passed.
    pub fn open(&self, row: StreamOperation) -> Operation {
        let serial = self.next.fetch_add(1, Ordering::Relaxed);
        let bytes = Arc::new(AtomicU64::new(0));
        let live = Live {
            row: row.clone(),
            bytes: Arc::clone(&bytes),
        };
        lock(&self.live).insert(serial, live);
        self.queue(Message::Happened(Event::Opened(serial, Box::new(row))));
        Operation { serial, bytes }
    }

    /// The operation is over.
    pub fn close(&self, operation: &Operation, closed: Closed) {
        if lock(&self.live).remove(&operation.serial).is_some() {
            self.queue(Message::Happened(Event::Closed(operation.serial, closed)));
        }
    }

    /// Nothing could be opened: a failed row with the list of attempts.
    pub fn failed(&self, row: StreamOperation) {
        self.queue(Message::Happened(Event::Failed(Box::new(row))));
    }

    /// What is playing now, newest first, with the bytes so far.
    pub fn active(&self) -> Vec<StreamOperation> {
        let live = lock(&self.live);
        let rows = live.values().rev().map(|live| StreamOperation {
            bytes: live.bytes.load(Ordering::Relaxed),
            ..live.row.clone()
        });
        rows.collect()
    }

    /// How many operations a source serves now.
    pub fn active_on(&self, source: &str) -> usize {
        let live = lock(&self.live);
        let on_source = |live: &&Live| live.row.source_id.as_deref() == Some(source);
        live.values().filter(on_source).count()
    }

    /// How many operations are under way (F5 checks that none is left).
    pub fn active_count(&self) -> usize {
        lock(&self.live).len()
    }

    /// Waits until everything that happened before is stored.
    pub async fn flush(&self) {
        let (done, stored) = oneshot::channel();
        self.queue(Message::Flush(done));
        // The loop may be gone at shutdown; then there is nothing to wait for.
        let _ = stored.await;
    }

    /// Stores what happens until the hub is gone. What the disk refuses is tried again: it was full, or failed once.
    pub async fn tend<S, C>(&self, store: &S, clock: &C)
    where
        S: Store<Reader = Reader, Writer = Writer>,
        C: Clock,
    {
        let mut receiver = self.receiver.lock().await;
        let mut known = Known::default();
        let mut events = Vec::new();
        loop {
            let mut batch = Batch::of(std::mem::take(&mut events));
            let pause = match batch.events.is_empty() {
                true => GATHER,
                false => AGAIN,
            };
            if batch.events.is_empty() {
                match receiver.recv().await {
                    Some(message) => batch.add(message),
                    None => return,
                }
            }
            gather(
                &mut receiver,
                &mut batch,
                clock.sleep_until(clock.now() + pause),
            )
            .await;
            if !batch.events.is_empty() {
                events = self.store_events(store, &mut known, batch.events).await;
            }
            for done in batch.waiting {
                let _ = done.send(());
            }
        }
    }

    /// Stores events in one transaction; which of them are to be tried again.
    async fn store_events<S: Store<Reader = Reader, Writer = Writer>>(
        &self,
        store: &S,
        known: &mut Known,
        events: Vec<Event>,
    ) -> Vec<Event> {
        let events = Arc::new(events);
        let prune = known.stored + events.len() as u64 >= PRUNE_EVERY;
        let change = {
            let (events, mut ids) = (Arc::clone(&events), known.ids.clone());
            move |writer: &Writer| {
                for event in events.iter() {
                    store_event(writer, &mut ids, event)?;
                }
                if prune {
                    writer.prune_operations(KEEP)?;
                }
                Ok(ids)
            }
        };
        match store.write(change).await {
            Ok(ids) => {
                let mut live = lock(&self.live);
                for (serial, id) in &ids {
                    if let Some(live) = live.get_mut(serial) {
                        live.row.id = *id;
                    }
                }
                known.ids = ids;
                known.stored = match prune {
                    true => 0,
                    false => known.stored + events.len() as u64,
                };
                Vec::new()
            }
            Err(error) => {
                tracing::error!(%error, "activity could not be stored; it is kept for a while");
                let mut kept = Arc::unwrap_or_clone(events);
                if twin::is(Twin::RefusedForgotten) {
                    return Vec::new();
                }
                if kept.len() >= UNSTORED {
                    kept.retain(|event| known.ends_a_row(event));
                }
                kept
            }
        }
    }

    fn queue(&self, message: Message) {
        // Fails only when the loop has ended, at shutdown.
        let _ = self.sender.send(message);
    }
}

/// What the loop knows of the rows.
#[derive(Default)]
struct Known {
    /// The rows of operations that are open, by serial.
    ids: BTreeMap<u64, i64>,
    /// Events stored since old rows were pruned.
    stored: u64,
}

impl Known {
    fn ends_a_row(&self, event: &Event) -> bool {
        match event {
            Event::Closed(serial, _) => self.ids.contains_key(serial),
            Event::Opened(..) | Event::Failed(_) => false,
        }
    }
}

fn store_event(
    writer: &Writer,
    ids: &mut BTreeMap<u64, i64>,
    event: &Event,
) -> Result<(), segue_sqlite::Error> {
    match event {
        Event::Opened(serial, row) => {
            ids.insert(*serial, writer.open_operation(row)?);
        }
        Event::Closed(serial, closed) => {
            if let Some(id) = ids.remove(serial) {
                writer.close_operation(
                    id,
                    closed.at,
                    closed.status,
                    closed.bytes,
                    &closed.attempts,
                    closed.error.as_deref(),
                )?;
            }
        }
        Event::Failed(row) => {
            writer.open_operation(row)?;
        }
    }
    Ok(())
}

/// What goes into one transaction, and who waits for it.
#[derive(Default)]
struct Batch {
    events: Vec<Event>,
    /// More is not taken in.
    room: usize,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Batch {
    /// Begins with what was not stored before.
    fn of(events: Vec<Event>) -> Self {
        Batch {
            room: events.len() + BATCH,
            events,
            waiting: Vec::new(),
        }
    }

    fn add(&mut self, message: Message) {
        match message {
            Message::Happened(event) => self.events.push(event),
            Message::Flush(done) => self.waiting.push(done),
        }
    }
}

/// Adds to `batch` what comes until `late`, or until somebody waits for it to be stored.
async fn gather(
    receiver: &mut mpsc::UnboundedReceiver<Message>,
    batch: &mut Batch,
    late: impl Future<Output = ()>,
) {
    let mut late = pin!(late);
    poll_fn(|cx| {
        loop {
            if !batch.waiting.is_empty() || batch.events.len() >= batch.room {
                return Poll::Ready(());
            }
            match receiver.poll_recv(cx) {
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Ready(Some(message)) => batch.add(message),
                Poll::Pending => return late.as_mut().poll(cx),
            }
        }
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use std::future::{pending, ready};

    #[test]
    fn an_event_waits_for_company_but_nobody_waits_for_it() {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let closed = || {
            Message::Happened(Event::Closed(
                1,
                Closed {
                    at: Wall(1),
                    status: OperationStatus::Completed,
                    bytes: 1,
                    attempts: Vec::new(),
                    error: None,
                },
            ))
        };
        let mut batch = Batch::of(Vec::new());
        batch.add(closed());
        let _ = sender.send(closed());
        let alone = gather(&mut receiver, &mut batch, pending());
        assert_eq!(alone.now_or_never(), None);
        assert_eq!(batch.events.len(), 2);
        let late = gather(&mut receiver, &mut batch, ready(()));
        assert_eq!(late.now_or_never(), Some(()));

        let _ = sender.send(Message::Flush(oneshot::channel().0));
        let awaited = gather(&mut receiver, &mut batch, pending());
        assert_eq!(awaited.now_or_never(), Some(()));
    }
}
