//! What Musixmatch's envelopes mean. Read leniently: flags are numbers, texts or booleans, and an empty body may be
//! `[]` or `""` as well as missing.

use super::decoy;
use super::timed;
use crate::dispatch::Failure;
use crate::io::NetError;
use crate::lyrics::{Body, Lyrics, Matched, Song, TextKind};
use crate::provider::words::words;
use crate::provider::{Candidate, MissReason, Outcome, Reply, Trouble, judge};
use http::StatusCode;
use serde_json::Value;
use std::time::Duration;

/// What came of the macro call.
pub(super) enum Answer {
    /// Timed lines, and the id to ask for word times with, if there are any.
    Lines {
        candidate: Box<Candidate>,
        words: Option<String>,
    },
    Over(Outcome),
}

/// What came of the call for word times.
pub(super) enum Richsync {
    Lines(Body),
    /// There are none, or they could not be had.
    Nothing,
    /// The lane is to be left alone, and its breaker has to hear of it.
    StayAway(Trouble),
}

/// Reads the reply to `macro.subtitles.get`.
pub(super) fn of_macro(reply: Result<Reply, NetError>, song: &Song) -> Answer {
    macro_answer(reply, song).unwrap_or_else(Answer::Over)
}

fn macro_answer(reply: Result<Reply, NetError>, song: &Song) -> Result<Answer, Outcome> {
    let document = envelope(reply)?;
    let calls = document
        .pointer("/message/body/macro_calls")
        .filter(|calls| calls.is_object())
        .ok_or(Outcome::Failed(Trouble::Malformed))?;
    let matcher = call(calls, "matcher.track.get");
    let track = matcher?
        .and_then(|body| body.get("track"))
        .filter(|track| track.is_object())
        .ok_or(Outcome::Failed(Trouble::Malformed))?;
    let matched = matched(track);
    let subtitles = subtitles(calls, track)?;
    if let Some((lines, lang)) = subtitles {
        if decoy::is_decoy(&lines, &matched, song) {
            return Err(Outcome::Failed(Trouble::Refused));
        }
        let candidate = Box::new(Candidate {
            lyrics: Lyrics {
                lang,
                ..Lyrics::of(Body::Synced(lines))
            },
            matched,
        });
        let words = flag(track, "has_richsync").then(|| id(track, "commontrack_id"));
        return Ok(Answer::Lines {
            candidate,
            words: words.flatten(),
        });
    }
    match plain(calls, track)? {
        Some(lyrics) => Err(Outcome::Found(vec![Candidate { lyrics, matched }])),
        None if flag(track, "instrumental") => Err(Outcome::Found(vec![Candidate {
            lyrics: Lyrics::of(Body::Instrumental),
            matched,
        }])),
        None => Err(Outcome::Miss(MissReason::NoLyrics)),
    }
}

/// Reads the reply to `track.richsync.get`.
pub(super) fn of_richsync(reply: Result<Reply, NetError>) -> Richsync {
    let status = reply.as_ref().ok().map(|reply| reply.parts.status);
    let document = match envelope(reply) {
        Ok(document) => document,
        Err(Outcome::Failed(trouble)) => {
            return match trouble.failure() {
                // Within a good reply it is said of the word times alone.
                Failure::Auth { renewal: false } if status == Some(StatusCode::OK) => {
                    Richsync::Nothing
                }
                Failure::Auth { .. } | Failure::Throttled { .. } => Richsync::StayAway(trouble),
                Failure::Transport => Richsync::Nothing,
            };
        }
        Err(Outcome::Miss(_) | Outcome::Found(_)) => return Richsync::Nothing,
    };
    let body = document.pointer("/message/body/richsync/richsync_body");
    match body.and_then(Value::as_str).and_then(timed::richsync) {
        Some(lines) => Richsync::Lines(lines),
        None => Richsync::Nothing,
    }
}

/// The document of a reply whose own header says that all is well.
fn envelope(reply: Result<Reply, NetError>) -> Result<Value, Outcome> {
    let reply = reply.map_err(|error| Outcome::Failed(Trouble::Net(error)))?;
    let document = judge::read_json(&reply.body);
    // An envelope is believed before the status that it came with, for its hint says more.
    let hinted = document
        .as_ref()
        .and_then(|document| document.pointer("/message/header"))
        .filter(|header| status(header).is_some());
    if let Some(header) = hinted {
        judged(header, judge::retry_after(&reply))?;
    }
    judge::status(&reply).map_err(Outcome::Failed)?;
    document.ok_or(Outcome::Failed(Trouble::Malformed))
}

/// One call of the macro: its body, or `None` when the service has nothing under it.
fn call<'a>(calls: &'a Value, name: &str) -> Result<Option<&'a Value>, Outcome> {
    let message = calls.get(name).and_then(|call| call.get("message"));
    let Some(message) = message else {
        return Ok(None);
    };
    if let Some(header) = message
        .get("header")
        .filter(|header| status(header).is_some())
    {
        judged(header, None)?;
    }
    Ok(message.get("body").filter(|body| body.is_object()))
}

/// The same, where "not found" and "not allowed" are about this part of the answer only.
fn part<'a>(calls: &'a Value, name: &str) -> Result<Option<&'a Value>, Outcome> {
    match call(calls, name) {
        Err(Outcome::Miss(_)) => Ok(None),
        other => other,
    }
}

/// What a header's status and hint mean.
fn judged(header: &Value, retry_after: Option<Duration>) -> Result<(), Outcome> {
    let hint = header.get("hint").and_then(Value::as_str).unwrap_or("");
    let says = |word: &str| hint.to_ascii_lowercase().contains(word);
    let trouble = match status(header) {
        Some(200) => return Ok(()),
        Some(404) => return Err(Outcome::Miss(MissReason::NotFound)),
        Some(401..=403) if says("captcha") => Trouble::Captcha,
        Some(401..=403) if says("renew") => Trouble::RenewalRequired,
        Some(401..=403) => Trouble::Refused,
        Some(429) => Trouble::RateLimited { retry_after },
        Some(451) => Trouble::GeoBlocked,
        Some(code @ 500..=599) => Trouble::Server(code),
        Some(_) | None => Trouble::Malformed,
    };
    Err(Outcome::Failed(trouble))
}

type Timed = (Vec<crate::lyrics::Line>, Option<String>);

/// The timed lines. That there are some and none is sent means that the service wants to be asked less often.
fn subtitles(calls: &Value, track: &Value) -> Result<Option<Timed>, Outcome> {
    let throttled = Outcome::Failed(Trouble::RateLimited { retry_after: None });
    let has = flag(track, "has_subtitles");
    let body = part(calls, "track.subtitles.get")?;
    let subtitle = body
        .and_then(|body| body.pointer("/subtitle_list/0/subtitle"))
        .filter(|subtitle| subtitle.is_object());
    if subtitle.is_some_and(|subtitle| flag(subtitle, "restricted")) {
        return Ok(None);
    }
    let text = subtitle.and_then(|subtitle| subtitle.get("subtitle_body"));
    let text = text.and_then(Value::as_str).unwrap_or("").trim();
    if text.is_empty() {
        let restricted = flag(track, "restricted") || lyrics_restricted(calls)?;
        return if has && !restricted {
            Err(throttled)
        } else {
            Ok(None)
        };
    }
    let lines = timed::subtitles(text).ok_or(Outcome::Failed(Trouble::Malformed))?;
    if lines.iter().all(|line| line.text.is_empty()) {
        return if has { Err(throttled) } else { Ok(None) };
    }
    let lang = subtitle.and_then(|subtitle| language(subtitle, "subtitle_language"));
    Ok(Some((lines, lang)))
}

fn lyrics_restricted(calls: &Value) -> Result<bool, Outcome> {
    let body = part(calls, "track.lyrics.get")?;
    let lyrics = body.and_then(|body| body.get("lyrics"));
    Ok(lyrics.is_some_and(|lyrics| flag(lyrics, "restricted")))
}

/// The free tier ends its extract with a notice. What is above it is a part of the words, which is not the words.
const EXTRACT: &str = "this lyrics is not for commercial use";

/// The words without times.
fn plain(calls: &Value, track: &Value) -> Result<Option<Lyrics>, Outcome> {
    let body = part(calls, "track.lyrics.get")?;
    let lyrics = body
        .and_then(|body| body.get("lyrics"))
        .filter(|lyrics| lyrics.is_object());
    if flag(track, "restricted") || lyrics.is_some_and(|lyrics| flag(lyrics, "restricted")) {
        return Err(Outcome::Miss(MissReason::Restricted));
    }
    let Some(lyrics) = lyrics else {
        return Ok(None);
    };
    let text = lyrics
        .get("lyrics_body")
        .and_then(Value::as_str)
        .unwrap_or("");
    if text.to_ascii_lowercase().contains(EXTRACT) {
        return Err(Outcome::Miss(MissReason::Restricted));
    }
    if text.trim().is_empty() {
        return match flag(lyrics, "instrumental") {
            true => Ok(Some(Lyrics::of(Body::Instrumental))),
            false => Ok(None),
        };
    }
    Ok(words(TextKind::Plain, text, None).map(|plain| Lyrics {
        lang: language(lyrics, "lyrics_language"),
        ..plain
    }))
}

fn matched(track: &Value) -> Matched {
    let text = |key: &str| {
        let text = track.get(key).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let length = track.get("track_length").and_then(timed::millis);
    Matched {
        title: text("track_name"),
        artist: text("artist_name"),
        album: text("album_name"),
        duration_ms: length.filter(|length| *length > 0),
        isrc: text("track_isrc"),
        recording_mbid: text("track_mbid"),
        provider_id: id(track, "commontrack_id").or_else(|| id(track, "track_id")),
    }
}

fn status(header: &Value) -> Option<u16> {
    let code = header.get("status_code")?;
    match code {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_u64().and_then(|code| u16::try_from(code).ok()),
    }
}

fn flag(object: &Value, key: &str) -> bool {
    match object.get(key) {
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number != 0.0),
        Some(Value::String(text)) => !matches!(text.trim(), "" | "0" | "false"),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

fn id(object: &Value, key: &str) -> Option<String> {
    match object.get(key)? {
        Value::Number(number) => number
            .as_u64()
            .filter(|id| *id > 0)
            .map(|id| id.to_string()),
        Value::String(text) => {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.clone())
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn language(object: &Value, key: &str) -> Option<String> {
    let code = object.get(key)?.as_str()?;
    let plausible = (2..=12).contains(&code.len())
        && code
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plausible.then(|| code.to_owned())
}
