//! Requests as all providers get them.

use super::{Next, Outcome, Trouble};
use crate::io::NetError;
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, HeaderValue, USER_AGENT};
use http::{Request, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

/// What we call ourselves: a name of our own, never that of a browser or of a library.
pub const AGENT: &str = concat!(
    "segue/",
    env!("CARGO_PKG_VERSION"),
    " (self-hosted music hub)"
);

/// Everything but the unreserved characters of RFC 3986.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Text as one component of a path or query.
#[must_use]
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// `base` with `path` below it and these parameters; a path prefix of `base` stays, its query and fragment do not.
///
/// # Errors
/// [`NetError::BadUrl`] when it grows longer than a URI may be.
pub fn get(base: &Url, path: &str, params: &[(&str, &str)]) -> Result<Request<Bytes>, Trouble> {
    let mut base = base.clone();
    base.set_query(None);
    base.set_fragment(None);
    let mut text = format!("{}{path}", base.as_str().trim_end_matches('/'));
    let mut separator = '?';
    for (name, value) in params {
        text.push(separator);
        separator = '&';
        text += &encoded(name);
        text.push('=');
        text += &encoded(value);
    }
    to(&text)
}

/// What a lookup is after it wants `request`, and what it wants: it is `asked`, or over with why there is none.
pub(super) fn or_over<S>(
    request: Result<Request<Bytes>, Trouble>,
    asked: S,
    over: impl FnOnce(Outcome) -> S,
) -> (S, Next) {
    match request {
        Ok(request) => (asked, Next::Send(Box::new(request))),
        Err(trouble) => {
            let outcome = Outcome::Failed(trouble);
            (over(outcome.clone()), Next::Done(outcome))
        }
    }
}

/// A GET of `uri`, in our name and without compression.
///
/// # Errors
/// [`NetError::BadUrl`] when that cannot be a URI.
pub fn to(uri: &str) -> Result<Request<Bytes>, Trouble> {
    let uri: Uri = uri.parse().map_err(|_| Trouble::Net(NetError::BadUrl))?;
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    Ok(request)
}
