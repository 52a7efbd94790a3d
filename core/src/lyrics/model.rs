//! A song that is looked up, and lyrics as every format is read into and written from.

use crate::dispatch::Quality;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What is known about a song when lyrics are looked up for it. Times in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Song {
    /// Title as the library shows it, NFC.
    pub title: String,
    /// The artist as the library shows it: one text, whole, never split.
    pub artist: String,
    /// The artists one by one, when the source says so; else the one above.
    pub artists: Vec<String>,
    /// Album title.
    pub album: Option<String>,
    /// Length of the recording.
    pub duration_ms: Option<u64>,
    /// ISRCs, upper case, without hyphens.
    pub isrcs: Vec<String>,
    /// MusicBrainz id of the recording.
    pub recording_mbid: Option<String>,
    /// Where copies of it lie, best first: for the lanes that ask the sources themselves.
    pub copies: Vec<Copy>,
}

/// One copy of a song in one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copy {
    /// The source.
    pub instance_id: String,
    /// The track's id there; in a folder, its path below the root.
    pub remote_id: String,
    /// Whether the source is a music folder.
    pub folder: bool,
}

/// Lyrics, whatever they were read from. Times in milliseconds from the start of the track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lyrics {
    /// BCP 47 or ISO 639 code as found; `None` when nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// Shift that the text asks for: positive means shown sooner, as LRC and OpenSubsonic have it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_ms: i64,
    /// The words.
    pub body: Body,
}

/// The words, as far as they are timed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// There is nothing to sing.
    Instrumental,
    /// Lines without times, stanzas parted by empty ones.
    Plain(Vec<String>),
    /// Lines with times, in order of time; equal times in the order of the text.
    Synced(Vec<Line>),
}

/// One timed line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// When it begins.
    pub start: u64,
    /// When it ends, where the text says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// The line without any stamps; empty for a break.
    pub text: String,
    /// Its words, when they are timed: in order, not overlapping, on character boundaries of `text`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Word>,
    /// Who sings it, as the text names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// One timed word, or syllable, of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Word {
    /// When it begins.
    pub start: u64,
    /// When it ends, where the text says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// Its bytes in the line's text.
    pub bytes: Range<usize>,
}

/// What a provider says its answer belongs to. Judged by us, in `lyrics::accept`, never by the provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matched {
    /// Title.
    pub title: Option<String>,
    /// Artist.
    pub artist: Option<String>,
    /// Album.
    pub album: Option<String>,
    /// Length of the recording in milliseconds.
    pub duration_ms: Option<u64>,
    /// ISRC.
    pub isrc: Option<String>,
    /// MusicBrainz id of the recording.
    pub recording_mbid: Option<String>,
    /// The provider's own id of the answer.
    pub provider_id: Option<String>,
}

impl Lyrics {
    /// Plain lines or timed ones, without language or offset.
    #[must_use]
    pub fn of(body: Body) -> Self {
        Lyrics {
            lang: None,
            offset_ms: 0,
            body,
        }
    }

    /// How good they are (contracts section 2): words need a time each in at least one line.
    #[must_use]
    pub fn quality(&self) -> Quality {
        match &self.body {
            Body::Instrumental => Quality::Instrumental,
            Body::Plain(lines) if lines.iter().all(|line| line.trim().is_empty()) => Quality::None,
            Body::Plain(_) => Quality::Plain,
            Body::Synced(lines) if lines.iter().all(|line| line.text.trim().is_empty()) => {
                Quality::None
            }
            Body::Synced(lines) if lines.iter().any(|line| !line.words.is_empty()) => Quality::Word,
            Body::Synced(_) => Quality::Line,
        }
    }
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}
