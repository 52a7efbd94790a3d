//! The fake upstream does what its switches say: what the black-box tests of the hub stand on.

use segue::upstream::{
    Album, Answers, Artist, Audio, AuthMode, Counters, Door, Fault, Group, Library, Quirks, Setup,
    Shared, Track, Upstream, marks, serve_connection,
};
use segue_core::io::Clock;
use segue_core::time::{Tick, Wall};
use std::collections::BTreeMap;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const AUTH: &str = "u=alice&t=26719a1196d2a940705a59634eb18eab&s=c19b2d&v=1.16.1&c=test";

#[derive(Debug)]
struct Got {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
    /// Whether the body has the length that was announced.
    whole: bool,
}

impl Got {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

async fn request(
    upstream: &Upstream,
    method: &str,
    target: &str,
    headers: &str,
) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(upstream.address()).await?;
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

async fn ask(upstream: &Upstream, method: &str, target: &str, headers: &str) -> io::Result<Got> {
    let mut stream = request(upstream, method, target, headers).await?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await?;
    let end = all
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines
        .next()
        .and_then(|line| line.split(' ').nth(1))
        .and_then(|code| code.parse().ok());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let raw = &all[end + 4..];
    let (body, whole) = match headers
        .get("content-length")
        .and_then(|length| length.parse::<usize>().ok())
    {
        Some(length) => (raw.to_vec(), raw.len() == length),
        None => unchunk(raw),
    };
    Ok(Got {
        status: status.expect("a status line"),
        headers,
        body,
        whole,
    })
}

fn unchunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|two| two == b"\r\n") {
        let size =
            usize::from_str_radix(&String::from_utf8_lossy(&raw[..end]), 16).expect("a chunk size");
        if size == 0 {
            return (body, true);
        }
        let chunk = &raw[end + 2..];
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        raw = chunk.get(size + 2..).unwrap_or(&[]);
    }
    (body, false)
}

async fn get(upstream: &Upstream, endpoint: &str, params: &str) -> Got {
    ranged(upstream, endpoint, params, "").await
}

async fn ranged(upstream: &Upstream, endpoint: &str, params: &str, range: &str) -> Got {
    let target = format!(
        "{}/rest/{endpoint}?{AUTH}&{params}",
        upstream.shared().setup().prefix
    );
    let headers = match range {
        "" => String::new(),
        range => format!("Range: {range}\r\n"),
    };
    ask(upstream, "GET", &target, &headers)
        .await
        .expect("an answer")
}

async fn json(upstream: &Upstream, endpoint: &str, params: &str) -> serde_json::Value {
    let got = get(upstream, endpoint, &format!("f=json&{params}")).await;
    let document: serde_json::Value = serde_json::from_slice(&got.body).expect("JSON");
    document["subsonic-response"].clone()
}

fn homogenic() -> Library {
    let album = Album::new("Homogenic").year(1997).genre("Electronic");
    let album = album
        .track(Track::new("Hunter"))
        .track(Track::new("Jóga").seconds(14));
    Library::new().artist(Artist::new("Björk").album(album))
}

async fn home() -> Upstream {
    Upstream::start(Setup::new("home", homogenic()))
        .await
        .expect("a free port")
}

async fn quirky(quirks: Quirks) -> Upstream {
    let setup = Setup {
        quirks,
        ..Setup::new("home", homogenic())
    };
    Upstream::start(setup).await.expect("a free port")
}

fn quiet(counters: &Counters) -> bool {
    counters.open_connections == 0 && counters.open_streams == 0
}

#[tokio::test]
async fn the_whole_library_can_be_walked() {
    let upstream = home().await;
    let artists = json(&upstream, "getArtists", "").await;
    let artist = &artists["artists"]["index"][0]["artist"][0];
    assert_eq!(
        (&artist["name"], &artist["id"]),
        (&"Björk".into(), &"ar-1".into())
    );
    let artist = json(&upstream, "getArtist", "id=ar-1").await;
    assert_eq!(artist["artist"]["album"][0]["id"], "al-1");
    let album = json(&upstream, "getAlbum", "id=al-1").await;
    let song = &album["album"]["song"][1];
    assert_eq!(
        (&song["title"], &song["duration"], &song["track"]),
        (&"Jóga".into(), &14.into(), &2.into())
    );
    assert_eq!(json(&upstream, "getSong", "id=tr-2").await["song"], *song);
    assert_eq!(
        json(&upstream, "getSong", "id=tr-3").await["error"]["code"],
        70
    );
    assert_eq!(json(&upstream, "getSong", "").await["error"]["code"], 10);
    let found = json(&upstream, "search3", "query=hunt").await;
    assert_eq!(
        found["searchResult3"]["song"].as_array().map(Vec::len),
        Some(1)
    );
    let all = json(&upstream, "search3", "query=%22%22").await;
    assert_eq!(
        all["searchResult3"]["song"].as_array().map(Vec::len),
        Some(2)
    );
    let page = json(&upstream, "getAlbumList2", "type=newest&offset=1").await;
    assert_eq!(
        page["albumList2"]["album"].as_array().map(Vec::len),
        Some(0)
    );
    let xml = get(&upstream, "getAlbum.view", "id=al-1").await;
    assert!(xml.text().contains("<album "), "{}", xml.text());
    assert_eq!(xml.header("content-type"), "text/xml; charset=utf-8");
    let counters = upstream.until(quiet).await;
    assert_eq!(counters.of("getAlbum"), 2);
    assert_eq!(counters.aborted, 0);
}

#[tokio::test]
async fn quirks_change_the_documents() {
    let upstream = quirky(Quirks {
        numeric_ids: true,
        bit_rate_in_bits: true,
        null_fields: true,
        bare_single: true,
        ignores_offset: true,
        ..Quirks::default()
    })
    .await;
    let artists = json(&upstream, "getArtists", "").await;
    assert_eq!(artists["artists"]["index"]["artist"]["id"], 1001);
    let album = json(&upstream, "getAlbum", "id=100001").await;
    let song = &album["album"]["song"][0];
    assert_eq!(song["bitRate"], 800_000);
    assert!(
        song.as_object()
            .is_some_and(|song| song["musicBrainzId"].is_null())
    );
    let page = json(&upstream, "getAlbumList2", "offset=500").await;
    assert_eq!(page["albumList2"]["album"]["id"], 100_001);

    let upstream = quirky(Quirks {
        answers: Answers::XmlOnly,
        ..Quirks::default()
    })
    .await;
    assert!(
        get(&upstream, "ping", "f=json")
            .await
            .text()
            .starts_with("<?xml")
    );
    let upstream = quirky(Quirks {
        answers: Answers::JsonOnly,
        ..Quirks::default()
    })
    .await;
    assert!(get(&upstream, "ping", "").await.text().starts_with('{'));
}

#[tokio::test]
async fn wrong_users_get_an_envelope_and_forms_are_read() {
    let setup = Setup {
        auth: AuthMode::Password { refusal: 41 },
        prefix: "/music".into(),
        ..Setup::new("home", homogenic())
    };
    let upstream = Upstream::start(setup).await.expect("a free port");
    assert_eq!(json(&upstream, "ping", "").await["error"]["code"], 41);
    let form = "u=alice&p=sesame&f=json";
    let headers = format!(
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let mut stream = TcpStream::connect(upstream.address()).await.expect("open");
    let request =
        format!("POST /music/rest/ping.view HTTP/1.1\r\nHost: u\r\nConnection: close\r\n{headers}");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(answer.contains("\"status\":\"ok\""), "{answer}");
    let outside = ask(&upstream, "GET", "/rest/ping", "")
        .await
        .expect("an answer");
    assert_eq!(outside.status, 404);
}

#[tokio::test]
async fn raw_media_honour_ranges_and_head() {
    let upstream = quirky(Quirks {
        etag: true,
        ..Quirks::default()
    })
    .await;
    let bytes = upstream.shared().bytes_of("Hunter");
    let got = get(&upstream, "stream", "id=tr-1").await;
    assert_eq!((got.status, got.whole), (200, true));
    assert_eq!(got.body, bytes);
    assert_eq!(marks(&got.body)[0].label, "home/tr-1");
    let part = ranged(&upstream, "stream", "id=tr-1", "bytes=1000-1999").await;
    assert_eq!(
        (part.status, part.header("content-range")),
        (206, "bytes 1000-1999/1300000")
    );
    assert_eq!(part.body, bytes[1000..2000]);
    let beyond = ranged(&upstream, "stream", "id=tr-1", "bytes=1300000-").await;
    assert_eq!(
        (beyond.status, beyond.header("content-range")),
        (416, "bytes */1300000")
    );
    let target = format!("/rest/stream?{AUTH}&id=tr-1");
    let head = ask(&upstream, "HEAD", &target, "")
        .await
        .expect("an answer");
    assert_eq!(
        (head.status, head.header("content-length"), head.body.len()),
        (200, "1300000", 0)
    );
    let stale = "Range: bytes=5-9\r\nIf-Range: \"other\"\r\n";
    assert_eq!(
        ask(&upstream, "GET", &target, stale)
            .await
            .expect("an answer")
            .status,
        200
    );
    let counters = upstream.until(quiet).await;
    assert_eq!((counters.streams, counters.aborted), (4, 0));
}

#[tokio::test]
async fn transcodes_are_chunked_and_other_bytes() {
    let upstream = home().await;
    let params = "id=tr-1&format=mp3&maxBitRate=128&timeOffset=3";
    let got = ranged(&upstream, "stream", params, "bytes=100-").await;
    assert_eq!(
        (got.status, got.whole, got.header("content-type")),
        (200, true, "audio/mpeg")
    );
    assert_eq!(got.header("content-length"), "");
    assert_eq!(marks(&got.body)[1].label, "home/tr-1>mp3@128+3");
    assert_eq!(got.body.len(), 160_000);
    let raw = get(&upstream, "download", "id=tr-1&format=mp3").await;
    assert_eq!(raw.body, upstream.shared().bytes_of("Hunter"));
}

#[tokio::test]
async fn equal_labels_are_equal_bytes_on_two_upstreams() {
    let library = || {
        homogenic().each_track(|track| track.audio = Audio::Labelled(format!("cd/{}", track.title)))
    };
    let one = Upstream::start(Setup::new("one", library()))
        .await
        .expect("a free port");
    let two = Upstream::start(Setup::new("two", library()))
        .await
        .expect("a free port");
    let from_one = get(&one, "stream", "id=tr-1").await.body;
    assert_eq!(from_one, get(&two, "stream", "id=tr-1").await.body);
    assert_ne!(from_one, home().await.shared().bytes_of("Hunter"));
}

#[tokio::test]
async fn each_wrong_answer_is_as_switched() {
    let upstream = home().await;
    let faults = upstream.faults();
    for (fault, status, media_type, holds) in [
        (
            Fault::ErrorIn200Xml { code: 70 },
            200,
            "text/xml; charset=utf-8",
            "code=\"70\"",
        ),
        (
            Fault::ErrorIn200Json { code: 0 },
            200,
            "application/json",
            "\"code\":0",
        ),
        (
            Fault::ErrorIn200Html,
            200,
            "text/html; charset=utf-8",
            "<html>",
        ),
        (Fault::ErrorIn200HtmlAsAudio, 200, "audio/mpeg", "<html>"),
        (Fault::Empty200, 200, "audio/mpeg", ""),
        (Fault::Status(500), 500, "text/plain", Fault::LEAK),
        (
            Fault::Status429 {
                retry_after: Some(5),
            },
            429,
            "text/plain",
            Fault::LEAK,
        ),
        (
            Fault::Status503 { retry_after: None },
            503,
            "text/plain",
            Fault::LEAK,
        ),
        (
            Fault::RedirectTo("http://127.0.0.1:9/".into()),
            302,
            "text/plain",
            Fault::LEAK,
        ),
    ] {
        faults.set(Group::Media, fault.clone());
        let got = get(&upstream, "stream", "id=tr-1").await;
        assert_eq!(
            (got.status, got.header("content-type")),
            (status, media_type),
            "{fault:?}"
        );
        assert!(got.text().contains(holds), "{fault:?}: {}", got.text());
        assert!(got.whole, "{fault:?}");
    }
    assert_eq!(get(&upstream, "ping", "f=json").await.status, 200);
    faults.set(
        Group::Media,
        Fault::Status429 {
            retry_after: Some(5),
        },
    );
    assert_eq!(
        get(&upstream, "stream", "id=tr-1")
            .await
            .header("retry-after"),
        "5"
    );
    faults.set(Group::Media, Fault::NoContentType);
    let got = get(&upstream, "stream", "id=tr-1").await;
    assert!(!got.headers.contains_key("content-type") && got.whole);
    faults.clear();
    assert_eq!(
        get(&upstream, "stream", "id=tr-1")
            .await
            .header("content-type"),
        "audio/flac"
    );
}

#[tokio::test]
async fn ranges_can_be_answered_wrongly() {
    let upstream = home().await;
    let faults = upstream.faults();
    let bytes = upstream.shared().bytes_of("Hunter");
    faults.set(Group::Media, Fault::WrongContentRange);
    let got = ranged(&upstream, "stream", "id=tr-1", "bytes=1000-1099").await;
    assert_eq!(
        (got.status, got.header("content-range")),
        (206, "bytes 500-599/1300000")
    );
    faults.set(Group::Media, Fault::Whole200ToRange);
    let got = ranged(&upstream, "stream", "id=tr-1", "bytes=1000-1099").await;
    assert_eq!((got.status, got.body.len()), (200, bytes.len()));
    faults.set(Group::Media, Fault::WrongBytesOnResume);
    let got = ranged(&upstream, "stream", "id=tr-1", "bytes=1000-1099").await;
    assert_eq!((got.status, got.body.len()), (206, 100));
    assert_ne!(got.body, bytes[1000..1100]);
    assert_eq!(get(&upstream, "stream", "id=tr-1").await.body, bytes);
}

#[tokio::test]
async fn a_cut_comes_after_exactly_that_many_bytes() {
    let upstream = home().await;
    let bytes = upstream.shared().bytes_of("Hunter");
    for cut in [0, 1, 600, 65_536, 200_001, 1_299_999] {
        upstream.faults().set(Group::Media, Fault::CutAt(cut));
        let got = get(&upstream, "stream", "id=tr-1").await;
        assert_eq!((got.status, got.whole), (200, false));
        assert_eq!(got.body, bytes[..cut as usize], "cut at {cut}");
    }
    upstream.faults().set(Group::Media, Fault::CutAt(70_000));
    let got = get(&upstream, "stream", "id=tr-1&format=mp3").await;
    assert_eq!((got.body.len(), got.whole), (70_000, false));
    upstream.faults().set(Group::Media, Fault::CloseBeforeHead);
    let target = format!("/rest/stream?{AUTH}&id=tr-1");
    assert!(ask(&upstream, "GET", &target, "").await.is_err());
    assert_eq!(upstream.until(quiet).await.aborted, 0);
}

#[tokio::test]
async fn what_hangs_goes_on_when_released() {
    let upstream = home().await;
    let bytes = upstream.shared().bytes_of("Hunter");
    for fault in [
        Fault::HangBeforeHead,
        Fault::HangAfterHead,
        Fault::StallAt(5000),
    ] {
        upstream.faults().set(Group::Media, fault.clone());
        let answer = async {
            let got = get(&upstream, "stream", "id=tr-1").await;
            assert_eq!(got.body, bytes, "{fault:?}");
        };
        let release = async {
            upstream.until(|counters| counters.open_streams == 1).await;
            upstream.faults().release();
        };
        tokio::join!(answer, release);
        upstream.until(quiet).await;
    }
}

#[tokio::test]
async fn a_hang_shows_its_head_or_its_first_bytes() {
    let upstream = home().await;
    let target = format!("/rest/stream?{AUTH}&id=tr-1");
    for (fault, body) in [(Fault::HangAfterHead, 0), (Fault::StallAt(5000), 5000)] {
        upstream.faults().set(Group::Media, fault);
        let mut stream = request(&upstream, "GET", &target, "").await.expect("open");
        let mut seen = Vec::new();
        let head = loop {
            if let Some(end) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            stream.read_buf(&mut seen).await.expect("a head");
        };
        while seen.len() < head + body {
            stream.read_buf(&mut seen).await.expect("the first bytes");
        }
        assert_eq!(seen.len(), head + body);
    }
    let counters = upstream.until(quiet).await;
    assert_eq!((counters.aborted, counters.streams), (2, 2));
}

#[tokio::test]
async fn a_client_that_leaves_is_counted() {
    let upstream = home().await;
    upstream.faults().set(Group::Media, Fault::HangBeforeHead);
    let target = format!("/rest/stream?{AUTH}&id=tr-1");
    let stream = request(&upstream, "GET", &target, "").await.expect("open");
    upstream.until(|counters| counters.open_streams == 1).await;
    drop(stream);
    assert_eq!(upstream.until(quiet).await.aborted, 1);
}

#[tokio::test]
async fn drips_and_late_heads_lose_nothing() {
    let library = homogenic().each_track(|track| track.size = Some(1000));
    let upstream = Upstream::start(Setup::new("home", library))
        .await
        .expect("a free port");
    let every = Duration::from_millis(1);
    for fault in [
        Fault::SlowDrip { bytes: 300, every },
        Fault::SlowHead(every),
    ] {
        upstream.faults().set(Group::Media, fault);
        let got = get(&upstream, "stream", "id=tr-1").await;
        assert_eq!(got.body, upstream.shared().bytes_of("Hunter"));
    }
}

#[tokio::test]
async fn faults_of_one_id_and_of_the_next_request_come_first() {
    let upstream = home().await;
    let faults = upstream.faults();
    faults.set(Group::Media, Fault::Status(500));
    faults.set_for(Group::Media, "tr-2", Fault::Status(404));
    faults.next(Group::Media, Some(Fault::Status(418)));
    faults.next(Group::Media, None);
    let mut answers = Vec::new();
    for id in ["tr-1", "tr-1", "tr-1", "tr-2"] {
        answers.push(get(&upstream, "stream", &format!("id={id}")).await.status);
    }
    assert_eq!(answers, [418, 200, 500, 404]);
}

#[tokio::test]
async fn a_shut_door_refuses_and_opens_again_on_the_same_port() {
    let upstream = home().await;
    let faults = upstream.faults();
    faults.door(Door::Refuse).await;
    let refused = TcpStream::connect(upstream.address()).await;
    assert_eq!(
        refused.map(drop).map_err(|error| error.kind()),
        Err(io::ErrorKind::ConnectionRefused)
    );
    faults.revive().await;
    assert_eq!(get(&upstream, "ping", "").await.status, 200);
}

#[tokio::test]
async fn a_black_hole_neither_accepts_nor_refuses() {
    let upstream = home().await;
    upstream.faults().door(Door::BlackHole).await;
    let waiting = tokio::time::timeout(
        Duration::from_millis(300),
        TcpStream::connect(upstream.address()),
    )
    .await;
    assert!(waiting.is_err(), "{waiting:?}");
    upstream.faults().revive().await;
    assert_eq!(get(&upstream, "ping", "").await.status, 200);
}

#[tokio::test]
async fn death_ends_streams_in_mid_byte_and_is_nobodys_abort() {
    let upstream = home().await;
    upstream.faults().set(Group::Media, Fault::StallAt(5000));
    let answer = async {
        let got = get(&upstream, "stream", "id=tr-1").await;
        assert_eq!((got.body.len(), got.whole), (5000, false));
    };
    let death = async {
        upstream.until(|counters| counters.bytes == 5000).await;
        upstream.faults().die().await;
    };
    tokio::join!(answer, death);
    let counters = upstream.until(quiet).await;
    assert_eq!(counters.aborted, 0);
    assert!(TcpStream::connect(upstream.address()).await.is_err());
}

#[tokio::test]
async fn covers_are_pictures_and_unknown_ones_an_error() {
    let upstream = home().await;
    let got = get(&upstream, "getCoverArt", "id=al-1&size=32").await;
    assert_eq!(got.header("content-type"), "image/png");
    assert!(got.body.starts_with(b"\x89PNG"));
    assert!(
        get(&upstream, "getCoverArt", "id=zz")
            .await
            .text()
            .contains("code=\"70\"")
    );
}

#[tokio::test]
async fn requests_are_kept_as_they_came() {
    let upstream = home().await;
    ranged(&upstream, "stream", "id=tr-1&format=raw", "bytes=5-").await;
    let seen = upstream.shared().last_seen("stream").expect("a request");
    assert_eq!(
        (seen.param("format"), seen.header("range")),
        (Some("raw"), Some("bytes=5-"))
    );
}

/// A clock that stands still.
#[derive(Clone)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Tick {
        Tick::ZERO
    }

    fn wall(&self) -> Wall {
        Wall(0)
    }

    fn sleep_until(&self, _at: Tick) -> impl Future<Output = ()> + Send + 'static {
        std::future::pending()
    }
}

#[test]
fn a_connection_needs_no_runtime_only_a_stream_and_a_clock() {
    let shared = Shared::new(Setup::new("home", homogenic()));
    shared.faults().set(Group::Media, Fault::CutAt(100_000));
    let (mut ours, theirs) = tokio::io::duplex(4096);
    let mut serving = pin!(serve_connection(theirs, Still, shared.clone()));
    let mut asking = pin!(async {
        let request = format!("GET /rest/stream?{AUTH}&id=tr-1 HTTP/1.1\r\nHost: u\r\n\r\n");
        ours.write_all(request.as_bytes()).await.expect("sent");
        let mut all = Vec::new();
        ours.read_to_end(&mut all).await.expect("read");
        all
    });
    let cx = &mut Context::from_waker(Waker::noop());
    let mut served = Poll::Pending;
    let all = loop {
        if served.is_pending() {
            served = serving.as_mut().poll(cx);
        }
        if let Poll::Ready(all) = asking.as_mut().poll(cx) {
            break all;
        }
    };
    let head = all
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .expect("a head")
        + 4;
    assert_eq!(all[head..], shared.bytes_of("Hunter")[..100_000]);
    assert_eq!(shared.counters().open_streams, 0);
}
