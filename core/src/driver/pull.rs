//! Drives a [`Negotiation`] or a [`Pull`] to its end.

use super::call::{call, call_once};
use crate::catalog::model::Pass;
use crate::io::Runtime;
use crate::source::refusal::Refusal;
use crate::source::subsonic::parse::BODY_LIMIT;
use crate::source::subsonic::{Auth, Negotiation, Pull, PullRequest, Step};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Finds out how a server wants us to authenticate. `ping` makes the request for a way.
pub async fn negotiate<R: Runtime>(
    runtime: &R,
    mut negotiation: Negotiation,
    ping: impl Fn(Auth) -> Result<http::Request<Bytes>, Refusal> + Send + Sync,
) -> Result<Auth, Refusal> {
    loop {
        match negotiation.step() {
            Step::Settled(settled) => return settled,
            Step::Ping(way) => {
                let reply = call_once(runtime, BODY_LIMIT, ping(way)?).await;
                negotiation.answer(reply.as_deref().map_err(|refusal| *refusal));
            }
        }
    }
}

/// One pass over a server. The requests under way live in this future.
///
/// # Errors
/// Why the server could not be read at all; a pass that was only partly read is `Ok` and not complete.
pub async fn pull<R: Runtime>(
    runtime: &R,
    mut machine: Pull,
    request_for: impl Fn(&PullRequest) -> Result<http::Request<Bytes>, Refusal> + Send + Sync,
    progress: impl Fn(usize) + Send + Sync,
) -> Result<Pass, Refusal> {
    let mut running: Vec<Pin<Box<_>>> = Vec::new();
    loop {
        while let Some(request) = machine.poll_request() {
            running.push(Box::pin(ask(runtime, request, &request_for)));
        }
        if running.is_empty() {
            break;
        }
        let (id, reply) = poll_fn(|cx| {
            for at in 0..running.len() {
                if let Poll::Ready(answer) = running[at].as_mut().poll(cx) {
                    drop(running.remove(at));
                    return Poll::Ready(answer);
                }
            }
            Poll::Pending
        })
        .await;
        machine.answer(id, reply);
        progress(machine.progress().tracks);
    }
    match machine.failure() {
        Some(refusal) => Err(refusal),
        None => Ok(machine.finish()),
    }
}

async fn ask<R: Runtime>(
    runtime: &R,
    request: PullRequest,
    request_for: &(impl Fn(&PullRequest) -> Result<http::Request<Bytes>, Refusal> + Send + Sync),
) -> (u32, Result<Bytes, Refusal>) {
    let reply = call(runtime, BODY_LIMIT, || request_for(&request)).await;
    (request.id, reply)
}
