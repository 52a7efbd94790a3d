//! One upstream connection and the exchange on it, driven by whoever waits for its answer.
//!
//! No task is spawned: hyper's connection future is polled inside the future of the exchange and later
//! inside the body. What is dropped is therefore closed at once (contracts 3.9, F5).

use super::error;
use super::socket::{Gauge, Stream, Upstream};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use segue_core::io::NetError;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The most one read takes, for a reader who proved fast.
pub(super) const READ_AT_MOST: usize = 512 * 1024;

/// A response head longer than this is no head.
const HEAD_AT_MOST: usize = 64 * 1024;

/// Header lines in a response head.
const HEADERS_AT_MOST: usize = 256;

type Connection = http1::Connection<TokioIo<Upstream>, Full<Bytes>>;

/// One connection, between exchanges or with one running.
pub(super) struct Link {
    sender: http1::SendRequest<Full<Bytes>>,
    /// `None` once it ended.
    connection: Option<Box<Connection>>,
    gauge: Arc<Gauge>,
}

impl Link {
    /// Speaks HTTP/1.1 over `stream`. Nothing is sent yet.
    pub(super) async fn over(stream: Stream) -> Result<Self, NetError> {
        let (upstream, gauge) = Upstream::new(stream);
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(READ_AT_MOST)
            .max_header_size(HEAD_AT_MOST)
            .max_headers(HEADERS_AT_MOST)
            .ignore_invalid_headers_in_responses(true)
            .handshake(TokioIo::new(upstream))
            .await
            .map_err(|cause| error::of_exchange(&cause))?;
        Ok(Link {
            sender,
            connection: Some(Box::new(connection)),
            gauge,
        })
    }

    /// Bytes that arrived on it so far.
    pub(super) fn received(&self) -> u64 {
        self.gauge.received()
    }

    /// Sends `request` and waits for the head of the response.
    pub(super) async fn exchange(
        &mut self,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, NetError> {
        let Link {
            sender, connection, ..
        } = self;
        let mut answer = pin!(sender.send_request(request));
        poll_fn(|cx| {
            let _ = poll_connection(connection, cx);
            match answer.as_mut().poll(cx) {
                Poll::Ready(answer) => Poll::Ready(answer.map_err(|e| error::of_exchange(&e))),
                Poll::Pending if connection.is_none() => Poll::Ready(Err(NetError::Reset)),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// Moves the connection on; ready once it ended, well or badly. The body knows which.
    pub(super) fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        poll_connection(&mut self.connection, cx)
    }

    /// Whether the next exchange can start right now: still open, nothing of the last one left, and never
    /// made small for a slow reader.
    pub(super) fn is_reusable(&mut self) -> bool {
        !self.gauge.is_clamped()
            && self
                .poll_progress(&mut Context::from_waker(Waker::noop()))
                .is_pending()
            && self.sender.is_ready()
    }
}

fn poll_connection(connection: &mut Option<Box<Connection>>, cx: &mut Context<'_>) -> Poll<()> {
    match connection {
        None => Poll::Ready(()),
        Some(running) => Pin::new(running).poll(cx).map(|_how| {
            // Closes the socket. The exchange or body on it has been told why by hyper.
            *connection = None;
        }),
    }
}
