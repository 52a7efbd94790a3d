//! What services and programs of the operator's own do in particular.

use crate::drive::{json, play, reply};
use crate::rows::configured::{pointers, settings};
use crate::rows::song;
use segue_core::dispatch::Quality;
use segue_core::provider::command::Command;
use segue_core::provider::configured::{
    BadPointer, Configured, Dialect, Pointers, Settings, StatusMeaning, Unconfigured,
};
use segue_core::provider::{MissReason, Next, Outcome, Trouble};
use segue_core::source::subsonic::Secret;
use std::collections::BTreeMap;
use std::time::Duration;

fn ask(settings: Settings, status: u16, headers: &[(&str, &str)], body: &str) -> Outcome {
    let lane = Configured::new(settings).expect("configured");
    play(lane.lookup(&song()), |_, _| {
        Ok(reply(status, headers, body.to_owned()))
    })
    .outcome
}

#[test]
fn a_header_carries_the_secret_and_nothing_shows_it() {
    let mut settings = settings(Dialect::Text);
    settings.headers =
        BTreeMap::from([("authorization".to_owned(), Secret::new("Bearer {token}"))]);
    let told = Configured::new(settings.clone()).expect_err("no token");
    assert_eq!(told, Unconfigured::NoToken("authorization".to_owned()));
    settings.token = Some(Secret::new("s3cret"));
    let shown = format!("{settings:?}");
    let lane = Configured::new(settings.clone()).expect("configured");
    let Next::Send(request) = lane.lookup(&song()).next() else {
        panic!("asks")
    };
    assert_eq!(request.headers()["authorization"], "Bearer s3cret");
    let shown = format!("{shown} {lane:?} {:?}", request.headers());
    assert!(!shown.contains("s3cret"), "{shown}");
    settings.headers = BTreeMap::from([("bad name".to_owned(), Secret::new("x"))]);
    let told = Configured::new(settings).expect_err("a bad name");
    assert_eq!(told, Unconfigured::BadHeader("bad name".to_owned()));
}

#[test]
fn statuses_mean_what_the_operator_says() {
    let mut settings = settings(Dialect::Text);
    settings.statuses = BTreeMap::from([
        (204, StatusMeaning::NotFound),
        (420, StatusMeaning::RateLimited),
        (418, StatusMeaning::Auth),
        (404, StatusMeaning::Transient),
    ]);
    let wait = Some(Duration::from_secs(9));
    for (status, expected) in [
        (204, Outcome::Miss(MissReason::NotFound)),
        (
            420,
            Outcome::Failed(Trouble::RateLimited { retry_after: wait }),
        ),
        (418, Outcome::Failed(Trouble::Refused)),
        (404, Outcome::Failed(Trouble::Server(404))),
        (410, Outcome::Failed(Trouble::WrongService)),
    ] {
        assert_eq!(
            ask(settings.clone(), status, &[("retry-after", "9")], "x"),
            expected,
            "{status}"
        );
    }
}

#[test]
fn pointers_find_what_is_nested() {
    let pointers = pointers(&[
        ("list", "/data/items"),
        ("synced", "/lyrics/timed"),
        ("plain", "/lyrics/plain"),
        ("title", "/name"),
        ("duration_ms", "/length"),
        ("instrumental", "/vocals/none"),
    ]);
    let body = r#"{"data":{"items":[
        {"name":"Lantern Hill","length":201000,"lyrics":{"timed":"[00:01.00]Boats of paper\n[00:04.00]lamps of tin"}},
        {"name":"Other","vocals":{"none":true}},
        {"name":"Hollow"}
    ]}}"#;
    let Outcome::Found(found) = ask(settings(Dialect::Json(pointers)), 200, &[], body) else {
        panic!("words")
    };
    let qualities: Vec<Quality> = found.iter().map(|one| one.lyrics.quality()).collect();
    assert_eq!(qualities, [Quality::Line, Quality::Instrumental]);
    assert_eq!(found[0].matched.duration_ms, Some(201_000));
}

#[test]
fn pointers_are_checked() {
    let told = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(name, pointer)| ((*name).to_owned(), (*pointer).to_owned()));
        Pointers::new(&pairs.collect()).expect_err("bad")
    };
    assert_eq!(told(&[("title", "/a")]), BadPointer::NoWords);
    assert_eq!(told(&[("plain", "a")]), BadPointer::NoPointer("plain"));
    assert!(told(&[("lyrics", "/a")]).to_string().contains("plain"));
}

#[test]
fn lrcmux_answers_with_words_or_with_a_record() {
    let words = ask(
        settings(Dialect::Lrcmux),
        200,
        &[("content-type", "text/plain")],
        "[00:01.00]Boats\n[00:02.00]tin",
    );
    assert!(matches!(words, Outcome::Found(found) if found[0].lyrics.quality() == Quality::Line));
    let record = r#"{"trackName":"Lantern Hill","plainLyrics":"Boats of paper"}"#;
    let record = ask(
        settings(Dialect::Lrcmux),
        200,
        &[("content-type", "application/json")],
        record,
    );
    assert!(matches!(record, Outcome::Found(found) if found[0].matched.title.is_some()));
}

#[test]
fn a_program_is_told_the_song_and_believed_about_its_form_only() {
    let lane = Command::new("mine").expect("a name");
    let said = |text: &'static str| play(lane.lookup(&song()), |_, _| json(text));
    let played = said(r#"{"outcome":"miss","reason":"restricted"}"#);
    assert_eq!(played.outcome, Outcome::Miss(MissReason::Restricted));
    let request = &played.requests[0];
    assert_eq!(
        (request.method().as_str(), request.uri().to_string()),
        ("POST", "command://mine/".to_owned())
    );
    let query: serde_json::Value = serde_json::from_slice(request.body()).expect("JSON");
    assert_eq!(
        (&query["version"], &query["title"], &query["duration_ms"]),
        (&1.into(), &"Lantern Hill".into(), &201_000.into())
    );
    assert!(
        query.get("copies").is_none(),
        "where files lie is no business of a program's"
    );
    let wait =
        said(r#"{"outcome":"failed","trouble":"rate_limited","retry_after_seconds":60}"#).outcome;
    let retry_after = Some(Duration::from_secs(60));
    assert_eq!(wait, Outcome::Failed(Trouble::RateLimited { retry_after }));
    for broken in [
        r#"{"outcome":"perhaps"}"#,
        r#"{"outcome":"found","candidates":[{"text":" "}]}"#,
        r#"{"outcome":"failed","trouble":"mood"}"#,
    ] {
        assert_eq!(
            said(broken).outcome,
            Outcome::Failed(Trouble::Malformed),
            "{broken}"
        );
    }
    let timed =
        r#"{"outcome":"found","candidates":[{"kind":"lrc","text":"[00:01.00]Boats","lang":"en"}]}"#;
    assert!(
        matches!(said(timed).outcome, Outcome::Found(found) if found[0].lyrics.quality() == Quality::Line)
    );
}
