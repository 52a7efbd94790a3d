//! Random stories.

use segue_sim_tests::soak::soak;
use segue_sim_tests::tale::Kind;

/// Stories in a default run: so many have seen everything that is marked. `SEGUE_SIM_STORIES` overrides it.
const STORIES: u64 = 200;

/// The first of them, always the same, so that a red submission is never luck. `SEGUE_SIM_FROM` overrides it.
const FROM: u64 = 20_261_130;

/// At the same time; more than there are cores are no faster.
const THREADS: usize = 2;

fn given(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn whatever_goes_wrong_every_song_comes_to_its_right_end() {
    let stories = given("SEGUE_SIM_STORIES").unwrap_or(STORIES);
    let from = given("SEGUE_SIM_FROM").unwrap_or(FROM);
    let soaked = soak(&[Kind::Lyrics], from, THREADS, |n| n >= stories);
    if let Some(failure) = soaked.failure {
        panic!("\n{}", failure.simplest());
    }
    let missing = soaked.marks.missing();
    assert!(
        missing.is_empty() || stories < STORIES,
        "these never happened, so nothing is proved about them: {missing:?}; {:#?}",
        soaked.marks
    );
    println!("{:#?}", soaked.marks);
}
