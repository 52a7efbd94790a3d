//! Every way a network spoils a connection, on every byte path, over real sockets.
//!
//! Contracts section 3; F1, F2, F3, F5 and F7. Both sources are healthy, the first one stands behind a [`Proxy`] that is
//! not. A client gets right bytes or a broken connection: never wrong bytes, never a clean end that comes too early. And
//! afterwards nothing is left behind.

use crate::chance::Chance;
use crate::proxy::{Place, Proxy, Toxic};
use crate::world::{self, Reply, TestHub, attempt_bytes, attempts, forgiving, pairs};
use bytes::Bytes;
use futures_util::future::{join, join_all};
use http_body_util::BodyExt;
use segue::sources::{LinkSpec, SourceSpec};
use segue::upstream::{Album, Artist, Audio, Library, Setup, Track, Upstream};
use segue_core::failover::{Limits, Midstream};
use segue_core::io::{Accepted, Network, Runtime};
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use segue_runtime_tokio::net::TokioNetwork;
use serde_json::{Value, json};
use std::time::Duration;

use Comes::{First, Second, Short};

/// Whose bytes a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// The first source's, all of them.
    First,
    /// The second source's, all of them.
    Second,
    /// The first so many of the first source's, and then his connection breaks.
    Short(usize),
}

/// Songs, each on an album of its own with a cover of its own: one for each case of a table.
const SONGS: usize = 32;
const FLAC: usize = 300_000;
const MP3: usize = 200_000;
/// Well over a budget's worth of patience (see `quick`).
const PATIENCE: Duration = Duration::from_secs(30);
const A_MOMENT: Duration = Duration::from_millis(100);

/// All toxics that end in a budget or at once, and what they come to when the first bytes of a response make it through
/// up to `at` in its body. `broken` is what happens beyond the commit point.
fn toxics(at: usize, broken: Comes) -> Vec<(Toxic, Comes)> {
    let drip = Duration::from_millis(1);
    let mut all = vec![
        (Toxic::None, First),
        (Toxic::Late(A_MOMENT), First),
        (Toxic::Pieces(4_000, drip), First),
        (Toxic::Garbage, Second),
        (Toxic::LongHead, Second),
        (Toxic::FlipAt(Place::Head(0)), Second),
        (Toxic::Unread, Second),
    ];
    for (place, comes) in [
        (Place::Head(0), Second),
        (Place::Head(20), Second),
        (Place::Body(0), Second),
        (Place::Body(at), broken),
    ] {
        all.push((Toxic::CloseAt(place), comes));
        all.push((Toxic::SlowCloseAt(place, A_MOMENT), comes));
        all.push((Toxic::HalfCloseAt(place), comes));
        all.push((Toxic::ResetAt(place), comes));
        all.push((Toxic::StallAt(place), comes));
    }
    all
}

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

fn title(number: usize) -> String {
    format!("Song {number}")
}

/// A hub over two healthy sources, each behind a proxy of its own.
struct Stage {
    first: Upstream,
    second: Upstream,
    to_first: Proxy,
    to_second: Proxy,
    hub: TestHub,
    /// What the hub shows of each song.
    songs: Vec<Value>,
}

impl Stage {
    /// FLAC on the first, MP3 on the second.
    async fn new(limits: Limits) -> Stage {
        let own = |_| Audio::Own;
        Self::of(
            library("flac", 900, FLAC, own),
            library("mp3", 128, MP3, own),
            limits,
        )
        .await
    }

    /// The same bytes on both, and streams that resume.
    async fn twins() -> Stage {
        let limits = Limits {
            midstream: Midstream::Resume,
            ..forgiving()
        };
        let same = library("flac", 900, FLAC, Audio::Labelled);
        Self::of(same.clone(), same, limits).await
    }

    async fn of(first: Library, second: Library, limits: Limits) -> Stage {
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
        Stage {
            first,
            second,
            to_first,
            to_second,
            hub,
            songs,
        }
    }

    fn id(&self, number: usize) -> &str {
        self.songs[number]["id"].as_str().expect("an id")
    }

    async fn stream(&self, number: usize, params: &str, range: Option<&str>) -> Reply {
        let target = self.hub.stream_target(self.id(number), params);
        let headers: Vec<(&str, &str)> = range.iter().map(|range| ("range", *range)).collect();
        self.hub.ask("GET", &target, &headers).await
    }

    fn copies(&self, number: usize) -> (Bytes, Bytes) {
        let title = title(number);
        (
            self.first.shared().bytes_of(&title),
            self.second.shared().bytes_of(&title),
        )
    }

    /// Nothing plays, no permit is out, and every connection that stands rests in the pool (F5).
    async fn assert_nothing_left(&self, case: &str) {
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
fn judge(reply: &Reply, first: &[u8], second: &[u8], case: &str) -> Comes {
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
enum Path {
    Whole,
    Part,
    Transcode,
}

impl Path {
    async fn ask(self, stage: &Stage, number: usize) -> Reply {
        match self {
            Path::Whole => stage.stream(number, "", None).await,
            Path::Part => stage.stream(number, "", Some("bytes=100000-189999")).await,
            Path::Transcode => stage.stream(number, "format=mp3&maxBitRate=96", None).await,
        }
    }

    /// Asks, and says whose bytes came.
    async fn try_on(self, stage: &Stage, number: usize, case: &str) -> (Reply, Comes) {
        let reply = self.ask(stage, number).await;
        let (first, second) = match (self, reply.status) {
            // Where another encode is all that is left, the whole of it is sent (rule 8).
            (Path::Part, 200) => stage.copies(number),
            (Path::Whole | Path::Part | Path::Transcode, _) => self.answers(stage, number),
        };
        let comes = match (self, judge(&reply, &first, &second, case)) {
            // Places in a body without a length count what parts its chunks as well.
            (Path::Transcode, Short(bytes)) => Short(bytes.next_multiple_of(100)),
            (_, comes) => comes,
        };
        (reply, comes)
    }

    /// What the first and the second source answer.
    fn answers(self, stage: &Stage, number: usize) -> (Bytes, Bytes) {
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

async fn every_toxic_on(path: Path) {
    let stage = Stage::new(forgiving()).await;
    for (number, (toxic, comes)) in toxics(50_000, Short(50_000)).into_iter().enumerate() {
        let case = format!("{toxic:?} on {path:?}");
        stage.to_first.set(toxic).await;
        let (reply, came) = path.try_on(&stage, number, &case).await;
        assert_eq!(came, comes, "{case}");
        stage.assert_nothing_left(&case).await;
        let row = stage.hub.last_row().await;
        assert_eq!(attempt_bytes(&row), reply.body.len() as u64, "{case}");
        let (source, status) = match comes {
            First => ("one", "completed"),
            Second => ("two", "completed"),
            Short(_) => ("one", "truncated"),
        };
        assert_eq!(
            (&row["source_id"], &row["status"]),
            (&json!(source), &json!(status)),
            "{case}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_every_toxic_on_a_whole_track() {
    every_toxic_on(Path::Whole).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_every_toxic_on_a_part_of_a_track() {
    every_toxic_on(Path::Part).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_every_toxic_on_a_transcode_of_unknown_length() {
    every_toxic_on(Path::Transcode).await;
}

/// What a source itself gives.
async fn cover_of(upstream: &Upstream, number: usize) -> Bytes {
    let url = upstream.url();
    let id = format!("al-{}", number + 1);
    let uri = format!("{url}/rest/getCoverArt?u=alice&p=sesame&id={id}");
    let request = http::Request::get(uri)
        .body(Bytes::new())
        .expect("a request");
    let reply = TokioNetwork::new().send(request, Accepted::default()).await;
    let body = reply.expect("an answer").into_body().collect().await;
    body.expect("a cover").to_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn f1_every_toxic_on_a_cover() {
    let stage = Stage::new(forgiving()).await;
    // A picture is held back until it is whole, so no toxic can break it.
    let mut toxics = toxics(1_000, Second);
    toxics.push((Toxic::FlipAt(Place::Body(1)), Second));
    for (number, (toxic, comes)) in toxics.into_iter().enumerate() {
        let case = format!("{toxic:?} on a cover");
        let first = cover_of(&stage.first, number).await;
        let second = cover_of(&stage.second, number).await;
        assert!(first.len() > 1_000 && first != second);
        stage.to_first.set(toxic).await;
        let id = stage.songs[number]["coverArt"].as_str().expect("an id");
        let target = format!("/rest/getCoverArt?{}&id={id}", world::AUTH);
        let reply = stage.hub.get(&target).await;
        assert_eq!(judge(&reply, &first, &second, &case), comes, "{case}");
        stage.assert_nothing_left(&case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f11_every_toxic_on_a_stream_that_resumes_from_a_twin() {
    let stage = Stage::twins().await;
    for (number, (toxic, _)) in toxics(50_000, Short(50_000)).into_iter().enumerate() {
        let case = format!("{toxic:?} on a stream with a twin");
        stage.to_first.set(toxic).await;
        let reply = stage.stream(number, "", None).await;
        let (first, second) = stage.copies(number);
        assert_eq!(judge(&reply, &first, &second, &case), First, "{case}");
        stage.assert_nothing_left(&case).await;
        let row = stage.hub.last_row().await;
        assert_eq!(attempt_bytes(&row), FLAC as u64, "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_twin_behind_a_toxic_continues_with_right_bytes_or_not_at_all() {
    let stage = Stage::twins().await;
    // The copy is asked for 16 KiB that are known already.
    let mut toxics = toxics(100, Short(50_000));
    toxics.push((Toxic::FlipAt(Place::Body(10_000)), Short(50_000)));
    for (number, (toxic, comes)) in toxics.into_iter().enumerate() {
        let case = format!("{toxic:?} on the twin");
        stage.to_second.set(toxic).await;
        // The first breaks off, and is not there any more when it is asked again.
        stage.to_first.set(Toxic::ResetAt(Place::Head(0))).await;
        stage.to_first.next(Toxic::CloseAt(Place::Body(50_000)));
        let reply = tokio::time::timeout(PATIENCE, stage.stream(number, "", None)).await;
        let reply = reply.unwrap_or_else(|_| panic!("F5: hangs after {case}"));
        let (first, second) = stage.copies(number);
        let expected = match comes {
            First => First,
            Second | Short(_) => Short(50_000),
        };
        assert_eq!(judge(&reply, &first, &second, &case), expected, "{case}");
        stage.assert_nothing_left(&case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_went_stale_between_requests_counts_for_nothing() {
    let stage = Stage::new(forgiving()).await;
    stage.to_first.set(Toxic::StaleReuse).await;
    for number in 0..6 {
        let stale = stage.to_first.counters().stale;
        let reply = stage.stream(number, "", None).await;
        let (first, second) = stage.copies(number);
        assert_eq!(judge(&reply, &first, &second, "a stale connection"), First);
        assert_eq!(
            stage.to_first.counters().stale - stale,
            u64::from(number > 0)
        );
        let row = stage.hub.last_row().await;
        assert_eq!(attempts(&row), pairs(&[("one", "served")]));
    }
    stage.assert_nothing_left("stale connections").await;
}

impl Stage {
    /// Synchronises, and checks that no song was lost by it. What was said of the first source.
    async fn sync(&self, case: &str) -> segue::sync::SourceReport {
        let mut report = self.hub.sync().await;
        assert!(
            report.sources[1].complete,
            "the second is healthy: {report:?}"
        );
        assert_eq!(report.tracks, SONGS as u64, "{case}");
        for song in &self.songs {
            let title = song["title"].as_str().expect("a title");
            assert_eq!(json!(self.hub.id_of(title).await), song["id"], "{case}");
        }
        self.assert_nothing_left(case).await;
        report.sources.swap_remove(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_toxic_on_a_sync_costs_no_song() {
    let stage = Stage::new(forgiving()).await;
    for (toxic, comes) in toxics(40, Second) {
        // A sync waits a minute for an answer: see the next test.
        if matches!(toxic, Toxic::Unread | Toxic::StallAt(_)) {
            continue;
        }
        let case = format!("{toxic:?} on a sync");
        stage.to_first.set(toxic).await;
        let one = stage.sync(&case).await;
        assert_eq!(one.complete, comes == First, "{case}: {one:?}");
        assert_eq!(one.error.is_some(), comes != First, "{case}: {one:?}");
        assert_eq!(one.removed, 0, "{case}");
    }
    // Past the first small answers, in the middle of the lists.
    stage.to_first.set(Toxic::ResetAt(Place::Body(1_000))).await;
    let one = stage.sync("a reset in the lists").await;
    assert!(!one.complete && one.removed == 0, "{one:?}");
    stage.to_first.set(Toxic::None).await;
    assert!(stage.sync("all is well again").await.complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_hears_nothing_ends_with_its_connection() {
    let stage = Stage::new(forgiving()).await;
    for toxic in [
        Toxic::Unread,
        Toxic::StallAt(Place::Head(0)),
        Toxic::StallAt(Place::Body(40)),
    ] {
        let case = format!("{toxic:?} on a sync");
        stage.to_first.set(toxic).await;
        let cut = async {
            stage.to_first.until(|counters| counters.open == 1).await;
            stage.to_first.set(Toxic::ResetAt(Place::Head(0))).await;
        };
        let (one, ()) = join(stage.sync(&case), cut).await;
        assert!(one.error.is_some() && one.removed == 0, "{case}: {one:?}");
    }
}

/// Streams of the next test, and how many of them at once.
const MIXED: u64 = 200;
const AT_ONCE: u64 = 10;

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_streams_through_toxics_at_random() {
    let stage = Stage::new(forgiving()).await;
    let stream = async |stream: u64| {
        let chance = &mut Chance::of(1, stream);
        let at = chance.below(FLAC as u64) as usize;
        let number = chance.below(SONGS as u64) as usize;
        let path = *chance.among(&[Path::Whole, Path::Part, Path::Transcode]);
        let toxics = toxics(at, Short(at));
        let (toxic, _) = *chance.among(&toxics);
        // Whichever of the streams connects next meets it.
        stage.to_first.next(toxic);
        let case = format!("stream {stream}");
        path.try_on(&stage, number, &case).await.1
    };
    stage.to_first.serve_once_each();
    let mut came = [0; 3];
    for round in 0..MIXED / AT_ONCE {
        let streams = (0..AT_ONCE).map(|number| stream(round * AT_ONCE + number));
        for comes in join_all(streams).await {
            came[match comes {
                First => 0,
                Second => 1,
                Short(_) => 2,
            }] += 1;
        }
    }
    stage.assert_nothing_left("two hundred streams").await;
    // What is meant to happen has happened, or this tests less than it says.
    assert!(came.iter().all(|count| *count > 0), "{came:?}");
}
