//! The frame around every reply under `/rest`, failures included, and the headers on it.
//!
//! HTTP says 200 whatever happened: clients read `status`. The failed frame carries `type`,
//! `serverVersion` and `openSubsonic` too, because clients probe a server with credentials they know
//! to be wrong and look for them.

use super::document::Doc;
use axum::body::Body;
use axum::response::Response;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use segue_core::io::StoreError;
use std::borrow::Cow;

/// The version of the Subsonic API; clients refuse servers that claim a later one.
pub const API_VERSION: &str = "1.16.1";

/// Our name. Never that of another server: clients switch to its private interface.
pub const SERVER_TYPE: &str = "segue";

/// The name of the root element or field.
const ROOT: &str = "subsonic-response";

/// Callback names longer than this are no names.
const CALLBACK_LIMIT: usize = 128;

/// How the client wants its reply (`f`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `f=xml`, or nothing.
    #[default]
    Xml,
    /// `f=json`.
    Json,
    /// `f=jsonp` with a usable `callback`.
    Jsonp(String),
}

impl Format {
    /// Reads `f` and `callback`. An unknown `f` is XML. A callback that is missing or is not a plain
    /// name is an error, to be told in the JSON that the client can at least read.
    pub fn choose(f: Option<&str>, callback: Option<&str>) -> Result<Self, ApiError> {
        match f {
            Some(f) if f.eq_ignore_ascii_case("json") => Ok(Format::Json),
            Some(f) if f.eq_ignore_ascii_case("jsonp") => match callback {
                Some(name) if is_callback(name) => Ok(Format::Jsonp(name.to_owned())),
                Some(_) => Err(ApiError::bad_value("callback", "a function name")),
                None => Err(ApiError::missing("callback")),
            },
            Some(_) | None => Ok(Format::Xml),
        }
    }

    /// The media type of a reply.
    pub const fn content_type(&self) -> &'static str {
        match self {
            Format::Xml => "text/xml; charset=utf-8",
            Format::Json => "application/json",
            Format::Jsonp(_) => "application/javascript",
        }
    }

    fn write(&self, doc: &Doc) -> String {
        match self {
            Format::Xml => doc.to_xml(ROOT),
            Format::Json => doc.to_json(ROOT),
            Format::Jsonp(callback) => format!("{callback}({});", doc.to_json(ROOT)),
        }
    }
}

/// A dotted JavaScript name and nothing that could be a program.
fn is_callback(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    !name.is_empty() && name.len() <= CALLBACK_LIMIT && name.chars().all(is_plain)
}

/// The error codes of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorCode {
    /// Anything else.
    Generic = 0,
    /// A parameter that must be there is not.
    MissingParameter = 10,
    /// The client speaks an earlier major version.
    ClientMustUpgrade = 20,
    /// The client speaks a later major version.
    ServerMustUpgrade = 30,
    /// Wrong user name or password.
    WrongCredentials = 40,
    /// This user cannot log in with a token.
    TokenUnsupported = 41,
    /// A way to log in that we do not have.
    AuthUnsupported = 42,
    /// Two ways to log in at once.
    AuthConflict = 43,
    /// The API key is not known, or not any more.
    InvalidApiKey = 44,
    /// The user may not do this.
    NotAuthorized = 50,
    /// What was asked for is not there.
    NotFound = 70,
}

/// Why a call failed. The message is for people, and never holds what an upstream said.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// What programs read.
    pub code: ErrorCode,
    /// What people read.
    pub message: Cow<'static, str>,
}

impl ApiError {
    /// An error with its message.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        ApiError {
            code,
            message: message.into(),
        }
    }

    /// Code 10.
    pub fn missing(name: &'static str) -> Self {
        ApiError::new(
            ErrorCode::MissingParameter,
            format!("Required parameter '{name}' is missing"),
        )
    }

    /// Code 0 for a parameter that cannot be read. The value is not repeated: it is the client's own.
    pub fn bad_value(name: &'static str, expected: &'static str) -> Self {
        ApiError::new(
            ErrorCode::Generic,
            format!("Parameter '{name}' is not {expected}"),
        )
    }

    /// Code 70, for a thing named in one word or two ("Song").
    pub fn not_found(what: &'static str) -> Self {
        ApiError::new(ErrorCode::NotFound, format!("{what} not found"))
    }

    /// Code 50.
    pub fn not_authorized() -> Self {
        ApiError::new(
            ErrorCode::NotAuthorized,
            "This user is not allowed to do that",
        )
    }

    /// The failed reply.
    pub fn response(&self, format: &Format) -> Response {
        let error = Doc::new()
            .with("code", self.code as i32)
            .with("message", self.message.as_ref());
        reply(frame("failed").with("error", error), format)
    }
}

impl From<StoreError> for ApiError {
    /// What the database says is for the operator, not for a client.
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "a call could not be answered");
        ApiError::new(ErrorCode::Generic, "The library cannot be read right now")
    }
}

/// The successful reply around `payload`.
pub fn ok(payload: Doc, format: &Format) -> Response {
    reply(frame("ok").with_all(payload), format)
}

fn frame(status: &'static str) -> Doc {
    Doc::new()
        .with("status", status)
        .with("version", API_VERSION)
        .with("type", SERVER_TYPE)
        .with("serverVersion", env!("CARGO_PKG_VERSION"))
        .with("openSubsonic", true)
}

fn reply(doc: Doc, format: &Format) -> Response {
    let mut response = Response::new(Body::from(format.write(&doc)));
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(format.content_type()),
    );
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a preflight.
pub fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let fixed: [(HeaderName, &'static str); 3] = [
        (
            header::ACCESS_CONTROL_ALLOW_METHODS,
            "GET, POST, HEAD, OPTIONS",
        ),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Accept, Authorization, Content-Type, If-None-Match, If-Range, Range, X-Requested-With",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Lets web players of any origin read the reply. Credentials travel as parameters, never as cookies, so
/// there is nothing that another origin could borrow.
pub fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        HeaderValue::from_static("*"),
    );
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Content-Range, Accept-Ranges, Content-Length, ETag"),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_failed_frame_says_who_we_are() {
        let error = Doc::new().with("code", 40).with("message", "no");
        let doc = frame("failed").with("error", error);
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            Format::Jsonp("cb".into()).write(&doc),
            format!(
                r#"cb({{"subsonic-response":{{"status":"failed","version":"1.16.1","type":"segue","serverVersion":"{version}","openSubsonic":true,"error":{{"code":40,"message":"no"}}}}}});"#
            )
        );
    }

    #[test]
    fn a_callback_is_a_name_and_nothing_else() {
        for good in ["cb", "a.b", "$_1", "jQuery123.fn"] {
            assert!(Format::choose(Some("jsonp"), Some(good)).is_ok(), "{good}");
        }
        for bad in ["", "alert(1)", "a b", "a;b", "é", "a\n", &"a".repeat(129)] {
            assert!(Format::choose(Some("jsonp"), Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(
            Format::choose(Some("jsonp"), None).unwrap_err().code,
            ErrorCode::MissingParameter
        );
    }

    #[test]
    fn xml_is_the_default_and_what_an_unknown_format_gets() {
        assert_eq!(Format::choose(None, None), Ok(Format::Xml));
        assert_eq!(Format::choose(Some("yaml"), None), Ok(Format::Xml));
        assert_eq!(Format::choose(Some("JSON"), None), Ok(Format::Json));
    }
}
