//! Requests to one server.

use super::auth::{Auth, Credentials};
use crate::io::NetError;
use crate::source::Refusal;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

/// The version of the API that we speak.
pub const API_VERSION: &str = "1.16.1";

/// Everything but the unreserved characters of RFC 3986: a space is `%20`, since not every server reads `+`.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Where a server is, and as whom to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Scheme, host, port and path, up to and without `/rest`.
    base: String,
    credentials: Credentials,
}

/// Why a base URL cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    /// Neither `http` nor `https`.
    #[error("the URL must begin with http:// or https://")]
    Scheme,
    /// No host.
    #[error("the URL has no host")]
    Host,
    /// User and password in the URL would end up in logs.
    #[error("user and password belong into their own settings, not into the URL")]
    UserInfo,
}

impl Endpoint {
    /// The server at `base_url`, with or without a path prefix, with or without `/rest` at its end. Query and
    /// fragment are dropped.
    pub fn new(base_url: &Url, credentials: Credentials) -> Result<Self, BadEndpoint> {
        if !matches!(base_url.scheme(), "http" | "https") {
            return Err(BadEndpoint::Scheme);
        }
        if !base_url.username().is_empty() || base_url.password().is_some() {
            return Err(BadEndpoint::UserInfo);
        }
        let host = base_url.host_str().ok_or(BadEndpoint::Host)?;
        let port = base_url.port().map(|port| format!(":{port}"));
        let path = base_url.path().trim_end_matches('/');
        let path = path.strip_suffix("/rest").unwrap_or(path);
        let base = format!(
            "{}://{host}{}{}",
            base_url.scheme(),
            port.unwrap_or_default(),
            path.trim_end_matches('/')
        );
        Ok(Endpoint { base, credentials })
    }

    /// Where the server is. Holds no secret.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// As whom we ask.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// A GET of `method` (`ping`, `stream`, ...) with `params`. `salt` is fresh randomness, used by
    /// [`Auth::Token`]. The URI holds secrets: never log it. Fails only when it grows longer than a URI may be.
    pub fn request(
        &self,
        method: &str,
        params: &[(&str, &str)],
        auth: Auth,
        salt: &str,
    ) -> Result<Request<Bytes>, Refusal> {
        let mut uri = format!(
            "{}/rest/{}?v={API_VERSION}&f=json",
            self.base,
            encode(method)
        );
        let mut push = |name: &str, value: &str| {
            uri.push('&');
            uri.extend(utf8_percent_encode(name, COMPONENT));
            uri.push('=');
            uri.extend(utf8_percent_encode(value, COMPONENT));
        };
        push("c", &self.credentials.client);
        for (name, value) in auth.parameters(&self.credentials, salt) {
            push(name, &value);
        }
        for (name, value) in params {
            push(name, value);
        }
        let uri: Uri = uri.parse().map_err(|_| Refusal::Net(NetError::BadUrl))?;
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let agent = concat!("segue/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        Ok(request)
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}
