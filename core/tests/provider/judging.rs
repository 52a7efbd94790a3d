//! The shared rules, one by one.

use crate::drive::{json, reply};
use bytes::Bytes;
use http::{Method, Request};
use segue_core::provider::{Trouble, judge, request};
use url::Url;

fn post(uri: &str) -> Request<Bytes> {
    let request = Request::post(uri).header("content-type", "application/json");
    request.body(Bytes::from_static(b"{}")).expect("a request")
}

#[test]
fn json_is_what_parses_whatever_it_is_called() {
    let text = reply(200, &[("content-type", "text/plain")], "\u{feff} {\"a\":1}");
    assert_eq!(judge::json(&text), Ok(serde_json::json!({"a": 1})));
    for body in ["", "<html>", "{\"a\":1", "{} trailing"] {
        let reply = json(body).expect("a reply");
        assert_eq!(judge::json(&reply), Err(Trouble::Malformed), "{body:?}");
    }
}

#[test]
fn a_redirect_keeps_the_request_unless_its_status_says_otherwise() {
    let moved = |status: u16| reply(status, &[("location", "/new?x=1")], "").parts;
    let asked = post("http://h.example/old");
    let kept = judge::redirected(&asked, &moved(308), 0);
    let kept = kept.expect("followed").expect("a redirect");
    assert_eq!(
        (kept.method(), kept.body().as_ref()),
        (&Method::POST, b"{}".as_ref())
    );
    assert_eq!(kept.uri(), "http://h.example/new?x=1");
    let got = judge::redirected(&asked, &moved(303), 2);
    let got = got.expect("followed").expect("a redirect");
    assert_eq!((got.method(), got.body().len()), (&Method::GET, 0));
    assert!(got.headers().get("content-type").is_none());
}

#[test]
fn a_redirect_leads_nowhere_else() {
    let asked = request::to("https://h.example/a").expect("a request");
    for location in [
        "https://other.example/a",
        "http://h.example/a",
        "https://h.example:8443/a",
        "//other.example/a",
        "https://user@h.example/a",
        "file:///etc/passwd",
        "",
    ] {
        let moved = reply(302, &[("location", location)], "").parts;
        let refused = judge::redirected(&asked, &moved, 0);
        // An empty location is the same place: followed, until there were too many.
        let allowed = location.is_empty() && matches!(&refused, Ok(Some(_)));
        assert!(allowed || refused.is_err(), "{location}");
        assert!(judge::redirected(&asked, &moved, 3).is_err(), "{location}");
    }
    let fine = reply(200, &[("location", "https://other.example/")], "").parts;
    assert!(matches!(judge::redirected(&asked, &fine, 0), Ok(None)));
}

#[test]
fn a_request_keeps_the_prefix_and_escapes_what_it_is_given() {
    let base = Url::parse("http://box.example:3300/lrc/?x#y").expect("a URL");
    let request = request::get(&base, "/api/get", &[("q", "a&b=c/ä #%")]).expect("a request");
    assert_eq!(
        request.uri(),
        "http://box.example:3300/lrc/api/get?q=a%26b%3Dc%2F%C3%A4%20%23%25"
    );
}
