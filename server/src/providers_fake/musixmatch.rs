//! Musixmatch's macro call and its call for word times, as its own players see them.

use super::script::{Script, Seen, spoilt};
use super::{Tune, WORD_MS, Words, paced};
use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What it does besides answering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mood {
    /// It answers.
    #[default]
    Well,
    /// A status and a hint within a 200, such as 401 and `captcha`.
    Inner(u16, String),
    /// Announces subtitles and sends none.
    Hollow,
    /// Sends one made-up song for every question.
    Decoy,
}

/// The fake. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Fake(Arc<Inside>);

#[derive(Debug)]
struct Inside {
    token: String,
    tunes: Mutex<Vec<Tune>>,
    script: Script,
    mood: Mutex<Mood>,
}

impl Fake {
    /// Answers to `token` alone, and has `tunes`.
    #[must_use]
    pub fn new(token: &str, tunes: Vec<Tune>) -> Self {
        Fake(Arc::new(Inside {
            token: token.to_owned(),
            tunes: Mutex::new(tunes),
            script: Script::default(),
            mood: Mutex::default(),
        }))
    }

    /// Its switches and its memory.
    #[must_use]
    pub fn script(&self) -> &Script {
        &self.0.script
    }

    /// It has this of a song from now on.
    pub fn learn(&self, tune: Tune) {
        let mut tunes = self.tunes();
        match tunes.iter_mut().find(|t| t.is(&tune.artist, &tune.title)) {
            Some(known) => *known = tune,
            None => tunes.push(tune),
        }
    }

    fn tunes(&self) -> MutexGuard<'_, Vec<Tune>> {
        self.0.tunes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what it does besides.
    pub fn set_mood(&self, mood: Mood) {
        *self.0.mood.lock().unwrap_or_else(PoisonError::into_inner) = mood;
    }

    /// What serves it.
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    fn right(&self, seen: &Seen) -> Value {
        if seen.param("usertoken") != self.0.token {
            return refusal(401, "renew");
        }
        let mood = self
            .0
            .mood
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        match (mood, seen.path.rsplit('/').next()) {
            (Mood::Inner(status, hint), _) => refusal(status, &hint),
            (Mood::Decoy, Some("macro.subtitles.get")) => decoy(),
            (mood, Some("macro.subtitles.get")) => self.macro_reply(seen, mood == Mood::Hollow),
            (_, Some("track.richsync.get")) => self.richsync(seen),
            (_, Some(_) | None) => refusal(404, ""),
        }
    }

    fn macro_reply(&self, seen: &Seen, hollow: bool) -> Value {
        let (artist, title) = (seen.param("q_artist"), seen.param("q_track"));
        let tunes = self.tunes();
        let found = tunes
            .iter()
            .enumerate()
            .find(|(_, tune)| tune.is(artist, title));
        let Some((index, tune)) = found else {
            let calls = json!({"matcher.track.get": message(404, &json!([]))});
            return message(200, &json!({"macro_calls": calls}));
        };
        let lines = match &tune.words {
            Words::ByWord(lines) | Words::ByLine(lines) => Some(lines),
            Words::Plain(_)
            | Words::Instrumental
            | Words::Restricted
            | Words::Protected(_)
            | Words::Nothing => None,
        };
        let restricted = u8::from(matches!(
            tune.words,
            Words::Restricted | Words::Protected(_)
        ));
        let plain = match &tune.words {
            Words::Plain(text) => Some(text.as_str()),
            Words::Restricted | Words::Protected(_) => Some(""),
            Words::ByWord(_) | Words::ByLine(_) | Words::Instrumental | Words::Nothing => None,
        };
        let track = json!({
            "track_name": tune.title, "artist_name": tune.artist, "album_name": "",
            "track_length": tune.seconds, "commontrack_id": index + 1,
            "has_lyrics": u8::from(plain.is_some()), "has_subtitles": u8::from(lines.is_some()),
            "has_richsync": u8::from(matches!(tune.words, Words::ByWord(_))),
            "instrumental": u8::from(tune.words == Words::Instrumental),
        });
        // What is empty is a list, not an object.
        let subtitles = match lines.filter(|_| !hollow) {
            Some(lines) => subtitles(lines.iter().map(|(start, text)| (*start, text.as_str()))),
            None => json!([]),
        };
        let lyrics = match plain {
            Some(text) => json!({"lyrics": {"lyrics_body": text, "restricted": restricted}}),
            None => json!([]),
        };
        macro_calls(&track, &subtitles, &lyrics)
    }

    fn richsync(&self, seen: &Seen) -> Value {
        let index: Option<usize> = seen.param("commontrack_id").parse().ok();
        let tunes = self.tunes();
        let tune = index.and_then(|index| tunes.get(index.checked_sub(1)?));
        let Some(Words::ByWord(lines)) = tune.map(|tune| &tune.words) else {
            return message(404, &json!([]));
        };
        let seconds = |millis: u64| millis as f64 / 1000.0;
        let lines = lines.iter().map(|(start, text)| {
            let words: Vec<(u64, &str)> = paced(text).collect();
            let end = start + WORD_MS * words.len() as u64;
            let mut pieces = Vec::new();
            for (at, word) in words {
                pieces.push(json!({"c": word, "o": seconds(at)}));
                pieces.push(json!({"c": " ", "o": seconds(at + WORD_MS - 50)}));
            }
            json!({"ts": seconds(*start), "te": seconds(end), "l": pieces, "x": text})
        });
        let body = Value::Array(lines.collect()).to_string();
        message(200, &json!({"richsync": {"richsync_body": body}}))
    }
}

async fn answer(
    State(fake): State<Fake>,
    method: Method,
    uri: Uri,
    Query(params): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
) -> Response<Body> {
    let seen = Seen {
        method,
        path: uri.path().to_owned(),
        params,
        headers,
    };
    let right = fake.right(&seen).to_string();
    let fault = fake.script().record(seen);
    spoilt(right, "application/json", fault).await
}

fn message(status: u16, body: &Value) -> Value {
    json!({"message": {"header": {"status_code": status, "execute_time": 0.01}, "body": body}})
}

fn refusal(status: u16, hint: &str) -> Value {
    json!({"message": {"header": {"status_code": status, "hint": hint}, "body": []}})
}

fn macro_calls(track: &Value, subtitles: &Value, lyrics: &Value) -> Value {
    let calls = json!({
        "matcher.track.get": message(200, &json!({"track": track})),
        "track.subtitles.get": message(200, subtitles),
        "track.lyrics.get": message(200, lyrics),
    });
    message(200, &json!({"macro_calls": calls}))
}

/// JSON as a text within JSON.
fn subtitles<'a>(lines: impl Iterator<Item = (u64, &'a str)>) -> Value {
    let lines = lines.map(|(start, text)| {
        json!({"text": text, "time": {
            "total": start as f64 / 1000.0, "minutes": start / 60_000, "seconds": start / 1000 % 60,
            "hundredths": start / 10 % 100,
        }})
    });
    let body = Value::Array(lines.collect()).to_string();
    json!({"subtitle_list": [{"subtitle": {"subtitle_body": body, "subtitle_language": "en"}}]})
}

fn decoy() -> Value {
    let track = json!({
        "track_name": "Somewhere Else", "artist_name": "Nobody Asked", "album_name": "Decoys",
        "track_length": null, "commontrack_id": 1, "has_lyrics": 1, "has_subtitles": 1,
    });
    let lines = (0..206).map(|at| (at * 4050, "tin tan ton"));
    macro_calls(&track, &subtitles(lines), &json!([]))
}
