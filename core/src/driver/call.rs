//! One call of a source's API: the whole reply, bounded in size and time, and tried again when that may help.

use super::exchange::read_all;
use super::{contained, within};
use crate::dispatch::Stage;
use crate::io::{Accepted, Clock, Network, Runtime};
use crate::source::opening::{self, ReplyJudgement};
use crate::source::redirect;
use crate::source::refusal::{Refusal, RefusalClass};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

/// How long one try may take. Some servers think for a while before they list fifty thousand artists.
pub const CALL_BUDGET: Duration = Duration::from_secs(60);

/// Waits before the second and the third try.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// A `Retry-After` beyond this is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Calls, and calls again after a fault or when asked to wait. `request_for` makes a fresh request for each try.
pub async fn call<R: Runtime>(
    runtime: &R,
    limit: usize,
    request_for: impl Fn() -> Result<http::Request<Bytes>, Refusal> + Send + Sync,
) -> Result<Bytes, Refusal> {
    let mut pauses = PAUSES.iter();
    loop {
        let refusal = match call_once(runtime, limit, request_for()?).await {
            Ok(reply) => return Ok(reply),
            Err(refusal) => refusal,
        };
        let pause = match (refusal.class(), pauses.next()) {
            (RefusalClass::Miss | RefusalClass::Auth, _) | (_, None) => return Err(refusal),
            (RefusalClass::Transport, Some(pause)) => *pause,
            (RefusalClass::Throttled { retry_after }, Some(pause)) => {
                let asked = retry_after.unwrap_or(*pause);
                if asked > LONGEST_PAUSE {
                    return Err(refusal);
                }
                asked.max(*pause)
            }
        };
        let clock = runtime.clock();
        clock.sleep_until(clock.now() + pause).await;
    }
}

/// One try.
pub async fn call_once<R: Runtime>(
    runtime: &R,
    limit: usize,
    request: http::Request<Bytes>,
) -> Result<Bytes, Refusal> {
    let mut reply = pin!(exchange(runtime, limit, request));
    let reply = poll_fn(|cx| contained(|| reply.as_mut().poll(cx)));
    let reply = within(runtime.clock(), CALL_BUDGET, reply).await;
    match reply {
        None => Err(Refusal::TimedOut(Stage::Head)),
        Some(Err(panicked)) => Err(Refusal::Net(panicked)),
        Some(Ok(reply)) => reply,
    }
}

async fn exchange<R: Runtime>(
    runtime: &R,
    limit: usize,
    mut request: http::Request<Bytes>,
) -> Result<Bytes, Refusal> {
    let mut hops = 0;
    loop {
        let sent = runtime.network().send(request.clone(), Accepted::default());
        let (parts, mut body) = sent.await.map_err(Refusal::Net)?.into_parts();
        match opening::judge_reply_head(&parts, runtime.clock().wall()) {
            ReplyJudgement::Refused(refusal) => return Err(refusal),
            ReplyJudgement::Redirect { location } => {
                *request.uri_mut() = redirect::follow(request.uri(), &location, hops)?;
                hops += 1;
            }
            ReplyJudgement::Body => return read_all(&mut body, limit).await,
        }
    }
}
