//! A program of the operator's own: the song as JSON on its standard input, one outcome as JSON on its standard output.
//!
//! ```json
//! {"version":1,"title":"Lantern Hill","artist":"The Paper Boats","artists":["The Paper Boats"],"album":null,
//!  "duration_ms":201000,"isrcs":[],"recording_mbid":null}
//! ```
//!
//! Answered with one of
//!
//! ```json
//! {"outcome":"found","candidates":[{"kind":"lrc","text":"[00:01.00]La","title":"Lantern Hill","artist":"The Paper Boats"}]}
//! {"outcome":"miss","reason":"not_found"}
//! {"outcome":"failed","trouble":"rate_limited","retry_after_seconds":60}
//! ```
//!
//! How the program is run is the runtime's part: it answers `POST command://NAME/` with what the program wrote, if that ended
//! with exit code 0.

use super::words::words;
use super::{Candidate, Lookup, MissReason, Next, Outcome, Reply, Trouble, judge};
use crate::io::NetError;
use crate::lyrics::{Body, Lyrics, Matched, Song, TextKind};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The scheme of requests to programs.
pub const SCHEME: &str = "command";

/// The most candidates that are taken from one run.
const CANDIDATE_LIMIT: usize = 50;

/// The lane, ready to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    uri: http::Uri,
}

/// The name cannot stand in a URI: small letters, digits and dashes can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" cannot be the name of a command")]
pub struct BadName(String);

impl Command {
    /// The program that is registered with the runtime as `name`.
    ///
    /// # Errors
    /// When `name` holds anything but small letters, digits and dashes.
    pub fn new(name: &str) -> Result<Self, BadName> {
        let bad = || BadName(name.to_owned());
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(bad());
        }
        let uri = format!("{SCHEME}://{name}/").parse().map_err(|_| bad())?;
        Ok(Command { uri })
    }

    /// Looks `song` up.
    #[must_use]
    pub fn lookup(&self, song: &Song) -> Box<dyn Lookup> {
        let blank = song.title.trim().is_empty() || song.artist.trim().is_empty();
        let state = match (blank, serde_json::to_vec(&Query::about(song))) {
            (false, Ok(body)) => State::Asking(self.request(body.into())),
            (true, _) | (false, Err(_)) => State::Over(Outcome::Miss(MissReason::NotAskable)),
        };
        Box::new(Question {
            duration_ms: song.duration_ms,
            state,
        })
    }

    fn request(&self, body: Bytes) -> Box<http::Request<Bytes>> {
        let mut request = http::Request::new(body);
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.uri.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        Box::new(request)
    }
}

/// What a program is told. Fields are added, never changed, while the version stays.
#[derive(Serialize)]
struct Query<'a> {
    version: u32,
    title: &'a str,
    artist: &'a str,
    artists: &'a [String],
    album: Option<&'a str>,
    duration_ms: Option<u64>,
    isrcs: &'a [String],
    recording_mbid: Option<&'a str>,
}

impl<'a> Query<'a> {
    fn about(song: &'a Song) -> Self {
        Query {
            version: 1,
            title: &song.title,
            artist: &song.artist,
            artists: match song.artists.as_slice() {
                [] => std::slice::from_ref(&song.artist),
                artists => artists,
            },
            album: song.album.as_deref(),
            duration_ms: song.duration_ms,
            isrcs: &song.isrcs,
            recording_mbid: song.recording_mbid.as_deref(),
        }
    }
}

struct Question {
    duration_ms: Option<u64>,
    state: State,
}

enum State {
    Asking(Box<http::Request<Bytes>>),
    Asked,
    Over(Outcome),
}

impl Lookup for Question {
    fn next(&mut self) -> Next {
        match std::mem::replace(&mut self.state, State::Asked) {
            State::Asking(request) => Next::Send(request),
            State::Over(outcome) => {
                self.state = State::Over(outcome.clone());
                Next::Done(outcome)
            }
            // Asked twice for one reply: nothing is known.
            State::Asked => Next::Done(Outcome::Failed(Trouble::Panicked)),
        }
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        if matches!(self.state, State::Asked) {
            self.state = State::Over(match reply {
                Ok(reply) => outcome(&reply, self.duration_ms),
                Err(error) => Outcome::Failed(Trouble::Net(error)),
            });
        }
    }
}

/// What a program says.
#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Said {
    Found {
        candidates: Vec<SaidCandidate>,
    },
    Miss {
        #[serde(default)]
        reason: SaidMiss,
    },
    Failed {
        #[serde(default)]
        trouble: SaidTrouble,
        retry_after_seconds: Option<u64>,
    },
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidMiss {
    #[default]
    NotFound,
    NoLyrics,
    Restricted,
    NotAskable,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidTrouble {
    #[default]
    Unavailable,
    RateLimited,
    Captcha,
    GeoBlocked,
    Refused,
    RenewalRequired,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SaidKind {
    Lrc,
    Enhanced,
    Ttml,
    Lyricsfile,
    Srt,
    Plain,
    #[default]
    Sniff,
    Instrumental,
}

#[derive(Deserialize)]
struct SaidCandidate {
    #[serde(default)]
    kind: SaidKind,
    #[serde(default)]
    text: String,
    lang: Option<String>,
    title: Option<String>,
    artist: Option<String>,
    album: Option<String>,
    duration_ms: Option<u64>,
    isrc: Option<String>,
    recording_mbid: Option<String>,
    id: Option<String>,
}

fn outcome(reply: &Reply, duration_ms: Option<u64>) -> Outcome {
    if let Err(trouble) = judge::status(reply) {
        return Outcome::Failed(trouble);
    }
    let Ok(said) = serde_json::from_slice::<Said>(&reply.body) else {
        return Outcome::Failed(Trouble::Malformed);
    };
    match said {
        Said::Found { candidates } => found(candidates, duration_ms),
        Said::Miss { reason } => Outcome::Miss(match reason {
            SaidMiss::NotFound => MissReason::NotFound,
            SaidMiss::NoLyrics => MissReason::NoLyrics,
            SaidMiss::Restricted => MissReason::Restricted,
            SaidMiss::NotAskable => MissReason::NotAskable,
        }),
        Said::Failed {
            trouble,
            retry_after_seconds,
        } => Outcome::Failed(match trouble {
            SaidTrouble::Unavailable => Trouble::Server(503),
            SaidTrouble::RateLimited => Trouble::RateLimited {
                retry_after: retry_after_seconds.map(Duration::from_secs),
            },
            SaidTrouble::Captcha => Trouble::Captcha,
            SaidTrouble::GeoBlocked => Trouble::GeoBlocked,
            SaidTrouble::Refused => Trouble::Refused,
            SaidTrouble::RenewalRequired => Trouble::RenewalRequired,
        }),
    }
}

/// A program that finds nothing but texts that cannot be read has broken its word.
fn found(said: Vec<SaidCandidate>, duration_ms: Option<u64>) -> Outcome {
    let candidates: Vec<Candidate> = said
        .into_iter()
        .take(CANDIDATE_LIMIT)
        .filter_map(|said| candidate(said, duration_ms))
        .collect();
    match candidates.is_empty() {
        true => Outcome::Failed(Trouble::Malformed),
        false => Outcome::Found(candidates),
    }
}

fn candidate(said: SaidCandidate, duration_ms: Option<u64>) -> Option<Candidate> {
    let read = |kind| words(kind, &said.text, duration_ms);
    let mut lyrics = match said.kind {
        SaidKind::Instrumental => Lyrics::of(Body::Instrumental),
        SaidKind::Lrc => read(TextKind::Lrc)?,
        SaidKind::Enhanced => read(TextKind::Enhanced)?,
        SaidKind::Ttml => read(TextKind::Ttml)?,
        SaidKind::Lyricsfile => read(TextKind::Lyricsfile)?,
        SaidKind::Srt => read(TextKind::Srt)?,
        SaidKind::Plain => read(TextKind::Plain)?,
        SaidKind::Sniff => read(TextKind::Sniff)?,
    };
    lyrics.lang = said.lang.or(lyrics.lang);
    let isrc = said
        .isrc
        .map(|isrc| isrc.replace('-', "").to_ascii_uppercase());
    Some(Candidate {
        lyrics,
        matched: Matched {
            title: said.title,
            artist: said.artist,
            album: said.album,
            duration_ms: said.duration_ms,
            isrc,
            recording_mbid: said.recording_mbid,
            provider_id: said.id,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_host_is_refused() {
        for name in ["", "a b", "a/b", "../x", "Ä", "a:1", "A"] {
            assert_eq!(Command::new(name), Err(BadName(name.to_owned())), "{name}");
        }
        assert!(Command::new("my-lyrics-2").is_ok());
    }
}
