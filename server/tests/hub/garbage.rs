//! Wrong input, and the web's own rules: every request gets an answer that says what is wrong, never a 500,
//! and the hub goes on as if nothing had been.

use crate::same::assert_bytes;
use crate::shelf::text;
use crate::world::{AUTH, Pair, SONG, TestHub, assert_no_leak};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use segue::rest::endpoint::Endpoint;
use segue::upstream::{Fault, Group};

/// What no parameter should ever be, already encoded.
fn garbage() -> Vec<String> {
    let raw: [&[u8]; 16] = [
        b"",
        b"0",
        b"-1",
        b"99999999999999999999999999",
        b"1e400",
        b"NaN",
        b"0x10",
        b"tr-",
        b"../../../../etc/passwd",
        b"' OR 1=1; --",
        b"%",
        b"\0\r\nX-Injected: yes",
        b"\xff\xfe\xc3\x28",
        "💥\u{202e}\u{301}".as_bytes(),
        b"<script>{{7*7}}${7*7}</script>",
        b"folder://one/track?path=..%2f..",
    ];
    let encoded = raw
        .iter()
        .map(|raw| percent_encode(raw, NON_ALPHANUMERIC).to_string());
    encoded.chain(["a".repeat(8000)]).collect()
}

/// Parameters that any endpoint reads.
const NAMES: [&str; 24] = [
    "id",
    "albumId",
    "artistId",
    "size",
    "count",
    "offset",
    "query",
    "type",
    "fromYear",
    "toYear",
    "genre",
    "musicFolderId",
    "ifModifiedSince",
    "artistCount",
    "albumOffset",
    "songCount",
    "format",
    "maxBitRate",
    "timeOffset",
    "rating",
    "time",
    "submission",
    "username",
    "artist",
];

async fn assert_well(pair: &Pair) {
    assert_bytes!(pair.stream().await.body, pair.first_bytes());
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_endpoint_answers_garbage_with_an_envelope() {
    let pair = Pair::start().await;
    for value in garbage() {
        let params: String = NAMES.map(|name| format!("&{name}={value}")).concat();
        for endpoint in Endpoint::ALL {
            let target = format!("/rest/{}?{AUTH}&f=json", endpoint.name());
            // By form: some of these are longer than a request line may be.
            let reply = pair.hub.post(&target, params.clone()).await;
            let case = format!("{endpoint:?} {:.40}: {}", value, reply.text());
            assert!(matches!(reply.status, 200 | 404), "{case}");
            assert_eq!(reply.broken, None, "{case}");
            assert_eq!(reply.header("x-injected"), "", "{case}");
            let status = text(&reply.json()["subsonic-response"]["status"]);
            assert!(matches!(&*status, "ok" | "failed"), "{case}");
        }
    }
    assert_well(&pair).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stream_parameters_out_of_all_bounds_are_refused_or_clamped() {
    let pair = Pair::start().await;
    for (params, status) in [
        ("maxBitRate=abc", "failed"),
        ("maxBitRate=-1", "failed"),
        ("maxBitRate=1e3", "failed"),
        ("timeOffset=-5", "failed"),
        ("timeOffset=soon", "failed"),
    ] {
        let reply = pair.stream_with(&format!("f=json&{params}"), &[]).await;
        assert_eq!(
            reply.json()["subsonic-response"]["status"],
            status,
            "{params}"
        );
        assert_eq!(
            reply.json()["subsonic-response"]["error"]["code"],
            0,
            "{params}"
        );
    }
    for params in [
        "maxBitRate=0",
        "maxBitRate=",
        "maxBitRate=4294967295",
        "maxBitRate=%20%20900",
        "timeOffset=4294967295",
        "format=raw",
        "format=RAW",
        "format=",
        "format=..%2F..%2Fetc",
        "format=%00",
        "converted=true&size=640x480&callback=x&unknown=1",
    ] {
        let reply = pair.stream_with(params, &[]).await;
        assert_eq!(
            (reply.status, &reply.body),
            (200, &pair.first_bytes()),
            "{params}"
        );
        let seen = pair.first.shared().last_seen("stream").expect("a request");
        let names: Vec<_> = seen.params.iter().map(|(name, _)| name.as_str()).collect();
        assert!(
            !names.contains(&"unknown") && !names.contains(&"converted"),
            "{names:?}"
        );
    }
    for params in [
        "maxBitRate=1",
        "format=no-such-format",
        "format=wma&maxBitRate=9999999",
    ] {
        let reply = pair.stream_with(params, &[]).await;
        assert_eq!(reply.status, 200, "{params}");
    }
    assert_well(&pair).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_that_lead_nowhere_are_answered() {
    let pair = Pair::start().await;
    for target in [
        "/rest",
        "/rest/",
        "/rest/no-such",
        "/rest/stream/..",
        "/rest/../api/v1/sources",
        "//",
        "/rest/%2e%2e/x",
        "/rest/ping.view.view",
    ] {
        let reply = pair.hub.get(&format!("{target}?{AUTH}")).await;
        assert!(reply.status < 500, "{target}: {}", reply.status);
        assert!(!reply.text().contains("sesame"), "{target}");
    }
    for method in ["PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let target = pair.hub.stream_target(&pair.id, "");
        let reply = pair.hub.ask(method, &target, &[]).await;
        assert!(reply.status < 500, "{method}: {}", reply.status);
    }
    for path in [
        "activity?limit=abc",
        "activity?limit=-1",
        "no-such",
        "activity/active/x",
    ] {
        let reply = pair.hub.call_api("GET", path).await;
        assert!(
            (400..500).contains(&reply.status),
            "{path}: {}",
            reply.status
        );
        assert!(reply.json()["error"].is_string(), "{path}");
    }
    assert_eq!(pair.first.counters().streams, 0);
    assert_well(&pair).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_or_a_form_beyond_all_bounds_is_refused() {
    let pair = Pair::start().await;
    let long = pair.hub.stream_target(&"a".repeat(40_000), "");
    if let Some(reply) = pair.hub.overload(&long, String::new()).await {
        assert!((400..500).contains(&reply.status), "{}", reply.status);
    }
    let target = format!("/rest/stream?{AUTH}&f=json");
    let reply = pair
        .hub
        .post(&target, format!("id={}", "a".repeat(1_000_000)))
        .await;
    assert_eq!(
        (
            reply.status,
            &reply.json()["subsonic-response"]["error"]["code"]
        ),
        (404, &70.into())
    );
    let form = format!("id={}", "a".repeat(9_000_000));
    if let Some(reply) = pair.hub.overload(&target, form).await {
        let error = reply.json()["subsonic-response"]["error"].take();
        assert_eq!(error["code"], 0);
    }
    assert_well(&pair).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_garbage_are_ignored() {
    let pair = Pair::start().await;
    let long = format!("bytes={}", "0-1,".repeat(4000));
    for (name, value) in [
        ("range", &*long),
        ("range", "bytes=\u{e9}-"),
        ("if-range", "\u{e9}\u{e9}"),
        ("if-none-match", "\"\\\",,,*"),
        ("content-type", "multipart/form-data; boundary="),
        ("accept", "\u{e9}"),
        ("host", "evil.example:99999"),
        ("authorization", "Basic !!!"),
        ("x-forwarded-for", "' OR 1=1"),
    ] {
        let reply = pair.stream_with("", &[(name, value)]).await;
        assert_eq!(
            (reply.status, reply.body),
            (200, pair.first_bytes()),
            "{name}"
        );
    }
    assert_well(&pair).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn os19_everything_can_be_asked_by_a_form() {
    let pair = Pair::start().await;
    let reply = pair
        .hub
        .post("/rest/ping.view", format!("{AUTH}&f=json"))
        .await;
    assert_eq!(reply.json()["subsonic-response"]["status"], "ok");
    let form = format!("{AUTH}&id={}", pair.id);
    for endpoint in ["stream", "stream.view", "download"] {
        let reply = pair
            .hub
            .post(&format!("/rest/{endpoint}"), form.clone())
            .await;
        assert_eq!(
            (reply.status, reply.body),
            (200, pair.first_bytes()),
            "{endpoint}"
        );
    }
    let reply = pair.hub.post("/rest/getCoverArt", form).await;
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, "image/png")
    );
}

/// What a page of another origin may read.
async fn assert_open(hub: &TestHub, method: &str, target: &str, status: u16) {
    let reply = hub
        .ask(method, target, &[("origin", "https://player.example")])
        .await;
    assert_eq!(reply.status, status, "{method} {target}");
    assert_eq!(
        reply.header("access-control-allow-origin"),
        "*",
        "{method} {target}"
    );
    let exposed = reply.header("access-control-expose-headers").to_lowercase();
    for name in ["content-range", "content-length", "accept-ranges"] {
        assert!(exposed.contains(name), "{method} {target}: {exposed}");
    }
    assert_no_leak(&reply);
}

#[tokio::test(flavor = "multi_thread")]
async fn os20_media_preflights_and_errors_are_open_to_web_players() {
    let pair = Pair::start().await;
    let good = pair.hub.stream_target(&pair.id, "");
    let cover = format!("/rest/getCoverArt?{AUTH}&id={}", pair.id);
    assert_open(&pair.hub, "GET", &good, 200).await;
    assert_open(&pair.hub, "HEAD", &good, 200).await;
    assert_open(&pair.hub, "GET", &cover, 200).await;
    assert_open(
        &pair.hub,
        "GET",
        &pair.hub.stream_target("nothing", ""),
        404,
    )
    .await;
    assert_open(
        &pair.hub,
        "GET",
        "/rest/stream?u=ann&p=wrong&v=1.16.1&c=test&id=1",
        200,
    )
    .await;
    assert_open(&pair.hub, "GET", "/rest/no-such", 200).await;
    for upstream in [&pair.first, &pair.second] {
        upstream.faults().set(Group::Media, Fault::Status(500));
    }
    assert_open(&pair.hub, "GET", &good, 502).await;
    let asks = [
        ("origin", "https://player.example"),
        ("access-control-request-method", "GET"),
        ("access-control-request-headers", "range"),
    ];
    let preflight = pair.hub.ask("OPTIONS", &good, &asks).await;
    assert!(matches!(preflight.status, 200 | 204));
    assert_eq!(preflight.header("access-control-allow-origin"), "*");
    let allowed = preflight
        .header("access-control-allow-headers")
        .to_lowercase();
    assert!(allowed.contains("range"), "{allowed}");
    assert!(
        preflight
            .header("access-control-allow-methods")
            .contains("GET")
    );
    assert_eq!(pair.hub.id_of(SONG).await, pair.id);
}
