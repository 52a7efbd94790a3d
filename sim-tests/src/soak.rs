//! Many stories, on several threads: what was seen in them, and the first that is wrong.

use crate::marks::Marks;
use crate::tale::Kind;
use segue_core::driver::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What came of many stories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soaked {
    /// How many were played.
    pub stories: u64,
    /// Simulated time of all together.
    pub simulated: Duration,
    /// What happened in them.
    pub marks: Marks,
    /// The first of those that were wrong.
    pub failure: Option<Failure>,
}

/// A story that was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of which kind it is.
    pub kind: Kind,
    /// Its number.
    pub seed: u64,
    /// What was wrong, and the timeline.
    pub report: String,
}

impl Failure {
    /// The report of the simplest story that is wrong in this way; takes as long as some hundred stories.
    pub fn simplest(self) -> String {
        self.kind.simplest(self.seed, self.report)
    }
}

/// Plays the stories of `first` and the following numbers, by turns of each of `kinds`, `threads` at a time, until one is
/// wrong or `enough` says so of how many were begun. What comes of so many stories does not depend on how many threads
/// there are.
pub fn soak(
    kinds: &[Kind],
    first: u64,
    threads: usize,
    enough: impl Fn(u64) -> bool + Sync,
) -> Soaked {
    let begun = AtomicU64::new(0);
    let soaked = Mutex::new(Soaked::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            // Scoped, so it is joined here.
            scope.spawn(|| {
                loop {
                    let n = begun.fetch_add(1, Ordering::Relaxed);
                    if enough(n) || lock(&soaked).failure.is_some() {
                        return;
                    }
                    let turns = kinds.len() as u64;
                    let kind = kinds[(n % turns) as usize];
                    play(kind, first.wrapping_add(n / turns), &soaked);
                }
            });
        }
    });
    soaked.into_inner().unwrap_or_default()
}

fn play(kind: Kind, seed: u64, soaked: &Mutex<Soaked>) {
    let verdict = kind.play(seed);
    let mut soaked = lock(soaked);
    soaked.stories += 1;
    match verdict {
        Ok((took, marks)) => {
            soaked.simulated += took;
            soaked.marks.join(&marks);
        }
        Err(report) => {
            let is_first = soaked
                .failure
                .as_ref()
                .is_none_or(|other| seed < other.seed);
            if is_first {
                soaked.failure = Some(Failure { kind, seed, report });
            }
        }
    }
}
