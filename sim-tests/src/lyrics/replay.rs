//! Stories about lookups that are to be played again, and how they are printed.

use super::check::check;
use super::scenario::Scenario;
use super::story::{Outcome, Run, run};
use std::fmt::Write;

/// The environment variable that holds a scenario to be played by the tests.
pub const VARIABLE: &str = "SEGUE_LYRICS_SCENARIO";

/// Lines of a timeline that are printed.
const MOST_LINES: usize = 300;

/// Plays and checks a scenario.
///
/// # Errors
/// What is broken, what happened, and the line that makes it happen again.
pub fn verify(scenario: &Scenario) -> Result<Outcome, String> {
    let Run { outcome, timeline } = run(scenario);
    let broken = match outcome {
        Ok(outcome) => match check(scenario, &outcome) {
            broken if broken.is_empty() => return Ok(outcome),
            broken => broken,
        },
        Err(panic) => vec![panic],
    };
    let mut text = String::new();
    // A `String` cannot fail to be written to.
    // What goes round in circles does so for hours.
    for entry in timeline.iter().take(MOST_LINES) {
        let _ = writeln!(text, "{entry}");
    }
    for sentence in &broken {
        let _ = writeln!(text, "- {sentence}");
    }
    let _ = write!(text, "play it again: {}", line(scenario));
    Err(text)
}

/// The command that replays a scenario.
pub fn line(scenario: &Scenario) -> String {
    let text = serde_json::to_string(scenario).expect("plain data");
    format!("{VARIABLE}='{text}' cargo test -p segue-sim-tests --test lyrics replay -- --nocapture")
}

/// A scenario from its text.
///
/// # Errors
/// Where the text is no scenario.
pub fn from_text(text: &str) -> Result<Scenario, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The same story with as few faults, answers, puts and processes as still make it wrong, and its report.
pub fn shrunk(scenario: &Scenario, report: String) -> (Scenario, String) {
    let mut simplest = (scenario.clone(), report);
    let mut tries = 0;
    loop {
        let smaller = simpler(&simplest.0).into_iter().find_map(|candidate| {
            tries += 1;
            (tries < 300).then_some(())?;
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
    with(&|s| s.workers = 1);
    with(&|s| s.on_disk = false);
    with(&|s| s.race_wait = None);
    all
}
