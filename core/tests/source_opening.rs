//! The table of contracts 3.5, row by row, and what may never pass the commit point.

use http::response::Parts;
use proptest::prelude::*;
use segue_core::Wall;
use segue_core::io::NetError;
use segue_core::source::opening::{
    ERROR_BODY_LIMIT, FirstChunk, HeadJudgement, MediaHead, ReplyJudgement, Served, Wanted,
    judge_error_body, judge_first_chunk, judge_head, judge_reply_head,
};
use segue_core::source::range::{self, ByteRange, ContentRange};
use segue_core::source::{EnvelopeCode, Level, Refusal, RefusalClass, Stage};
use std::time::Duration;

/// 2026-11-29T22:00:00Z.
const NOW: Wall = Wall(1_795_989_600_000);
const FLAC: &[u8] = b"fLaC\0\0\0\x22\x10\0\x10\0";
const PAGE: &[u8] = b"<!doctype html><title>Log in</title>";
const XML_70: &[u8] = br#"<?xml version="1.0" encoding="UTF-8"?>
<subsonic-response xmlns="http://subsonic.org/restapi" status="failed" version="1.16.1">
<error code="70" message="Song not found"/></subsonic-response>"#;

const AUDIO: &[(&str, &str)] = &[("content-type", "audio/flac")];
const HTML: &[(&str, &str)] = &[("content-type", "text/html; charset=utf-8")];
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];
const XML: &[(&str, &str)] = &[("content-type", "text/xml")];

fn head(status: u16, headers: &[(&str, &str)]) -> Parts {
    let mut response = http::Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(()).unwrap().into_parts().0
}

/// The whole judgement of an exchange, as a driver comes to it.
fn judge(head: &Parts, asked: Option<&str>, body: &[u8]) -> Result<Served, Refusal> {
    let asked = asked.map(|asked| range::parse(asked).unwrap());
    match judge_head(head, asked.as_ref(), Wanted::Media, NOW) {
        HeadJudgement::Media(media) => match judge_first_chunk(&media, body, true) {
            FirstChunk::Accepted => Ok(media.served),
            FirstChunk::ErrorBody => Err(judge_error_body(body)),
            FirstChunk::Refused(refusal) => Err(refusal),
            FirstChunk::NeedMore => panic!("nothing more will come"),
        },
        HeadJudgement::ErrorBody => Err(judge_error_body(body)),
        HeadJudgement::Refused(refusal) => Err(refusal),
        other => panic!("{other:?}"),
    }
}

/// What comes of a status, headers and a body when the whole track was asked for.
fn refusal(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Refusal {
    judge(&head(status, headers), None, body).unwrap_err()
}

/// What comes of a 206.
fn partial(content_range: &str, asked: &str, body: &[u8]) -> Result<Served, Refusal> {
    let headers = [
        ("content-type", "audio/flac"),
        ("content-range", content_range),
    ];
    judge(&head(206, &headers), Some(asked), body)
}

fn envelope(code: u32, message: &str) -> Vec<u8> {
    format!(r#"{{"subsonic-response":{{"status":"failed","error":{{"code":{code},"message":"{message}"}}}}}}"#)
        .into_bytes()
}

#[test]
fn outages_are_transient_and_quiet() {
    let cases = [
        (
            NetError::Refused.into(),
            Refusal::Net(NetError::Refused),
            "refused",
        ),
        (
            NetError::Reset.into(),
            Refusal::Net(NetError::Reset),
            "reset",
        ),
        (NetError::Dns.into(), Refusal::Net(NetError::Dns), "dns"),
        (NetError::Tls.into(), Refusal::Net(NetError::Tls), "tls"),
        (
            NetError::Truncated.into(),
            Refusal::Net(NetError::Truncated),
            "truncated",
        ),
        (
            Refusal::TimedOut(Stage::Head),
            Refusal::TimedOut(Stage::Head),
            "timeout",
        ),
        (refusal(500, HTML, PAGE), Refusal::Status(500), "status_5xx"),
        (refusal(503, &[], b""), Refusal::Status(503), "status_5xx"),
        (refusal(200, AUDIO, b""), Refusal::Empty, "empty"),
        (refusal(204, AUDIO, b""), Refusal::Empty, "empty"),
        (
            refusal(
                200,
                &[("content-type", "audio/mpeg"), ("content-length", "0")],
                b"",
            ),
            Refusal::Empty,
            "empty",
        ),
        (
            refusal(200, &[("content-type", "chemical/x-xyz")], b""),
            Refusal::Empty,
            "empty",
        ),
    ];
    for (got, expected, outcome) in cases {
        assert_eq!((got, got.outcome()), (expected, outcome));
        assert_eq!(
            (got.class(), got.level()),
            (RefusalClass::Transport, Level::Info),
            "{got:?}"
        );
    }
}

#[test]
fn a_track_that_is_not_there_says_nothing_about_its_instance() {
    let uuid = "ValueError: badly formed hexadecimal UUID string";
    let cases = [
        (
            refusal(404, &[("content-type", "image/png")], b""),
            Refusal::NotFound,
            "not_found",
        ),
        (refusal(410, HTML, PAGE), Refusal::NotFound, "not_found"),
        (refusal(200, XML, XML_70), Refusal::NotFound, "not_found"),
        (refusal(200, AUDIO, XML_70), Refusal::NotFound, "not_found"),
        (
            refusal(200, JSON, &envelope(70, "")),
            Refusal::NotFound,
            "not_found",
        ),
        (
            refusal(200, JSON, &envelope(0, "Track NOT FOUND")),
            Refusal::NotFound,
            "not_found",
        ),
        (
            refusal(200, JSON, &envelope(0, uuid)),
            Refusal::NotFound,
            "not_found",
        ),
        (
            refusal(400, JSON, b"{}"),
            Refusal::Status(400),
            "status_4xx",
        ),
        (
            refusal(422, JSON, b"{\"detail\":[]}"),
            Refusal::Status(422),
            "status_4xx",
        ),
    ];
    for (got, expected, outcome) in cases {
        assert_eq!((got, got.outcome()), (expected, outcome));
        assert_eq!(
            (got.class(), got.level()),
            (RefusalClass::Miss, Level::Warn),
            "{got:?}"
        );
    }
}

#[test]
fn rejected_credentials_are_told_apart() {
    for status in [401, 402, 403, 407] {
        assert_eq!(refusal(status, HTML, PAGE), Refusal::Auth, "{status}");
    }
    for code in [40, 41, 42, 43, 44, 50] {
        assert_eq!(
            refusal(200, JSON, &envelope(code, "x")),
            Refusal::Auth,
            "{code}"
        );
    }
    assert_eq!(Refusal::Auth.class(), RefusalClass::Auth);
    assert_eq!(
        (Refusal::Auth.level(), Refusal::Auth.outcome()),
        (Level::Warn, "auth")
    );
}

#[test]
fn documents_and_wrong_parts_are_transient_and_loud() {
    let generic = Refusal::ErrorDocument(Some(EnvelopeCode::Generic));
    let cases = [
        (
            refusal(200, HTML, PAGE),
            Refusal::ErrorDocument(None),
            "error_document",
        ),
        (
            refusal(200, AUDIO, PAGE),
            Refusal::ErrorDocument(None),
            "error_document",
        ),
        (
            refusal(200, &[], b"{\"detail\":\"x\"}"),
            Refusal::ErrorDocument(None),
            "error_document",
        ),
        (
            refusal(200, JSON, &envelope(0, "overloaded")),
            generic,
            "error_document",
        ),
        (
            refusal(200, &[("content-type", "image/png")], b"\x89PNG"),
            Refusal::WrongMediaType,
            "wrong_type",
        ),
        (
            partial("bytes 0-50/783843", "bytes=-50", FLAC).unwrap_err(),
            Refusal::WrongRange,
            "wrong_range",
        ),
        (
            partial("bytes 0-9/10", "bytes=5-", FLAC).unwrap_err(),
            Refusal::WrongRange,
            "wrong_range",
        ),
        (
            refusal(206, AUDIO, FLAC),
            Refusal::WrongRange,
            "wrong_range",
        ),
        (
            refusal(206, &[("content-range", "bytes 0-9/10")], FLAC),
            Refusal::WrongRange,
            "wrong_range",
        ),
        (refusal(302, &[], b""), Refusal::Status(302), "status_3xx"),
        (refusal(304, &[], b""), Refusal::Status(304), "status_3xx"),
        (
            Refusal::RedirectRefused,
            Refusal::RedirectRefused,
            "redirect",
        ),
    ];
    for (got, expected, outcome) in cases {
        assert_eq!((got, got.outcome()), (expected, outcome));
        assert_eq!(
            (got.class(), got.level()),
            (RefusalClass::Transport, Level::Warn),
            "{got:?}"
        );
    }
}

#[test]
fn a_source_that_is_full_is_none_the_worse_for_it() {
    let full = Refusal::Full;
    let meaning = (full.class(), full.level(), full.outcome());
    assert_eq!(meaning, (RefusalClass::Miss, Level::Info, "full"));
}

#[test]
fn a_busy_source_says_for_how_long() {
    let cases = [
        (429, Some("5"), Some(5)),
        (429, None, None),
        (429, Some("soon"), None),
        (503, Some("120"), Some(120)),
        (503, Some("Sun, 29 Nov 2026 22:00:30 GMT"), Some(30)),
        (503, Some("Sun, 29 Nov 2026 21:00:00 GMT"), Some(0)),
    ];
    for (status, header, seconds) in cases {
        let headers: Vec<_> = header.iter().map(|value| ("retry-after", *value)).collect();
        let retry_after = seconds.map(Duration::from_secs);
        let got = refusal(status, &headers, b"");
        assert_eq!(
            got,
            Refusal::Throttled { retry_after },
            "{status} {header:?}"
        );
        assert_eq!(got.class(), RefusalClass::Throttled { retry_after });
        assert_eq!((got.level(), got.outcome()), (Level::Info, "throttled"));
    }
    assert_eq!(
        refusal(503, &[("retry-after", "soon")], b""),
        Refusal::Status(503)
    );
}

#[test]
fn a_good_opening_is_accepted_whatever_the_audio() {
    let types = [
        Some("audio/mpeg"),
        Some("Audio/FLAC; charset=binary"),
        Some("application/ogg"),
        Some("application/octet-stream"),
        Some("video/mp4"),
        Some("video/webm"),
        Some("video/ogg"),
        None,
    ];
    let chunks: [&[u8]; 11] = [
        FLAC,
        b"ID3\x04",
        b"\xFF\xFB\x90",
        b"\xFF\xF1\x50\x80",
        b"OggS\0",
        b"\0\0\0\x20ftypM4A ",
        b"RIFF",
        b"FORM",
        b"MAC \x96",
        b"wvPk",
        b"unheard of",
    ];
    for content_type in types {
        let headers: Vec<_> = content_type
            .iter()
            .map(|value| ("content-type", *value))
            .collect();
        for chunk in chunks {
            let got = judge(&head(200, &headers), None, chunk);
            assert_eq!(got, Ok(Served::Whole), "{content_type:?} {chunk:?}");
        }
    }
}

#[test]
fn a_range_is_answered_by_its_part_or_by_the_whole() {
    let served = |first, last| {
        Ok(Served::Part(ContentRange::Part {
            first,
            last,
            complete: Some(1000),
        }))
    };
    let middle = "bytes 100-199/1000";
    assert_eq!(
        partial(middle, "bytes=100-199", b"{\" anything"),
        served(100, 199)
    );
    assert_eq!(
        partial(middle, "bytes=100-199", b"<html>"),
        Err(Refusal::ErrorDocument(None))
    );
    assert_eq!(
        partial("bytes 100-150/1000", "bytes=100-199", b"less"),
        served(100, 150)
    );
    assert_eq!(
        partial("bytes 100-999/1000", "bytes=100-", b"to the end"),
        served(100, 999)
    );
    assert_eq!(
        partial("bytes 950-999/1000", "bytes=-50", b"the last"),
        served(950, 999)
    );
    assert_eq!(partial("bytes 0-0/1000", "bytes=0-0", b"<"), served(0, 0));
    assert_eq!(
        partial("bytes 100-300/1000", "bytes=100-199", b"more"),
        Err(Refusal::WrongRange)
    );
    assert_eq!(
        partial("bytes 950-999/*", "bytes=-50", b"who knows"),
        Err(Refusal::WrongRange)
    );
    let whole = judge(&head(200, AUDIO), Some("bytes=100-199"), FLAC);
    assert_eq!(whole, Ok(Served::Whole));
    let lying = [
        ("content-type", "audio/flac"),
        ("content-range", "bytes 0-9/10"),
        ("content-length", "11"),
    ];
    assert_eq!(
        judge(&head(206, &lying), Some("bytes=0-"), FLAC),
        Err(Refusal::WrongRange)
    );
}

#[test]
fn an_unsatisfiable_range_of_the_client_is_an_answer() {
    let answer = head(
        416,
        &[
            ("content-type", "text/html"),
            ("content-range", "bytes */783843"),
        ],
    );
    let asked = ByteRange::From {
        first: 99_999_999,
        last: None,
    };
    let complete = Some(783_843);
    assert_eq!(
        judge_head(&answer, Some(&asked), Wanted::Media, NOW),
        HeadJudgement::RangeNotSatisfiable { complete }
    );
    let unsaid = judge_head(&head(416, &[]), Some(&asked), Wanted::Media, NOW);
    assert_eq!(
        unsaid,
        HeadJudgement::RangeNotSatisfiable { complete: None }
    );
    assert_eq!(
        judge_head(&answer, None, Wanted::Media, NOW),
        HeadJudgement::Refused(Refusal::Status(416))
    );
}

#[test]
fn a_redirect_is_handed_on_to_be_judged() {
    let location = "/rest/stream?id=2".to_owned();
    let answer = head(302, &[("location", &location)]);
    assert_eq!(
        judge_head(&answer, None, Wanted::Media, NOW),
        HeadJudgement::Redirect { location }
    );
}

#[test]
fn compressed_bytes_and_playlists_are_not_the_track() {
    let zipped = [("content-type", "audio/flac"), ("content-encoding", "gzip")];
    assert_eq!(refusal(200, &zipped, FLAC), Refusal::WrongMediaType);
    let playlist = [("content-type", "audio/x-mpegurl")];
    assert_eq!(refusal(200, &playlist, b"#EXTM3U"), Refusal::WrongMediaType);
}

#[test]
fn a_picture_is_wanted_from_a_cover_only() {
    let judge = |kind: &str, wanted| {
        let answer = head(200, &[("content-type", kind)]);
        matches!(
            judge_head(&answer, None, wanted, NOW),
            HeadJudgement::Media(_)
        )
    };
    assert!(judge("image/jpeg", Wanted::Picture));
    assert!(judge("application/octet-stream", Wanted::Picture));
    assert!(!judge("image/jpeg", Wanted::Media));
    for kind in [
        "audio/mpeg",
        "image/svg+xml",
        "text/html",
        "application/json",
    ] {
        assert!(!judge(kind, Wanted::Picture), "{kind}");
    }
}

#[test]
fn an_api_reply_is_judged_by_its_status_only() {
    let judge = |status, headers: &[_]| judge_reply_head(&head(status, headers), NOW);
    assert_eq!(judge(200, HTML), ReplyJudgement::Body);
    assert_eq!(judge(401, JSON), ReplyJudgement::Refused(Refusal::Auth));
    assert_eq!(
        judge(502, HTML),
        ReplyJudgement::Refused(Refusal::Status(502))
    );
    let location = "/other/rest/ping".to_owned();
    assert_eq!(
        judge(307, &[("location", &location)]),
        ReplyJudgement::Redirect { location }
    );
}

#[test]
fn the_code_is_found_in_a_document_that_was_cut() {
    let mut long = envelope(40, &"x".repeat(ERROR_BODY_LIMIT));
    long.truncate(ERROR_BODY_LIMIT);
    assert_eq!(judge_error_body(&long), Refusal::Auth);
    let xml = br#"<subsonic-response status="failed"><error code='44' helpUrl="x"/><junk"#;
    assert_eq!(judge_error_body(xml), Refusal::Auth);
    let bare = b"<subsonic-response status=\"ok\"/>";
    assert_eq!(judge_error_body(bare), Refusal::ErrorDocument(None));
}

#[test]
fn what_is_shown_has_no_upstream_text() {
    let document = envelope(0, "at /srv/secret?u=alice&p=sesame");
    let shown = judge_error_body(&document).to_string();
    assert_eq!(shown, "answered with an error document (code 0)");
    assert_eq!(
        Refusal::TimedOut(Stage::FirstByte).to_string(),
        "no data in time"
    );
    assert_eq!(
        Refusal::Net(NetError::Refused).to_string(),
        "connection refused"
    );
}

fn whole() -> MediaHead {
    MediaHead {
        content_type: Some("audio/mpeg".into()),
        served: Served::Whole,
        content_length: None,
    }
}

proptest! {
    /// F1: however an envelope is padded, spelled and cut into chunks, it never passes the commit point.
    #[test]
    fn f1_an_envelope_is_never_accepted(
        pad in "[ \t\r\n]{0,20}",
        marked in any::<bool>(),
        form in 0_usize..5,
        code in 0_u32..100,
        message in "[a-z<>\"{}é ]{0,40}",
        cut in 0_usize..400,
    ) {
        let quoted = serde_json::to_string(&message).unwrap();
        let text = match form {
            0 => format!(r#"{{"subsonic-response":{{"error":{{"code":{code},"message":{quoted}}}}}}}"#),
            1 => format!(r#"{{ "subsonic-response" : {{"error":{{"message":{quoted},"code":"{code}"}} }} }}"#),
            2 => format!(r#"<?xml version="1.0"?><subsonic-response><error code="{code}"/></subsonic-response>"#),
            3 => format!("<!DOCTYPE html><html>{message}</html>"),
            _ => format!("<HTML>{message}</HTML>"),
        };
        let mark = if marked { "\u{feff}" } else { "" };
        let body = format!("{mark}{pad}{text}").into_bytes();
        let cut = cut.min(body.len());
        let early = judge_first_chunk(&whole(), &body[..cut], cut == body.len());
        prop_assert_ne!(early, FirstChunk::Accepted);
        prop_assert_eq!(judge_first_chunk(&whole(), &body, true), FirstChunk::ErrorBody);
        if form < 3 {
            let words = if form < 2 { message.as_str() } else { "" };
            let expected = EnvelopeCode::from_number(code).refusal(words);
            prop_assert_eq!(judge_error_body(&body), expected);
        }
    }

    #[test]
    fn no_bytes_make_the_judge_panic(body in prop::collection::vec(any::<u8>(), 0..600), ended in any::<bool>()) {
        let _ = judge_error_body(&body);
        let verdict = judge_first_chunk(&whole(), &body, ended);
        prop_assert!(!(ended || body.len() >= 512) || verdict != FirstChunk::NeedMore);
    }
}
