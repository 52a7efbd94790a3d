//! What a reply means in each dialect.

use super::{Access, Dialect, Pointers, StatusMeaning};
use crate::dispatch::Quality;
use crate::lyrics::text::Undecodable;
use crate::lyrics::{Body, Lyrics, Matched, ParseHints, TextKind, Unreadable, read_bytes};
use crate::provider::words::{is_page, words};
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
        match &self.dialect {
            Dialect::Lrclib => json(&Pointers::lrclib(), reply, duration_ms),
            Dialect::Json(pointers) => json(pointers, reply, duration_ms),
            Dialect::Lrcmux if is_json(reply) => json(&Pointers::lrclib(), reply, duration_ms),
            Dialect::Lrcmux | Dialect::Text => text(reply, duration_ms),
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

fn json(pointers: &Pointers, reply: &Reply, duration_ms: Option<u64>) -> Outcome {
    let Some(document) = judge::read_json(&reply.body) else {
        return Outcome::Failed(match is_page(&reply.body) {
            true => Trouble::WrongService,
            false => Trouble::Malformed,
        });
    };
    // A bare text or number is no record, and neither is null.
    if !document.is_object() && !document.is_array() {
        return Outcome::Failed(Trouble::Malformed);
    }
    let records = pointers.candidates(&document);
    let found: Vec<Candidate> = records
        .iter()
        .take(CANDIDATE_LIMIT)
        .filter_map(|record| candidate(pointers, record, duration_ms))
        .collect();
    match (records.is_empty(), found.is_empty()) {
        (_, false) => Outcome::Found(found),
        (true, true) => Outcome::Miss(MissReason::NotFound),
        (false, true) => Outcome::Miss(MissReason::NoLyrics),
    }
}

fn candidate(pointers: &Pointers, record: &Value, duration_ms: Option<u64>) -> Option<Candidate> {
    // Some services keep timed lines under "plain" as well: the text decides.
    let read = |name| {
        let text = pointers.text(record, name)?;
        words(TextKind::Sniff, &text, duration_ms)
    };
    let lyrics = match read("synced").or_else(|| read("plain")) {
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

fn text(reply: &Reply, duration_ms: Option<u64>) -> Outcome {
    if reply.body.trim_ascii().is_empty() {
        return Outcome::Miss(MissReason::NoLyrics);
    }
    match read_bytes(TextKind::Sniff, &reply.body, ParseHints { duration_ms }) {
        Ok(lyrics) if lyrics.quality() == Quality::None => Outcome::Miss(MissReason::NoLyrics),
        Ok(lyrics) => Outcome::Found(vec![Candidate {
            lyrics,
            matched: Matched::default(),
        }]),
        Err(Unreadable::Empty) => Outcome::Miss(MissReason::NoLyrics),
        Err(Unreadable::Text(Undecodable::Html)) => Outcome::Failed(Trouble::WrongService),
        Err(Unreadable::Text(_) | Unreadable::Broken(_)) => Outcome::Failed(Trouble::Malformed),
    }
}
