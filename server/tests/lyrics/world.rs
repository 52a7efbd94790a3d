//! A hub over one music folder, and services like LRCLIB that say what they are told to.

use axum::Json;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, StatusCode};
use segue::assemble::{Setup, assemble};
use segue::hub::{Hub, Settings};
use segue::lyrics::{self, LyricsSettings};
use segue::router::router;
use segue::sources::{LinkSpec, SourceSpec};
use segue::sync::{DropGuard, sync};
use segue::world::World;
use segue_core::dispatch::Mode;
use segue_core::driver::lyrics::Done;
use segue_core::io::Clock;
use segue_core::provider::{self, Kind};
use segue_sqlite::{NewUser, QueueRow, TrackLyrics};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::future::pending;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tower::ServiceExt;

pub(crate) const ARTIST: &str = "The Paper Boats";
pub(crate) const ALBUM: &str = "Rivers";
pub(crate) const SECONDS: u32 = 60;

/// What a service says of a song.
#[derive(Clone, Debug)]
pub(crate) enum Says {
    Synced(&'static str),
    Plain(&'static str),
    Instrumental,
    Nothing,
    Status(u16),
    SlowDown(u64),
    /// Nothing, ever.
    Silence,
}

#[derive(Default)]
struct Service {
    says: Mutex<BTreeMap<String, Says>>,
    log: Mutex<Vec<String>>,
    asked: Notify,
}

/// A service like LRCLIB, which knows what it is told.
#[derive(Clone)]
pub(crate) struct Fake {
    service: Arc<Service>,
    at: SocketAddr,
}

impl Fake {
    pub(crate) async fn start() -> Fake {
        let service = Arc::new(Service::default());
        let router = Router::new()
            .route("/api/get", get(one))
            .route("/api/search", get(search))
            .with_state(Arc::clone(&service));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let at = listener.local_addr().expect("bound");
        tokio::spawn(async move { axum::serve(listener, router).await });
        Fake { service, at }
    }

    /// What it says of a title from now on.
    pub(crate) fn says(&self, title: &str, says: Says) {
        self.service
            .says
            .lock()
            .expect("no panic")
            .insert(title.to_owned(), says);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    /// What it was asked: path and title.
    pub(crate) fn log(&self) -> Vec<String> {
        self.service.log.lock().expect("no panic").clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.log().len()
    }

    /// Ends when it is asked.
    pub(crate) async fn asked(&self) {
        self.service.asked.notified().await;
    }
}

type Params = Query<BTreeMap<String, String>>;

async fn one(state: State<Arc<Service>>, params: Params) -> Response {
    answer("get", state, params).await
}

async fn search(state: State<Arc<Service>>, params: Params) -> Response {
    answer("search", state, params).await
}

async fn answer(path: &str, State(service): State<Arc<Service>>, params: Params) -> Response {
    let title = params.get("track_name").cloned().unwrap_or_default();
    let entry = format!("{path} {title}");
    service.log.lock().expect("no panic").push(entry);
    service.asked.notify_one();
    let says = service.says.lock().expect("no panic").get(&title).cloned();
    let record = |plain: Option<&str>, synced: Option<&str>, instrumental: bool| {
        let artist = params.get("artist_name");
        let seconds = params.get("duration").and_then(|text| text.parse().ok());
        let record = json!({
            "id": 1, "trackName": title, "artistName": artist, "albumName": ALBUM,
            "duration": seconds.unwrap_or(SECONDS), "instrumental": instrumental,
            "plainLyrics": plain, "syncedLyrics": synced,
        });
        let body = if path == "get" {
            record
        } else {
            json!([record])
        };
        Json(body).into_response()
    };
    match says.unwrap_or(Says::Nothing) {
        Says::Synced(text) => record(None, Some(text), false),
        Says::Plain(text) => record(Some(text), None, false),
        Says::Instrumental => record(None, None, true),
        Says::Nothing if path == "get" => {
            let body = json!({ "message": "Failed to find specified track", "name": "TrackNotFound", "statusCode": 404 });
            (StatusCode::NOT_FOUND, Json(body)).into_response()
        }
        Says::Nothing => Json(Value::Array(Vec::new())).into_response(),
        Says::Status(status) => StatusCode::from_u16(status)
            .expect("a status")
            .into_response(),
        Says::SlowDown(seconds) => {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", seconds.into());
            (StatusCode::TOO_MANY_REQUESTS, headers).into_response()
        }
        Says::Silence => pending().await,
    }
}

/// A minute of sound, tagged.
pub(crate) fn wav(artist: &str, title: &str) -> Vec<u8> {
    wav_of(artist, title, SECONDS)
}

/// So many seconds of sound, tagged.
pub(crate) fn wav_of(artist: &str, title: &str, seconds: u32) -> Vec<u8> {
    let mut info = b"INFO".to_vec();
    for (key, value) in [(b"IART", artist), (b"IPRD", ALBUM), (b"INAM", title)] {
        let mut value = value.as_bytes().to_vec();
        value.push(0);
        info.extend(key);
        info.extend((value.len() as u32).to_le_bytes());
        value.resize(value.len().next_multiple_of(2), 0);
        info.extend(value);
    }
    const RATE: u32 = 1000;
    let samples: Vec<u8> = (0..seconds * RATE).map(|n| (n * 7) as u8).collect();
    let mut wav = b"RIFF\0\0\0\0WAVEfmt ".to_vec();
    wav.extend(16_u32.to_le_bytes());
    wav.extend([1, 0, 1, 0]);
    wav.extend(RATE.to_le_bytes());
    wav.extend(RATE.to_le_bytes());
    wav.extend([1, 0, 8, 0]);
    for (name, chunk) in [(b"LIST", &info), (b"data", &samples)] {
        wav.extend(name);
        wav.extend((chunk.len() as u32).to_le_bytes());
        wav.extend(chunk);
    }
    let riff = wav.len() as u32 - 8;
    wav[4..8].copy_from_slice(&riff.to_le_bytes());
    wav
}

/// A music folder and a data directory.
pub(crate) struct Home(TempDir);

impl Home {
    /// With a track per title.
    pub(crate) fn with(titles: &[&str]) -> Home {
        let home = Home(TempDir::new().expect("a folder"));
        fs::create_dir(home.music()).expect("made");
        for title in titles {
            home.put(&format!("{title}.wav"), &wav(ARTIST, title));
        }
        home
    }

    pub(crate) fn music(&self) -> PathBuf {
        self.0.path().join("music")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        fs::write(self.music().join(name), bytes).expect("written");
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.music().join(name)).expect("removed");
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.music().join(name)).ok()
    }

    /// Names of what lies in the folder beside the tracks.
    pub(crate) fn sidecars(&self) -> Vec<String> {
        let entries = fs::read_dir(self.music()).expect("a folder");
        let names = entries.map(|e| {
            e.expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        });
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".wav")).collect();
        names.sort();
        names
    }

    /// A hub that has read the folder and put its songs into the queue, with a lane for each of these services. It does
    /// nothing by itself: its worker is made to take each step.
    pub(crate) async fn hub(&self, lanes: &[(&str, &Fake)], mode: Mode) -> LyricsHub {
        let lane = |(name, fake): &(&str, &Fake)| provider::Settings {
            name: (*name).to_owned(),
            spacing: Duration::ZERO,
            timeout: Duration::from_secs(20),
            kind: Kind::Lrclib {
                base_url: fake.url().parse().expect("a URL"),
            },
        };
        let local = provider::Settings {
            name: "local".to_owned(),
            spacing: Duration::ZERO,
            timeout: Duration::from_secs(20),
            kind: Kind::Local,
        };
        let providers = std::iter::once(local).chain(lanes.iter().map(lane));
        let source = SourceSpec {
            id: "shelf".to_owned(),
            local: true,
            max_streams: 0,
            link: LinkSpec::Folder {
                root: self.music(),
                write_sidecars: true,
            },
        };
        let hub = assemble(Setup {
            data_dir: self.data(),
            sources: vec![source],
            settings: Settings {
                lyrics: LyricsSettings {
                    providers: providers.collect(),
                    mode,
                    ..LyricsSettings::default()
                },
                ..Settings::default()
            },
        })
        .await
        .expect("a hub");
        sync(hub.clone(), None, DropGuard::Refuse)
            .await
            .expect("synchronised");
        lyrics::enqueue_new(&hub).await.expect("put in");
        LyricsHub { hub }
    }
}

pub(crate) struct LyricsHub {
    pub(crate) hub: Hub<World>,
}

impl LyricsHub {
    /// One step of a worker that nobody stops.
    pub(crate) async fn step(&self) -> Done {
        let worker = lyrics::worker(&self.hub, 0);
        worker.step(pin!(pending())).await.expect("a step")
    }

    /// Steps until there is nothing to do now; how many.
    pub(crate) async fn work_off(&self) -> usize {
        for steps in 0..100 {
            if let Done::Idle(_) = self.step().await {
                let out = self.hub.lookups().lanes().bank().lock();
                assert_eq!(out.expect("no panic").outstanding(), 0, "B2");
                return steps;
            }
        }
        panic!("it never ends");
    }

    async fn track(&self, title: &str) -> String {
        let library = self.hub.read(|r| r.library()).await.expect("a library");
        let track = library.tracks.iter().find(|track| track.title == title);
        track.expect("in the library").id.clone()
    }

    /// A song's row.
    pub(crate) async fn row(&self, title: &str) -> QueueRow {
        let track = self.track(title).await;
        let row = self.hub.read(move |r| r.work_of_track(&track)).await;
        row.expect("read").expect("in the queue")
    }

    /// What is served for a song.
    pub(crate) async fn lyrics(&self, title: &str) -> Option<TrackLyrics> {
        let track = self.track(title).await;
        let lyrics = self.hub.read(move |r| r.lyrics_of_track(&track)).await;
        lyrics.expect("read")
    }

    /// Somebody wants a song now.
    pub(crate) async fn wants(&self, title: &str) {
        let (track, now) = (self.track(title).await, self.hub.clock().wall());
        let priority = segue_core::queue::Priority::ASKED;
        let rose = self
            .hub
            .write(move |w| w.prioritise_track(&track, priority, now));
        assert!(rose.await.expect("written"), "it rose");
    }

    /// What the hub answers to an admin on the same machine.
    pub(crate) async fn get(&self, path: &str) -> String {
        let ann = NewUser {
            name: "ann".to_owned(),
            password_enc: self.hub.passwords().seal("sesame").expect("sealed"),
            is_admin: true,
        };
        let now = self.hub.clock().wall();
        let added = self.hub.write(move |w| match w.reader().user("ann")? {
            Some(_) => Ok(0),
            None => w.add_user(&ann, now),
        });
        added.await.expect("a user");
        let request = http::Request::get(path)
            .header("authorization", "Basic YW5uOnNlc2FtZQ==")
            .extension(SocketAddr::from(([127, 0, 0, 1], 1)))
            .body(axum::body::Body::empty())
            .expect("a request");
        let answer = router(self.hub.clone()).oneshot(request).await;
        let body = answer.expect("an answer").into_body();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.expect("whole");
        String::from_utf8(bytes.into()).expect("text")
    }

    /// The hub's process ends in an orderly way.
    pub(crate) async fn close(self) {
        self.hub.runtime().close().await;
    }
}
