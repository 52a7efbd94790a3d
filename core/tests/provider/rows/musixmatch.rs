//! Musixmatch: the macro call, then the call for word times.

use super::{NotFound, Row, Shape, Side};
use crate::drive::{Sent, json};
use bytes::Bytes;
use http::Request;
use segue_core::dispatch::Quality;
use segue_core::lyrics::Song;
use segue_core::provider::musixmatch::{Musixmatch, Settings};
use segue_core::provider::{Lookup, MissReason};
use segue_core::source::subsonic::Secret;
use serde_json::{Value, json as value};

/// The token of the tests.
pub(crate) const TOKEN: &str = "a-token-of-ones-own";

pub(super) fn row() -> Row {
    Row {
        name: "musixmatch",
        lookup,
        hit,
        miss: |_| json(envelope(404, &value!([])).to_string()),
        quality: Quality::Word,
        reason: MissReason::NotFound,
        hollow: &[
            r#"{"message":{"header":{"status_code":200},"body":[]}}"#,
            r#"{"message":{"header":{"status_code":200},"body":""}}"#,
            r#"{"message":{"header":{"status_code":200},"body":{"macro_calls":[]}}}"#,
            r#"{"message":{"header":{"status_code":200},"body":{"macro_calls":{"matcher.track.get":{"message":
                {"header":{"status_code":200},"body":{"track":{"has_subtitles":1,"has_lyrics":1,"instrumental":1}}}}}}}}"#,
        ],
        most_requests: 2,
        not_found: NotFound::IsTrouble,
        shape: Shape::Document,
        side: Side::Server,
    }
}

pub(crate) fn lookup(song: &Song) -> Box<dyn Lookup> {
    let settings = Settings {
        token: Some(Secret::new(TOKEN)),
        ..Settings::default()
    };
    Musixmatch::new(settings).expect("configured").lookup(song)
}

/// A message with this status and body.
pub(crate) fn envelope(status: u16, body: &Value) -> Value {
    value!({"message": {"header": {"status_code": status}, "body": body}})
}

/// The macro's reply with these parts.
pub(crate) fn macro_reply(track: &Value, subtitles: &Value, lyrics: &Value) -> Value {
    let calls = value!({
        "matcher.track.get": envelope(200, &value!({"track": track})),
        "track.subtitles.get": envelope(200, subtitles),
        "track.lyrics.get": envelope(200, lyrics),
    });
    envelope(200, &value!({"macro_calls": calls}))
}

/// The track, with these flags besides.
pub(crate) fn track(flags: Value) -> Value {
    let mut track = value!({
        "track_name": "Lantern Hill", "artist_name": "The Paper Boats", "album_name": "Harbour Songs",
        "track_length": 201, "commontrack_id": 4711, "instrumental": 0, "has_lyrics": 0, "has_subtitles": 0,
    });
    if let (Some(track), Value::Object(flags)) = (track.as_object_mut(), flags) {
        track.extend(flags);
    }
    track
}

/// The body of the subtitles call: a JSON text within JSON.
pub(crate) fn subtitles(lines: &[(f64, &str)]) -> Value {
    let lines: Vec<Value> = lines
        .iter()
        .map(|(total, text)| value!({"text": text, "time": {"total": total, "minutes": 0, "seconds": 0, "hundredths": 0}}))
        .collect();
    let body = Value::Array(lines).to_string();
    value!({"subtitle_list": [{"subtitle": {"subtitle_body": body, "subtitle_language": "en"}}]})
}

/// Two words of one line.
pub(crate) fn richsync() -> Value {
    let line = value!([{"ts": 1.5, "te": 3.25, "x": "Boats of paper", "l": [
        {"c": "Boats", "o": 0.0}, {"c": " ", "o": 0.4}, {"c": "of", "o": 0.5}, {"c": " ", "o": 0.7},
        {"c": "paper", "o": 0.75},
    ]}]);
    envelope(
        200,
        &value!({"richsync": {"richsync_body": line.to_string()}}),
    )
}

fn hit(request: &Request<Bytes>) -> Sent {
    if request.uri().path().ends_with("track.richsync.get") {
        return json(richsync().to_string());
    }
    let track = track(value!({"has_subtitles": 1, "has_richsync": 1, "has_lyrics": 1}));
    let subtitles = subtitles(&[(1.5, "Boats of paper"), (4.0, "lamps of tin")]);
    json(macro_reply(&track, &subtitles, &value!([])).to_string())
}
