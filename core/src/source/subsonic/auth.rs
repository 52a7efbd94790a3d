//! Credentials and the ways to show them (OpenSubsonic, "Authentication").

use md5::{Digest, Md5};
use serde::Deserialize;
use std::fmt;

/// A password or key. Prints as `***`; only [`Secret::reveal`] shows it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Secret(secret.into())
    }

    /// The secret itself, for encryption and for requests. Never for logs.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for Secret {
    fn from(secret: String) -> Self {
        Secret(secret)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Who we are at a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// User name; not sent along with an API key (error 43).
    pub username: String,
    /// The password in clear, as every way but the API key needs it; empty when there is only a key.
    pub secret: Secret,
    /// An API key, when the source gives them out.
    pub api_key: Option<Secret>,
    /// Client name, as sources show it.
    pub client: String,
}

impl Credentials {
    /// A user with a password.
    pub fn password(username: impl Into<String>, password: Secret) -> Self {
        Credentials {
            username: username.into(),
            secret: password,
            api_key: None,
            client: "segue".to_owned(),
        }
    }

    /// An API key alone.
    pub fn api_key(key: Secret) -> Self {
        Credentials {
            username: String::new(),
            secret: Secret::default(),
            api_key: Some(key),
            client: "segue".to_owned(),
        }
    }

    /// The ways that these credentials can be shown, the best first.
    pub fn ways(&self) -> Vec<Auth> {
        let mut ways = Vec::new();
        if self.api_key.is_some() {
            ways.push(Auth::ApiKey);
        }
        if !self.secret.is_empty() {
            ways.extend([Auth::Token, Auth::PasswordHex, Auth::PasswordPlain]);
        }
        ways
    }
}

/// A way to authenticate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Auth {
    /// `apiKey`, without a user.
    ApiKey,
    /// `t` and `s`: a digest of password and salt.
    Token,
    /// `p=enc:` with the password in hexadecimal.
    PasswordHex,
    /// `p` as it is.
    PasswordPlain,
}

impl Auth {
    /// The word used in tables and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Auth::ApiKey => "api_key",
            Auth::Token => "token",
            Auth::PasswordHex => "password_hex",
            Auth::PasswordPlain => "password_plain",
        }
    }

    /// Reads what [`Auth::as_str`] wrote.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Auth::ApiKey,
            Auth::Token,
            Auth::PasswordHex,
            Auth::PasswordPlain,
        ]
        .into_iter()
        .find(|auth| auth.as_str() == word)
    }

    /// The parameters that show `credentials` this way, user included.
    pub(super) fn parameters(
        self,
        credentials: &Credentials,
        salt: &str,
    ) -> Vec<(&'static str, String)> {
        let user = ("u", credentials.username.clone());
        let secret = credentials.secret.reveal();
        match self {
            Auth::ApiKey => {
                let key = credentials.api_key.as_ref().map(Secret::reveal);
                vec![("apiKey", key.unwrap_or_default().to_owned())]
            }
            Auth::Token => vec![user, ("t", token(secret, salt)), ("s", salt.to_owned())],
            Auth::PasswordHex => vec![user, ("p", format!("enc:{}", hex::encode(secret)))],
            Auth::PasswordPlain => vec![user, ("p", secret.to_owned())],
        }
    }
}

/// The token of a password and a salt, in lower case as some servers insist.
///
/// ```
/// use segue_core::source::subsonic::token;
/// assert_eq!(token("sesame", "c19b2d"), "26719a1196d2a940705a59634eb18eab");
/// ```
pub fn token(password: &str, salt: &str) -> String {
    let mut digest = Md5::new();
    digest.update(password);
    digest.update(salt);
    hex::encode(digest.finalize())
}

/// The password in a `p` parameter: plain, or `enc:` and hexadecimal. `None` when that is not hexadecimal, as in
/// `enc:null`. Common client libraries encode characters instead of bytes, so what is not UTF-8 is read as Latin-1.
pub fn decode_password(parameter: &str) -> Option<String> {
    let Some(digits) = parameter.strip_prefix("enc:") else {
        return Some(parameter.to_owned());
    };
    let bytes = hex::decode(digits).ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(password) => password,
        Err(error) => error.as_bytes().iter().copied().map(char::from).collect(),
    })
}
