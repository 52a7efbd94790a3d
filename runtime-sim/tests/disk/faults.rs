//! Writes, syncs and everything else that fails, and disks that run full.

use crate::life::{Act, Hub, Oracle, a_disk, contents, oracle};
use segue_core::io::StoreError;
use segue_runtime_sim::disk::{Disk, Failing, Geometry, Operation};

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
