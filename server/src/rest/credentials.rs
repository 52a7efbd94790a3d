//! How a call says who it comes from: user and password, user and token, or an API key.
//!
//! Pure. Which user that is, and whether the store knows one, is [`super::auth`]'s business.

use super::envelope::{ApiError, ErrorCode};
use super::params::Params;
use segue_core::source::subsonic::token;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The credentials of one call, not yet checked.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials<'a> {
    /// `u` and `p`.
    Password {
        /// User name as typed.
        user: &'a str,
        /// Every reading of `p`; see `readings`.
        readings: Vec<String>,
    },
    /// `u`, `t` and `s`.
    Token {
        /// User name as typed.
        user: &'a str,
        /// Hex MD5 of password and salt, in either case.
        token: &'a str,
        /// Any text, of any length.
        salt: &'a str,
    },
    /// `apiKey`, which says who the user is by itself.
    ApiKey(&'a str),
}

impl<'a> Credentials<'a> {
    /// Reads the credentials of a call.
    ///
    /// Errors: 43 for an API key beside any other credential, 42 for a way we do not have, 10 for what is
    /// missing. A token wins over a password, as some clients send both.
    pub fn read(params: &'a Params) -> Result<Self, ApiError> {
        if params.has("apiKey") {
            if ["u", "p", "t", "s"].iter().any(|name| params.has(name)) {
                return Err(ApiError::new(
                    ErrorCode::AuthConflict,
                    "An API key cannot be combined with a user name, password or token",
                ));
            }
            return Ok(Credentials::ApiKey(params.required("apiKey")?));
        }
        if params.has("jwt") {
            return Err(ApiError::new(
                ErrorCode::AuthUnsupported,
                "This way to log in is not supported; use a password, a token or an API key",
            ));
        }
        let user = params.required("u")?;
        if params.has("t") || params.has("s") {
            return Ok(Credentials::Token {
                user,
                token: params.required("t")?,
                // An empty salt is a salt; only its absence is an error.
                salt: params
                    .given("s")
                    .next()
                    .ok_or_else(|| ApiError::missing("s"))?,
            });
        }
        let password = params
            .given("p")
            .next()
            .ok_or_else(|| ApiError::missing("p"))?;
        Ok(Credentials::Password {
            user,
            readings: readings(password),
        })
    }

    /// Whether these are the credentials of a user with this password. Takes as long for a near miss as
    /// for any other. An API key never matches a password.
    pub fn match_password(&self, password: &str) -> bool {
        match self {
            Credentials::Password { readings, .. } => readings
                .iter()
                .fold(false, |matched, reading| matched | same(reading, password)),
            Credentials::Token {
                token: given, salt, ..
            } => same(&given.to_ascii_lowercase(), &token(password, salt)),
            Credentials::ApiKey(_) => false,
        }
    }
}

/// What the text of `p` can mean. Plain text means itself. After `enc:` come the hex digits of the bytes,
/// in UTF-8 by the specification and in Latin-1 from clients that write one code point a byte
/// (libsonic), so both readings count. Hex that is none means nothing.
fn readings(p: &str) -> Vec<String> {
    let Some(digits) = p.strip_prefix("enc:") else {
        return vec![p.to_owned()];
    };
    let Ok(bytes) = hex::decode(digits) else {
        return Vec::new();
    };
    let latin1: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    match String::from_utf8(bytes) {
        Ok(utf8) if utf8 == latin1 => vec![utf8],
        Ok(utf8) => vec![utf8, latin1],
        Err(_) => vec![latin1],
    }
}

/// Compares digests, so that the time taken tells neither where two texts differ nor how long they are.
fn same(a: &str, b: &str) -> bool {
    Sha256::digest(a.as_bytes())
        .ct_eq(&Sha256::digest(b.as_bytes()))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(query: &str, password: &str) -> bool {
        let params = Params::parse(query.as_bytes(), b"");
        Credentials::read(&params).is_ok_and(|c| c.match_password(password))
    }

    fn code(query: &str) -> Option<ErrorCode> {
        let params = Params::parse(query.as_bytes(), b"");
        Credentials::read(&params).err().map(|e| e.code)
    }

    #[test]
    fn a_hard_password_logs_in_every_way() {
        let password = "@a&b#%+é";
        assert!(matches("u=x&p=%40a%26b%23%25%2B%C3%A9", password));
        assert!(matches("u=x&p=enc:40612662232525C3A9", "@a&b#%%é"));
        assert!(matches("u=x&p=enc:4061266223252bC3A9", password));
        assert!(matches("u=x&p=enc:4061266223252BE9", password), "Latin-1");
        let token = token(password, "c19b2d");
        assert!(matches(&format!("u=x&t={token}&s=c19b2d"), password));
        let upper = token.to_uppercase();
        assert!(matches(&format!("u=x&t={upper}&s=c19b2d"), password));
    }

    #[test]
    fn the_token_of_the_specification() {
        assert_eq!(
            token("sesame", "c19b2d"),
            "26719a1196d2a940705a59634eb18eab"
        );
        assert!(matches(
            "u=x&t=26719a1196d2a940705a59634eb18eab&s=c19b2d",
            "sesame"
        ));
        assert!(!matches(
            "u=x&t=26719a1196d2a940705a59634eb18eab&s=c19b2e",
            "sesame"
        ));
    }

    #[test]
    fn any_salt_will_do() {
        for salt in ["", "a", "ü+ ", &"s".repeat(500)] {
            let encoded: String = url::form_urlencoded::byte_serialize(salt.as_bytes()).collect();
            let query = format!("u=x&t={}&s={encoded}", token("sesame", salt));
            assert!(matches(&query, "sesame"), "{salt}");
        }
    }

    #[test]
    fn hex_that_is_none_matches_nothing() {
        assert!(!matches("u=x&p=enc:null", "enc:null"));
        assert!(!matches("u=x&p=enc:null", ""));
        assert!(!matches("u=x&p=enc:abc", ""));
        assert!(!matches("u=x&p=", "sesame"));
    }

    #[test]
    fn each_fault_has_its_code() {
        assert_eq!(code(""), Some(ErrorCode::MissingParameter));
        assert_eq!(code("p=x"), Some(ErrorCode::MissingParameter));
        assert_eq!(code("u=x"), Some(ErrorCode::MissingParameter));
        assert_eq!(code("u=x&t=00"), Some(ErrorCode::MissingParameter));
        assert_eq!(code("u=x&s=00"), Some(ErrorCode::MissingParameter));
        assert_eq!(code("apiKey="), Some(ErrorCode::MissingParameter));
        assert_eq!(code("apiKey=k&u=x"), Some(ErrorCode::AuthConflict));
        assert_eq!(code("apiKey=k&t=x&s=y"), Some(ErrorCode::AuthConflict));
        assert_eq!(code("u=x&jwt=abc"), Some(ErrorCode::AuthUnsupported));
        assert_eq!(code("apiKey=k"), None);
        assert_eq!(code("u=x&p=y&t=z&s=w"), None);
    }
}
