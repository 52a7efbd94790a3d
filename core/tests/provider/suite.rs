//! The laws that hold for every row.

use crate::drive::{NOW, Played, Sent, play, reply};
use crate::rows::{NotFound, Row, Shape, Side, all, lost, song};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::{Failure, Quality};
use segue_core::io::NetError;
use segue_core::provider::{Outcome, Trouble, judge};
use std::time::Duration;

/// All ways in which an exchange fails below HTTP. A reply over the limit is one of them: 10 MB never reach a codec.
const NET: [NetError; 11] = [
    NetError::Refused,
    NetError::Unreachable,
    NetError::Dns,
    NetError::Tls,
    NetError::Reset,
    NetError::Truncated,
    NetError::Malformed,
    NetError::Oversized,
    NetError::TimedOut,
    NetError::BadUrl,
    NetError::Local,
];

const PAGE: &str = "<!DOCTYPE html><html><body>Please log in</body></html>";

impl Row {
    fn hit(&self) -> Played {
        play((self.lookup)(&song()), |_, request| (self.hit)(request))
    }

    fn miss(&self) -> Played {
        play((self.lookup)(&song()), |_, request| (self.miss)(request))
    }

    /// Every way to break one exchange of a hit or a miss: the requests before it are answered rightly, it and all
    /// after it by `fault`. Words may be found before the break and count; a miss never does.
    fn broken_at_each_step(&self, fault: impl Fn(&Request<Bytes>) -> Sent) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for right in [self.hit, self.miss] {
            let steps = play((self.lookup)(&song()), |_, request| right(request));
            for step in 0..steps.requests.len() {
                let played = play((self.lookup)(&song()), |at, request| match at < step {
                    true => right(request),
                    false => fault(request),
                });
                outcomes.push(played.outcome);
            }
        }
        assert!(!outcomes.is_empty(), "{}: never asks", self.name);
        outcomes
    }

    /// The first exchange is broken: nothing was learned before it.
    fn broken_at_once(&self, fault: impl Fn(&Request<Bytes>) -> Sent) -> Outcome {
        play((self.lookup)(&song()), |_, request| fault(request)).outcome
    }

    /// Each break is a failure of this class; words that came before it may win.
    fn always_fails(&self, what: &str, fault: impl Fn(&Request<Bytes>) -> Sent, class: Class) {
        for outcome in self.broken_at_each_step(&fault) {
            match &outcome {
                Outcome::Failed(trouble) if class.holds(*trouble) => {}
                Outcome::Found(_) if class.spares_words() => {}
                Outcome::Found(_) | Outcome::Failed(_) | Outcome::Miss(_) => {
                    panic!("{}: {what} gave {outcome:?}", self.name)
                }
            }
        }
        let first = self.broken_at_once(&fault);
        let fails = matches!(&first, Outcome::Failed(trouble) if class.holds(*trouble));
        assert!(fails, "{}: {what} at once gave {first:?}", self.name);
    }
}

/// What a failure has to be, by its row in contracts section 2.
#[derive(Clone, Copy, Debug)]
enum Class {
    Transport,
    Auth,
    Throttled(Option<Duration>),
    /// Overload: either is right.
    TransportOrThrottled,
}

impl Class {
    fn holds(self, trouble: Trouble) -> bool {
        match (self, trouble.failure()) {
            (Class::Transport | Class::TransportOrThrottled, Failure::Transport)
            | (Class::Auth, Failure::Auth { .. })
            | (Class::TransportOrThrottled, Failure::Throttled { .. }) => true,
            (Class::Throttled(asked), Failure::Throttled { retry_after }) => asked == retry_after,
            (
                Class::Transport | Class::Auth | Class::Throttled(_) | Class::TransportOrThrottled,
                _,
            ) => false,
        }
    }

    /// Whether words of an earlier exchange may be handed over all the same. Not when we were told to stay away: the
    /// breaker has to hear that.
    fn spares_words(self) -> bool {
        matches!(self, Class::Transport | Class::TransportOrThrottled)
    }
}

fn status(status: u16) -> impl Fn(&Request<Bytes>) -> Sent {
    move |_| Ok(reply(status, &[("content-type", "text/html")], PAGE))
}

#[test]
fn a_hit_is_found_with_its_quality() {
    for row in all() {
        let Outcome::Found(candidates) = row.hit().outcome else {
            panic!("{}: {:?}", row.name, row.hit().outcome);
        };
        let best = candidates.iter().map(|found| found.lyrics.quality()).max();
        assert_eq!(best, Some(row.quality), "{}", row.name);
    }
}

#[test]
fn a_miss_is_certain_and_says_why() {
    for row in all() {
        let outcome = row.miss().outcome;
        assert_eq!(outcome, Outcome::Miss(row.reason), "{}", row.name);
    }
}

#[test]
fn a_lookup_is_the_same_each_time() {
    for row in all() {
        assert_eq!(row.hit().outcome, row.hit().outcome, "{}", row.name);
    }
}

#[test]
fn few_requests_are_made_in_our_own_name() {
    for row in all() {
        for played in [row.hit(), row.miss()] {
            let requests = played.requests;
            assert!(
                (1..=row.most_requests).contains(&requests.len()),
                "{}: {requests:?}",
                row.name
            );
            for request in requests {
                let header = |name: &str| {
                    let value = request.headers().get(name);
                    value
                        .and_then(|value| value.to_str().ok())
                        .unwrap_or("")
                        .to_owned()
                };
                match row.side {
                    Side::Server => {
                        assert!(header("user-agent").starts_with("segue/"), "{}", row.name);
                        assert_eq!(header("accept-encoding"), "identity", "{}", row.name);
                    }
                    Side::Machine => {
                        let scheme = request.uri().scheme_str();
                        assert!(!matches!(scheme, Some("http" | "https")), "{}", row.name);
                    }
                }
            }
        }
    }
}

#[test]
fn hollow_answers_hold_no_words() {
    for row in all() {
        let bodies: &[&str] = match row.shape {
            Shape::Document => &["", " \n", "null", "{}", "[]", "\"\""],
            Shape::Text => &["", " \n"],
        };
        for body in bodies.iter().chain(row.hollow) {
            let hollow =
                |_: &Request<Bytes>| Ok(reply(200, &[("content-type", "application/json")], *body));
            for outcome in row.broken_at_each_step(hollow) {
                let words = matches!(&outcome, Outcome::Found(found) if found.is_empty()
                    || found.iter().any(|one| one.lyrics.quality() == Quality::None));
                assert!(!words, "{}: {body:?} gave {outcome:?}", row.name);
            }
            let at_once = row.broken_at_once(hollow);
            assert!(
                !matches!(at_once, Outcome::Found(_)),
                "{}: {body:?} gave {at_once:?}",
                row.name
            );
        }
        if row.shape == Shape::Document {
            let empty = |_: &Request<Bytes>| Ok(reply(200, &[], ""));
            row.always_fails("an empty 200", empty, Class::Transport);
        }
    }
}

#[test]
fn refused_credentials_are_no_miss() {
    for row in all() {
        for code in [401, 402, 403, 407] {
            row.always_fails(&format!("status {code}"), status(code), Class::Auth);
        }
    }
}

#[test]
fn a_page_that_is_not_found_is_another_service() {
    for row in all() {
        match row.not_found {
            NotFound::IsTrouble => row.always_fails("404 HTML", |_| lost(), Class::Transport),
            NotFound::IsMiss => {
                let outcome = row.broken_at_once(|_| lost());
                assert!(
                    matches!(outcome, Outcome::Miss(_)),
                    "{}: {outcome:?}",
                    row.name
                );
            }
        }
    }
}

#[test]
fn throttling_is_told_with_its_wait() {
    let day = 24 * 3600;
    let date = |seconds: i64| {
        let at = u64::try_from(NOW.0 / 1000 + seconds).expect("after 1970");
        httpdate::fmt_http_date(std::time::UNIX_EPOCH + Duration::from_secs(at))
    };
    let seconds = |n: u64| Some(Duration::from_secs(n));
    let cases = [
        (None, None),
        (Some("0".to_owned()), seconds(0)),
        (Some("120".to_owned()), seconds(120)),
        (Some(" 7 ".to_owned()), seconds(7)),
        (Some("1000000000".to_owned()), Some(judge::LONGEST_WAIT)),
        (
            Some("99999999999999999999999".to_owned()),
            Some(judge::LONGEST_WAIT),
        ),
        (Some("-5".to_owned()), None),
        (Some("soon".to_owned()), None),
        (Some(date(90)), seconds(90)),
        (Some(date(-90)), seconds(0)),
        (Some(date(day)), Some(judge::LONGEST_WAIT)),
    ];
    for row in all() {
        for (header, wait) in &cases {
            let what = format!("429 with Retry-After {header:?}");
            let headers: Vec<(&str, &str)> =
                header.iter().map(|h| ("retry-after", h.as_str())).collect();
            row.always_fails(
                &what,
                |_| Ok(reply(429, &headers, PAGE)),
                Class::Throttled(*wait),
            );
        }
        let overload = |_: &Request<Bytes>| Ok(reply(503, &[("retry-after", "30")], PAGE));
        row.always_fails(
            "503 with Retry-After",
            overload,
            Class::Throttled(seconds(30)),
        );
    }
}

#[test]
fn a_failing_server_is_no_miss() {
    for row in all() {
        for code in [500, 502, 504, 520, 522, 599] {
            row.always_fails(&format!("status {code}"), status(code), Class::Transport);
        }
        row.always_fails("status 503", status(503), Class::TransportOrThrottled);
    }
}

#[test]
fn what_fails_below_http_is_no_miss() {
    for row in all() {
        for net in NET {
            row.always_fails(&net.to_string(), |_| Err(net), Class::Transport);
            let outcome = row.broken_at_once(|_| Err(net));
            assert_eq!(outcome, Outcome::Failed(Trouble::Net(net)), "{}", row.name);
        }
    }
}

#[test]
fn what_is_no_document_is_no_miss() {
    for row in all().iter().filter(|row| row.shape == Shape::Document) {
        for body in [PAGE, "OK", "not found", "{\"", "\u{0}\u{1}\u{2}"] {
            let what = format!("200 with {body:?}");
            let claimed =
                |_: &Request<Bytes>| Ok(reply(200, &[("content-type", "application/json")], body));
            row.always_fails(&what, claimed, Class::Transport);
        }
    }
}

#[test]
fn an_answer_cut_short_is_no_answer() {
    for row in all().iter().filter(|row| row.shape == Shape::Document) {
        for right in [row.hit, row.miss] {
            let whole = play((row.lookup)(&song()), |_, request| right(request));
            for step in 0..whole.requests.len() {
                cut_at_each_place(row, right, step);
            }
        }
    }
}

fn cut_at_each_place(row: &Row, right: fn(&Request<Bytes>) -> Sent, step: usize) {
    let body_of = |request: &Request<Bytes>| right(request).expect("a reply").body;
    let mut length = usize::MAX;
    let mut kept = 0;
    while kept < length {
        let played = play((row.lookup)(&song()), |at, request| {
            let sent = right(request)?;
            if at != step {
                return Ok(sent);
            }
            // What the last bytes are matters little when they are white space.
            length = body_of(request).trim_ascii_end().len();
            let body = sent.body.slice(..kept.min(sent.body.len()));
            Ok(segue_core::provider::Reply { body, ..sent })
        });
        let certain = matches!(played.outcome, Outcome::Miss(_));
        assert!(
            !certain,
            "{}: {kept} bytes of answer {step} gave a miss",
            row.name
        );
        kept += 1 + length / 100;
    }
}

#[test]
fn a_redirect_to_the_same_host_is_followed_and_any_other_refused() {
    for row in all().iter().filter(|row| row.side == Side::Server) {
        let moved = |_: &Request<Bytes>| {
            Ok(reply(
                302,
                &[("location", "http://elsewhere.example/")],
                PAGE,
            ))
        };
        row.always_fails("a redirect elsewhere", moved, Class::Transport);
        let outcome = row.broken_at_once(moved);
        assert_eq!(
            outcome,
            Outcome::Failed(Trouble::RedirectRefused),
            "{}",
            row.name
        );

        let circle = |request: &Request<Bytes>| {
            Ok(reply(
                307,
                &[("location", &request.uri().to_string())],
                PAGE,
            ))
        };
        let outcome = row.broken_at_once(circle);
        assert_eq!(
            outcome,
            Outcome::Failed(Trouble::RedirectRefused),
            "{}",
            row.name
        );

        let mut moved_once = false;
        let played = play((row.lookup)(&song()), |_, request| {
            if std::mem::replace(&mut moved_once, true) {
                return (row.hit)(request);
            }
            Ok(reply(
                307,
                &[("location", &request.uri().to_string())],
                PAGE,
            ))
        });
        assert_eq!(played.outcome, row.hit().outcome, "{}", row.name);
    }
}

#[test]
fn a_song_without_a_name_is_not_asked_for_abroad() {
    for row in all().iter().filter(|row| row.side == Side::Server) {
        for (title, artist) in [("", "The Paper Boats"), (" ", "x")] {
            let mut nameless = song();
            nameless.title = title.to_owned();
            nameless.artist = artist.to_owned();
            let played = play((row.lookup)(&nameless), |_, request| (row.miss)(request));
            let names_only = row.name != "subsonic";
            assert!(matches!(played.outcome, Outcome::Miss(_)), "{}", row.name);
            assert!(!names_only || played.requests.is_empty(), "{}", row.name);
        }
    }
}
