//! The store of production, with its threads, on a simulated disk.
//!
//! Who gets into which group is up to the threads; what is claimed here holds whoever does.

use segue_core::io::{Store as _, StoreError};
use segue_core::time::Wall;
use segue_runtime_sim::disk::{Dice, Disk, Failing, Geometry, Operation};
use segue_runtime_tokio::store::{SqliteStore, StoreOptions};
use segue_sqlite::NewUser;
use std::collections::BTreeSet;
use std::future::Future;

const CALLERS: usize = 16;

fn options() -> StoreOptions {
    StoreOptions {
        readers: 1,
        ..StoreOptions::default()
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

async fn add(store: &SqliteStore, name: String) -> Result<i64, StoreError> {
    let user = NewUser {
        name,
        password_enc: vec![],
        is_admin: false,
    };
    let change = move |w: &segue_sqlite::Writer| Ok(w.add_user(&user, Wall(1))?);
    store.write(change).await
}

fn names(disk: &Disk) -> BTreeSet<String> {
    let users = disk.database().unwrap().reader().unwrap().users().unwrap();
    users.into_iter().map(|user| user.name).collect()
}

/// Sixteen callers, each of whom adds up to `count` users and stops at the first refusal; whose were acknowledged.
async fn many_callers(store: &SqliteStore, count: usize) -> BTreeSet<String> {
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for n in 0..count {
                    let name = format!("{caller} {n}");
                    match add(&store, name.clone()).await {
                        Ok(_) => acknowledged.push(name),
                        Err(StoreError::Database(_)) => break,
                        Err(other) => panic!("{other:?}"),
                    }
                }
                acknowledged
            })
        })
        .collect();
    let mut all = BTreeSet::new();
    for caller in callers {
        all.extend(caller.await.unwrap());
    }
    all
}

#[test]
fn what_a_group_was_told_survives_a_power_cut() {
    let fresh = Disk::new(Geometry::COMMON);
    drop(fresh.database().unwrap());
    for seed in 0..30 {
        let mut dice = Dice::new(seed);
        let disk = fresh.copy();
        let acknowledged = block_on(async {
            let store = SqliteStore::over(disk.database().unwrap(), options()).unwrap();
            disk.cut_power_after(20 + dice.below(150));
            let acknowledged = many_callers(&store, 1000).await;
            assert!(disk.is_off());
            disk.crash(dice.roll());
            store.close().await;
            acknowledged
        });
        let found = names(&disk);
        assert!(found.is_superset(&acknowledged), "seed {seed}");
        assert!(found.len() <= acknowledged.len() + CALLERS, "seed {seed}");
        assert!(!acknowledged.is_empty());
    }
}

#[test]
fn a_failed_sync_is_told_to_the_whole_group_which_left_nothing() {
    let fresh = Disk::new(Geometry::COMMON);
    drop(fresh.database().unwrap());
    for after in 0..10 {
        let disk = fresh.copy();
        block_on(async {
            let store = SqliteStore::over(disk.database().unwrap(), options()).unwrap();
            disk.fail(Operation::Sync, Failing::Once { after });
            let acknowledged = many_callers(&store, 30).await;
            let found = store.read(|r| Ok(r.users()?)).await.unwrap();
            let found: BTreeSet<_> = found.into_iter().map(|user| user.name).collect();
            assert_eq!(found, acknowledged);
            assert!(acknowledged.len() < CALLERS * 30, "somebody was told");
            add(&store, "afterwards".into()).await.unwrap();
            disk.crash(after);
            let mut expected = acknowledged;
            expected.insert("afterwards".into());
            assert_eq!(names(&disk), expected);
            store.close().await;
        });
    }
}
