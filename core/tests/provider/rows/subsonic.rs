//! A Subsonic source.

use super::{NotFound, Row, Shape, Side, ask};
use crate::drive::{Sent, json};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::provider::{Kind, MissReason};

/// A good envelope around `content`, from a server of some other make.
pub(crate) fn envelope(content: &str) -> Sent {
    let comma = if content.is_empty() { "" } else { "," };
    json(format!(
        r#"{{"subsonic-response":{{"status":"ok","version":"1.16.1","type":"navidrome","serverVersion":"0.63.2","openSubsonic":true{comma}{content}}}}}"#
    ))
}

fn hit(request: &Request<Bytes>) -> Sent {
    match request.uri().path() {
        "/rest/getLyricsBySongId" => envelope(
            r#""lyricsList":{"structuredLyrics":[{"lang":"xxx","synced":true,"offset":-100,"displayTitle":"Lantern Hill",
            "line":[{"start":0,"value":"Paper boats"},{"start":4200,"value":"Lamps of tin"}]}]}"#,
        ),
        _ => envelope(r#""lyrics":{}"#),
    }
}

fn miss(request: &Request<Bytes>) -> Sent {
    match request.uri().path() {
        "/rest/getLyricsBySongId" => envelope(r#""lyricsList":{}"#),
        _ => envelope(r#""lyrics":{}"#),
    }
}

pub(super) fn row() -> Row {
    Row {
        name: "subsonic",
        lookup: |song| ask("subsonic", Kind::Subsonic, song),
        hit,
        miss,
        quality: Quality::Line,
        reason: MissReason::NoLyrics,
        hollow: &[
            r#"{"subsonic-response":{"status":"ok","version":"1.16.1","lyricsList":{"structuredLyrics":[{"lang":"und","synced":true,"line":[]}]}}}"#,
            r#"{"subsonic-response":{"status":"ok","version":"1.16.1","lyricsList":{"structuredLyrics":[{"lang":"und","synced":false,"line":[{"value":""}]}]}}}"#,
            r#"{"subsonic-response":{"status":"ok","version":"1.16.1","lyrics":{"value":""}}}"#,
            r#"{"subsonic-response":{"status":"ok","version":"1.16.1"}}"#,
        ],
        most_requests: 2,
        // What servers without lyrics answer to both methods.
        not_found: NotFound::IsMiss,
        shape: Shape::Document,
        side: Side::Server,
    }
}
