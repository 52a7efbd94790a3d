//! One pass over a whole library, against small servers made of values.

use bytes::Bytes;
use proptest::prelude::*;
use segue_core::catalog::model::Pass;
use segue_core::io::NetError;
use segue_core::source::subsonic::{PAGE_SIZE, Progress, Pull, PullRequest};
use segue_core::source::{EnvelopeCode, Refusal};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// A server: artists with the ids of their albums, and albums with the ids of their songs.
#[derive(Clone, Debug, Default)]
struct Upstream {
    artists: BTreeMap<String, Vec<String>>,
    albums: BTreeMap<String, Vec<String>>,
    ignores_offset: bool,
}

impl Upstream {
    /// `artists` artists with `albums` albums each, of two songs.
    fn of(artists: usize, albums: usize) -> Self {
        let mut upstream = Upstream::default();
        for artist in 0..artists {
            let ids: Vec<_> = (0..albums)
                .map(|album| format!("al{artist:04}.{album:02}"))
                .collect();
            for id in &ids {
                upstream
                    .albums
                    .insert(id.clone(), vec![format!("{id}.1"), format!("{id}.2")]);
            }
            upstream.artists.insert(format!("ar{artist:04}"), ids);
        }
        upstream
    }

    fn content(&self, request: &PullRequest) -> Result<Value, Refusal> {
        let param = |name| {
            let found = request.params.iter().find(|(param, _)| *param == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        let album = |id: &String| json!({"id": id, "name": id});
        let id = param("id");
        Ok(match request.method {
            "getMusicFolders" => json!({"musicFolders": {"musicFolder": [{"id": 1}]}}),
            "getArtists" => {
                let artists = self.artists.keys().map(|id| json!({"id": id, "name": id}));
                json!({"artists": {"index": [{"name": "A", "artist": artists.collect::<Vec<_>>()}]}})
            }
            "getArtist" => {
                let albums = self.artists.get(id).ok_or(Refusal::NotFound)?;
                json!({"artist": {"id": id, "name": id, "album": albums.iter().map(album).collect::<Vec<_>>()}})
            }
            "getAlbum" => {
                let songs = self.albums.get(id).ok_or(Refusal::NotFound)?;
                let songs = songs.iter().map(|song| json!({"id": song, "title": song}));
                json!({"album": {"id": id, "name": id, "song": songs.collect::<Vec<_>>()}})
            }
            "getAlbumList2" => {
                assert_eq!(
                    (param("type"), param("size")),
                    ("alphabeticalByName", "500")
                );
                let offset = if self.ignores_offset {
                    0
                } else {
                    param("offset").parse().unwrap()
                };
                let page = self.albums.keys().skip(offset).take(PAGE_SIZE).map(album);
                json!({"albumList2": {"album": page.collect::<Vec<_>>()}})
            }
            other => panic!("{other}"),
        })
    }

    fn reply(&self, request: &PullRequest) -> Result<Bytes, Refusal> {
        let mut content = self.content(request)?;
        content["status"] = "ok".into();
        Ok(Bytes::from(
            json!({ "subsonic-response": content }).to_string(),
        ))
    }
}

/// Runs a pass to its end. `answer` may fail a request; `pick` chooses which running one ends next.
fn run(
    concurrency: usize,
    mut answer: impl FnMut(&PullRequest) -> Result<Bytes, Refusal>,
    mut pick: impl FnMut(usize) -> usize,
) -> (Pull, Vec<String>) {
    let mut pull = Pull::new(concurrency);
    let mut running: VecDeque<PullRequest> = VecDeque::new();
    let mut asked = Vec::new();
    loop {
        while let Some(request) = pull.poll_request() {
            let params: Vec<_> = request
                .params
                .iter()
                .map(|(_, value)| value.as_str())
                .collect();
            asked.push(format!("{} {}", request.method, params.join(" ")));
            running.push_back(request);
            assert!(running.len() <= concurrency);
        }
        let next = pick(running.len());
        let Some(request) = running.remove(next) else {
            assert!(pull.is_done());
            return (pull, asked);
        };
        let reply = answer(&request);
        pull.answer(request.id, reply);
    }
}

fn pass_over(upstream: &Upstream) -> (Pass, Vec<String>) {
    let (pull, asked) = run(3, |request| upstream.reply(request), |_| 0);
    (pull.finish(), asked)
}

/// Numbers of artists, albums and tracks.
fn counts(pass: &Pass) -> (usize, usize, usize) {
    (pass.artists.len(), pass.albums.len(), pass.tracks.len())
}

#[test]
fn a_pass_sees_everything_once() {
    let (pass, mut asked) = pass_over(&Upstream::of(4, 3));
    assert_eq!((counts(&pass), pass.complete), ((4, 12, 24), true));
    assert_eq!(pass.warnings, Vec::<String>::new());
    // Folders, artists, one page, 4 artists, 12 albums.
    assert_eq!(asked.len(), 1 + 1 + 1 + 4 + 12);
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), 19);
}

#[test]
fn an_empty_server_is_complete_too() {
    let (pass, _) = pass_over(&Upstream::default());
    assert_eq!((counts(&pass), pass.complete), ((0, 0, 0), true));
}

#[test]
fn an_album_under_several_artists_is_fetched_once() {
    let mut upstream = Upstream::of(2, 1);
    let shared = "al0000.00".to_owned();
    upstream
        .artists
        .get_mut("ar0001")
        .unwrap()
        .push(shared.clone());
    let (pass, asked) = pass_over(&upstream);
    let fetched = asked
        .iter()
        .filter(|line| **line == format!("getAlbum {shared}"));
    assert_eq!((fetched.count(), counts(&pass)), (1, (2, 2, 4)));
}

#[test]
fn albums_that_no_artist_leads_to_are_found_in_the_list() {
    let mut upstream = Upstream::of(2, 2);
    upstream
        .artists
        .values_mut()
        .for_each(|albums| albums.truncate(1));
    let (pass, _) = pass_over(&upstream);
    assert_eq!((counts(&pass), pass.complete), ((2, 4, 8), true));
}

#[test]
fn the_list_is_read_to_a_short_page() {
    let (_, asked) = pass_over(&Upstream::of(26, 40));
    let pages: Vec<_> = asked
        .iter()
        .filter(|line| line.starts_with("getAlbumList2"))
        .collect();
    let page = |offset| format!("getAlbumList2 alphabeticalByName 500 {offset}");
    assert_eq!(pages, [&page(0), &page(500), &page(1000)]);
    let (pass, asked) = pass_over(&Upstream::of(25, 40));
    assert!(pass.complete && asked.contains(&page(1000)));
}

#[test]
fn a_server_that_ignores_the_offset_does_not_loop() {
    let mut upstream = Upstream::of(15, 40);
    upstream.ignores_offset = true;
    let (pass, asked) = pass_over(&upstream);
    let pages = asked
        .iter()
        .filter(|line| line.starts_with("getAlbumList2"))
        .count();
    // All albums were found under their artists, so nothing is missing.
    assert_eq!(
        (pages, counts(&pass), pass.complete),
        (2, (15, 600, 1200), true)
    );
    assert_eq!(
        pass.warnings,
        ["The album list repeats itself: the server seems to ignore the offset."]
    );
    // Without the artists to lead there, who knows what the list would have shown.
    upstream.artists.get_mut("ar0000").unwrap().clear();
    assert!(!pass_over(&upstream).0.complete);
}

#[test]
fn a_request_that_failed_makes_the_pass_incomplete() {
    let upstream = Upstream::of(4, 3);
    let failures = [
        ("getMusicFolders", Refusal::NotFound, (4, 12, 24)),
        ("getArtists", Refusal::Status(500), (0, 12, 24)),
        ("getArtist", Refusal::Status(500), (4, 12, 24)),
        ("getAlbum", Refusal::NotFound, (4, 12, 22)),
        ("getAlbumList2", Refusal::ErrorDocument(None), (4, 12, 24)),
    ];
    for (method, refusal, expected) in failures {
        let mut first = true;
        let answer = |request: &PullRequest| {
            if request.method == method && std::mem::take(&mut first) {
                return Err(refusal);
            }
            upstream.reply(request)
        };
        let (pull, _) = run(3, answer, |_| 0);
        assert_eq!(pull.failure(), None, "{method}");
        let pass = pull.finish();
        assert_eq!(
            (counts(&pass), pass.complete),
            (expected, false),
            "{method}"
        );
        assert_eq!(pass.warnings.len(), 1, "{method}");
        assert!(pass.warnings[0].starts_with(method), "{:?}", pass.warnings);
    }
}

#[test]
fn a_reply_without_what_was_asked_for_is_a_failure() {
    let upstream = Upstream::of(2, 1);
    for method in ["getArtists", "getArtist", "getAlbum"] {
        let answer = |request: &PullRequest| match request.method == method {
            true => Ok(Bytes::from_static(
                br#"{"subsonic-response":{"status":"ok"}}"#,
            )),
            false => upstream.reply(request),
        };
        assert!(!run(3, answer, |_| 0).0.finish().complete, "{method}");
    }
}

#[test]
fn an_answer_about_another_album_is_not_believed() {
    let upstream = Upstream::of(1, 2);
    let answer = |request: &PullRequest| {
        let mut request = request.clone();
        if request.method == "getAlbum" {
            request.params = vec![("id", "al0000.00".to_owned())];
        }
        upstream.reply(&request)
    };
    let pass = run(1, answer, |_| 0).0.finish();
    assert_eq!((counts(&pass), pass.complete), ((1, 2, 2), false));
}

#[test]
fn a_wrong_password_ends_the_pass_at_once() {
    let failed = br#"{"subsonic-response":{"status":"failed","error":{"code":40}}}"#;
    let (pull, asked) = run(3, |_| Ok(Bytes::from_static(failed)), |_| 0);
    assert_eq!((pull.failure(), asked.len()), (Some(Refusal::Auth), 1));
    assert!(!pull.finish().complete);
}

#[test]
fn a_server_that_is_down_is_asked_once() {
    let down = Refusal::Net(NetError::Refused);
    let (pull, asked) = run(3, |_| Err(down), |_| 0);
    assert_eq!((pull.failure(), asked.len()), (Some(down), 1));
}

#[test]
fn a_server_that_goes_away_is_left_alone_soon() {
    let upstream = Upstream::of(100, 1);
    let mut answered = 0;
    let answer = |request: &PullRequest| {
        answered += 1;
        if answered > 20 {
            Err(Refusal::Net(NetError::Reset))
        } else {
            upstream.reply(request)
        }
    };
    let (pull, asked) = run(3, answer, |_| 0);
    assert_eq!(pull.failure(), Some(Refusal::Net(NetError::Reset)));
    assert!(asked.len() <= 20 + 8 + 3, "{}", asked.len());
    assert!(!pull.finish().complete);
}

#[test]
fn tracks_that_are_gone_do_not_look_like_a_server_that_is_gone() {
    let mut upstream = Upstream::of(30, 1);
    upstream.albums.clear();
    let (pull, asked) = run(3, |request| upstream.reply(request), |_| 0);
    assert_eq!((pull.failure(), asked.len()), (None, 3 + 30 + 30));
}

#[test]
fn an_unfinished_pass_is_not_complete() {
    let upstream = Upstream::of(1, 1);
    let mut pull = Pull::new(1);
    let request = pull.poll_request().unwrap();
    assert_eq!(pull.poll_request(), None);
    pull.answer(request.id, upstream.reply(&request));
    assert!(!pull.finish().complete);
}

#[test]
fn progress_tells_what_is_done_and_what_is_known() {
    let upstream = Upstream::of(2, 2);
    let mut pull = Pull::new(8);
    let request = pull.poll_request().unwrap();
    let begun = Progress {
        requests_known: 1,
        ..Progress::default()
    };
    assert_eq!(pull.progress(), begun);
    pull.answer(request.id, upstream.reply(&request));
    // An answer that nobody waits for changes nothing.
    pull.answer(request.id, Err(Refusal::Auth));
    assert_eq!(
        (
            pull.progress().requests_done,
            pull.progress().requests_known
        ),
        (1, 3)
    );
    let (pull, _) = run(3, |request| upstream.reply(request), |_| 0);
    let expected = Progress {
        artists: 2,
        albums: 4,
        tracks: 8,
        requests_done: 9,
        requests_known: 9,
    };
    assert_eq!(pull.progress(), expected);
}

#[test]
fn the_album_says_what_the_list_does_not_and_the_other_way_round() {
    let answer = |request: &PullRequest| {
        let content = match request.method {
            "getArtists" => json!({"artists": {"index": []}}),
            "getAlbumList2" => json!({"albumList2": {"album": {
                "id": 1, "name": "x", "artist": "A", "artistId": 5, "created": "2026-11-29T21:46:07", "year": 1990,
            }}}),
            "getAlbum" => json!({"album": {"id": "1", "name": "X", "year": 1997, "genre": "Rock"}}),
            _ => json!({}),
        };
        let mut content = content;
        content["status"] = "ok".into();
        Ok(Bytes::from(
            json!({ "subsonic-response": content }).to_string(),
        ))
    };
    let pass = run(1, answer, |_| 0).0.finish();
    let album = &pass.albums[0];
    assert_eq!(
        (album.name.as_str(), album.year, album.artist_name.as_str()),
        ("X", Some(1997), "A")
    );
    assert_eq!((album.genres.len(), album.created.is_some()), (1, true));
}

proptest! {
    /// Whatever the order and number of answers, the rows are the same and each request is made once.
    #[test]
    fn the_order_of_answers_does_not_matter(
        artists in 0_usize..6,
        albums in 0_usize..4,
        concurrency in 1_usize..6,
        picks in prop::collection::vec(0_usize..6, 0..60),
    ) {
        let mut upstream = Upstream::of(artists, albums);
        // One song on two albums.
        if let Some(songs) = upstream.albums.values_mut().last() {
            songs.push("al0000.00.1".to_owned());
        }
        let (expected, _) = pass_over(&upstream);
        let mut picks = picks.into_iter();
        let pick = |running: usize| picks.next().map_or(0, |pick| pick % running.max(1));
        let (pull, mut asked) = run(concurrency, |request| upstream.reply(request), pick);
        prop_assert_eq!(pull.finish(), expected);
        let total = asked.len();
        asked.sort();
        asked.dedup();
        prop_assert_eq!(asked.len(), total);
    }

    /// A pass in which anything failed is never complete, and every pass ends.
    #[test]
    fn a_pass_with_a_failure_is_never_complete(
        artists in 0_usize..6,
        albums in 0_usize..4,
        fail_at in 0_usize..30,
        kind in 0_usize..4,
    ) {
        let refusal = [
            Refusal::NotFound,
            Refusal::Net(NetError::TimedOut),
            Refusal::Auth,
            Refusal::ErrorDocument(Some(EnvelopeCode::Generic)),
        ][kind];
        let upstream = Upstream::of(artists, albums);
        let mut answered = 0;
        let answer = |request: &PullRequest| {
            answered += 1;
            if answered == fail_at + 1 { Err(refusal) } else { upstream.reply(request) }
        };
        let (pull, asked) = run(3, answer, |_| 0);
        prop_assert_eq!(pull.finish().complete, asked.len() <= fail_at);
    }
}
