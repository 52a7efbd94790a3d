//! Writes, syncs and everything else that fails, and disks that run full.

use crate::life::{Act, Hub, Oracle, a_disk, contents, oracle};
use segue_core::io::StoreError;
use segue_runtime_sim::disk::{Dice, Disk, Failing, Geometry, Operation};

/// Every kind of act.
fn a_full_life() -> Vec<Act> {
    vec![
        Act::Streams(vec![None, None, Some(1)]),
        Act::Pass(0..40),
        Act::Beside(1),
        Act::Checkpoint,
        Act::Streams(vec![Some(2), None, None, None, None]),
        Act::Reopen,
        Act::Pass(5..60),
        Act::Prune,
        Act::Streams(vec![Some(4), None]),
        Act::Checkpoint,
        Act::Pass(10..30),
        Act::Reopen,
        Act::Streams(vec![Some(5)]),
    ]
}

/// Lives through a fault that comes once: what fails is done again. How many acts failed.
fn live_through(disk: &Disk, life: &[Act], oracle: &Oracle) -> usize {
    let mut hub = Hub::new(disk);
    let mut failures = 0;
    for (done, act) in life.iter().enumerate() {
        if let Err(error) = hub.act(act) {
            failures += 1;
            assert!(matches!(error, StoreError::Database(_)), "{error:?}");
            assert_eq!(contents(disk), oracle.contents[done], "{act:?}: {error}");
            hub.act(act).unwrap();
        }
    }
    drop(hub);
    assert_eq!(contents(disk), oracle.contents[life.len()]);
    failures
}

#[test]
fn whatever_fails_once_is_told_undone_and_done_again() {
    let life = a_full_life();
    let oracle = oracle(Geometry::COMMON, &life);
    for operation in Operation::ALL {
        let calls = oracle.counts.made(operation);
        let mut failures = 0;
        for after in 0..calls {
            let disk = a_disk(Geometry::COMMON);
            disk.fail(operation, Failing::Once { after });
            failures += live_through(&disk, &life, &oracle);
            assert_eq!(disk.counts().failed(operation), 1);
        }
        println!("{operation:?}: {calls} calls, {failures} told");
    }
}

#[test]
fn a_commit_whose_sync_fails_is_told_as_failed_and_is_whole_or_absent_after_a_crash() {
    let life = a_full_life();
    let oracle = oracle(Geometry::COMMON, &life);
    let mut dice = Dice::new(3);
    let (mut whole, mut absent) = (0, 0);
    for after in 0..oracle.counts.made(Operation::Sync) {
        let disk = a_disk(Geometry::COMMON);
        disk.fail(Operation::Sync, Failing::Once { after });
        let mut hub = Hub::new(&disk);
        let mut told = false;
        for (done, act) in life.iter().enumerate() {
            if hub.act(act).is_err() {
                told = true;
                let around = [oracle.contents[done], oracle.contents[done + 1]];
                for _ in 0..4 {
                    let found = contents(&disk.crashed(dice.roll()));
                    whole += u32::from(found == around[1]);
                    absent += u32::from(found == around[0]);
                    assert!(around.contains(&found), "{act:?}");
                }
                hub.act(act).unwrap();
            }
            // What the failed sync left in doubt endangers nothing that was acknowledged since.
            if told {
                let found = contents(&disk.crashed(dice.roll()));
                assert_eq!(found, oracle.contents[done + 1], "{act:?}");
            }
        }
    }
    assert!(whole > 5 && absent > 5, "whole {whole}, absent {absent}");
}

#[test]
fn while_nothing_can_be_written_questions_are_answered_and_then_it_goes_on() {
    let life = a_full_life();
    let oracle = oracle(Geometry::COMMON, &life);
    for operation in [Operation::Write, Operation::Sync] {
        for start in 0..life.len() {
            let disk = a_disk(Geometry::COMMON);
            let mut hub = Hub::new(&disk);
            life[..start].iter().for_each(|act| hub.act(act).unwrap());
            let now = contents(&disk);
            disk.fail(operation, Failing::Always);
            if hub.act(&life[start]).is_err() {
                assert_eq!(hub.users(), hub.users(), "answered");
                assert_eq!(contents(&disk), now);
                assert!(hub.act(&life[start]).is_err());
                disk.heal();
                hub.act(&life[start]).unwrap();
            }
            disk.heal();
            assert_eq!(contents(&disk), oracle.contents[start + 1]);
        }
    }
}

#[test]
fn a_full_disk_is_told_and_with_room_again_it_goes_on() {
    let life = a_full_life();
    let oracle = oracle(Geometry::COMMON, &life);
    let mut told = 0;
    for room in 0..80 {
        let disk = a_disk(Geometry::COMMON);
        let capacity = disk.used() + room * 1024;
        disk.limit(Some(capacity));
        let mut hub = Hub::new(&disk);
        for (done, act) in life.iter().enumerate() {
            if let Err(error) = hub.act(act) {
                told += 1;
                assert!(matches!(error, StoreError::Database(_)), "{error:?}");
                assert!(error.to_string().contains("disk is full"), "{error}");
                assert!(disk.used() <= capacity && disk.counts().full > 0);
                assert_eq!(contents(&disk), oracle.contents[done], "{act:?}");
                disk.limit(None);
                hub.act(act).unwrap();
            }
        }
        drop(hub);
        assert_eq!(contents(&disk), oracle.contents[life.len()]);
    }
    assert!(told > 20, "{told}");
}

/// Without the log neither snapshots nor durability would be what they are said to be.
#[test]
fn a_database_that_was_opened_has_a_log_whatever_failed_before() {
    let whole = Disk::new(Geometry::COMMON);
    drop(whole.database().unwrap());
    for operation in Operation::ALL {
        for after in 0..whole.counts().made(operation) {
            let disk = Disk::new(Geometry::COMMON);
            disk.fail(operation, Failing::Once { after });
            let opened = disk.database().or_else(|_| disk.database());
            let db = opened.unwrap();
            let writer = db.writer().unwrap();
            writer.alone(|w| w.set_setting("k", "v")).unwrap();
            assert!(
                disk.files().contains_key("segue.db-wal"),
                "{operation:?} {after}"
            );
        }
    }
}
