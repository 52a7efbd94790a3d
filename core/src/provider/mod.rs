//! Providers of lyrics as codecs: which HTTP request to send next, and what a reply means.
//!
//! A [`Lookup`] is one song at one provider. It is a machine: it never sleeps, retries or keeps a socket, so a provider's
//! whole protocol is tested without one. What it says belongs to a closed set ([`Outcome`]); nobody reads error texts.
//! Lanes that do not speak HTTP are asked in the same way: a runtime's network answers `folder:` URIs with what lies
//! beside a track, and `command:` URIs by running the command of that name.

pub mod command;
pub mod configured;
pub mod judge;
mod lane;
pub mod local;
pub mod lrclib;
pub mod musixmatch;
pub mod petitlyrics;
pub mod request;
pub mod subsonic;
mod words;

pub use lane::{Cost, Descriptor, Kind, Provider, Question, Server, Settings, Unusable};

use crate::dispatch::Failure;
use crate::io::NetError;
use crate::lyrics::{Lyrics, Matched};
use crate::time::Wall;
use bytes::Bytes;
use std::fmt;
use std::time::Duration;

/// The largest reply that is read, in bytes.
pub const REPLY_LIMIT: usize = 2 * 1024 * 1024;

/// One song at one provider, from the first request to the outcome.
pub trait Lookup: Send {
    /// What to do now. After [`Next::Send`], [`Lookup::reply`] is called exactly once before this is called again.
    fn next(&mut self) -> Next;

    /// The reply to the request that [`Lookup::next`] handed out.
    fn reply(&mut self, reply: Result<Reply, NetError>);
}

/// What a lookup wants.
pub enum Next {
    /// Send this. Redirects to the same host are followed by the driver, others are refused.
    Send(Box<http::Request<Bytes>>),
    /// It is over.
    Done(Outcome),
}

impl fmt::Debug for Next {
    /// Without the query, the headers and the body of a request: tokens travel in them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Next::Send(request) => {
                let uri = request.uri();
                let host = uri.host().unwrap_or("");
                write!(f, "Send({} {host}{})", request.method(), uri.path())
            }
            Next::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}

/// A whole reply.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status and headers.
    pub parts: http::response::Parts,
    /// At most [`REPLY_LIMIT`] bytes; a longer reply is [`NetError::Oversized`].
    pub body: Bytes,
    /// When it came, for a `Retry-After` that names a date.
    pub at: Wall,
}

/// What a provider said, judged for form only: whether it is the right song is decided in `lyrics::accept`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Candidates, in the provider's order; never empty.
    Found(Vec<Candidate>),
    /// It was asked, understood the question and has nothing. Certain.
    Miss(MissReason),
    /// Nothing was learned.
    Failed(Trouble),
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The words, or that there are none.
    pub lyrics: Lyrics,
    /// What it says it is.
    pub matched: Matched,
}

/// Why a provider has nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MissReason {
    /// It does not know the song.
    NotFound,
    /// It knows the song and has no words for it.
    NoLyrics,
    /// It knows the words and may not give them out.
    Restricted,
    /// The song cannot be asked for there: what the question needs is missing.
    NotAskable,
}

/// Why nothing was learned. A closed set, and a bounded label in metrics.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// The exchange failed below HTTP.
    Net(NetError),
    /// 5xx and the like.
    Server(u16),
    /// Not what the protocol says: non-JSON, cut short, a hollow 200.
    Malformed,
    /// Asked to slow down.
    RateLimited {
        /// For how long, when it says so.
        retry_after: Option<Duration>,
    },
    /// Wants a captcha solved, which we do not do.
    Captcha,
    /// Not served to where we are.
    GeoBlocked,
    /// Credentials, or our kind of client, are refused.
    Refused,
    /// The token has run out, and its owner has to renew it.
    RenewalRequired,
    /// A redirect to another host, or too many.
    RedirectRefused,
    /// The base URL answers, but it is not this provider.
    WrongService,
    /// The codec itself broke.
    Panicked,
}

impl Trouble {
    /// Its row in contracts section 2.
    #[must_use]
    pub fn failure(self) -> Failure {
        match self {
            Trouble::Net(_)
            | Trouble::Server(_)
            | Trouble::Malformed
            | Trouble::RedirectRefused
            | Trouble::WrongService
            | Trouble::Panicked => Failure::Transport,
            Trouble::RateLimited { retry_after } => Failure::Throttled { retry_after },
            Trouble::Captcha | Trouble::GeoBlocked => Failure::Throttled { retry_after: None },
            Trouble::Refused => Failure::Auth { renewal: false },
            Trouble::RenewalRequired => Failure::Auth { renewal: true },
        }
    }
}
