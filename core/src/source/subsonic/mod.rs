//! Subsonic and OpenSubsonic servers as sources: how to ask, how to authenticate, how to read what they say,
//! and in which order to ask for a whole library.
//!
//! Facts about real servers come from the OpenSubsonic specification and from measurements; where they differ,
//! reading is lenient and asking is plain: GET, JSON, `Accept-Encoding: identity`.

mod auth;
mod document;
mod endpoint;
mod fields;
pub mod lyrics;
mod negotiation;
pub mod parse;
mod pull;

pub use auth::{Auth, Credentials, Secret, decode_password, token};
pub(crate) use document::read_xml;
pub use endpoint::{API_VERSION, BadEndpoint, Endpoint};
pub use negotiation::{Negotiation, Step};
pub use pull::{PAGE_SIZE, Progress, Pull, PullRequest};
