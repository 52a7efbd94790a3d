//! The threads around SQLite: what is acknowledged, what a caller that goes away leaves, and what an end drains.

use futures_util::FutureExt as _;
use segue_core::io::{Store as _, StoreError};
use segue_core::time::Wall;
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::{NewUser, Writer};
use std::sync::mpsc;
use std::time::Duration;

/// Never idle, so that the log is emptied only at the end.
fn options() -> StoreOptions {
    StoreOptions {
        idle: Duration::from_secs(3600),
        ..StoreOptions::default()
    }
}

fn add(name: &str) -> impl FnOnce(&Writer) -> Result<i64, StoreError> + Send + use<> {
    let user = NewUser {
        name: name.to_owned(),
        password_enc: vec![],
        is_admin: false,
    };
    move |w| Ok(w.add_user(&user, Wall(1))?)
}

async fn names(store: &SqliteStore) -> Vec<String> {
    let users = store.read(|r| Ok(r.users()?)).await.unwrap();
    users.into_iter().map(|user| user.name).collect()
}

/// Holds the writer's thread inside a change until the returned sender is used or dropped.
async fn hold(store: &SqliteStore) -> (mpsc::Sender<()>, tokio::task::JoinHandle<()>) {
    let (release, held) = mpsc::channel::<()>();
    let (entered, inside) = tokio::sync::oneshot::channel();
    let store = store.clone();
    let task = tokio::spawn(async move {
        let change = move |_: &Writer| {
            let _ = entered.send(());
            let _ = held.recv();
            Ok(())
        };
        store.write(change).await.unwrap();
    });
    inside.await.unwrap();
    (release, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_can_be_read_and_survives_a_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    let store = SqliteStore::open(&path, options()).unwrap();
    store.write(add("ann")).await.unwrap();
    assert_eq!(names(&store).await, ["ann"]);
    assert!(store.wal_bytes() > 0);
    store.close().await;
    assert_eq!(store.wal_bytes(), 0, "an end leaves no log to recover from");
    drop(store);
    let again = SqliteStore::open(&path, options()).unwrap();
    assert_eq!(names(&again).await, ["ann"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_and_a_panicking_change_do_not_undo_their_neighbours() {
    let store = SqliteStore::open_in_memory(options()).unwrap();
    let (release, held) = hold(&store).await;
    // These three wait together, so they are committed together.
    let writes = [
        store.write(add("ann")).boxed(),
        store
            .write(|w| {
                w.add_user(
                    &NewUser {
                        name: "bob".into(),
                        password_enc: vec![],
                        is_admin: false,
                    },
                    Wall(1),
                )?;
                Err(StoreError::Conflict("second thoughts".into()))
            })
            .boxed(),
        store
            .write(|_| -> Result<i64, _> { panic!("on purpose") })
            .boxed(),
        store.write(add("cid")).boxed(),
    ];
    let mut all = futures_util::future::join_all(writes).boxed();
    assert!(
        (&mut all).now_or_never().is_none(),
        "nothing is acknowledged yet"
    );
    release.send(()).unwrap();
    let outcomes = all.await;
    held.await.unwrap();
    assert!(outcomes[0].is_ok() && outcomes[3].is_ok());
    assert_eq!(
        outcomes[1],
        Err(StoreError::Conflict("second thoughts".into()))
    );
    assert_eq!(
        outcomes[2],
        Err(StoreError::Database("the change panicked".into()))
    );
    assert_eq!(names(&store).await, ["ann", "cid"]);
    store.write(add("dot")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_leaves_a_whole_change() {
    let store = SqliteStore::open_in_memory(options()).unwrap();
    let (release, held) = hold(&store).await;
    let mut write = store.write(add("ann")).boxed();
    assert!((&mut write).now_or_never().is_none());
    drop(write);
    release.send(()).unwrap();
    held.await.unwrap();
    store.write(|_| Ok(())).await.unwrap();
    assert_eq!(names(&store).await, ["ann"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_while_the_queue_is_full_leaves_nothing() {
    let narrow = StoreOptions {
        queue: 1,
        ..options()
    };
    let store = SqliteStore::open_in_memory(narrow).unwrap();
    let (release, held) = hold(&store).await;
    let mut write = store.write(add("ann")).boxed();
    assert!((&mut write).now_or_never().is_none());
    drop(write);
    drop(release);
    held.await.unwrap();
    store.write(add("bob")).await.unwrap();
    assert_eq!(names(&store).await, ["bob"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_carries_out_what_was_taken_and_takes_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("segue.db");
    let store = SqliteStore::open(&path, options()).unwrap();
    let (release, held) = hold(&store).await;
    let mut taken = store.write(add("ann")).boxed();
    assert!((&mut taken).now_or_never().is_none());
    let mut close = store.close().boxed();
    assert!((&mut close).now_or_never().is_none());
    assert_eq!(store.write(add("bob")).await, Err(StoreError::Closed));
    release.send(()).unwrap();
    close.await;
    held.await.unwrap();
    taken.await.unwrap();
    assert_eq!(names(&store).await, ["ann"], "questions are answered still");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_panics_costs_no_reader() {
    let one = StoreOptions {
        readers: 1,
        ..options()
    };
    let store = SqliteStore::open_in_memory(one).unwrap();
    let outcome = store
        .read(|_| -> Result<(), _> { panic!("on purpose") })
        .await;
    assert_eq!(
        outcome,
        Err(StoreError::Database("the question panicked".into()))
    );
    assert_eq!(names(&store).await, [] as [&str; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_up_stays_on_the_caller_s_thread_while_a_reader_is_free() {
    let one = StoreOptions {
        readers: 1,
        ..options()
    };
    let store = SqliteStore::open_in_memory(one).unwrap();
    let thread = || std::thread::current().id();
    let here = move |_: &segue_sqlite::Reader| Ok(thread());
    assert_eq!(store.look_up(here).now_or_never(), Some(Ok(thread())));

    let (busy, taken) = tokio::sync::oneshot::channel();
    let (release, held) = mpsc::channel::<()>();
    let long = store.read(move |_| {
        let _ = busy.send(());
        let _ = held.recv();
        Ok(())
    });
    let meanwhile = async {
        taken.await.unwrap();
        let mut waiting = Box::pin(store.look_up(here));
        assert_eq!(waiting.as_mut().now_or_never(), None);
        release.send(()).unwrap();
        waiting.await.unwrap();
    };
    let (outcome, ()) = futures_util::future::join(long, meanwhile).await;
    outcome.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_sees_one_moment() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&dir.path().join("segue.db"), options()).unwrap();
    let (looked, first_look) = tokio::sync::oneshot::channel();
    let (go_on, written) = mpsc::channel::<()>();
    let reading = store.read(move |r| {
        let before = r.users()?.len();
        let _ = looked.send(());
        let _ = written.recv();
        Ok((before, r.users()?.len()))
    });
    let writing = async {
        first_look.await.unwrap();
        store.write(add("ann")).await.unwrap();
        go_on.send(()).unwrap();
    };
    let (seen, ()) = futures_util::future::join(reading, writing).await;
    assert_eq!(seen, Ok((0, 0)));
    assert_eq!(names(&store).await, ["ann"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_is_emptied_when_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let idle = StoreOptions {
        idle: Duration::from_millis(1),
        ..options()
    };
    let store = SqliteStore::open(&dir.path().join("segue.db"), idle).unwrap();
    store.write(add("ann")).await.unwrap();
    while store.wal_bytes() > 0 {
        tokio::task::yield_now().await;
    }
    store.write(add("bob")).await.unwrap();
    assert_eq!(names(&store).await, ["ann", "bob"]);
}
