//! Ranges, redirects, folder URIs and the choice between original and transcode.

use http::Uri;
use proptest::prelude::*;
use segue_core::catalog::model::TrackSource;
use segue_core::source::Refusal;
use segue_core::source::folder::{self, BadFolderUri, FolderRequest, FolderWhat};
use segue_core::source::range::{self, ByteRange, ContentRange};
use segue_core::source::redirect::follow;
use segue_core::source::transcode::{Resolved, StreamParams, resolve};

#[test]
fn ranges_are_read_as_rfc_9110_says() {
    let from = |first, last| Some(ByteRange::From { first, last });
    let cases = [
        ("bytes=0-99", from(0, Some(99))),
        ("bytes=100-", from(100, None)),
        ("BYTES = 5-5 ", from(5, Some(5))),
        ("bytes=0-9,", from(0, Some(9))),
        ("bytes=-50", Some(ByteRange::Suffix { length: 50 })),
        ("bytes=99999999999999999999999-", from(u64::MAX, None)),
        ("bytes=0-9,20-29", None),
        ("bytes=9-0", None),
        ("bytes=-", None),
        ("bytes=+1-2", None),
        ("bytes=a-b", None),
        ("items=0-1", None),
        ("0-99", None),
        ("", None),
    ];
    for (header, expected) in cases {
        assert_eq!(range::parse(header), expected, "{header}");
    }
}

#[test]
fn a_range_knows_its_place() {
    let within = |header, complete| range::parse(header).unwrap().within(complete);
    assert_eq!(within("bytes=0-99", 1000), Some((0, 99)));
    assert_eq!(within("bytes=0-99", 10), Some((0, 9)));
    assert_eq!(within("bytes=10-", 10), None);
    assert_eq!(within("bytes=-50", 1000), Some((950, 999)));
    assert_eq!(within("bytes=-5000", 1000), Some((0, 999)));
    assert_eq!(within("bytes=-0", 1000), None);
    assert_eq!(within("bytes=0-", 0), None);
}

#[test]
fn impossible_content_ranges_are_not_believed() {
    for header in [
        "bytes 9-0/10",
        "bytes 0-10/10",
        "bytes */*",
        "bytes 0-9",
        "items 0-9/10",
        "bytes a-b/c",
        "bytes 0-99999999999999999999/*",
    ] {
        assert_eq!(ContentRange::parse(header), None, "{header}");
    }
}

proptest! {
    #[test]
    fn ranges_survive_a_round_trip(first in any::<u64>(), more in any::<u64>(), open in any::<bool>()) {
        let last = (!open).then(|| first.saturating_add(more));
        for range in [ByteRange::From { first, last }, ByteRange::Suffix { length: first }] {
            prop_assert_eq!(range::parse(&range.to_string()), Some(range));
        }
    }

    #[test]
    fn content_ranges_survive_a_round_trip(
        first in 0..u64::MAX / 2,
        more in 0..u64::MAX / 4,
        rest in prop::option::of(1..u64::MAX / 4),
    ) {
        let last = first + more;
        let part = ContentRange::Part { first, last, complete: rest.map(|rest| last + rest) };
        prop_assert_eq!(ContentRange::parse(&part.to_string()), Some(part));
        let none = ContentRange::Unsatisfied { complete: first };
        prop_assert_eq!(ContentRange::parse(&none.to_string()), Some(none));
    }

    #[test]
    fn what_a_range_asks_is_what_answers_it(
        first in 0_u64..200,
        last in prop::option::of(0_u64..200),
        complete in 1_u64..200,
    ) {
        prop_assume!(last.is_none_or(|last| first <= last));
        let asked = ByteRange::From { first, last };
        if let Some((first, last)) = asked.within(complete) {
            let part = ContentRange::Part { first, last, complete: Some(complete) };
            prop_assert!(part.answers(asked));
        }
    }
}

#[test]
fn redirects_stay_on_their_host() {
    let from: Uri = "https://music.example/sub/rest/stream?id=1"
        .parse()
        .unwrap();
    let go = |location, hops| follow(&from, location, hops).map(|to| to.to_string());
    assert_eq!(
        go("/files/1.flac", 0).as_deref(),
        Ok("https://music.example/files/1.flac")
    );
    let relative = go("other?id=2#part", 2);
    assert_eq!(
        relative.as_deref(),
        Ok("https://music.example/sub/rest/other?id=2")
    );
    assert_eq!(
        go("https://MUSIC.example:443/x", 0).as_deref(),
        Ok("https://music.example/x")
    );
    for location in [
        "http://music.example/x",
        "https://evil.example/x",
        "//evil.example/x",
        "https://music.example:8443/x",
        "https://u:p@music.example/x",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://music.example.evil/x",
        "http://[",
    ] {
        assert_eq!(go(location, 0), Err(Refusal::RedirectRefused), "{location}");
    }
    assert_eq!(go("/files/1.flac", 3), Err(Refusal::RedirectRefused));
}

fn pairs(query: &[(&str, &str)]) -> Vec<(String, String)> {
    query
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn folder_uris_carry_any_path() {
    let path = "Björk/Ho&mo=g%e?n#i+c/1-01 \"Hunter\".flac";
    let query = pairs(&[
        ("format", "mp3"),
        ("maxBitRate", "128"),
        ("timeOffset", "6"),
    ]);
    let uri = folder::track_uri("my-music", path, &query).unwrap();
    assert_eq!(uri.scheme_str(), Some("folder"));
    let expected = FolderRequest {
        instance: "my-music".into(),
        path: path.into(),
        what: FolderWhat::Transcode {
            format: "mp3".into(),
            max_bit_rate: Some(128),
            time_offset: 6,
        },
    };
    assert_eq!(folder::parse(&uri), Ok(expected));

    let uri = folder::track_uri("a", "x.flac", &pairs(&[("format", "raw")])).unwrap();
    assert_eq!(folder::parse(&uri).unwrap().what, FolderWhat::Original);
    let uri = folder::cover_uri("a", "x.flac").unwrap();
    assert_eq!(folder::parse(&uri).unwrap().what, FolderWhat::Cover);
}

#[test]
fn folder_uris_never_lead_out() {
    for path in [
        "",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a//b",
        "./a",
        "a/.",
        "a\0b",
    ] {
        assert_eq!(
            folder::track_uri("a", path, &[]),
            Err(BadFolderUri::BadPath),
            "{path:?}"
        );
    }
    let parse = |uri: &str| folder::parse(&uri.parse().unwrap());
    for uri in [
        "folder://a/track?path=..%2Fx",
        "folder://a/track?path=%2Fx",
        "folder://a/track?path=%FF",
        "folder://a/track",
    ] {
        assert_eq!(parse(uri), Err(BadFolderUri::BadPath), "{uri}");
    }
    assert_eq!(
        parse("folder://A/track?path=x"),
        Err(BadFolderUri::BadInstance)
    );
    assert_eq!(
        parse("folder://a@b/track?path=x"),
        Err(BadFolderUri::BadInstance)
    );
    assert_eq!(
        parse("folder://a/other?path=x"),
        Err(BadFolderUri::NotFolder)
    );
    assert_eq!(parse("http://a/track?path=x"), Err(BadFolderUri::NotFolder));
    assert_eq!(
        parse("folder://a/track?path=x&format=a%2Fb"),
        Err(BadFolderUri::BadParameter)
    );
    assert_eq!(
        parse("folder://a/track?path=x&timeOffset=-1"),
        Err(BadFolderUri::BadParameter)
    );
}

proptest! {
    #[test]
    fn every_relative_path_survives_a_folder_uri(path in "[^/\0]{1,12}(/[^/\0]{1,12}){0,3}") {
        prop_assume!(path.split('/').all(|part| part != "." && part != ".."));
        let uri = folder::track_uri("a", &path, &[]).unwrap();
        prop_assert_eq!(folder::parse(&uri).unwrap().path, path);
    }
}

fn source(format: &str, bit_rate: u32) -> TrackSource {
    TrackSource {
        format: format.into(),
        suffix: format.into(),
        bit_rate,
        ..TrackSource::default()
    }
}

fn params(format: &str, cap: u32, offset: u32) -> StreamParams {
    StreamParams {
        format: (!format.is_empty()).then(|| format.to_owned()),
        max_bit_rate: Some(cap),
        time_offset: Some(offset),
    }
}

/// The query of a resolution as one string.
fn ask(params: &StreamParams, source: &TrackSource) -> String {
    let resolved = resolve(params, source);
    assert_eq!(resolved.raw, resolved.query == pairs(&[("format", "raw")]));
    let query: Vec<_> = resolved
        .query
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    query.join("&")
}

#[test]
fn the_original_is_sent_unless_a_transcode_is_needed() {
    let (flac, mp3, opus) = (source("flac", 900), source("mp3", 192), source("opus", 128));
    let cases = [
        (params("", 0, 0), &flac, "format=raw"),
        (params("raw", 64, 9), &flac, "format=raw"),
        (params("RAW", 0, 0), &mp3, "format=raw"),
        // The format it has, under the cap.
        (params("flac", 0, 0), &flac, "format=raw"),
        (params("MP3", 320, 0), &mp3, "format=raw"),
        (params("mp3", 192, 0), &mp3, "format=raw"),
        // No needless lossy to lossy.
        (params("mp3", 320, 0), &opus, "format=raw"),
        (params("opus", 0, 0), &mp3, "format=raw"),
        // A lossless source in another format.
        (params("mp3", 0, 0), &flac, "format=mp3"),
        (params("opus", 96, 0), &flac, "format=opus&maxBitRate=96"),
        (params("wav", 0, 0), &flac, "format=wav"),
        // Over the cap.
        (params("", 128, 0), &flac, "format=mp3&maxBitRate=128"),
        (params("", 128, 0), &mp3, "format=mp3&maxBitRate=128"),
        (params("opus", 96, 0), &mp3, "format=opus&maxBitRate=96"),
        (params("flac", 320, 0), &flac, "format=mp3&maxBitRate=320"),
        // Under a cap that no encoder takes.
        (params("mp3", 2000, 0), &flac, "format=mp3&maxBitRate=320"),
        // An offset only means something in a transcode.
        (params("mp3", 0, 30), &flac, "format=mp3&timeOffset=30"),
        (params("", 0, 30), &flac, "format=raw"),
        (params("mp3", 0, 30), &mp3, "format=raw"),
        // No name of a format.
        (params("m p3&x=y", 0, 0), &flac, "format=raw"),
    ];
    for (params, source, expected) in cases {
        assert_eq!(
            ask(&params, source),
            expected,
            "{params:?} {}",
            source.format
        );
    }
}

#[test]
fn an_unknown_bit_rate_is_over_every_cap() {
    let unknown = source("mp3", 0);
    assert_eq!(
        ask(&params("", 320, 0), &unknown),
        "format=mp3&maxBitRate=320"
    );
    assert_eq!(ask(&params("", 0, 0), &unknown), "format=raw");
}

#[test]
fn a_resolution_tells_what_will_come() {
    let expected = Resolved {
        raw: false,
        query: pairs(&[("format", "opus"), ("maxBitRate", "96")]),
        format: "opus".into(),
        bit_rate: Some(96),
        content_type: "audio/ogg".into(),
    };
    assert_eq!(
        resolve(&params("opus", 96, 0), &source("flac", 900)),
        expected
    );
    let expected = Resolved {
        raw: true,
        query: pairs(&[("format", "raw")]),
        format: "flac".into(),
        bit_rate: Some(900),
        content_type: "audio/flac".into(),
    };
    assert_eq!(
        resolve(&StreamParams::original(), &source("flac", 900)),
        expected
    );
}
