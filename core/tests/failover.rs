//! Contracts section 3 through the real drivers, in a toy world with a clock that jumps.

mod toy;

use bytes::Bytes;
use http_body::{Body, Frame};
use proptest::prelude::*;
use segue_core::breaker::{Bank, Lane, Phase};
use segue_core::driver::body::OVERLAP;
use segue_core::driver::body::{Cut, RelayBody, Session};
use segue_core::driver::exchange::{Wanted, read_all_within};
use segue_core::driver::open::open;
use segue_core::failover::relay::{Ending, Relay};
use segue_core::failover::{LAST_RESORT_AFTER, Limits, Outcome, StreamMode};
use segue_core::io::Clock;
use segue_core::source::refusal::{Refusal, Stage};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use toy::scene::*;
use toy::{Host, Toy};

#[test]
fn f3_a_refused_source_costs_no_time() {
    let toy = Toy::new([
        ("first", Host::refusing()),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let bank = bank();
    let opened = open_all(&toy, &bank, 2);
    assert_eq!(
        story(&opened),
        (Some(1), vec![(0, "refused"), (1, "served")])
    );
    assert_eq!(toy.at(), Duration::ZERO);
    drop(opened);
    assert_quiet(&toy, &bank);
}

#[test]
fn f3_a_black_hole_holds_up_the_next_source_for_the_stagger_and_then_not_at_all() {
    for mode in [
        StreamMode::Ordered,
        StreamMode::Hedged,
        StreamMode::Parallel,
    ] {
        let toy = Toy::new([
            ("first", Host::black_hole()),
            (
                "second",
                Host {
                    head: Some(Duration::from_millis(300)),
                    ..Host::serving(&music(1, 5000))
                },
            ),
        ]);
        let bank = bank();
        let limits = Limits {
            mode,
            ..Limits::default()
        };
        let opened = open_with(&toy, &bank, &limits, 2);
        assert_eq!(
            story(&opened),
            (Some(1), vec![(0, "timeout"), (1, "served")]),
            "{mode:?}"
        );
        drop(opened);
        assert_quiet(&toy, &bank);
        // It is suspect now: the second listener waits for nothing but the source that plays.
        let before = toy.at();
        let opened = open_with(&toy, &bank, &limits, 2);
        assert_eq!(story(&opened), (Some(1), vec![(1, "served")]));
        assert_eq!(toy.at() - before, Duration::from_millis(300));
    }
}

#[test]
fn f3_a_source_that_was_only_far_away_is_there_when_the_others_fail() {
    let far = Host {
        accept: Some(Duration::from_millis(400)),
        ..Host::serving(&music(1, 5000))
    };
    let near = Host {
        head: Some(Duration::from_millis(10)),
        ..Host::serving(&music(2, 5000))
    };
    let toy = Toy::new([("first", far), ("second", near)]);
    let bank = bank();
    let tried = story(&open_all(&toy, &bank, 2));
    assert_eq!(tried, (Some(1), vec![(0, "timeout"), (1, "served")]));
    toy.set("second", Host::refusing());
    let tried = story(&open_all(&toy, &bank, 2));
    assert_eq!(tried, (Some(0), vec![(1, "refused"), (0, "served")]));
    assert_quiet(&toy, &bank);
}

#[test]
fn a_source_that_was_given_no_time_to_accept_is_not_held_to_account() {
    let toy = Toy::new([
        ("first", Host::black_hole()),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let bank = bank();
    let limits = Limits {
        mode: StreamMode::Parallel,
        ..Limits::default()
    };
    let opened = open_with(&toy, &bank, &limits, 2);
    assert_eq!(
        story(&opened),
        (Some(1), vec![(0, "given_up"), (1, "served")])
    );
    let view = bank.lock().unwrap().view(Lane(0), toy.now()).unwrap();
    assert_eq!(view.phase, Phase::Closed);
}

#[test]
fn a_source_that_accepted_gets_its_whole_head_budget() {
    let slow = Host {
        head: Some(Duration::from_millis(4_900)),
        ..Host::serving(&music(1, 5000))
    };
    let toy = Toy::new([("first", slow), ("second", Host::serving(&music(2, 5000)))]);
    let bank = bank();
    let opened = open_all(&toy, &bank, 2);
    assert_eq!(story(&opened), (Some(0), vec![(0, "served")]));
    assert_eq!(toy.contacted(), ["first"]);
}

#[test]
fn hedged_starts_the_next_source_when_the_head_is_late() {
    let slow = Host {
        head: Some(Duration::from_millis(4_900)),
        ..Host::serving(&music(1, 5000))
    };
    let toy = Toy::new([("first", slow), ("second", Host::serving(&music(2, 5000)))]);
    let bank = bank();
    let limits = Limits {
        mode: StreamMode::Hedged,
        ..Limits::default()
    };
    let opened = open_with(&toy, &bank, &limits, 2);
    assert_eq!(
        story(&opened),
        (Some(1), vec![(0, "given_up"), (1, "served")])
    );
    assert_eq!(toy.at(), Duration::from_millis(250));
    drop(opened);
    assert_quiet(&toy, &bank);
}

#[test]
fn each_candidate_gets_its_own_fresh_budget() {
    // dispatcharr 1670: the health of the old source must not be charged to the new one.
    let hangs = Host {
        head: None,
        ..Host::default()
    };
    let late = Host {
        head: Some(Duration::from_millis(4_000)),
        ..Host::serving(&music(2, 5000))
    };
    let toy = Toy::new([("first", hangs), ("second", late)]);
    let bank = bank();
    let opened = open_all(&toy, &bank, 2);
    assert_eq!(
        story(&opened),
        (Some(1), vec![(0, "timeout"), (1, "served")])
    );
    assert_eq!(toy.at(), Duration::from_secs(9));
}

#[test]
fn f6_of_two_openings_that_are_ready_at_one_instant_one_is_recorded_as_served() {
    let good = || Host::serving(&music(1, 5000));
    let toy = Toy::new([("first", good()), ("second", good())]);
    let limits = Limits {
        mode: StreamMode::Parallel,
        ..Limits::default()
    };
    let opened = open_with(&toy, &bank(), &limits, 2);
    assert_eq!(
        story(&opened),
        (Some(0), vec![(0, "served"), (1, "given_up")])
    );
}

#[test]
fn f1_documents_in_a_200_are_never_committed() {
    let xml = "<?xml version=\"1.0\"?><subsonic-response status=\"failed\"><error code=\"70\" message=\"secret\"/></subsonic-response>";
    let json = "{\"subsonic-response\":{\"status\":\"failed\",\"error\":{\"code\":0,\"message\":\"boom\"}}}";
    let html = "<!doctype html><html><title>Log in</title></html>";
    let documents = [
        ("application/xml", xml, "not_found"),
        ("application/json", json, "error_document"),
        ("text/html", html, "error_document"),
        ("audio/mpeg", html, "error_document"),
        ("audio/mpeg", "", "empty"),
    ];
    for (content_type, body, outcome) in documents {
        let toy = Toy::new([
            ("first", Host::saying(200, content_type, body)),
            ("second", Host::serving(&music(1, 5000))),
        ]);
        let opened = open_all(&toy, &bank(), 2);
        assert_eq!(
            story(&opened),
            (Some(1), vec![(0, outcome), (1, "served")]),
            "{content_type} {body}"
        );
    }
}

#[test]
fn f8_a_missing_track_does_not_suspend_its_instance() {
    let toy = Toy::new([
        ("first", Host::saying(404, "text/plain", "gone")),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let bank = bank();
    open_all(&toy, &bank, 2);
    let view = bank.lock().unwrap().view(Lane(0), toy.now()).unwrap();
    assert_eq!(view.phase, Phase::Closed);
}

#[test]
fn f4_an_instance_with_an_open_breaker_is_not_contacted_until_its_probe() {
    let toy = Toy::new([
        ("first", Host::refusing()),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let bank = bank();
    open_all(&toy, &bank, 2);
    open_all(&toy, &bank, 2);
    assert_eq!(toy.contacted(), ["first", "second", "second"]);
    toy.pass(Duration::from_secs(60));
    open_all(&toy, &bank, 2);
    assert_eq!(
        toy.contacted(),
        ["first", "second", "second", "first", "second"]
    );
}

#[test]
fn when_every_source_is_suspect_they_are_tried_all_the_same_but_not_at_once_again() {
    let toy = Toy::new([("first", Host::refusing()), ("second", Host::refusing())]);
    let bank = bank();
    assert_eq!(story(&open_all(&toy, &bank, 2)).0, None);
    // Not sooner than five seconds after the last failure: 502 at once.
    let opened = open_all(&toy, &bank, 2);
    assert_eq!(story(&opened), (None, vec![(0, "suspect"), (1, "suspect")]));
    assert_eq!(toy.contacted().len(), 2);
    let Outcome::Exhausted { retry_after } = opened.outcome else {
        panic!("{opened:?}")
    };
    assert_eq!(retry_after, Some(Duration::from_secs(60)));
    toy.pass(LAST_RESORT_AFTER);
    toy.set("second", Host::serving(&music(1, 5000)));
    let opened = open_all(&toy, &bank, 2);
    assert_eq!(
        story(&opened),
        (Some(1), vec![(0, "refused"), (1, "served")])
    );
}

#[test]
fn f7_a_failed_opening_ends_within_its_budget() {
    let hangs = || Host {
        head: None,
        ..Host::default()
    };
    let toy = Toy::new([("first", hangs()), ("second", hangs()), ("third", hangs())]);
    let bank = bank();
    let opened = open_with(
        &toy,
        &bank,
        &Limits {
            open_budget: Duration::from_secs(12),
            ..Limits::default()
        },
        3,
    );
    assert_eq!(story(&opened).0, None);
    assert!(toy.at() <= Duration::from_secs(12), "{:?}", toy.at());
    assert_quiet(&toy, &bank);
}

#[test]
fn a_source_whose_turn_never_came_is_not_recorded_as_suspect() {
    let silent = Host {
        head: None,
        ..Host::default()
    };
    let names = ["first", "second", "third"];
    let toy = Toy::new(names.map(|name| (name, silent.clone())));
    let bank = bank();
    let limits = Limits {
        open_budget: Duration::from_secs(7),
        ..Limits::default()
    };
    let opened = open_with(&toy, &bank, &limits, 3);
    assert_eq!(story(&opened), (None, vec![(0, "timeout"), (1, "timeout")]));
}

#[test]
fn b8_a_client_that_leaves_during_the_opening_stops_everything_and_blames_nobody() {
    let toy = Toy::new([
        ("first", Host::black_hole()),
        ("second", Host::black_hole()),
    ]);
    let bank = bank();
    let limits = Limits::default();
    let opening = open(&toy, &bank, candidates(2), &limits, Wanted::Media, |at| {
        Ok(ask(at, None))
    });
    assert!(toy.run_until(Duration::from_secs(1), opening).is_none());
    assert_quiet(&toy, &bank);
    let view = bank.lock().unwrap().view(Lane(0), toy.now()).unwrap();
    assert_eq!(view.phase, Phase::Closed);
}

#[test]
fn redirects_are_followed_to_the_same_host_only() {
    let to = |location: &str| Host {
        status: 302,
        headers: vec![("location", location.to_owned())],
        ..Host::default()
    };
    let toy = Toy::new([
        ("first", to("http://127.0.0.1/admin")),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let opened = open_all(&toy, &bank(), 2);
    assert_eq!(toy.contacted(), ["first", "second"]);
    assert_eq!(story(&opened).0, Some(1));
    let toy = Toy::new([
        ("first", to("/elsewhere")),
        ("second", Host::serving(&music(1, 5000))),
    ]);
    let opened = open_all(&toy, &bank(), 2);
    assert_eq!(story(&opened).0, Some(1));
    assert_eq!(
        toy.contacted(),
        ["first", "first", "first", "first", "second"]
    );
}

#[test]
fn a_source_that_dies_after_the_commit_breaks_the_connection_short_of_its_length() {
    let cut = Host {
        cut: Some(2_500),
        ..Host::serving(&music(1, 5_000))
    };
    let toy = Toy::new([("first", cut), ("second", Host::serving(&music(1, 5_000)))]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 2);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[]);
    assert_eq!(bytes, music(1, 5_000)[..2_500]);
    assert!(!clean);
    assert_eq!(closing.ending, Ending::Truncated);
    assert_eq!(closing.served, [(0, 2_500)]);
    assert_quiet(&toy, &bank);
}

/// Polls once, to see what a server sees.
fn step(body: &mut RelayBody<Toy>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
    Pin::new(body).poll_frame(&mut Context::from_waker(Waker::noop()))
}

fn session(toy: &Toy, bank: &Mutex<Bank>, ended: &Arc<Mutex<Option<Ending>>>) -> RelayBody<Toy> {
    let Outcome::Committed { candidate, opening } = open_all(toy, bank, 1).outcome else {
        panic!("not opened")
    };
    let ended = Arc::clone(ended);
    let session = Session {
        candidate,
        first: opening.first,
        body: opening.body,
        relay: Relay::new(Some(5_000), Duration::from_secs(30), false),
        reopen: None,
        on_close: Box::new(move |closing| *ended.lock().unwrap() = Some(closing.ending)),
        on_bytes: Box::new(|_| {}),
    };
    RelayBody::new(toy.clone(), session)
}

#[test]
fn the_record_is_closed_before_the_client_can_read_the_last_byte() {
    let host = Host::serving(&music(1, 5_000));
    let (toy, ended) = (Toy::new([("first", host)]), Arc::default());
    let mut body = session(&toy, &bank(), &ended);
    while body.size_hint().exact() != Some(0) {
        assert_eq!(*ended.lock().unwrap(), None);
        assert!(matches!(step(&mut body), Poll::Ready(Some(Ok(_)))));
    }
    assert_eq!(*ended.lock().unwrap(), Some(Ending::Completed));
}

#[test]
fn a_silent_source_is_cut_after_the_idle_budget() {
    let stalls = Host {
        headers: vec![
            ("content-type", "audio/flac".to_owned()),
            ("content-length", "5000".to_owned()),
        ],
        body: vec![
            (Duration::ZERO, Ok(music(1, 1_000).into())),
            (Duration::from_secs(3_600), Ok(Bytes::from_static(b"late"))),
        ],
        ..Host::default()
    };
    let toy = Toy::new([("first", stalls)]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 1);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[]);
    assert_eq!((bytes.len(), clean), (1_000, false));
    assert_eq!(closing.ending, Ending::Stalled);
    assert_eq!(toy.at(), Duration::from_secs(30));
}

#[test]
fn a_body_that_is_read_whole_is_not_waited_for_for_ever() {
    let stalls = Host {
        body: vec![
            (Duration::from_secs(4), Ok(Bytes::from_static(b"fLaC"))),
            (Duration::from_secs(4), Ok(Bytes::from_static(b"more"))),
            (Duration::from_secs(3_600), Ok(Bytes::from_static(b"late"))),
        ],
        ..Host::default()
    };
    let toy = Toy::new([("first", stalls)]);
    let Outcome::Committed { mut opening, .. } = open_all(&toy, &bank(), 1).outcome else {
        panic!("not opened")
    };
    let patience = Duration::from_secs(5);
    let rest = read_all_within(&toy, &mut opening.body, 1_000, patience);
    assert_eq!(toy.run(rest), Err(Refusal::TimedOut(Stage::FirstByte)));
    assert_eq!(toy.at(), Duration::from_secs(4 + 4 + 5));
}

#[test]
fn f2_a_copy_that_is_not_identical_never_continues_a_stream() {
    let cut = Host {
        cut: Some(2_500),
        ..Host::serving(&music(1, 5_000))
    };
    // As long, yet other bytes.
    let toy = Toy::new([("first", cut), ("second", Host::serving(&music(2, 5_000)))]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 2);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[1]);
    assert_eq!(bytes, music(1, 5_000)[..2_500]);
    assert!(!clean);
    assert_eq!(closing.served, [(0, 2_500)]);
    assert_quiet(&toy, &bank);
}

#[test]
fn f5_a_copy_that_falls_silent_in_the_overlap_is_given_up() {
    let content = music(1, 5_000);
    let cut = Host {
        cut: Some(2_500),
        ..Host::serving(&content)
    };
    let silent = Host {
        status: 206,
        headers: vec![
            ("content-type", "audio/flac".to_owned()),
            ("content-range", "bytes 0-4999/5000".to_owned()),
        ],
        body: vec![
            (
                Duration::ZERO,
                Ok(Bytes::copy_from_slice(&content[..1_000])),
            ),
            (Duration::from_secs(3_600), Ok(Bytes::new())),
        ],
        ..Host::default()
    };
    let toy = Toy::new([
        ("first", cut),
        ("second", silent),
        ("third", Host::serving(&content)),
    ]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 3);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[1, 2]);
    assert_eq!((bytes, clean), (content, true));
    assert_eq!(closing.served, [(0, 2_500), (2, 2_500)]);
    assert_eq!(toy.at(), Limits::default().first_byte);
    assert_quiet(&toy, &bank);
}

#[test]
fn a_source_that_dies_every_few_bytes_is_not_asked_for_ever() {
    let content = music(1, 200_000);
    let dies = |cut| Host {
        cut: Some(cut),
        ..Host::serving(&content)
    };
    // The second brings one new byte behind the overlap, each time.
    let toy = Toy::new([("first", dies(50_000)), ("second", dies(OVERLAP + 1))]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 2);
    let (bytes, clean, closing) = relay(&toy, &bank, opened, &[1, 0]);
    assert_eq!((&bytes[..], clean), (&content[..], true));
    assert_eq!(closing.served[..2], [(0, 50_000), (1, 1)]);
    assert!(closing.served[2..].iter().all(|(source, _)| *source == 0));
    assert_quiet(&toy, &bank);
}

#[test]
fn a_copy_that_is_longer_never_continues_a_stream() {
    let cut = Host {
        cut: Some(2_500),
        ..Host::serving(&music(1, 5_000))
    };
    let toy = Toy::new([("first", cut), ("second", Host::serving(&music(1, 6_000)))]);
    let bank = Arc::new(bank());
    let opened = open_all(&toy, &bank, 2);
    let (bytes, clean, _) = relay(&toy, &bank, opened, &[1]);
    assert_eq!((bytes.len(), clean), (2_500, false));
}

fn host() -> impl Strategy<Value = (Host, bool)> {
    let delay = || (0u64..1_500).prop_map(Duration::from_millis);
    prop_oneof![
        (delay(), delay()).prop_map(|(accept, head)| (
            Host {
                accept: Some(accept),
                head: Some(head),
                ..Host::serving(&music(9, 3_000))
            },
            true
        )),
        Just((Host::refusing(), false)),
        Just((Host::black_hole(), false)),
        Just((
            Host {
                head: None,
                ..Host::default()
            },
            false
        )),
        delay().prop_map(|d| (
            Host {
                accept: Some(d),
                ..Host::saying(500, "text/plain", "x")
            },
            false
        )),
        Just((Host::saying(200, "text/html", "<html>"), false)),
        Just((Host::saying(200, "audio/mpeg", ""), false)),
    ]
}

fn limits() -> impl Strategy<Value = Limits> {
    let mode = prop_oneof![
        Just(StreamMode::Ordered),
        Just(StreamMode::Hedged),
        Just(StreamMode::Parallel)
    ];
    mode.prop_map(|mode| Limits {
        mode,
        ..Limits::default()
    })
}

proptest! {
    /// F1, F3, F5, F7 over any three hosts in any mode.
    #[test]
    fn f3_f5_f7_some_healthy_source_is_enough(
        hosts in prop::collection::vec(host(), 3),
        limits in limits(),
        leaves_after in prop::option::of(0u64..20_000),
    ) {
        let toy = Toy::default();
        for (name, (host, _)) in NAMES.iter().zip(&hosts) {
            toy.set(name, host.clone());
        }
        let bank = bank();
        let opening = open(&toy, &bank, candidates(3), &limits, Wanted::Media, |at| Ok(ask(at, None)));
        let opened = match leaves_after {
            None => Some(toy.run(opening)),
            Some(ms) => toy.run_until(Duration::from_millis(ms), opening),
        };
        if let Some(opened) = opened {
            let winner = story(&opened).0;
            prop_assert_eq!(winner.is_some(), hosts.iter().any(|(_, healthy)| *healthy), "F3");
            if let Some(winner) = winner {
                prop_assert!(hosts[winner].1, "F1");
            }
            prop_assert!(toy.at() <= limits.open_budget, "F7");
            let served = opened.attempts.iter().filter(|a| a.outcome.as_str() == "served").count();
            prop_assert_eq!(served, usize::from(winner.is_some()), "F6");
            prop_assert!(opened.attempts.iter().all(|a| a.outcome.as_str() != "running"));
        }
        prop_assert_eq!(toy.open(), 0, "F5");
        prop_assert_eq!(bank.lock().unwrap().outstanding(), 0, "F5");
    }

    /// F2 under resume: whatever dies where, the client gets the one true sequence of bytes or a break.
    #[test]
    fn f2_a_resumed_stream_is_byte_identical(
        cuts in prop::collection::vec(prop::option::of(1usize..40_000), 3),
        len in 1_000usize..40_000,
    ) {
        let content = music(3, len);
        let toy = Toy::default();
        for (name, cut) in NAMES.iter().zip(&cuts) {
            toy.set(name, Host { cut: *cut, ..Host::serving(&content) });
        }
        let bank = Arc::new(bank());
        let opened = open_all(&toy, &bank, 3);
        let (bytes, clean, closing) = relay(&toy, &bank, opened, &[1, 2, 0]);
        prop_assert_eq!(&bytes[..], &content[..bytes.len()]);
        prop_assert_eq!(clean, bytes.len() == len);
        let whole = cuts.iter().any(|cut| cut.is_none_or(|cut| cut >= len));
        prop_assert!(clean || !whole, "a whole copy was there");
        prop_assert_eq!(closing.served.iter().map(|(_, n)| n).sum::<u64>(), bytes.len() as u64);
        prop_assert_eq!(toy.open(), 0, "F5");
        prop_assert_eq!(bank.lock().unwrap().outstanding(), 0, "F5");
    }
}
