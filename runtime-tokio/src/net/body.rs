//! The body of a response, from the network or from this machine.

use super::dial::Origin;
use super::link::Link;
use super::pool::Pool;
use super::{LocalBody, error};
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use segue_core::io::NetError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A response body, read as it arrives. Dropping it before its end closes its connection at once.
pub struct Body(Kind);

enum Kind {
    Remote(Remote),
    Local(LocalBody),
}

impl Body {
    pub(super) fn remote(incoming: Incoming, link: Link, origin: Origin, pool: Arc<Pool>) -> Self {
        let mut remote = Remote {
            incoming,
            running: Some(Running { link, origin, pool }),
        };
        if remote.incoming.is_end_stream() {
            remote.finish();
        }
        Body(Kind::Remote(remote))
    }

    pub(super) fn local(body: LocalBody) -> Self {
        Body(Kind::Local(body))
    }
}

/// A body whose connection is moved on by reading it.
struct Remote {
    incoming: Incoming,
    /// `None` once the exchange is over.
    running: Option<Running>,
}

struct Running {
    link: Link,
    origin: Origin,
    pool: Arc<Pool>,
}

impl Remote {
    /// The body ended as it should: its connection may serve again.
    fn finish(&mut self) {
        if let Some(Running { link, origin, pool }) = self.running.take() {
            pool.give(origin, link);
        }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        let mut progress = None;
        loop {
            match Pin::new(&mut self.incoming).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => return Poll::Ready(Some(Ok(frame))),
                Poll::Ready(Some(Err(cause))) => {
                    self.running = None;
                    return Poll::Ready(Some(Err(error::of_exchange(&cause))));
                }
                Poll::Ready(None) => {
                    self.finish();
                    return Poll::Ready(None);
                }
                Poll::Pending => {}
            }
            match (progress, &mut self.running) {
                (None, Some(running)) => progress = Some(running.link.poll_progress(cx)),
                (Some(Poll::Pending), _) => return Poll::Pending,
                // hyper ends a body with its connection. Should it ever forget, it is no clean end.
                (Some(Poll::Ready(())), _) | (None, None) => {
                    self.running = None;
                    return Poll::Ready(Some(Err(NetError::Truncated)));
                }
            }
        }
    }
}

impl Drop for Remote {
    /// Who knows the length stops at the last byte and does not ask for the end.
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.finish();
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        match &mut self.get_mut().0 {
            Kind::Remote(remote) => remote.poll_frame(cx),
            Kind::Local(local) => Pin::new(local).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Remote(remote) => remote.incoming.is_end_stream(),
            Kind::Local(local) => local.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Remote(remote) => remote.incoming.size_hint(),
            Kind::Local(local) => local.size_hint(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Remote(_) => f.write_str("Body::Remote"),
            Kind::Local(_) => f.write_str("Body::Local"),
        }
    }
}
