//! Who calls: credentials held against the store, with guessing slowed down.

use super::credentials::Credentials;
use super::envelope::{ApiError, ErrorCode};
use super::throttle::Claimant;
use crate::hub::{Hub, HubRuntime};
use segue_core::driver::lock;
use segue_core::io::{Clock, StoreError};
use segue_sqlite::UserRow;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// What an unknown user's password is compared with, so that the comparison takes place all the same.
const NOBODYS_PASSWORD: &str = "no user has this one";

/// Why nobody is let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The credentials are not those of a user, or came after too many wrong ones.
    #[error(transparent)]
    Credentials(ApiError),
    /// Nobody can tell.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Denied> for ApiError {
    fn from(denied: Denied) -> Self {
        match denied {
            Denied::Credentials(error) => error,
            Denied::Store(error) => error.into(),
        }
    }
}

/// The user with these credentials. Unknown users take the same path as known ones with a wrong password;
/// who failed too often is refused without a look.
pub async fn check_credentials<R: HubRuntime>(
    hub: &Hub<R>,
    credentials: &Credentials<'_>,
    peer: Option<IpAddr>,
) -> Result<UserRow, Denied> {
    match credentials {
        Credentials::ApiKey(key) => user_of_key(hub, key).await,
        Credentials::Password { user, .. } | Credentials::Token { user, .. } => {
            let claimant = Claimant::new(user, peer);
            if lock(hub.logins()).is_held(&claimant, hub.clock().now()) {
                return Err(wrong());
            }
            match matching_user(hub, credentials, (*user).to_owned()).await? {
                Some(user) => {
                    lock(hub.logins()).succeeded(&claimant);
                    Ok(user)
                }
                None => {
                    lock(hub.logins()).failed(claimant, hub.clock().now());
                    Err(wrong())
                }
            }
        }
    }
}

/// Guessing an API key is hopeless, so it is not throttled: one stale client would lock out a household.
async fn user_of_key<R: HubRuntime>(hub: &Hub<R>, key: &str) -> Result<UserRow, Denied> {
    let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    let user = hub.look_up(move |r| r.user_by_api_key(&hash)).await?;
    let unknown = || ApiError::new(ErrorCode::InvalidApiKey, "The API key is not known");
    user.ok_or_else(|| Denied::Credentials(unknown()))
}

async fn matching_user<R: HubRuntime>(
    hub: &Hub<R>,
    credentials: &Credentials<'_>,
    name: String,
) -> Result<Option<UserRow>, StoreError> {
    let user = hub.look_up(move |r| r.user(&name)).await?;
    let password = match &user {
        Some(user) => hub.passwords().open(&user.password_enc),
        None => Some(NOBODYS_PASSWORD.to_owned()),
    };
    let Some(password) = password else {
        // Sealed under another key, or damaged: only a new one helps.
        tracing::error!("a user's password cannot be read; set it again");
        return Ok(None);
    };
    let matches = credentials.match_password(&password);
    Ok(user.filter(|_| matches))
}

fn wrong() -> Denied {
    let message = "Wrong username or password";
    Denied::Credentials(ApiError::new(ErrorCode::WrongCredentials, message))
}
