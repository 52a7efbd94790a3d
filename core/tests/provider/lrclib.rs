//! What is particular to LRCLIB.

use crate::drive::{Played, Sent, json, play, reply};
use crate::rows::lrclib::{SYNCED, record, track_not_found};
use crate::rows::{ask, song};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::lyrics::{Body, Song};
use segue_core::provider::{Candidate, Kind, MissReason, Outcome, Trouble};
use std::collections::BTreeMap;

fn look_up(song: &Song, mut answer: impl FnMut(&Request<Bytes>) -> Sent) -> Played {
    let base_url = "https://lrclib.example".parse().expect("a URL");
    let lookup = ask("lrclib", Kind::Lrclib { base_url }, song);
    play(lookup, |_, request| answer(request))
}

/// `/api/get` answers `get`, every search `search`.
fn answering(get: Sent, search: Sent) -> impl FnMut(&Request<Bytes>) -> Sent {
    move |request| match request.uri().path() {
        "/api/get" => get.clone(),
        "/api/search" => search.clone(),
        other => panic!("asks {other}"),
    }
}

fn params(request: &Request<Bytes>) -> BTreeMap<String, String> {
    let query = request.uri().query().unwrap_or_default();
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect()
}

fn found(played: &Played) -> &[Candidate] {
    match &played.outcome {
        Outcome::Found(found) => found,
        Outcome::Miss(_) | Outcome::Failed(_) => panic!("{:?}", played.outcome),
    }
}

fn list(records: &[String]) -> Sent {
    json(format!("[{}]", records.join(",")))
}

#[test]
fn a_synced_answer_that_fits_takes_one_request() {
    let get = json(record("Lantern Hill", 200.6, Some("x"), Some(SYNCED)));
    let played = look_up(&song(), answering(get, list(&[])));
    assert_eq!(played.requests.len(), 1);
    let [one] = found(&played) else { panic!() };
    assert_eq!(one.matched.title.as_deref(), Some("Lantern Hill"));
    assert_eq!(one.matched.duration_ms, Some(200_600));
    assert_eq!(one.matched.provider_id.as_deref(), Some("31"));
    assert_eq!(one.lyrics.quality(), Quality::Line);
}

#[test]
fn the_question_is_composed_rounded_and_complete() {
    let mut song = song();
    song.title = "Cafe\u{301} de la Gare".to_owned();
    song.duration_ms = Some(200_500);
    let played = look_up(&song, answering(track_not_found(), list(&[])));
    let asked = params(&played.requests[0]);
    assert_eq!(asked["track_name"], "Caf\u{e9} de la Gare");
    assert_eq!(asked["artist_name"], "The Paper Boats");
    assert_eq!(asked["album_name"], "Harbour Songs");
    assert_eq!(asked["duration"], "201");
}

#[test]
fn a_length_that_the_service_refuses_is_left_out() {
    for (duration, sent) in [
        (None, false),
        (Some(0), false),
        (Some(400), false),
        (Some(500), true),
        (Some(3_600_499), true),
        (Some(3_600_500), false),
        (Some(u64::MAX), false),
    ] {
        let mut song = song();
        song.duration_ms = duration;
        let played = look_up(&song, answering(track_not_found(), list(&[])));
        let asked = params(&played.requests[0]);
        assert_eq!(asked.contains_key("duration"), sent, "{duration:?}");
    }
}

#[test]
fn an_album_of_punctuation_is_left_out() {
    let mut song = song();
    song.album = Some("???".to_owned());
    let played = look_up(&song, answering(track_not_found(), list(&[])));
    assert!(!params(&played.requests[0]).contains_key("album_name"));
}

/// M3: the title "*" would be asked for in vain for ever.
#[test]
fn a_title_of_punctuation_is_not_asked_for() {
    let mut song = song();
    song.title = "*".to_owned();
    let played = look_up(&song, |_| panic!("asks"));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotAskable));
}

/// M1, M5: the service may insist on the exact second.
#[test]
fn a_miss_is_searched_for_without_album_and_length() {
    let search = list(&[record("Lantern Hill", 202.0, None, Some(SYNCED))]);
    let played = look_up(&song(), answering(track_not_found(), search));
    assert_eq!(played.requests.len(), 2);
    let asked = params(&played.requests[1]);
    let asked: Vec<(&str, &str)> = asked
        .iter()
        .map(|(k, v)| (k.as_str(), v.as_str()))
        .collect();
    assert_eq!(asked[0], ("artist_name", "The Paper Boats"));
    assert_eq!((asked.len(), asked[1].0), (2, "track_name"));
    assert_eq!(asked[1].1.to_lowercase(), "lantern hill");
    assert_eq!(found(&played)[0].lyrics.quality(), Quality::Line);
}

/// Our folding is not the service's: titles are cut, never folded.
#[test]
fn a_search_is_by_the_plain_title_in_its_own_letters() {
    for (title, searched) in [
        ("Straße am Fluß", "Straße am Fluß"),
        ("Straße - 2014 Remastered Version", "Straße"),
        ("Où sont les lampes (Live)", "Où sont les lampes"),
        ("ガラスの舟 (feat. Ada)", "ガラスの舟"),
        ("Lantern Hill", "Lantern Hill"),
    ] {
        let mut song = song();
        song.title = title.to_owned();
        let played = look_up(&song, answering(track_not_found(), list(&[])));
        assert_eq!(params(&played.requests[0])["track_name"], title);
        assert_eq!(params(&played.requests[1])["track_name"], searched);
    }
}

/// M15: a name is asked for whole before it is taken for several.
#[test]
fn artists_in_one_field_are_parted_last() {
    for (artist, searched) in [
        ("Ada/Berta", vec!["Ada/Berta", "Ada"]),
        (
            "Ada feat. Berta & Carla",
            vec!["Ada feat. Berta & Carla", "Ada"],
        ),
        ("The Paper Boats", vec!["The Paper Boats"]),
        ("/", vec![]),
    ] {
        let mut song = song();
        (song.artist, song.artists) = (artist.to_owned(), Vec::new());
        let played = look_up(&song, answering(track_not_found(), list(&[])));
        let searches = played.requests.iter().skip(1);
        let artists: Vec<String> = searches
            .map(|request| params(request)["artist_name"].clone())
            .collect();
        assert_eq!(artists, searched);
    }
}

/// `/api/get` answers with the lowest id, so plain words there do not mean that there are no better ones.
#[test]
fn plain_words_are_kept_while_better_ones_are_searched_for() {
    let get = json(record(
        "Lantern Hill",
        201.0,
        Some("Paper boats\nLamps of tin"),
        None,
    ));
    let search = list(&[
        record(
            "Lantern Hill",
            201.0,
            Some("Paper boats\nLamps of tin"),
            None,
        ),
        record("Lantern Hill", 200.0, None, Some(SYNCED)),
    ]);
    let played = look_up(&song(), answering(get, search));
    assert_eq!(played.requests.len(), 2);
    let qualities: Vec<Quality> = found(&played)
        .iter()
        .map(|one| one.lyrics.quality())
        .collect();
    assert_eq!(qualities, [Quality::Plain, Quality::Line]);
}

#[test]
fn times_of_another_recording_do_not_end_the_lookup() {
    let get = json(record("Lantern Hill (Live)", 260.0, None, Some(SYNCED)));
    let played = look_up(&song(), answering(get, list(&[])));
    assert!(played.requests.len() > 1);
}

#[test]
fn a_hollow_record_is_known_and_never_an_instrumental() {
    for (plain, synced) in [(None, None), (Some(""), Some("\n")), (Some("  "), None)] {
        let get = json(record("Lantern Hill", 201.0, plain, synced));
        let played = look_up(&song(), answering(get, list(&[])));
        assert_eq!(
            played.outcome,
            Outcome::Miss(MissReason::NoLyrics),
            "{plain:?} {synced:?}"
        );
    }
}

#[test]
fn an_instrumental_is_told_as_one_unless_there_are_words() {
    let marked = |plain: Option<&str>| {
        let text = record("Lantern Hill", 201.0, plain, None);
        json(text.replace("\"instrumental\":false", "\"instrumental\":true"))
    };
    let played = look_up(&song(), answering(marked(None), list(&[])));
    assert_eq!(found(&played)[0].lyrics.body, Body::Instrumental);
    let played = look_up(
        &song(),
        answering(marked(Some("Paper boats\nLamps of tin")), list(&[])),
    );
    assert_eq!(found(&played)[0].lyrics.quality(), Quality::Plain);
}

/// When only synced words were published the service strips the stamp of the first line alone.
#[test]
fn stamps_in_plain_words_never_reach_anybody() {
    let plain = "Paper boats\n[00:17.00] Lamps of tin\n[00:21.00] Harbour";
    let get = json(record("Lantern Hill", 201.0, Some(plain), None));
    let played = look_up(&song(), answering(get, list(&[])));
    for one in found(&played) {
        let texts: Vec<&String> = match &one.lyrics.body {
            Body::Plain(lines) => lines.iter().collect(),
            Body::Synced(lines) => lines.iter().map(|line| &line.text).collect(),
            Body::Instrumental => Vec::new(),
        };
        assert!(texts.iter().all(|text| !text.contains('[')), "{texts:?}");
    }
}

#[test]
fn a_404_is_a_miss_only_in_the_services_own_words() {
    let strange = [
        reply(404, &[], ""),
        reply(404, &[("content-type", "text/html")], "<html>nginx</html>"),
        reply(
            404,
            &[("content-type", "application/json")],
            r#"{"error":"not found"}"#,
        ),
        reply(
            404,
            &[("content-type", "application/json")],
            r#"{"name":"NotFound","statusCode":404}"#,
        ),
    ];
    for get in strange {
        let played = look_up(&song(), answering(Ok(get), list(&[])));
        assert_eq!(played.outcome, Outcome::Failed(Trouble::WrongService));
        assert_eq!(played.requests.len(), 1);
    }
}

#[test]
fn a_refused_question_is_searched_for_and_a_garbled_one_is_our_fault() {
    let body = r#"{"message":"duration: must be between 1 and 3600","name":"ValidationError","statusCode":400}"#;
    let refused = Ok(reply(400, &[("content-type", "application/json")], body));
    let played = look_up(&song(), answering(refused, list(&[])));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotFound));
    let garbled = Ok(reply(
        400,
        &[("content-type", "text/plain")],
        "Failed to deserialize query string",
    ));
    let played = look_up(&song(), answering(garbled, list(&[])));
    assert_eq!(played.outcome, Outcome::Failed(Trouble::Malformed));
}

/// R5 and the mistake of taking an overload for "nothing found".
#[test]
fn overload_and_blocks_are_told_apart_from_a_miss() {
    let body = r#"{"message":"Server is overloaded","name":"ServerOverloaded","statusCode":503}"#;
    let overloaded: Sent = Ok(reply(503, &[("content-type", "application/json")], body));
    let slow_down = Trouble::RateLimited { retry_after: None };
    for (sent, trouble) in [
        (overloaded, slow_down),
        (Ok(reply(403, &[], "")), Trouble::Refused),
        (Ok(reply(520, &[], "<html>")), Trouble::Server(520)),
        (
            Ok(reply(
                500,
                &[],
                r#"{"name":"UnknownError","statusCode":500}"#,
            )),
            Trouble::Server(500),
        ),
    ] {
        let played = look_up(&song(), answering(sent.clone(), list(&[])));
        assert_eq!(played.outcome, Outcome::Failed(trouble));
        let played = look_up(&song(), answering(track_not_found(), sent));
        assert_eq!(played.outcome, Outcome::Failed(trouble));
    }
}

#[test]
fn plain_words_outlive_an_outage_but_not_a_plea_to_stay_away() {
    let get = || {
        json(record(
            "Lantern Hill",
            201.0,
            Some("Paper boats\nLamps of tin"),
            None,
        ))
    };
    let played = look_up(&song(), answering(get(), Ok(reply(502, &[], "<html>"))));
    assert_eq!(found(&played).len(), 1);
    let busy = Ok(reply(429, &[("retry-after", "60")], ""));
    let played = look_up(&song(), answering(get(), busy));
    let wait = std::time::Duration::from_secs(60);
    let trouble = Trouble::RateLimited {
        retry_after: Some(wait),
    };
    assert_eq!(played.outcome, Outcome::Failed(trouble));
}

#[test]
fn a_self_hosted_one_may_live_below_a_path() {
    let base_url = "http://box.example:3300/lyrics/".parse().expect("a URL");
    let lookup = ask("lrclib", Kind::Lrclib { base_url }, &song());
    let played = play(lookup, |_, request| match request.uri().path() {
        "/lyrics/api/get" => track_not_found(),
        "/lyrics/api/search" => json("[]"),
        other => panic!("asks {other}"),
    });
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotFound));
    assert_eq!(
        played.requests[0].uri().authority().expect("one").as_str(),
        "box.example:3300"
    );
}

#[test]
fn what_else_a_record_holds_is_passed_over() {
    let text = record("Lantern Hill", 201.0, None, Some(SYNCED));
    let more = text.replace(
        "\"id\":31",
        "\"id\":31,\"lyricsfile\":\"version: [\",\"hasWordSync\":1,\"new\":{\"a\":[]}",
    );
    let played = look_up(&song(), answering(json(more), list(&[])));
    assert_eq!(found(&played)[0].lyrics.quality(), Quality::Line);
}
