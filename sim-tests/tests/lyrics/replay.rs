//! One seed is one story, here and elsewhere.

use segue_sim_tests::lyrics::replay::{VARIABLE, from_text, verify};
use segue_sim_tests::lyrics::story::run;
use segue_sim_tests::lyrics::strategy::story;

/// Plays the scenario in the environment; without one there is nothing to do.
#[test]
fn replay() {
    let Ok(text) = std::env::var(VARIABLE) else {
        return;
    };
    let scenario = match text.parse() {
        Ok(seed) => story(seed),
        Err(_) => from_text(&text).expect("a scenario"),
    };
    for entry in run(&scenario).timeline {
        println!("{entry}");
    }
    match verify(&scenario) {
        Ok(outcome) => println!("all is well: {:?}", outcome.fingerprint),
        Err(report) => panic!("\n{report}"),
    }
}

#[test]
fn the_same_seed_gives_the_same_story() {
    for seed in 1..4 {
        let [one, other] = [(); 2].map(|()| run(&story(seed)));
        assert_eq!(one.timeline, other.timeline);
    }
    assert_ne!(run(&story(1)).timeline, run(&story(2)).timeline);
}
