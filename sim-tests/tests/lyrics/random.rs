//! Random stories.

use segue_sim_tests::lyrics::marks::Marks;
use segue_sim_tests::lyrics::replay::{line, shrunk, verify};
use segue_sim_tests::lyrics::strategy::story;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stories in a default run. `SEGUE_SIM_STORIES` overrides it.
const STORIES: u64 = 200;

/// The first of them, always the same, so that a red submission is never luck. `SEGUE_SIM_FROM` overrides it.
const FROM: u64 = 20_261_130;

fn given(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn whatever_goes_wrong_every_song_comes_to_its_right_end() {
    let stories = given("SEGUE_SIM_STORIES").unwrap_or(STORIES);
    let from = given("SEGUE_SIM_FROM").unwrap_or(FROM);
    let next = AtomicU64::new(0);
    let marks = Mutex::new(Marks::default());
    let failure: Mutex<Option<(u64, String)>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= stories || failure.lock().expect("no panic").is_some() {
                        return;
                    }
                    match verify(&story(from + n)) {
                        Ok(outcome) => marks.lock().expect("no panic").note(&outcome),
                        Err(report) => {
                            let mut failure = failure.lock().expect("no panic");
                            if failure.as_ref().is_none_or(|(other, _)| from + n < *other) {
                                *failure = Some((from + n, report));
                            }
                        }
                    }
                }
            });
        }
    });
    if let Some((seed, report)) = failure.into_inner().expect("no panic") {
        let (simplest, report) = shrunk(&story(seed), report);
        panic!(
            "\nstory {seed}\n{report}\nthe simplest: {}",
            line(&simplest)
        );
    }
    let marks = marks.into_inner().expect("no panic");
    let missing = marks.missing();
    assert!(
        missing.is_empty() || stories < STORIES,
        "these never happened, so nothing is proved about them: {missing:?}; {marks:#?}"
    );
    println!("{marks:#?}");
}
