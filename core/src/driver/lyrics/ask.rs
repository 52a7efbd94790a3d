//! One lookup of one lane: its requests, one after another, each in its turn, at its pace and within its time.

use super::lanes::{Setup, Slot};
use crate::breaker::{Bank, Phase, View};
use crate::driver::exchange::read_all;
use crate::driver::{contained, lock, within};
use crate::io::{Accepted, Clock, NetError, Network, Runtime};
use crate::lyrics::Song;
use crate::provider::{MissReason, Next, Outcome, Question, REPLY_LIMIT, Reply, Trouble, judge};
use crate::source::refusal::Refusal;
use crate::time::Tick;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// More requests than any lookup makes: one that wants more goes in circles.
const MOST_REQUESTS: usize = 16;

/// What is asked.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The song, with its copies.
    pub(super) song: Song,
    /// SHA-256 of the sidecars that we delivered.
    pub(super) ours: BTreeSet<String>,
    /// Fresh randomness for token authentication.
    pub(super) salt: String,
}

/// How one lane came out, before its answer is judged.
#[derive(Debug)]
pub(super) enum Asking {
    /// As its codec says.
    Heard {
        /// What it says.
        outcome: Outcome,
        /// When its first request went out; `None` when it needed none.
        since: Option<Tick>,
    },
    /// Its breaker opened while this waited in line: it was not called (D8).
    Closed {
        /// For how long.
        wait: Duration,
    },
}

/// Asks. `begun` is set once the first request may go out: only from then on its time runs.
pub(super) async fn ask<R: Runtime>(
    runtime: &R,
    bank: &Mutex<Bank>,
    setup: &Setup,
    slot: &Slot,
    asked: &Asked,
    admitted: Option<View>,
    begun: &AtomicBool,
) -> Asking {
    let clock = runtime.clock();
    let held = slot.turn.take().await;
    let mut since = None;
    let question = Question {
        song: &asked.song,
        rules: &setup.book.rules,
        servers: &setup.book.servers,
        salt: &asked.salt,
        ours: &asked.ours,
    };
    let Ok(mut lookup) = isolated(|| slot.codec.lookup(&question)) else {
        return failed(Trouble::Panicked, since);
    };
    for _ in 0..MOST_REQUESTS {
        let request = match isolated(|| lookup.next()) {
            Ok(Next::Send(request)) => request,
            Ok(Next::Done(outcome)) => return Asking::Heard { outcome, since },
            Err(Panicked) => return failed(Trouble::Panicked, since),
        };
        let paced = held.request(clock, setup.spacing(slot)).await;
        if let Some(wait) = closed_since(bank, slot, admitted, clock) {
            return Asking::Closed { wait };
        }
        begun.store(true, Ordering::Release);
        since.get_or_insert(clock.now());
        let timeout = slot.codec.descriptor().timeout;
        let mut exchanged = pin!(exchange(runtime, *request));
        let exchanged = poll_fn(|cx| contained(|| exchanged.as_mut().poll(cx)));
        let exchanged = within(clock, timeout, exchanged).await;
        drop(paced);
        let reply = match exchanged {
            None => Err(NetError::TimedOut),
            Some(Ok(Ok(reply))) => reply,
            Some(Ok(Err(trouble))) => return failed(trouble, since),
            Some(Err(_)) => return failed(Trouble::Panicked, since),
        };
        if isolated(|| lookup.reply(reply)).is_err() {
            return failed(Trouble::Panicked, since);
        }
    }
    failed(Trouble::Malformed, since)
}

fn failed(trouble: Trouble, since: Option<Tick>) -> Asking {
    let outcome = Outcome::Failed(trouble);
    Asking::Heard { outcome, since }
}

/// How long the lane is closed by now, if it was open to us and is not any more. What has changed hands since belongs
/// to others: a probe is not joined.
fn closed_since<C: Clock>(
    bank: &Mutex<Bank>,
    slot: &Slot,
    admitted: Option<View>,
    clock: &C,
) -> Option<Duration> {
    let now = clock.now();
    let view = lock(bank).view(slot.lane, now)?;
    let same = admitted.is_some_and(|before| before.generation == view.generation);
    match view.phase {
        Phase::Closed => None,
        Phase::Open { .. } | Phase::HalfOpen if same => None,
        Phase::Open { until } => Some(until.since(now)),
        Phase::HalfOpen => Some(Duration::ZERO),
    }
}

/// One request and its reply, redirects to the same host followed.
async fn exchange<R: Runtime>(
    runtime: &R,
    mut request: http::Request<Bytes>,
) -> Result<Result<Reply, NetError>, Trouble> {
    let mut hops = 0;
    loop {
        let sent = runtime.network().send(request.clone(), Accepted::default());
        let (parts, mut body) = match sent.await {
            Ok(response) => response.into_parts(),
            Err(error) => return Ok(Err(error)),
        };
        if let Some(next) = judge::redirected(&request, &parts, hops)? {
            request = next;
            hops += 1;
            continue;
        }
        let reply = read_all(&mut body, REPLY_LIMIT).await;
        return Ok(match reply {
            Ok(body) => Ok(Reply {
                parts,
                body,
                at: runtime.clock().wall(),
            }),
            Err(Refusal::Net(error)) => Err(error),
            Err(_) => Err(NetError::Malformed),
        });
    }
}

/// It panicked.
#[derive(Debug)]
pub(super) struct Panicked;

/// Runs code that deals with strangers' bytes. A panic is the end of that lookup and of nothing else.
pub(super) fn isolated<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked)
}

/// In a few words, for the ledger.
pub(super) fn words_of_miss(reason: MissReason) -> &'static str {
    match reason {
        MissReason::NotFound => "does not know the song",
        MissReason::NoLyrics => "has no words for the song",
        MissReason::Restricted => "may not give the words out",
        MissReason::NotAskable => "cannot be asked for this song",
    }
}

/// In a few words, for the ledger.
pub(super) fn words_of_trouble(trouble: Trouble) -> String {
    match trouble {
        Trouble::Net(error) => error.to_string(),
        Trouble::Server(status) => format!("answered {status}"),
        Trouble::Malformed => "answered something else than its protocol says".to_owned(),
        Trouble::RateLimited { .. } => "asked us to slow down".to_owned(),
        Trouble::Captcha => "wants a captcha solved".to_owned(),
        Trouble::GeoBlocked => "does not serve this place".to_owned(),
        Trouble::Refused => "refused our credentials".to_owned(),
        Trouble::RenewalRequired => "needs its token renewed".to_owned(),
        Trouble::RedirectRefused => "redirects to another host".to_owned(),
        Trouble::WrongService => "is not what its URL says".to_owned(),
        Trouble::Panicked => "broke our reading of it".to_owned(),
    }
}
