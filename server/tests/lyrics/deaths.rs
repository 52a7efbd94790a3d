//! A worker that is killed at each of its steps at a sidecar, and what is found afterwards.

use crate::lanes::TIMED;
use crate::world::{Fake, Home, LyricsHub, Says, wav_of};
use bytes::Bytes;
use futures_util::future::{Either, select};
use segue::lyrics::{HubDesk, recover, remove_leftovers};
use segue::world::World;
use segue_core::dispatch::Mode;
use segue_core::driver::lyrics::{Done, Worker};
use segue_core::io::{Digest, Place, Runtime, Seen, Shelf, ShelfError};
use segue_runtime_tokio::clock::TokioClock;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::store::SqliteStore;
use std::fs;
use std::future::pending;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

const SONG: &str = "Lantern Hill";

/// The real world, in which a process dies at the shelf.
#[derive(Clone)]
struct Mortal {
    world: World,
    shelf: DyingShelf,
}

/// The real shelf, until the step at which the process dies.
#[derive(Clone)]
struct DyingShelf {
    world: World,
    music: PathBuf,
    steps_left: Arc<AtomicUsize>,
    /// Whether the last step is taken: half, when it is to write a file.
    taken: bool,
    died: Arc<Notify>,
}

impl DyingShelf {
    /// Whether this is the last step.
    fn last(&self) -> bool {
        self.steps_left.fetch_sub(1, Ordering::Relaxed) == 1
    }

    async fn die<T>(&self) -> T {
        self.died.notify_one();
        pending().await
    }

    async fn step<T>(&self, step: impl Future<Output = T>) -> T {
        if !self.last() {
            return step.await;
        }
        if self.taken {
            step.await;
        }
        self.die().await
    }
}

impl Shelf for DyingShelf {
    async fn look(&self, at: &Place) -> Result<Seen, ShelfError> {
        self.step(self.world.shelf().look(at)).await
    }

    async fn stage(&self, temp: &Place, like: &Place, bytes: Bytes) -> Result<(), ShelfError> {
        if !self.last() {
            return self.world.shelf().stage(temp, like, bytes).await;
        }
        if self.taken {
            let half = bytes.slice(..bytes.len() / 2);
            fs::write(self.music.join(&temp.path), half).expect("half of it");
        }
        self.die().await
    }

    async fn create(&self, temp: &Place, target: &Place) -> Result<(), ShelfError> {
        self.step(self.world.shelf().create(temp, target)).await
    }

    async fn replace(&self, temp: &Place, target: &Place, old: Digest) -> Result<(), ShelfError> {
        let replaced = self.world.shelf().replace(temp, target, old);
        self.step(replaced).await
    }

    async fn remove(&self, at: &Place, only: Digest) -> Result<(), ShelfError> {
        self.step(self.world.shelf().remove(at, only)).await
    }

    async fn discard(&self, temp: &Place) -> Result<(), ShelfError> {
        self.step(self.world.shelf().discard(temp)).await
    }

    async fn settle(&self, at: &Place) -> Result<(), ShelfError> {
        self.step(self.world.shelf().settle(at)).await
    }
}

impl Runtime for Mortal {
    type Clock = TokioClock;
    type Network = TokioNetwork;
    type Store = SqliteStore;
    type Shelf = DyingShelf;

    fn clock(&self) -> &TokioClock {
        self.world.clock()
    }

    fn network(&self) -> &TokioNetwork {
        self.world.network()
    }

    fn store(&self) -> &SqliteStore {
        self.world.store()
    }

    fn shelf(&self) -> &DyingShelf {
        &self.shelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.world.compute(work).await
    }
}

/// Takes one step as a worker that dies at step `at` of the shelf; whether it did.
async fn dies(home: &Home, hub: &LyricsHub, at: usize, taken: bool) -> bool {
    let world = hub.hub.runtime().clone();
    let died = Arc::new(Notify::new());
    let shelf = DyingShelf {
        world: world.clone(),
        music: home.music(),
        steps_left: Arc::new(AtomicUsize::new(at)),
        taken,
        died: Arc::clone(&died),
    };
    let worker = Worker {
        runtime: Mortal { world, shelf },
        desk: HubDesk::new(hub.hub.clone(), 0),
        lanes: Arc::clone(hub.hub.lookups().lanes()),
        style: Default::default(),
    };
    let mut nobody = pin!(pending());
    let step = worker.step(nobody.as_mut());
    match select(pin!(step), pin!(died.notified())).await {
        Either::Left((done, _)) => {
            assert_eq!(done.expect("a step"), Done::Parcel);
            false
        }
        Either::Right(_) => true,
    }
}

/// A hub that has a song's words, and has not written them yet.
async fn about_to_write(home: &Home) -> (LyricsHub, Fake) {
    let one = Fake::start().await;
    one.says(SONG, Says::Synced(TIMED));
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    assert_eq!(hub.step().await, Done::Song);
    (hub, one)
}

#[tokio::test]
async fn s1_a_worker_killed_at_any_step_of_a_sidecar_leaves_nothing_but_the_sidecar() {
    for taken in [false, true] {
        let mut deaths = 0;
        loop {
            let home = Home::with(&[SONG]);
            let (hub, one) = about_to_write(&home).await;
            if !dies(&home, &hub, deaths + 1, taken).await {
                break;
            }
            deaths += 1;
            recover(&hub.hub).await.expect("recovered");
            hub.work_off().await;
            remove_leftovers(&hub.hub).await.expect("swept");
            assert_eq!(home.sidecars(), ["Lantern Hill.lrc"], "{deaths}, {taken}");
            let text = home.text("Lantern Hill.lrc").expect("written");
            assert_eq!(text.trim_end(), TIMED);
            assert_eq!(one.count(), 1, "S4");
            hub.close().await;
        }
        assert!(deaths > 8, "a sidecar takes more than {deaths} steps");
    }
}

#[tokio::test]
async fn what_a_slow_worker_leaves_after_its_turn_is_removed_and_a_users_file_is_not() {
    let home = Home::with(&[SONG]);
    let (hub, _one) = about_to_write(&home).await;
    let mut step = 1;
    while home.sidecars().is_empty() {
        assert!(dies(&home, &hub, step, true).await, "it was written whole");
        recover(&hub.hub).await.expect("recovered");
        step += 1;
    }
    let left = home.sidecars().remove(0);
    assert!(left.starts_with(".segue-"), "{left}");
    hub.work_off().await;
    assert_eq!(home.sidecars(), ["Lantern Hill.lrc"]);

    // It was not dead after all, until now.
    home.put(&left, b"[00:01.00]Paper");
    home.put(".segue-0011223344556677.tmp", b"by hand");
    let removed = || async { remove_leftovers(&hub.hub).await.expect("swept") };
    assert_eq!(removed().await, 1);
    assert_eq!(
        home.sidecars(),
        [".segue-0011223344556677.tmp", "Lantern Hill.lrc"]
    );
    home.put(&left, b"[00:01.00]Pap");
    assert_eq!(removed().await, 1, "its name is remembered for a while");
}

/// A hub with words beside a track that turned out to be another song's, about to take them away.
async fn about_to_remove(home: &Home) -> (LyricsHub, Fake) {
    home.put("b.wav", &wav_of("Somebody Else", "Another Tune", 40));
    let one = Fake::start().await;
    let hub = home.hub(&[("lrclib", &one)], Mode::Ordered).await;
    for title in [SONG, "Another Tune"] {
        one.says(title, Says::Synced(TIMED));
    }
    hub.wants("Another Tune").await;
    for done in [Done::Song, Done::Parcel] {
        assert_eq!(hub.step().await, done);
    }
    assert_eq!(home.sidecars(), ["b.lrc"]);
    assert_eq!(hub.step().await, Done::Song);
    (hub, one)
}

#[tokio::test]
async fn s1_a_worker_killed_at_any_step_of_a_removal_leaves_nothing() {
    for taken in [false, true] {
        let mut deaths = 0;
        loop {
            let home = Home::with(&[SONG]);
            let (hub, _one) = about_to_remove(&home).await;
            if !dies(&home, &hub, deaths + 1, taken).await {
                break;
            }
            deaths += 1;
            recover(&hub.hub).await.expect("recovered");
            hub.work_off().await;
            assert_eq!(home.sidecars(), [""; 0], "{deaths}, {taken}");
            hub.close().await;
        }
        assert!(deaths > 3, "a removal takes more than {deaths} steps");
    }
}

#[tokio::test]
async fn s2_words_of_another_song_that_somebody_has_edited_stay() {
    let home = Home::with(&[SONG]);
    let (hub, _one) = about_to_remove(&home).await;
    home.put("b.lrc", b"[00:02.00]By hand");
    hub.work_off().await;
    assert_eq!(home.sidecars(), ["b.lrc"]);
    assert_eq!(home.text("b.lrc").as_deref(), Some("[00:02.00]By hand"));
    let id = hub.row("Another Tune").await.work_id;
    let shown = hub.hub.read(move |r| r.queue_show(id)).await;
    let sidecars = shown.expect("read").expect("a row").deliveries;
    assert_eq!(sidecars[0].reason.as_deref(), Some("not_ours"));
}
