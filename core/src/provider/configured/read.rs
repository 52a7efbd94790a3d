//! What a reply means in each dialect.

use super::{Access, Dialect, Pointers, StatusMeaning};
use crate::lyrics::{Body, Lyrics, Matched};
use crate::provider::words::{is_page, sniff};
use crate::provider::{Candidate, MissReason, Outcome, Reply, Trouble, judge};
use http::StatusCode;
use serde_json::Value;

/// The most candidates that are taken from one reply.
const CANDIDATE_LIMIT: usize = 50;

impl Access {
    /// What `reply` says about a song of this length.
    pub(super) fn outcome(&self, reply: &Reply, duration_ms: Option<u64>) -> Outcome {
        match self.statuses.get(&reply.parts.status.as_u16()) {
            Some(meaning) => return meaning.outcome(reply),
            None if self.is_not_here(reply) => return Outcome::Miss(MissReason::NotFound),
            None => {
                if let Err(trouble) = judge::status(reply) {
                    return Outcome::Failed(trouble);
                }
            }
        }
        if is_page(&reply.body) {
            return Outcome::Failed(Trouble::WrongService);
        }
        let _ = duration_ms;
        match &self.dialect {
            Dialect::Lrclib => json(&Pointers::lrclib(), reply),
            Dialect::Json(pointers) => json(pointers, reply),
            Dialect::Lrcmux if is_json(reply) => json(&Pointers::lrclib(), reply),
            Dialect::Lrcmux | Dialect::Text => text(reply),
        }
    }

    /// A service that has nothing says 404, in the form of its other answers. Something else at its place sends a web page.
    fn is_not_here(&self, reply: &Reply) -> bool {
        let fits = match self.dialect {
            Dialect::Lrclib | Dialect::Json(_) => judge::read_json(&reply.body).is_some(),
            Dialect::Lrcmux | Dialect::Text => !is_page(&reply.body),
        };
        reply.parts.status == StatusCode::NOT_FOUND && fits
    }
}

impl StatusMeaning {
    fn outcome(self, reply: &Reply) -> Outcome {
        Outcome::Failed(match self {
            StatusMeaning::NotFound => return Outcome::Miss(MissReason::NotFound),
            StatusMeaning::RateLimited => Trouble::RateLimited {
                retry_after: judge::retry_after(reply),
            },
            StatusMeaning::Auth => Trouble::Refused,
            StatusMeaning::Transient => Trouble::Server(reply.parts.status.as_u16()),
        })
    }
}

fn is_json(reply: &Reply) -> bool {
    let kind = reply.parts.headers.get(http::header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    kind.to_ascii_lowercase().contains("json")
}

fn json(pointers: &Pointers, reply: &Reply) -> Outcome {
    let Some(document) = judge::read_json(&reply.body) else {
        return Outcome::Failed(Trouble::Malformed);
    };
    // A bare text or number is no record, and neither is null.
    if !document.is_object() && !document.is_array() {
        return Outcome::Failed(Trouble::Malformed);
    }
    let records = pointers.candidates(&document);
    let found: Vec<Candidate> = records
        .iter()
        .take(CANDIDATE_LIMIT)
        .filter_map(|record| candidate(pointers, record))
        .collect();
    match (records.is_empty(), found.is_empty()) {
        (_, false) => Outcome::Found(found),
        (true, true) => Outcome::Miss(MissReason::NotFound),
        (false, true) => Outcome::Miss(MissReason::NoLyrics),
    }
}

fn candidate(pointers: &Pointers, record: &Value) -> Option<Candidate> {
    let words = |name| pointers.text(record, name).and_then(|text| sniff(&text));
    let lyrics = match words("synced").or_else(|| words("plain")) {
        Some(lyrics) => lyrics,
        None if pointers.is_instrumental(record) => Lyrics::of(Body::Instrumental),
        None => return None,
    };
    let text = |name| pointers.text(record, name);
    Some(Candidate {
        lyrics,
        matched: Matched {
            title: text("title"),
            artist: text("artist"),
            album: text("album"),
            duration_ms: pointers.duration_ms(record),
            isrc: text("isrc").map(|isrc| isrc.replace('-', "").to_ascii_uppercase()),
            recording_mbid: None,
            provider_id: text("id"),
        },
    })
}

fn text(reply: &Reply) -> Outcome {
    let Ok(text) = std::str::from_utf8(&reply.body) else {
        return Outcome::Failed(Trouble::Malformed);
    };
    if text.trim().is_empty() {
        return Outcome::Miss(MissReason::NoLyrics);
    }
    if judge::read_json(&reply.body).is_some_and(|value| value.is_object() || value.is_array()) {
        return Outcome::Failed(Trouble::Malformed);
    }
    match sniff(text) {
        Some(lyrics) => Outcome::Found(vec![Candidate {
            lyrics,
            matched: Matched::default(),
        }]),
        None => Outcome::Miss(MissReason::NoLyrics),
    }
}
