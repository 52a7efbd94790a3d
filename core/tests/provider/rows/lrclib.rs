//! LRCLIB: bodies as the service writes them, words invented.

use super::{NotFound, Row, Shape, Side, ask};
use crate::drive::{Sent, json, reply};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::provider::{Kind, MissReason};

/// The service's own "not here".
pub(crate) fn track_not_found() -> Sent {
    let body =
        r#"{"message":"Failed to find specified track","name":"TrackNotFound","statusCode":404}"#;
    Ok(reply(404, &[("content-type", "application/json")], body))
}

/// A record as `/api/get` answers it.
pub(crate) fn record(
    title: &str,
    seconds: f64,
    plain: Option<&str>,
    synced: Option<&str>,
) -> String {
    serde_json::json!({
        "id": 31, "name": title, "trackName": title, "artistName": "The Paper Boats", "albumName": "Harbour Songs",
        "duration": seconds, "instrumental": false, "plainLyrics": plain, "syncedLyrics": synced,
        "hasWordSync": false,
    })
    .to_string()
}

/// Timed words.
pub(crate) const SYNCED: &str =
    "[00:12.50] Paper boats and lamps of tin\n[00:17.00] Who will let the harbour in\n[00:25.25] ";

fn hit(request: &Request<Bytes>) -> Sent {
    match request.uri().path() {
        "/api/get" => json(record(
            "Lantern Hill",
            200.6,
            Some("Paper boats"),
            Some(SYNCED),
        )),
        _ => json("[]"),
    }
}

fn miss(request: &Request<Bytes>) -> Sent {
    match request.uri().path() {
        "/api/get" => track_not_found(),
        _ => json("[]"),
    }
}

pub(super) fn row() -> Row {
    Row {
        name: "lrclib",
        lookup: |song| {
            let base_url = "https://lrclib.example".parse().expect("a URL");
            ask("lrclib", Kind::Lrclib { base_url }, song)
        },
        hit,
        miss,
        quality: Quality::Line,
        reason: MissReason::NotFound,
        hollow: &[
            r#"{"id":1,"trackName":"Lantern Hill","artistName":"The Paper Boats","instrumental":false,"plainLyrics":null,"syncedLyrics":null}"#,
            r#"{"id":1,"trackName":"Lantern Hill","artistName":"The Paper Boats","instrumental":false,"plainLyrics":"","syncedLyrics":" \n"}"#,
            r#"{"id":1,"trackName":"Lantern Hill","artistName":"The Paper Boats","plainLyrics":"[00:01.00]\n[00:02.00]"}"#,
            r#"{"id":1,"instrumental":true}"#,
        ],
        most_requests: 3,
        not_found: NotFound::IsTrouble,
        shape: Shape::Document,
        side: Side::Server,
    }
}
