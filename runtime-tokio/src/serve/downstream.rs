//! The byte stream under one client's connection: queues in the kernel what his pace deserves.

use crate::pace::{Pace, Pacer};
use crate::sockopt;
use segue_core::driver::drained::Flushes;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// One client's stream, as hyper reads and writes it.
pub(super) struct Downstream {
    stream: TcpStream,
    client: Pacer,
    /// Since when the kernel takes nothing more.
    blocked: Option<Instant>,
    flushes: Flushes,
}

impl Downstream {
    pub(super) fn new(stream: TcpStream, flushes: Flushes) -> Self {
        Downstream {
            stream,
            client: Pacer::default(),
            blocked: None,
            flushes,
        }
    }

    /// Judges the client by how long the kernel took nothing. No timer is needed: before it takes bytes again,
    /// a smaller bound changes nothing.
    fn notice_wait(&mut self) {
        if let Some(since) = self.blocked {
            let change = self.client.waited(since.elapsed());
            self.follow(change);
        }
    }

    fn wrote(&mut self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &outcome {
            Poll::Ready(Ok(bytes)) => {
                self.blocked = None;
                let change = self.client.moved(*bytes);
                self.follow(change);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                self.blocked.get_or_insert_with(Instant::now);
            }
        }
        outcome
    }

    /// A socket that broke meanwhile says so at its next use, so errors are of no interest here.
    fn follow(&mut self, change: Option<Pace>) {
        let _ = match change {
            None => Ok(()),
            Some(Pace::Unproven) => sockopt::bound_unsent(&self.stream, sockopt::UNPROVEN_UNSENT),
            Some(Pace::Fast) => sockopt::bound_unsent(&self.stream, sockopt::FAST_UNSENT),
            Some(Pace::Slow) => sockopt::clamp_send(&self.stream),
        };
    }
}

impl AsyncRead for Downstream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Downstream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.notice_wait();
        let outcome = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.wrote(outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.notice_wait();
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.wrote(outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.flushes.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::pace::SLOW;
    use socket2::SockRef;
    use std::future::poll_fn;
    use tokio::net::TcpListener;

    async fn fill(stream: &mut Downstream) {
        poll_fn(|cx| {
            while Pin::new(&mut *stream)
                .poll_write(cx, &[0; 65536])
                .is_ready()
            {}
            Poll::Ready(())
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_who_blocks_us_for_a_second_is_clamped() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await;
        let mut stream = Downstream::new(listener.accept().await.unwrap().0, Flushes::default());

        fill(&mut stream).await;
        tokio::time::advance(SLOW / 2).await;
        fill(&mut stream).await;
        assert_ne!(stream.client.pace(), Pace::Slow);

        tokio::time::advance(SLOW).await;
        fill(&mut stream).await;
        let socket = SockRef::from(&stream.stream);
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), sockopt::SLOW_UNSENT);
        let send = socket.send_buffer_size().unwrap();
        assert_eq!(send, 2 * sockopt::SLOW_SEND_BUFFER);
    }
}
