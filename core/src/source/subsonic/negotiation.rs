//! Finding out how a server wants us to authenticate, by pinging it.
//!
//! ```
//! use segue_core::source::subsonic::{Auth, Credentials, Negotiation, Secret, Step};
//!
//! let alice = Credentials::password("alice", Secret::new("sesame"));
//! let mut negotiation = Negotiation::start(&alice, None);
//! assert_eq!(negotiation.step(), Step::Ping(Auth::Token));
//! // A server that knows only passwords misses one:
//! negotiation.answer(Ok(br#"{"subsonic-response":{"status":"failed","error":{"code":10}}}"#));
//! assert_eq!(negotiation.step(), Step::Ping(Auth::PasswordHex));
//! negotiation.answer(Ok(br#"{"subsonic-response":{"status":"ok","version":"1.12.0"}}"#));
//! assert_eq!(negotiation.step(), Step::Settled(Ok(Auth::PasswordHex)));
//! ```

use super::auth::{Auth, Credentials};
use super::parse::{self, Standing};
use crate::source::{EnvelopeCode, Refusal};
use std::collections::VecDeque;

/// The machine: at most one ping for each way, then it is settled.
#[derive(Clone, Debug)]
pub struct Negotiation {
    ways: VecDeque<Auth>,
    settled: Option<Result<Auth, Refusal>>,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send a `ping` authenticated this way and tell [`Negotiation::answer`].
    Ping(Auth),
    /// Over. Remember the way that worked; [`Refusal::Auth`] means that the server takes none of them, so user
    /// or password are wrong; anything else says nothing about them.
    Settled(Result<Auth, Refusal>),
}

impl Negotiation {
    /// Begins with the way that worked last time, if any.
    pub fn start(credentials: &Credentials, remembered: Option<Auth>) -> Self {
        let known = credentials.ways();
        let first = remembered.filter(|way| known.contains(way));
        let rest = known.into_iter().filter(|way| Some(*way) != first);
        Negotiation {
            ways: first.into_iter().chain(rest).collect(),
            settled: None,
        }
    }

    /// Begins with the one way the operator fixed.
    pub fn only(way: Auth) -> Self {
        Negotiation {
            ways: VecDeque::from([way]),
            settled: None,
        }
    }

    /// What to do next.
    pub fn step(&self) -> Step {
        match (self.settled, self.ways.front()) {
            (Some(settled), _) => Step::Settled(settled),
            (None, Some(way)) => Step::Ping(*way),
            (None, None) => Step::Settled(Err(Refusal::Auth)),
        }
    }

    /// What came of the ping: the body of its reply, or why there is none.
    pub fn answer(&mut self, reply: Result<&[u8], Refusal>) {
        let Step::Ping(way) = self.step() else {
            return;
        };
        match reply.and_then(parse::envelope).map(|e| e.standing) {
            Ok(Standing::Good) => self.settled = Some(Ok(way)),
            Ok(Standing::Failed { code, message }) if !is_about_the_way(code) => {
                self.settled = Some(Err(code.refusal(&message)));
            }
            // Not this way. Wrong credentials look just like it, so the other ways are tried once each.
            Ok(Standing::Failed { .. }) | Err(Refusal::Auth) => {
                self.ways.pop_front();
            }
            Err(refusal) => self.settled = Some(Err(refusal)),
        }
    }
}

/// Whether another way may fare better. Servers that know no tokens say 10 (no `p`), 41 or 42, and some say 40.
fn is_about_the_way(code: EnvelopeCode) -> bool {
    match code {
        EnvelopeCode::MissingParameter
        | EnvelopeCode::WrongCredentials
        | EnvelopeCode::TokenUnsupported
        | EnvelopeCode::MechanismUnsupported
        | EnvelopeCode::ConflictingMechanisms
        | EnvelopeCode::InvalidApiKey => true,
        EnvelopeCode::Generic
        | EnvelopeCode::ClientTooOld
        | EnvelopeCode::ServerTooOld
        | EnvelopeCode::NotAuthorised
        | EnvelopeCode::TrialOver
        | EnvelopeCode::NotFound
        | EnvelopeCode::Other(_) => false,
    }
}
