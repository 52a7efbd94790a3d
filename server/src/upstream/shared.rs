//! What all connections of one upstream share: its library, its switches and its counters.

use super::auth::AuthMode;
use super::faults::{Door, Fault, Faults, Group, Switches};
use super::library::{Library, Track};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Requests kept for [`Shared::seen`].
const LOG: usize = 10_000;

/// What kind of server the upstream plays.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Names the upstream in its bytes and covers.
    pub name: String,
    /// What it has.
    pub library: Library,
    /// The only user.
    pub username: String,
    /// Its password.
    pub password: String,
    /// The key that [`AuthMode::ApiKey`] asks for.
    pub api_key: String,
    /// How users prove themselves.
    pub auth: AuthMode,
    /// Where the API lives below the root, for instance `/music`; empty for none.
    pub prefix: String,
    /// What it does differently from the book.
    pub quirks: Quirks,
}

impl Setup {
    /// A well-behaved server; user `alice`, password `sesame`.
    pub fn new(name: &str, library: Library) -> Self {
        Setup {
            name: name.to_owned(),
            library,
            username: "alice".to_owned(),
            password: "sesame".to_owned(),
            api_key: "key-of-alice".to_owned(),
            auth: AuthMode::Token,
            prefix: String::new(),
            quirks: Quirks::default(),
        }
    }
}

/// Ways in which real servers differ from the book without being broken.
#[derive(Clone, Debug, Default)]
pub struct Quirks {
    /// Which answer formats it can write.
    pub answers: Answers,
    /// Ids are JSON numbers.
    pub numeric_ids: bool,
    /// `getAlbumList2` answers its first page whatever `offset` says.
    pub ignores_offset: bool,
    /// `bitRate` in bits per second.
    pub bit_rate_in_bits: bool,
    /// Absent fields are written as null.
    pub null_fields: bool,
    /// A list of one is written as the bare object.
    pub bare_single: bool,
    /// `search3` with an empty query finds nothing.
    pub no_empty_search: bool,
    /// Raw media carry a strong ETag, equal for equal bytes.
    pub etag: bool,
    /// Ranges are ignored.
    pub no_ranges: bool,
    /// `type`, `serverVersion` and `openSubsonic` are left out.
    pub classic: bool,
    /// How it can be asked for lyrics.
    pub lyrics: LyricsMethods,
}

/// Answer formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// XML, and JSON with `f=json`.
    #[default]
    Both,
    /// XML whatever `f` says.
    XmlOnly,
    /// JSON whatever `f` says.
    JsonOnly,
}

/// How a server can be asked for lyrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LyricsMethods {
    /// Not at all: the methods are not known.
    #[default]
    Unknown,
    /// `getLyrics`.
    ByName,
    /// That, and `getLyricsBySongId` with times of lines.
    ById,
    /// The same with `enhanced=true`: times of words.
    Enhanced,
}

/// What has happened so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections accepted.
    pub connections: u64,
    /// Connections that stand now.
    pub open_connections: u64,
    /// Requests, by endpoint.
    pub requests: BTreeMap<String, u64>,
    /// Requests for `stream` and `download` other than HEAD.
    pub streams: u64,
    /// Media requests being answered now.
    pub open_streams: u64,
    /// Body bytes of media handed to the connection.
    pub bytes: u64,
    /// Requests whose answer the other side did not wait for.
    pub aborted: u64,
}

impl Counters {
    /// Requests of one endpoint.
    pub fn of(&self, endpoint: &str) -> u64 {
        self.requests.get(endpoint).copied().unwrap_or(0)
    }

    /// Requests of all endpoints.
    pub fn all_requests(&self) -> u64 {
        self.requests.values().sum()
    }
}

/// A request as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// GET, HEAD or POST.
    pub method: http::Method,
    /// The endpoint, without `.view`.
    pub endpoint: String,
    /// Query and form parameters in order.
    pub params: Vec<(String, String)>,
    /// All headers.
    pub headers: http::HeaderMap,
}

impl Seen {
    /// The first parameter of this name.
    pub fn param(&self, name: &str) -> Option<&str> {
        let mut params = self.params.iter();
        params
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The state of one upstream. Cheap to clone; every clone is the same upstream.
#[derive(Clone)]
pub struct Shared(Arc<Inner>);

struct Inner {
    setup: Setup,
    library: Mutex<Arc<Library>>,
    switches: Mutex<Switches>,
    seen: Mutex<VecDeque<Seen>>,
    counters: watch::Sender<Counters>,
    released: watch::Sender<u64>,
    cut: watch::Sender<u64>,
    door: watch::Sender<(u64, Door)>,
    door_now: watch::Sender<Option<u64>>,
}

impl Shared {
    /// An upstream that nobody is connected to yet.
    pub fn new(mut setup: Setup) -> Self {
        let mut library = std::mem::take(&mut setup.library);
        library.number(setup.quirks.numeric_ids);
        Shared(Arc::new(Inner {
            setup,
            library: Mutex::new(Arc::new(library)),
            switches: Mutex::default(),
            seen: Mutex::default(),
            counters: watch::Sender::default(),
            released: watch::Sender::default(),
            cut: watch::Sender::default(),
            door: watch::Sender::default(),
            door_now: watch::Sender::default(),
        }))
    }

    /// How it was set up; the library aside.
    pub fn setup(&self) -> &Setup {
        &self.0.setup
    }

    /// What it has now.
    pub fn library(&self) -> Arc<Library> {
        lock(&self.0.library).clone()
    }

    /// Changes what it has.
    pub fn set_library(&self, mut library: Library) {
        library.number(self.0.setup.quirks.numeric_ids);
        *lock(&self.0.library) = Arc::new(library);
    }

    /// The track with this title.
    ///
    /// # Panics
    /// When there is none.
    pub fn track(&self, title: &str) -> Track {
        let library = self.library();
        let track = library.titled(title);
        track
            .unwrap_or_else(|| panic!("no track called {title:?}"))
            .clone()
    }

    /// The original bytes of the track with this title.
    pub fn bytes_of(&self, title: &str) -> bytes::Bytes {
        self.track(title).content(&self.0.setup.name).all()
    }

    /// The switches.
    pub fn faults(&self) -> Faults {
        Faults(self.clone())
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        self.0.counters.borrow().clone()
    }

    /// Waits until the counters satisfy `enough`; at once if they do.
    pub async fn until(&self, mut enough: impl FnMut(&Counters) -> bool) -> Counters {
        let mut counters = self.0.counters.subscribe();
        match counters.wait_for(|counters| enough(counters)).await {
            Ok(counters) => counters.clone(),
            Err(_) => unreachable!("the sender lives as long as `self`"),
        }
    }

    /// The last requests, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.0.seen).iter().cloned().collect()
    }

    /// The last request for this endpoint.
    pub fn last_seen(&self, endpoint: &str) -> Option<Seen> {
        let seen = lock(&self.0.seen);
        seen.iter()
            .rev()
            .find(|seen| seen.endpoint == endpoint)
            .cloned()
    }

    pub(super) fn record(&self, seen: Seen) {
        self.count(|counters| {
            *counters.requests.entry(seen.endpoint.clone()).or_default() += 1;
        });
        let mut log = lock(&self.0.seen);
        if log.len() == LOG {
            log.pop_front();
        }
        log.push_back(seen);
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counters)) {
        self.0.counters.send_modify(change);
    }

    pub(super) fn switches<T>(&self, change: impl FnOnce(&mut Switches) -> T) -> T {
        change(&mut lock(&self.0.switches))
    }

    pub(super) fn fault(&self, group: Group, id: Option<&str>) -> Option<Fault> {
        self.switches(|switches| switches.take(group, id))
    }

    pub(super) fn release(&self) {
        self.0.released.send_modify(|epoch| *epoch += 1);
    }

    /// Ends at the next [`Faults::release`].
    pub(super) fn released(&self) -> impl Future<Output = ()> + Send + 'static {
        next(self.0.released.subscribe())
    }

    pub(super) fn cut_connections(&self) {
        self.0.cut.send_modify(|epoch| *epoch += 1);
    }

    /// How often all connections were cut.
    pub(super) fn cuts(&self) -> u64 {
        *self.0.cut.borrow()
    }

    /// Ends at the next [`Faults::cut_connections`].
    pub(super) fn cut(&self) -> impl Future<Output = ()> + Send + 'static {
        next(self.0.cut.subscribe())
    }

    /// What the listener should do, each change with a number of its own.
    pub(super) fn door(&self) -> watch::Receiver<(u64, Door)> {
        self.0.door.subscribe()
    }

    /// The listener has done what change number `number` asked for.
    pub(super) fn door_moved(&self, number: u64) {
        self.0.door_now.send_replace(Some(number));
    }

    pub(super) async fn move_door(&self, door: Door) {
        let mut now = self.0.door_now.subscribe();
        assert!(now.borrow().is_some(), "nobody listens for this upstream");
        let mut number = 0;
        self.0.door.send_modify(|wanted| {
            number = wanted.0 + 1;
            *wanted = (number, door);
        });
        let moved = now
            .wait_for(|now| now.is_some_and(|now| now >= number))
            .await;
        drop(moved);
    }
}

async fn next(mut epoch: watch::Receiver<u64>) {
    // An upstream that is gone releases nobody: its connections end for another reason.
    if epoch.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
