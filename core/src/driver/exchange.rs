//! One exchange with one candidate, up to a validated opening (contracts section 3, rule 5).

use super::within;
use crate::dispatch::Stage;
use crate::driver::open::OpenRequest;
use crate::io::{Accepted, Clock, NetError, Network, Runtime};
use crate::source::opening::{self, FirstChunk, HeadJudgement, MediaHead};
use crate::source::redirect;
use crate::source::refusal::Refusal;
use bytes::{Bytes, BytesMut};
use http_body::Body;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use crate::source::opening::Wanted;

/// A response that passed validation, its first bytes in hand and nothing sent to a client yet.
#[derive(Debug)]
pub struct Opening<B> {
    /// What the head says.
    pub answer: Answer,
    /// The first, validated chunk; empty only behind [`Answer::RangeNotSatisfiable`].
    pub first: Bytes,
    /// The rest.
    pub body: B,
}

/// What a validated response is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The bytes that were wanted.
    Media(MediaHead),
    /// 416 to the client's own range: relayed, not a failure.
    RangeNotSatisfiable {
        /// Length of the whole, when the source says it.
        complete: Option<u64>,
    },
}

/// How far an exchange has got.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    accepted: Accepted,
    head_read: Arc<AtomicBool>,
}

impl Progress {
    /// What the exchange waits for now.
    pub fn stage(&self) -> Stage {
        if self.head_read.load(Ordering::Acquire) {
            Stage::FirstByte
        } else if self.accepted.is_marked() {
            Stage::Head
        } else {
            Stage::Connect
        }
    }
}

/// Sends the request, follows redirects to the same host, and validates what comes.
pub async fn open_one<R: Runtime>(
    runtime: &R,
    open: Result<OpenRequest, Refusal>,
    wanted: Wanted,
    progress: Progress,
) -> Result<Opening<<R::Network as Network>::Body>, Refusal> {
    let OpenRequest { mut request, range } = open?;
    let mut hops = 0;
    loop {
        let response = runtime
            .network()
            .send(request.clone(), progress.accepted.clone())
            .await
            .map_err(Refusal::Net)?;
        let (parts, mut body) = response.into_parts();
        let now = runtime.clock().wall();
        match opening::judge_head(&parts, range.as_ref(), wanted, now) {
            HeadJudgement::Redirect { location } => {
                *request.uri_mut() = redirect::follow(request.uri(), &location, hops)?;
                hops += 1;
            }
            HeadJudgement::Refused(refusal) => return Err(refusal),
            HeadJudgement::RangeNotSatisfiable { complete } => {
                return Ok(Opening {
                    answer: Answer::RangeNotSatisfiable { complete },
                    first: Bytes::new(),
                    body,
                });
            }
            HeadJudgement::ErrorBody => {
                progress.head_read.store(true, Ordering::Release);
                return Err(read_error(&mut body, BytesMut::new()).await);
            }
            HeadJudgement::Media(head) => {
                progress.head_read.store(true, Ordering::Release);
                let first = first_chunk(&head, &mut body).await?;
                return Ok(Opening {
                    answer: Answer::Media(head),
                    first,
                    body,
                });
            }
        }
    }
}

/// The first bytes of the body, enough of them to be sure that they are what was wanted.
async fn first_chunk<B>(head: &MediaHead, body: &mut B) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes, Error = NetError> + Unpin,
{
    let mut gathered = Bytes::new();
    let mut ended = false;
    loop {
        match opening::judge_first_chunk(head, &gathered, ended) {
            FirstChunk::Accepted => return Ok(gathered),
            FirstChunk::Refused(refusal) => return Err(refusal),
            FirstChunk::ErrorBody => {
                return Err(read_error(body, BytesMut::from(&gathered[..])).await);
            }
            // A judge that wants more than there is would wait for ever.
            FirstChunk::NeedMore if ended => return Err(Refusal::Empty),
            FirstChunk::NeedMore => {}
        }
        match next_chunk(body).await {
            None => ended = true,
            Some(chunk) => {
                let chunk = chunk?;
                gathered = if gathered.is_empty() {
                    chunk
                } else {
                    [gathered, chunk].concat().into()
                };
            }
        }
    }
}

/// Reads on in an error document, within bounds, and says what it means. One that breaks off in the middle
/// is an error document all the same.
async fn read_error<B>(body: &mut B, mut document: BytesMut) -> Refusal
where
    B: Body<Data = Bytes, Error = NetError> + Unpin,
{
    while document.len() < opening::ERROR_BODY_LIMIT {
        match next_chunk(body).await {
            None | Some(Err(_)) => break,
            Some(Ok(chunk)) => document.extend_from_slice(&chunk),
        }
    }
    document.truncate(opening::ERROR_BODY_LIMIT);
    opening::judge_error_body(&document)
}

/// The next non-empty data of a body; `None` at its end.
pub async fn next_chunk<B>(body: &mut B) -> Option<Result<Bytes, Refusal>>
where
    B: Body<Data = Bytes, Error = NetError> + Unpin,
{
    loop {
        match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await? {
            Err(error) => return Some(Err(Refusal::Net(error))),
            Ok(frame) => match frame.into_data() {
                Ok(data) if !data.is_empty() => return Some(Ok(data)),
                Ok(_) | Err(_) => {}
            },
        }
    }
}

/// As [`read_all`], from a source that may be silent for at most `patience` at a time (rule 3).
pub async fn read_all_within<R: Runtime>(
    runtime: &R,
    body: &mut <R::Network as Network>::Body,
    limit: usize,
    patience: Duration,
) -> Result<Bytes, Refusal> {
    let clock = runtime.clock();
    let mut gathered = BytesMut::new();
    loop {
        match within(clock, patience, next_chunk(body)).await {
            None => return Err(Refusal::TimedOut(Stage::FirstByte)),
            Some(None) => return Ok(gathered.freeze()),
            Some(Some(chunk)) => gather(&mut gathered, &chunk?, limit)?,
        }
    }
}

/// A whole body of at most `limit` bytes.
pub async fn read_all<B>(body: &mut B, limit: usize) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes, Error = NetError> + Unpin,
{
    let mut gathered = BytesMut::new();
    while let Some(chunk) = next_chunk(body).await {
        gather(&mut gathered, &chunk?, limit)?;
    }
    Ok(gathered.freeze())
}

fn gather(gathered: &mut BytesMut, chunk: &[u8], limit: usize) -> Result<(), Refusal> {
    if gathered.len() + chunk.len() > limit {
        return Err(Refusal::Net(NetError::Oversized));
    }
    gathered.extend_from_slice(chunk);
    Ok(())
}
