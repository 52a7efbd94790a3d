//! How the fake upstream checks who asks.

use super::shared::{Seen, Setup};
use md5::{Digest, Md5};

/// What proofs the upstream accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Token and password, as most servers.
    Token,
    /// Only `p=`. A token is refused with this code; real ones say 10, 41 or 42.
    Password {
        /// The code.
        refusal: u32,
    },
    /// Only `apiKey=`; user and password are refused with 42.
    ApiKey,
    /// Everybody.
    Open,
}

/// A failed envelope's code and message.
pub(super) type Refused = (u32, &'static str);

const WRONG: Refused = (40, "Wrong username or password");
const MISSING: Refused = (10, "Missing parameter");

/// Whether `seen` proves to be the user of `setup`.
pub(super) fn check(setup: &Setup, seen: &Seen) -> Result<(), Refused> {
    let key = seen.param("apiKey");
    let token = seen.param("t").zip(seen.param("s"));
    let password = seen.param("p").map(plain);
    match setup.auth {
        AuthMode::Open => Ok(()),
        AuthMode::ApiKey => match key {
            Some(_) if seen.param("u").is_some() => Err((43, "Conflicting authentication")),
            Some(key) if key == setup.api_key => Ok(()),
            Some(_) => Err((44, "Invalid API key")),
            None => Err((42, "Authentication mechanism not supported")),
        },
        AuthMode::Token | AuthMode::Password { .. } if key.is_some() => {
            Err((42, "Authentication mechanism not supported"))
        }
        AuthMode::Token => match (token, password) {
            (Some((token, salt)), _) => user(setup, seen, token == hash(&setup.password, salt)),
            (None, Some(password)) => user(setup, seen, password == setup.password),
            (None, None) => Err(MISSING),
        },
        AuthMode::Password { refusal } => match (token, password) {
            (_, Some(password)) => user(setup, seen, password == setup.password),
            (Some(_), None) => Err((refusal, "Token authentication not supported")),
            (None, None) => Err(MISSING),
        },
    }
}

fn user(setup: &Setup, seen: &Seen, proved: bool) -> Result<(), Refused> {
    match seen.param("u") {
        None => Err(MISSING),
        Some(name) if name == setup.username && proved => Ok(()),
        Some(_) => Err(WRONG),
    }
}

fn hash(password: &str, salt: &str) -> String {
    hex::encode(Md5::digest(format!("{password}{salt}")))
}

fn plain(p: &str) -> String {
    let decoded = p
        .strip_prefix("enc:")
        .and_then(|digits| hex::decode(digits).ok());
    match decoded.map(String::from_utf8) {
        Some(Ok(password)) => password,
        Some(Err(_)) | None => p.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::library::Library;
    use super::*;

    fn asked(params: &[(&str, &str)]) -> Seen {
        Seen {
            method: http::Method::GET,
            endpoint: "ping".into(),
            params: params
                .iter()
                .map(|(k, v)| ((*k).into(), (*v).into()))
                .collect(),
            headers: http::HeaderMap::new(),
        }
    }

    fn verdict(auth: AuthMode, params: &[(&str, &str)]) -> Result<(), u32> {
        let setup = Setup {
            auth,
            ..Setup::new("home", Library::new())
        };
        check(&setup, &asked(params)).map_err(|(code, _)| code)
    }

    #[test]
    fn each_mode_takes_its_own_proof_and_names_the_others() {
        let token = [
            ("u", "alice"),
            ("t", "26719a1196d2a940705a59634eb18eab"),
            ("s", "c19b2d"),
        ];
        let hex = [("u", "alice"), ("p", "enc:736573616d65")];
        let key = [("apiKey", "key-of-alice")];
        let both = [("u", "alice"), ("apiKey", "key-of-alice")];
        let password = AuthMode::Password { refusal: 41 };
        for (mode, params, expected) in [
            (AuthMode::Token, &token[..], Ok(())),
            (AuthMode::Token, &hex, Ok(())),
            (AuthMode::Token, &key, Err(42)),
            (AuthMode::Token, &[("u", "alice"), ("p", "wrong")], Err(40)),
            (AuthMode::Token, &[("u", "alice")], Err(10)),
            (password, &token, Err(41)),
            (password, &hex, Ok(())),
            (AuthMode::ApiKey, &key, Ok(())),
            (AuthMode::ApiKey, &both, Err(43)),
            (AuthMode::ApiKey, &[("apiKey", "zzz")], Err(44)),
            (AuthMode::ApiKey, &token, Err(42)),
            (AuthMode::Open, &[], Ok(())),
        ] {
            assert_eq!(verdict(mode, params), expected, "{mode:?} {params:?}");
        }
    }
}
