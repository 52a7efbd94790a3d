//! Puts a real hub together from its data directory and its sources, and runs it.

mod beside;

pub use beside::{assemble_beside, run_beside};

use crate::crew::Crew;
use crate::hub::{Hub, HubParts, HubRuntime, Settings};
use crate::lyrics::{self, LyricsSettings};
use crate::ports::{LocalFolders, PictureShelf, SealedPasswords};
use crate::router::router;
use crate::sources::{LinkSpec, SourceSpec};
use crate::sync;
use crate::wanted;
use crate::world::World;
use segue_core::io::{Clock, StoreError};
use segue_core::twin::{self, Twin};
use segue_runtime_tokio::art::{Cache, CacheError};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::command::{Program, ProgramSettings};
use segue_runtime_tokio::folder::{Ffmpeg, FolderSource};
use segue_runtime_tokio::net::{self, LocalOrigin, TokioNetwork};
use segue_runtime_tokio::secrets::{KeyFile, SecretError};
use segue_runtime_tokio::serve;
use segue_runtime_tokio::shelf::Roots;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::InstanceSpec;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Pictures kept on disk, in bytes.
const PICTURES: u64 = 256 * 1024 * 1024;

/// How long workers may take to give back what they are at.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// What a hub is assembled from.
#[derive(Debug)]
pub struct Setup {
    /// Where the database, the key and the pictures live; made when it is not there.
    pub data_dir: PathBuf,
    /// The sources.
    pub sources: Vec<SourceSpec>,
    /// What of the configuration requests go by. `transcodes` is found out here.
    pub settings: Settings,
}

/// Why a hub could not be assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// The data directory cannot be made or entered.
    #[error("the data directory {path} cannot be used: {error}")]
    DataDir {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The key file.
    #[error(transparent)]
    Key(#[from] SecretError),
    /// The picture shelf.
    #[error(transparent)]
    Pictures(#[from] CacheError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Opens the data directory and puts the hub together. Operations that a crash left open are closed.
pub async fn assemble(mut setup: Setup) -> Result<Hub<World>, AssembleError> {
    make_data_dir(&setup.data_dir)?;
    let key = KeyFile::open_or_create(&setup.data_dir.join("segue.key"))?;
    let pictures = Cache::open(&setup.data_dir.join("pictures"), PICTURES)?;
    let store = SqliteStore::open(&setup.data_dir.join("segue.db"), StoreOptions::default())?;
    let ffmpeg = Ffmpeg::find();
    setup.settings.transcodes = ffmpeg.is_some();
    let network = TokioNetwork::new().with_folders(folders(&setup.sources, ffmpeg.as_ref()));
    let instances = instances(&setup.sources);
    let shelves = shelves(&setup.sources);
    setup.settings.lyrics.seed = seed();
    let lyrics = setup.settings.lyrics.clone();
    let hub = Hub::new(HubParts {
        runtime: World::new(TokioClock::new(), network, store),
        settings: setup.settings,
        sources: setup.sources,
        passwords: Arc::new(SealedPasswords::new(key)),
        folders: Arc::new(LocalFolders::default()),
        pictures: Arc::new(PictureShelf::new(pictures)),
    });
    join_crew(&hub, &setup.data_dir).await?;
    take_over(&hub, instances).await?;
    hub.runtime().set_shelves(shelves);
    look_up(&hub, &lyrics).await?;
    Ok(hub)
}

/// Takes a place among those that work on the queue. Who is alone goes on at once with the sidecars that were left half
/// done; what others may be at waits for its lease.
async fn join_crew(hub: &Hub<World>, data_dir: &Path) -> Result<(), AssembleError> {
    let refused = |error| AssembleError::DataDir {
        path: data_dir.to_owned(),
        error,
    };
    let mut crew = Crew::join(data_dir).map_err(refused)?;
    if crew.is_alone() {
        lyrics::recover(hub).await?;
        crew.let_in().map_err(refused)?;
    }
    hub.runtime().set_crew(crew);
    Ok(())
}

/// Takes over what an earlier hub left in the store, whatever became of that one: closes the operations that it left
/// open, enters the sources, and brings back what is known of them.
///
/// # Errors
/// The store's.
pub async fn take_over<R: HubRuntime>(
    hub: &Hub<R>,
    instances: Vec<InstanceSpec>,
) -> Result<(), StoreError> {
    let now = hub.clock().wall();
    if !twin::is(Twin::OrphansLeftOpen) {
        hub.write(move |w| w.close_orphans(now)).await?;
    }
    enter(hub, instances).await
}

/// Takes up a changed list of sources while the hub runs; a sync follows.
///
/// # Errors
/// The store's; the new sources are in use all the same.
pub async fn reload(hub: &Hub<World>, sources: Vec<SourceSpec>) -> Result<(), StoreError> {
    let ffmpeg = Ffmpeg::find();
    hub.runtime()
        .set_folders(folders(&sources, ffmpeg.as_ref()));
    let instances = instances(&sources);
    hub.runtime().set_shelves(shelves(&sources));
    hub.set_sources(sources);
    enter(hub, instances).await?;
    hub.sync_state().request();
    Ok(())
}

/// Takes up the lanes, and the programs among them, at the start and when they were changed.
///
/// # Errors
/// The store's.
pub async fn look_up(hub: &Hub<World>, lyrics: &LyricsSettings) -> Result<(), StoreError> {
    hub.runtime().set_commands(programs(lyrics));
    lyrics::take_up(hub, lyrics).await
}

/// The programs that are asked for lyrics.
pub(crate) fn programs(lyrics: &LyricsSettings) -> net::Commands {
    let mut commands = net::Commands::new();
    for command in &lyrics.commands {
        let Some((program, arguments)) = command.argv.split_first() else {
            continue;
        };
        let program = Program::new(ProgramSettings {
            name: command.name.clone(),
            program: program.clone(),
            arguments: arguments.to_vec(),
            timeout: command.timeout,
            environment: command.env.clone(),
            scratch: None,
        });
        commands.insert(command.name.clone(), Arc::new(program));
    }
    commands
}

/// Enters the sources into the store and brings back what is known of them.
async fn enter<R: HubRuntime>(
    hub: &Hub<R>,
    instances: Vec<InstanceSpec>,
) -> Result<(), StoreError> {
    hub.write(move |w| {
        for instance in &instances {
            w.upsert_instance(instance)?;
        }
        Ok(())
    })
    .await?;
    sync::recall(hub).await?;
    warn_of_forgotten(hub).await
}

/// Serves until `shutdown` ends. Synchronises in the background, the first time at once.
pub async fn run(
    hub: Hub<World>,
    listener: TcpListener,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let tending = hub.clone();
    let activity = tokio::spawn(async move { tending.tend_activity().await });
    let syncing = tokio::spawn(sync::tend(hub.clone()));
    let raising = tokio::spawn(wanted::tend(hub.clone()));
    let (stop, stopping) = watch::channel(false);
    let workers = hub.settings().lyrics.workers;
    let looking = tokio::spawn(lyrics::tend(hub.clone(), workers, stopping));
    let served = serve::serve(listener, router(hub.clone()), shutdown).await;
    syncing.abort();
    raising.abort();
    stop.send_replace(true);
    // Songs under way are given back; what hangs all the same is taken back when its lease is over.
    if tokio::time::timeout(GIVING_BACK, looking).await.is_err() {
        tracing::warn!("a worker did not stop in time");
    }
    // What the last streams came to is stored before the store closes.
    hub.activity().flush().await;
    activity.abort();
    hub.runtime().close().await;
    served
}

/// Private to the user that runs the hub: it holds the key and everybody's history.
pub(crate) fn make_data_dir(path: &Path) -> Result<(), AssembleError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path);
    made.map_err(|error| AssembleError::DataDir {
        path: path.to_owned(),
        error,
    })
}

fn folders(sources: &[SourceSpec], ffmpeg: Option<&Ffmpeg>) -> net::Folders {
    let mut folders = net::Folders::new();
    for source in sources {
        if let LinkSpec::Folder { root, .. } = &source.link {
            let origin = FolderSource::new(root.clone(), ffmpeg.cloned());
            let origin: Arc<dyn LocalOrigin> = Arc::new(origin);
            folders.insert(source.id.clone(), origin);
        }
    }
    folders
}

/// Tells this hub from others that were started at the same moment.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    // Without entropy hubs merely do not drift apart.
    if getrandom::fill(&mut bytes).is_err() {
        tracing::warn!("no entropy for a seed");
    }
    u64::from_le_bytes(bytes)
}

/// The roots beside whose music lyrics may be written.
fn shelves(sources: &[SourceSpec]) -> Roots {
    let writable = sources.iter().filter_map(|source| match &source.link {
        LinkSpec::Folder {
            root,
            write_sidecars: true,
        } => Some((source.id.clone(), root.clone())),
        LinkSpec::Folder { .. } | LinkSpec::Subsonic { .. } => None,
    });
    writable.collect()
}

/// The sources as the store knows them.
pub fn instances(sources: &[SourceSpec]) -> Vec<InstanceSpec> {
    let instance = |source: &SourceSpec| InstanceSpec {
        id: source.id.clone(),
        kind: source.kind(),
        name: source.id.clone(),
        local: source.local,
    };
    sources.iter().map(instance).collect()
}

/// A source that is only in the library keeps its rows: a slip in the configuration must not cost them.
async fn warn_of_forgotten<R: HubRuntime>(hub: &Hub<R>) -> Result<(), StoreError> {
    for row in hub.read(|r| r.instances()).await? {
        if hub.sources().get(&row.id).is_none() {
            tracing::warn!(
                source = row.id,
                "in the library but not in the configuration: it is not played from; \
                 'segue source remove' forgets it"
            );
        }
    }
    Ok(())
}
