//! Which redirects of an upstream may be followed: to the same scheme, host and port, at most three
//! (contracts section 3, row "redirect"). A request carries credentials, and a hub stands inside networks
//! that strangers do not.

use super::Refusal;
use crate::twin::{self, Twin};
use http::{StatusCode, Uri};
use url::Url;

/// How many redirects one request may follow.
pub const MAX_HOPS: usize = 3;

/// Whether `status` sends us elsewhere for the same thing.
pub fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where to ask next after a redirect from `from` to `location`, when `hops` were followed before it.
pub fn follow(from: &Uri, location: &str, hops: usize) -> Result<Uri, Refusal> {
    if hops >= MAX_HOPS {
        return Err(Refusal::RedirectRefused);
    }
    let from = Url::parse(&from.to_string()).map_err(|_| Refusal::RedirectRefused)?;
    let mut to = from
        .join(location.trim())
        .map_err(|_| Refusal::RedirectRefused)?;
    let same_origin = matches!(to.scheme(), "http" | "https")
        && to.scheme() == from.scheme()
        && to.host() == from.host()
        && to.port_or_known_default() == from.port_or_known_default();
    let plain = to.username().is_empty() && to.password().is_none();
    if (!same_origin && !twin::is(Twin::RedirectAnywhere)) || !plain {
        return Err(Refusal::RedirectRefused);
    }
    to.set_fragment(None);
    to.as_str().parse().map_err(|_| Refusal::RedirectRefused)
}
