//! Asking a Subsonic server and finding out how it wants to be asked.

use segue_core::io::NetError;
use segue_core::source::subsonic::{
    Auth, BadEndpoint, Credentials, Endpoint, Negotiation, Secret, Step, decode_password, token,
};
use segue_core::source::{EnvelopeCode, Refusal};
use url::Url;

fn alice(password: &str) -> Credentials {
    Credentials::password("alice", Secret::new(password))
}

fn endpoint(base: &str, credentials: Credentials) -> Result<Endpoint, BadEndpoint> {
    Endpoint::new(&base.parse::<Url>().unwrap(), credentials)
}

/// The decoded query of a request.
fn query(auth: Auth, credentials: Credentials, params: &[(&str, &str)]) -> Vec<(String, String)> {
    let endpoint = endpoint("http://upstream", credentials).unwrap();
    let request = endpoint.request("stream", params, auth, "c19b2d").unwrap();
    let url: Url = request.uri().to_string().parse().unwrap();
    let common = ["v", "f", "c"];
    let pairs = url.query_pairs().into_owned();
    pairs
        .filter(|(name, _)| !common.contains(&name.as_str()))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn the_path_prefix_is_kept_and_rest_is_added_once() {
    let cases = [
        ("http://upstream", "http://upstream/rest/ping"),
        ("http://upstream/", "http://upstream/rest/ping"),
        (
            "https://upstream:4040/audio/",
            "https://upstream:4040/audio/rest/ping",
        ),
        (
            "http://upstream/audio/rest",
            "http://upstream/audio/rest/ping",
        ),
        (
            "http://upstream/audio/rest/?x=y#z",
            "http://upstream/audio/rest/ping",
        ),
        ("http://[::1]:4533", "http://[::1]:4533/rest/ping"),
    ];
    for (base, expected) in cases {
        let request = endpoint(base, alice("x"))
            .unwrap()
            .request("ping", &[], Auth::Token, "s");
        let uri = request.unwrap().uri().to_string();
        assert_eq!(uri.split('?').next(), Some(expected), "{base}");
    }
}

#[test]
fn a_request_is_a_plain_get() {
    let request = endpoint("http://upstream", alice("sesame"))
        .unwrap()
        .request("stream", &[("id", "1+/= ä&")], Auth::Token, "c19b2d");
    let request = request.unwrap();
    assert_eq!(request.method(), http::Method::GET);
    assert_eq!(request.headers()["accept-encoding"], "identity");
    assert_eq!(
        request.uri().query(),
        Some(
            "v=1.16.1&f=json&c=segue&u=alice&t=26719a1196d2a940705a59634eb18eab&s=c19b2d\
             &id=1%2B%2F%3D%20%C3%A4%26"
        )
    );
}

#[test]
fn each_way_shows_its_own_parameters() {
    let hard = "@a&b#%+é";
    assert_eq!(
        query(Auth::PasswordPlain, alice(hard), &[]),
        pairs(&[("u", "alice"), ("p", hard)])
    );
    let hex = [("u", "alice"), ("p", "enc:4061266223252bc3a9")];
    assert_eq!(query(Auth::PasswordHex, alice(hard), &[]), pairs(&hex));
    let token = [
        ("u", "alice"),
        ("t", "26719a1196d2a940705a59634eb18eab"),
        ("s", "c19b2d"),
    ];
    assert_eq!(query(Auth::Token, alice("sesame"), &[]), pairs(&token));
    // An API key goes alone: with a user it is error 43.
    let key = Credentials::api_key(Secret::new("k"));
    assert_eq!(
        query(Auth::ApiKey, key, &[("id", "1")]),
        pairs(&[("apiKey", "k"), ("id", "1")])
    );
}

#[test]
fn bad_base_urls_are_named() {
    assert_eq!(
        endpoint("ftp://upstream", alice("x")).err(),
        Some(BadEndpoint::Scheme)
    );
    assert_eq!(
        endpoint("http://u:p@upstream", alice("x")).err(),
        Some(BadEndpoint::UserInfo)
    );
}

#[test]
fn an_id_of_absurd_length_is_an_error_and_no_panic() {
    let long = "x".repeat(70_000);
    let request = endpoint("http://upstream", alice("x")).unwrap().request(
        "stream",
        &[("id", &long)],
        Auth::Token,
        "s",
    );
    assert_eq!(request.err(), Some(Refusal::Net(NetError::BadUrl)));
}

#[test]
fn secrets_print_as_stars() {
    let mut credentials = alice("sesame");
    credentials.api_key = Some(Secret::new("open"));
    let endpoint = endpoint("http://upstream", credentials).unwrap();
    let shown = format!("{endpoint:?} {}", endpoint.credentials().secret);
    assert!(
        !shown.contains("sesame") && !shown.contains("open"),
        "{shown}"
    );
    assert!(shown.ends_with("***"), "{shown}");
}

#[test]
fn a_token_is_the_digest_of_password_and_salt() {
    assert_eq!(
        token("sesame", "c19b2d"),
        "26719a1196d2a940705a59634eb18eab"
    );
}

#[test]
fn passwords_are_decoded_from_every_client() {
    let cases = [
        ("plain", Some("plain")),
        ("enc:736573616d65", Some("sesame")),
        ("enc:C3A4", Some("ä")),
        // Characters instead of bytes, as common client libraries write them.
        ("enc:E4", Some("ä")),
        ("enc:", Some("")),
        ("enc:null", None),
        ("enc:123", None),
    ];
    for (parameter, expected) in cases {
        assert_eq!(
            decode_password(parameter).as_deref(),
            expected,
            "{parameter}"
        );
    }
}

fn failed(code: u32) -> String {
    format!(
        r#"{{"subsonic-response":{{"status":"failed","error":{{"code":{code},"message":"no"}}}}}}"#
    )
}

/// Answers every ping and returns the ways that were tried and what came of it.
fn negotiate(
    credentials: &Credentials,
    remembered: Option<Auth>,
    answer: impl Fn(Auth) -> Result<String, Refusal>,
) -> (Vec<Auth>, Result<Auth, Refusal>) {
    let mut negotiation = Negotiation::start(credentials, remembered);
    let mut tried = Vec::new();
    loop {
        match negotiation.step() {
            Step::Settled(settled) => return (tried, settled),
            Step::Ping(way) => {
                tried.push(way);
                let reply = answer(way);
                negotiation.answer(
                    reply
                        .as_deref()
                        .map(str::as_bytes)
                        .map_err(|refusal| *refusal),
                );
            }
        }
    }
}

const OK: &str = r#"{"subsonic-response":{"status":"ok","version":"1.12.0"}}"#;
const ALL: [Auth; 3] = [Auth::Token, Auth::PasswordHex, Auth::PasswordPlain];

#[test]
fn a_server_without_tokens_is_asked_with_the_password() {
    for code in [10, 40, 41, 42] {
        let answer = |way| {
            Ok(if way == Auth::Token {
                failed(code)
            } else {
                OK.to_owned()
            })
        };
        let (tried, settled) = negotiate(&alice("x"), None, answer);
        assert_eq!(
            (tried.as_slice(), settled),
            (&ALL[..2], Ok(Auth::PasswordHex)),
            "{code}"
        );
    }
}

#[test]
fn a_server_that_answers_xml_is_understood() {
    let xml = r#"<subsonic-response status="failed" version="1.12.0"><error code="10" message="x"/></subsonic-response>"#;
    let ok = r#"<?xml version="1.0"?><subsonic-response status="ok" version="1.12.0"/>"#;
    let answer = |way| Ok(if way == Auth::Token { xml } else { ok }.to_owned());
    assert_eq!(
        negotiate(&alice("x"), None, answer).1,
        Ok(Auth::PasswordHex)
    );
}

#[test]
fn a_wrong_password_is_reported_once_and_does_not_loop() {
    let (tried, settled) = negotiate(&alice("x"), None, |_| Ok(failed(40)));
    assert_eq!((tried.as_slice(), settled), (&ALL[..], Err(Refusal::Auth)));
    let (tried, settled) = negotiate(&alice("x"), None, |_| Err(Refusal::Auth));
    assert_eq!((tried.as_slice(), settled), (&ALL[..], Err(Refusal::Auth)));
}

#[test]
fn what_worked_last_time_is_tried_first() {
    let (tried, settled) = negotiate(
        &alice("x"),
        Some(Auth::PasswordPlain),
        |_| Ok(OK.to_owned()),
    );
    assert_eq!(
        (tried.as_slice(), settled),
        (&[Auth::PasswordPlain][..], Ok(Auth::PasswordPlain))
    );
    // A way that these credentials cannot go is no memory worth having.
    let (tried, _) = negotiate(&alice("x"), Some(Auth::ApiKey), |_| Ok(OK.to_owned()));
    assert_eq!(tried, [Auth::Token]);
}

#[test]
fn an_api_key_comes_first_and_the_password_after_it() {
    let mut credentials = alice("x");
    credentials.api_key = Some(Secret::new("k"));
    let answer = |way| {
        Ok(if way == Auth::ApiKey {
            failed(44)
        } else {
            OK.to_owned()
        })
    };
    let (tried, settled) = negotiate(&credentials, None, answer);
    assert_eq!(
        (tried.as_slice(), settled),
        (&[Auth::ApiKey, Auth::Token][..], Ok(Auth::Token))
    );
    let nothing = Credentials::password("alice", Secret::default());
    assert_eq!(
        negotiate(&nothing, None, |_| Ok(OK.to_owned())),
        (vec![], Err(Refusal::Auth))
    );
}

#[test]
fn trouble_of_another_kind_ends_the_negotiation_and_accuses_nobody() {
    let generic = Refusal::ErrorDocument(Some(EnvelopeCode::Generic));
    let too_old = Refusal::ErrorDocument(Some(EnvelopeCode::ClientTooOld));
    let page = Refusal::ErrorDocument(None);
    let down = Refusal::Net(NetError::Refused);
    let cases = [
        (Ok(failed(0)), generic),
        (Ok(failed(20)), too_old),
        (Ok(failed(50)), Refusal::Auth),
        (Ok("<html>log in</html>".to_owned()), page),
        (Err(down), down),
    ];
    for (answer, expected) in cases {
        let (tried, settled) = negotiate(&alice("x"), None, |_| answer.clone());
        assert_eq!((tried.len(), settled), (1, Err(expected)), "{answer:?}");
    }
}
