//! Many stories, on several threads: what was seen in them, and the first that is wrong.

use crate::marks::Marks;
use crate::replay::verify;
use crate::seeds::story;
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
    /// The lowest number of those that were wrong, and its report.
    pub failure: Option<(u64, String)>,
}

/// Plays the stories of `first` and the following numbers, `threads` at a time, until one is wrong or `enough` says so
/// of how many were begun. What comes of so many stories does not depend on how many threads there are.
pub fn soak(first: u64, threads: usize, enough: impl Fn(u64) -> bool + Sync) -> Soaked {
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
                    play(first.wrapping_add(n), &soaked);
                }
            });
        }
    });
    soaked.into_inner().unwrap_or_default()
}

fn play(seed: u64, soaked: &Mutex<Soaked>) {
    let verdict = verify(&story(seed));
    let mut soaked = lock(soaked);
    soaked.stories += 1;
    match verdict {
        Ok(outcome) => {
            soaked.simulated += Duration::from_nanos(outcome.took.as_nanos());
            soaked.marks.note(&outcome);
        }
        Err(report) => {
            if soaked
                .failure
                .as_ref()
                .is_none_or(|(other, _)| seed < *other)
            {
                soaked.failure = Some((seed, report));
            }
        }
    }
}
