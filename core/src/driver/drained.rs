//! A body that breaks only when what it sent before has left for the client.
//!
//! hyper gives a connection up at once when its body fails, and with it all that still waits to be written: the
//! head, if the body fails early, and whatever a slow client has not taken yet. A client of a broken body is to
//! get every byte that counts as sent.

use super::lock;
use http_body::{Body, Frame, SizeHint};
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

/// Why a body broke.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Counts how often everything that was written to one connection has been passed to the kernel: hyper flushes the
/// stream below it only when nothing waits in its own buffer.
#[derive(Clone, Debug, Default)]
pub struct Flushes(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    flushes: u64,
    waiting: Option<Waker>,
}

impl Flushes {
    /// Everything is with the kernel.
    pub fn flushed(&self) {
        let waiting = self.with(|seen| {
            seen.flushes += 1;
            seen.waiting.take()
        });
        if let Some(waker) = waiting {
            waker.wake();
        }
    }

    fn so_far(&self) -> u64 {
        self.with(|seen| seen.flushes)
    }

    fn poll_beyond(&self, before: u64, cx: &mut Context<'_>) -> Poll<()> {
        self.with(|seen| match seen.flushes > before {
            true => Poll::Ready(()),
            false => {
                seen.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        change(&mut lock(&self.0))
    }
}

/// See the module.
#[derive(Debug)]
pub struct Drained<B> {
    body: Pin<Box<B>>,
    flushes: Flushes,
    /// How it broke, and the flushes there had been by then.
    broken: Option<(Cause, u64)>,
}

impl<B> Drained<B> {
    /// `flushes` are those of the connection that `body` goes out on.
    pub fn new(body: B, flushes: Flushes) -> Self {
        Drained {
            body: Box::pin(body),
            flushes,
            broken: None,
        }
    }
}

impl<B> Unpin for Drained<B> {}

impl<B: Body<Error: Into<Cause>>> Body for Drained<B> {
    type Data = B::Data;
    type Error = Cause;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, Cause>>> {
        if self.broken.is_none() {
            match ready!(self.body.as_mut().poll_frame(cx)) {
                Some(Err(error)) => self.broken = Some((error.into(), self.flushes.so_far())),
                Some(Ok(frame)) => return Poll::Ready(Some(Ok(frame))),
                None => return Poll::Ready(None),
            }
        }
        if let Some((_, before)) = &self.broken {
            ready!(self.flushes.poll_beyond(*before, cx));
        }
        let broken = self.broken.take();
        Poll::Ready(broken.map(|(error, _)| Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
