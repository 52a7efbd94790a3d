//! Each broken twin is caught, and with no twin everything passes.

#[allow(dead_code, reason = "the tests themselves hunt for longer")]
#[path = "../common/mod.rs"]
mod common;
#[path = "../toy/mod.rs"]
mod toy;

#[path = "../exhaustive/alone.rs"]
mod alone;
#[path = "../exhaustive/bodies.rs"]
mod bodies;
#[path = "../exhaustive/breaker.rs"]
mod breaker;
#[allow(
    dead_code,
    reason = "some worlds are too large to be walked through for each twin"
)]
#[path = "../exhaustive/dispatch.rs"]
mod dispatch;
#[allow(dead_code, reason = "the size of a world is for others")]
#[path = "../exhaustive/explore.rs"]
mod explore;
#[allow(dead_code, reason = "two sources are enough")]
#[path = "../exhaustive/openings.rs"]
mod openings;
#[path = "../exhaustive/relay.rs"]
mod relay;
#[path = "../delivery/removal.rs"]
mod removal;
#[path = "../queue/rules.rs"]
mod rules;

mod checks;

use checks::{Check, QUICK, THOROUGH};
use segue_core::twin::{self, Twin};
use std::io::Write as _;
use std::panic::{set_hook, take_hook};

/// Who noticed, and after how many seeds, steps or cases.
fn noticed_by(twin: Twin) -> Vec<String> {
    let notices = |check: &Check| {
        let broken = twin::with(Some(twin), || check.run()).err()?;
        Some(format!("{} ({})", check.name, broken.after))
    };
    let mut found: Vec<String> = QUICK.iter().filter_map(notices).collect();
    if found.is_empty() {
        found.extend(THOROUGH.iter().find_map(notices));
    }
    found
}

/// Prints past the test harness, which would keep it to itself.
fn say(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}

#[test]
fn every_twin_is_noticed_and_nothing_else_is() {
    for check in QUICK.iter().chain(&THOROUGH) {
        if let Err(broken) = check.run() {
            panic!("without a twin: {}: {broken}", check.name);
        }
    }
    // Assertions of the machines are among those who notice; thousands of them need not be read.
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let table = Twin::CORE.map(|twin| (twin, noticed_by(twin)));
    set_hook(hook);
    say("twin | rule | noticed by (after so many seeds, steps or cases)");
    for (twin, by) in &table {
        say(&format!("{twin:?} | {} | {}", twin.rule(), by.join(", ")));
    }
    let missed: Vec<Twin> = (table.into_iter())
        .filter(|(_, by)| by.is_empty())
        .map(|(twin, _)| twin)
        .collect();
    assert!(missed.is_empty(), "nobody noticed {missed:?}");
}
