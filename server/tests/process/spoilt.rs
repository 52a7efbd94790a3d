//! A hub whose sources are healthy and whose network is not.

use crate::proxy::Proxy;
use crate::world::{Reply, TestHub, forgiving};
use bytes::Bytes;
use segue::sources::{LinkSpec, SourceSpec};
use segue::upstream::{Album, Artist, Audio, Library, Setup, Track, Upstream};
use segue_core::failover::{Limits, Midstream};
use segue_core::io::Runtime;
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use serde_json::Value;
use std::time::Duration;

use Comes::{First, Second, Short};

/// Whose bytes a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comes {
    /// The first source's, all of them.
    First,
    /// The second source's, all of them.
    Second,
    /// The first so many of the first source's, and then his connection breaks.
    Short(usize),
}

/// Songs, each on an album of its own with a cover of its own: one for each case of a table.
pub(crate) const SONGS: usize = 32;
pub(crate) const FLAC: usize = 300_000;
pub(crate) const MP3: usize = 200_000;
/// Well over a budget's worth of patience (see `quick`).
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

fn library(suffix: &str, bit_rate: u32, bytes: usize, audio: impl Fn(String) -> Audio) -> Library {
    let album = |number: usize| {
        let title = title(number);
        let track = Track::new(&title)
            .format(suffix, bit_rate)
            .size(bytes as u64);
        Album::new(&format!("Album {number}")).track(track.audio(audio(title)))
    };
    Library::new().artist(
        (0..SONGS)
            .map(album)
            .fold(Artist::new("Björk"), Artist::album),
    )
}

pub(crate) fn title(number: usize) -> String {
    format!("Song {number}")
}

/// A hub over two healthy sources, each behind a proxy of its own.
pub(crate) struct Spoilt {
    pub(crate) first: Upstream,
    pub(crate) second: Upstream,
    pub(crate) to_first: Proxy,
    pub(crate) to_second: Proxy,
    pub(crate) hub: TestHub,
    /// What the hub shows of each song.
    pub(crate) songs: Vec<Value>,
}

impl Spoilt {
    /// FLAC on the first, MP3 on the second.
    pub(crate) async fn new(limits: Limits) -> Spoilt {
        let own = |_| Audio::Own;
        Self::of(
            library("flac", 900, FLAC, own),
            library("mp3", 128, MP3, own),
            limits,
        )
        .await
    }

    /// The same bytes on both, and streams that resume.
    pub(crate) async fn twins() -> Spoilt {
        let limits = Limits {
            midstream: Midstream::Resume,
            ..forgiving()
        };
        let same = library("flac", 900, FLAC, Audio::Labelled);
        Self::of(same.clone(), same, limits).await
    }

    async fn of(first: Library, second: Library, limits: Limits) -> Spoilt {
        let first = Upstream::start(Setup::new("first", first))
            .await
            .expect("a free port");
        let second = Upstream::start(Setup::new("second", second))
            .await
            .expect("a free port");
        let to_first = Proxy::before(first.address()).await;
        let to_second = Proxy::before(second.address()).await;
        let sources = vec![behind("one", &to_first), behind("two", &to_second)];
        let hub = TestHub::start_with(sources, limits).await;
        let mut songs = Vec::new();
        for number in 0..SONGS {
            let id = hub.id_of(&title(number)).await;
            songs.push(hub.rest("getSong", &format!("id={id}")).await["song"].take());
        }
        Spoilt {
            first,
            second,
            to_first,
            to_second,
            hub,
            songs,
        }
    }

    pub(crate) fn id(&self, number: usize) -> &str {
        self.songs[number]["id"].as_str().expect("an id")
    }

    pub(crate) async fn stream(&self, number: usize, params: &str, range: Option<&str>) -> Reply {
        let target = self.hub.stream_target(self.id(number), params);
        let headers: Vec<(&str, &str)> = range.iter().map(|range| ("range", *range)).collect();
        self.hub.ask("GET", &target, &headers).await
    }

    pub(crate) fn copies(&self, number: usize) -> (Bytes, Bytes) {
        let title = title(number);
        (
            self.first.shared().bytes_of(&title),
            self.second.shared().bytes_of(&title),
        )
    }

    /// Nothing plays, no permit is out, and every connection that stands rests in the pool (F5).
    pub(crate) async fn assert_nothing_left(&self, case: &str) {
        self.to_first.release();
        self.to_second.release();
        let network = self.hub.hub.runtime().network();
        let rests = async {
            loop {
                let open = self.to_first.counters().open + self.to_second.counters().open;
                let resting = network.resting_connections();
                let playing = self.hub.hub.activity().active_count();
                if (open, playing) == (resting, 0) {
                    return;
                }
                // Gives the hub the time of one exchange.
                self.hub.get("/healthz").await;
            }
        };
        let rests = tokio::time::timeout(PATIENCE, rests).await;
        let (one, two) = (self.to_first.counters(), self.to_second.counters());
        assert!(
            rests.is_ok(),
            "F5: left behind after {case}: {one:?} {two:?}"
        );
        self.hub.assert_at_rest().await;
        for upstream in [&self.first, &self.second] {
            upstream.until(|counters| counters.open_streams == 0).await;
        }
    }
}

fn behind(id: &str, proxy: &Proxy) -> SourceSpec {
    let url = format!("http://{}", proxy.address())
        .parse()
        .expect("a URL");
    let credentials = Credentials::password("alice".to_owned(), Secret::new("sesame".to_owned()));
    SourceSpec {
        id: id.to_owned(),
        local: false,
        max_streams: 0,
        link: LinkSpec::Subsonic {
            endpoint: Endpoint::new(&url, credentials).expect("an endpoint"),
            auth: None,
        },
    }
}

/// Whose bytes these are.
///
/// # Panics
/// When they are nobody's, or end cleanly and too early (F1, F2).
pub(crate) fn judge(reply: &Reply, first: &[u8], second: &[u8], case: &str) -> Comes {
    let (body, broken) = (&reply.body[..], reply.broken);
    assert!(
        matches!(reply.status, 200 | 206),
        "F3: {} after {case}",
        reply.status
    );
    match broken {
        None if body == first => First,
        None if body == second => Second,
        Some(_) if first.starts_with(body) && body.len() < first.len() => Short(body.len()),
        None | Some(_) => {
            let own = first.iter().zip(body).take_while(|(a, b)| a == b).count();
            let length = body.len();
            panic!("{length} bytes, {own} of them right, broken {broken:?} after {case}")
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Path {
    Whole,
    Part,
    Transcode,
}

impl Path {
    pub(crate) async fn ask(self, stage: &Spoilt, number: usize) -> Reply {
        match self {
            Path::Whole => stage.stream(number, "", None).await,
            Path::Part => stage.stream(number, "", Some("bytes=100000-189999")).await,
            Path::Transcode => stage.stream(number, "format=mp3&maxBitRate=96", None).await,
        }
    }

    /// Whose bytes came.
    pub(crate) fn judge(self, stage: &Spoilt, number: usize, reply: &Reply, case: &str) -> Comes {
        let (first, second) = match (self, reply.status) {
            // Where another encode is all that is left, the whole of it is sent (rule 8).
            (Path::Part, 200) => stage.copies(number),
            (Path::Whole | Path::Part | Path::Transcode, _) => self.answers(stage, number),
        };
        match (self, judge(reply, &first, &second, case)) {
            // Places in a body without a length count what parts its chunks as well.
            (Path::Transcode, Short(bytes)) => Short(bytes.next_multiple_of(100)),
            (_, comes) => comes,
        }
    }

    /// What the first and the second source answer.
    pub(crate) fn answers(self, stage: &Spoilt, number: usize) -> (Bytes, Bytes) {
        let (first, second) = stage.copies(number);
        let transcode = |upstream: &Upstream, name| {
            let track = upstream.shared().track(&title(number));
            track.transcode(name, "mp3", 96, 0).all()
        };
        match self {
            Path::Whole => (first, second),
            Path::Part => (
                first.slice(100_000..190_000),
                second.slice(100_000..190_000),
            ),
            Path::Transcode => (
                transcode(&stage.first, "first"),
                transcode(&stage.second, "second"),
            ),
        }
    }
}
