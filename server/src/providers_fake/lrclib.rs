//! LRCLIB as it was measured: its endpoints, its idea of equal names, its errors and its oddities.
//!
//! ```
//! use segue::providers_fake::lrclib::{Lrclib, Record};
//! let lrclib = Lrclib::new();
//! lrclib.publish(Record::new("Lantern Hill", "The Paper Boats", 201.0).synced("[00:12.50] Paper boats"));
//! let router = lrclib.router();
//! # let _ = router;
//! ```

use super::fold::fold;
use super::script::{Script, Seen, spoilt_answer};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far lengths may differ, in seconds, inclusive.
const TOLERANCE: f64 = 2.0;

/// The most records of one search.
const SEARCH_LIMIT: usize = 20;

/// What somebody has published.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    title: String,
    artist: String,
    album: String,
    seconds: f64,
    plain: Option<String>,
    synced: Option<String>,
    lyricsfile: Option<String>,
    instrumental: bool,
}

impl Record {
    /// A song without words. As it stands it is the hollow kind: known, no words, and not said to be instrumental.
    pub fn new(title: &str, artist: &str, seconds: f64) -> Self {
        Record {
            title: title.to_owned(),
            artist: artist.to_owned(),
            album: String::new(),
            seconds,
            plain: None,
            synced: None,
            lyricsfile: None,
            instrumental: false,
        }
    }

    /// On this album.
    pub fn album(mut self, album: &str) -> Self {
        self.album = album.to_owned();
        self
    }

    /// With plain words.
    pub fn plain(mut self, words: &str) -> Self {
        self.plain = Some(words.to_owned());
        self
    }

    /// With timed words.
    pub fn synced(mut self, words: &str) -> Self {
        self.synced = Some(words.to_owned());
        self
    }

    /// With a Lyricsfile, as newer servers add it.
    pub fn lyricsfile(mut self, text: &str) -> Self {
        self.lyricsfile = Some(text.to_owned());
        self
    }

    /// Said to be instrumental.
    pub fn instrumental(mut self) -> Self {
        self.instrumental = true;
        self
    }
}

/// The service. Cheap to clone; every clone is the same one.
#[derive(Clone, Default)]
pub struct Lrclib {
    script: Script,
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Default)]
struct Shelf {
    /// By id.
    records: BTreeMap<u64, Record>,
    /// Searches that were made, with what they found: kept for a day by the real one.
    searches: BTreeMap<String, Vec<u64>>,
    /// Whether lengths have to agree to the second, as production was seen to want.
    exact: bool,
}

impl Lrclib {
    /// A service that knows nothing.
    pub fn new() -> Self {
        Lrclib::default()
    }

    /// Its switches and its memory.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Publishes a record; gives its id. One of the same names and length is replaced, even by a worse one.
    pub fn publish(&self, mut record: Record) -> u64 {
        if record
            .synced
            .as_deref()
            .or(record.plain.as_deref())
            .is_some_and(says_instrumental)
        {
            (record.instrumental, record.plain, record.synced) = (true, None, None);
        }
        if let (None, Some(synced)) = (&record.plain, &record.synced) {
            record.plain = Some(derived_plain(synced));
        }
        let mut shelf = self.shelf();
        let same = shelf.records.iter().find(|(_, known)| {
            named(known) == named(&record) && (known.seconds - record.seconds).abs() <= TOLERANCE
        });
        let next = shelf.records.keys().next_back().map_or(1, |last| last + 1);
        let id = same.map_or(next, |(id, _)| *id);
        shelf.records.insert(id, record);
        id
    }

    /// From now on lengths have to agree to the second.
    pub fn insist_on_seconds(&self) {
        self.shelf().exact = true;
    }

    /// A day goes by: searches are made anew.
    pub fn forget_searches(&self) {
        self.shelf().searches.clear();
    }

    /// What serves it.
    pub fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone())
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(record: &Record) -> (String, String, String) {
    (
        fold(&record.title),
        fold(&record.artist),
        fold(&record.album),
    )
}

fn says_instrumental(words: &str) -> bool {
    let words = words.to_lowercase();
    words.contains("[au: instrumental]") || words.contains("[au:instrumental]")
}

/// The service's own plain words: only the first line loses its stamp.
fn derived_plain(synced: &str) -> String {
    match synced.split_once('\n') {
        Some((first, rest)) => format!("{}\n{rest}", without_stamp(first)),
        None => without_stamp(synced).to_owned(),
    }
}

fn without_stamp(line: &str) -> &str {
    line.split_once(']')
        .map_or(line, |(_, words)| words.trim_start())
}

async fn answer(
    State(service): State<Lrclib>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let pairs: Vec<(String, String)> = pairs.into_owned().collect();
    let twice = pairs.iter().enumerate().find(|(at, (name, _))| {
        let before = &pairs[..*at];
        before.iter().any(|(known, _)| known == name)
    });
    let repeated = twice.map(|(_, (name, _))| name.clone());
    let seen = Seen {
        method,
        path: uri.path().to_owned(),
        params: pairs.into_iter().collect(),
        headers,
    };
    let right = service.shelf().answer(&seen, repeated.as_deref());
    let fault = service.script.record(seen);
    spoilt_answer(right, fault).await
}

/// Status, type and body.
type Answer = (StatusCode, &'static str, String);

impl Shelf {
    fn answer(&mut self, seen: &Seen, repeated: Option<&str>) -> Answer {
        let path = seen.path.trim_end_matches('/');
        let id = path.strip_prefix("/api/get/");
        let known = matches!(path, "/api/get" | "/api/search") || id.is_some();
        if known && seen.method != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "");
        }
        match (path, id) {
            ("/api/get", _) => self.get(seen, repeated),
            ("/api/search", _) => self.search(seen),
            (_, Some(id)) => self.by_id(id),
            // `get-cached` among them: empty, unlike a song that is not known.
            (_, None) => text(StatusCode::NOT_FOUND, ""),
        }
    }

    fn get(&self, seen: &Seen, repeated: Option<&str>) -> Answer {
        let names = match Names::of(seen, repeated) {
            Ok(names) => names,
            Err(why) => {
                let why = format!("Failed to deserialize query string: {why}");
                return text(StatusCode::BAD_REQUEST, &why);
            }
        };
        for (name, value) in [("track_name", names.title), ("artist_name", names.artist)] {
            if value.is_empty() {
                return invalid(&format!("{name}: must not be empty"));
            }
        }
        if names
            .seconds
            .is_some_and(|seconds| !(1.0..=3600.0).contains(&seconds))
        {
            return invalid("duration: must be between 1 and 3600");
        }
        let asked = (fold(names.title), fold(names.artist), fold(names.album));
        if asked.0.is_empty() || asked.1.is_empty() {
            return not_found();
        }
        let fits = |record: &Record| {
            let (title, artist, album) = named(record);
            let near = names.seconds.is_none_or(|seconds| match self.exact {
                true => seconds.round() == record.seconds.round(),
                false => (seconds - record.seconds).abs() <= TOLERANCE,
            });
            (&title, &artist) == (&asked.0, &asked.1)
                && (asked.2.is_empty() || album == asked.2)
                && near
        };
        // The lowest id wins, not the best.
        match self.records.iter().find(|(_, record)| fits(record)) {
            Some((id, record)) => good(&shown(*id, record)),
            None => not_found(),
        }
    }

    fn by_id(&self, id: &str) -> Answer {
        match id.parse::<u64>().map(|id| (id, self.records.get(&id))) {
            Err(_) => text(
                StatusCode::BAD_REQUEST,
                "Invalid URL: Cannot parse `track_id`",
            ),
            Ok((id, Some(record))) => good(&shown(id, record)),
            Ok((_, None)) => not_found(),
        }
    }

    fn search(&mut self, seen: &Seen) -> Answer {
        let [any, title, artist, album] =
            ["q", "track_name", "artist_name", "album_name"].map(|name| words(seen.param(name)));
        let key = format!("{any:?}{title:?}{artist:?}{album:?}");
        let records = &self.records;
        let found = self.searches.entry(key).or_insert_with(|| {
            let fits = |record: &Record| {
                let (its_title, its_artist) = (words(&record.title), words(&record.artist));
                let its_album = words(&record.album);
                if !any.is_empty() {
                    let all = [its_title, its_artist, its_album].concat();
                    return any.iter().all(|word| all.contains(word));
                }
                !title.is_empty()
                    && has_phrase(&its_title, &title)
                    && has_phrase(&its_album, &album)
                    && artist.iter().all(|word| its_artist.contains(word))
            };
            let found = records.iter().filter(|(_, record)| fits(record));
            found.map(|(id, _)| *id).take(SEARCH_LIMIT).collect()
        });
        let list = found
            .iter()
            .filter_map(|id| Some(shown(*id, self.records.get(id)?)));
        good(&list.collect())
    }
}

/// Words as the search has them. Nothing breaks words of Chinese or Japanese.
fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    let words = folded.split(' ').filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Whether the words of `phrase` stand in `text`, one after another.
fn has_phrase(text: &[String], phrase: &[String]) -> bool {
    phrase.is_empty() || text.windows(phrase.len()).any(|window| window == phrase)
}

/// The parameters of `/api/get`.
struct Names<'a> {
    title: &'a str,
    artist: &'a str,
    album: &'a str,
    seconds: Option<f64>,
}

impl<'a> Names<'a> {
    fn of(seen: &'a Seen, repeated: Option<&str>) -> Result<Self, String> {
        if let Some(name) = repeated {
            return Err(format!("duplicate field `{name}`"));
        }
        let needed = |name: &str| {
            let value = seen.params.get(name).map(String::as_str);
            value.ok_or_else(|| format!("missing field `{name}`"))
        };
        let seconds = seen.params.get("duration").map(|text| text.parse::<f64>());
        Ok(Names {
            title: needed("track_name")?,
            artist: needed("artist_name")?,
            album: seen.param("album_name"),
            seconds: seconds
                .transpose()
                .map_err(|_| "invalid float literal".to_owned())?,
        })
    }
}

fn shown(id: u64, record: &Record) -> Value {
    let mut shown = json!({
        "id": id,
        "name": record.title,
        "trackName": record.title,
        "artistName": record.artist,
        "albumName": record.album,
        "duration": record.seconds,
        "instrumental": record.instrumental,
        "plainLyrics": record.plain,
        "syncedLyrics": record.synced,
    });
    if let Some(lyricsfile) = &record.lyricsfile {
        shown["lyricsfile"] = lyricsfile.as_str().into();
    }
    shown
}

fn good(value: &Value) -> Answer {
    (StatusCode::OK, "application/json", value.to_string())
}

fn text(status: StatusCode, body: &str) -> Answer {
    (status, "text/plain; charset=utf-8", body.to_owned())
}

fn failed(status: StatusCode, name: &str, message: &str) -> Answer {
    let body = json!({ "message": message, "name": name, "statusCode": status.as_u16() });
    (status, "application/json", body.to_string())
}

fn invalid(message: &str) -> Answer {
    failed(StatusCode::BAD_REQUEST, "ValidationError", message)
}

fn not_found() -> Answer {
    let message = "Failed to find specified track";
    failed(StatusCode::NOT_FOUND, "TrackNotFound", message)
}
