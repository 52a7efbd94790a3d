//! What a reply means before anybody looks into it: the rules that all providers share.
//!
//! A status decides first, then whether the body is what the protocol says. Nothing here reads a sentence that was
//! written for people.

use super::{Reply, Trouble};
use crate::source::opening;
use crate::source::redirect;
use bytes::Bytes;
use http::header::LOCATION;
use http::{Method, Request, StatusCode, response};
use serde_json::Value;
use std::time::Duration;

/// The longest wait that a provider may ask for (contracts B7).
pub const LONGEST_WAIT: Duration = Duration::from_secs(6 * 3600);

/// Passes 2xx; everything else is trouble.
///
/// # Errors
/// A 404 is [`Trouble::WrongService`]: a codec that knows a kind of 404 which means "not here" looks at that first.
pub fn status(reply: &Reply) -> Result<(), Trouble> {
    let status = reply.parts.status.as_u16();
    Err(match status {
        200..=299 => return Ok(()),
        300..=399 => Trouble::RedirectRefused,
        401 | 402 | 403 | 407 => Trouble::Refused,
        404 | 405 | 410 => Trouble::WrongService,
        429 => Trouble::RateLimited {
            retry_after: retry_after(reply),
        },
        451 => Trouble::GeoBlocked,
        503 => match retry_after(reply) {
            None => Trouble::Server(status),
            wait => Trouble::RateLimited { retry_after: wait },
        },
        408 | 425 | 500.. => Trouble::Server(status),
        0..=199 | 400..=499 => Trouble::Malformed,
    })
}

/// How long it asks us to stay away: `Retry-After` in seconds or as a date, at most [`LONGEST_WAIT`]. `None` when it
/// does not say so, or says nonsense.
#[must_use]
pub fn retry_after(reply: &Reply) -> Option<Duration> {
    opening::retry_after(&reply.parts.headers, reply.at).map(|wait| wait.min(LONGEST_WAIT))
}

/// The JSON of a good reply.
///
/// # Errors
/// As [`status`], and [`Trouble::Malformed`] for a body that is empty, cut short or no JSON, whatever its
/// `Content-Type` claims.
pub fn json(reply: &Reply) -> Result<Value, Trouble> {
    status(reply)?;
    read_json(&reply.body).ok_or(Trouble::Malformed)
}

/// A body as JSON, with or without a byte order mark.
#[must_use]
pub fn read_json(body: &[u8]) -> Option<Value> {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    serde_json::from_slice(body).ok()
}

/// Where a driver asks next. `None` when the reply is no redirect. `hops` redirects were followed before it. The
/// method stays for 307 and 308 and for what changes nothing; else it becomes GET, without a body (RFC 9110 15.4).
///
/// # Errors
/// [`Trouble::RedirectRefused`] when it leads to another scheme, host or port, or is one too many.
pub fn redirected(
    request: &Request<Bytes>,
    parts: &response::Parts,
    hops: usize,
) -> Result<Option<Request<Bytes>>, Trouble> {
    if !redirect::is_redirect(parts.status) {
        return Ok(None);
    }
    let location = parts
        .headers
        .get(LOCATION)
        .and_then(|value| value.to_str().ok());
    let to = redirect::follow(request.uri(), location.unwrap_or_default(), hops);
    let to = to.map_err(|_| Trouble::RedirectRefused)?;
    let keeps = matches!(
        parts.status,
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    ) || matches!(*request.method(), Method::GET | Method::HEAD);
    let mut next = request.clone();
    *next.uri_mut() = to;
    if !keeps {
        *next.method_mut() = Method::GET;
        *next.body_mut() = Bytes::new();
        next.headers_mut().remove(http::header::CONTENT_TYPE);
    }
    Ok(Some(next))
}
