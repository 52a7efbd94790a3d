//! The closed set of providers, and how one is made from its settings.

use super::Lookup;
use super::command::{self, Command};
use super::configured::{self, Configured};
use super::local::Local;
use super::lrclib::{self, Lrclib};
use super::musixmatch::{self, Musixmatch};
use super::petitlyrics::{self, PetitLyrics};
use super::subsonic::Subsonic;
use crate::dispatch::Quality;
use crate::lyrics::Song;
use crate::lyrics::accept::Rules;
use crate::source::subsonic::{Auth, Endpoint};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use url::Url;

/// One provider as the operator has set it up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The lane's name, as in the order of providers.
    pub name: String,
    /// Between two requests of this lane, measured from completion.
    pub spacing: Duration,
    /// How long one request may take.
    pub timeout: Duration,
    /// What speaks there.
    pub kind: Kind,
}

/// What a lane speaks to.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Files beside a track and tags in it.
    Local,
    /// The sources' own lyrics.
    Subsonic,
    /// LRCLIB, or a server that speaks like it.
    Lrclib {
        /// Where it is; usually [`lrclib::BASE_URL`].
        base_url: Url,
    },
    /// Musixmatch, with the operator's own token.
    Musixmatch(musixmatch::Settings),
    /// PetitLyrics.
    PetitLyrics(petitlyrics::Settings),
    /// A service of the operator's own.
    Configured(configured::Settings),
    /// A program of the operator's own, registered with the runtime under the lane's name.
    Command,
}

/// Why a provider cannot be used as it is set up. Holds no secret, and says what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// LRCLIB.
    #[error(transparent)]
    Lrclib(#[from] lrclib::BadUrl),
    /// Musixmatch.
    #[error(transparent)]
    Musixmatch(#[from] musixmatch::Unconfigured),
    /// PetitLyrics.
    #[error(transparent)]
    PetitLyrics(#[from] petitlyrics::Unconfigured),
    /// A configured service.
    #[error(transparent)]
    Configured(#[from] configured::Unconfigured),
    /// A program.
    #[error(transparent)]
    Command(#[from] command::BadName),
}

/// A provider.
#[derive(Clone, Debug)]
pub struct Provider {
    descriptor: Descriptor,
    codec: Codec,
}

#[derive(Clone, Debug)]
enum Codec {
    Local(Local),
    Subsonic(Subsonic),
    Lrclib(Lrclib),
    Musixmatch(Musixmatch),
    PetitLyrics(PetitLyrics),
    Configured(Configured),
    Command(Command),
}

/// What the worker and the pages need to know of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Its name.
    pub name: String,
    /// Whose time a lookup costs.
    pub cost: Cost,
    /// The best it can give.
    pub best: Quality,
    /// Between two requests, measured from completion.
    pub spacing: Duration,
    /// How long one request may take.
    pub timeout: Duration,
    /// Its terms in one sentence, for people.
    pub terms: &'static str,
}

/// Whose time a lookup costs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// This machine's.
    Local,
    /// A source's of the operator's own.
    OwnSource,
    /// A stranger's.
    Remote,
}

/// A lookup to be made.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The song.
    pub song: &'a Song,
    /// What is accepted: tells a lane whether to ask on. The last word is not the lane's.
    pub rules: &'a Rules,
    /// The Subsonic sources that may be asked, by instance id.
    pub servers: &'a BTreeMap<String, Server>,
    /// Fresh randomness for token authentication.
    pub salt: &'a str,
    /// SHA-256, in hexadecimal, of the sidecars that we delivered: our own words prove nothing.
    pub ours: &'a BTreeSet<String>,
}

/// How a Subsonic source is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where, and as whom.
    pub endpoint: Endpoint,
    /// The way to authenticate.
    pub auth: Auth,
    /// Whether it has `getLyricsBySongId` (extension `songLyrics`); `None` finds out.
    pub structured: Option<bool>,
}

impl Provider {
    /// The provider of these settings.
    ///
    /// # Errors
    /// When it cannot be used like that.
    pub fn new(settings: Settings) -> Result<Self, Unusable> {
        let codec = match settings.kind {
            Kind::Local => Codec::Local(Local),
            Kind::Subsonic => Codec::Subsonic(Subsonic),
            Kind::Lrclib { base_url } => Codec::Lrclib(Lrclib::new(base_url)?),
            Kind::Musixmatch(settings) => Codec::Musixmatch(Musixmatch::new(settings)?),
            Kind::PetitLyrics(settings) => Codec::PetitLyrics(PetitLyrics::new(settings)?),
            Kind::Configured(settings) => Codec::Configured(Configured::new(settings)?),
            Kind::Command => Codec::Command(Command::new(&settings.name)?),
        };
        let descriptor = Descriptor {
            name: settings.name,
            cost: codec.cost(),
            best: Quality::Word,
            spacing: settings.spacing,
            timeout: settings.timeout,
            terms: codec.terms(),
        };
        Ok(Provider { descriptor, codec })
    }

    /// What is known of it without asking.
    #[must_use]
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// A lookup that has not begun.
    #[must_use]
    pub fn lookup(&self, question: &Question<'_>) -> Box<dyn Lookup> {
        let song = question.song;
        match &self.codec {
            Codec::Local(local) => Box::new(local.lookup(question)),
            Codec::Subsonic(subsonic) => Box::new(subsonic.lookup(question)),
            Codec::Lrclib(lrclib) => Box::new(lrclib.lookup(question)),
            Codec::Musixmatch(musixmatch) => musixmatch.lookup(song),
            Codec::PetitLyrics(petitlyrics) => petitlyrics.lookup(song),
            Codec::Configured(configured) => configured.lookup(song),
            Codec::Command(command) => command.lookup(song),
        }
    }
}

impl Codec {
    fn cost(&self) -> Cost {
        match self {
            Codec::Local(_) | Codec::Command(_) => Cost::Local,
            Codec::Subsonic(_) => Cost::OwnSource,
            Codec::Lrclib(_)
            | Codec::Musixmatch(_)
            | Codec::PetitLyrics(_)
            | Codec::Configured(_) => Cost::Remote,
        }
    }

    fn terms(&self) -> &'static str {
        match self {
            Codec::Local(_) => "Your own files.",
            Codec::Subsonic(_) => "Your own servers.",
            Codec::Lrclib(_) => "Free to ask and run by volunteers: one request at a time, spaced.",
            Codec::Musixmatch(_) => {
                "An unofficial use of a commercial service, at your own risk and with your own token."
            }
            Codec::PetitLyrics(_) => "An unofficial use of a commercial service, at your own risk.",
            Codec::Configured(_) | Codec::Command(_) => "Of your own choice.",
        }
    }
}
