//! Scenarios that once failed: how they are printed, kept and played again.

use crate::check::check;
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::story::{Run, run};
use segue_runtime_sim::Entry;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The environment variable that holds a scenario to be replayed by the tests.
pub const VARIABLE: &str = "SEGUE_SIM_SCENARIO";

/// Plays and checks a scenario.
///
/// # Errors
/// What is broken, what happened, and the line that makes it happen again.
pub fn verify(scenario: &Scenario) -> Result<Outcome, String> {
    let Run { outcome, timeline } = run(scenario);
    let broken = match outcome {
        Ok(outcome) => {
            let broken = check(scenario, &outcome);
            if broken.is_empty() {
                return Ok(outcome);
            }
            broken
        }
        Err(panic) => vec![panic],
    };
    Err(report(scenario, &broken, &timeline))
}

fn report(scenario: &Scenario, broken: &[String], timeline: &[Entry]) -> String {
    let mut text = String::new();
    // A `String` cannot fail to be written to.
    for entry in timeline {
        let _ = writeln!(text, "{entry}");
    }
    for sentence in broken {
        let _ = writeln!(text, "- {sentence}");
    }
    let _ = write!(text, "play it again: {}", line(scenario));
    text
}

/// The command that replays a scenario.
pub fn line(scenario: &Scenario) -> String {
    format!("cargo sim '{}'", to_text(scenario))
}

/// A scenario as text, as [`from_text`] reads it.
pub fn to_text(scenario: &Scenario) -> String {
    serde_json::to_string(scenario).expect("plain data")
}

/// A scenario from its text.
///
/// # Errors
/// Where the text is no scenario.
pub fn from_text(text: &str) -> Result<Scenario, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The scenarios in `sim-tests/seeds`, each with its file.
///
/// # Panics
/// When one cannot be read: a seed that nobody plays is worse than none.
pub fn kept() -> Vec<(PathBuf, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let files = std::fs::read_dir(&folder).expect("the folder of seeds");
    let files = files.map(|file| file.expect("its entries").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a seed that can be read");
        let scenario = from_text(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        (path, scenario)
    };
    files.into_iter().map(read).collect()
}
