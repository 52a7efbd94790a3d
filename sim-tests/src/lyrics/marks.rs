//! Rare things that have to happen in a run of random stories about lookups, or nothing is proved about them.

use super::story::Outcome;
use crate::marks::Marks;

/// What has to happen.
const WANTED: [&str; 22] = [
    "a lane learned something",
    "a panic was laid",
    "a sidecar was edited",
    "a sidecar was removed",
    "claimed again",
    "days went by",
    "deferred",
    "done as instrumental",
    "done with words",
    "failed",
    "folder full",
    "found something better",
    "freeze",
    "kept alive",
    "kept what it had",
    "kill",
    "looks for something better",
    "power cut",
    "reclaimed",
    "released",
    "stop",
    "wall step",
];

/// Counts what happened in a story.
pub(crate) fn note(outcome: &Outcome, marks: &mut Marks) {
    for what in WANTED {
        marks.add(what, 0);
    }
    for (what, times) in &outcome.counts.0 {
        marks.add(what, *times);
    }
    marks.add("calls", outcome.calls.len() as u64);
}
