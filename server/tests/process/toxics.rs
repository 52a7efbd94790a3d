//! Every way a network spoils a connection, on every byte path, over real sockets.
//!
//! Contracts section 3; F1, F2, F3, F5 and F7. Both sources are healthy, the first one stands behind a [`Proxy`] that is
//! not. A client gets right bytes or a broken connection: never wrong bytes, never a clean end that comes too early. And
//! afterwards nothing is left behind.

use crate::chance::{Chance, asked_for};
use crate::proxy::{Place, Toxic};
use crate::spoilt::{Comes, FLAC, PATIENCE, Path, SONGS, Spoilt, judge};
use crate::world::{self, attempt_bytes, attempts, forgiving, pairs};
use bytes::Bytes;
use futures_util::future::{join, join_all};
use http_body_util::BodyExt;
use segue::upstream::Upstream;
use segue_core::io::{Accepted, Network};
use segue_runtime_tokio::net::TokioNetwork;
use serde_json::json;
use std::ops::Range;
use std::time::Duration;

use Comes::{First, Second, Short};

/// Long for a machine, and nothing against a budget.
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

async fn every_toxic_on(path: Path) {
    let spoilt = Spoilt::new(forgiving()).await;
    for (number, (toxic, comes)) in toxics(50_000, Short(50_000)).into_iter().enumerate() {
        let case = format!("{toxic:?} on {path:?}");
        spoilt.to_first.set(toxic).await;
        let reply = path.ask(&spoilt, number).await;
        let came = path.judge(&spoilt, number, &reply, &case);
        assert_eq!(came, comes, "{case}");
        spoilt.assert_nothing_left(&case).await;
        let row = spoilt.hub.last_row().await;
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
    let spoilt = Spoilt::new(forgiving()).await;
    // A picture is held back until it is whole, so no toxic can break it.
    let mut toxics = toxics(1_000, Second);
    toxics.push((Toxic::FlipAt(Place::Body(1)), Second));
    for (number, (toxic, comes)) in toxics.into_iter().enumerate() {
        let case = format!("{toxic:?} on a cover");
        let first = cover_of(&spoilt.first, number).await;
        let second = cover_of(&spoilt.second, number).await;
        assert!(first.len() > 1_000 && first != second);
        spoilt.to_first.set(toxic).await;
        let id = spoilt.songs[number]["coverArt"].as_str().expect("an id");
        let target = format!("/rest/getCoverArt?{}&id={id}", world::AUTH);
        let reply = spoilt.hub.get(&target).await;
        assert_eq!(judge(&reply, &first, &second, &case), comes, "{case}");
        spoilt.assert_nothing_left(&case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_every_toxic_on_a_stream_that_resumes_from_a_twin() {
    let spoilt = Spoilt::twins().await;
    for (number, (toxic, _)) in toxics(50_000, Short(50_000)).into_iter().enumerate() {
        let case = format!("{toxic:?} on a stream with a twin");
        spoilt.to_first.set(toxic).await;
        let reply = spoilt.stream(number, "", None).await;
        let (first, second) = spoilt.copies(number);
        assert_eq!(judge(&reply, &first, &second, &case), First, "{case}");
        spoilt.assert_nothing_left(&case).await;
        let row = spoilt.hub.last_row().await;
        assert_eq!(attempt_bytes(&row), FLAC as u64, "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_twin_behind_a_toxic_continues_with_right_bytes_or_not_at_all() {
    let spoilt = Spoilt::twins().await;
    // The copy is asked for 16 KiB that are known already.
    let mut toxics = toxics(100, Short(50_000));
    toxics.push((Toxic::FlipAt(Place::Body(10_000)), Short(50_000)));
    for (number, (toxic, comes)) in toxics.into_iter().enumerate() {
        let case = format!("{toxic:?} on the twin");
        spoilt.to_second.set(toxic).await;
        // The first breaks off, and is not there any more when it is asked again.
        spoilt.to_first.set(Toxic::ResetAt(Place::Head(0))).await;
        spoilt.to_first.next(Toxic::CloseAt(Place::Body(50_000)));
        let reply = tokio::time::timeout(PATIENCE, spoilt.stream(number, "", None)).await;
        let reply = reply.unwrap_or_else(|_| panic!("F5: hangs after {case}"));
        let (first, second) = spoilt.copies(number);
        let expected = match comes {
            First => First,
            Second | Short(_) => Short(50_000),
        };
        assert_eq!(judge(&reply, &first, &second, &case), expected, "{case}");
        spoilt.assert_nothing_left(&case).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_went_stale_between_requests_counts_for_nothing() {
    let spoilt = Spoilt::new(forgiving()).await;
    spoilt.to_first.set(Toxic::StaleReuse).await;
    for number in 0..6 {
        let stale = spoilt.to_first.counters().stale;
        let reply = spoilt.stream(number, "", None).await;
        let (first, second) = spoilt.copies(number);
        assert_eq!(judge(&reply, &first, &second, "a stale connection"), First);
        assert_eq!(
            spoilt.to_first.counters().stale - stale,
            u64::from(number > 0)
        );
        let row = spoilt.hub.last_row().await;
        assert_eq!(attempts(&row), pairs(&[("one", "served")]));
    }
    spoilt.assert_nothing_left("stale connections").await;
}

impl Spoilt {
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
    let spoilt = Spoilt::new(forgiving()).await;
    for (toxic, comes) in toxics(40, Second) {
        // A sync waits a minute for an answer: see the next test.
        if matches!(toxic, Toxic::Unread | Toxic::StallAt(_)) {
            continue;
        }
        let case = format!("{toxic:?} on a sync");
        spoilt.to_first.set(toxic).await;
        let one = spoilt.sync(&case).await;
        assert_eq!(one.complete, comes == First, "{case}: {one:?}");
        assert_eq!(one.error.is_some(), comes != First, "{case}: {one:?}");
        assert_eq!(one.removed, 0, "{case}");
    }
    // Past the first small answers, in the middle of the lists.
    spoilt
        .to_first
        .set(Toxic::ResetAt(Place::Body(1_000)))
        .await;
    let one = spoilt.sync("a reset in the lists").await;
    assert!(!one.complete && one.removed == 0, "{one:?}");
    spoilt.to_first.set(Toxic::None).await;
    assert!(spoilt.sync("all is well again").await.complete);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_that_hears_nothing_ends_with_its_connection() {
    let spoilt = Spoilt::new(forgiving()).await;
    for toxic in [
        Toxic::Unread,
        Toxic::StallAt(Place::Head(0)),
        Toxic::StallAt(Place::Body(40)),
    ] {
        let case = format!("{toxic:?} on a sync");
        spoilt.to_first.set(toxic).await;
        let cut = async {
            spoilt.to_first.until(|counters| counters.open == 1).await;
            spoilt.to_first.set(Toxic::ResetAt(Place::Head(0))).await;
        };
        let (one, ()) = join(spoilt.sync(&case), cut).await;
        assert!(one.error.is_some() && one.removed == 0, "{case}: {one:?}");
    }
}

/// Streams of each of the next two tests; `SEGUE_TOXIC_STREAMS` asks for more.
const STREAMS: u64 = 200;
/// The seed of the default run; `SEGUE_TOXIC_SEED` asks for another.
const SEED: u64 = 1;
/// Hubs that share the streams, each one after the other: of several at once on one hub only one would probe a source that
/// has just failed, and the others would meet no toxic.
const HUBS: u64 = 5;

/// How often whose bytes came; nobody's at the end.
type Came = [u64; 4];

/// Streams of these numbers through toxics at random, on the way to the first source or to both.
async fn at_random(spoilt: Spoilt, both: bool, numbers: Range<u64>) -> Came {
    let seed = asked_for("SEGUE_TOXIC_SEED", SEED);
    spoilt.to_first.serve_once_each();
    spoilt.to_second.serve_once_each();
    let mut came = Came::default();
    for stream in numbers {
        let chance = &mut Chance::of(seed, stream);
        let number = chance.below(SONGS as u64) as usize;
        let path = *chance.among(&[Path::Whole, Path::Part, Path::Transcode]);
        let mut toxic = || {
            let at = chance.below(FLAC as u64) as usize;
            chance.among(&toxics(at, Short(at))).0
        };
        // For the next connection; the ones after it are spared.
        spoilt.to_first.next(toxic());
        if both {
            spoilt.to_second.next(toxic());
        }
        let case = format!("stream {stream} of seed {seed}");
        let reply = path.ask(&spoilt, number).await;
        // When both are in trouble, nobody may be left.
        let exhausted = both && reply.status == 502;
        let comes = (!exhausted).then(|| path.judge(&spoilt, number, &reply, &case));
        came[match comes {
            Some(First) => 0,
            Some(Second) => 1,
            Some(Short(_)) => 2,
            None => 3,
        }] += 1;
    }
    spoilt.assert_nothing_left("streams at random").await;
    came
}

/// As [`at_random`], on several hubs.
async fn all_at_random(start: impl AsyncFn() -> Spoilt, both: bool) -> Came {
    let streams = asked_for("SEGUE_TOXIC_STREAMS", STREAMS).div_ceil(HUBS);
    let hubs = (0..HUBS).map(async |hub| {
        let numbers = hub * streams..(hub + 1) * streams;
        at_random(start().await, both, numbers).await
    });
    let came = join_all(hubs).await;
    let came = std::array::from_fn(|whose| came.iter().map(|came| came[whose]).sum());
    println!("{came:?}");
    came
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_through_toxics_at_random_have_right_bytes_or_break() {
    let [first, second, short, none] =
        all_at_random(async || Spoilt::new(forgiving()).await, false).await;
    // What is meant to happen has happened, or this tests less than it says.
    assert!(first > 0 && second > 0 && short > 0 && none == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_that_resume_through_toxics_at_random_have_right_bytes_or_break() {
    let [whole, _, short, none] = all_at_random(Spoilt::twins, true).await;
    assert!(whole > 0 && short > 0 && none > 0);
}
