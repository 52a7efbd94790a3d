//! The response body of a committed stream: the upstream's chunks through a [`Relay`].

use super::contained;
use crate::failover::relay::{Ending, Relay, Step};
use crate::io::{Clock, NetError, Network, Runtime};
use crate::twin::{self, Twin};
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

type BodyOf<R> = <<R as Runtime>::Network as Network>::Body;
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Polled = Option<Result<Frame<Bytes>, Cut>>;

/// Breaks the client's connection short of its length (contracts section 3, rule 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the source stopped in the middle of the stream")]
pub struct Cut;

/// A copy that goes on where the last source stopped, the overlap already compared and taken off.
#[derive(Debug)]
pub struct Continuation<B> {
    /// Index of the candidate that goes on.
    pub candidate: usize,
    /// The first new bytes.
    pub first: Bytes,
    /// The rest.
    pub body: B,
}

/// Finds a proved copy to go on from: given the offset in the body, the last bytes before it, and the candidates
/// that are spent ([`PROGRESS`]).
pub type Reopen<B> = Box<dyn FnMut(u64, Bytes, &[usize]) -> Boxed<Option<Continuation<B>>> + Send>;

/// How a session went, for its activity row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// How it ended.
    pub ending: Ending,
    /// Bytes handed to the client, by candidate, in order; they add up to what the client got.
    pub served: Vec<(usize, u64)>,
}

/// Told once when the session is over, whichever way.
pub type OnClose = Box<dyn FnOnce(Closing) + Send>;

/// What a relayed body is made of.
pub struct Session<B> {
    /// Index of the committed candidate.
    pub candidate: usize,
    /// The validated first chunk.
    pub first: Bytes,
    /// The rest.
    pub body: B,
    /// Decides.
    pub relay: Relay,
    /// Present when the stream may be continued from a copy.
    pub reopen: Option<Reopen<B>>,
    /// Told the end.
    pub on_close: OnClose,
    /// Told of bytes as they pass.
    pub on_bytes: Box<dyn FnMut(u64) + Send>,
}

/// How much of what has passed is kept to compare a copy with.
pub const OVERLAP: usize = 16 * 1024;

/// A candidate that broke before it had brought so many bytes is spent: no copy goes on from it. Otherwise one that
/// dies every few bytes would be asked a thousand times for one track.
pub const PROGRESS: u64 = 16 * 1024;

/// See the module.
pub struct RelayBody<R: Runtime> {
    clock: R::Clock,
    upstream: Upstream<BodyOf<R>>,
    pending: Option<Bytes>,
    relay: Relay,
    timer: Option<Boxed<()>>,
    reopen: Option<Reopen<BodyOf<R>>>,
    tail: Tail,
    served: Vec<(usize, u64)>,
    spent: Vec<usize>,
    on_close: Option<OnClose>,
    on_bytes: Box<dyn FnMut(u64) + Send>,
}

enum Upstream<B> {
    Open(B),
    Reopening(Ending, Boxed<Option<Continuation<B>>>),
    Over,
}

impl<R: Runtime> RelayBody<R> {
    /// Begins behind the commit point.
    pub fn new(clock: R::Clock, session: Session<BodyOf<R>>) -> Self {
        RelayBody {
            clock,
            upstream: Upstream::Open(session.body),
            pending: Some(session.first).filter(|first| !first.is_empty()),
            relay: session.relay,
            timer: None,
            tail: Tail::new(session.reopen.is_some()),
            reopen: session.reopen,
            served: vec![(session.candidate, 0)],
            spent: Vec::new(),
            on_close: Some(session.on_close),
            on_bytes: session.on_bytes,
        }
    }

    /// The record comes first: whoever sees that the upstream was let go, or reads the last byte, finds it closed.
    fn close(&mut self, ending: Ending) {
        if let Some(on_close) = self.on_close.take() {
            on_close(Closing {
                ending,
                served: std::mem::take(&mut self.served),
            });
        }
        // The upstream goes at once, not when hyper gets round to dropping the body.
        if !twin::is(Twin::UpstreamKept) {
            self.upstream = Upstream::Over;
        }
        self.timer = None;
    }

    fn deliver(&mut self, mut chunk: Bytes, step: Step) -> Option<Bytes> {
        let Step::Deliver(len) = step else {
            unreachable!("a chunk is delivered")
        };
        chunk.truncate(usize::try_from(len).unwrap_or(usize::MAX));
        if chunk.is_empty() {
            return None;
        }
        self.tail.push(&chunk);
        if let Some((_, bytes)) = self.served.last_mut()
            && !twin::is(Twin::BytesUncounted)
        {
            *bytes += len;
        }
        (self.on_bytes)(len);
        if self.relay.is_complete() {
            self.close(Ending::Completed);
        }
        Some(chunk)
    }

    /// Carries out what the relay decided about the end; `None` means go on polling.
    fn conclude(&mut self, step: Step) -> Option<Polled> {
        match step {
            Step::Deliver(_) => None,
            Step::Finish => {
                self.close(Ending::Completed);
                Some(None)
            }
            Step::Break(ending) => {
                self.close(ending);
                Some(Some(Err(Cut)))
            }
            Step::Resume { from, ending } => match &mut self.reopen {
                Some(reopen) => {
                    if let Some((candidate, _)) = self.served.last().filter(|(_, n)| *n < PROGRESS)
                    {
                        self.spent.push(*candidate);
                    }
                    let search = reopen(from, self.tail.bytes(), &self.spent);
                    self.upstream = Upstream::Reopening(ending, search);
                    None
                }
                None => self.conclude(Step::Break(ending)),
            },
        }
    }

    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let now = self.clock.now();
        self.relay.waiting(now);
        loop {
            let now = self.clock.now();
            if let Some(step) = self.relay.timed_out(now) {
                self.timer = None;
                return Poll::Ready(step);
            }
            let Some(at) = self.relay.poll_timeout() else {
                return Poll::Pending;
            };
            let clock = &self.clock;
            let timer = self
                .timer
                .get_or_insert_with(|| Box::pin(clock.sleep_until(at)));
            ready!(timer.as_mut().poll(cx));
            // It was set for an earlier wait, or it is due: the relay knows.
            self.timer = None;
        }
    }

    fn poll_upstream(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Step>>> {
        match &mut self.upstream {
            Upstream::Over => Poll::Ready(None),
            Upstream::Reopening(ending, search) => {
                let ending = *ending;
                match ready!(contained(|| search.as_mut().poll(cx)))
                    .ok()
                    .flatten()
                {
                    Some(continuation) => {
                        if !twin::is(Twin::BytesMisattributed) {
                            self.served.push((continuation.candidate, 0));
                        }
                        self.upstream = Upstream::Open(continuation.body);
                        Poll::Ready(Some(Ok(continuation.first)))
                    }
                    None => Poll::Ready(Some(Err(Step::Break(ending)))),
                }
            }
            Upstream::Open(body) => match flat(contained(|| Pin::new(body).poll_frame(cx))) {
                Poll::Ready(None) => Poll::Ready(Some(Err(self.relay.ended()))),
                Poll::Ready(Some(Err(error))) => {
                    let error: NetError = error;
                    Poll::Ready(Some(Err(self.relay.broke(error))))
                }
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing that a listener needs.
                    Poll::Ready(Some(Ok(frame.into_data().unwrap_or_default())))
                }
                Poll::Pending => self.poll_idle(cx).map(|step| Some(Err(step))),
            },
        }
    }
}

/// A body that panicked broke.
fn flat<T>(
    polled: Poll<Result<Option<Result<T, NetError>>, NetError>>,
) -> Poll<Option<Result<T, NetError>>> {
    polled.map(|polled| polled.unwrap_or_else(|panicked| Some(Err(panicked))))
}

impl<R: Runtime> Unpin for RelayBody<R> {}

impl<R: Runtime> Body for RelayBody<R> {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        let this = self.get_mut();
        loop {
            let chunk = match this.pending.take() {
                Some(first) => first,
                None => match ready!(this.poll_upstream(cx)) {
                    None => return Poll::Ready(None),
                    Some(Ok(chunk)) => chunk,
                    Some(Err(step)) => match this.conclude(step) {
                        Some(end) => return Poll::Ready(end),
                        None => continue,
                    },
                },
            };
            let step = this.relay.chunk(chunk.len() as u64);
            if let Some(chunk) = this.deliver(chunk, step) {
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.relay
            .remaining()
            .map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

impl<R: Runtime> Drop for RelayBody<R> {
    fn drop(&mut self) {
        if twin::is(Twin::EndingUntold) {
            return;
        }
        // hyper drops a body once its announced length is out, without asking for the end.
        let ending = if self.relay.is_complete() {
            Ending::Completed
        } else {
            Ending::ClientGone
        };
        self.close(ending);
    }
}

/// The last bytes that passed, kept only when a copy may have to be compared.
struct Tail {
    keep: bool,
    bytes: VecDeque<u8>,
}

impl Tail {
    fn new(keep: bool) -> Self {
        Tail {
            keep,
            bytes: VecDeque::new(),
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        if !self.keep {
            return;
        }
        let chunk = &chunk[chunk.len().saturating_sub(OVERLAP)..];
        let excess = (self.bytes.len() + chunk.len()).saturating_sub(OVERLAP);
        self.bytes.drain(..excess);
        self.bytes.extend(chunk);
    }

    fn bytes(&self) -> Bytes {
        self.bytes.iter().copied().collect()
    }
}
