//! Finds a copy that is proved byte-identical and goes on in the middle of a body.
//!
//! Contracts section 3, rule 7, `stream.midstream = "resume"`: the overlap is read back from the new
//! source and compared before one new byte goes out.

use super::body::Continuation;
use super::exchange::{Answer, Opening, Wanted, next_chunk};
use super::open::{OpenRequest, open};
use super::within;
use crate::breaker::Bank;
use crate::failover::{Candidate, Limits, Outcome};
use crate::io::{Network, Runtime};
use crate::source::opening::Served;
use crate::source::range::ByteRange;
use crate::source::refusal::Refusal;
use crate::twin::{self, Twin};
use bytes::{Buf, Bytes};
use std::sync::Mutex;

/// Where a body broke off.
#[derive(Clone, Debug)]
pub struct Break {
    /// Offset of the next byte wanted, counted in the whole track.
    pub at: u64,
    /// Length of the whole track in bytes.
    pub total: u64,
    /// The bytes just before `at`, as far as they were kept; empty at the very beginning.
    pub tail: Bytes,
}

impl Break {
    /// What to ask a copy for: the overlap and everything after it.
    pub fn range(&self) -> ByteRange {
        ByteRange::From {
            first: self.at - self.tail.len() as u64,
            last: None,
        }
    }
}

/// Tries the copies in order; each must answer with exactly the range asked for, of a track of the same
/// length, whose overlap is equal and there, with a byte more, within the first byte's budget. `candidates` carry the caller's own index.
pub async fn resume<R: Runtime>(
    runtime: &R,
    bank: &Mutex<Bank>,
    mut candidates: Vec<(usize, Candidate)>,
    limits: &Limits,
    broken: &Break,
    request_for: impl Fn(usize, &ByteRange) -> Result<OpenRequest, Refusal> + Send + Sync,
) -> Option<Continuation<<R::Network as Network>::Body>> {
    let range = broken.range();
    while !candidates.is_empty() {
        let open_request = |index: usize| request_for(candidates[index].0, &range);
        let lanes = candidates.iter().map(|(_, c)| c.clone()).collect();
        let opened = open(runtime, bank, lanes, limits, Wanted::Media, open_request).await;
        let Outcome::Committed { candidate, opening } = opened.outcome else {
            return None;
        };
        let (index, _) = candidates[candidate];
        // The listener waits, and the source has opened well: a proof that does not get on is none.
        let proof = within(runtime.clock(), limits.first_byte, prove(opening, broken));
        if let Some((first, body)) = proof.await.flatten() {
            return Some(Continuation {
                candidate: index,
                first,
                body,
            });
        }
        candidates.drain(..=candidate);
    }
    None
}

/// The bytes after the overlap, if the overlap is what was sent before.
async fn prove<B>(opening: Opening<B>, broken: &Break) -> Option<(Bytes, B)>
where
    B: http_body::Body<Data = Bytes, Error = crate::io::NetError> + Unpin,
{
    let Opening {
        answer: Answer::Media(head),
        first,
        mut body,
    } = opening
    else {
        return None;
    };
    match head.served {
        Served::Part(part) if part.complete() == Some(broken.total) => {}
        Served::Part(_) if twin::is(Twin::ResumeOfAnyLength) => {}
        Served::Part(_) | Served::Whole => return None,
    }
    let mut expected = broken.tail.clone();
    let mut chunk = first;
    loop {
        let shared = expected.len().min(chunk.len());
        if chunk[..shared] != expected[..shared] && !twin::is(Twin::ResumeUnproved) {
            return None;
        }
        chunk.advance(shared);
        expected.advance(shared);
        if expected.is_empty() && !chunk.is_empty() {
            return Some((chunk, body));
        }
        chunk = next_chunk(&mut body).await?.ok()?;
    }
}
