//! A TCP proxy that spoils what passes between the hub and a healthy source.

use futures_util::future::{Either, select};
use segue_core::io::Clock;
use segue_runtime_tokio::clock::TokioClock;
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// So many bytes into the head or the body of the first response on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Head(usize),
    Body(usize),
}

/// What a proxy does to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toxic {
    /// Nothing.
    None,
    /// Each response begins this much later.
    Late(Duration),
    /// Responses pass in pieces of so many bytes, each this much later than the one before.
    Pieces(usize, Duration),
    /// The connection is closed there.
    CloseAt(Place),
    /// Silence there, and the connection is closed this much later.
    SlowCloseAt(Place, Duration),
    /// Only the sending half is closed there; what the hub sends is still read.
    HalfCloseAt(Place),
    /// The connection is reset there.
    ResetAt(Place),
    /// Silence there, for good.
    StallAt(Place),
    /// One bit is turned there.
    FlipAt(Place),
    /// Bytes that are no HTTP come before each response.
    Garbage,
    /// The head is longer than any head.
    LongHead,
    /// The connection is accepted, and nothing is ever read from it.
    Unread,
    /// The first exchange goes well. The next request on the same connection meets a reset.
    StaleReuse,
}

/// More than the hub takes for a head.
const LONG_HEAD: usize = 80 * 1024;

/// What has happened so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// Connections accepted.
    pub(crate) accepted: u64,
    /// Connections that stand.
    pub(crate) open: usize,
    /// Requests that met a reset on a connection that had served one.
    pub(crate) stale: u64,
}

struct Shared {
    source: SocketAddr,
    clock: TokioClock,
    /// For the connections to come.
    toxic: Mutex<Toxic>,
    /// Each for one connection to come, before [`Self::toxic`].
    queued: Mutex<VecDeque<Toxic>>,
    /// Whether the second request on any connection meets a reset.
    once_each: AtomicBool,
    counters: watch::Sender<Counters>,
    cut: watch::Sender<u64>,
    released: watch::Sender<u64>,
}

/// A proxy on a loopback port. Dropping it closes the port.
pub(crate) struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Stands before `source` and does nothing yet.
    pub(crate) async fn before(source: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let shared = Arc::new(Shared {
            source,
            clock: TokioClock::new(),
            toxic: Mutex::new(Toxic::None),
            queued: Mutex::default(),
            once_each: AtomicBool::default(),
            counters: watch::Sender::default(),
            cut: watch::Sender::default(),
            released: watch::Sender::default(),
        });
        Proxy {
            address: listener.local_addr().expect("its address"),
            accepting: tokio::spawn(accept(listener, Arc::clone(&shared))),
            shared,
        }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Does this to all connections to come. Those that stand are closed.
    pub(crate) async fn set(&self, toxic: Toxic) {
        *self.shared.toxic.lock().expect("whole") = toxic;
        self.shared.queued.lock().expect("whole").clear();
        self.shared.cut.send_modify(|epoch| *epoch += 1);
        self.until(|counters| counters.open == 0).await;
    }

    /// Does this to the next connection only; calls queue up.
    pub(crate) fn next(&self, toxic: Toxic) {
        let mut queued = self.shared.queued.lock().expect("whole");
        queued.push_back(toxic);
    }

    /// From now on no connection serves a second request, as with [`Toxic::StaleReuse`].
    pub(crate) fn serve_once_each(&self) {
        self.shared.once_each.store(true, Ordering::SeqCst);
    }

    /// Reads at last what was left unread, and so finds out whether the other side is still there.
    pub(crate) fn release(&self) {
        self.shared.released.send_modify(|epoch| *epoch += 1);
    }

    pub(crate) fn counters(&self) -> Counters {
        *self.shared.counters.borrow()
    }

    /// Waits until the counters satisfy `enough`.
    pub(crate) async fn until(&self, mut enough: impl FnMut(&Counters) -> bool) {
        let mut counters = self.shared.counters.subscribe();
        let waited = counters.wait_for(|counters| enough(counters)).await;
        drop(waited.expect("the sender lives as long as this"));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((hub, _)) = listener.accept().await {
        let queued = shared.queued.lock().expect("whole").pop_front();
        let toxic = queued.unwrap_or(*shared.toxic.lock().expect("whole"));
        shared.counters.send_modify(|counters| {
            counters.accepted += 1;
            counters.open += 1;
        });
        let (shared, mut cut) = (Arc::clone(&shared), shared.cut.subscribe());
        tokio::spawn(async move {
            {
                // How a connection ended is for the hub to tell.
                let carried = pin!(carry(hub, toxic, &shared));
                let _ = select(carried, pin!(cut.changed())).await;
            }
            shared.counters.send_modify(|counters| counters.open -= 1);
        });
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Close,
    Reset,
}

async fn carry(mut hub: TcpStream, toxic: Toxic, shared: &Shared) -> io::Result<()> {
    hub.set_nodelay(true)?;
    if toxic == Toxic::Unread {
        let mut released = shared.released.subscribe();
        let _ = released.changed().await;
        tokio::io::copy(&mut hub, &mut tokio::io::sink()).await?;
        return Ok(());
    }
    let mut source = TcpStream::connect(shared.source).await?;
    source.set_nodelay(true)?;
    let (asked, answered) = (AtomicBool::new(false), AtomicBool::new(false));
    let end = {
        let (from_hub, to_hub) = hub.split();
        let (from_source, to_source) = source.split();
        let requests = Requests {
            asked: &asked,
            answered: &answered,
            toxic,
            shared,
        };
        let requests = pin!(requests.pass(from_hub, to_source));
        let responses = Responses {
            asked: &asked,
            answered: &answered,
            toxic,
            clock: shared.clock,
            meter: Meter::default(),
        };
        let responses = pin!(responses.pass(from_source, to_hub));
        match select(requests, responses).await {
            Either::Left((end, _)) | Either::Right((end, _)) => end?,
        }
    };
    match end {
        End::Close => Ok(()),
        End::Reset => hub.set_zero_linger(),
    }
}

/// The way from the hub to the source.
struct Requests<'c> {
    asked: &'c AtomicBool,
    answered: &'c AtomicBool,
    toxic: Toxic,
    shared: &'c Shared,
}

impl Requests<'_> {
    /// Ends when the hub has closed.
    async fn pass(self, mut hub: ReadHalf<'_>, mut source: WriteHalf<'_>) -> io::Result<End> {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let read = hub.read(&mut buffer).await?;
            if read == 0 {
                return Ok(End::Close);
            }
            let once =
                self.toxic == Toxic::StaleReuse || self.shared.once_each.load(Ordering::SeqCst);
            if once && self.answered.load(Ordering::SeqCst) {
                self.shared
                    .counters
                    .send_modify(|counters| counters.stale += 1);
                return Ok(End::Reset);
            }
            self.asked.store(true, Ordering::SeqCst);
            source.write_all(&buffer[..read]).await?;
        }
    }
}

/// The way from the source to the hub.
struct Responses<'c> {
    asked: &'c AtomicBool,
    answered: &'c AtomicBool,
    toxic: Toxic,
    clock: TokioClock,
    meter: Meter,
}

impl Responses<'_> {
    async fn pass(mut self, mut source: ReadHalf<'_>, mut hub: WriteHalf<'_>) -> io::Result<End> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = source.read(&mut buffer).await?;
            if read == 0 {
                return Ok(End::Close);
            }
            let begins = self.asked.swap(false, Ordering::SeqCst);
            if let Some(end) = self.spoil(&mut buffer[..read], begins, &mut hub).await? {
                return Ok(end);
            }
            self.answered.store(true, Ordering::SeqCst);
        }
    }

    /// Passes `bytes` on in its way. `begins`: they are the first after a request.
    async fn spoil(
        &mut self,
        bytes: &mut [u8],
        begins: bool,
        hub: &mut WriteHalf<'_>,
    ) -> io::Result<Option<End>> {
        match self.toxic {
            Toxic::None | Toxic::StaleReuse | Toxic::Unread => hub.write_all(bytes).await?,
            Toxic::Late(by) => {
                if begins {
                    self.wait(by).await;
                }
                hub.write_all(bytes).await?;
            }
            Toxic::Pieces(size, every) => {
                for piece in bytes.chunks(size) {
                    hub.write_all(piece).await?;
                    self.wait(every).await;
                }
            }
            Toxic::Garbage => {
                if begins {
                    hub.write_all(b"\0\x01 this is not HTTP\r\n\r\n").await?;
                }
                hub.write_all(bytes).await?;
            }
            Toxic::LongHead => {
                let line = bytes.windows(2).position(|two| two == b"\r\n");
                let (first, rest) = bytes.split_at(line.filter(|_| begins).map_or(0, |at| at + 2));
                hub.write_all(first).await?;
                if begins {
                    hub.write_all(long_lines().as_bytes()).await?;
                }
                hub.write_all(rest).await?;
            }
            Toxic::FlipAt(place) => {
                if let Some(at) = self.meter.find(bytes, place)
                    && let Some(byte) = bytes.get_mut(at)
                {
                    *byte ^= 1;
                }
                hub.write_all(bytes).await?;
            }
            Toxic::CloseAt(place)
            | Toxic::SlowCloseAt(place, _)
            | Toxic::HalfCloseAt(place)
            | Toxic::ResetAt(place)
            | Toxic::StallAt(place) => {
                let at = self.meter.find(bytes, place);
                hub.write_all(&bytes[..at.unwrap_or(bytes.len())]).await?;
                if at.is_some() {
                    return self.end(hub).await.map(Some);
                }
            }
        }
        Ok(None)
    }

    /// At the place where this way ends.
    async fn end(&self, hub: &mut WriteHalf<'_>) -> io::Result<End> {
        match self.toxic {
            Toxic::ResetAt(_) => Ok(End::Reset),
            Toxic::SlowCloseAt(_, by) => {
                self.wait(by).await;
                Ok(End::Close)
            }
            Toxic::HalfCloseAt(_) => {
                hub.shutdown().await?;
                // The other way ends when the hub closes.
                pending().await
            }
            Toxic::StallAt(_) => pending().await,
            Toxic::CloseAt(_)
            | Toxic::None
            | Toxic::Late(_)
            | Toxic::Pieces(..)
            | Toxic::FlipAt(_)
            | Toxic::Garbage
            | Toxic::LongHead
            | Toxic::Unread
            | Toxic::StaleReuse => Ok(End::Close),
        }
    }

    async fn wait(&self, by: Duration) {
        self.clock.sleep_until(self.clock.now() + by).await;
    }
}

fn long_lines() -> String {
    let line = format!("X-Long: {}\r\n", "x".repeat(1000));
    line.repeat(LONG_HEAD / line.len() + 1)
}

/// Knows where in the first response we are.
#[derive(Default)]
struct Meter {
    passed: usize,
    /// Until its end is seen.
    head: Vec<u8>,
    head_len: Option<usize>,
    found: bool,
}

impl Meter {
    /// Takes in `bytes`; the index in or just behind them at which `place` is reached, once.
    fn find(&mut self, bytes: &[u8], place: Place) -> Option<usize> {
        const END: &[u8] = b"\r\n\r\n";
        if self.head_len.is_none() {
            self.head.extend_from_slice(bytes);
            let end = self.head.windows(END.len()).position(|four| four == END);
            self.head_len = end.map(|at| at + END.len());
        }
        let before = self.passed;
        self.passed += bytes.len();
        let target = match place {
            Place::Head(at) => Some(at),
            Place::Body(at) => self.head_len.map(|head| head + at),
        };
        let at = target.filter(|target| !self.found && *target <= self.passed)?;
        self.found = true;
        Some(at.saturating_sub(before))
    }
}

#[test]
fn a_place_is_found_wherever_the_pieces_part() {
    let response = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n0123456789";
    let head = response.len() - 10;
    for (place, expected) in [
        (Place::Head(0), 0),
        (Place::Head(20), 20),
        (Place::Body(0), head),
        (Place::Body(7), head + 7),
    ] {
        for size in 1..response.len() {
            let mut meter = Meter::default();
            let mut passed = 0;
            let found = response.chunks(size).find_map(|piece| {
                let at = meter.find(piece, place);
                passed += piece.len();
                at.map(|at| passed - piece.len() + at)
            });
            assert_eq!(found, Some(expected), "{place:?} in pieces of {size}");
        }
    }
}
