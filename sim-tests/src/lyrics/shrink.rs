//! A story about lookups that is wrong, made simpler.

use super::scenario::Scenario;
use crate::replay::verify;

/// Stories that are tried at most.
const SHRINKING: usize = 300;

/// The same story with as few faults, answers, puts and processes as still make it wrong, and its report.
pub fn shrunk(scenario: &Scenario, report: String) -> (Scenario, String) {
    let mut simplest = (scenario.clone(), report);
    let mut tries = 0;
    loop {
        let smaller = simpler(&simplest.0).into_iter().find_map(|candidate| {
            tries += 1;
            (tries < SHRINKING).then_some(())?;
            let report = verify(&candidate).err()?;
            Some((candidate, report))
        });
        match smaller {
            Some(smaller) => simplest = smaller,
            None => return simplest,
        }
    }
}

/// Every way to leave one thing out.
fn simpler(scenario: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Scenario)| {
        let mut changed = scenario.clone();
        change(&mut changed);
        if changed != *scenario {
            all.push(changed);
        }
    };
    for n in 0..scenario.faults.len() {
        with(&|s| {
            s.faults.remove(n);
        });
    }
    for n in 0..scenario.puts.len() {
        with(&|s| {
            s.puts.remove(n);
        });
        with(&|s| s.puts[n].1.times = 1);
    }
    for lane in 0..scenario.lanes.len() {
        with(&|s| s.lanes[lane].clear());
        with(&|s| {
            s.lanes[lane].pop();
        });
    }
    for song in 0..scenario.songs.len() {
        with(&|s| s.songs[song].users = None);
        with(&|s| s.songs[song].files = s.songs[song].files.min(1));
    }
    with(&|s| s.workers = 1);
    with(&|s| s.on_disk = false);
    with(&|s| s.race_wait = None);
    all
}
