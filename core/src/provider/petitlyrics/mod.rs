//! PetitLyrics, by its XML interface: songs with their texts in one reply, up to word times.
//!
//! One of its tiers is protected. It is recognised and left alone: the plain text of the same song is asked for instead.

mod answer;
mod choice;
mod payload;

use super::request;
use super::{Candidate, Lookup, MissReason, Next, Outcome, Reply, Trouble};
use crate::io::NetError;
use crate::lyrics::Song;
use answer::Entry;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use payload::Payload;
use std::sync::Arc;
use url::{Url, form_urlencoded};

/// Where it is when nothing else is configured.
pub const BASE_URL: &str = "https://p0.petitlyrics.com";

const PATH: &str = "api/GetPetitLyricsData.php";

/// What an operator says about this lane.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `base_url`; `None` is [`BASE_URL`].
    pub base_url: Option<Url>,
    /// `client_app_id`: which application asks.
    pub client_app_id: Option<String>,
}

/// Why the lane cannot be used as it is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconfigured {
    /// There is no application id.
    #[error("petitlyrics has no application id; set `providers.petitlyrics.client_app_id`")]
    NoClientAppId,
    /// The address cannot be asked.
    #[error("petitlyrics base_url cannot be asked over HTTP")]
    BadUrl,
}

/// The lane, ready to be asked.
#[derive(Clone, Debug)]
pub struct PetitLyrics(Arc<Access>);

#[derive(Debug)]
struct Access {
    url: Url,
    client_app_id: String,
}

impl PetitLyrics {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the lane lacks what it needs; the message says what.
    pub fn new(settings: Settings) -> Result<Self, Unconfigured> {
        let id = settings.client_app_id.filter(|id| !id.trim().is_empty());
        let client_app_id = id.ok_or(Unconfigured::NoClientAppId)?;
        let mut url = match settings.base_url {
            Some(url) => url,
            None => Url::parse(BASE_URL).map_err(|_| Unconfigured::BadUrl)?,
        };
        if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() {
            return Err(Unconfigured::BadUrl);
        }
        let prefix = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{prefix}/{PATH}"));
        url.set_query(None);
        url.set_fragment(None);
        Ok(PetitLyrics(Arc::new(Access { url, client_app_id })))
    }

    /// Looks `song` up.
    #[must_use]
    pub fn lookup(&self, song: &Song) -> Box<dyn Lookup> {
        let blank = song.title.trim().is_empty() || song.artist.trim().is_empty();
        let state = match blank {
            true => State::Over(Outcome::Miss(MissReason::NotAskable)),
            false => State::Asking,
        };
        Box::new(Question {
            access: self.0.clone(),
            song: song.clone(),
            state,
        })
    }
}

/// Which tier is wanted. The service sends its best, whatever is asked for; the plain one is there for all.
#[derive(Clone, Copy)]
enum Tier {
    Plain,
    Words,
}

impl Access {
    fn request(&self, tier: Tier, keys: &[(&str, &str)]) -> Result<http::Request<Bytes>, Trouble> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("clientAppId", &self.client_app_id)
            .append_pair("terminalType", "10")
            .append_pair(
                "lyricsType",
                match tier {
                    Tier::Plain => "1",
                    Tier::Words => "3",
                },
            )
            .extend_pairs(keys)
            .finish();
        let mut request = request::to(self.url.as_str())?;
        *request.method_mut() = http::Method::POST;
        *request.body_mut() = Bytes::from(form);
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        Ok(request)
    }
}

struct Question {
    access: Arc<Access>,
    song: Song,
    state: State,
}

enum State {
    Asking,
    Asked,
    /// The best song's text is protected.
    AskingPlain(Entry),
    AskedPlain(Entry),
    Over(Outcome),
}

impl Lookup for Question {
    fn next(&mut self) -> Next {
        let broken = Outcome::Failed(Trouble::Panicked);
        let (request, asked) = match std::mem::replace(&mut self.state, State::Over(broken)) {
            State::Asking => {
                let keys = [
                    ("key_title", self.song.title.as_str()),
                    ("key_artist", self.song.artist.as_str()),
                    ("key_album", self.song.album.as_deref().unwrap_or("")),
                ];
                (self.access.request(Tier::Words, &keys), State::Asked)
            }
            State::AskingPlain(entry) => {
                let keys = [("key_lyricsId", entry.lyrics_id.as_str())];
                let request = self.access.request(Tier::Plain, &keys);
                (request, State::AskedPlain(entry))
            }
            State::Over(outcome) => {
                self.state = State::Over(outcome.clone());
                return Next::Done(outcome);
            }
            // Asked twice for one reply: nothing is known.
            State::Asked | State::AskedPlain(_) => {
                return Next::Done(Outcome::Failed(Trouble::Panicked));
            }
        };
        let (state, next) = request::or_over(request, asked, State::Over);
        self.state = state;
        next
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        let broken = Outcome::Failed(Trouble::Panicked);
        self.state = match std::mem::replace(&mut self.state, State::Over(broken)) {
            State::Asked => match answer::entries(reply) {
                Ok(entries) => chosen(
                    choice::above_the_floor(entries, &self.song),
                    self.song.duration_ms,
                ),
                Err(outcome) => State::Over(outcome),
            },
            State::AskedPlain(entry) => State::Over(match answer::entries(reply) {
                Ok(entries) => plain_of(&entry, entries, self.song.duration_ms),
                // It is known to be there: that it is not found now says that it is not given out.
                Err(Outcome::Miss(_)) => Outcome::Miss(MissReason::Restricted),
                Err(outcome) => outcome,
            }),
            state @ (State::Asking | State::AskingPlain(_) | State::Over(_)) => state,
        };
    }
}

/// What to do with the songs that may be meant, best first.
fn chosen(entries: Vec<Entry>, duration_ms: Option<u64>) -> State {
    if entries.is_empty() {
        return State::Over(Outcome::Miss(MissReason::NotFound));
    }
    let mut candidates = Vec::new();
    let mut is_broken = false;
    for entry in entries {
        match payload::read(&entry, duration_ms) {
            Payload::Lyrics(lyrics) => candidates.push(Candidate {
                lyrics,
                matched: entry.matched,
            }),
            // Only for the best: one more request for a song, not one for each of its namesakes.
            Payload::Protected if candidates.is_empty() && !entry.lyrics_id.is_empty() => {
                return State::AskingPlain(entry);
            }
            Payload::Protected | Payload::Empty => {}
            Payload::Broken => is_broken = true,
        }
    }
    State::Over(match (candidates.is_empty(), is_broken) {
        (false, _) => Outcome::Found(candidates),
        (true, true) => Outcome::Failed(Trouble::Malformed),
        (true, false) => Outcome::Miss(MissReason::NoLyrics),
    })
}

/// The plain text of `wanted`.
fn plain_of(wanted: &Entry, entries: Vec<Entry>, duration_ms: Option<u64>) -> Outcome {
    let entry = entries
        .into_iter()
        .find(|entry| entry.lyrics_id == wanted.lyrics_id);
    let payload = entry.map(|entry| payload::read(&entry, duration_ms));
    match payload {
        Some(Payload::Lyrics(lyrics)) => Outcome::Found(vec![Candidate {
            lyrics,
            matched: wanted.matched.clone(),
        }]),
        Some(Payload::Broken) => Outcome::Failed(Trouble::Malformed),
        Some(Payload::Protected | Payload::Empty) | None => Outcome::Miss(MissReason::Restricted),
    }
}
