//! Until the shared reading of replies lands.

use super::{MissReason, Outcome, Reply, Trouble};
use crate::lyrics::{Body, Lyrics};
use serde_json::Value;
use std::time::Duration;

pub(super) enum Judged {
    Good,
    Over(Outcome),
}

pub(super) fn json(body: &[u8]) -> Option<Value> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    serde_json::from_slice(body).ok()
}

pub(super) fn retry_after(reply: &Reply) -> Option<Duration> {
    let text = reply.parts.headers.get("retry-after")?.to_str().ok()?;
    text.trim().parse().ok().map(Duration::from_secs)
}

pub(super) fn is_html(body: &[u8]) -> bool {
    let body = body.trim_ascii_start();
    let begins = |mark: &str| {
        body.get(..mark.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
    };
    begins("<!doctype") || begins("<html")
}

pub(super) fn judge(reply: &Reply) -> Judged {
    match reply.parts.status.is_success() {
        true => Judged::Good,
        false => Judged::Over(of_status(reply)),
    }
}

pub(super) fn of_status(reply: &Reply) -> Outcome {
    let trouble = match reply.parts.status.as_u16() {
        404 | 410 if !is_html(&reply.body) => return Outcome::Miss(MissReason::NotFound),
        404 | 410 => Trouble::WrongService,
        401 | 402 | 403 | 407 => Trouble::Refused,
        429 => Trouble::RateLimited {
            retry_after: retry_after(reply),
        },
        503 if retry_after(reply).is_some() => Trouble::RateLimited {
            retry_after: retry_after(reply),
        },
        451 => Trouble::GeoBlocked,
        300..=399 => Trouble::RedirectRefused,
        code @ 500.. => Trouble::Server(code),
        _ => Trouble::Malformed,
    };
    Outcome::Failed(trouble)
}

pub(super) fn plain(text: &str) -> Body {
    Body::Plain(
        text.lines()
            .map(|line| line.trim_end().to_owned())
            .collect(),
    )
}

pub(super) fn sniff(text: &str) -> Option<Lyrics> {
    (!text.trim().is_empty()).then(|| Lyrics::of(plain(text)))
}
