//! Providers of the operator's own that answer over HTTP, described by configuration alone.
//!
//! One GET per song, made from a [`Template`]; the reply is read in one of a few dialects. What a status means can be
//! configured too, for services that have their own idea of it.

mod pointers;
mod read;
mod template;

pub use pointers::{BadPointer, Pointers};
pub use template::{BadTemplate, Template, VARIABLES};

use super::request;
use super::{Lookup, MissReason, Next, Outcome, Reply, Trouble};
use crate::io::NetError;
use crate::lyrics::Song;
use crate::source::subsonic::Secret;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a header's value may hold in place of the secret.
pub const TOKEN: &str = "{token}";

/// What the service answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// As LRCLIB does: one record or a list of them.
    Lrclib,
    /// As lrcmux does: the lyrics themselves, or a record as of LRCLIB.
    Lrcmux,
    /// JSON of some other form, read through pointers.
    Json(Pointers),
    /// The lyrics themselves.
    Text,
}

/// What an HTTP status means at this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusMeaning {
    /// The song is not known there.
    NotFound,
    /// It asks to slow down.
    RateLimited,
    /// It refuses us.
    Auth,
    /// It is out of order.
    Transient,
}

/// What an operator says about such a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How a song becomes a URL.
    pub template: Template,
    /// How a reply is read.
    pub dialect: Dialect,
    /// Sent along; [`TOKEN`] in a value stands for the secret.
    pub headers: BTreeMap<String, Secret>,
    /// The secret.
    pub token: Option<Secret>,
    /// Statuses that mean something else here than they do elsewhere.
    pub statuses: BTreeMap<u16, StatusMeaning>,
}

/// Why the lane cannot be used as it is configured. No secret is part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unconfigured {
    /// A header that cannot be sent.
    #[error("header \"{0}\" has a name or a value that cannot be sent")]
    BadHeader(String),
    /// A header wants the secret, and there is none.
    #[error("header \"{0}\" holds {{token}}, but there is no token; set `token` or `token_file`")]
    NoToken(String),
}

/// The lane, ready to be asked.
#[derive(Clone, Debug)]
pub struct Configured(Arc<Access>);

#[derive(Debug)]
struct Access {
    template: Template,
    dialect: Dialect,
    headers: HeaderMap,
    statuses: BTreeMap<u16, StatusMeaning>,
}

impl Configured {
    /// Checks the settings.
    ///
    /// # Errors
    /// When a header cannot be sent or lacks its secret.
    pub fn new(settings: Settings) -> Result<Self, Unconfigured> {
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let value = match (value.reveal().contains(TOKEN), &settings.token) {
                (false, _) => value.reveal().to_owned(),
                (true, Some(token)) => value.reveal().replace(TOKEN, token.reveal()),
                (true, None) => return Err(Unconfigured::NoToken(name.clone())),
            };
            let (Ok(key), Ok(mut value)) = (
                HeaderName::try_from(name.as_str()),
                HeaderValue::try_from(value),
            ) else {
                return Err(Unconfigured::BadHeader(name.clone()));
            };
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        Ok(Configured(Arc::new(Access {
            template: settings.template,
            dialect: settings.dialect,
            headers,
            statuses: settings.statuses,
        })))
    }

    /// Looks `song` up.
    #[must_use]
    pub fn lookup(&self, song: &Song) -> Box<dyn Lookup> {
        let blank = song.title.trim().is_empty() || song.artist.trim().is_empty();
        let state = match self.0.template.fill(song) {
            Some(url) if !blank => State::Asking(url),
            Some(_) | None => State::Over(Outcome::Miss(MissReason::NotAskable)),
        };
        Box::new(Question {
            access: self.0.clone(),
            duration_ms: song.duration_ms,
            state,
        })
    }
}

struct Question {
    access: Arc<Access>,
    duration_ms: Option<u64>,
    state: State,
}

enum State {
    Asking(String),
    Asked,
    Over(Outcome),
}

impl Lookup for Question {
    fn next(&mut self) -> Next {
        match std::mem::replace(&mut self.state, State::Asked) {
            State::Asking(url) => match request::to(&url) {
                Ok(mut request) => {
                    for (name, value) in &self.access.headers {
                        request.headers_mut().insert(name.clone(), value.clone());
                    }
                    Next::Send(Box::new(request))
                }
                Err(trouble) => {
                    self.state = State::Over(Outcome::Failed(trouble));
                    Next::Done(Outcome::Failed(trouble))
                }
            },
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
            let outcome = match reply {
                Ok(reply) => self.access.outcome(&reply, self.duration_ms),
                Err(error) => Outcome::Failed(Trouble::Net(error)),
            };
            self.state = State::Over(outcome);
        }
    }
}
