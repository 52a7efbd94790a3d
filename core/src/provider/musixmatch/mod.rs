//! Musixmatch, as its own players ask it: one macro call, and one more for word times.
//!
//! Not an official interface. It is asked only with a token that its owner has put into the configuration; tokens are
//! neither made, renewed nor shared here, and a captcha is never answered. Statuses come inside a 200, so nothing is
//! learned from HTTP alone.

mod answer;
mod decoy;
mod timed;

use super::request;
use super::{Candidate, Lookup, MissReason, Next, Outcome, Reply, Trouble};
use crate::io::NetError;
use crate::lyrics::Song;
use crate::source::subsonic::Secret;
use answer::{Answer, Richsync};
use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::sync::Arc;
use url::Url;

/// Where it is when nothing else is configured.
pub const BASE_URL: &str = "https://apic.musixmatch.com";

/// The application that a token is taken to be of when nothing else is configured.
pub const APP_ID: &str = "android-player-v1.0";

/// The path below which its methods are.
const VERSION: &str = "/ws/1.1";

/// What an operator says about this lane.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `base_url`; `None` is [`BASE_URL`].
    pub base_url: Option<Url>,
    /// `app_id`; `None` is [`APP_ID`].
    pub app_id: Option<String>,
    /// `token`: the operator's own.
    pub token: Option<Secret>,
    /// `headers`, sent along with each request. They may be credentials.
    pub headers: BTreeMap<String, Secret>,
}

/// Why the lane cannot be used as it is configured. No secret is part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconfigured {
    /// There is no token.
    #[error(
        "musixmatch has no token; set `providers.musixmatch.token` or `token_file` to your own"
    )]
    NoToken,
    /// What is there is handed out to clients that get none.
    #[error(
        "the musixmatch token is a placeholder that its server hands out instead of a token; set your own"
    )]
    PlaceholderToken,
    /// A header that cannot be sent.
    #[error("musixmatch header \"{0}\" has a name or a value that cannot be sent")]
    BadHeader(String),
    /// The address cannot be asked.
    #[error("musixmatch base_url cannot be asked over HTTP")]
    BadUrl,
}

/// The lane, ready to be asked.
#[derive(Clone, Debug)]
pub struct Musixmatch(Arc<Access>);

#[derive(Debug)]
struct Access {
    base_url: Url,
    app_id: String,
    token: Secret,
    headers: HeaderMap,
}

impl Musixmatch {
    /// Checks the settings.
    ///
    /// # Errors
    /// When the lane lacks what it needs; the message says what.
    pub fn new(settings: Settings) -> Result<Self, Unconfigured> {
        let token = settings
            .token
            .filter(|token| !token.reveal().trim().is_empty());
        let token = token.ok_or(Unconfigured::NoToken)?;
        if decoy::is_placeholder(token.reveal()) {
            return Err(Unconfigured::PlaceholderToken);
        }
        let mut base_url = match settings.base_url {
            Some(url) => url,
            None => Url::parse(BASE_URL).map_err(|_| Unconfigured::BadUrl)?,
        };
        if !matches!(base_url.scheme(), "http" | "https") || base_url.cannot_be_a_base() {
            return Err(Unconfigured::BadUrl);
        }
        let prefix = base_url.path().trim_end_matches('/');
        let prefix = prefix.strip_suffix(VERSION).unwrap_or(prefix);
        base_url.set_path(&format!("{prefix}{VERSION}"));
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let (Ok(key), Ok(mut value)) = (
                HeaderName::try_from(name.as_str()),
                HeaderValue::try_from(value.reveal()),
            ) else {
                return Err(Unconfigured::BadHeader(name.clone()));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        let app_id = settings.app_id.filter(|id| !id.is_empty());
        Ok(Musixmatch(Arc::new(Access {
            base_url,
            app_id: app_id.unwrap_or_else(|| APP_ID.to_owned()),
            token,
            headers,
        })))
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

impl Access {
    /// A request for `method` with `pairs`. The token is part of its URL, so it is never to be shown.
    fn request(
        &self,
        method: &str,
        pairs: &[(&str, &str)],
    ) -> Result<http::Request<Bytes>, Trouble> {
        let mut all = vec![
            ("format", "json"),
            ("app_id", self.app_id.as_str()),
            ("usertoken", self.token.reveal()),
        ];
        all.extend(pairs);
        let mut request = request::get(&self.base_url, method, &all)?;
        for (name, value) in &self.headers {
            request.headers_mut().insert(name.clone(), value.clone());
        }
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
    /// Line times are here; the words' are to be asked for.
    AskingWords(Box<Candidate>, String),
    AskedWords(Box<Candidate>),
    Over(Outcome),
}

impl Lookup for Question {
    fn next(&mut self) -> Next {
        let broken = Outcome::Failed(Trouble::Panicked);
        let (request, asked) = match std::mem::replace(&mut self.state, State::Over(broken)) {
            State::Asking => (self.macro_call(), State::Asked),
            State::AskingWords(candidate, id) => {
                let pairs = [("commontrack_id", id.as_str())];
                let request = self.access.request("/track.richsync.get", &pairs);
                (request, State::AskedWords(candidate))
            }
            State::Over(outcome) => {
                self.state = State::Over(outcome.clone());
                return Next::Done(outcome);
            }
            // Asked twice for one reply: nothing is known.
            State::Asked | State::AskedWords(_) => {
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
            State::Asked => match answer::of_macro(reply, &self.song) {
                Answer::Lines { candidate, words } => match words {
                    Some(id) => State::AskingWords(candidate, id),
                    None => State::Over(Outcome::Found(vec![*candidate])),
                },
                Answer::Over(outcome) => State::Over(outcome),
            },
            State::AskedWords(mut candidate) => State::Over(match answer::of_richsync(reply) {
                Richsync::Lines(lines) => {
                    candidate.lyrics.body = lines;
                    Outcome::Found(vec![*candidate])
                }
                // Lines are certain without the words: the upgrade ladder asks again some day.
                Richsync::Nothing => Outcome::Found(vec![*candidate]),
                Richsync::StayAway(trouble) => Outcome::Failed(trouble),
            }),
            state @ (State::Asking | State::AskingWords(..) | State::Over(_)) => state,
        };
    }
}

impl Question {
    fn macro_call(&self) -> Result<http::Request<Bytes>, Trouble> {
        let song = &self.song;
        let seconds = song.duration_ms.map(|ms| ((ms + 500) / 1000).to_string());
        let artists = match song.artists.as_slice() {
            [] => song.artist.clone(),
            several => several.join(", "),
        };
        let mut pairs = vec![
            ("namespace", "lyrics_richsynched"),
            ("subtitle_format", "mxm"),
            ("q_track", song.title.as_str()),
            ("q_artist", song.artist.as_str()),
            ("q_artists", artists.as_str()),
            ("q_album", song.album.as_deref().unwrap_or("")),
            ("q_duration", seconds.as_deref().unwrap_or("")),
            ("f_subtitle_length", ""),
        ];
        if let Some(isrc) = song.isrcs.first() {
            pairs.push(("track_isrc", isrc));
        }
        self.access.request("/macro.subtitles.get", &pairs)
    }
}
