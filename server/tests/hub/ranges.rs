//! Ranges, validators and HEAD: a client never gets bytes of two encodes in one file.
//!
//! Contracts section 3, rules 8 and 9; rows F10 and F13, and the range rows of the public bug reports.

use crate::same::assert_bytes;
use crate::world::{
    AUTH, Pair, Reply, SONG, TestHub, album, assert_no_leak, attempts, forgiving, pairs, quick,
    source,
};
use segue::upstream::{Fault, Group, Quirks, Setup, Upstream};

async fn ranged(pair: &Pair, range: &str) -> Reply {
    pair.stream_with("", &[("range", range)]).await
}

/// What of the song a 206 holds, and that it says so.
fn assert_part(reply: &Reply, whole: &[u8], first: usize, end: usize) {
    let says = format!("bytes {first}-{}/{}", end - 1, whole.len());
    assert_eq!((reply.status, reply.header("content-range")), (206, &*says));
    assert_eq!(reply.header("content-length"), (end - first).to_string());
    assert_bytes!(reply.body, whole[first..end]);
}

fn assert_whole(reply: &Reply, whole: &[u8]) {
    assert_eq!((reply.status, reply.header("content-range")), (200, ""));
    assert_eq!(reply.header("content-length"), whole.len().to_string());
    assert_bytes!(reply.body, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn os11_a_range_is_exactly_one_206_with_those_bytes() {
    let pair = Pair::start().await;
    let whole = pair.first_bytes();
    let cases = [
        ("bytes=100-199", 100, 200, "bytes=100-199"),
        ("bytes=0-0", 0, 1, "bytes=0-0"),
        ("bytes=299000-", 299_000, 300_000, "bytes=299000-"),
        (
            "bytes=299000-400000",
            299_000,
            300_000,
            "bytes=299000-400000",
        ),
        // Some servers read a suffix as a prefix, so the hub never sends one.
        ("bytes=-50", 299_950, 300_000, "bytes=299950-"),
        ("bytes=-99999999", 0, 300_000, "bytes=0-"),
        (" Bytes = 7-9 ", 7, 10, "bytes=7-9"),
    ];
    for (range, first, end, asked) in cases {
        let reply = ranged(&pair, range).await;
        assert_part(&reply, &whole, first, end);
        let seen = pair.first.shared().last_seen("stream").expect("a request");
        assert_eq!(seen.header("range"), Some(asked), "{range}");
        let row = pair.hub.last_row().await;
        assert_eq!(row["range_start"], first, "{range}");
        assert_eq!(row["bytes"], end - first, "{range}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_that_is_none_is_ignored() {
    let pair = Pair::start().await;
    for range in [
        "bytes=a-b",
        "bytes=5-2",
        "bytes=0-1,5-6",
        "bytes=",
        "bytes=-",
        "lines=0-5",
        "bytes 0-5",
        "bytes=--5",
        "0-5",
        "",
        "bytes=0x10-",
        "bytes=1-2-3",
    ] {
        let reply = ranged(&pair, range).await;
        assert_whole(&reply, &pair.first_bytes());
        let seen = pair.first.shared().last_seen("stream").expect("a request");
        assert_eq!(seen.header("range"), None, "{range}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_a_range_goes_on_from_an_identical_copy() {
    let pair = Pair::twins(quick()).await;
    let whole = pair.first_bytes();
    assert_whole(&pair.stream().await, &whole);
    pair.first.faults().die().await;
    assert_part(
        &ranged(&pair, "bytes=123456-").await,
        &whole,
        123_456,
        300_000,
    );
    let tried = pairs(&[("one", "refused"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_different_encodes_are_never_spliced() {
    let pair = Pair::start().await;
    let reply = pair.stream().await;
    let etag = reply.header("etag").to_owned();
    assert_whole(&reply, &pair.first_bytes());
    pair.first.faults().die().await;
    // The client may hold 123,456 bytes of the FLAC: only the whole MP3 is of use to it.
    let reply = ranged(&pair, "bytes=123456-").await;
    assert_whole(&reply, &pair.second_bytes());
    assert_ne!(reply.header("etag"), etag);
    let conditional = [("range", "bytes=1000-"), ("if-range", &*etag)];
    let reply = pair.stream_with("", &conditional).await;
    assert_whole(&reply, &pair.second_bytes());
    // From the first byte on nothing is spliced.
    let reply = pair.stream_with("", &[("range", "bytes=0-99")]).await;
    assert_part(&reply, &pair.second_bytes(), 0, 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn f10_a_seek_goes_to_the_source_that_served_last() {
    let pair = Pair::with(forgiving()).await;
    pair.fail_first(Fault::Status(500));
    assert_whole(&pair.stream().await, &pair.second_bytes());
    pair.first.faults().clear();
    // The better source is back, but the client is in the middle of the other's bytes.
    let reply = ranged(&pair, "bytes=1000-").await;
    assert_part(&reply, &pair.second_bytes(), 1000, 200_000);
    assert_whole(&pair.stream().await, &pair.first_bytes());
    let reply = ranged(&pair, "bytes=1000-").await;
    assert_part(&reply, &pair.first_bytes(), 1000, 300_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn if_range_continues_the_version_it_names_and_no_other() {
    let pair = Pair::with(forgiving()).await;
    let first = pair.stream().await.header("etag").to_owned();
    pair.fail_first(Fault::Status(500));
    let second = pair.stream().await.header("etag").to_owned();
    pair.first.faults().clear();
    assert!(first.starts_with('"') && second.starts_with('"'), "strong");
    let conditional = async |validator: &str| {
        let headers = [("range", "bytes=500-999"), ("if-range", validator)];
        pair.stream_with("", &headers).await
    };
    assert_part(&conditional(&first).await, &pair.first_bytes(), 500, 1000);
    assert_part(&conditional(&second).await, &pair.second_bytes(), 500, 1000);
    for stale in [
        "\"0000000000000000\"",
        "Wed, 21 Oct 2015 07:28:00 GMT",
        "*",
        &format!("W/{first}"),
    ] {
        let reply = conditional(stale).await;
        assert_whole(&reply, &pair.first_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f13_a_range_beyond_the_end_is_416_with_the_length_and_nothing_else() {
    let pair = Pair::start().await;
    for range in [
        "bytes=300000-",
        "bytes=99999999-",
        "bytes=99999999999999999999-",
        "bytes=-0",
    ] {
        let reply = pair
            .stream_with(
                "",
                &[("range", range), ("origin", "https://player.example")],
            )
            .await;
        assert_eq!(reply.status, 416, "{range}");
        assert_eq!(reply.header("content-range"), "bytes */300000", "{range}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{range}");
        assert!(reply.body.is_empty(), "{range}");
        assert_no_leak(&reply);
    }
    // Nobody played anything, and the source answered well.
    assert_eq!(pair.hub.activity().await.len(), 0);
    assert_eq!(pair.hub.state_of("one").await, "ok");
    assert_eq!(pair.second.counters().streams, 0);
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn os13_a_source_that_knows_no_ranges_sends_the_whole_or_the_hub_says_416() {
    let mut setup = Setup::new("plain", album("flac", 900, 30_000));
    setup.quirks = Quirks {
        no_ranges: true,
        ..Quirks::default()
    };
    let plain = Upstream::start(setup).await.expect("a free port");
    let hub = TestHub::start_with(vec![source("one", &plain)], quick()).await;
    let target = hub.stream_target(&hub.id_of(SONG).await, "");
    let reply = hub.ask("GET", &target, &[("range", "bytes=100-199")]).await;
    assert_whole(&reply, &plain.shared().bytes_of(SONG));
    let reply = hub.ask("GET", &target, &[("range", "bytes=30000-")]).await;
    assert_eq!(reply.status, 416);
    assert_eq!(reply.header("content-range"), "bytes */30000");
    plain.until(|c| c.open_streams == 0).await;
    hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_206_that_starts_elsewhere_is_not_relayed() {
    let pair = Pair::twins(quick()).await;
    pair.fail_first(Fault::WrongContentRange);
    let reply = ranged(&pair, "bytes=1000-1999").await;
    assert_part(&reply, &pair.second_bytes(), 1000, 2000);
    let tried = pairs(&[("one", "wrong_range"), ("two", "served")]);
    assert_eq!(attempts(&pair.hub.last_row().await), tried);
    assert_eq!(pair.hub.state_of("one").await, "suspect");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_200_to_a_range_is_passed_on_as_a_whole_200() {
    let pair = Pair::start().await;
    pair.fail_first(Fault::Whole200ToRange);
    let reply = ranged(&pair, "bytes=1000-1999").await;
    assert_whole(&reply, &pair.first_bytes());
    assert_eq!(
        pair.hub.last_row().await["range_start"],
        serde_json::Value::Null
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transcode_has_no_ranges() {
    let pair = Pair::start().await;
    let reply = pair
        .stream_with("maxBitRate=96", &[("range", "bytes=100-199")])
        .await;
    assert_eq!((reply.status, reply.header("content-range")), (200, ""));
    assert_eq!(reply.header("accept-ranges"), "none");
    assert_eq!(reply.header("etag"), "");
    // MP3 at 128 kbit/s is over the cap too, yet the best source transcodes from its FLAC.
    let first = pair.first.shared().track(SONG);
    assert_bytes!(reply.body, first.transcode("first", "mp3", 96, 0).all());
}

#[tokio::test(flavor = "multi_thread")]
async fn f13_head_says_what_get_would_and_opens_nothing() {
    let pair = Pair::start().await;
    let id = &pair.id;
    for endpoint in ["stream", "stream.view", "download"] {
        let target = format!("/rest/{endpoint}?{AUTH}&id={id}");
        let head = pair.hub.ask("HEAD", &target, &[]).await;
        assert_eq!(head.status, 200, "{endpoint}");
        assert!(head.body.is_empty(), "{endpoint}");
        let get = pair.hub.get(&target).await;
        for name in [
            "content-type",
            "content-length",
            "etag",
            "accept-ranges",
            "content-disposition",
        ] {
            assert_eq!(head.header(name), get.header(name), "{endpoint} {name}");
        }
        assert_eq!(head.header("content-length"), "300000", "{endpoint}");
    }
    // Three GETs, and of the HEADs no trace.
    assert_eq!(pair.first.counters().streams, 3);
    assert_eq!(pair.hub.activity().await.len(), 3);
    let seen = pair.first.seen();
    assert!(seen.iter().all(|seen| seen.method != http::Method::HEAD));
}

#[tokio::test(flavor = "multi_thread")]
async fn os14_head_of_a_transcode_or_of_nothing_promises_nothing() {
    let pair = Pair::start().await;
    let target = pair.hub.stream_target(&pair.id, "format=opus");
    let head = pair.hub.ask("HEAD", &target, &[]).await;
    assert_eq!(
        (head.status, head.header("content-type")),
        (200, "audio/ogg")
    );
    assert_eq!(head.header("content-length"), "");
    let missing = pair.hub.stream_target("tr-0", "f=json");
    let head = pair.hub.ask("HEAD", &missing, &[]).await;
    assert_eq!(
        (head.status, head.header("content-type")),
        (404, "application/json")
    );
    assert_eq!(pair.first.counters().streams, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fault_of_the_source_in_the_middle_of_a_file_fails_over_to_its_twin() {
    let faults = [
        (Fault::ErrorIn200Html, "error_document"),
        (Fault::ErrorIn200HtmlAsAudio, "error_document"),
        (Fault::ErrorIn200Json { code: 0 }, "error_document"),
        (Fault::Empty200, "empty"),
        (Fault::CutAt(0), "truncated"),
        (Fault::Status(503), "status_5xx"),
    ];
    let pair = Pair::twins(forgiving()).await;
    for (fault, word) in faults {
        pair.first.faults().set(Group::Media, fault);
        let reply = ranged(&pair, "bytes=5000-5999").await;
        assert_part(&reply, &pair.second_bytes(), 5000, 6000);
        let tried = pairs(&[("one", word), ("two", "served")]);
        assert_eq!(attempts(&pair.hub.last_row().await), tried);
        // The next one asks `first` first again, which served last.
        pair.first.faults().clear();
        pair.stream().await;
    }
}
