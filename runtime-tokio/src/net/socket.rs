//! The byte stream under one upstream connection: counts what arrived and reads at its reader's pace.

use crate::pace::{Pace, Pacer};
use crate::sockopt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::client::TlsStream;

/// Bytes taken by one read. hyper's adaptive buffer follows; just short of a power of two, because it doubles
/// a buffer that was filled.
const fn read_at_most(pace: Pace) -> usize {
    match pace {
        Pace::Slow => 16 * 1024 - 256,
        Pace::Unproven => 32 * 1024 - 256,
        Pace::Fast => super::link::READ_AT_MOST,
    }
}

/// In clear or encrypted.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(stream) => stream,
            Stream::Tls(stream) => stream.get_ref().0,
        }
    }
}

/// What is known about a connection from outside hyper, which owns its stream.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    received: AtomicU64,
    clamped: AtomicBool,
}

impl Gauge {
    /// Bytes that arrived since the connection stands.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Whether it was made small for a slow reader, and is no good for a fast one.
    pub(super) fn is_clamped(&self) -> bool {
        self.clamped.load(Ordering::Relaxed)
    }
}

/// One upstream connection's stream, as hyper reads and writes it.
pub(super) struct Upstream {
    stream: Stream,
    gauge: Arc<Gauge>,
    reader: Pacer,
    /// When bytes were last handed to the reader; `None` while it is he who waits.
    handed_up: Option<Instant>,
}

impl Upstream {
    pub(super) fn new(stream: Stream) -> (Self, Arc<Gauge>) {
        let gauge = Arc::new(Gauge::default());
        let upstream = Upstream {
            stream,
            gauge: gauge.clone(),
            reader: Pacer::default(),
            handed_up: None,
        };
        (upstream, gauge)
    }

    /// Judges the reader by how long he left us alone. No timer is needed: as long as nobody reads, a smaller
    /// bound does not change what the kernel holds either.
    fn notice_wait(&mut self) {
        let Some(since) = self.handed_up.take() else {
            return;
        };
        if self.reader.waited(since.elapsed()) == Some(Pace::Slow) {
            self.gauge.clamped.store(true, Ordering::Relaxed);
            // A socket that broke meanwhile says so at the read that follows.
            let _ = sockopt::clamp_receive(self.stream.socket());
        }
    }

    fn poll_stream(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_read(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_read(cx, buf),
        }
    }
}

impl AsyncRead for Upstream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.notice_wait();
        let before = buf.filled().len();
        let at_most = read_at_most(self.reader.pace());
        if buf.remaining() > at_most {
            let mut part = ReadBuf::new(buf.initialize_unfilled_to(at_most));
            ready!(self.poll_stream(cx, &mut part))?;
            let read = part.filled().len();
            buf.advance(read);
        } else {
            ready!(self.poll_stream(cx, buf))?;
        }
        let read = buf.filled().len() - before;
        if read > 0 {
            self.reader.moved(read);
            self.handed_up = Some(Instant::now());
        }
        self.gauge
            .received
            .fetch_add(read as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Upstream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write(cx, buf),
            Stream::Tls(stream) => Pin::new(stream).poll_write(cx, buf),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, bufs),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::pace::SLOW;
    use socket2::SockRef;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    const SLOW_READ: usize = read_at_most(Pace::Slow);

    #[tokio::test(start_paused = true)]
    async fn a_reader_who_stays_away_for_a_second_is_clamped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (mut upstream, gauge) = Upstream::new(Stream::Plain(client.await.unwrap()));
        let (mut server, _) = listener.accept().await.unwrap();

        // Waiting for the server makes nobody slow.
        let mut waits = [0; 1];
        let mut wait = Box::pin(upstream.read_exact(&mut waits));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        assert!(wait.as_mut().poll(&mut cx).is_pending());
        tokio::time::advance(2 * SLOW).await;
        server.write_all(&[7; 4 * SLOW_READ]).await.unwrap();
        wait.await.unwrap();
        assert!(!gauge.is_clamped());

        tokio::time::advance(2 * SLOW).await;
        let mut large = [0; 4 * SLOW_READ];
        assert_eq!(upstream.read(&mut large).await.unwrap(), SLOW_READ);
        assert!(gauge.is_clamped());
        assert_eq!(gauge.received(), 1 + SLOW_READ as u64);
        let socket = SockRef::from(upstream.stream.socket());
        let receive = socket.recv_buffer_size().unwrap();
        assert_eq!(receive, 2 * sockopt::SLOW_RECEIVE_BUFFER);
    }
}
