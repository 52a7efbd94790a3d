//! What all requests of one hub share: the runtime, the sources with their breakers, and the ports to
//! whatever only one of the two worlds has.

use crate::activity::Activity;
use crate::config::Addresses;
use crate::lyrics::{Lookups, LyricsSettings};
use crate::metrics::Metrics;
use crate::now_playing::NowPlaying;
use crate::rest::throttle::Throttle;
use crate::sources::{SourceSpec, Sources};
use crate::stream::served::LastServed;
use crate::sync::SyncState;
use crate::wanted::Wanted;
use bytes::Bytes;
use segue_core::breaker::Bank;
use segue_core::catalog::model::Pass;
use segue_core::failover::Limits;
use segue_core::io::{Runtime, Store, StoreError};
use segue_sqlite::{Reader, Writer};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// A runtime whose store is the SQL of `segue-sqlite`, on whichever threads and disk.
pub trait HubRuntime: Runtime<Store: Store<Reader = Reader, Writer = Writer>> {}

impl<R: Runtime<Store: Store<Reader = Reader, Writer = Writer>>> HubRuntime for R {}

/// Seals and opens the passwords that Subsonic token authentication needs back.
pub trait Passwords: Send + Sync + 'static {
    /// The clear password of a sealed one; `None` when it was sealed under another key or is damaged.
    fn open(&self, sealed: &[u8]) -> Option<String>;

    /// A password as it is stored.
    fn seal(&self, clear: &str) -> Result<Vec<u8>, String>;
}

/// Reads music folders. Blocking: called through [`Runtime::compute`].
pub trait Folders: Send + Sync + 'static {
    /// One pass over the folder at `root`; `previous` is what the store holds of it. An error is one sentence
    /// for the operator, and leaves the library as it is.
    fn scan(&self, root: &Path, previous: &Pass, progress: &dyn Fn(usize)) -> Result<Pass, String>;
}

/// Keeps and scales pictures. Blocking: called through [`Runtime::compute`].
pub trait Pictures: Send + Sync + 'static {
    /// A kept picture and its media type.
    fn kept(&self, key: &str) -> Option<(Bytes, String)>;

    /// Keeps one; failing to is no error that a listener should hear of.
    fn keep(&self, key: &str, picture: &Bytes);

    /// The media type of the bytes, when they are a picture.
    fn media_type(&self, picture: &Bytes) -> Option<String>;

    /// Scales so that neither side is longer than `size` pixels; `None` when it is no picture.
    fn scale(&self, picture: &Bytes, size: u32) -> Option<(Bytes, String)>;
}

/// What of the configuration requests go by.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `[stream]`.
    pub limits: Limits,
    /// How often all sources are synchronised by themselves; zero means never.
    pub sync_interval: Duration,
    /// Requests under way to one source during a sync.
    pub sync_concurrency: usize,
    /// Whether folder sources can be transcoded on this machine.
    pub transcodes: bool,
    /// Whose forwarded headers are believed.
    pub trusted_proxies: Vec<Addresses>,
    /// Whether a played track without lyrics is looked up first.
    pub on_play: bool,
    /// How songs are looked up.
    pub lyrics: LyricsSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limits: Limits::default(),
            sync_interval: Duration::from_secs(15 * 60),
            sync_concurrency: 4,
            transcodes: false,
            trusted_proxies: Vec::new(),
            on_play: true,
            lyrics: LyricsSettings::default(),
        }
    }
}

/// What a hub is put together from.
pub struct HubParts<R> {
    /// The world it runs in.
    pub runtime: R,
    /// What it goes by.
    pub settings: Settings,
    /// Its sources.
    pub sources: Vec<SourceSpec>,
    /// Its password box.
    pub passwords: Arc<dyn Passwords>,
    /// Its way to music folders.
    pub folders: Arc<dyn Folders>,
    /// Its picture shelf.
    pub pictures: Arc<dyn Pictures>,
}

/// A handle to one hub; clones share everything.
pub struct Hub<R: HubRuntime>(Arc<Shared<R>>);

impl<R: HubRuntime> Clone for Hub<R> {
    fn clone(&self) -> Self {
        Hub(Arc::clone(&self.0))
    }
}

struct Shared<R: HubRuntime> {
    runtime: R,
    settings: Settings,
    sources: RwLock<Arc<Sources>>,
    bank: Mutex<Bank>,
    activity: Activity,
    now_playing: NowPlaying,
    served: LastServed,
    metrics: Metrics,
    logins: Mutex<Throttle>,
    sync: SyncState,
    wanted: Wanted,
    lookups: Lookups,
    passwords: Arc<dyn Passwords>,
    folders: Arc<dyn Folders>,
    pictures: Arc<dyn Pictures>,
}

impl<R: HubRuntime> Hub<R> {
    /// Puts a hub together. Run [`Hub::tend_activity`] beside it, or no activity is ever stored.
    pub fn new(parts: HubParts<R>) -> Self {
        let mut bank = Bank::new();
        let sources = Sources::new(parts.sources, &mut bank, parts.settings.limits.suspect);
        let lookups = Lookups::new(&parts.settings.lyrics);
        Hub(Arc::new(Shared {
            runtime: parts.runtime,
            settings: parts.settings,
            sources: RwLock::new(Arc::new(sources)),
            bank: Mutex::new(bank),
            activity: Activity::default(),
            now_playing: NowPlaying::default(),
            served: LastServed::default(),
            metrics: Metrics::default(),
            logins: Mutex::default(),
            sync: SyncState::default(),
            wanted: Wanted::default(),
            lookups,
            passwords: parts.passwords,
            folders: parts.folders,
            pictures: parts.pictures,
        }))
    }

    /// The world it runs in.
    pub fn runtime(&self) -> &R {
        &self.0.runtime
    }

    /// The runtime's clock.
    pub fn clock(&self) -> &R::Clock {
        self.0.runtime.clock()
    }

    /// What of the configuration requests go by.
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The sources as they are now.
    pub fn sources(&self) -> Arc<Sources> {
        let sources = self.0.sources.read();
        Arc::clone(&sources.unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes up a new configuration of the sources: streams go on, the next request goes by the new ones.
    pub fn set_sources(&self, specs: Vec<SourceSpec>) {
        let suspect = self.settings().limits.suspect;
        let mut bank = segue_core::driver::lock(&self.0.bank);
        let mut sources = self
            .0
            .sources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *sources = Arc::new(sources.updated(specs, &mut bank, suspect));
    }

    /// Takes a source away: its tracks fall to other sources at once (F17).
    pub fn remove_source(&self, id: &str) {
        let mut sources = self
            .0
            .sources
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *sources = Arc::new(sources.without(id));
    }

    /// The breakers of all sources.
    pub fn bank(&self) -> &Mutex<Bank> {
        &self.0.bank
    }

    /// What is and was played.
    pub fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// Who listens to what, as clients report it.
    pub fn now_playing(&self) -> &NowPlaying {
        &self.0.now_playing
    }

    /// Which source served whom last.
    pub fn served(&self) -> &LastServed {
        &self.0.served
    }

    /// Recent failures to log in.
    pub fn logins(&self) -> &Mutex<Throttle> {
        &self.0.logins
    }

    /// What is counted.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The state of synchronisation.
    pub fn sync_state(&self) -> &SyncState {
        &self.0.sync
    }

    /// What listeners wait for, and the bell of whoever looks songs up.
    pub fn wanted(&self) -> &Wanted {
        &self.0.wanted
    }

    /// The lanes that songs are looked up over.
    pub fn lookups(&self) -> &Lookups {
        &self.0.lookups
    }

    /// The password box.
    pub fn passwords(&self) -> &dyn Passwords {
        &*self.0.passwords
    }

    /// The way to music folders.
    pub fn folders(&self) -> Arc<dyn Folders> {
        Arc::clone(&self.0.folders)
    }

    /// The picture shelf.
    pub fn pictures(&self) -> Arc<dyn Pictures> {
        Arc::clone(&self.0.pictures)
    }

    /// Asks the store.
    pub async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, segue_sqlite::Error> + Send + 'static,
    {
        let store = self.0.runtime.store();
        store.read(|reader| Ok(question(reader)?)).await
    }

    /// Asks the store for rows by their keys; see [`Store::look_up`].
    pub async fn look_up<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, segue_sqlite::Error> + Send + 'static,
    {
        let store = self.0.runtime.store();
        store.look_up(|reader| Ok(question(reader)?)).await
    }

    /// Changes the store.
    pub async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Writer) -> Result<T, segue_sqlite::Error> + Send + 'static,
    {
        let store = self.0.runtime.store();
        store.write(|writer| Ok(change(writer)?)).await
    }

    /// Stores activity as it happens, until the hub is gone. One such loop runs beside each hub.
    pub async fn tend_activity(&self) {
        let (store, clock) = (self.0.runtime.store(), self.0.runtime.clock());
        self.0.activity.tend(store, clock).await;
    }
}
