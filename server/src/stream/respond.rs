//! The response heads of the byte paths. The hub writes its own: nothing of an upstream's head is passed
//! on but what it says about the bytes.

use super::candidates::{Candidate, Subject};
use super::{media_headers, refused_range, retry_after};
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::{HeaderValue, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use segue_core::driver::exchange::{Answer, Opening};
use segue_core::failover::ranges;
use segue_core::source::opening::{MediaHead, Served};
use std::convert::Infallible;
use std::time::Duration;

/// The head of a committed opening.
pub(super) enum Head {
    /// To be sent with the body behind it.
    Body(Response, MediaHead),
    /// 416: no body follows.
    Refused(Response),
}

/// 502 with a generic body, and when to come back if that is known (rule 6).
pub(super) fn unavailable(text: &'static str, wait: Option<Duration>) -> Response {
    let mut response = (StatusCode::BAD_GATEWAY, text).into_response();
    if let Some(wait) = wait {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, retry_after(wait));
    }
    response
}

/// What HEAD says, from the catalogue alone.
pub(super) fn head(candidate: &Candidate, download: bool, subject: &Subject) -> Response {
    let mut response = Response::new(Body::empty());
    describe(&mut response, candidate, None, download, subject);
    match candidate.track.size.filter(|_| candidate.resolved.raw) {
        Some(size) => {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(size));
        }
        // An empty body would be announced as one of length zero.
        None => {
            let unknown = stream::empty::<Result<Bytes, Infallible>>();
            *response.body_mut() = Body::from_stream(unknown);
        }
    }
    response
}

/// The head for what a source answered.
pub(super) fn head_for<B>(
    candidate: &Candidate,
    opening: &Opening<B>,
    download: bool,
    subject: &Subject,
) -> Head {
    if let Some(complete) = refused_range(opening) {
        return Head::Refused(not_satisfiable(complete.or(candidate.track.size)));
    }
    let Answer::Media(media) = &opening.answer else {
        return Head::Refused(not_satisfiable(candidate.track.size));
    };
    let mut media = media.clone();
    if let (Some(range), Served::Whole, Some(length)) =
        (candidate.range, media.served, media.content_length)
        && range.within(length).is_none()
    {
        // Some servers send the whole where they should say 416.
        return Head::Refused(not_satisfiable(Some(length)));
    }
    let mut response = Response::new(Body::empty());
    describe(
        &mut response,
        candidate,
        media.content_type.as_deref(),
        download,
        subject,
    );
    if let Served::Part(part) = media.served {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        if let Ok(value) = HeaderValue::from_str(&part.to_string()) {
            response.headers_mut().insert(header::CONTENT_RANGE, value);
        }
        media.content_length = media.content_length.or(part.part_len());
    }
    if let Some(length) = media.content_length {
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Head::Body(response, media)
}

fn not_satisfiable(complete: Option<u64>) -> Response {
    let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
    if let Some(complete) = complete
        && let Ok(value) = HeaderValue::from_str(&format!("bytes */{complete}"))
    {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

fn describe(
    response: &mut Response,
    candidate: &Candidate,
    content_type: Option<&str>,
    download: bool,
    subject: &Subject,
) {
    let resolved = &candidate.resolved;
    let generic = content_type.is_none_or(|t| t.starts_with("application/octet-stream"));
    let content_type = match content_type {
        Some(content_type) if !generic => content_type,
        Some(_) | None => &resolved.content_type,
    };
    media_headers(response, content_type);
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    if resolved.raw {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        if let Ok(etag) = HeaderValue::from_str(&ranges::etag(&candidate.track)) {
            headers.insert(header::ETAG, etag);
        }
    } else {
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("none"));
    }
    if download
        && let Ok(value) = HeaderValue::from_str(&disposition(subject, &candidate.track.suffix))
    {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
}

/// RFC 8187 attribute characters.
const ATTRIBUTE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_');

/// `attachment` with the title as a file name; what a tag says never reaches the header unencoded (RFC 6266).
fn disposition(subject: &Subject, suffix: &str) -> String {
    let name = format!("{} - {}.{suffix}", subject.artist, subject.title);
    format!(
        "attachment; filename*=UTF-8''{}",
        utf8_percent_encode(&name, ATTRIBUTE)
    )
}
