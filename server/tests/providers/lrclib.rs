//! LRCLIB.

use crate::lanes::{best, found, look_up, song};
use segue::providers_fake::lrclib::{Lrclib, Record};
use segue::providers_fake::{Fault, Served};
use segue_core::dispatch::Quality;
use segue_core::io::NetError;
use segue_core::lyrics::{Body, Song};
use segue_core::provider::{Kind, MissReason, Outcome, Trouble};
use std::time::Duration;

const SYNCED: &str =
    "[00:12.50] Paper boats and lamps of tin\n[00:17.00] Who will let the harbour in";
const ARTIST: &str = "The Paper Boats";

struct Service {
    lrclib: Lrclib,
    served: Served,
}

impl Service {
    async fn with(records: impl IntoIterator<Item = Record>) -> Self {
        let lrclib = Lrclib::new();
        for record in records {
            lrclib.publish(record);
        }
        let served = Served::start(lrclib.router()).await.expect("a port");
        Service { lrclib, served }
    }

    fn kind(&self) -> Kind {
        let base_url = self.served.url().parse().expect("a URL");
        Kind::Lrclib { base_url }
    }

    async fn look_up(&self, song: &Song) -> Outcome {
        look_up(self.kind(), song).await
    }

    fn paths(&self) -> Vec<String> {
        let asked = self.lrclib.script().seen();
        asked.into_iter().map(|seen| seen.path).collect()
    }
}

fn lantern(seconds: f64) -> Record {
    Record::new("Lantern Hill", ARTIST, seconds).album("Harbour Songs")
}

#[tokio::test]
async fn a_known_song_takes_one_request_in_our_name() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let outcome = service.look_up(&song("Lantern Hill", 201)).await;
    assert_eq!(best(&outcome), Quality::Line);
    let asked = service.lrclib.script().seen();
    assert_eq!(asked.len(), 1);
    assert!(
        asked[0].headers["user-agent"]
            .to_str()
            .is_ok_and(|agent| agent.starts_with("segue/"))
    );
    assert_eq!(asked[0].param("duration"), "201");
}

/// M1, M5.
#[tokio::test]
async fn a_length_that_is_a_little_off_is_found() {
    let service = Service::with([lantern(203.0).synced(SYNCED)]).await;
    assert_eq!(
        best(&service.look_up(&song("Lantern Hill", 201)).await),
        Quality::Line
    );
    assert_eq!(service.paths(), ["/api/get"]);
    service.lrclib.insist_on_seconds();
    assert_eq!(
        best(&service.look_up(&song("Lantern Hill", 201)).await),
        Quality::Line
    );
    assert_eq!(service.paths()[1..], ["/api/get", "/api/search"]);
}

/// The lowest id is plain; a better record of the same song is found by searching.
#[tokio::test]
async fn the_oldest_record_is_not_taken_for_the_best() {
    let other = Record::new("Lantern Hill", ARTIST, 201.0)
        .album("Tin Lamps")
        .synced(SYNCED);
    let service = Service::with([lantern(201.0).plain("Paper boats\nLamps of tin"), other]).await;
    let outcome = service.look_up(&song("Lantern Hill", 201)).await;
    assert_eq!(best(&outcome), Quality::Line);
    assert_eq!(found(&outcome).len(), 2);
}

/// M17: an album that nobody knows there.
#[tokio::test]
async fn a_song_on_a_compilation_is_found_without_its_album() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let mut song = song("Lantern Hill", 201);
    song.album = Some("Now That Is What We Call Boats 7".to_owned());
    assert_eq!(best(&service.look_up(&song).await), Quality::Line);
}

/// M11.
#[tokio::test]
async fn a_remaster_is_found_by_its_plain_title() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let outcome = service
        .look_up(&song("Lantern Hill - 2014 Remastered Version", 201))
        .await;
    assert_eq!(best(&outcome), Quality::Line);
    assert_eq!(
        service.lrclib.script().seen()[0].param("track_name"),
        "Lantern Hill - 2014 Remastered Version"
    );
}

/// M13: the first question is whole, so two songs that differ in their guests are told apart.
#[tokio::test]
async fn guests_stay_in_the_first_question() {
    let plain = lantern(201.0).synced("[00:05.00] Alone");
    let guest = Record::new("Lantern Hill (feat. Ada)", ARTIST, 201.0)
        .album("Harbour Songs")
        .synced("[00:05.00] Together");
    let service = Service::with([plain, guest]).await;
    let outcome = service
        .look_up(&song("Lantern Hill (feat. Ada)", 201))
        .await;
    assert_eq!(
        found(&outcome)[0].matched.title.as_deref(),
        Some("Lantern Hill (feat. Ada)")
    );
    assert_eq!(service.paths(), ["/api/get"]);
}

/// M15.
#[tokio::test]
async fn a_name_with_a_slash_is_asked_for_whole() {
    let service = Service::with([Record::new("Lantern Hill", "AB/CD", 201.0)
        .album("Harbour Songs")
        .synced(SYNCED)])
    .await;
    let mut song = song("Lantern Hill", 201);
    song.artist = "AB/CD".to_owned();
    song.artists = Vec::new();
    assert_eq!(best(&service.look_up(&song).await), Quality::Line);
    assert_eq!(
        service.lrclib.script().seen()[0].param("artist_name"),
        "AB/CD"
    );
}

#[tokio::test]
async fn several_artists_in_one_field_are_found_by_the_first() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let mut song = song("Lantern Hill", 201);
    song.artist = "The Paper Boats/Ada".to_owned();
    song.artists = Vec::new();
    assert_eq!(best(&service.look_up(&song).await), Quality::Line);
    assert_eq!(service.paths(), ["/api/get", "/api/search", "/api/search"]);
}

#[tokio::test]
async fn a_decomposed_title_is_sent_composed() {
    let service = Service::with([Record::new("Caf\u{e9}", ARTIST, 201.0)
        .album("Harbour Songs")
        .synced(SYNCED)])
    .await;
    let outcome = service.look_up(&song("Cafe\u{301}", 201)).await;
    assert_eq!(best(&outcome), Quality::Line);
    assert_eq!(service.paths(), ["/api/get"]);
}

/// P7 and P1.
#[tokio::test]
async fn a_hollow_record_is_no_instrumental_and_an_instrumental_is_one() {
    let hollow = lantern(201.0);
    let silent = Record::new("Low Tide", ARTIST, 90.0)
        .album("Harbour Songs")
        .instrumental();
    let marked = Record::new("High Tide", ARTIST, 90.0)
        .album("Harbour Songs")
        .plain("[au: instrumental]");
    let service = Service::with([hollow, silent, marked]).await;
    let outcome = service.look_up(&song("Lantern Hill", 201)).await;
    assert_eq!(outcome, Outcome::Miss(MissReason::NoLyrics));
    for title in ["Low Tide", "High Tide"] {
        let outcome = service.look_up(&song(title, 90)).await;
        assert_eq!(
            found(&outcome)[0].lyrics.body,
            Body::Instrumental,
            "{title}"
        );
    }
}

#[tokio::test]
async fn stamps_that_the_service_leaves_in_plain_words_do_no_harm() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let outcome = service.look_up(&song("Lantern Hill", 201)).await;
    let Body::Synced(lines) = &found(&outcome)[0].lyrics.body else {
        panic!("{outcome:?}")
    };
    assert_eq!(lines[1].text, "Who will let the harbour in");
}

/// Each of these is a refusal for ever if it is sent.
#[tokio::test]
async fn songs_that_the_service_would_refuse_are_asked_for_as_it_likes() {
    let service = Service::with([]).await;
    for seconds in [0, 3_601, 86_400] {
        let outcome = service.look_up(&song("Lantern Hill", seconds)).await;
        assert_eq!(outcome, Outcome::Miss(MissReason::NotFound), "{seconds}");
    }
    for title in ["*", "...", "!?"] {
        let outcome = service.look_up(&song(title, 201)).await;
        assert_eq!(outcome, Outcome::Miss(MissReason::NotAskable), "{title}");
    }
    let asked = service.lrclib.script().seen();
    assert!(asked.iter().all(|asked| asked.param("duration").is_empty()));
}

#[tokio::test]
async fn a_song_that_is_not_known_takes_few_requests() {
    let service = Service::with([]).await;
    let outcome = service
        .look_up(&song("Lantern Hill (Remastered) [feat. Ada]", 201))
        .await;
    assert_eq!(outcome, Outcome::Miss(MissReason::NotFound));
    assert!(service.paths().len() <= 3, "{:?}", service.paths());
}

/// R1, R5, R7, R9: whatever goes wrong at whichever request, nothing is learned from it.
#[tokio::test]
async fn no_mishap_is_a_miss() {
    let busy = r#"{"message":"overloaded","name":"ServerOverloaded","statusCode":503}"#;
    let page = "<html><body>Log in</body></html>";
    let wait = Duration::from_secs(17);
    let mishaps = [
        (Fault::status(500), Trouble::Server(500)),
        (Fault::status(520), Trouble::Server(520)),
        (
            Fault::Says(503, busy.to_owned()),
            Trouble::RateLimited { retry_after: None },
        ),
        (
            Fault::status(429).retry_after(17),
            Trouble::RateLimited {
                retry_after: Some(wait),
            },
        ),
        (Fault::status(403), Trouble::Refused),
        (Fault::status(404), Trouble::WrongService),
        (Fault::Says(404, String::new()), Trouble::WrongService),
        (
            Fault::Says(400, "Failed to deserialize".to_owned()),
            Trouble::Malformed,
        ),
        (Fault::Body(page.to_owned()), Trouble::Malformed),
        (Fault::Body(String::new()), Trouble::Malformed),
        (Fault::CutShort, Trouble::Malformed),
        (
            Fault::Redirect("http://elsewhere.example/".to_owned()),
            Trouble::RedirectRefused,
        ),
        (Fault::Broken, Trouble::Net(NetError::Truncated)),
        (Fault::Oversized, Trouble::Net(NetError::Oversized)),
    ];
    let service = Service::with([]).await;
    let script = service.lrclib.script();
    for (mishap, trouble) in mishaps {
        for right_before in 0..2 {
            // The song is not known, and half of a 404 is as strange as any other.
            let trouble = match (&mishap, right_before) {
                (Fault::CutShort, 0) => Trouble::WrongService,
                _ => trouble,
            };
            (0..right_before).for_each(|_| script.once_right());
            script.once(mishap.clone());
            let outcome = service.look_up(&song("Lantern Hill", 201)).await;
            assert_eq!(
                outcome,
                Outcome::Failed(trouble),
                "{mishap:?} after {right_before}"
            );
        }
    }
}

#[tokio::test]
async fn a_silent_service_is_waited_for_by_nobody_but_its_lane() {
    let service = Service::with([]).await;
    service.lrclib.script().always(Some(Fault::Hang));
    let song = song("Lantern Hill", 201);
    let hanging = tokio::time::timeout(Duration::from_millis(50), service.look_up(&song)).await;
    assert!(hanging.is_err(), "answers in spite of a hanging service");
}

#[tokio::test]
async fn a_move_within_the_service_is_followed() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    let to = format!("{}/api/get/1", service.served.url());
    service.lrclib.script().once(Fault::Redirect(to));
    let outcome = service.look_up(&song("Lantern Hill", 201)).await;
    assert_eq!(best(&outcome), Quality::Line);
    assert_eq!(service.paths(), ["/api/get", "/api/get/1"]);
}

/// A later upload may be worse; that a search still knows the old one is the service's cache.
#[tokio::test]
async fn what_the_service_says_may_get_worse() {
    let service = Service::with([lantern(201.0).synced(SYNCED)]).await;
    assert_eq!(
        best(&service.look_up(&song("Lantern Hill", 201)).await),
        Quality::Line
    );
    service
        .lrclib
        .publish(lantern(201.0).plain("Paper boats\nLamps of tin"));
    assert_eq!(
        best(&service.look_up(&song("Lantern Hill", 201)).await),
        Quality::Plain
    );
    let new = song("Tin Lamps", 100);
    assert_eq!(
        service.look_up(&new).await,
        Outcome::Miss(MissReason::NotFound)
    );
    service
        .lrclib
        .publish(Record::new("Tin Lamps", ARTIST, 100.0).synced("[00:01.00] Glow"));
    assert_eq!(
        service.look_up(&new).await,
        Outcome::Miss(MissReason::NotFound),
        "its searches are a day old"
    );
    service.lrclib.forget_searches();
    assert_eq!(best(&service.look_up(&new).await), Quality::Line);
}

#[tokio::test]
async fn nothing_else_of_the_service_is_used() {
    let service = Service::with([lantern(201.0)]).await;
    for title in ["Lantern Hill", "Other", "Yet Another (Live)"] {
        service.look_up(&song(title, 201)).await;
    }
    let asked = service.lrclib.script().seen();
    assert!(asked.iter().all(|asked| asked.method == http::Method::GET));
    assert!(
        service
            .paths()
            .iter()
            .all(|path| path == "/api/get" || path == "/api/search")
    );
}
