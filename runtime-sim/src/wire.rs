//! A simulated TCP stream with the two things that madsim's lacks: a bounded window, and no flush.
//!
//! madsim takes any number of bytes at once, so without a window a hub would have sent a whole track
//! before its listener had read a byte, and nobody could ever leave half-way or be slow. And it sends what
//! was written only when it is flushed, an empty message for each flush, and one to a peer that has
//! closed fails: hyper flushes on every poll, so it would see a reset before a reply under way.

use madsim::net::TcpStream;
use segue_core::driver::drained::Flushes;
use segue_core::driver::lock;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that may be under way in one direction: written and not yet read. Small, so that tracks of some
/// hundred kilobytes are long.
pub const WINDOW: usize = 16 * 1024;

/// One direction of a connection.
#[derive(Debug, Default)]
struct Lane {
    under_way: usize,
    writer: Option<Waker>,
    /// The reading end is gone: nothing is held back any more, and the stream itself says so.
    closed: bool,
}

type Shared = Arc<Mutex<Lane>>;
/// Towards the listener, and back.
type Pair = (Shared, Shared);

/// Joins the two ends of each connection of one simulation; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Links {
    waiting: Arc<Mutex<BTreeMap<(SocketAddr, SocketAddr), Pair>>>,
    open: Arc<AtomicUsize>,
}

impl Links {
    /// Ends of connections that nobody has closed: each end of each connection is one socket.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    fn socket(&self) -> Socket {
        self.open.fetch_add(1, Ordering::Relaxed);
        Socket(Arc::clone(&self.open))
    }
}

/// Counted while it lives.
struct Socket(Arc<AtomicUsize>);

impl Drop for Socket {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// One end of a connection. Dropping it closes it.
pub struct Wire {
    stream: TcpStream,
    outgoing: Shared,
    incoming: Shared,
    flushes: Flushes,
    _socket: Socket,
}

impl Wire {
    /// The end that connected.
    pub fn dialled(stream: TcpStream, links: &Links) -> io::Result<Self> {
        let ends = (stream.local_addr()?, stream.peer_addr()?);
        let pair = Pair::default();
        lock(&links.waiting).insert(ends, pair.clone());
        Ok(Wire {
            stream,
            outgoing: pair.0,
            incoming: pair.1,
            flushes: Flushes::default(),
            _socket: links.socket(),
        })
    }

    /// The end that was listened at. One whose other end is no `Wire` has no window.
    pub fn accepted(stream: TcpStream, links: &Links) -> io::Result<Self> {
        let ends = (stream.peer_addr()?, stream.local_addr()?);
        let pair = lock(&links.waiting).remove(&ends).unwrap_or_else(|| {
            let unbounded = || {
                Arc::new(Mutex::new(Lane {
                    closed: true,
                    ..Lane::default()
                }))
            };
            (unbounded(), unbounded())
        });
        Ok(Wire {
            stream,
            outgoing: pair.1,
            incoming: pair.0,
            flushes: Flushes::default(),
            _socket: links.socket(),
        })
    }

    /// Tells `flushes` when everything has been sent.
    pub fn counting(mut self, flushes: Flushes) -> Self {
        self.flushes = flushes;
        self
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        let writer = {
            let mut incoming = lock(&self.incoming);
            incoming.closed = true;
            incoming.writer.take()
        };
        if let Some(writer) = writer {
            writer.wake();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        let writer = {
            let mut incoming = lock(&self.incoming);
            let read = buf.filled().len() - before;
            incoming.under_way = incoming.under_way.saturating_sub(read);
            incoming.writer.take()
        };
        if let Some(writer) = writer {
            writer.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let room = {
            let mut outgoing = lock(&self.outgoing);
            let room = match outgoing.closed {
                true => buf.len(),
                false => WINDOW - outgoing.under_way,
            };
            if room == 0 && !buf.is_empty() {
                outgoing.writer = Some(cx.waker().clone());
                return Poll::Pending;
            }
            room
        };
        let some = &buf[..buf.len().min(room)];
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, some))?;
        let mut outgoing = lock(&self.outgoing);
        if !outgoing.closed {
            outgoing.under_way += written;
        }
        drop(outgoing);
        if written > 0 {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        }
        Poll::Ready(Ok(written))
    }

    /// What was written is on its way.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
