//! The disk inside a simulation: the hub's node dies, its disk with it, and both come back.

use crate::life::an_operation;
use madsim::runtime::{Handle, Runtime};
use madsim::{Config, task::NodeId};
use segue_core::io::{Clock, Store};
use segue_core::time::Wall;
use segue_runtime_sim::disk::{Dice, Disk, Geometry};
use segue_runtime_sim::{SimClock, SimStore};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How a hub ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// It is killed; the machine goes on.
    Killed,
    /// The power goes, now.
    Cut,
    /// The power goes at a later write or sync of this disk.
    CutAtWork,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    acknowledged: BTreeSet<i64>,
    rows: Vec<usize>,
    orphans: usize,
    crashes: u64,
    nanos: Vec<u64>,
}

/// Writes until it is killed, and says what was acknowledged.
async fn a_hub(disk: Disk, acknowledged: Arc<Mutex<BTreeSet<i64>>>) {
    let Ok(store) = SimStore::on_disk(&disk, SimClock::current()) else {
        return std::future::pending().await;
    };
    loop {
        let written = store.write(|w| Ok(w.open_operation(&an_operation())?));
        if let Ok(id) = written.await {
            acknowledged.lock().unwrap().insert(id);
        } else if disk.is_off() {
            return std::future::pending().await;
        }
    }
}

async fn a_world(seed: u64) -> Seen {
    let clock = SimClock::current();
    let disk = Disk::new(Geometry::COMMON);
    let mut dice = Dice::new(seed);
    let mut seen = Seen::default();
    for round in 0..6 {
        let acknowledged = Arc::new(Mutex::new(BTreeSet::new()));
        let node = Handle::current().create_node().name("hub").build();
        node.spawn(a_hub(disk.clone(), acknowledged.clone()));
        let end = [End::Killed, End::Cut, End::CutAtWork][round % 3];
        if let End::CutAtWork = end {
            disk.cut_power_after(20 + dice.below(60));
        }
        let wait = Duration::from_millis(200 + dice.below(100));
        clock.sleep_until(clock.now() + wait).await;
        finish(&disk, end, node.id(), &mut dice);

        let db = disk.database().unwrap();
        let rows = db.reader().unwrap().activity(10_000).unwrap();
        seen.acknowledged.append(&mut acknowledged.lock().unwrap());
        let ids: BTreeSet<_> = rows.iter().map(|row| row.id).collect();
        assert!(ids.is_superset(&seen.acknowledged), "{end:?}");
        let unheard = ids.len() - seen.acknowledged.len();
        assert!(
            unheard <= round + 1,
            "one a life may be written and not yet told"
        );
        let closed = db.writer().unwrap().alone(|w| w.close_orphans(Wall(1)));
        seen.orphans += closed.unwrap();
        seen.rows.push(rows.len());
        seen.nanos.push(clock.now().as_nanos());
    }
    seen.crashes = disk.counts().crashes;
    assert_eq!(disk.open_files(), 0);
    seen
}

fn finish(disk: &Disk, end: End, node: NodeId, dice: &mut Dice) {
    match end {
        End::Killed => disk.kill(),
        End::Cut => disk.crash(dice.roll()),
        End::CutAtWork => {
            assert!(disk.is_off());
            disk.crash(dice.roll());
        }
    }
    Handle::current().kill(node);
}

fn simulate(seed: u64) -> Seen {
    std::thread::scope(|scope| {
        let named = std::thread::Builder::new().name(format!("seed {seed}"));
        let world =
            move || Runtime::with_seed_and_config(seed, Config::default()).block_on(a_world(seed));
        // Only a thread that has made no map yet gets its hashing from the seed.
        named.spawn_scoped(scope, world).unwrap().join().unwrap()
    })
}

#[test]
fn a_hub_that_dies_with_its_disk_finds_all_it_acknowledged() {
    for seed in 0..10 {
        let seen = simulate(seed);
        assert_eq!((seen.crashes, seen.rows.len()), (4, 6));
        assert!(seen.acknowledged.len() > 100, "{seen:?}");
        assert_eq!(seen.orphans, *seen.rows.last().unwrap());
    }
}

#[test]
fn the_same_seed_sees_the_same() {
    assert_eq!(simulate(3), simulate(3));
    assert_ne!(simulate(3), simulate(4));
}
