//! What a runtime provides: clock, network, store and shelf. Traits only; no implementation.
//!
//! `runtime-tokio` implements them on real sockets and files, `runtime-sim` on simulated ones. The
//! drivers and the server are generic over [`Runtime`], so both worlds run the same code.

mod shelf;

pub use shelf::{Digest, NoShelf, Place, SIDECAR_LIMIT, Seen, Shelf, ShelfError, TEMP_PREFIX};

use crate::time::{Tick, Wall};
use bytes::Bytes;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells the time and waits.
pub trait Clock: Clone + Send + Sync + 'static {
    /// The monotonic time of this process.
    fn now(&self) -> Tick;

    /// The wall-clock time, for what is stored.
    fn wall(&self) -> Wall;

    /// Ends at `at`, or at once when that has passed.
    fn sleep_until(&self, at: Tick) -> impl Future<Output = ()> + Send + 'static;
}

/// Sends requests. Dropping a future or a body gives the exchange up and closes its connection.
///
/// Besides `http` and `https`, a runtime answers the scheme `folder` (see
/// [`crate::source::folder`]): a track of a music folder is opened by the same request and answered
/// with the same status codes as one of a server, so failover knows only one kind of source.
pub trait Network: Clone + Send + Sync + 'static {
    /// A response body, read as it arrives.
    type Body: http_body::Body<Data = Bytes, Error = NetError> + Send + Unpin + 'static;

    /// Sends `request` and waits for the response head. Redirects are *not* followed.
    ///
    /// Marks `accepted` as soon as the other side has accepted a connection. A failure on a reused
    /// connection before any response byte is redialled once by the implementation and is not
    /// reported. There is no timeout in here: who asks decides how long to wait.
    fn send(
        &self,
        request: http::Request<Bytes>,
        accepted: Accepted,
    ) -> impl Future<Output = Result<http::Response<Self::Body>, NetError>> + Send;
}

/// Whether the other side has accepted the connection of one call.
#[derive(Clone, Debug, Default)]
pub struct Accepted(Arc<AtomicBool>);

impl Accepted {
    /// The connection stands.
    pub fn mark(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the connection stands.
    pub fn is_marked(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What can go wrong with an exchange below HTTP. Carries no address, no query and no upstream text, so it
/// may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NetError {
    /// Nobody listens there.
    #[error("connection refused")]
    Refused,
    /// No route, network down, or the address is not reachable from here.
    #[error("host unreachable")]
    Unreachable,
    /// The name does not resolve.
    #[error("host name not found")]
    Dns,
    /// The TLS handshake failed or the certificate is not trusted.
    #[error("TLS failed")]
    Tls,
    /// The connection broke while in use.
    #[error("connection reset")]
    Reset,
    /// The connection ended short of the announced length, or inside the head.
    #[error("response cut short")]
    Truncated,
    /// The other side does not speak HTTP as we understand it.
    #[error("malformed response")]
    Malformed,
    /// More bytes than the caller wanted to hold.
    #[error("response too large")]
    Oversized,
    /// A deadline of the caller passed.
    #[error("timed out")]
    TimedOut,
    /// The URL cannot be requested.
    #[error("unusable URL")]
    BadUrl,
    /// A file or process of this machine failed.
    #[error("local input/output error")]
    Local,
    /// A mistake of ours: whoever read the answer panicked (contracts section 2, `Failed(Transport)`).
    #[error("the answer could not be read")]
    Panicked,
}

/// Where rows live. `Reader` and `Writer` are the synchronous sides of one database; closures run on the
/// store's own threads, so a caller that is dropped never leaves a transaction half done.
pub trait Store: Clone + Send + Sync + 'static {
    /// Answers questions from one consistent snapshot.
    type Reader;
    /// Changes rows inside one transaction.
    type Writer;

    /// Runs `question` against a snapshot.
    fn read<T, F>(&self, question: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Self::Reader) -> Result<T, StoreError> + Send + 'static;

    /// Answers `question`, one that finds its few rows by key. It takes microseconds and a change of threads takes
    /// longer, so it may run on the caller's thread. What scans or sorts goes to [`Store::read`].
    fn look_up<T, F>(&self, question: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Self::Reader) -> Result<T, StoreError> + Send + 'static,
    {
        self.read(question)
    }

    /// Runs `change` on the single writer; the answer comes after the commit is durable. An error
    /// undoes this change alone, not those committed with it.
    fn write<T, F>(&self, change: F) -> impl Future<Output = Result<T, StoreError>> + Send
    where
        T: Send + 'static,
        F: FnOnce(&Self::Writer) -> Result<T, StoreError> + Send + 'static;
}

/// Why the store could not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database failed; the text is SQLite's own, without bound values.
    #[error("database: {0}")]
    Database(String),
    /// A row that a rule forbids, or one that is needed and missing.
    #[error("{0}")]
    Conflict(String),
    /// A worker's write of a row that is no longer its own; nothing was written (contracts section 5).
    #[error("the claim is no longer valid")]
    StaleClaim,
    /// The store has shut down.
    #[error("the store is closed")]
    Closed,
}

/// One bundle instead of four type parameters.
pub trait Runtime: Clone + Send + Sync + 'static {
    /// Its clock.
    type Clock: Clock;
    /// Its network.
    type Network: Network;
    /// Its store.
    type Store: Store;
    /// Its shelf.
    type Shelf: Shelf;

    /// The clock.
    fn clock(&self) -> &Self::Clock;
    /// The network.
    fn network(&self) -> &Self::Network;
    /// The store.
    fn store(&self) -> &Self::Store;
    /// The shelf.
    fn shelf(&self) -> &Self::Shelf;

    /// Runs a computation of some length where it blocks nobody else's requests.
    fn compute<T, F>(&self, work: F) -> impl Future<Output = T> + Send
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static;
}
