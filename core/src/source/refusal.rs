//! Why a source did not give what was asked: the closed set behind the table of contracts section 3.
//!
//! Nothing in here carries upstream text, an address or a query, so a refusal may be shown and stored.

pub use crate::dispatch::Stage;
use crate::io::NetError;
use std::fmt;
use std::time::Duration;

/// Why a candidate was not committed, or an upstream request came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The exchange failed below HTTP.
    #[error("{0}")]
    Net(#[from] NetError),
    /// A budget of ours ran out.
    #[error("no {} in time", stage_words(*.0))]
    TimedOut(Stage),
    /// A status that no other variant explains.
    #[error("answered with status {0}")]
    Status(u16),
    /// 404, 410, envelope code 70, or code 0 with words to that effect: this id is stale there.
    #[error("does not have it")]
    NotFound,
    /// 401, 402, 403, 407 or an envelope code of 40 to 44 or 50.
    #[error("rejected our credentials")]
    Auth,
    /// 429, or 503 with a Retry-After.
    #[error("is busy")]
    Throttled {
        /// How long it asked us to stay away, when it said so.
        retry_after: Option<Duration>,
    },
    /// A document where media was due: an envelope, a web page, or anything in JSON or markup.
    #[error("answered with an error document{}", code_words(*.0))]
    ErrorDocument(Option<EnvelopeCode>),
    /// Neither media nor a document we know.
    #[error("answered with something that is not media")]
    WrongMediaType,
    /// A good head and no body.
    #[error("answered with nothing")]
    Empty,
    /// A 206 that is not the range that was asked for.
    #[error("answered with another range")]
    WrongRange,
    /// A redirect elsewhere, or one too many.
    #[error("redirected elsewhere")]
    RedirectRefused,
    /// It serves as many streams as it may (`max_streams`), so it was not asked.
    #[error("serves as many streams as it may")]
    Full,
}

/// What a refusal means for failover and breaker: one row group of the table of contracts section 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalClass {
    /// A fact about the track, not about the instance. Rows "404/410, envelope code 70" and "400 and other
    /// 4xx": dispatch `Miss`, breaker Benign.
    Miss,
    /// Rows "refused, reset, ...", "HTML/XML/JSON body otherwise", "redirect" and "206 that does not start
    /// where the client asked": dispatch `Failed(Transport)`, breaker Transient.
    Transport,
    /// Row "429, 503 with Retry-After": dispatch `Failed(Throttled)`, breaker Throttled.
    Throttled {
        /// How long to stay away, when it is known.
        retry_after: Option<Duration>,
    },
    /// Row "401/403/407, envelope 40/41/44/50": dispatch `Failed(Auth)`, breaker AuthRejected. Shown to the
    /// operator.
    Auth,
}

/// How loudly to log a refusal (last column of the table).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// An ordinary outage: failover is there for it.
    Info,
    /// Something an operator should look at.
    Warn,
}

impl Refusal {
    /// The row group it falls under.
    pub const fn class(self) -> RefusalClass {
        match self {
            Refusal::Net(_)
            | Refusal::TimedOut(_)
            | Refusal::ErrorDocument(_)
            | Refusal::WrongMediaType
            | Refusal::Empty
            | Refusal::WrongRange
            | Refusal::RedirectRefused => RefusalClass::Transport,
            // A full one is not asked, and none the worse for it.
            Refusal::Status(400..=499) | Refusal::NotFound | Refusal::Full => RefusalClass::Miss,
            Refusal::Status(_) => RefusalClass::Transport,
            Refusal::Auth => RefusalClass::Auth,
            Refusal::Throttled { retry_after } => RefusalClass::Throttled { retry_after },
        }
    }

    /// How loudly to log it.
    pub const fn level(self) -> Level {
        match self {
            Refusal::Net(NetError::Panicked) => Level::Warn,
            Refusal::Net(_)
            | Refusal::TimedOut(_)
            | Refusal::Throttled { .. }
            | Refusal::Empty
            | Refusal::Full
            | Refusal::Status(500..=599) => Level::Info,
            Refusal::Status(_)
            | Refusal::NotFound
            | Refusal::Auth
            | Refusal::ErrorDocument(_)
            | Refusal::WrongMediaType
            | Refusal::WrongRange
            | Refusal::RedirectRefused => Level::Warn,
        }
    }

    /// The stable word that activity stores for an attempt. Part of the API: never rename one.
    pub const fn outcome(self) -> &'static str {
        match self {
            Refusal::Net(net) => match net {
                NetError::Refused => "refused",
                NetError::Unreachable => "unreachable",
                NetError::Dns => "dns",
                NetError::Tls => "tls",
                NetError::Reset => "reset",
                NetError::Truncated => "truncated",
                NetError::Malformed => "malformed",
                NetError::Oversized => "oversized",
                NetError::TimedOut => "timeout",
                NetError::BadUrl => "bad_url",
                NetError::Local => "local_error",
                NetError::Panicked => "panicked",
            },
            Refusal::TimedOut(_) => "timeout",
            Refusal::Status(300..=399) => "status_3xx",
            Refusal::Status(400..=499) => "status_4xx",
            Refusal::Status(500..=599) => "status_5xx",
            Refusal::Status(_) => "status_other",
            Refusal::NotFound => "not_found",
            Refusal::Auth => "auth",
            Refusal::Throttled { .. } => "throttled",
            Refusal::ErrorDocument(_) => "error_document",
            Refusal::WrongMediaType => "wrong_type",
            Refusal::Empty => "empty",
            Refusal::WrongRange => "wrong_range",
            Refusal::RedirectRefused => "redirect",
            Refusal::Full => "full",
        }
    }
}

const fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Connect => "connection",
        Stage::Head => "response",
        Stage::FirstByte => "data",
    }
}

fn code_words(code: Option<EnvelopeCode>) -> String {
    code.map_or_else(String::new, |code| format!(" (code {code})"))
}

/// The error code of a Subsonic envelope (OpenSubsonic, "Error handling").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EnvelopeCode {
    /// 0: anything, told in words only.
    Generic,
    /// 10. Servers without token authentication say this when there is no `p`.
    MissingParameter,
    /// 20.
    ClientTooOld,
    /// 30.
    ServerTooOld,
    /// 40.
    WrongCredentials,
    /// 41: not with a token, for this user or at all.
    TokenUnsupported,
    /// 42: not by this mechanism.
    MechanismUnsupported,
    /// 43: an API key together with user or password.
    ConflictingMechanisms,
    /// 44.
    InvalidApiKey,
    /// 50.
    NotAuthorised,
    /// 60.
    TrialOver,
    /// 70.
    NotFound,
    /// A number the specification does not know.
    Other(u32),
}

impl EnvelopeCode {
    /// The code of a number.
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => EnvelopeCode::Generic,
            10 => EnvelopeCode::MissingParameter,
            20 => EnvelopeCode::ClientTooOld,
            30 => EnvelopeCode::ServerTooOld,
            40 => EnvelopeCode::WrongCredentials,
            41 => EnvelopeCode::TokenUnsupported,
            42 => EnvelopeCode::MechanismUnsupported,
            43 => EnvelopeCode::ConflictingMechanisms,
            44 => EnvelopeCode::InvalidApiKey,
            50 => EnvelopeCode::NotAuthorised,
            60 => EnvelopeCode::TrialOver,
            70 => EnvelopeCode::NotFound,
            other => EnvelopeCode::Other(other),
        }
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        match self {
            EnvelopeCode::Generic => 0,
            EnvelopeCode::MissingParameter => 10,
            EnvelopeCode::ClientTooOld => 20,
            EnvelopeCode::ServerTooOld => 30,
            EnvelopeCode::WrongCredentials => 40,
            EnvelopeCode::TokenUnsupported => 41,
            EnvelopeCode::MechanismUnsupported => 42,
            EnvelopeCode::ConflictingMechanisms => 43,
            EnvelopeCode::InvalidApiKey => 44,
            EnvelopeCode::NotAuthorised => 50,
            EnvelopeCode::TrialOver => 60,
            EnvelopeCode::NotFound => 70,
            EnvelopeCode::Other(other) => other,
        }
    }

    /// What an envelope with this code and message means. The message is only looked at, never kept: code 0
    /// is used by several servers for an id they do not know.
    pub fn refusal(self, message: &str) -> Refusal {
        match self {
            EnvelopeCode::Generic if says_not_found(message) => Refusal::NotFound,
            EnvelopeCode::NotFound => Refusal::NotFound,
            EnvelopeCode::WrongCredentials
            | EnvelopeCode::TokenUnsupported
            | EnvelopeCode::MechanismUnsupported
            | EnvelopeCode::ConflictingMechanisms
            | EnvelopeCode::InvalidApiKey
            | EnvelopeCode::NotAuthorised => Refusal::Auth,
            EnvelopeCode::Generic
            | EnvelopeCode::MissingParameter
            | EnvelopeCode::ClientTooOld
            | EnvelopeCode::ServerTooOld
            | EnvelopeCode::TrialOver
            | EnvelopeCode::Other(_) => Refusal::ErrorDocument(Some(self)),
        }
    }
}

impl fmt::Display for EnvelopeCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

/// Seen in the field with code 0: "Song not found", "badly formed hexadecimal UUID string", "Invalid ID".
fn says_not_found(message: &str) -> bool {
    const PHRASES: [&str; 6] = [
        "not found",
        "badly formed",
        "does not exist",
        "no such",
        "invalid id",
        "unknown id",
    ];
    let message = message.to_lowercase();
    PHRASES.iter().any(|phrase| message.contains(phrase))
}
