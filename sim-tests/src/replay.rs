//! Stories that once failed: how they are printed, kept and played again. One way for both kinds.

use crate::alone::Run;
use crate::tale::{Kind, Tale};
use crate::{lyrics, scenario};
use segue_runtime_sim::Entry;
use serde::de::DeserializeOwned;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Lines of a report's timeline at most, at either end. What goes round in circles does so for hours.
const LINES: usize = 1_000;

/// Plays and checks a scenario.
///
/// # Errors
/// What is broken, what happened, and the line that makes it happen again.
pub fn verify<T: Tale>(scenario: &T) -> Result<T::Outcome, String> {
    let Run { outcome, timeline } = scenario.run();
    let broken = match outcome {
        Ok(outcome) => match scenario.broken(&outcome) {
            broken if broken.is_empty() => return Ok(outcome),
            broken => broken,
        },
        Err(panic) => vec![panic],
    };
    Err(report(scenario, &broken, &timeline))
}

fn report<T: Tale>(scenario: &T, broken: &[String], timeline: &[Entry]) -> String {
    let mut text = String::new();
    let left_out = timeline.len().saturating_sub(2 * LINES);
    let end = timeline.len().saturating_sub(LINES);
    // A `String` cannot fail to be written to.
    for (n, entry) in timeline.iter().enumerate() {
        if n < LINES || n >= end {
            let _ = writeln!(text, "{entry}");
        } else if n == LINES {
            let _ = writeln!(text, "... {left_out} lines ...");
        }
    }
    for sentence in broken {
        let _ = writeln!(text, "- {sentence}");
    }
    let _ = write!(text, "play it again: {}", line(scenario));
    text
}

/// The command that replays a scenario.
pub fn line<T: Tale>(scenario: &T) -> String {
    let text = serde_json::to_string(scenario).expect("plain data");
    format!("cargo sim '{text}'")
}

/// A story of either kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Either {
    /// About a hub and its listeners.
    Streams(scenario::Scenario),
    /// About lookups.
    Lyrics(lyrics::scenario::Scenario),
}

/// A scenario from its text.
///
/// # Errors
/// Where the text is no scenario.
pub fn from_text(text: &str) -> Result<Either, String> {
    match kind(text)? {
        Kind::Streams => Ok(Either::Streams(parse(text)?)),
        Kind::Lyrics => Ok(Either::Lyrics(parse(text)?)),
    }
}

/// Only lookups know lanes.
fn kind(text: &str) -> Result<Kind, String> {
    let value: serde_json::Value = parse(text)?;
    match value.get("lanes") {
        Some(_) => Ok(Kind::Lyrics),
        None => Ok(Kind::Streams),
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// The scenarios of a kind in `sim-tests/seeds`, each with its file.
///
/// # Panics
/// When one cannot be read: a seed that nobody plays is worse than none.
pub fn kept<T: Tale>() -> Vec<(PathBuf, T)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let files = std::fs::read_dir(&folder).expect("the folder of seeds");
    let files = files.map(|file| file.expect("its entries").path());
    let mut files: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a seed that can be read");
        let scenario = match kind(&text) {
            Ok(kind) if kind != T::KIND => return None,
            Ok(_) => parse(&text),
            Err(why) => Err(why),
        };
        let scenario = scenario.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        Some((path, scenario))
    };
    files.into_iter().filter_map(read).collect()
}

/// Plays what failed once; what fails again ends the test.
///
/// # Panics
/// With the report of the first that fails.
pub fn play_kept<T: Tale>() {
    let kept = kept::<T>();
    assert!(!kept.is_empty(), "no seed of this kind is kept");
    for (path, scenario) in kept {
        if let Err(report) = verify(&scenario) {
            panic!("{}\n{report}", path.display());
        }
    }
}
