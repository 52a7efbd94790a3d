//! Every way an upstream fails, on every byte path: the second source answers, and the record says why.
//!
//! Contracts section 3, rule 5 and its table; rows F2 to F5, F8 and F14.

use crate::same::assert_bytes;
use crate::world::{
    AUTH, OTHER, Pair, Reply, SONG, TestHub, assert_no_leak, attempt_bytes, attempts, forgiving,
    pairs, quick, source, upstream,
};
use segue::upstream::{Album, Artist, Fault, Group, Library, Track};
use std::time::Duration;

/// What a fault of the first source comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// It is no fault of the bytes: the first source serves.
    Right,
    /// The second serves; the first is out with this word, and suspect.
    Over(&'static str),
    /// The second serves; the first is out with this word, which says nothing about any other track.
    Miss(&'static str),
    /// The first was committed and stopped in the middle: nothing can be mended after the head is out.
    Short,
}

use Comes::{Miss, Over, Right, Short};

const ELSEWHERE: &str = "http://127.0.0.1:9/rest/stream";

/// All faults. A new one does not compile until it is listed in [`to_stream`].
fn all() -> Vec<Fault> {
    let statuses = [204, 304, 400, 401, 403, 404, 407, 410, 418, 500, 502, 503];
    let mut all: Vec<Fault> = statuses.map(Fault::Status).into();
    for code in [0, 10, 40, 41, 44, 50, 60, 70] {
        all.push(Fault::ErrorIn200Xml { code });
        all.push(Fault::ErrorIn200Json { code });
    }
    all.extend([
        Fault::HangBeforeHead,
        Fault::HangAfterHead,
        Fault::SlowHead(Duration::from_millis(20)),
        Fault::CloseBeforeHead,
        Fault::ErrorIn200Html,
        Fault::ErrorIn200HtmlAsAudio,
        Fault::Empty200,
        Fault::Status429 { retry_after: None },
        Fault::Status429 {
            retry_after: Some(0),
        },
        Fault::Status503 { retry_after: None },
        Fault::Status503 {
            retry_after: Some(0),
        },
        Fault::RedirectTo(ELSEWHERE.to_owned()),
        Fault::CutAt(0),
        Fault::CutAt(100),
        Fault::StallAt(0),
        Fault::StallAt(100),
        Fault::WrongContentRange,
        Fault::Whole200ToRange,
        Fault::SlowDrip {
            bytes: 100_000,
            every: Duration::from_millis(1),
        },
        Fault::WrongBytesOnResume,
        Fault::NoContentType,
    ]);
    all
}

/// What each fault comes to on `stream` and `download` of a whole track.
fn to_stream(fault: &Fault) -> Comes {
    match fault {
        Fault::SlowHead(_)
        | Fault::WrongContentRange
        | Fault::Whole200ToRange
        | Fault::SlowDrip { .. }
        | Fault::WrongBytesOnResume
        | Fault::NoContentType => Right,
        Fault::HangBeforeHead | Fault::HangAfterHead | Fault::StallAt(0) => Over("timeout"),
        Fault::CloseBeforeHead | Fault::CutAt(0) => Over("truncated"),
        Fault::CutAt(_) | Fault::StallAt(_) | Fault::TooLong(_) => Short,
        Fault::ErrorIn200Xml { code } | Fault::ErrorIn200Json { code } => match code {
            70 => Miss("not_found"),
            40 | 41 | 44 | 50 => Over("auth"),
            _ => Over("error_document"),
        },
        Fault::ErrorIn200Html | Fault::ErrorIn200HtmlAsAudio => Over("error_document"),
        Fault::Empty200 => Over("empty"),
        Fault::Status(204) => Over("empty"),
        Fault::Status(304) => Over("status_3xx"),
        Fault::Status(401 | 403 | 407) => Over("auth"),
        Fault::Status(404 | 410) => Miss("not_found"),
        Fault::Status(400..=499) => Miss("status_4xx"),
        Fault::Status(_) => Over("status_5xx"),
        Fault::Status429 { .. } => Over("throttled"),
        Fault::Status503 { retry_after: None } => Over("status_5xx"),
        Fault::Status503 { .. } => Over("throttled"),
        Fault::RedirectTo(_) => Over("redirect"),
    }
}

/// Neither what the client got nor what the operator is shown holds a word of the upstream's.
async fn assert_discreet(hub: &TestHub, reply: &Reply) {
    assert_no_leak(reply);
    for path in ["activity", "sources"] {
        let shown = hub.api(path).await.to_string();
        assert!(!shown.contains(Fault::LEAK), "{path}: {shown}");
    }
}

/// One hub for the whole table: nobody is suspect for longer than a failure takes, so a trip shows as half-open,
/// and a good stream between two faults closes the breaker again.
async fn check(pair: &Pair, endpoint: &str, fault: Fault) {
    let comes = to_stream(&fault);
    let case = format!("{endpoint} {fault:?}");
    let target = pair.hub.stream_target(&pair.id, "");
    let target = target.replace("/rest/stream", &format!("/rest/{endpoint}"));
    pair.fail_first(fault);
    let reply = pair.hub.get(&target).await;
    assert_eq!(reply.status, 200, "{case}");
    assert_discreet(&pair.hub, &reply).await;
    let row = pair.hub.last_row().await;
    assert_eq!(row["bytes"], reply.body.len(), "{case}");
    assert_eq!(attempt_bytes(&row), reply.body.len() as u64, "{case}");
    let shown = pair.hub.shown("one").await;
    match comes {
        Right => {
            assert_bytes!(reply.body, pair.first_bytes(), "{case}");
            assert_eq!(attempts(&row), pairs(&[("one", "served")]), "{case}");
            assert_eq!(row["status"], "completed", "{case}");
            assert_eq!(shown["state"], "ok", "{case}");
        }
        Over(word) | Miss(word) => {
            assert_bytes!(reply.body, pair.second_bytes(), "{case}");
            let both = pairs(&[("one", word), ("two", "served")]);
            assert_eq!(attempts(&row), both, "{case}");
            assert_eq!(row["source_id"], "two", "{case}");
            assert_eq!(row["status"], "completed", "{case}");
            assert_eq!(row["format"], "mp3", "{case}");
            // That one track is missing is no trouble of the source's.
            let is_miss = matches!(comes, Miss(_));
            let state = if is_miss { "ok" } else { "half_open" };
            assert_eq!(shown["state"], state, "{case}");
            assert_eq!(shown["last_error"].is_null(), is_miss, "{case}");
        }
        Short => {
            assert!(reply.broken.is_some(), "never a clean end: {case}");
            assert_bytes!(reply.body, pair.first_bytes()[..100], "{case}");
            assert_eq!(attempts(&row), pairs(&[("one", "served")]), "{case}");
            assert_eq!(row["status"], "truncated", "{case}");
            assert!(row["error"].is_string(), "{case}");
        }
    }
    pair.hub.assert_at_rest().await;
    pair.first.faults().clear();
    assert_bytes!(pair.stream().await.body, pair.first_bytes(), "{case}");
    assert_eq!(pair.hub.state_of("one").await, "ok", "{case}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_to_f5_every_fault_of_the_first_source_on_stream() {
    let pair = Pair::with(forgiving()).await;
    for fault in all() {
        check(&pair, "stream", fault).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_to_f5_every_fault_of_the_first_source_on_download() {
    let pair = Pair::with(forgiving()).await;
    for fault in all() {
        check(&pair, "download", fault).await;
    }
}

/// What each fault comes to on `getCoverArt`, where nothing is sent before the whole picture is there.
fn to_cover(fault: &Fault) -> Comes {
    match (fault, to_stream(fault)) {
        // Said to be sound.
        (Fault::Empty200, _) => Over("empty"),
        (_, Short) => Miss("half a picture"),
        (_, comes) => comes,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_to_f5_every_fault_of_the_first_source_on_get_cover_art() {
    // A picture that was shown once is kept, so each fault has an album of its own.
    let faults = all();
    let albums = (0..faults.len())
        .map(|n| Album::new(&format!("Album {n}")).track(Track::new("Song").size(100)));
    let artist = albums.fold(Artist::new("Björk"), Artist::album);
    let library = Library::new().artist(artist);
    let first = upstream("first", library.clone()).await;
    let second = upstream("second", library).await;
    let sources = || vec![source("one", &first), source("two", &second)];
    let hub = TestHub::start_with(sources(), forgiving()).await;
    // Two more hubs that know one source each tell how the right pictures look.
    let of_first = TestHub::start_with(vec![source("one", &first)], quick()).await;
    let of_second = TestHub::start_with(vec![source("two", &second)], quick()).await;
    for (n, fault) in faults.into_iter().enumerate() {
        let case = format!("getCoverArt {fault:?}");
        let cover = async |hub: &TestHub| {
            let found = hub
                .rest("search3", &format!("albumCount=500&query=Album%20{n}"))
                .await;
            let albums = found["searchResult3"]["album"].as_array().expect("albums");
            let album = albums
                .iter()
                .find(|album| album["name"] == format!("Album {n}"));
            let id = album.expect("the album")["coverArt"]
                .as_str()
                .expect("an id");
            hub.get(&format!("/rest/getCoverArt?{AUTH}&id={id}")).await
        };
        let comes = to_cover(&fault);
        let (of, left) = match comes {
            Right => (&of_first, "ok"),
            Over(_) => (&of_second, "half_open"),
            Miss(_) => (&of_second, "ok"),
            Short => unreachable!("nothing is sent before the end"),
        };
        let expected = cover(of).await;
        first.faults().set(Group::Art, fault);
        let reply = cover(&hub).await;
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, "image/png"),
            "{case}"
        );
        assert_eq!(reply.broken, None, "{case}");
        assert_discreet(&hub, &reply).await;
        assert_bytes!(reply.body, expected.body, "{case}");
        assert_eq!(hub.state_of("one").await, left, "{case}");
        hub.assert_at_rest().await;
        // A good one in between closes the breaker; of the fault nothing was kept.
        first.faults().clear();
        let id = hub.id_of("Song").await;
        hub.stream(&id).await;
        assert_eq!(hub.state_of("one").await, "ok", "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f8_a_404_for_one_track_does_not_suspend_its_source() {
    let pair = Pair::start().await;
    let track = pair.first.shared().track(SONG).id;
    let faults = pair.first.faults();
    faults.set_for(Group::Media, &track, Fault::Status(404));
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
    let other = pair.hub.id_of(OTHER).await;
    let reply = pair.hub.stream(&other).await;
    assert_bytes!(reply.body, pair.first.shared().bytes_of(OTHER));
}
