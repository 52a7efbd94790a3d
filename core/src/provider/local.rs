//! What lies beside a track and in its tags, in music folders.
//!
//! A runtime's network answers `folder://INSTANCE/lyrics?path=...` with one JSON document:
//!
//! ```json
//! {"sidecars": [{"name": "01 Lantern Hill.lrc", "sha256": "...", "base64": "..."}],
//!  "embedded": [{"kind": "sylt", "lang": "eng", "entries": [[1000, "Boats"], [1400, " of"]]},
//!               {"kind": "text", "lang": "eng", "description": "", "text": "..."}]}
//! ```
//!
//! Sidecars come best first, bytes as they are: what they mean is decided here. A sidecar that we delivered ourselves
//! proves nothing and is passed over.

use super::{Candidate, Lookup, MissReason, Next, Outcome, Question, Reply, Trouble, judge};
use crate::dispatch::Quality;
use crate::io::NetError;
use crate::lyrics::{Body, Line, Lyrics, Matched, ParseHints, TextKind, Word, read, read_bytes};
use crate::source::folder;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// The most copies of one song that are asked for.
const COPY_LIMIT: usize = 4;

/// Suffixes of sidecars, best first, with what their text is.
pub const SUFFIXES: [(&str, TextKind); 7] = [
    ("ttml", TextKind::Ttml),
    ("yaml", TextKind::Lyricsfile),
    ("yml", TextKind::Lyricsfile),
    ("elrc", TextKind::Enhanced),
    ("lrc", TextKind::Lrc),
    ("srt", TextKind::Srt),
    ("txt", TextKind::Sniff),
];

/// What a folder answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// Files beside the track, best first.
    pub sidecars: Vec<Sidecar>,
    /// Lyrics in its tags, in the order of the tags.
    pub embedded: Vec<Embedded>,
}

/// A file beside a track.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sidecar {
    /// Its name, for people; bytes that are not text show as replacement characters.
    pub name: String,
    /// Hash of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its bytes.
    pub base64: String,
}

/// Lyrics in a tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Embedded {
    /// ID3v2 SYLT: pieces of text with their times in milliseconds.
    Sylt {
        /// ISO 639-2 code.
        lang: Option<String>,
        /// The pieces; a line break begins a new line.
        entries: Vec<(u64, String)>,
    },
    /// Anything else: plain words, or LRC in a field for words.
    Text {
        /// ISO 639-2 code.
        lang: Option<String>,
        /// What the tag says of it.
        description: Option<String>,
        /// The text.
        text: String,
    },
}

/// The lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local;

impl Local {
    /// Asks the folders of the song's copies.
    pub(super) fn lookup(self, question: &Question<'_>) -> impl Lookup + use<> {
        let song = question.song;
        let copies = song.copies.iter().filter(|copy| copy.folder);
        let copies = copies.map(|copy| (copy.instance_id.clone(), copy.remote_id.clone()));
        Asking {
            copies: copies.take(COPY_LIMIT).collect(),
            ours: question.ours.clone(),
            hints: ParseHints {
                duration_ms: song.duration_ms,
            },
            found: Vec::new(),
            trouble: None,
            reason: MissReason::NotAskable,
        }
    }
}

struct Asking {
    /// Instance and path; the first one is at work.
    copies: VecDeque<(String, String)>,
    ours: BTreeSet<String>,
    hints: ParseHints,
    found: Vec<Candidate>,
    trouble: Option<Trouble>,
    reason: MissReason,
}

impl Lookup for Asking {
    fn next(&mut self) -> Next {
        while let Some((instance, path)) = self.copies.front() {
            match folder::lyrics_request(instance, path) {
                Ok(request) => return Next::Send(Box::new(request)),
                Err(_) => {
                    self.trouble.get_or_insert(Trouble::Net(NetError::BadUrl));
                    self.copies.pop_front();
                }
            }
        }
        Next::Done(match (self.found.is_empty(), self.trouble) {
            (false, _) => Outcome::Found(self.found.clone()),
            (true, Some(trouble)) => Outcome::Failed(trouble),
            (true, None) => Outcome::Miss(self.reason),
        })
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        self.copies.pop_front();
        match understand(reply) {
            Ok(Some(beside)) => {
                self.reason = MissReason::NoLyrics;
                self.take(&beside);
            }
            // The file is gone.
            Ok(None) if self.reason == MissReason::NotAskable => self.reason = MissReason::NotFound,
            Ok(None) => {}
            Err(trouble) => {
                self.trouble.get_or_insert(trouble);
            }
        }
    }
}

impl Asking {
    fn take(&mut self, beside: &Beside) {
        let hints = self.hints;
        let sidecars = beside.sidecars.iter();
        let foreign = sidecars.filter(|sidecar| !self.ours.contains(&sidecar.sha256));
        let mut found: Vec<Candidate> =
            foreign.filter_map(|file| of_sidecar(file, hints)).collect();
        let mut embedded: Vec<Candidate> = beside
            .embedded
            .iter()
            .filter_map(|tag| of_tag(tag, hints))
            .collect();
        // A timed frame before timed text before plain text: by quality, in the order of the tags.
        embedded.sort_by_key(|candidate| std::cmp::Reverse(candidate.lyrics.quality()));
        found.append(&mut embedded);
        found.retain(|candidate| candidate.lyrics.quality() > Quality::None);
        self.found.append(&mut found);
        let best = self.found.iter().map(|found| found.lyrics.quality()).max();
        if best >= Some(Quality::Line) {
            self.copies.clear();
        }
    }
}

/// `None` when the file is not there any more.
fn understand(reply: Result<Reply, NetError>) -> Result<Option<Beside>, Trouble> {
    let reply = reply.map_err(Trouble::Net)?;
    if reply.parts.status == StatusCode::NOT_FOUND {
        return Ok(None);
    }
    let value = judge::json(&reply)?;
    serde_json::from_value(value)
        .map(Some)
        .map_err(|_| Trouble::Malformed)
}

fn named(name: &str) -> Matched {
    Matched {
        provider_id: Some(name.to_owned()),
        ..Matched::default()
    }
}

fn of_sidecar(file: &Sidecar, hints: ParseHints) -> Option<Candidate> {
    let (_, suffix) = file.name.rsplit_once('.')?;
    let suffix = suffix.to_ascii_lowercase();
    let (_, kind) = SUFFIXES.iter().find(|(known, _)| *known == suffix)?;
    let bytes = STANDARD.decode(&file.base64).ok()?;
    Some(Candidate {
        lyrics: read_bytes(*kind, &bytes, hints).ok()?,
        matched: named(&file.name),
    })
}

fn of_tag(tag: &Embedded, hints: ParseHints) -> Option<Candidate> {
    let (lang, lyrics, name) = match tag {
        Embedded::Sylt { lang, entries } => (lang, of_entries(entries)?, "SYLT"),
        Embedded::Text { lang, text, .. } => {
            (lang, read(TextKind::Sniff, text, hints).ok()?, "tag")
        }
    };
    let lang = lang.clone().filter(|lang| is_language(lang));
    Some(Candidate {
        lyrics: Lyrics {
            lang: lang.or(lyrics.lang),
            ..lyrics
        },
        matched: named(name),
    })
}

/// Whether a tag's language says anything: many taggers write a filler.
fn is_language(lang: &str) -> bool {
    let letters = lang.len() == 3 && lang.bytes().all(|byte| byte.is_ascii_alphabetic());
    letters && !["xxx", "und", "zxx", "mul", "mis"].contains(&lang.to_ascii_lowercase().as_str())
}

/// Pieces with times as lines. Where line breaks occur they part the lines and pieces are words; where none occur each
/// piece is a line.
fn of_entries(entries: &[(u64, String)]) -> Option<Lyrics> {
    let breaks = |c: char| matches!(c, '\n' | '\r');
    let inner = entries.iter().enumerate();
    let by_breaks = inner.clone().any(|(at, (_, text))| {
        (at > 0 && text.starts_with(breaks)) || (at + 1 < entries.len() && text.ends_with(breaks))
    });
    let mut lines: Vec<Line> = Vec::new();
    let mut begins = true;
    for (at, text) in entries {
        begins |= text.starts_with(breaks) || !by_breaks;
        let piece = text.trim_matches(breaks);
        if begins || lines.is_empty() {
            lines.push(Line {
                start: *at,
                ..Line::default()
            });
        }
        if let Some(line) = lines.last_mut() {
            add(line, *at, piece);
        }
        begins = text.ends_with(breaks);
    }
    lines.iter_mut().for_each(tidy);
    lines.sort_by_key(|line| line.start);
    Some(Lyrics::of(Body::Synced(lines))).filter(|lyrics| lyrics.quality() > Quality::None)
}

/// Adds a piece to a line, as a word of it.
fn add(line: &mut Line, at: u64, piece: &str) {
    let before = line.text.len();
    line.text += piece;
    let word = piece.trim();
    if !word.is_empty() {
        let start = before + piece.len() - piece.trim_start().len();
        line.words.push(Word {
            start: at,
            end: None,
            bytes: start..start + word.len(),
        });
    }
}

/// Takes the blanks around a line off, and the times of its words when they say no more than its own, or are not in
/// order.
fn tidy(line: &mut Line) {
    let leading = line.text.len() - line.text.trim_start().len();
    line.text = line.text.trim().to_owned();
    if line.words.len() < 2 || !line.words.is_sorted_by_key(|word| word.start) {
        line.words.clear();
    }
    for word in &mut line.words {
        word.bytes = word.bytes.start - leading..word.bytes.end - leading;
    }
}
