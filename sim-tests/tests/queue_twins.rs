//! Broken twins of the queue's SQL: what random stories over a real database notice of each rule that is removed.
//!
//! The stories are those of `runtime-tokio/sqlite/tests/queue/`; here they are played in a build in which a bug can be chosen.

#[allow(dead_code, reason = "the tests themselves hunt for longer")]
#[path = "../../core/tests/common/mod.rs"]
mod dice;
#[path = "../../runtime-tokio/sqlite/tests/queue/story.rs"]
mod story;

use dice::Dice;
use segue_core::twin::{self, Twin};
use std::io::Write as _;

/// How many stories a twin meets at most.
const STORIES: u64 = 400;

/// The first story that does not end well, and why.
fn noticed(twin: Option<Twin>) -> Option<(u64, String)> {
    twin::with(twin, || {
        (1..=STORIES).find_map(|seed| {
            let why = story::play(&mut Dice::seeded(seed)).err()?;
            Some((seed, why))
        })
    })
}

#[test]
fn stories_of_workers_notice_every_twin_of_the_queue() {
    assert_eq!(noticed(None), None, "without a twin all is well");
    let table = Twin::STORE.map(|twin| (twin, noticed(Some(twin))));
    let mut out = std::io::stdout();
    for (twin, found) in &table {
        let (after, why) = found.as_ref().map_or((0, ""), |(seed, why)| (*seed, why));
        let why = why.lines().next().unwrap_or_default();
        let _ = writeln!(out, "{twin:?} | {} | story {after}: {why}", twin.rule());
    }
    let missed = table.iter().filter(|(_, found)| found.is_none());
    let missed: Vec<Twin> = missed.map(|(twin, _)| *twin).collect();
    assert!(missed.is_empty(), "nobody noticed {missed:?}");
}
