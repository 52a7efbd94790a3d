//! What Musixmatch does in particular.

use crate::drive::{Played, json, play, reply};
use crate::rows::musixmatch::{TOKEN, envelope, lookup, macro_reply, richsync, subtitles, track};
use crate::rows::song;
use segue_core::dispatch::Quality;
use segue_core::lyrics::{Body, Song};
use segue_core::provider::musixmatch::{Musixmatch, Settings, Unconfigured};
use segue_core::provider::{MissReason, Next, Outcome, Trouble};
use segue_core::source::subsonic::Secret;
use serde_json::{Value, json as value};
use std::collections::BTreeMap;

fn ask(answer: &Value) -> Outcome {
    play(lookup(&song()), |_, _| json(answer.to_string())).outcome
}

/// With subtitles, and this for an answer to the question for word times.
fn ask_words(status: u16, answer: &Value) -> Played {
    let track = track(value!({"has_subtitles": 1, "has_richsync": 1}));
    let lines = macro_reply(&track, &subtitles(&[(1.5, "Boats of paper")]), &value!([]));
    play(lookup(&song()), |at, _| match at {
        0 => json(lines.to_string()),
        _ => Ok(reply(status, &[], answer.to_string())),
    })
}

fn hinted(status: u16, hint: &str) -> Value {
    value!({"message": {"header": {"status_code": status, "hint": hint}, "body": []}})
}

#[test]
fn without_a_token_of_ones_own_it_is_not_configured() {
    let told = |token: Option<&str>| {
        let settings = Settings {
            token: token.map(Secret::new),
            ..Settings::default()
        };
        Musixmatch::new(settings).expect_err("no token")
    };
    assert_eq!(told(None), Unconfigured::NoToken);
    assert_eq!(told(Some(" ")), Unconfigured::NoToken);
    assert!(
        Unconfigured::NoToken
            .to_string()
            .contains("providers.musixmatch.token")
    );
    for placeholder in ["0".repeat(56), "UpgradeOnly".repeat(4)] {
        assert_eq!(told(Some(&placeholder)), Unconfigured::PlaceholderToken);
    }
}

#[test]
fn host_application_and_headers_are_the_operators() {
    let settings = Settings {
        base_url: url::Url::parse("http://box.example:9000/mxm/").ok(),
        app_id: Some("my-app".to_owned()),
        token: Some(Secret::new(TOKEN)),
        headers: BTreeMap::from([("cookie".to_owned(), Secret::new("guid=c00kie"))]),
    };
    let lane = Musixmatch::new(settings).expect("configured");
    let Next::Send(request) = lane.lookup(&song()).next() else {
        panic!("asks")
    };
    let uri = request.uri().to_string();
    assert!(
        uri.starts_with("http://box.example:9000/mxm/ws/1.1/macro.subtitles.get?"),
        "{uri}"
    );
    for pair in [
        "app_id=my-app",
        "usertoken=a-token-of-ones-own",
        "q_duration=201",
        "track_isrc=XXA012600001",
    ] {
        assert!(uri.contains(pair), "{uri}");
    }
    assert_eq!(request.headers()["cookie"], "guid=c00kie");
    let shown = format!(
        "{lane:?} {:?} {:?}",
        request.headers(),
        Next::Send(request.clone())
    );
    assert!(
        !shown.contains(TOKEN) && !shown.contains("c00kie"),
        "{shown}"
    );
}

#[test]
fn hints_say_what_a_refusal_is() {
    let cases = [
        (401, "captcha", Trouble::Captcha),
        (401, "renew", Trouble::RenewalRequired),
        (401, "upgrade", Trouble::Refused),
        (401, "", Trouble::Refused),
        (402, "", Trouble::Refused),
        (403, "", Trouble::Refused),
        (429, "", Trouble::RateLimited { retry_after: None }),
        (500, "", Trouble::Server(500)),
        (299, "", Trouble::Malformed),
    ];
    for (status, hint, trouble) in cases {
        let outcome = Outcome::Failed(trouble);
        assert_eq!(ask(&hinted(status, hint)), outcome, "{status} {hint}");
        // The same from the matcher within the macro, and under an HTTP status of that number.
        let calls = value!({"macro_calls": {"matcher.track.get": hinted(status, hint)}});
        assert_eq!(
            ask(&envelope(200, &calls)),
            outcome,
            "matcher {status} {hint}"
        );
        let played = play(lookup(&song()), |_, _| {
            Ok(reply(401, &[], hinted(status, hint).to_string()))
        });
        assert_eq!(played.outcome, outcome, "HTTP 401, {status} {hint}");
    }
    let unknown = value!({"macro_calls": {"matcher.track.get": hinted(404, "")}});
    assert_eq!(
        ask(&envelope(200, &unknown)),
        Outcome::Miss(MissReason::NotFound)
    );
}

#[test]
fn announced_subtitles_that_are_not_sent_are_throttling() {
    let throttled = Outcome::Failed(Trouble::RateLimited { retry_after: None });
    let flags = || track(value!({"has_subtitles": 1, "has_lyrics": 1}));
    let plain = value!({"lyrics": {"lyrics_body": "Boats of paper"}});
    for empty in [
        value!([]),
        value!(""),
        value!({"subtitle_list": []}),
        value!({"subtitle_list": [{"subtitle": {"subtitle_body": ""}}]}),
        value!({"subtitle_list": [{"subtitle": {"subtitle_body": "[]"}}]}),
    ] {
        assert_eq!(
            ask(&macro_reply(&flags(), &empty, &plain)),
            throttled,
            "{empty}"
        );
    }
}

#[test]
fn what_is_restricted_is_neither_words_nor_throttling() {
    let restricted = Outcome::Miss(MissReason::Restricted);
    let lyrics = value!({"lyrics": {"lyrics_body": "", "restricted": 1}});
    let with_lyrics = track(value!({"has_lyrics": 1}));
    assert_eq!(
        ask(&macro_reply(&with_lyrics, &value!([]), &lyrics)),
        restricted
    );
    let with_all = track(value!({"has_lyrics": 1, "has_subtitles": 1}));
    assert_eq!(
        ask(&macro_reply(&with_all, &value!([]), &lyrics)),
        restricted
    );
    // The free tier's extract is a part of the words.
    let extract =
        "Boats of paper\n...\n******* This Lyrics is NOT for Commercial use *******\n(1409)";
    let extract = value!({"lyrics": {"lyrics_body": extract}});
    assert_eq!(
        ask(&macro_reply(&with_lyrics, &value!([]), &extract)),
        restricted
    );
}

#[test]
fn plain_words_and_instrumentals_are_told_apart() {
    let lyrics = value!({"lyrics": {"lyrics_body": "Boats of paper\n\nlamps of tin", "lyrics_language": "en"}});
    let Outcome::Found(found) = ask(&macro_reply(
        &track(value!({"has_lyrics": 1})),
        &value!([]),
        &lyrics,
    )) else {
        panic!("words")
    };
    assert_eq!(found[0].lyrics.quality(), Quality::Plain);
    assert_eq!(found[0].lyrics.lang.as_deref(), Some("en"));
    assert_eq!(found[0].matched.duration_ms, Some(201_000));
    let instrumental = track(value!({"instrumental": "1"}));
    let Outcome::Found(found) = ask(&macro_reply(&instrumental, &value!([]), &value!(""))) else {
        panic!("instrumental")
    };
    assert_eq!(found[0].lyrics.body, Body::Instrumental);
    let nothing = macro_reply(&track(value!({})), &value!([]), &value!([]));
    assert_eq!(ask(&nothing), Outcome::Miss(MissReason::NoLyrics));
}

#[test]
fn s26_a_decoy_is_a_refusal() {
    let lines: Vec<(f64, &str)> = (0..206)
        .map(|at| (f64::from(at) * 4.05, "tin tan ton"))
        .collect();
    let decoy = track(value!({
        "track_name": "Somewhere Else", "artist_name": "Nobody Asked", "track_length": null, "has_subtitles": 1,
    }));
    let outcome = ask(&macro_reply(&decoy, &subtitles(&lines), &value!([])));
    assert_eq!(outcome, Outcome::Failed(Trouble::Refused));
}

#[test]
fn word_times_that_cannot_be_had_leave_the_lines() {
    for (status, answer) in [
        (500, value!("oops")),
        (200, value!([])),
        (200, envelope(404, &value!([]))),
        (200, envelope(403, &value!([]))),
        (
            200,
            envelope(200, &value!({"richsync": {"richsync_body": "[{]"}})),
        ),
    ] {
        let Outcome::Found(found) = ask_words(status, &answer).outcome else {
            panic!("{status} {answer}")
        };
        assert_eq!(
            found[0].lyrics.quality(),
            Quality::Line,
            "{status} {answer}"
        );
    }
    let words = ask_words(200, &richsync());
    assert_eq!(words.requests.len(), 2);
    assert!(
        words.requests[1]
            .uri()
            .query()
            .is_some_and(|query| query.contains("commontrack_id=4711"))
    );
    let captcha = ask_words(200, &hinted(401, "captcha")).outcome;
    assert_eq!(
        captcha,
        Outcome::Failed(Trouble::Captcha),
        "the breaker has to hear of it"
    );
}

#[test]
fn a_song_without_length_or_isrc_is_asked_for_without() {
    let mut bare = Song {
        title: "A & B".to_owned(),
        artist: "C/D".to_owned(),
        ..Song::default()
    };
    bare.artists.clear();
    let Next::Send(request) = lookup(&bare).next() else {
        panic!("asks")
    };
    let query = request.uri().query().unwrap_or("");
    assert!(
        query.contains("q_track=A%20%26%20B") && query.contains("q_duration=&"),
        "{query}"
    );
    assert!(!query.contains("track_isrc"), "{query}");
}
