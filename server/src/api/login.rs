//! Who asks the JSON API: Basic with a user's password, or an API key: as Bearer, in a header of its own, or, for
//! programs that know nothing else, as the password of Basic.

use super::{problem, store_problem};
use crate::hub::{Hub, HubRuntime};
use crate::rest::auth;
use crate::rest::credentials::Credentials;
use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};
use segue_sqlite::{StreamOperation, UserRow};
use std::net::{IpAddr, SocketAddr};

/// A checked user.
#[derive(Clone, Debug)]
pub(super) struct Visitor(UserRow);

impl Visitor {
    pub(super) fn is_admin(&self) -> bool {
        self.0.is_admin
    }

    /// An admin sees what everybody plays, others what they play themselves.
    pub(super) fn filter(&self, mut rows: Vec<StreamOperation>) -> Vec<StreamOperation> {
        if !self.is_admin() {
            rows.retain(|row| row.user == self.0.name);
        }
        rows
    }
}

/// What of a request says who it comes from.
pub(super) struct Claim {
    authorization: Option<String>,
    key: Option<String>,
    peer: Option<IpAddr>,
    is_forwarded: bool,
}

impl Claim {
    /// Reads it.
    pub(super) fn of(request: &Request) -> Self {
        let headers = request.headers();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let authorization = text(header::AUTHORIZATION.as_str());
        let key = text("x-api-key").map(str::trim);
        // The address that connected. Forwarded headers are not trusted.
        let peer = request.extensions().get::<SocketAddr>();
        Claim {
            authorization: authorization.map(str::to_owned),
            key: key.map(str::to_owned),
            peer: peer.map(|peer| peer.ip().to_canonical()),
            is_forwarded: ["forwarded", "x-forwarded-for"]
                .iter()
                .any(|name| headers.contains_key(*name)),
        }
    }

    /// Whether the request comes from this machine, straight.
    pub(super) fn is_loopback(&self) -> bool {
        self.peer.is_some_and(|ip| ip.is_loopback()) && !self.is_forwarded
    }
}

/// The user of a request, or the answer for one that has none.
pub(super) async fn visitor<R: HubRuntime>(
    hub: &Hub<R>,
    claim: &Claim,
) -> Result<Visitor, Response> {
    if let Some(key) = &claim.key {
        return checked(hub, &Credentials::ApiKey(key), claim).await;
    }
    let (scheme, value) = claim
        .authorization
        .as_deref()
        .and_then(|header| header.split_once(' '))
        .ok_or_else(unauthorized)?;
    let value = value.trim();
    let basic;
    let credentials = if scheme.eq_ignore_ascii_case("bearer") {
        Credentials::ApiKey(value)
    } else if scheme.eq_ignore_ascii_case("basic") {
        let decoded = STANDARD.decode(value).map_err(|_| unauthorized())?;
        basic = String::from_utf8(decoded).map_err(|_| unauthorized())?;
        let (user, password) = basic.split_once(':').ok_or_else(unauthorized)?;
        if is_key_shaped(password)
            && let Ok(visitor) = checked(hub, &Credentials::ApiKey(password), claim).await
        {
            return Ok(visitor);
        }
        Credentials::Password {
            user,
            readings: vec![password.to_owned()],
        }
    } else {
        return Err(unauthorized());
    };
    checked(hub, &credentials, claim).await
}

/// Whether a password may be a key: 32 bytes in the alphabet of URLs.
fn is_key_shaped(password: &str) -> bool {
    let is_of_alphabet = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    password.len() == 43 && password.bytes().all(is_of_alphabet)
}

async fn checked<R: HubRuntime>(
    hub: &Hub<R>,
    credentials: &Credentials<'_>,
    claim: &Claim,
) -> Result<Visitor, Response> {
    match auth::check_credentials(hub, credentials, claim.peer).await {
        Ok(user) => Ok(Visitor(user)),
        Err(auth::Denied::Store(error)) => Err(store_problem(&error)),
        Err(auth::Denied::Credentials(_)) => Err(unauthorized()),
    }
}

fn unauthorized() -> Response {
    let mut response = problem(
        StatusCode::UNAUTHORIZED,
        "Log in with Basic (user and password) or an API key (Bearer, or the header X-Api-Key)",
    );
    response.headers_mut().insert(
        header::WWW_AUTHENTICATE,
        HeaderValue::from_static("Basic realm=\"segue\", charset=\"UTF-8\""),
    );
    response
}
