//! Every way an upstream fails, on every byte path: the second source answers, and the record says why.
//!
//! Contracts section 3, rule 5 and its table; rows F2 to F5, F8 and F14.

use crate::world::{Pair, Reply, SONG, TestHub, assert_no_leak, attempt_bytes, attempts, pairs};
use segue::upstream::{Fault, Group};
use std::time::Duration;

/// What a fault of the first source comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// It is no fault of the bytes: the first source serves.
    Right,
    /// The second serves; the first is out with this word, and its breaker is left in this state.
    Over(&'static str, &'static str),
    /// The first was committed and stopped in the middle: nothing can be mended after the head is out.
    Short,
}

use Comes::{Over, Right, Short};

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
            retry_after: Some(7),
        },
        Fault::Status503 { retry_after: None },
        Fault::Status503 {
            retry_after: Some(7),
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
        Fault::HangBeforeHead | Fault::HangAfterHead | Fault::StallAt(0) => {
            Over("timeout", "suspect")
        }
        Fault::CloseBeforeHead | Fault::CutAt(0) => Over("truncated", "suspect"),
        Fault::CutAt(_) | Fault::StallAt(_) => Short,
        Fault::ErrorIn200Xml { code } | Fault::ErrorIn200Json { code } => match code {
            70 => Over("not_found", "ok"),
            40 | 41 | 44 | 50 => Over("auth", "suspect"),
            _ => Over("error_document", "suspect"),
        },
        Fault::ErrorIn200Html | Fault::ErrorIn200HtmlAsAudio => Over("error_document", "suspect"),
        Fault::Empty200 => Over("empty", "suspect"),
        Fault::Status(204) => Over("empty", "suspect"),
        Fault::Status(304) => Over("status_3xx", "suspect"),
        Fault::Status(401 | 403 | 407) => Over("auth", "suspect"),
        Fault::Status(404 | 410) => Over("not_found", "ok"),
        Fault::Status(400..=499) => Over("status_4xx", "ok"),
        Fault::Status(_) => Over("status_5xx", "suspect"),
        Fault::Status429 { .. } => Over("throttled", "suspect"),
        Fault::Status503 { retry_after: None } => Over("status_5xx", "suspect"),
        Fault::Status503 { .. } => Over("throttled", "suspect"),
        Fault::RedirectTo(_) => Over("redirect", "suspect"),
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

async fn check(endpoint: &str, fault: Fault) {
    let comes = to_stream(&fault);
    let case = format!("{endpoint} {fault:?}");
    let pair = Pair::start().await;
    pair.fail_first(fault);
    let target = pair.hub.stream_target(&pair.id, "");
    let target = target.replace("/rest/stream", &format!("/rest/{endpoint}"));
    let reply = pair.hub.get(&target).await;
    assert_eq!(reply.status, 200, "{case}");
    assert_discreet(&pair.hub, &reply).await;
    let row = pair.hub.last_row().await;
    assert_eq!(row["bytes"], reply.body.len(), "{case}");
    assert_eq!(attempt_bytes(&row), reply.body.len() as u64, "{case}");
    let state = pair.hub.state_of("one").await;
    match comes {
        Right => {
            assert_eq!(reply.body, pair.first_bytes(), "{case}");
            assert_eq!(attempts(&row), pairs(&[("one", "served")]), "{case}");
            assert_eq!(row["status"], "completed", "{case}");
            assert_eq!(state, "ok", "{case}");
        }
        Over(word, left) => {
            assert_eq!(reply.body, pair.second_bytes(), "{case}");
            let both = pairs(&[("one", word), ("two", "served")]);
            assert_eq!(attempts(&row), both, "{case}");
            assert_eq!(row["source_id"], "two", "{case}");
            assert_eq!(row["status"], "completed", "{case}");
            assert_eq!(row["format"], "mp3", "{case}");
            assert_eq!(state, left, "{case}");
            assert!(
                pair.hub.shown("one").await["last_error"].is_string(),
                "{case}"
            );
        }
        Short => {
            assert!(reply.broken.is_some(), "never a clean end: {case}");
            assert_eq!(reply.body, pair.first_bytes()[..100], "{case}");
            assert_eq!(attempts(&row), pairs(&[("one", "served")]), "{case}");
            assert_eq!(row["status"], "truncated", "{case}");
            assert!(row["error"].is_string(), "{case}");
        }
    }
    pair.hub.assert_at_rest().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_to_f5_every_fault_of_the_first_source_on_stream() {
    for fault in all() {
        check("stream", fault).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_to_f5_every_fault_of_the_first_source_on_download() {
    for fault in all() {
        check("download", fault).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f8_a_404_for_one_track_does_not_suspend_its_source() {
    let pair = Pair::start().await;
    let track = pair.first.shared().track(SONG).id;
    let faults = pair.first.faults();
    faults.set_for(Group::Media, &track, Fault::Status(404));
    assert_eq!(pair.stream().await.body, pair.second_bytes());
    let other = pair.hub.id_of(crate::world::OTHER).await;
    let reply = pair.hub.stream(&other).await;
    assert_eq!(
        reply.body,
        pair.first.shared().bytes_of(crate::world::OTHER)
    );
}
