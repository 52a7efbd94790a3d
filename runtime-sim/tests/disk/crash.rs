//! Power cuts at any step: what was acknowledged is there, whole, and nothing is half there.

use crate::life::{Act, Hub, Oracle, a_disk, a_life, contents, oracle};
use segue_runtime_sim::disk::{Dice, Disk, Geometry, Operation};

/// What the images of one life came to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    images: u64,
    /// The change under way when the power went was found whole.
    whole: u64,
    /// It was found not at all.
    absent: u64,
    /// Something that was acknowledged was missing.
    lost: u64,
}

/// Lives until the power goes; how many acts were acknowledged.
fn live(life: &[Act], mut hub: Hub) -> usize {
    life.iter().take_while(|act| hub.act(act).is_ok()).count()
}

/// Opens what a crash left as a hub would; which of the oracle's states it is in.
fn found(image: &Disk, oracle: &Oracle, upto: usize) -> usize {
    drop(image.database().expect("the database opens after a crash"));
    let found = contents(image);
    let states = &oracle.contents[..=upto];
    // States may repeat: the latest is meant.
    let state = states.iter().rposition(|state| *state == found);
    state.expect("no change is found by halves")
}

fn crash_a_life(life: &[Act], geometry: Geometry, cuts: u64, hub: fn(&Disk) -> Hub) -> Tally {
    let oracle = oracle(geometry, life);
    let mut dice = Dice::new(oracle.contents[life.len()]);
    let mut tally = Tally::default();
    for _ in 0..cuts {
        let disk = a_disk(geometry);
        if dice.coin() {
            disk.cut_power_after(dice.below(oracle.counts.changes));
        } else {
            disk.cut_power_after_syncs(dice.below(oracle.counts.made(Operation::Sync)));
        }
        let done = live(life, hub(&disk));
        let under_way = (done + 1).min(life.len());
        for _ in 0..4 {
            let found = found(&disk.crashed(dice.roll()), &oracle, under_way);
            tally.images += 1;
            // An act that changes nothing leaves the state that was there before.
            let same = |state: usize| oracle.contents[state] == oracle.contents[found];
            if same(done) {
                tally.absent += 1;
            } else if same(under_way) {
                tally.whole += 1;
            } else {
                tally.lost += 1;
            }
        }
    }
    tally
}

fn crash_lives(seeds: std::ops::Range<u64>, geometry: Geometry, hub: fn(&Disk) -> Hub) -> Tally {
    let mut sum = Tally::default();
    for seed in seeds {
        let tally = crash_a_life(&a_life(seed, 12), geometry, 8, hub);
        println!("life {seed} on {geometry:?}: {tally:?}");
        sum.images += tally.images;
        sum.whole += tally.whole;
        sum.absent += tally.absent;
        sum.lost += tally.lost;
    }
    sum
}

/// How many lives are cut short on each kind of disk, 32 times each. `SEGUE_LIVES=1000` soaks.
fn lives() -> u64 {
    let asked = std::env::var("SEGUE_LIVES").ok();
    asked.map_or(20, |lives| lives.parse().expect("a number of lives"))
}

/// What was never opened before is made whole or made anew.
#[test]
fn a_database_whose_making_was_cut_short_is_made_at_the_next_start() {
    let whole = Disk::new(Geometry::HARSH);
    drop(whole.database().unwrap());
    // To look into it changes the disk as well: a log is made and removed.
    let changes = whole.counts().changes;
    let expected = contents(&whole);
    let mut dice = Dice::new(7);
    for _ in 0..40 {
        let disk = Disk::new(Geometry::HARSH);
        disk.cut_power_after(dice.below(changes));
        let has_failed = disk.database().is_err();
        assert!(has_failed || disk.is_off(), "closing is the end of it");
        disk.crash(dice.roll());
        assert!(disk.database().is_ok());
        assert_eq!(contents(&disk), expected);
    }
}

#[test]
fn what_is_acknowledged_survives_a_power_cut_and_nothing_is_half_there() {
    for geometry in [Geometry::COMMON, Geometry::HARSH] {
        let tally = crash_lives(0..lives(), geometry, Hub::new);
        assert_eq!(tally.lost, 0);
        assert!(tally.images >= 640, "{tally:?}");
        assert!(
            tally.whole > 20 && tally.absent > 20,
            "both must happen: {tally:?}"
        );
    }
}

/// The twin: were commits acknowledged before they are durable, the test above would see it.
#[test]
fn acknowledging_before_the_sync_is_seen_to_lose_changes() {
    let tally = crash_lives(0..6, Geometry::COMMON, Hub::acknowledging_early);
    assert!(tally.lost > tally.images / 10, "{tally:?}");
}

/// So much is written that SQLite empties the log by itself, in the middle of a commit.
#[test]
fn a_log_that_is_emptied_at_work_loses_nothing() {
    let life: Vec<_> = (0..11).map(|n| Act::Pass(n..16_000 - 7 * n)).collect();
    let disk = a_disk(Geometry::COMMON);
    let before = disk.files()["segue.db"].len();
    let mut hub = Hub::new(&disk);
    life.iter().for_each(|act| {
        hub.act(act).unwrap();
    });
    assert!(
        disk.files()["segue.db"].len() > 2 * before,
        "it was emptied"
    );
    let tally = crash_a_life(&life, Geometry::COMMON, 5, Hub::new);
    println!("{tally:?}");
    assert_eq!(tally.lost, 0);
}
