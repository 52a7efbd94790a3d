//! Until the shared reading of replies lands.

use super::{MissReason, Outcome, Reply, Trouble, judge};
use crate::lyrics::{Body, Lyrics};
use serde_json::Value;

pub(super) enum Judged {
    Good,
    Over(Outcome),
}

pub(super) fn json(body: &[u8]) -> Option<Value> {
    judge::read_json(body)
}

pub(super) use super::judge::retry_after;

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
    match reply.parts.status.as_u16() {
        404 | 410 if !is_html(&reply.body) => Outcome::Miss(MissReason::NotFound),
        _ => Outcome::Failed(judge::status(reply).err().unwrap_or(Trouble::Malformed)),
    }
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
