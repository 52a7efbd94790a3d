//! Synchronising: nothing a source does or fails to do costs the library anything.
//!
//! Product section 4; rows F15, F16, M7, and the public bug reports about stars and endless lists.

use crate::same::assert_bytes;
use crate::shelf::text;
use crate::world::{AUTH, OTHER, Pair, SONG, TestHub, album, pairs, quick, source, upstream};
use segue::sources::{LinkSpec, SourceSpec};
use segue::sync::{DropGuard, SourceReport, SyncReport, sync, tend};
use segue::upstream::{Album, Artist, Fault, Group, Library, Quirks, Setup, Track, Upstream};
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use tempfile::TempDir;

/// The shared album, and one that nobody else has.
fn with_own(library: Library, own: &str) -> Library {
    let mut library = library;
    let titles = ["One", "Two"].map(|n| Track::new(&format!("{own} {n}")).size(5000));
    let album = titles.into_iter().fold(Album::new(own), Album::track);
    library.artists[0].albums.push(album);
    library
}

async fn overlapping() -> Pair {
    let first = with_own(album("flac", 900, 30_000), "Debut");
    let second = with_own(album("mp3", 128, 20_000), "Post");
    Pair::of(first, second, quick()).await
}

/// Without the album that both have.
fn without_shared(upstream: &Upstream) -> Library {
    let mut library = (*upstream.shared().library()).clone();
    library.artists[0]
        .albums
        .retain(|album| album.name != "Homogenic");
    library
}

fn of<'a>(report: &'a SyncReport, id: &str) -> &'a SourceReport {
    let found = report.sources.iter().find(|source| source.id == id);
    found.expect("a report")
}

async fn sync_allowing(hub: &TestHub) -> SyncReport {
    sync(hub.hub.clone(), None, DropGuard::Allow)
        .await
        .expect("synchronised")
}

async fn is_online(hub: &TestHub, id: &'static str) -> bool {
    let row = hub.hub.read(move |r| r.instance(id)).await.expect("read");
    row.expect("a source").online
}

/// The library is what it was while a source is down, and again when it is back.
async fn assert_survives(pair: &Pair, down: &Upstream, id: &'static str) {
    let hub = &pair.hub;
    hub.rest("star", &format!("id={}", pair.id)).await;
    let before = hub.dump().await;
    down.faults().die().await;
    let report = hub.sync().await;
    assert!(!of(&report, id).complete);
    assert!(of(&report, id).error.is_some());
    assert_eq!(report.changed, 0);
    assert_eq!(hub.dump().await, before);
    assert!(!is_online(hub, id).await, "marked offline");
    assert!(hub.shown(id).await["last_error"].is_string());
    assert_eq!(hub.shown(id).await["tracks"], 5);
    down.faults().revive().await;
    assert_eq!(hub.sync().await.changed, 0);
    assert!(is_online(hub, id).await);
    assert_eq!(hub.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn f15_a_server_that_is_down_during_a_sync_changes_nothing() {
    let pair = overlapping().await;
    assert_survives(&pair, &pair.second, "two").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f16_not_even_when_it_is_a_local_one() {
    let first = upstream("first", with_own(album("flac", 900, 30_000), "Debut")).await;
    let second = upstream("second", with_own(album("mp3", 128, 20_000), "Post")).await;
    let local = SourceSpec {
        local: true,
        ..source("one", &first)
    };
    let hub = TestHub::start(vec![local, source("two", &second)]).await;
    let id = hub.id_of(SONG).await;
    let pair = Pair {
        first,
        second,
        hub,
        id,
    };
    assert_survives(&pair, &pair.first, "one").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_however_wrong_changes_the_library() {
    let pair = overlapping().await;
    let before = pair.hub.dump().await;
    for fault in [
        Fault::CloseBeforeHead,
        Fault::ErrorIn200Xml { code: 0 },
        Fault::ErrorIn200Json { code: 40 },
        Fault::ErrorIn200Json { code: 60 },
        Fault::ErrorIn200Html,
        Fault::Empty200,
        Fault::Status(401),
        Fault::Status(404),
        Fault::Status(500),
        Fault::Status429 { retry_after: None },
        Fault::Status503 {
            retry_after: Some(1),
        },
        Fault::RedirectTo("http://127.0.0.1:9/".to_owned()),
        Fault::CutAt(10),
    ] {
        pair.first.faults().set(Group::Api, fault.clone());
        let report = pair.hub.sync().await;
        let one = of(&report, "one");
        assert!(!one.complete, "{fault:?}");
        let error = one.error.as_deref().expect("a sentence");
        assert!(!error.contains(Fault::LEAK), "{error}");
        assert!(of(&report, "two").complete, "{fault:?}");
        assert_eq!(report.changed, 0, "{fault:?}");
        assert_eq!(pair.hub.dump().await, before, "{fault:?}");
    }
    // Rejected in the middle of a pass: the first request was the last good one.
    pair.first.faults().set(Group::Api, Fault::Status(401));
    pair.first.faults().next(Group::Api, None);
    let report = pair.hub.sync().await;
    assert!(of(&report, "one").error.is_some());
    assert_eq!(pair.hub.dump().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pass_that_missed_something_removes_nothing() {
    let pair = overlapping().await;
    let before = pair.hub.ids().await;
    // One album cannot be read, of the other a song is gone and one is new.
    let mut library = (*pair.first.shared().library()).clone();
    let unreadable = library.artists[0].albums[0].id.clone();
    let debut = &mut library.artists[0].albums[1];
    debut.tracks.remove(0);
    debut
        .tracks
        .push(Track::new("Debut Three").id("tr-new").place(1, 3));
    pair.first.shared().set_library(library);
    for fault in [Fault::Status(404), Fault::ErrorIn200Json { code: 70 }] {
        pair.first.faults().set_for(Group::Api, &unreadable, fault);
        let report = pair.hub.sync().await;
        let one = of(&report, "one");
        assert_eq!((one.complete, one.removed), (false, 0), "{one:?}");
        assert!(!one.warnings.is_empty());
        let after = pair.hub.ids().await;
        assert!(before.iter().all(|id| after.contains(id)), "{after:?}");
        assert_eq!(after.len(), before.len() + 1);
    }
    // The next one that sees everything cleans up.
    pair.first.faults().clear();
    let report = pair.hub.sync().await;
    assert_eq!(
        (of(&report, "one").complete, of(&report, "one").removed),
        (true, 1)
    );
    assert_eq!(pair.hub.ids().await.len(), before.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn r3_an_unchanged_library_merges_to_the_same_bytes() {
    let pair = overlapping().await;
    let before = pair.hub.dump().await;
    assert!(before.contains("preferred: true"));
    for _ in 0..2 {
        let report = pair.hub.sync().await;
        assert_eq!(report.changed, 0);
        for source in &report.sources {
            let changes = [source.added, source.updated, source.removed];
            assert_eq!(changes, [0, 0, 0], "{source:?}");
        }
        assert_eq!(pair.hub.dump().await, before);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m7_ids_stay_when_sources_come_and_go() {
    let pair = overlapping().await;
    let before = pair.hub.ids().await;
    let whole = [&pair.first, &pair.second].map(|u| (*u.shared().library()).clone());
    for (upstream, library) in [&pair.first, &pair.second].into_iter().zip(whole) {
        upstream.shared().set_library(without_shared(upstream));
        sync_allowing(&pair.hub).await;
        assert_eq!(pair.hub.ids().await, before, "the other still has it");
        assert_eq!(pair.hub.sources_of(&pair.id).await.len(), 1);
        upstream.shared().set_library(library);
        sync_allowing(&pair.hub).await;
        assert_eq!(pair.hub.ids().await, before);
        assert_eq!(pair.hub.sources_of(&pair.id).await.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn m7_a_song_that_was_gone_comes_back_under_its_id() {
    let pair = overlapping().await;
    let before = pair.hub.ids().await;
    let whole = [&pair.first, &pair.second].map(|u| (*u.shared().library()).clone());
    for upstream in [&pair.first, &pair.second] {
        upstream.shared().set_library(without_shared(upstream));
    }
    sync_allowing(&pair.hub).await;
    assert_eq!(pair.hub.ids().await.len(), before.len() - 3);
    let gone = pair.hub.rest("getSong", &format!("id={}", pair.id)).await;
    assert_eq!(gone["error"]["code"], 70);
    for (upstream, library) in [&pair.first, &pair.second].into_iter().zip(whole) {
        upstream.shared().set_library(library);
    }
    pair.hub.sync().await;
    assert_eq!(pair.hub.ids().await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn os32_stars_and_ratings_outlive_the_copy_they_were_given_to() {
    let pair = overlapping().await;
    let hub = &pair.hub;
    hub.rest("star", &format!("id={}", pair.id)).await;
    hub.rest("setRating", &format!("id={}&rating=4", pair.id))
        .await;
    let assert_kept = async |step: &str| {
        let song = hub.rest("getSong", &format!("id={}", pair.id)).await["song"].take();
        assert_eq!(song["id"], pair.id, "{step}");
        assert_eq!(song["userRating"], 4, "{step}");
        assert!(song["starred"].is_string(), "{step}");
        let starred = hub.rest("getStarred2", "").await;
        assert_eq!(starred["starred2"]["song"][0]["id"], pair.id, "{step}");
        song
    };
    pair.first.shared().set_library(without_shared(&pair.first));
    sync_allowing(hub).await;
    assert_eq!(assert_kept("the FLAC is gone").await["suffix"], "mp3");
    // The MP3 is replaced by a FLAC: another file, another id there.
    let mut library = (*pair.second.shared().library()).clone();
    for (n, track) in library.artists[0].albums[0].tracks.iter_mut().enumerate() {
        *track = track.clone().id(&format!("new-{n}")).format("flac", 1000);
    }
    pair.second.shared().set_library(library);
    sync_allowing(hub).await;
    assert_eq!(assert_kept("and a new one").await["suffix"], "flac");
    assert_bytes!(pair.stream().await.body, pair.second_bytes());
}

#[tokio::test(flavor = "multi_thread")]
async fn os34_a_server_that_ignores_the_offset_is_read_once_and_warned_of() {
    // More than a page, so that there is a second one to get wrong.
    let albums =
        (0..501).map(|n| Album::new(&format!("Album {n}")).track(Track::new("Song").size(10)));
    let artist = albums.fold(Artist::new("Prolific"), Artist::album);
    let mut setup = Setup::new("deaf", Library::new().artist(artist));
    setup.quirks = Quirks {
        ignores_offset: true,
        ..Quirks::default()
    };
    let deaf = Upstream::start(setup).await.expect("a free port");
    let dir = TempDir::new().expect("a folder");
    let hub = TestHub::start_in(dir, vec![source("one", &deaf)], quick()).await;
    let report = hub.sync().await;
    let one = of(&report, "one");
    assert_eq!((one.complete, one.albums, one.tracks), (true, 501, 501));
    assert!(one.warnings.iter().any(|w| w.contains("offset")), "{one:?}");
    assert_eq!(deaf.counters().of("getAlbumList2"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sudden_drop_of_more_than_half_needs_the_operators_word() {
    let pair = overlapping().await;
    let before = pair.hub.ids().await;
    pair.first
        .shared()
        .set_library(Library::new().artist(Artist::new("Björk")));
    let reply = pair.hub.call_api("POST", "sync").await;
    assert_eq!(reply.status, 200);
    let report = reply.json();
    assert_eq!(report["sources"][0]["removed"], 0);
    assert!(report["sources"][0]["warnings"][0].is_string(), "{report}");
    assert_eq!(pair.hub.ids().await, before);
    let reply = pair
        .hub
        .call_api("POST", "sync?source=one&allow_drop=true")
        .await;
    let report = reply.json();
    assert_eq!(report["sources"][0]["removed"], 5);
    assert_eq!(report["sources"].as_array().map(Vec::len), Some(1));
    assert_eq!(pair.hub.ids().await.len(), 5);
    let unknown = pair.hub.call_api("POST", "sync?source=three").await;
    assert_eq!(unknown.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_told_in_a_sentence_without_them() {
    let strict = upstream("strict", album("flac", 900, 1000)).await;
    let url = url::Url::parse(&strict.url()).expect("a URL");
    let wrong = Credentials::password("alice", Secret::new("wrong-and-secret".to_owned()));
    let spec = SourceSpec {
        link: LinkSpec::Subsonic {
            endpoint: Endpoint::new(&url, wrong).expect("an endpoint"),
            auth: None,
        },
        ..source("one", &strict)
    };
    let hub = TestHub::start_in(TempDir::new().expect("a folder"), vec![spec], quick()).await;
    let report = hub.sync().await;
    let error = of(&report, "one").error.clone().expect("a sentence");
    assert!(error.contains("password"), "{error}");
    assert!(!error.contains("wrong-and-secret"), "{error}");
    assert_eq!(hub.shown("one").await["last_error"], error);
    assert_eq!(hub.albums().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_keeps_library_stars_and_what_was_found_out() {
    let pair = overlapping().await;
    pair.hub.rest("star", &format!("id={}", pair.id)).await;
    pair.stream().await;
    let (before, rows) = (pair.hub.dump().await, pair.hub.activity().await);
    let dir = pair.hub.stop().await;
    let asked = pair.first.counters().of("ping");
    let sources = vec![source("one", &pair.first), source("two", &pair.second)];
    let again = TestHub::start_in(dir, sources, quick()).await;
    assert_eq!(again.dump().await, before);
    assert_eq!(again.activity().await, rows);
    assert_bytes!(
        again.stream(&pair.id).await.body,
        pair.first.shared().bytes_of(SONG)
    );
    assert_eq!(
        pair.first.counters().of("ping"),
        asked,
        "no sync, no negotiation"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_background_syncs_at_start_and_when_asked() {
    let home = upstream("home", album("flac", 900, 1000)).await;
    let dir = TempDir::new().expect("a folder");
    let hub = TestHub::start_in(dir, vec![source("one", &home)], quick()).await;
    let tending = tokio::spawn(tend(hub.hub.clone()));
    home.until(|c| c.of("getAlbum") == 1).await;
    let status = hub.rest("startScan", "").await;
    assert!(status["scanStatus"]["scanning"].is_boolean());
    home.until(|c| c.of("getAlbum") == 2).await;
    // One at a time: this waits for its turn, and then all is there.
    assert_eq!(hub.sync().await.changed, 0);
    assert_eq!(hub.ids().await.len(), 3);
    tending.abort();
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_go_on_while_a_sync_takes_everything_away() {
    let pair = overlapping().await;
    pair.fail_first(Fault::StallAt(10_000));
    let target = pair.hub.stream_target(&pair.id, "");
    let body = pair.hub.open("GET", &target, &[]).await.into_body();
    for upstream in [&pair.first, &pair.second] {
        upstream.shared().set_library(without_shared(upstream));
    }
    sync_allowing(&pair.hub).await;
    assert_eq!(pair.stream().await.status, 404);
    pair.first.faults().release();
    let all = http_body_util::BodyExt::collect(body)
        .await
        .expect("whole")
        .to_bytes();
    assert_eq!(all.len(), 30_000);
    let row = pair.hub.last_row().await;
    assert_eq!(
        (text(&row["status"]), text(&row["track_title"])),
        ("completed".into(), SONG.into())
    );
    assert_eq!(crate::world::attempts(&row), pairs(&[("one", "served")]));
    let target = format!("/rest/getSong?{AUTH}&f=json&id={}", pair.id);
    assert_eq!(
        pair.hub.get(&target).await.json()["subsonic-response"]["error"]["code"],
        70
    );
    let found = pair.hub.rest("search3", &format!("query={OTHER}")).await;
    assert_eq!(found["searchResult3"]["song"], serde_json::json!([]));
}
