//! Lyrics as servers give them: `getLyricsBySongId` (extension `songLyrics`, versions 1 and 2) and the old `getLyrics`.

use super::fields::{is_true, list, object, text};
use super::parse::Envelope;
use serde_json::Value;
use std::ops::Range;

/// The most entries of one song that are looked at: languages, translations.
const ENTRY_LIMIT: usize = 32;

/// The most lines of one entry.
const LINE_LIMIT: usize = 20_000;

/// One entry of `structuredLyrics`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structured {
    /// As the server writes it; `None` for the codes that mean "unknown".
    pub lang: Option<String>,
    /// Whether it claims to be timed.
    pub synced: bool,
    /// Milliseconds; positive is sooner.
    pub offset_ms: i64,
    /// Whether these are the words as they are sung: no translation, no pronunciation.
    pub is_main: bool,
    /// The lines, as ordered by the server.
    pub lines: Vec<StructuredLine>,
}

/// One line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructuredLine {
    /// When it begins, in milliseconds.
    pub start: Option<u64>,
    /// The line.
    pub text: String,
    /// Its words, when they are timed: in order, not overlapping, on character boundaries of `text`.
    pub cues: Vec<Cue>,
}

/// One timed word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cue {
    /// When it begins, in milliseconds.
    pub start: u64,
    /// When it ends.
    pub end: Option<u64>,
    /// Its bytes in the line.
    pub bytes: Range<usize>,
}

/// What `getLyrics` found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Legacy {
    /// The artist of what was found, when it is said.
    pub artist: Option<String>,
    /// Its title, when it is said.
    pub title: Option<String>,
    /// The words; some servers leave stamps in.
    pub value: String,
}

impl Envelope {
    /// The entries of `getLyricsBySongId`. `None` when the reply holds no such list, as from servers that answer
    /// anything with a good and empty envelope.
    pub fn structured_lyrics(&self) -> Option<Vec<Structured>> {
        let root = object(self.content(), "lyricsList")?;
        let entries = list(root, "structuredLyrics").take(ENTRY_LIMIT);
        let entries = entries.filter(|entry| entry.is_object()).map(structured);
        Some(entries.collect())
    }

    /// What `getLyrics` found; `None` for an empty element, an empty text, or none at all: all three are in use.
    pub fn legacy_lyrics(&self) -> Option<Legacy> {
        let found = list(self.content(), "lyrics").next()?;
        let value = string(found)
            .or_else(|| string(found.get("value")?))
            .filter(|value| !value.trim().is_empty())?;
        Some(Legacy {
            artist: text(found, "artist"),
            title: text(found, "title"),
            value,
        })
    }
}

fn structured(entry: &Value) -> Structured {
    let mut lines: Vec<StructuredLine> = list(entry, "line").take(LINE_LIMIT).map(line).collect();
    for cue_line in list(entry, "cueLine").take(LINE_LIMIT) {
        let index = millis(cue_line, "index").and_then(|index| usize::try_from(index).ok());
        let spoken = cue_line.get("value").and_then(string);
        // A line of several voices has several cue lines; only that of its own words can be placed in it.
        let line = index
            .and_then(|index| lines.get_mut(index))
            .filter(|line| line.cues.is_empty() && spoken.as_ref() == Some(&line.text));
        if let Some(line) = line {
            line.cues = cues(cue_line, &line.text).unwrap_or_default();
        }
    }
    Structured {
        lang: text(entry, "lang").filter(|lang| !matches!(lang.as_str(), "und" | "xxx" | "zxx")),
        synced: is_true(entry, "synced"),
        offset_ms: offset(entry),
        is_main: text(entry, "kind").is_none_or(|kind| kind == "main"),
        lines,
    }
}

fn line(line: &Value) -> StructuredLine {
    let text = string(line).or_else(|| string(line.get("value")?));
    StructuredLine {
        start: millis(line, "start"),
        text: text.unwrap_or_default(),
        cues: Vec::new(),
    }
}

/// The cues of a line; `None` when any of them lies beside it.
fn cues(cue_line: &Value, text: &str) -> Option<Vec<Cue>> {
    let mut cues: Vec<Cue> = Vec::new();
    for cue in list(cue_line, "cue").take(LINE_LIMIT) {
        let position = |field| millis(cue, field).and_then(|at| usize::try_from(at).ok());
        // Both ends belong to it.
        let bytes = position("byteStart")?..position("byteEnd")?.checked_add(1)?;
        let after = cues.last().map_or(0, |last| last.bytes.end);
        if bytes.start < after || text.get(bytes.clone()).is_none_or(str::is_empty) {
            return None;
        }
        let start = millis(cue, "start")?;
        cues.push(Cue {
            start,
            end: millis(cue, "end").filter(|end| *end >= start),
            bytes,
        });
    }
    cues.is_sorted_by_key(|cue| cue.start).then_some(cues)
}

/// Text as it stands. Offsets point into it, so nothing is changed.
fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// A whole number of milliseconds, bytes or lines, zero included.
fn millis(of: &Value, field: &str) -> Option<u64> {
    let number = number(of, field)?;
    let fits = (0.0..9.0e15).contains(&number);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    fits.then_some(number as u64)
}

fn offset(of: &Value) -> i64 {
    let number = number(of, "offset").filter(|offset| offset.abs() < 9.0e15);
    #[expect(clippy::cast_possible_truncation, reason = "checked to be in range")]
    number.map_or(0, |offset| offset as i64)
}

fn number(of: &Value, field: &str) -> Option<f64> {
    match of.get(field)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|n: &f64| n.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
