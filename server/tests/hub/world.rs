//! A real hub on loopback, with fake upstreams that fail on command: what the black-box tests stand on.

use bytes::Bytes;
use http_body_util::BodyExt;
use segue::assemble::{Setup, assemble};
use segue::hub::{Hub, Settings};
use segue::router::router;
use segue::sources::{LinkSpec, SourceSpec};
use segue::sync::{DropGuard, SyncReport, sync};
use segue::upstream::{self, Audio, Fault, Group, Library, Upstream};
use segue::world::World;
use segue_core::failover::Limits;
use segue_core::io::{Accepted, Clock, NetError, Network};
use segue_core::source::subsonic::{Credentials, Endpoint, Secret};
use segue_runtime_tokio::net::{Body, TokioNetwork};
use segue_runtime_tokio::serve;
use segue_sqlite::NewUser;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Who the tests log in as.
pub(crate) const AUTH: &str = "u=ann&p=sesame&v=1.16.1&c=test";

/// A hub that runs until it is dropped.
pub(crate) struct TestHub {
    pub(crate) hub: Hub<World>,
    pub(crate) address: SocketAddr,
    client: TokioNetwork,
    dir: TempDir,
    running: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
    /// How the body ended when not cleanly.
    pub(crate) broken: Option<NetError>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|v| v.to_str().ok()).unwrap_or("")
    }

    /// Seconds.
    pub(crate) fn retry_after(&self) -> u64 {
        self.header("retry-after").parse().expect("a number")
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

/// Budgets short enough for tests that wait for them, long enough for a loaded machine.
pub(crate) fn quick() -> Limits {
    Limits {
        connect: Duration::from_secs(1),
        head: Duration::from_secs(1),
        first_byte: Duration::from_secs(1),
        open_budget: Duration::from_secs(10),
        idle: Duration::from_secs(1),
        ..Limits::default()
    }
}

/// As [`quick`], but a source that failed may be probed again at once.
pub(crate) fn forgiving() -> Limits {
    Limits {
        suspect: Duration::ZERO,
        ..quick()
    }
}

/// One album of one artist on an upstream of that name.
pub(crate) async fn upstream(name: &str, library: Library) -> Upstream {
    let setup = upstream::Setup::new(name, library);
    Upstream::start(setup).await.expect("a free port")
}

/// How a hub reaches an upstream.
pub(crate) fn source(id: &str, upstream: &Upstream) -> SourceSpec {
    let setup = upstream.shared().setup();
    let password = Secret::new(setup.password.clone());
    let credentials = Credentials::password(setup.username.clone(), password);
    let url = url::Url::parse(&upstream.url()).expect("a URL");
    SourceSpec {
        id: id.to_owned(),
        local: false,
        max_streams: 0,
        link: LinkSpec::Subsonic {
            endpoint: Endpoint::new(&url, credentials).expect("an endpoint"),
            auth: None,
        },
    }
}

/// How a hub reaches a folder.
pub(crate) fn folder(id: &str, root: &Path) -> SourceSpec {
    SourceSpec {
        id: id.to_owned(),
        local: true,
        max_streams: 0,
        link: LinkSpec::Folder {
            root: root.to_owned(),
            write_sidecars: false,
        },
    }
}

/// The song that a [`Pair`] has twice, and one more of the same album.
pub(crate) const SONG: &str = "Hunter";
pub(crate) const OTHER: &str = "Jóga";

/// One album on two upstreams, as FLAC on `first` and as MP3 on `second`: `first` ranks before.
pub(crate) struct Pair {
    pub(crate) first: Upstream,
    pub(crate) second: Upstream,
    pub(crate) hub: TestHub,
    /// What the hub calls [`SONG`].
    pub(crate) id: String,
}

/// The album of a [`Pair`] in one format.
pub(crate) fn album(suffix: &str, bit_rate: u32, bytes: u64) -> Library {
    let library = Library::of_one_album("Björk", "Homogenic", &[SONG, OTHER, "Bachelorette"]);
    library.each_track(|track| *track = track.clone().format(suffix, bit_rate).size(bytes))
}

impl Pair {
    pub(crate) async fn start() -> Pair {
        Self::with(quick()).await
    }

    pub(crate) async fn with(limits: Limits) -> Pair {
        let (better, lesser) = (album("flac", 900, 300_000), album("mp3", 128, 200_000));
        Self::of(better, lesser, limits).await
    }

    /// Two copies equal to the byte.
    pub(crate) async fn twins(limits: Limits) -> Pair {
        let same = album("flac", 900, 300_000)
            .each_track(|track| track.audio = Audio::Labelled(track.title.clone()));
        Self::of(same.clone(), same, limits).await
    }

    pub(crate) async fn of(first: Library, second: Library, limits: Limits) -> Pair {
        let first = upstream("first", first).await;
        let second = upstream("second", second).await;
        let sources = vec![source("one", &first), source("two", &second)];
        let hub = TestHub::start_with(sources, limits).await;
        let id = hub.id_of(SONG).await;
        Pair {
            first,
            second,
            hub,
            id,
        }
    }

    /// From now on media requests to `first` fail this way.
    pub(crate) fn fail_first(&self, fault: Fault) {
        self.first.faults().set(Group::Media, fault);
    }

    /// A plain stream of [`SONG`].
    pub(crate) async fn stream(&self) -> Reply {
        self.hub.stream(&self.id).await
    }

    /// A stream of [`SONG`] with these parameters and headers.
    pub(crate) async fn stream_with(&self, params: &str, headers: &[(&str, &str)]) -> Reply {
        let target = self.hub.stream_target(&self.id, params);
        self.hub.ask("GET", &target, headers).await
    }

    pub(crate) fn first_bytes(&self) -> Bytes {
        self.first.shared().bytes_of(SONG)
    }

    pub(crate) fn second_bytes(&self) -> Bytes {
        self.second.shared().bytes_of(SONG)
    }
}

impl TestHub {
    /// A hub over these sources, synchronised, with the user of [`AUTH`] as its admin.
    pub(crate) async fn start(sources: Vec<SourceSpec>) -> TestHub {
        Self::start_with(sources, quick()).await
    }

    pub(crate) async fn start_with(sources: Vec<SourceSpec>, limits: Limits) -> TestHub {
        let dir = TempDir::new().expect("a folder");
        let test = Self::start_in(dir, sources, limits).await;
        let report = test.sync().await;
        let whole = report.sources.iter().all(|source| source.complete);
        assert!(whole && report.skipped.is_empty(), "{report:?}");
        test
    }

    /// A hub on an existing data directory, not synchronised. Nothing runs beside it but its activity, so that
    /// a test sees only the syncs it asks for.
    pub(crate) async fn start_in(
        dir: TempDir,
        sources: Vec<SourceSpec>,
        limits: Limits,
    ) -> TestHub {
        let setup = Setup {
            data_dir: dir.path().to_owned(),
            sources,
            settings: Settings {
                limits,
                sync_interval: Duration::ZERO,
                ..Settings::default()
            },
        };
        let hub = assemble(setup).await.expect("a hub");
        let ann = NewUser {
            name: "ann".to_owned(),
            password_enc: hub.passwords().seal("sesame").expect("sealed"),
            is_admin: true,
        };
        let now = hub.clock().wall();
        let added = hub.write(move |w| match w.reader().user("ann")? {
            Some(_) => Ok(0),
            None => w.add_user(&ann, now),
        });
        added.await.expect("a user");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("its address");
        let (running, stopped) = oneshot::channel::<()>();
        let tending = hub.clone();
        tokio::spawn(async move { tending.tend_activity().await });
        let served = router(hub.clone());
        let closing = hub.clone();
        let ended = tokio::spawn(async move {
            let stop = async {
                let _ = stopped.await;
            };
            serve::serve(listener, served, stop).await.expect("served");
            closing.runtime().close().await;
        });
        TestHub {
            hub,
            address,
            client: TokioNetwork::new(),
            dir,
            running,
            ended,
        }
    }

    /// Ends it; what it has stored is in the folder.
    pub(crate) async fn stop(self) -> TempDir {
        drop((self.running, self.client));
        self.ended.await.expect("ended");
        self.dir
    }

    /// Pulls and merges now.
    pub(crate) async fn sync(&self) -> SyncReport {
        let synced = sync(self.hub.clone(), None, DropGuard::Refuse).await;
        synced.expect("synchronised")
    }

    /// The head and the body to be read.
    pub(crate) async fn open(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
    ) -> http::Response<Body> {
        self.send(method, target, headers, Bytes::new()).await
    }

    async fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> http::Response<Body> {
        let uri = format!("http://{}{target}", self.address);
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).expect("a request");
        let sent = self.client.send(request, Accepted::default()).await;
        sent.expect("an answer")
    }

    /// As [`Self::ask`] and [`Self::post`], of more than a server reads: it may close before its answer is heard.
    pub(crate) async fn overload(&self, target: &str, form: String) -> Option<Reply> {
        let uri = format!("http://{}{target}", self.address);
        let request = http::Request::post(uri).body(form.into());
        let request = request.expect("a request");
        match self.client.send(request, Accepted::default()).await {
            Ok(response) => Some(gather(response).await),
            Err(NetError::Reset | NetError::Truncated) => None,
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) async fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Reply {
        gather(self.open(method, target, headers).await).await
    }

    pub(crate) async fn post(&self, target: &str, form: String) -> Reply {
        let form_type = [("content-type", "application/x-www-form-urlencoded")];
        gather(self.send("POST", target, &form_type, form.into()).await).await
    }

    /// A body for `/api/v1`.
    pub(crate) async fn tell(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        let target = format!("/api/v1/{path}");
        gather(self.send(method, &target, headers, body.into()).await).await
    }

    pub(crate) async fn get(&self, target: &str) -> Reply {
        self.ask("GET", target, &[]).await
    }

    /// The inside of a JSON envelope.
    pub(crate) async fn rest(&self, endpoint: &str, params: &str) -> Value {
        let target = format!("/rest/{endpoint}?{AUTH}&f=json&{params}");
        let mut reply = self.get(&target).await.json();
        reply["subsonic-response"].take()
    }

    /// The id of the song of that title.
    pub(crate) async fn id_of(&self, title: &str) -> String {
        let quoted = title.replace(' ', "%20");
        let found = self.rest("search3", &format!("query={quoted}")).await;
        let songs = found["searchResult3"]["song"].as_array().expect("songs");
        let song = songs.iter().find(|song| song["title"] == title);
        let id = song.unwrap_or_else(|| panic!("no {title:?} in {found}"))["id"].as_str();
        id.expect("an id").to_owned()
    }

    pub(crate) fn stream_target(&self, id: &str, params: &str) -> String {
        format!("/rest/stream?{AUTH}&id={id}&{params}")
    }

    pub(crate) async fn stream(&self, id: &str) -> Reply {
        self.get(&self.stream_target(id, "")).await
    }

    /// What `/api/v1` says.
    pub(crate) async fn api(&self, path: &str) -> Value {
        let reply = self.call_api("GET", path).await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }

    pub(crate) async fn call_api(&self, method: &str, path: &str) -> Reply {
        // ann:sesame
        let auth = [("authorization", "Basic YW5uOnNlc2FtZQ==")];
        self.ask(method, &format!("/api/v1/{path}"), &auth).await
    }

    /// What the API says of the breaker of a source.
    pub(crate) async fn state_of(&self, source: &str) -> String {
        self.shown(source).await["state"]
            .as_str()
            .expect("a word")
            .to_owned()
    }

    /// What the API says of a source.
    pub(crate) async fn shown(&self, source: &str) -> Value {
        let answer = self.api("sources").await;
        let sources = answer["sources"].as_array().expect("a list");
        let shown = sources.iter().find(|shown| shown["id"] == source);
        shown.unwrap_or_else(|| panic!("no {source}")).clone()
    }

    /// The newest row of `stream_operations`.
    pub(crate) async fn last_row(&self) -> Value {
        let rows = self.activity().await;
        rows.into_iter().next().expect("a row")
    }

    /// Nothing plays and nothing is left behind (F5).
    pub(crate) async fn assert_at_rest(&self) {
        let active = self.api("activity/active").await;
        assert_eq!(active["operations"], Value::Array(Vec::new()));
        assert_eq!(self.hub.activity().active_count(), 0, "F5");
        let bank = self.hub.bank().lock().expect("not poisoned");
        assert_eq!(bank.outstanding(), 0, "F5: permits are out");
    }

    /// The newest rows of `stream_operations`.
    pub(crate) async fn activity(&self) -> Vec<Value> {
        let answer = self.api("activity?limit=100").await;
        answer["operations"].as_array().expect("a list").clone()
    }
}

async fn gather(response: http::Response<Body>) -> Reply {
    let (parts, mut body) = response.into_parts();
    let mut gathered = Vec::new();
    let mut broken = None;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => gathered.extend(frame.into_data().unwrap_or_default()),
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
    }
    Reply {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: gathered.into(),
        broken,
    }
}

/// `(source, outcome)` of each attempt of a row.
pub(crate) fn attempts(row: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let attempts = row["attempts"].as_array().expect("a list").iter();
    attempts
        .map(|a| (text(&a["source_id"]), text(&a["outcome"])))
        .collect()
}

/// Bytes of all attempts of a row together.
pub(crate) fn attempt_bytes(row: &Value) -> u64 {
    let attempts = row["attempts"].as_array().expect("a list").iter();
    attempts.map(|a| a["bytes"].as_u64().expect("bytes")).sum()
}

/// Nothing an upstream said of its own troubles reaches a client (F1).
pub(crate) fn assert_no_leak(reply: &Reply) {
    let said = format!("{:?} {}", reply.headers, reply.text());
    assert!(!said.contains(Fault::LEAK), "{said}");
}

/// As [`attempts`], to compare with.
pub(crate) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
        .collect()
}
