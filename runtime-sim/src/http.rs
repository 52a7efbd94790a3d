//! Real HTTP/1.1 over the simulated network: hyper takes any byte stream, so neither axum nor hyper is
//! patched. What cannot come along is whatever starts its own sockets, timers or tasks.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use madsim::net::{TcpListener, TcpStream};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A simulated stream that flushes only what was written.
///
/// madsim's own sends an empty message on every flush, and one to a peer that has closed fails:
/// hyper flushes on every poll, so it would see a reset before the reply that is still under way.
pub struct Wire {
    stream: TcpStream,
    dirty: bool,
}

impl Wire {
    /// Wraps a connected stream.
    pub fn new(stream: TcpStream) -> Self {
        Wire {
            stream,
            dirty: false,
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.dirty = true;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.dirty {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.dirty = false;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// What the accept loop of `segue-runtime-tokio` is on real sockets.
pub async fn serve(at: SocketAddr, app: Router) -> io::Result<()> {
    let listener = TcpListener::bind(at).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(app.clone());
        madsim::task::spawn(async move {
            // Clients hang up; that is theirs to do.
            let _ = http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(Wire::new(stream)), service)
                .await;
        });
    }
}
