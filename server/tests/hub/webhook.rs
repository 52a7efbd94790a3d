//! Lidarr's webhook over genuine payloads (facts, S31).

use crate::folders::{Shelf, wav};
use crate::world::{OTHER, Reply, SONG, TestHub, folder};
use segue_core::queue::Priority;
use segue_sqlite::NewUser;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const KEY: &str = "rPq7Jm3xVtYb1uKe0sWf9aLcDhGzNo2i5XyTvBnMk4w";

async fn start(shelf: &Shelf) -> TestHub {
    let test = TestHub::start(vec![folder("shelf", &shelf.root())]).await;
    let sealed = test.hub.passwords().seal("lidarr").expect("sealed");
    let added = test.hub.write(move |w| {
        let user = NewUser {
            name: "lidarr".to_owned(),
            password_enc: sealed,
            is_admin: false,
        };
        let id = w.add_user(&user, segue_core::Wall(0))?;
        w.add_api_key(
            id,
            &Sha256::digest(KEY).into(),
            "Lidarr",
            segue_core::Wall(0),
        )
    });
    added.await.expect("a user with a key");
    test
}

async fn tell(test: &TestHub, event: &Value) -> Reply {
    let headers = [("x-api-key", KEY), ("content-type", "application/json")];
    let told = test.tell("POST", "webhooks/lidarr", &headers, event.to_string());
    told.await
}

/// A Download as Lidarr sends it.
fn download(titles: &[&str], paths: &[&str]) -> Value {
    let track = |title: &&str| json!({"id": 3, "title": title, "trackNumber": "1", "quality": "FLAC", "qualityVersion": 1});
    let file = |path: &&str| {
        json!({"id": 9, "path": path, "quality": "FLAC", "qualityVersion": 1, "size": 7,
        "dateAdded": "2026-01-01T00:00:00Z"})
    };
    json!({
        "eventType": "Download",
        "instanceName": "Lidarr",
        "applicationUrl": "",
        "artist": {"id": 1, "name": "Björk", "disambiguation": "", "path": "/music/Björk", "mbId": "87c5dedd",
            "type": "Person", "genres": []},
        "album": {"id": 2, "mbId": "b", "title": "Homogenic", "disambiguation": "", "albumType": "Album",
            "secondaryAlbumTypes": [], "genres": [], "releaseDate": "1997-09-22T00:00:00Z"},
        "tracks": titles.iter().map(track).collect::<Vec<_>>(),
        "trackFiles": paths.iter().map(file).collect::<Vec<_>>(),
        "deletedFiles": [],
        "isUpgrade": false,
        "downloadClient": "q",
        "downloadClientType": "q",
        "downloadId": "d",
    })
}

async fn rows(test: &TestHub) -> Vec<Value> {
    let answer = test.api("queue?status=all&limit=100").await;
    answer["items"].as_array().expect("a list").clone()
}

/// Title, priority, and the tracks that wait for it.
async fn shown(test: &TestHub) -> Vec<(String, i64, Vec<String>)> {
    let mut shown = Vec::new();
    for row in rows(test).await {
        let detail = test.api(&format!("queue/{}", row["id"])).await;
        let targets = detail["targets"].as_array().expect("a list").iter();
        let tracks = targets.map(|target| target["track"].as_str().expect("an id").to_owned());
        shown.push((
            row["title"].as_str().expect("a title").to_owned(),
            row["priority"].as_i64().expect("a number"),
            tracks.collect(),
        ));
    }
    shown.sort();
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_an_import_is_found_by_path_at_once_and_once() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let path = shelf.root().join(format!("Björk/Homogenic/{SONG}.wav"));
    // Lidarr's title is another than the file's tag: the path counts.
    let event = download(
        &["Hunter (Album Version)"],
        &[path.to_str().expect("UTF-8")],
    );
    for round in 0..3 {
        let reply = tell(&test, &event).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        test.hub.wanted().rung().await;
        let songs = &reply.json()["songs"];
        let new = u64::from(round == 0);
        assert_eq!(songs["new"], new, "{round}: {songs}");
    }
    let id = test.id_of(SONG).await;
    assert_eq!(shown(&test).await, [(SONG.to_owned(), 10, vec![id])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_another_machines_path_is_found_by_its_end_or_by_name() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let (song, other) = (test.id_of(SONG).await, test.id_of(OTHER).await);
    let path = format!("/data/media/Björk/Homogenic/{SONG}.wav");
    tell(&test, &download(&[SONG], &[&path])).await;
    assert_eq!(
        shown(&test).await,
        [(SONG.to_owned(), 10, vec![song.clone()])]
    );
    tell(&test, &download(&["JOGA"], &[])).await;
    assert_eq!(
        shown(&test).await,
        [
            (SONG.to_owned(), 10, vec![song]),
            (OTHER.to_owned(), 10, vec![other])
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_a_path_outside_the_roots_means_nothing() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let root = shelf.root();
    let root = root.to_str().expect("UTF-8");
    for path in [
        "/etc/passwd".to_owned(),
        format!("{root}/../{SONG}.wav"),
        format!("{root}/Björk/Homogenic/../../../../etc/passwd"),
        format!("{SONG}.wav"),
        format!("/{SONG}.wav"),
        "\u{0}".to_owned(),
    ] {
        let reply = tell(&test, &download(&[], &[&path])).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.json()["songs"]["new"], 0, "{path}");
    }
    assert!(rows(&test).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_a_new_file_is_looked_up_by_name_and_linked_when_it_has_been_read() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    shelf.put("Pluto", &wav("Pluto", 3));
    let path = shelf.root().join("Björk/Homogenic/Pluto.wav");
    tell(
        &test,
        &download(&["Pluto"], &[path.to_str().expect("UTF-8")]),
    )
    .await;
    assert_eq!(shown(&test).await, [("Pluto".to_owned(), 10, vec![])]);
    test.hub.sync_state().requested().await;
    test.sync().await;
    let id = test.id_of("Pluto").await;
    let raised = segue::wanted::raise(&test.hub, id.clone(), Priority::SCAN).await;
    assert_eq!(raised, Ok(true));
    assert_eq!(shown(&test).await, [("Pluto".to_owned(), 10, vec![id])]);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_songs_than_any_import_has_are_left_to_the_scan_and_counted() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let titles: Vec<String> = (0..1_003).map(|n| format!("Song {n}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let told = tell(&test, &download(&titles, &["/music/a.flac"]))
        .await
        .json();
    assert_eq!(
        (&told["songs"]["new"], &told["left_out"]),
        (&json!(1_000), &json!(3))
    );
    let told = tell(&test, &download(&titles[..2], &["/music/a.flac"])).await;
    assert_eq!(told.json()["left_out"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_every_event_is_answered_and_those_that_change_files_have_them_read() {
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let path = shelf.root().join(format!("Björk/Homogenic/{SONG}.wav"));
    for (event, word) in [
        (
            json!({"eventType": "Test", "artist": {"id": 1, "name": "Test Name"}, "albums": [{"id": 1, "title": "T"}]}),
            "ignored",
        ),
        (
            json!({"eventType": "Grab", "artist": {"name": "A"}, "albums": [], "release": {}}),
            "ignored",
        ),
        (
            json!({"eventType": "AlbumDelete", "album": {"title": "B"}, "deletedFiles": true}),
            "ignored",
        ),
        (
            json!({"eventType": "ArtistDelete", "artist": {"name": "A"}, "deletedFiles": false}),
            "ignored",
        ),
        (
            json!({"eventType": "Health", "level": "warning", "message": "m"}),
            "ignored",
        ),
        (json!({"eventType": "OfNextYear", "tracks": 7}), "ignored"),
        (
            json!({"eventType": "Retag", "artist": {"name": "A"}, "trackFile": {"path": path}}),
            "retagged",
        ),
        (
            json!({"eventType": "Rename", "renamedTrackFiles": [{"previousPath": "/a", "path": path}]}),
            "renamed",
        ),
    ] {
        let reply = tell(&test, &event).await;
        assert_eq!(
            (reply.status, reply.json()["event"].as_str()),
            (200, Some(word)),
            "{event}"
        );
        if word != "ignored" {
            test.hub.sync_state().requested().await;
        }
    }
    assert!(rows(&test).await.is_empty());
    for body in ["", "<html>", "[]", "{}", "{\"eventType\":7}"] {
        let told = test.tell("POST", "webhooks/lidarr", &[("x-api-key", KEY)], body);
        let reply = told.await;
        assert_eq!(reply.status, 400, "{body}");
        assert!(reply.json()["error"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s31_a_key_comes_by_header_bearer_or_basic_and_a_wrong_one_is_told() {
    use base64::Engine;
    let shelf = Shelf::new();
    let test = start(&shelf).await;
    let body = json!({"eventType": "Test"}).to_string();
    let basic = |login: String| {
        let encoded = base64::engine::general_purpose::STANDARD.encode(login);
        format!("Basic {encoded}")
    };
    for (name, value, status) in [
        ("x-api-key", KEY.to_owned(), 200),
        ("authorization", format!("Bearer {KEY}"), 200),
        ("authorization", basic(format!("lidarr:{KEY}")), 200),
        ("authorization", basic("lidarr:lidarr".to_owned()), 200),
        ("x-api-key", KEY.to_lowercase(), 401),
        ("authorization", format!("Bearer {KEY}x"), 401),
        ("authorization", basic("lidarr:wrong".to_owned()), 401),
        ("x-other", KEY.to_owned(), 401),
    ] {
        for method in ["POST", "PUT"] {
            let headers = [(name, value.as_str())];
            let told = test.tell(method, "webhooks/lidarr", &headers, body.clone());
            assert_eq!(told.await.status, status, "{method} {name}");
        }
    }
}
