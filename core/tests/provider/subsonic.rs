//! What is particular to the sources' own lyrics.

use crate::drive::{Played, Sent, json, play, reply};
use crate::rows::subsonic::envelope;
use crate::rows::{asked_with, server, song};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::lyrics::{Body, Copy, Lyrics, Song, Word};
use segue_core::provider::{Kind, MissReason, Outcome, Trouble};

const BY_ID: &str = "/rest/getLyricsBySongId";
const BY_NAME: &str = "/rest/getLyrics";

/// A song with copies in these sources.
fn in_sources(names: &[&str]) -> Song {
    let copies = names.iter().map(|name| Copy {
        instance_id: (*name).to_owned(),
        remote_id: format!("tr-{name}"),
        folder: false,
    });
    Song {
        copies: copies.collect(),
        ..song()
    }
}

fn look_up(
    song: &Song,
    structured: Option<bool>,
    mut answer: impl FnMut(&str, &Request<Bytes>) -> Sent,
) -> Played {
    let lookup = asked_with("subsonic", Kind::Subsonic, song, |servers| {
        for name in ["home", "club", "barn"] {
            servers.insert(name.to_owned(), server(name));
        }
        servers
            .values_mut()
            .for_each(|server| server.structured = structured);
    });
    play(lookup, |_, request| {
        let host = request.uri().host().expect("a host").to_owned();
        answer(host.trim_end_matches(".example"), request)
    })
}

/// One source that answers both methods so.
fn alone(by_id: Sent, by_name: Sent) -> Played {
    look_up(&in_sources(&["home"]), None, |_, request| {
        match request.uri().path() {
            BY_ID => by_id.clone(),
            BY_NAME => by_name.clone(),
            other => panic!("asks {other}"),
        }
    })
}

fn asked(played: &Played) -> Vec<String> {
    let told = |request: &Request<Bytes>| {
        let host = request
            .uri()
            .host()
            .unwrap_or_default()
            .trim_end_matches(".example")
            .to_owned();
        format!("{host}{}", request.uri().path().replace("/rest/", ":"))
    };
    played.requests.iter().map(told).collect()
}

fn only(played: &Played) -> &Lyrics {
    match &played.outcome {
        Outcome::Found(found) if found.len() == 1 => &found[0].lyrics,
        other => panic!("{other:?}"),
    }
}

fn failed(code: u32, message: &str) -> Sent {
    json(format!(
        r#"{{"subsonic-response":{{"status":"failed","version":"1.16.1","error":{{"code":{code},"message":"{message}"}}}}}}"#
    ))
}

fn not_asked() -> Sent {
    panic!("should not be asked")
}

#[test]
fn the_copys_own_id_is_asked_for_and_nothing_else() {
    let played = look_up(&in_sources(&["home"]), None, |_, request| {
        let query = request.uri().query().expect("a query");
        assert!(query.contains("&id=tr-home&enhanced=true"), "{query}");
        assert!(
            query.contains("&u=ann&t=") && !query.contains("sesame"),
            "{query}"
        );
        envelope(
            r#""lyricsList":{"structuredLyrics":[{"lang":"und","synced":true,"line":[{"start":1,"value":"a"},{"start":900,"value":"b"}]}]}"#,
        )
    });
    let lyrics = only(&played);
    assert_eq!((lyrics.quality(), &lyrics.lang), (Quality::Line, &None));
    assert_eq!(asked(&played), ["home:getLyricsBySongId"]);
}

#[test]
fn a_known_song_without_lyrics_is_not_asked_for_by_name() {
    for nothing in [
        r#""lyricsList":{}"#,
        r#""lyricsList":{"structuredLyrics":[]}"#,
    ] {
        let played = look_up(&in_sources(&["home"]), None, |_, request| {
            match request.uri().path() {
                BY_ID => envelope(nothing),
                _ => not_asked(),
            }
        });
        assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
    }
}

#[test]
fn an_older_server_is_asked_by_name() {
    let found = || {
        envelope(
            r#""lyrics":{"artist":"The Paper Boats","title":"Lantern Hill","value":"Paper boats\nLamps of tin"}"#,
        )
    };
    let rejections = [
        Ok(reply(404, &[], "")),
        Ok(reply(
            404,
            &[("content-type", "text/html")],
            "<html>Not Found</html>",
        )),
        Ok(reply(
            404,
            &[],
            r#"{"subsonic-response":{"status":"failed","error":{"code":0}}}"#,
        )),
        Ok(reply(501, &[], "This endpoint is not implemented")),
        Ok(reply(410, &[], "")),
        failed(0, "Unknown endpoint"),
        failed(30, "Incompatible Subsonic REST protocol version"),
        // Anything is answered with a good and empty envelope.
        envelope(""),
    ];
    for rejection in rejections {
        let played = alone(rejection, found());
        assert_eq!(only(&played).quality(), Quality::Plain);
        assert_eq!(asked(&played), ["home:getLyricsBySongId", "home:getLyrics"]);
    }
    let played = look_up(&in_sources(&["home"]), Some(false), |_, _| found());
    assert_eq!(asked(&played), ["home:getLyrics"]);
}

#[test]
fn nothing_found_by_name_has_many_forms() {
    let xml = |inner: &str| {
        let xml = format!(
            "<?xml version=\"1.0\"?><subsonic-response xmlns=\"http://subsonic.org/restapi\" status=\"ok\" version=\"1.12.0\">{inner}</subsonic-response>"
        );
        Ok(reply(200, &[("content-type", "text/xml")], xml))
    };
    for nothing in [
        envelope(r#""lyrics":{}"#),
        envelope(r#""lyrics":{"value":""}"#),
        envelope(r#""lyrics":{"artist":"The Paper Boats","title":"Lantern Hill","value":" \n"}"#),
        envelope(r#""lyrics":null"#),
        envelope(r#""lyrics":[]"#),
        envelope(r#""lyrics":"""#),
        envelope(""),
        xml("<lyrics/>"),
        xml("<lyrics artist=\"The Paper Boats\" title=\"Lantern Hill\"/>"),
        xml("<lyrics> </lyrics>"),
    ] {
        let played = alone(failed(0, "Unknown endpoint"), nothing);
        assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
    }
}

#[test]
fn words_found_by_name_come_in_json_and_xml() {
    let xml = "<subsonic-response status=\"ok\" version=\"1.12.0\"><lyrics artist=\"The Paper Boats\" \
               title=\"Lantern Hill\">Paper boats\n\nLamps &amp; tin</lyrics></subsonic-response>";
    for found in [
        Ok(reply(200, &[("content-type", "text/xml")], xml)),
        envelope(r#""lyrics":{"value":"Paper boats\n\nLamps & tin"}"#),
        envelope(r#""lyrics":[{"value":"Paper boats\r\n\r\nLamps & tin"}]"#),
        envelope(r#""lyrics":"Paper boats\n\nLamps & tin""#),
    ] {
        let played = alone(Ok(reply(404, &[], "")), found);
        let lines = ["Paper boats", "", "Lamps & tin"].map(str::to_owned);
        assert_eq!(only(&played).body, Body::Plain(lines.to_vec()));
    }
}

#[test]
fn a_server_without_lyrics_cannot_be_asked() {
    let played = alone(Ok(reply(404, &[], "")), Ok(reply(404, &[], "<html>")));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotAskable));
    let played = alone(failed(0, "Unknown endpoint"), failed(0, "Unknown endpoint"));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotAskable));
}

#[test]
fn a_stale_id_is_a_miss_of_that_copy() {
    for gone in [
        failed(70, "The requested data was not found"),
        failed(0, "Song not found"),
    ] {
        let played = look_up(
            &in_sources(&["home", "club"]),
            None,
            |host, request| match (host, request.uri().path()) {
                ("home", BY_ID) => gone.clone(),
                ("club", BY_ID) => envelope(r#""lyricsList":{}"#),
                _ => not_asked(),
            },
        );
        assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
    }
}

#[test]
fn timed_words_of_one_copy_end_it_and_plain_ones_do_not() {
    let plain = r#""lyricsList":{"structuredLyrics":[{"lang":"en","synced":false,"line":[{"value":"Paper boats"}]}]}"#;
    let timed = r#""lyricsList":{"structuredLyrics":[{"lang":"en","synced":true,"line":[{"start":5,"value":"a"},{"start":9,"value":"b"}]}]}"#;
    let played = look_up(
        &in_sources(&["home", "club", "barn"]),
        None,
        |host, _| match host {
            "home" => envelope(plain),
            "club" => envelope(timed),
            _ => not_asked(),
        },
    );
    let Outcome::Found(found) = &played.outcome else {
        panic!("{:?}", played.outcome)
    };
    let qualities: Vec<Quality> = found.iter().map(|one| one.lyrics.quality()).collect();
    assert_eq!(qualities, [Quality::Plain, Quality::Line]);
    assert_eq!(
        found[1].matched.provider_id.as_deref(),
        Some("club/tr-club")
    );
}

#[test]
fn a_copy_in_trouble_does_not_hide_another_and_is_not_forgotten() {
    let words = r#""lyricsList":{"structuredLyrics":[{"lang":"en","synced":true,"line":[{"start":5,"value":"a"},{"start":9,"value":"b"}]}]}"#;
    let two = in_sources(&["home", "club"]);
    let played = look_up(&two, None, |host, _| match host {
        "home" => Ok(reply(502, &[], "")),
        _ => envelope(words),
    });
    assert_eq!(only(&played).quality(), Quality::Line);
    let played = look_up(&two, None, |host, _| match host {
        "home" => Ok(reply(502, &[], "")),
        _ => envelope(r#""lyricsList":{}"#),
    });
    assert_eq!(played.outcome, Outcome::Failed(Trouble::Server(502)));
    let played = look_up(&two, None, |host, _| match host {
        "home" => Ok(reply(502, &[], "")),
        _ => failed(40, "Wrong username or password"),
    });
    assert_eq!(played.outcome, Outcome::Failed(Trouble::Refused));
}

#[test]
fn copies_in_one_older_server_are_asked_for_by_name_once() {
    let mut song = in_sources(&["home", "home", "home"]);
    song.copies[1].remote_id = "other".to_owned();
    let played = look_up(&song, Some(false), |_, _| envelope(r#""lyrics":{}"#));
    assert_eq!(asked(&played), ["home:getLyrics"]);
    song.copies = vec![song.copies[0].clone(); 50];
    let played = look_up(&song, Some(true), |_, _| envelope(r#""lyricsList":{}"#));
    assert_eq!(played.requests.len(), 4);
}

#[test]
fn sources_that_are_gone_or_folders_are_not_asked() {
    let mut song = in_sources(&["nowhere"]);
    song.copies[0].folder = false;
    let played = look_up(&song, None, |_, _| not_asked());
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotAskable));
}

/// What a hub serves it may have from us: it proves nothing.
#[test]
fn a_hubs_answers_are_left_alone() {
    for kind in ["segue", "Segue"] {
        let words = format!(
            r#"{{"subsonic-response":{{"status":"ok","version":"1.16.1","type":"{kind}","openSubsonic":true,"lyricsList":
            {{"structuredLyrics":[{{"lang":"en","synced":true,"line":[{{"start":5,"value":"a"}},{{"start":9,"value":"b"}}]}}]}}}}}}"#
        );
        let played = look_up(&in_sources(&["home", "club"]), None, |host, _| match host {
            "home" => json(words.clone()),
            _ => envelope(r#""lyricsList":{}"#),
        });
        assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
        assert_eq!(
            asked(&played),
            ["home:getLyricsBySongId", "club:getLyricsBySongId"]
        );
    }
}

#[test]
fn words_of_version_two_have_their_times_and_other_kinds_are_left_out() {
    let list = r#""lyricsList":{"structuredLyrics":[
        {"kind":"translation","lang":"de","synced":true,"line":[{"start":100,"value":"Boote"},{"start":900,"value":"Lampen"}]},
        {"kind":"main","lang":"en","synced":true,"offset":-250,
         "line":[{"start":100,"value":"Tin låmps"},{"start":900,"value":"glow"},{"start":1500,"value":""}],
         "cueLine":[{"index":0,"start":100,"end":800,"value":"Tin låmps","cue":[
            {"start":100,"end":300,"byteStart":0,"byteEnd":2,"value":"Tin"},
            {"start":300,"end":800,"byteStart":4,"byteEnd":9,"value":"låmps"}]},
          {"index":1,"start":900,"value":"another voice","cue":[{"start":900,"byteStart":0,"byteEnd":3}]},
          {"index":7,"value":"nowhere","cue":[]}]}]}"#;
    let played = alone(envelope(list), not_found());
    let lyrics = only(&played);
    assert_eq!(
        (lyrics.lang.as_deref(), lyrics.offset_ms),
        (Some("en"), -250)
    );
    let Body::Synced(lines) = &lyrics.body else {
        panic!()
    };
    let words = [(100, 300, 0..3), (300, 800, 4..10)].map(|(start, end, bytes)| Word {
        start,
        end: Some(end),
        bytes,
    });
    assert_eq!(lines[0].words, words);
    assert!(lines[1].words.is_empty() && lines[2].text.is_empty());
}

fn not_found() -> Sent {
    Ok(reply(404, &[], ""))
}

#[test]
fn cues_that_lie_beside_their_line_cost_only_their_times() {
    for cue in [
        r#"{"start":1,"byteStart":0,"byteEnd":99}"#,
        r#"{"start":1,"byteStart":2,"byteEnd":1}"#,
        r#"{"start":1,"byteStart":0,"byteEnd":5}"#,
        r#"{"start":1,"byteStart":0,"byteEnd":18446744073709551615}"#,
        r#"{"byteStart":0,"byteEnd":2}"#,
        r#"{"start":9,"byteStart":0,"byteEnd":2},{"start":4,"byteStart":4,"byteEnd":4}"#,
        r#"{"start":1,"byteStart":0,"byteEnd":2},{"start":4,"byteStart":2,"byteEnd":3}"#,
    ] {
        let list = format!(
            r#""lyricsList":{{"structuredLyrics":[{{"lang":"en","synced":true,"line":[{{"start":1,"value":"Tin låmps"}},{{"start":9,"value":"b"}}],
            "cueLine":[{{"index":0,"value":"Tin låmps","cue":[{cue}]}}]}}]}}"#
        );
        let played = alone(envelope(&list), not_found());
        assert_eq!(only(&played).quality(), Quality::Line, "{cue}");
    }
}

#[test]
fn stamps_that_a_server_leaves_in_the_lines_are_times() {
    let stamped = r#"{"lang":"xxx","synced":false,"line":[{"value":"[00:01.00]Paper boats"},{"value":"[00:04.00]Lamps of tin"}]}"#;
    let played = alone(
        envelope(&format!(
            r#""lyricsList":{{"structuredLyrics":[{stamped}]}}"#
        )),
        not_found(),
    );
    assert_eq!(only(&played).quality(), Quality::Line);
    let played = alone(
        not_found(),
        envelope(r#""lyrics":{"value":"[00:01.00]Paper boats\n[00:04.00]Lamps of tin"}"#),
    );
    assert_eq!(only(&played).quality(), Quality::Line);
}

#[test]
fn lines_that_all_begin_at_once_are_not_timed() {
    let zeros = r#"{"lang":"und","synced":true,"line":[{"start":0,"value":"Paper boats"},{"start":0,"value":"Lamps of tin"}]}"#;
    let none =
        r#"{"lang":"und","synced":true,"line":[{"value":"Paper boats"},{"value":"Lamps of tin"}]}"#;
    for entry in [zeros, none] {
        let played = alone(
            envelope(&format!(r#""lyricsList":{{"structuredLyrics":[{entry}]}}"#)),
            not_found(),
        );
        assert_eq!(only(&played).quality(), Quality::Plain);
    }
}

#[test]
fn one_entry_and_one_line_may_stand_without_their_lists() {
    let list = r#""lyricsList":{"structuredLyrics":{"lang":"und","synced":"true","line":{"start":"120","value":"Paper boats"}}}"#;
    let played = alone(envelope(list), not_found());
    assert_eq!(only(&played).quality(), Quality::Line);
}
