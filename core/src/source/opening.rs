//! Judging an opening: is what this candidate sends the track, and may it be committed?
//!
//! Contracts 3.5: the commit point is status 200 or 206, a media content type (or none), and a non-empty
//! first chunk that is not an error document. Subsonic servers answer errors with HTTP 200 and an XML or JSON
//! body, sometimes under an audio content type, sometimes with nothing at all.

use super::media::{self, Claim};
use super::range::{ByteRange, ContentRange};
use super::refusal::Refusal;
use super::sniff::{self, Look};
use super::{envelope, redirect};
use crate::time::Wall;
use crate::twin::{self, Twin};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION};
use http::response::Parts;
use http::{HeaderMap, HeaderName};
use std::time::{Duration, UNIX_EPOCH};

/// How much of an error document is read to find its code.
pub const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// How many bytes [`judge_first_chunk`] needs at most before it decides.
pub const FIRST_CHUNK_LIMIT: usize = sniff::SNIFF_LEN;

/// What a response head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadJudgement {
    /// Looks like what was wanted. Read the first bytes and ask [`judge_first_chunk`].
    Media(MediaHead),
    /// Not media. Read at most [`ERROR_BODY_LIMIT`] bytes and ask [`judge_error_body`].
    ErrorBody,
    /// Nothing to be had here; the body need not be read.
    Refused(Refusal),
    /// 416 to the client's own range: an answer, relayed to the client (contracts section 3).
    RangeNotSatisfiable {
        /// Length of the whole, when the source says it.
        complete: Option<u64>,
    },
    /// Ask there instead, when [`redirect::follow`] allows it.
    Redirect {
        /// The `Location`, as the source wrote it.
        location: String,
    },
}

/// The head of an opening that may yet be committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaHead {
    /// The content type as the source wrote it; absent when it says nothing of worth.
    pub content_type: Option<String>,
    /// Which bytes follow. [`Served::Whole`] is a fine answer to a ranged request: the hub then serves 200.
    pub served: Served,
    /// Number of bytes that follow, when announced.
    pub content_length: Option<u64>,
}

/// Which bytes of the track a response holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Served {
    /// All of them (200).
    Whole,
    /// The part that was asked for (206).
    Part(ContentRange),
}

/// What the first bytes of a body say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstChunk {
    /// The commit point is passed.
    Accepted,
    /// Too little to tell: ask again with these bytes and the next ones.
    NeedMore,
    /// A document. Read on up to [`ERROR_BODY_LIMIT`] bytes in all and ask [`judge_error_body`].
    ErrorBody,
    /// Not the track.
    Refused(Refusal),
}

/// What is being opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// A track.
    Media,
    /// A cover.
    Picture,
}

/// Judges a response head. `asked` is the range that was sent to the source; `now` serves a `Retry-After`
/// that is written as a date.
pub fn judge_head(
    head: &Parts,
    asked: Option<&ByteRange>,
    wanted: Wanted,
    now: Wall,
) -> HeadJudgement {
    match head.status.as_u16() {
        200 => judge_media(head, Served::Whole, wanted),
        206 => judge_part(head, asked, wanted),
        416 if asked.is_some() => HeadJudgement::RangeNotSatisfiable {
            complete: content_range(&head.headers).and_then(ContentRange::complete),
        },
        _ => match redirect_of(head) {
            Some(location) => HeadJudgement::Redirect { location },
            None => HeadJudgement::Refused(refusal_of(head, now)),
        },
    }
}

/// What the head of an API reply (not media) says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyJudgement {
    /// Read the body: it holds an envelope, or should.
    Body,
    /// Ask there instead, when [`redirect::follow`] allows it.
    Redirect {
        /// The `Location`, as the source wrote it.
        location: String,
    },
    /// Nothing to be had here; the body need not be read.
    Refused(Refusal),
}

/// Judges the head of an API reply. The content type is not looked at: servers name JSON and XML in many
/// ways, and the body tells.
pub fn judge_reply_head(head: &Parts, now: Wall) -> ReplyJudgement {
    match head.status.as_u16() {
        200 => ReplyJudgement::Body,
        _ => match redirect_of(head) {
            Some(location) => ReplyJudgement::Redirect { location },
            None => ReplyJudgement::Refused(refusal_of(head, now)),
        },
    }
}

fn redirect_of(head: &Parts) -> Option<String> {
    let location = text(&head.headers, LOCATION)?;
    redirect::is_redirect(head.status).then(|| location.to_owned())
}

/// What a status means that brings nothing of use.
fn refusal_of(head: &Parts, now: Wall) -> Refusal {
    match head.status.as_u16() {
        204 | 205 => Refusal::Empty,
        401 | 402 | 403 | 407 => Refusal::Auth,
        404 | 410 => Refusal::NotFound,
        429 => Refusal::Throttled {
            retry_after: retry_after(&head.headers, now),
        },
        503 => match retry_after(&head.headers, now) {
            Some(wait) => Refusal::Throttled {
                retry_after: Some(wait),
            },
            None => Refusal::Status(503),
        },
        status => Refusal::Status(status),
    }
}

fn judge_part(head: &Parts, asked: Option<&ByteRange>, wanted: Wanted) -> HeadJudgement {
    let Some(part) = content_range(&head.headers) else {
        return HeadJudgement::Refused(Refusal::WrongRange);
    };
    let as_asked = asked.is_some_and(|asked| part.answers(*asked));
    let as_long =
        content_length(&head.headers).is_none_or(|length| part.part_len() == Some(length));
    let taken = (as_asked && as_long) || twin::is(Twin::WrongRangeAccepted);
    if !taken {
        return HeadJudgement::Refused(Refusal::WrongRange);
    }
    judge_media(head, Served::Part(part), wanted)
}

fn judge_media(head: &Parts, served: Served, wanted: Wanted) -> HeadJudgement {
    let content_length = content_length(&head.headers);
    if content_length == Some(0) {
        return HeadJudgement::Refused(Refusal::Empty);
    }
    // We ask for the identity encoding: compressed bytes would reach the client as they are.
    let encoding = text(&head.headers, CONTENT_ENCODING).unwrap_or("identity");
    if !encoding.eq_ignore_ascii_case("identity") {
        return HeadJudgement::Refused(Refusal::WrongMediaType);
    }
    let content_type = match head.headers.get(CONTENT_TYPE) {
        None => None,
        Some(value) => match value.to_str() {
            Ok(value) => Some(value),
            Err(_) => return HeadJudgement::ErrorBody,
        },
    };
    match media::claim(content_type, wanted) {
        Claim::Media => HeadJudgement::Media(MediaHead {
            content_type: content_type.map(str::to_owned),
            served,
            content_length,
        }),
        Claim::Unsaid => HeadJudgement::Media(MediaHead {
            content_type: None,
            served,
            content_length,
        }),
        Claim::Other if twin::is(Twin::MediaTypeIgnored) => HeadJudgement::Media(MediaHead {
            content_type: None,
            served,
            content_length,
        }),
        Claim::Other => HeadJudgement::ErrorBody,
    }
}

/// Judges the body as far as it was read; `ended` when no more bytes follow. Bytes of a format we do not know
/// are accepted, as long as they do not look like a document.
pub fn judge_first_chunk(head: &MediaHead, bytes: &[u8], ended: bool) -> FirstChunk {
    if bytes.is_empty() {
        return match ended {
            true if twin::is(Twin::EmptyAccepted) => FirstChunk::Accepted,
            true => FirstChunk::Refused(Refusal::Empty),
            false => FirstChunk::NeedMore,
        };
    }
    let look = match first_offset(head.served) {
        0 => sniff::at_start(bytes),
        _ => sniff::in_the_middle(bytes),
    };
    match look {
        Look::Bytes => FirstChunk::Accepted,
        Look::Document if twin::is(Twin::DocumentAccepted) => FirstChunk::Accepted,
        Look::Document => FirstChunk::ErrorBody,
        Look::Unclear if twin::is(Twin::BytesBeforeValidation) => FirstChunk::Accepted,
        Look::Unclear if !ended => FirstChunk::NeedMore,
        // A part of a few bytes may hold anything; a whole track of a few bytes is none.
        Look::Unclear => match head.served {
            Served::Part(_) => FirstChunk::Accepted,
            Served::Whole => FirstChunk::Refused(Refusal::ErrorDocument(None)),
        },
    }
}

fn first_offset(served: Served) -> u64 {
    match served {
        Served::Part(ContentRange::Part { first, .. }) => first,
        Served::Part(ContentRange::Unsatisfied { .. }) | Served::Whole => 0,
    }
}

/// Says what a document means that came instead of media. `body` may be cut at [`ERROR_BODY_LIMIT`].
pub fn judge_error_body(body: &[u8]) -> Refusal {
    if body.is_empty() {
        return Refusal::Empty;
    }
    match envelope::find_error(body) {
        Some(error) => error.code.refusal(&error.message),
        None if sniff::at_start(body) == Look::Bytes => Refusal::WrongMediaType,
        None => Refusal::ErrorDocument(None),
    }
}

/// Reads `Retry-After`, in seconds or as a date; a date that has passed means "now".
pub fn retry_after(headers: &HeaderMap, now: Wall) -> Option<Duration> {
    let value = text(headers, http::header::RETRY_AFTER)?.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let at = date.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    Some(at.saturating_sub(now))
}

fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    ContentRange::parse(text(headers, CONTENT_RANGE)?)
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, CONTENT_LENGTH)?.trim().parse().ok()
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}
