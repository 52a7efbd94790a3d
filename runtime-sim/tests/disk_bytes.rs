//! The same seeds leave the same bytes. Alone in its process: SQLite draws all salts from one generator.

use segue_core::time::Wall;
use segue_runtime_sim::disk::{Counts, Dice, Disk, Geometry, seed_salts};
use segue_sqlite::NewUser;
use std::collections::BTreeMap;
use std::num::NonZeroI32;

/// Users are added until the power goes; what is on the disk before and after the crash.
fn bytes(salt: i32, seed: u64) -> (Vec<BTreeMap<String, Vec<u8>>>, Counts) {
    seed_salts(NonZeroI32::new(salt));
    let mut dice = Dice::new(seed);
    let disk = Disk::new(Geometry::HARSH);
    let mut bytes = Vec::new();
    for round in 0..3 {
        let writer = disk.database().unwrap().writer().unwrap();
        disk.cut_power_after(40 + dice.below(60));
        for n in 0.. {
            let user = NewUser {
                name: format!("user {round} {n}"),
                password_enc: vec![1; 300],
                is_admin: false,
            };
            if writer.alone(|w| w.add_user(&user, Wall(1))).is_err() {
                break;
            }
        }
        bytes.push(disk.files());
        disk.crash(dice.roll());
        bytes.push(disk.files());
    }
    (bytes, disk.counts())
}

#[test]
fn the_same_seeds_leave_the_same_bytes() {
    let first = bytes(1, 1);
    assert!(first.0.iter().all(|files| files.contains_key("segue.db")));
    assert_eq!(bytes(1, 1), first);
    assert_ne!(bytes(1, 2).0, first.0);
    let salted = bytes(2, 1);
    assert_ne!(salted.0, first.0);
    assert_eq!(salted.1, first.1, "a salt decides nothing");
}
