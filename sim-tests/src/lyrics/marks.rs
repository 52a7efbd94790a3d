//! Rare things that have to happen in a run of random stories, or nothing is proved about them.

use super::story::Outcome;
use std::collections::BTreeMap;

/// What has to happen.
const WANTED: [&str; 14] = [
    "claimed again",
    "deferred",
    "done as instrumental",
    "done with words",
    "failed",
    "folder full",
    "freeze",
    "kept alive",
    "kill",
    "power cut",
    "reclaimed",
    "released",
    "stop",
    "wall step",
];

/// How often each happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(BTreeMap<&'static str, u64>);

impl Marks {
    /// Counts what happened in a story.
    pub fn note(&mut self, outcome: &Outcome) {
        for (what, times) in &outcome.counts.0 {
            *self.0.entry(what).or_default() += times;
        }
        *self.0.entry("calls").or_default() += outcome.calls.len() as u64;
    }

    /// What never happened.
    pub fn missing(&self) -> Vec<&'static str> {
        let wanted = WANTED.into_iter();
        wanted.filter(|what| !self.0.contains_key(what)).collect()
    }
}
