//! Services of the operator's own, in each dialect.

use super::{NotFound, Row, Shape, Side};
use crate::drive::{json, reply};
use segue_core::dispatch::Quality;
use segue_core::lyrics::Song;
use segue_core::provider::configured::{
    Configured, Dialect, Pointers, Settings, StatusMeaning, Template,
};
use segue_core::provider::{Lookup, MissReason};
use std::collections::BTreeMap;

const URL: &str = "http://box.example:8080/lyrics/{artist}/{title}?album={album}&duration={duration}&isrc={isrc}&mbid={mbid}";

pub(crate) fn settings(dialect: Dialect) -> Settings {
    Settings {
        template: Template::parse(URL).expect("a template"),
        dialect,
        headers: BTreeMap::new(),
        token: None,
        statuses: BTreeMap::new(),
    }
}

fn ask(settings: Settings, song: &Song) -> Box<dyn Lookup> {
    Configured::new(settings).expect("configured").lookup(song)
}

pub(crate) fn pointers(pairs: &[(&str, &str)]) -> Pointers {
    let pairs = pairs
        .iter()
        .map(|(name, pointer)| ((*name).to_owned(), (*pointer).to_owned()));
    Pointers::new(&pairs.collect()).expect("pointers")
}

pub(super) fn lrclib() -> Row {
    Row {
        name: "http, as LRCLIB",
        lookup: |song| ask(settings(Dialect::Lrclib), song),
        hit: |_| {
            json(
                r#"{"id":1,"trackName":"Lantern Hill","artistName":"The Paper Boats","albumName":"Harbour Songs",
                "duration":201.0,"instrumental":false,"plainLyrics":"Boats of paper","syncedLyrics":null}"#,
            )
        },
        miss: |_| Ok(reply(404, &[], r#"{"code":404,"name":"TrackNotFound"}"#)),
        quality: Quality::Plain,
        reason: MissReason::NotFound,
        hollow: &[
            r#"{"id":1,"plainLyrics":null,"syncedLyrics":null,"instrumental":false}"#,
            "[{}]",
            "7",
        ],
        most_requests: 1,
        not_found: NotFound::IsTrouble,
        shape: Shape::Document,
        side: Side::Server,
    }
}

pub(super) fn json_pointers() -> Row {
    Row {
        name: "http, JSON",
        lookup: |song| {
            let pointers = pointers(&[
                ("list", "/hits"),
                ("plain", "/text"),
                ("title", "/song/name"),
            ]);
            ask(settings(Dialect::Json(pointers)), song)
        },
        hit: |_| {
            json(
                r#"{"hits":[{"song":{"name":"Lantern Hill"},"text":["Boats of paper","lamps of tin"]}]}"#,
            )
        },
        miss: |_| json(r#"{"hits":[]}"#),
        hollow: &[
            r#"{"hits":[{"text":"  "}]}"#,
            r#"{"hits":[{"text":[]}]}"#,
            r#"{"hits":{"text":{}}}"#,
        ],
        ..lrclib()
    }
}

pub(super) fn text() -> Row {
    Row {
        name: "http, text",
        lookup: |song| ask(settings(Dialect::Text), song),
        hit: |_| {
            Ok(reply(
                200,
                &[("content-type", "text/plain")],
                "Boats of paper\nlamps of tin",
            ))
        },
        miss: |_| {
            Ok(reply(
                404,
                &[("content-type", "text/plain")],
                "no such song",
            ))
        },
        hollow: &[
            "{}",
            "{\"error\":\"no\"}",
            "[]",
            "<html><body>Log in</body></html>",
        ],
        shape: Shape::Text,
        ..lrclib()
    }
}

pub(super) fn lrcmux() -> Row {
    Row {
        name: "http, as lrcmux",
        lookup: |song| ask(settings(Dialect::Lrcmux), song),
        ..text()
    }
}

/// A service that says "not here" by any 404.
pub(super) fn own_statuses() -> Row {
    Row {
        name: "http, own statuses",
        lookup: |song| {
            let statuses = BTreeMap::from([
                (404, StatusMeaning::NotFound),
                (420, StatusMeaning::RateLimited),
            ]);
            let settings = Settings {
                statuses,
                ..settings(Dialect::Lrclib)
            };
            ask(settings, song)
        },
        miss: |_| json("[]"),
        not_found: NotFound::IsMiss,
        ..lrclib()
    }
}
