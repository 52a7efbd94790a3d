//! Lyrics as clients get them, from what is stored (contracts section 5; facts, rows S1 to S6).

use crate::library::{HOSTILE, HOSTILE_TRACK, SHOWN, TRACK};
use crate::world::{ADMIN, World};
use crate::xml::parse;
use segue_core::io::Clock;
use segue_core::io::Runtime;
use segue_core::lyrics::{Body, Line, Lyrics, Word};
use segue_core::queue::{Completion, NewDocument, Outcome, Priority, Status};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// Puts a track in, and answers it as a worker would.
async fn answer(world: &World, track: &str, lyrics: &Lyrics) {
    let hub = &world.hub;
    let (track, now) = (track.to_owned(), hub.runtime().clock().wall());
    let request = hub.read(move |r| r.request_for(&track, &[], Priority::ASKED));
    let request = request.await.expect("a store").expect("a track");
    let body = serde_json::to_string(lyrics).expect("JSON");
    let completion = Completion {
        outcome: match lyrics.body {
            Body::Instrumental => Outcome::Instrumental,
            Body::Plain(_) | Body::Synced(_) => Outcome::Lyrics,
        },
        document: Some(NewDocument {
            id: hex::encode(Sha256::digest(&body)),
            body,
            quality: lyrics.quality(),
        }),
        lane: Some("lrclib".into()),
        reason: None,
        upgrade_after: None,
        answers: Vec::new(),
    };
    let answered = hub.write(move |w| {
        w.enqueue(&request, 1, now)?;
        let claim = w.claim("w", now, now + Duration::from_secs(60))?;
        w.complete(claim.expect("one is due").ticket, &completion, now)
    });
    answered.await.expect("an answer");
}

fn line(start: u64, text: &str) -> Line {
    Line {
        start,
        text: text.into(),
        ..Line::default()
    }
}

fn word(start: u64, end: Option<u64>, bytes: std::ops::Range<usize>) -> Word {
    Word { start, end, bytes }
}

fn synced() -> Lyrics {
    Lyrics::of(Body::Synced(vec![
        line(12_000, "If you ever get close to a human"),
        line(15_500, ""),
        line(16_000, "<3 you & me"),
    ]))
}

/// Two voices, words of two and three bytes, ends in one line only in part.
fn worded() -> Lyrics {
    let mut lyrics = Lyrics::of(Body::Synced(vec![
        Line {
            end: Some(2_000),
            words: vec![
                word(1_000, Some(1_400), 0..6),
                word(1_500, Some(2_000), 7..12),
            ],
            agent: Some("v1".into()),
            ..line(1_000, "夜に naïve")
        },
        Line {
            words: vec![word(2_000, Some(2_200), 0..2), word(2_300, None, 2..4)],
            agent: Some("v2".into()),
            ..line(2_000, "éa!")
        },
        line(3_000, "no times here"),
    ]));
    lyrics.lang = Some("ja-JP".into());
    lyrics.offset_ms = -250;
    lyrics
}

async fn entries(world: &World, query: &str) -> Value {
    let list = world.ask("getLyricsBySongId", query).await["lyricsList"].clone();
    list["structuredLyrics"].clone()
}

#[tokio::test]
async fn s1_s2_timed_lines_are_synced_and_hold_no_stamps() {
    let world = World::new();
    answer(&world, TRACK, &synced()).await;
    let wanted = json!([{
        "displayArtist": "Björk",
        "displayTitle": "Human Behaviour",
        "lang": "xxx",
        "synced": true,
        "line": [
            {"start": 12_000, "value": "If you ever get close to a human"},
            {"start": 15_500, "value": ""},
            {"start": 16_000, "value": "<3 you & me"},
        ],
    }]);
    assert_eq!(entries(&world, "id=tr-human").await, wanted);
}

#[tokio::test]
async fn s3_the_old_endpoint_sees_the_same_words_without_times() {
    let world = World::new();
    answer(&world, TRACK, &synced()).await;
    let lyrics = world
        .ask("getLyrics", "artist=BJORK&title=human%20behaviour")
        .await["lyrics"]
        .clone();
    assert_eq!(
        lyrics,
        json!({
            "artist": "Björk",
            "title": "Human Behaviour",
            "value": "If you ever get close to a human\n\n<3 you & me",
        })
    );
}

#[tokio::test]
async fn s5_hostile_words_come_out_as_they_are() {
    let world = World::new();
    let plain = Lyrics::of(Body::Plain(vec![HOSTILE.into(), String::new(), "b".into()]));
    answer(&world, HOSTILE_TRACK, &plain).await;
    let wanted = json!([{"value": SHOWN}, {"value": ""}, {"value": "b"}]);
    let entries = entries(&world, &format!("id={HOSTILE_TRACK}")).await;
    assert_eq!(entries[0]["line"], wanted);
    assert_eq!(entries[0]["synced"], false);
}

#[tokio::test]
async fn s6_words_have_times_only_where_they_are_asked_for() {
    let world = World::new();
    answer(&world, TRACK, &worded()).await;
    let old = entries(&world, "id=tr-human").await;
    let keys: Vec<&String> = old[0].as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "displayArtist",
            "displayTitle",
            "lang",
            "line",
            "offset",
            "synced"
        ]
    );
    assert_eq!(old[0]["lang"], "ja");
    assert_eq!(old[0]["offset"], -250);
    assert_eq!(old, entries(&world, "id=tr-human&enhanced=false").await);

    let mut new = entries(&world, "id=tr-human&enhanced=true").await;
    let cue_lines = json!([
        {"index": 0, "start": 1_000, "end": 2_000, "value": "夜に naïve", "agentId": "v1", "cue": [
            {"start": 1_000, "end": 1_400, "byteStart": 0, "byteEnd": 5, "value": "夜に"},
            {"start": 1_500, "end": 2_000, "byteStart": 7, "byteEnd": 11, "value": "naïv"},
        ]},
        {"index": 1, "start": 2_000, "value": "éa!", "agentId": "v2", "cue": [
            {"start": 2_000, "byteStart": 0, "byteEnd": 1, "value": "é"},
            {"start": 2_300, "byteStart": 2, "byteEnd": 3, "value": "a!"},
        ]},
    ]);
    assert_eq!(new[0]["cueLine"], cue_lines);
    assert_eq!(
        new[0]["agents"],
        json!([{"id": "v1", "role": "main"}, {"id": "v2", "role": "voice"}])
    );
    assert_eq!(new[0]["kind"], "main");
    let entry = new[0].as_object_mut().expect("an object");
    for added in ["kind", "agents", "cueLine"] {
        entry.remove(added);
    }
    assert_eq!(new, old, "the rest is that of version 1");
}

#[tokio::test]
async fn in_xml_a_line_is_text_a_cue_line_an_attribute_and_an_agent_an_element() {
    let world = World::new();
    answer(&world, TRACK, &worded()).await;
    let reply = world
        .get(&format!(
            "getLyricsBySongId?{ADMIN}&id=tr-human&enhanced=true"
        ))
        .await;
    let root = parse(&reply.body);
    let entry = &root.children[0].children[0];
    assert_eq!(entry.name, "structuredLyrics");
    let names: Vec<&str> = entry.children.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "line", "line", "line", "agent", "agent", "cueLine", "cueLine"
        ]
    );
    assert_eq!(entry.children[0].text, "夜に naïve");
    let cue_line = &entry.children[5];
    assert_eq!(cue_line.attributes["value"], "夜に naïve");
    assert_eq!(cue_line.children[0].text, "夜に");
    assert_eq!(cue_line.children[0].attributes["byteEnd"], "5");
}

#[tokio::test]
async fn lines_without_words_have_no_cues_and_no_agents() {
    let world = World::new();
    answer(&world, TRACK, &synced()).await;
    let new = entries(&world, "id=tr-human&enhanced=true").await;
    assert_eq!(new[0]["kind"], "main");
    assert!(new[0].get("cueLine").is_none() && new[0].get("agents").is_none());
}

#[tokio::test]
async fn a_translation_below_each_line_is_a_text_of_its_own_in_version_2() {
    let world = World::new();
    let doubled = ["夜", "海", "山", "川"].iter().enumerate();
    let doubled = doubled.flat_map(|(n, word)| {
        let at = 1_000 * n as u64;
        [line(at, "somebody sings"), line(at, word)]
    });
    answer(&world, TRACK, &Lyrics::of(Body::Synced(doubled.collect()))).await;
    let old = entries(&world, "id=tr-human").await;
    assert_eq!(old.as_array().map(Vec::len), Some(1));
    assert_eq!(old[0]["line"].as_array().map(Vec::len), Some(8));
    let new = entries(&world, "id=tr-human&enhanced=true").await;
    assert_eq!(new.as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&new[0]["kind"], &new[1]["kind"]),
        (&json!("main"), &json!("translation"))
    );
    assert_eq!(
        new[0]["line"][3],
        json!({"start": 3_000, "value": "somebody sings"})
    );
    assert_eq!(new[1]["line"][3], json!({"start": 3_000, "value": "川"}));
    assert_eq!(new[0]["displayTitle"], new[1]["displayTitle"]);
}

#[tokio::test]
async fn p3_nothing_to_sing_is_an_empty_answer() {
    let world = World::new();
    answer(&world, TRACK, &Lyrics::of(Body::Instrumental)).await;
    for query in ["id=tr-human", "id=tr-human&enhanced=true"] {
        assert_eq!(entries(&world, query).await, json!([]));
    }
    let query = "artist=Bj%C3%B6rk&title=Human%20Behaviour";
    assert_eq!(world.ask("getLyrics", query).await["lyrics"], json!({}));
}

#[tokio::test]
async fn what_nobody_knows_is_empty_and_ok() {
    let world = World::new();
    assert_eq!(entries(&world, "id=tr-human").await, json!([]));
    for query in [
        "",
        "artist=Bj%C3%B6rk",
        "artist=x&title=y",
        "artist=&title=",
    ] {
        assert_eq!(world.ask("getLyrics", query).await["lyrics"], json!({}));
    }
    assert_eq!(
        world
            .code("getLyricsBySongId", "id=tr-human&enhanced=maybe")
            .await,
        0
    );
}

#[tokio::test]
async fn a_played_track_without_lyrics_goes_to_the_head_of_the_queue() {
    let world = World::new();
    let tending = tokio::spawn(segue::wanted::tend(world.hub.clone()));
    for (endpoint, query, track) in [
        ("getLyricsBySongId", "id=tr-human", TRACK),
        ("scrobble", "id=tr-crying", "tr-crying"),
        ("scrobble", "id=tr-japan&submission=false", "tr-japan"),
        (
            "getLyrics",
            "artist=the%20queen&title=%22d%27a%22",
            "tr-queen",
        ),
    ] {
        world.ask(endpoint, query).await;
        world.hub.wanted().rung().await;
        let track = track.to_owned();
        let row = world.hub.read(move |r| r.work_of_track(&track)).await;
        let row = row.expect("a store").expect("it is in the queue");
        assert_eq!(
            (row.status, row.priority),
            (Status::Pending, Priority::PLAYED)
        );
    }
    tending.abort();
}

#[tokio::test]
async fn what_has_its_answer_is_not_asked_for_again() {
    let world = World::new();
    answer(&world, TRACK, &synced()).await;
    let raised = segue::wanted::raise(&world.hub, TRACK.into(), Priority::PLAYED).await;
    assert_eq!(raised, Ok(false));
    let row = world.hub.read(|r| r.work_of_track(TRACK)).await;
    assert_eq!(row.expect("a store").expect("a row").status, Status::Done);
}
