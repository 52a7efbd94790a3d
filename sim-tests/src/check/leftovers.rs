//! F5, B2, D3, D5: nothing is left of a session that is over.

use crate::outcome::Outcome;
use crate::scenario::Scenario;
use segue_sqlite::OperationStatus;

pub(super) fn check(_: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    if !outcome.leaked.is_empty() {
        broken.push(format!(
            "F5, D5: tasks are left, or gone (now, before): {:?}",
            outcome.leaked
        ));
    }
    if outcome.live > 0 {
        broken.push(format!("F5: {} operations still play", outcome.live));
    }
    if outcome.permits > 0 {
        broken.push(format!("B2, D3: {} permits are out", outcome.permits));
    }
    if outcome.unclosed > 0 {
        broken.push(format!(
            "F5: {} connections of the hub are open",
            outcome.unclosed
        ));
    }
    if outcome.standing.iter().any(|standing| *standing != (0, 0)) {
        broken.push(format!(
            "F5: connections and streams stand at the sources: {:?}",
            outcome.standing
        ));
    }
    for row in &outcome.activity {
        if row.status == OperationStatus::Active || row.ended_at.is_none() {
            broken.push(format!("F5: the row of {} is never closed", row.client));
        }
    }
    for (at, error) in &outcome.errors {
        if !outcome.disk_was_ill(*at, *at) {
            broken.push(format!("the hub logged an error at {at:?}: {error}"));
        }
    }
    if outcome.panics > 0 {
        broken.push(format!("{} panics were contained", outcome.panics));
    }
    if outcome.sockets > 0 {
        broken.push(format!("F5: {} sockets are open", outcome.sockets));
    }
    if outcome.files.0 != outcome.files.1 {
        broken.push(format!(
            "F5: {} files are open, before it were {}",
            outcome.files.1, outcome.files.0
        ));
    }
    if !outcome.strangers.is_empty() {
        broken.push(format!(
            "rule 5: the hub called {:?}, who is no source",
            outcome.strangers
        ));
    }
}
