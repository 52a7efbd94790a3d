//! LRCLIB, and every server that speaks like it.
//!
//! `/api/get` answers with the oldest record that matches, not with the best one. So only timed words that fit end the
//! lookup there; after a miss or plain words `/api/search` is asked, by the plain title and the first artist, and all
//! that it lists is handed on to be judged by our own rules. At most three requests for one song.
//!
//! Facts behind this: a length outside of 1 to 3600 seconds is refused for ever, so it is left out; a search ignores
//! the length; a record without words is not an instrumental; a 404 says "not here" only in the service's own JSON.

mod record;

use super::{
    Candidate, Lookup, MissReason, Next, Outcome, Question, Reply, Trouble, judge, request,
};
use crate::catalog::normalise::{fold, split_version};
use crate::dispatch::{Failure, Quality};
use crate::io::NetError;
use crate::lyrics::accept::{self, Judgement, Rules};
use crate::lyrics::{ParseHints, Song};
use record::{Record, read_record};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;
use url::Url;

/// Where it is when nothing else is configured.
pub const BASE_URL: &str = "https://lrclib.net";

/// Seconds that the service takes for a length.
const LENGTHS: std::ops::RangeInclusive<u64> = 1..=3600;

/// The most records of one search that are looked at; the service lists 20.
const RECORD_LIMIT: usize = 50;

/// The most letters of a title that are looked at for its plain form.
const PLAIN_LIMIT: usize = 300;

/// The lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lrclib {
    base_url: Url,
}

/// The address cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the base_url of lrclib must begin with http:// or https://")]
pub struct BadUrl;

impl Lrclib {
    /// The service at `base_url`, a path prefix included.
    ///
    /// # Errors
    /// When that cannot be asked over HTTP.
    pub fn new(base_url: Url) -> Result<Self, BadUrl> {
        let fine = matches!(base_url.scheme(), "http" | "https") && base_url.has_host();
        fine.then_some(Lrclib { base_url }).ok_or(BadUrl)
    }

    /// Looks the song up.
    pub(super) fn lookup(&self, question: &Question<'_>) -> impl Lookup + use<> {
        let song = question.song;
        let over = (!is_askable(song)).then_some(Outcome::Miss(MissReason::NotAskable));
        Asking {
            base_url: self.base_url.clone(),
            rules: question.rules.clone(),
            searches: searches(song),
            song: song.clone(),
            step: Step::Get,
            found: Vec::new(),
            reason: MissReason::NotFound,
            over,
        }
    }
}

/// Whether anything is left of title and artist at the service, which drops punctuation: `*` is never found there.
fn is_askable(song: &Song) -> bool {
    let says = |text: &str| text.chars().any(char::is_alphanumeric);
    says(&song.title) && says(&song.artist)
}

/// What is searched for, in this order: the plain title by the first artist; then by the first of several that share
/// one field. A whole name goes first, for `AB/CD` may be one band.
fn searches(song: &Song) -> Vec<(String, String)> {
    let title = plain_title(&nfc(&song.title));
    let artist = nfc(song.artists.first().unwrap_or(&song.artist));
    let first = first_of_several(&artist);
    let mut searches = vec![(title.clone(), artist.clone())];
    if first != artist && first.chars().any(char::is_alphanumeric) {
        searches.push((title, first));
    }
    searches
}

/// The title without version and guests, in its own letters: the shortest beginning that folds to the bare title. The
/// service folds in its own way, so ours is no substitute.
fn plain_title(title: &str) -> String {
    let bare = split_version(title).0;
    let ends = title.char_indices().map(|(at, _)| at).take(PLAIN_LIMIT);
    let mut beginnings = ends.map(|end| title[..end].trim_end());
    let found = beginnings.find(|beginning| !beginning.is_empty() && fold(beginning) == bare);
    found.unwrap_or(title).to_owned()
}

/// What stands before the first sign that parts artists.
fn first_of_several(artist: &str) -> String {
    let signs = [
        "/",
        ";",
        ", ",
        " & ",
        " feat. ",
        " feat ",
        " ft. ",
        " featuring ",
    ];
    let lower = artist.to_ascii_lowercase();
    let end = signs.iter().filter_map(|sign| lower.find(sign)).min();
    artist[..end.unwrap_or(artist.len())].trim().to_owned()
}

fn nfc(text: &str) -> String {
    text.trim().nfc().collect()
}

enum Step {
    Get,
    /// The search of this number.
    Search(usize),
}

struct Asking {
    base_url: Url,
    song: Song,
    rules: Rules,
    searches: Vec<(String, String)>,
    step: Step,
    found: Vec<Candidate>,
    reason: MissReason,
    over: Option<Outcome>,
}

impl Lookup for Asking {
    fn next(&mut self) -> Next {
        if let Some(outcome) = &self.over {
            return Next::Done(outcome.clone());
        }
        let request = match self.step {
            Step::Get => self.get(),
            Step::Search(number) => match self.searches.get(number) {
                Some((title, artist)) => {
                    let params = [
                        ("track_name", title.as_str()),
                        ("artist_name", artist.as_str()),
                    ];
                    request::get(&self.base_url, "/api/search", &params)
                }
                None => return self.end(),
            },
        };
        match request {
            Ok(request) => Next::Send(Box::new(request)),
            Err(trouble) => {
                self.over = Some(Outcome::Failed(trouble));
                Next::Done(Outcome::Failed(trouble))
            }
        }
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        let learned = match self.step {
            Step::Get => understand(reply).and_then(|said| self.take_record(said)),
            Step::Search(_) => understand(reply).and_then(|said| self.take_list(said)),
        };
        match learned {
            Ok(()) if self.has_timed_words() => self.finish(),
            Ok(()) => {
                self.step = match self.step {
                    Step::Get => Step::Search(0),
                    Step::Search(number) => Step::Search(number + 1),
                };
            }
            // Plain words in hand are worth more than an outage. But who tells us to stay away must be heard.
            Err(trouble) if self.has_words() && trouble.failure() == Failure::Transport => {
                self.finish()
            }
            Err(trouble) => self.over = Some(Outcome::Failed(trouble)),
        }
    }
}

impl Asking {
    /// The first request: everything as the library has it.
    fn get(&self) -> Result<http::Request<bytes::Bytes>, Trouble> {
        let (title, artist) = (nfc(&self.song.title), nfc(&self.song.artist));
        let album = self.song.album.as_deref().map(nfc);
        let album = album.filter(|album| album.chars().any(char::is_alphanumeric));
        let seconds = self
            .song
            .duration_ms
            .map(|ms| ms.saturating_add(500) / 1000);
        let seconds = seconds.filter(|seconds| LENGTHS.contains(seconds));
        let seconds = seconds.map(|seconds| seconds.to_string());
        let mut params = vec![
            ("track_name", title.as_str()),
            ("artist_name", artist.as_str()),
        ];
        params.extend(album.as_deref().map(|album| ("album_name", album)));
        params.extend(seconds.as_deref().map(|seconds| ("duration", seconds)));
        request::get(&self.base_url, "/api/get", &params)
    }

    fn hints(&self) -> ParseHints {
        ParseHints {
            duration_ms: self.song.duration_ms,
        }
    }

    fn take_record(&mut self, said: Said) -> Result<(), Trouble> {
        let Said::Value(value) = said else {
            return Ok(());
        };
        match read_record(&value, self.hints()) {
            Record::Words(candidate) => self.found.push(*candidate),
            Record::Hollow => self.reason = MissReason::NoLyrics,
            Record::Strange => return Err(Trouble::Malformed),
        }
        Ok(())
    }

    fn take_list(&mut self, said: Said) -> Result<(), Trouble> {
        let Said::Value(value) = said else {
            return Ok(());
        };
        let records = value.as_array().ok_or(Trouble::Malformed)?;
        let mut strange = 0;
        for record in records.iter().take(RECORD_LIMIT) {
            match read_record(record, self.hints()) {
                Record::Words(candidate) if !self.found.contains(&candidate) => {
                    self.found.push(*candidate);
                }
                Record::Words(_) | Record::Hollow => {}
                Record::Strange => strange += 1,
            }
        }
        match strange > 0 && strange == records.len() {
            true => Err(Trouble::Malformed),
            false => Ok(()),
        }
    }

    /// Whether one of the candidates is accepted with at least this quality.
    fn has(&self, quality: Quality) -> bool {
        self.found.iter().any(|found| {
            let judgement = accept::judge(&self.song, &found.lyrics, &found.matched, &self.rules);
            match judgement {
                Judgement::Accepted { .. } => found.lyrics.quality() >= quality,
                Judgement::WordsOnly { .. } => quality <= Quality::Plain,
                Judgement::Refused(_) => false,
            }
        })
    }

    fn has_timed_words(&self) -> bool {
        self.has(Quality::Line)
    }

    fn has_words(&self) -> bool {
        self.has(Quality::Plain)
    }

    fn finish(&mut self) {
        self.over = Some(match self.found.is_empty() {
            true => Outcome::Miss(self.reason),
            false => Outcome::Found(self.found.clone()),
        });
    }

    fn end(&mut self) -> Next {
        self.finish();
        self.next()
    }
}

/// A reply that the service itself has written.
enum Said {
    Value(Value),
    /// It knows no such song, or takes nothing like it for a question.
    Nothing,
}

fn understand(reply: Result<Reply, NetError>) -> Result<Said, Trouble> {
    let reply = reply.map_err(Trouble::Net)?;
    let name = || {
        let value = judge::read_json(&reply.body)?;
        Some(value.get("name")?.as_str()?.to_owned())
    };
    match (reply.parts.status.as_u16(), name().as_deref()) {
        (404, Some("TrackNotFound")) | (400, Some("ValidationError")) => Ok(Said::Nothing),
        (503, _) => Err(Trouble::RateLimited {
            retry_after: judge::retry_after(&reply),
        }),
        _ => judge::json(&reply).map(Said::Value),
    }
}
