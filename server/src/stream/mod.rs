//! `stream`, `download` and `getCoverArt`: the byte paths, which fail over between sources.

pub mod art;
mod candidates;
mod respond;
pub mod served;

use crate::activity::{Closed, Operation};
use crate::hub::{Hub, HubRuntime};
use crate::rest::call::Call;
use crate::rest::envelope::ApiError;
use crate::wanted;
use axum::body::Body;
use axum::response::Response;
use candidates::{Candidate, Subject};
use http::{HeaderValue, Method, StatusCode, header};
use segue_core::Wall;
use segue_core::driver::body::{Closing, RelayBody, Reopen, Session};
use segue_core::driver::exchange::{Answer, Opening, Wanted};
use segue_core::driver::lock;
use segue_core::driver::open::{Opened, open};
use segue_core::driver::resume::{Break, resume};
use segue_core::failover::relay::{Ending, Relay};
use segue_core::failover::{Attempt, Midstream, Outcome, ranges};
use segue_core::io::{Clock, Network, Runtime};
use segue_core::source::opening::{MediaHead, Served};
use segue_core::source::range::ContentRange;
use segue_core::source::transcode::StreamParams;
use segue_core::twin::{self, Twin};
use segue_sqlite::{AttemptRow, OperationStatus, StreamOperation};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type BodyOf<R> = <<R as Runtime>::Network as Network>::Body;

/// Said when no candidate could be opened; nothing an upstream said ever reaches a client (rule 6).
const UNREACHABLE: &str = "No reachable source for track";

/// `stream`: the track, transcoded when the client asks for it.
pub async fn stream<R: HubRuntime>(hub: Hub<R>, call: Call) -> Response {
    let params = match stream_params(&call) {
        Ok(params) => params,
        Err(error) => return error.response(&call.format),
    };
    play(hub, call, params, Purpose::Stream).await
}

/// `download`: the original bytes, whatever else is asked for.
pub async fn download<R: HubRuntime>(hub: Hub<R>, call: Call) -> Response {
    play(hub, call, StreamParams::original(), Purpose::Download).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Stream,
    Download,
}

fn stream_params(call: &Call) -> Result<StreamParams, ApiError> {
    Ok(StreamParams {
        format: call.params.get("format").map(str::to_owned),
        max_bit_rate: call.params.number("maxBitRate")?,
        time_offset: call.params.number("timeOffset")?,
    })
}

async fn play<R: HubRuntime>(
    hub: Hub<R>,
    call: Call,
    params: StreamParams,
    purpose: Purpose,
) -> Response {
    let id = match call.params.required("id") {
        Ok(id) => id.to_owned(),
        Err(error) => return error.response(&call.format),
    };
    let subject = match candidates::subject(&hub, id).await {
        Ok(Some(subject)) => subject,
        Ok(None) => return not_found(&call),
        Err(error) => {
            tracing::error!(%error, "a track could not be looked up");
            return respond::unavailable("The library cannot be read", None);
        }
    };
    let all = candidates::plan(&hub, &call, &subject, &params, purpose == Purpose::Download);
    let Some(first) = all.first() else {
        return not_found(&call);
    };
    if call.method == Method::HEAD {
        // From the catalogue: a HEAD opens nothing upstream and counts no play (rule 9).
        return respond::head(first, purpose == Purpose::Download, &subject);
    }
    commit(hub, call, subject, Arc::new(all), purpose).await
}

/// Contracts section 3, rule 1.
fn not_found(call: &Call) -> Response {
    let mut response = ApiError::not_found("Song").response(&call.format);
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

async fn commit<R: HubRuntime>(
    hub: Hub<R>,
    call: Call,
    subject: Subject,
    candidates: Arc<Vec<Candidate>>,
    purpose: Purpose,
) -> Response {
    let started = hub.clock().wall();
    let lanes = candidates.iter().map(Candidate::lane).collect();
    let limits = &hub.settings().limits;
    // Held until the activity row counts the stream instead.
    let rooms = Mutex::new(Vec::new());
    let row = |status| row(&call, &subject, started, status);
    if twin::is(Twin::ActivityBeforeWinner) {
        hub.activity().open(row(OperationStatus::Active));
    }
    let opened = open(
        hub.runtime(),
        hub.bank(),
        lanes,
        limits,
        Wanted::Media,
        |index| {
            let candidate = &candidates[index];
            lock(&rooms).push(candidate.take_room(&hub)?);
            candidate.request(candidate.range)
        },
    )
    .await;
    note_attempts(&hub, &subject, &candidates, &opened);
    match opened.outcome {
        Outcome::Committed { candidate, opening } => {
            let chosen = &candidates[candidate];
            match respond::head_for(chosen, &opening, purpose == Purpose::Download, &subject) {
                respond::Head::Refused(response) => response,
                respond::Head::Body(mut response, media) => {
                    if !twin::is(Twin::LastServedForgotten) {
                        hub.served()
                            .remember(&call.user.name, &subject.track_id, &chosen.track);
                    }
                    if purpose == Purpose::Stream {
                        wanted::note(&hub, &subject.track_id);
                    }
                    let operation = hub.activity().open(StreamOperation {
                        source_id: Some(chosen.source.id().to_owned()),
                        source_kind: Some(chosen.source.kind()),
                        attempts: attempt_rows(&candidates, &opened.attempts, &[]),
                        format: Some(chosen.resolved.format.clone()),
                        bit_rate: chosen.resolved.bit_rate,
                        transcoded: !chosen.resolved.raw,
                        range_start: range_start(&media),
                        ..row(OperationStatus::Active)
                    });
                    let session = session(
                        &hub,
                        Committed {
                            candidates: Arc::clone(&candidates),
                            candidate,
                            attempts: opened.attempts,
                            media,
                        },
                        opening,
                        operation,
                    );
                    *response.body_mut() =
                        Body::new(RelayBody::<R>::new(hub.clock().clone(), session));
                    response
                }
            }
        }
        Outcome::Exhausted { retry_after } => {
            let failed = StreamOperation {
                attempts: attempt_rows(&candidates, &opened.attempts, &[]),
                ended_at: Some(hub.clock().wall()),
                error: Some(UNREACHABLE.to_owned()),
                ..row(OperationStatus::Failed)
            };
            if !twin::is(Twin::FailureUnrecorded) {
                hub.activity().failed(failed);
            }
            respond::unavailable(UNREACHABLE, retry_after)
        }
        // The future is dropped when the client leaves, so nobody reads this.
        Outcome::Cancelled => respond::unavailable(UNREACHABLE, None),
    }
}

struct Committed {
    candidates: Arc<Vec<Candidate>>,
    candidate: usize,
    attempts: Vec<Attempt>,
    media: MediaHead,
}

/// What goes on behind the commit point.
fn session<R: HubRuntime>(
    hub: &Hub<R>,
    committed: Committed,
    opening: Opening<BodyOf<R>>,
    operation: Operation,
) -> Session<BodyOf<R>> {
    let Committed {
        candidates,
        candidate,
        attempts,
        media,
    } = committed;
    let limits = &hub.settings().limits;
    let reopen = (limits.midstream == Midstream::Resume && candidates[candidate].resolved.raw)
        .then(|| reopener(hub, Arc::clone(&candidates), candidate, &media))
        .flatten();
    let relay = Relay::new(media.content_length, limits.idle, reopen.is_some());
    let counting = operation.clone();
    let hub = hub.clone();
    Session {
        candidate,
        first: opening.first,
        body: opening.body,
        relay,
        reopen,
        on_bytes: Box::new(move |bytes| counting.add_bytes(bytes)),
        on_close: Box::new(move |closing| {
            for (at, bytes) in &closing.served {
                hub.metrics().bytes(candidates[*at].source.id(), *bytes);
            }
            let closed = closed(hub.clock().wall(), &candidates, &attempts, closing);
            if !twin::is(Twin::ActivityNeverClosed) {
                hub.activity().close(&operation, closed);
            }
        }),
    }
}

/// A search for a byte-identical copy, when there may be one: the length of the whole must be known.
fn reopener<R: HubRuntime>(
    hub: &Hub<R>,
    candidates: Arc<Vec<Candidate>>,
    committed: usize,
    media: &MediaHead,
) -> Option<Reopen<BodyOf<R>>> {
    let (offset, total) = match media.served {
        Served::Whole => (0, media.content_length?),
        Served::Part(part) => (range_start(media)?, part.complete()?),
    };
    let original = &candidates[committed].track;
    let is_copy =
        |at: &usize| *at == committed || ranges::is_same_encode(original, &candidates[*at].track);
    // The one that just broke is asked last.
    let mut copies: Vec<usize> = (0..candidates.len()).filter(is_copy).collect();
    copies.sort_by_key(|at| (*at == committed, *at));
    let hub = hub.clone();
    Some(Box::new(move |passed, tail, spent| {
        let hub = hub.clone();
        let candidates = Arc::clone(&candidates);
        let mut copies = copies.clone();
        copies.retain(|at| !spent.contains(at));
        Box::pin(async move {
            let lanes = copies.iter().map(|at| (*at, candidates[*at].lane()));
            let broken = Break {
                at: offset + passed,
                total,
                tail,
            };
            resume(
                hub.runtime(),
                hub.bank(),
                lanes.collect(),
                &hub.settings().limits,
                &broken,
                |at, range| candidates[at].request(Some(*range)),
            )
            .await
        })
    }))
}

fn range_start(media: &MediaHead) -> Option<u64> {
    match media.served {
        Served::Part(ContentRange::Part { first, .. }) => Some(first),
        Served::Whole | Served::Part(ContentRange::Unsatisfied { .. }) => None,
    }
}

fn row(call: &Call, subject: &Subject, started: Wall, status: OperationStatus) -> StreamOperation {
    StreamOperation {
        id: 0,
        track_id: subject.track_id.clone(),
        track_title: subject.title.clone(),
        artist_name: subject.artist.clone(),
        user: call.user.name.clone(),
        client: call.client.clone(),
        started_at: started,
        status,
        source_id: None,
        source_kind: None,
        attempts: Vec::new(),
        ended_at: None,
        bytes: 0,
        format: None,
        bit_rate: None,
        transcoded: false,
        range_start: None,
        error: None,
    }
}

fn closed(at: Wall, candidates: &[Candidate], attempts: &[Attempt], closing: Closing) -> Closed {
    let (status, error) = match closing.ending {
        Ending::Completed => (OperationStatus::Completed, None),
        Ending::ClientGone => (OperationStatus::ClientGone, None),
        Ending::Truncated => (
            OperationStatus::Truncated,
            Some("The source stopped in the middle of the stream"),
        ),
        Ending::Stalled => (
            OperationStatus::Truncated,
            Some("The source fell silent in the middle of the stream"),
        ),
    };
    Closed {
        at,
        status,
        bytes: closing.served.iter().map(|(_, bytes)| bytes).sum(),
        attempts: attempt_rows(candidates, attempts, &closing.served),
        error: error.map(str::to_owned),
    }
}

/// Every attempt with the bytes it contributed; a continuation from a copy is an attempt of its own.
fn attempt_rows(
    candidates: &[Candidate],
    attempts: &[Attempt],
    served: &[(usize, u64)],
) -> Vec<AttemptRow> {
    let source_id = |at: usize| candidates[at].source.id().to_owned();
    let mut served = served.iter();
    let mut rows: Vec<AttemptRow> = attempts
        .iter()
        .map(|attempt| AttemptRow {
            source_id: source_id(attempt.candidate),
            outcome: attempt.outcome.as_str().to_owned(),
            ms: u64::try_from(attempt.took.as_millis()).unwrap_or(u64::MAX),
            bytes: match attempt.outcome {
                segue_core::failover::AttemptOutcome::Served => {
                    served.next().map_or(0, |(_, bytes)| *bytes)
                }
                _ => 0,
            },
        })
        .collect();
    let served = served.filter(|_| !twin::is(Twin::ResumedUnlisted));
    rows.extend(served.map(|(at, bytes)| AttemptRow {
        source_id: source_id(*at),
        outcome: "resumed".to_owned(),
        ms: 0,
        bytes: *bytes,
    }));
    rows
}

/// Logs what was refused and notes it at the source, for the operator.
fn note_attempts<R: HubRuntime, B>(
    hub: &Hub<R>,
    subject: &Subject,
    candidates: &[Candidate],
    opened: &Opened<B>,
) {
    for attempt in &opened.attempts {
        let source = &candidates[attempt.candidate].source;
        hub.metrics().attempt(source.id(), attempt.outcome.as_str());
        candidates::note(source, attempt, &subject.track_id, hub.clock().wall());
    }
}

/// A `Retry-After` in whole seconds, never zero.
fn retry_after(wait: Duration) -> HeaderValue {
    HeaderValue::from(
        wait.as_secs()
            .saturating_add(u64::from(wait.subsec_nanos() > 0))
            .max(1),
    )
}

/// Headers that every media answer carries.
fn media_headers(response: &mut Response, content_type: &str) {
    let headers = response.headers_mut();
    let value = HeaderValue::from_str(content_type);
    headers.insert(
        header::CONTENT_TYPE,
        value.unwrap_or(HeaderValue::from_static("application/octet-stream")),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
}

/// What of an opening is not media: 416 to the client's own range.
fn refused_range<B>(opening: &Opening<B>) -> Option<Option<u64>> {
    match &opening.answer {
        Answer::Media(_) => None,
        Answer::RangeNotSatisfiable { complete } => Some(*complete),
    }
}
