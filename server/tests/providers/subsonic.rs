//! The sources' own lyrics, asked of the project's fake Subsonic server.

use crate::lanes::{best, found, look_up_at, song};
use segue::upstream::{
    Album, Answers, Artist, AuthMode, Fault, Group, Library, LyricsMethods, Quirks, Setup,
    TimedLine, Track, Upstream, Words,
};
use segue_core::dispatch::Quality;
use segue_core::lyrics::{Body, Copy, Song};
use segue_core::provider::{Kind, MissReason, Outcome, Server, Trouble};
use segue_core::source::subsonic::{Auth, Credentials, Endpoint, Secret};
use std::collections::BTreeMap;
use std::time::Duration;

const PLAIN: &str = "Paper boats\n\nLamps <of> tin & glass";

fn library() -> Library {
    let line = |start, pieces: &[(u64, &str)]| TimedLine {
        start,
        pieces: pieces
            .iter()
            .map(|(at, text)| (*at, (*text).to_owned()))
            .collect(),
    };
    let worded = Words::Timed(vec![
        line(1000, &[(1000, "Tin "), (1400, "låmps")]),
        line(4000, &[(4000, "glow")]),
    ]);
    let timed = Words::timed(&[(0, "Paper boats"), (4200, "Lamps of tin")]);
    let album = Album::new("Harbour Songs")
        .track(Track::new("Lantern Hill").id("1").words(timed))
        .track(Track::new("Tin Lamps").id("2").words(worded))
        .track(Track::new("Low Tide").id("3").words(Words::plain(PLAIN)))
        .track(Track::new("High Tide").id("4"));
    Library::new().artist(Artist::new("The Paper Boats").album(album))
}

async fn upstream(quirks: Quirks) -> Upstream {
    let setup = Setup {
        quirks,
        ..Setup::new("home", library())
    };
    Upstream::start(setup).await.expect("a port")
}

async fn with(lyrics: LyricsMethods, answers: Answers) -> Upstream {
    upstream(Quirks {
        lyrics,
        answers,
        ..Quirks::default()
    })
    .await
}

fn copy(title: &str, id: &str) -> Song {
    Song {
        copies: vec![Copy {
            instance_id: "home".to_owned(),
            remote_id: id.to_owned(),
            folder: false,
        }],
        ..song(title, 13)
    }
}

async fn look_up(upstream: &Upstream, song: &Song) -> Outcome {
    look_up_as(upstream, song, "sesame").await
}

async fn look_up_as(upstream: &Upstream, song: &Song, password: &str) -> Outcome {
    let base = upstream.url().parse().expect("a URL");
    let credentials = Credentials::password("alice", Secret::new(password));
    let server = Server {
        endpoint: Endpoint::new(&base, credentials).expect("an endpoint"),
        auth: Auth::Token,
        structured: None,
    };
    let servers = BTreeMap::from([("home".to_owned(), server)]);
    look_up_at(Kind::Subsonic, song, &servers).await
}

#[tokio::test]
async fn each_kind_of_server_gives_the_best_it_has() {
    for answers in [Answers::Both, Answers::XmlOnly, Answers::JsonOnly] {
        for (lyrics, timed, worded, requests) in [
            (LyricsMethods::ByName, Quality::Plain, Quality::Plain, 2),
            (LyricsMethods::ById, Quality::Line, Quality::Line, 1),
            (LyricsMethods::Enhanced, Quality::Line, Quality::Word, 1),
        ] {
            let upstream = with(lyrics, answers).await;
            let outcome = look_up(&upstream, &copy("Lantern Hill", "1")).await;
            assert_eq!(best(&outcome), timed, "{lyrics:?} {answers:?}");
            assert_eq!(upstream.counters().all_requests(), requests);
            let outcome = look_up(&upstream, &copy("Tin Lamps", "2")).await;
            assert_eq!(best(&outcome), worded, "{lyrics:?} {answers:?}");
            let outcome = look_up(&upstream, &copy("Low Tide", "3")).await;
            let lines = PLAIN.lines().map(str::to_owned).collect();
            assert_eq!(
                found(&outcome)[0].lyrics.body,
                Body::Plain(lines),
                "{lyrics:?} {answers:?}"
            );
            let outcome = look_up(&upstream, &copy("High Tide", "4")).await;
            assert_eq!(
                outcome,
                Outcome::Miss(MissReason::NoLyrics),
                "{lyrics:?} {answers:?}"
            );
        }
    }
}

#[tokio::test]
async fn words_are_placed_to_the_byte() {
    let upstream = with(LyricsMethods::Enhanced, Answers::Both).await;
    let outcome = look_up(&upstream, &copy("Tin Lamps", "2")).await;
    let Body::Synced(lines) = &found(&outcome)[0].lyrics.body else {
        panic!("{outcome:?}")
    };
    let words: Vec<(&str, u64)> = lines[0]
        .words
        .iter()
        .map(|word| (&lines[0].text[word.bytes.clone()], word.start))
        .collect();
    assert_eq!(words, [("Tin", 1000), ("låmps", 1400)]);
}

#[tokio::test]
async fn a_server_that_knows_no_lyrics_is_asked_twice_and_is_in_no_trouble() {
    let upstream = with(LyricsMethods::Unknown, Answers::Both).await;
    let outcome = look_up(&upstream, &copy("Lantern Hill", "1")).await;
    assert_eq!(outcome, Outcome::Miss(MissReason::NotAskable));
    assert_eq!(upstream.counters().all_requests(), 2);
}

#[tokio::test]
async fn a_stale_id_is_a_miss() {
    let upstream = with(LyricsMethods::ById, Answers::Both).await;
    let outcome = look_up(&upstream, &copy("Lantern Hill", "gone")).await;
    assert_eq!(outcome, Outcome::Miss(MissReason::NotFound));
}

#[tokio::test]
async fn a_server_in_trouble_is_no_miss() {
    let upstream = with(LyricsMethods::ById, Answers::Both).await;
    let song = copy("High Tide", "4");
    assert_eq!(upstream.shared().setup().auth, AuthMode::Token);
    let outcome = look_up_as(&upstream, &song, "wrong").await;
    assert_eq!(outcome, Outcome::Failed(Trouble::Refused));
    for (fault, trouble) in [
        (Fault::Status(500), Trouble::Server(500)),
        (Fault::ErrorIn200Html, Trouble::Malformed),
        (
            Fault::Status429 {
                retry_after: Some(9),
            },
            Trouble::RateLimited {
                retry_after: Some(Duration::from_secs(9)),
            },
        ),
    ] {
        upstream.faults().set(Group::Api, fault);
        assert_eq!(look_up(&upstream, &song).await, Outcome::Failed(trouble));
    }
}
