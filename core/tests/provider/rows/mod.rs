//! One row for each codec.

mod command;
pub(crate) mod configured;
pub(crate) mod local;
pub(crate) mod lrclib;
pub(crate) mod musixmatch;
pub(crate) mod petitlyrics;
pub(crate) mod subsonic;

use crate::drive::{Sent, reply};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::lyrics::accept::Rules;
use segue_core::lyrics::{Copy, Song};
use segue_core::provider::{Kind, Lookup, MissReason, Provider, Question, Server, Settings};
use segue_core::source::subsonic::{Auth, Credentials, Endpoint, Secret};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A codec, and the other side of it.
pub(crate) struct Row {
    /// The lane's name, for messages.
    pub(crate) name: &'static str,
    /// A fresh lookup.
    pub(crate) lookup: fn(&Song) -> Box<dyn Lookup>,
    /// The other side when it has the song ([`song`]). Answers by what is asked, not by order.
    pub(crate) hit: fn(&Request<Bytes>) -> Sent,
    /// The other side when it has not.
    pub(crate) miss: fn(&Request<Bytes>) -> Sent,
    /// What `hit` comes to.
    pub(crate) quality: Quality,
    /// What `miss` comes to.
    pub(crate) reason: MissReason,
    /// Bodies that come with 200 and hold nothing: never words, never an instrumental.
    pub(crate) hollow: &'static [&'static str],
    /// Requests for one song at most.
    pub(crate) most_requests: usize,
    /// Whether a strange 404 may mean that it has nothing. Only where no other answer can be expected.
    pub(crate) not_found: NotFound,
    /// Whether a body that is cut short can be told from a whole one.
    pub(crate) shape: Shape,
    /// Who is on the other side.
    pub(crate) side: Side,
}

/// What a 404 with a web page means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// This is not the service.
    IsTrouble,
    /// It does not have it, and says so in its own way.
    IsMiss,
}

/// What bodies look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// JSON or XML: incomplete ones show.
    Document,
    /// Words alone.
    #[allow(
        dead_code,
        reason = "the row of a service that answers so comes with its codec"
    )]
    Text,
}

/// Who is on the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A server: requests carry our name.
    Server,
    /// This machine.
    Machine,
}

/// The song that every row is asked for.
pub(crate) fn song() -> Song {
    Song {
        title: "Lantern Hill".to_owned(),
        artist: "The Paper Boats".to_owned(),
        artists: vec!["The Paper Boats".to_owned()],
        album: Some("Harbour Songs".to_owned()),
        duration_ms: Some(201_000),
        isrcs: vec!["XXA012600001".to_owned()],
        recording_mbid: None,
        copies: vec![
            Copy {
                instance_id: "shelf".to_owned(),
                remote_id: "Paper Boats/01 Lantern Hill.flac".to_owned(),
                folder: true,
            },
            Copy {
                instance_id: "home".to_owned(),
                remote_id: "tr-7".to_owned(),
                folder: false,
            },
        ],
    }
}

/// A lookup of `song` by a provider of that kind, with one Subsonic source at hand.
pub(crate) fn ask(name: &str, kind: Kind, song: &Song) -> Box<dyn Lookup> {
    asked_with(name, kind, song, |_| {})
}

/// As [`ask`], with something changed about the sources.
pub(crate) fn asked_with(
    name: &str,
    kind: Kind,
    song: &Song,
    change: impl FnOnce(&mut BTreeMap<String, Server>),
) -> Box<dyn Lookup> {
    let mut servers = BTreeMap::from([("home".to_owned(), server("home"))]);
    change(&mut servers);
    let question = Question {
        song,
        rules: &Rules::default(),
        servers: &servers,
        salt: "c19b2d",
        ours: &BTreeSet::from(["hash of ours.lrc".to_owned()]),
    };
    provider(name, kind).lookup(&question)
}

/// A provider of that kind.
pub(crate) fn provider(name: &str, kind: Kind) -> Provider {
    let settings = Settings {
        name: name.to_owned(),
        spacing: Duration::ZERO,
        timeout: Duration::from_secs(30),
        kind,
    };
    Provider::new(settings).expect("fine settings")
}

/// A Subsonic source at `http://NAME.example`.
pub(crate) fn server(name: &str) -> Server {
    let base = format!("http://{name}.example").parse().expect("a URL");
    let credentials = Credentials::password("ann", Secret::new("sesame"));
    Server {
        endpoint: Endpoint::new(&base, credentials).expect("an endpoint"),
        auth: Auth::Token,
        structured: None,
    }
}

/// A 404 with a web page, as a proxy or a wrong address gives it.
pub(crate) fn lost() -> Sent {
    let page =
        "<!DOCTYPE html><html><head><title>404 Not Found</title></head><body>nginx</body></html>";
    Ok(reply(404, &[("content-type", "text/html")], page))
}

/// All codecs.
pub(crate) fn all() -> Vec<Row> {
    vec![
        local::row(),
        subsonic::row(),
        lrclib::row(),
        command::row(),
        configured::lrclib(),
        configured::json_pointers(),
        configured::text(),
        configured::lrcmux(),
        configured::own_statuses(),
        musixmatch::row(),
        petitlyrics::row(),
        petitlyrics::protected(),
    ]
}
