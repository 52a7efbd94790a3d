//! The queue, the lanes and a track's lyrics as the API shows them, and what is counted.

use crate::shelf::text;
use crate::world::{OTHER, Pair, Reply, SONG, TestHub};
use segue::metrics::{CacheRead, DeliveryResult};
use segue_core::Wall;
use segue_core::breaker::Persisted;
use segue_core::io::Clock;
use segue_core::lyrics::document::Document;
use segue_core::lyrics::{Body, Line, Lyrics, Song};
use segue_core::queue::{
    Completion, LaneAnswer, LaneEntry, NewDocument, Outcome, Priority, Request,
};
use segue_sqlite::{LaneStateRow, NewUser};
use serde_json::{Value, json};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

fn said(lane: &str, answer: LaneAnswer, reason: &str, at: Wall) -> LaneEntry {
    LaneEntry {
        lane: lane.to_owned(),
        answer,
        reason: Some(reason.to_owned()),
        at,
        valid_until: None,
        retry_at: None,
    }
}

/// Puts a track in, and has a worker fail at it.
async fn fail(test: &TestHub, id: &str, reason: &str) {
    let (id, now, reason) = (id.to_owned(), test.hub.clock().wall(), reason.to_owned());
    let failed = test.hub.write(move |w| {
        let request = w.reader().request_for(&id, &[], Priority::SCAN)?;
        w.enqueue(&request.expect("a track"), 1, now)?;
        let claim = w.claim("w", now, now + MINUTE)?.expect("one is due");
        let answers = [said("lrclib", LaneAnswer::Transport, &reason, now)];
        w.fail(claim.ticket, None, &reason, &answers, now)
    });
    failed.await.expect("a failure");
}

async fn complete(test: &TestHub, id: &str) -> String {
    let lyrics = Lyrics::of(Body::Synced(vec![Line {
        start: 1_000,
        text: "la".to_owned(),
        ..Line::default()
    }]));
    let document = Document::of(&lyrics);
    let name = document.id.as_str().to_owned();
    let (id, now) = (id.to_owned(), test.hub.clock().wall());
    let completed = test.hub.write(move |w| {
        let request = w.reader().request_for(&id, &[], Priority::ASKED)?;
        w.enqueue(&request.expect("a track"), 1, now)?;
        let claim = w.claim("w", now, now + MINUTE)?.expect("one is due");
        let completion = Completion {
            outcome: Outcome::Lyrics,
            document: Some(NewDocument {
                id: document.id.as_str().to_owned(),
                body: document.json,
                quality: lyrics.quality(),
            }),
            lane: Some("lrclib".to_owned()),
            reason: None,
            upgrade_after: None,
            answers: vec![
                said("local", LaneAnswer::Miss, "no sidecar", now),
                said("lrclib", LaneAnswer::Found, "line", now),
            ],
        };
        w.complete(claim.ticket, &completion, now)
    });
    completed.await.expect("an answer");
    name
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_track_without_lyrics_goes_to_the_head_of_the_queue() {
    let pair = Pair::start().await;
    let tending = tokio::spawn(segue::wanted::tend(pair.hub.hub.clone()));
    // The start itself has rung, once.
    pair.hub.hub.wanted().rung().await;
    assert_eq!(pair.stream().await.status, 200);
    pair.hub.hub.wanted().rung().await;
    let next = pair.hub.api("queue?status=next").await;
    assert_eq!(
        (&next["items"][0]["title"], &next["items"][0]["priority"]),
        (&json!(SONG), &json!(20))
    );
    tending.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_come_alone_and_items_with_their_reason_when_asked_for() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    fail(test, &pair.id, "lrclib answered 502 five times").await;
    let now = test.hub.clock().wall();
    let blank = Request {
        song: Song::default(),
        targets: vec![segue_core::queue::Target {
            track_id: test.id_of(OTHER).await,
            file: None,
        }],
        priority: Priority::SCAN,
    };
    let refused = test.hub.write(move |w| w.enqueue(&blank, 1, now));
    refused.await.expect("recorded");
    let numbers = test.api("queue").await;
    assert_eq!(
        numbers["counts"],
        json!({"pending": 0, "processing": 0, "done": 0, "failed": 0, "deferred": 0, "parked": 1, "retired": 0})
    );
    assert_eq!(numbers["refused"], 1);
    assert_eq!(numbers["oldest_pending"], Value::Null);
    assert_eq!(numbers.get("items"), None);
    let parked = test.api("queue?status=parked").await;
    assert_eq!(
        parked["items"][0]["reason"],
        "lrclib answered 502 five times"
    );
    assert_eq!(parked["next"], Value::Null);
    let refused = test.api("queue?status=refused&limit=1").await;
    assert_eq!(refused["items"][0]["reason"], "the track names no artist");
    assert!(refused["next"].is_i64());
    for bad in ["queue?status=lost", "queue?limit=x", "queue?after=x"] {
        assert_eq!(test.call_api("GET", bad).await.status, 400, "{bad}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_shows_its_lanes_and_can_be_moved_by_an_admin() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    fail(test, &pair.id, "timed out").await;
    let items = test.api("queue?status=all").await;
    let id = items["items"][0]["id"].as_i64().expect("an id");
    let row = test.api(&format!("queue/{id}")).await;
    assert_eq!(row["lanes"][0]["answer"], "transport");
    assert_eq!(row["targets"][0]["track"], json!(pair.id));
    let act = async |action: &str| -> Reply {
        test.call_api("POST", &format!("queue/{id}/{action}")).await
    };
    assert_eq!(act("recheck").await.status, 409);
    let retried = act("retry").await;
    assert_eq!(
        (retried.status, retried.json()["status"].as_str()),
        (200, Some("pending"))
    );
    test.hub.wanted().rung().await;
    assert_eq!(act("release").await.status, 409);
    assert_eq!(act("forget").await.status, 404);
    assert_eq!(test.call_api("GET", "queue/999").await.status, 404);
    assert_eq!(test.call_api("POST", "queue/wake").await.status, 200);
    test.hub.wanted().rung().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_sees_the_queue_and_changes_nothing() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    let sealed = test.hub.passwords().seal("bob").expect("sealed");
    let bob = NewUser {
        name: "bob".to_owned(),
        password_enc: sealed,
        is_admin: false,
    };
    let added = test.hub.write(move |w| w.add_user(&bob, Wall(0)));
    added.await.expect("a user");
    // bob:bob
    let auth = [("authorization", "Basic Ym9iOmJvYg==")];
    for (method, path, status) in [
        ("GET", "queue".to_owned(), 200),
        ("GET", "lanes".to_owned(), 200),
        ("GET", format!("lyrics/{}", pair.id), 200),
        ("POST", format!("lyrics/{}", pair.id), 403),
        ("POST", "queue/1/retry".to_owned(), 403),
        ("POST", "queue/wake".to_owned(), 403),
    ] {
        assert_eq!(
            test.tell(method, &path, &auth, "").await.status,
            status,
            "{method} {path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tracks_lyrics_come_with_where_they_are_from() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    let path = format!("lyrics/{}", pair.id);
    let before = test.api(&path).await;
    assert_eq!(
        (&before["document"], &before["queue"]),
        (&Value::Null, &Value::Null)
    );
    let document = complete(test, &pair.id).await;
    let known = test.api(&path).await;
    assert_eq!(text(&known["title"]), SONG);
    assert_eq!(known["document"]["id"], json!(document));
    assert_eq!(known["document"]["quality"], "line");
    assert_eq!(
        known["document"]["lyrics"]["body"]["synced"][0]["text"],
        "la"
    );
    assert_eq!(known["queue"]["lane"], "lrclib");
    let lanes: Vec<&Value> = known["queue"]["lanes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|l| &l["answer"])
        .collect();
    assert_eq!(lanes, ["miss", "found"]);
    let again = test.call_api("POST", &path).await.json();
    assert_eq!(again["queue"]["status"], "pending");
    assert_eq!(
        again["document"]["id"],
        json!(document),
        "served until something else is found"
    );
    test.hub.wanted().rung().await;
    assert_eq!(test.call_api("GET", "lyrics/nothing").await.status, 404);
    assert_eq!(test.call_api("POST", "lyrics/nothing").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn lanes_show_their_breaker_their_pace_and_their_answers() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    let now = test.hub.clock().wall();
    let row = |lane: &str, open_until: Option<Wall>| LaneStateRow {
        lane: lane.to_owned(),
        breaker: Persisted {
            trips: 2,
            transient_run: 0,
            ever_succeeded: true,
            open_until,
            retry_after: Duration::ZERO,
            saved_at: now,
        },
        next_call_at: Some(now + MINUTE),
        note: Some("its token has expired".to_owned()),
        saved_at: now,
    };
    let rows = [
        row("closed", None),
        row("open", Some(now + MINUTE)),
        row("probed", Some(now)),
    ];
    let stored = test.hub.write(move |w| {
        for row in &rows {
            w.put_lane_state(row)?;
        }
        Ok(())
    });
    stored.await.expect("stored");
    test.hub
        .metrics()
        .lyrics()
        .answered("open", LaneAnswer::Open);
    let answer = test.api("lanes").await;
    let state = |at: usize| {
        (
            text(&answer["lanes"][at]["name"]),
            text(&answer["lanes"][at]["state"]),
        )
    };
    let pair_of = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    assert_eq!(state(0), pair_of("closed", "closed"));
    assert_eq!(state(1), pair_of("open", "open"));
    assert_eq!(state(2), pair_of("probed", "half_open"));
    assert_eq!(answer["lanes"][1]["answers"], json!({"open": 1}));
    assert_eq!(answer["lanes"][1]["note"], "its token has expired");
    assert!(answer["lanes"][1]["next_call_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn s36_no_error_text_becomes_a_label() {
    let pair = Pair::start().await;
    let test = &pair.hub;
    let now = test.hub.clock().wall();
    let failed = test.hub.write(move |w| {
        for n in 0..10_000 {
            let request = Request {
                song: Song {
                    artist: "A".to_owned(),
                    title: format!("Song {n}"),
                    ..Song::default()
                },
                targets: Vec::new(),
                priority: Priority::SCAN,
            };
            w.enqueue(&request, 1, now)?;
            let claim = w.claim("w", now, now + MINUTE)?.expect("one is due");
            let reason = format!("unheard-of trouble {n}");
            let answers = [said("lrclib", LaneAnswer::Transport, &reason, now)];
            w.fail(claim.ticket, None, &reason, &answers, now)?;
        }
        Ok(())
    });
    failed.await.expect("failures");
    let lyrics = test.hub.metrics().lyrics();
    lyrics.cache_read(CacheRead::Hit);
    lyrics.delivery(DeliveryResult::Delivered);
    let auth = [("authorization", "Basic YW5uOnNlc2FtZQ==")];
    let text = test.ask("GET", "/metrics", &auth).await.text().to_string();
    assert!(
        text.contains("segue_queue_songs{status=\"parked\"} 10000\n"),
        "{text}"
    );
    assert!(text.contains("segue_lyrics_sidecars{status=\"delivered\"} 0\n"));
    assert!(text.contains("segue_lyrics_cache_reads_total{end=\"hit\"} 1\n"));
    assert!(!text.contains("unheard-of"));
    let series = text.lines().filter(|line| !line.starts_with('#'));
    assert!(series.count() < 60, "{text}");
}
