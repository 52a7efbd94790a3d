//! F6: what `stream_operations` says, against what the listeners got.

use crate::outcome::{Ending, Heard, Outcome};
use crate::scenario::{Midstream, Scenario};
use crate::shelf::NAMES;
use segue_sqlite::{OperationStatus, StreamOperation};
use std::collections::BTreeMap;
use std::time::Duration;

/// What may be on its way between the hub and a listener that never got it: two buffers and a window, and the
/// piece in hand.
const UNDER_WAY: u64 = 4 * 16 * 1024;

/// How long the hub takes to see that a listener is gone, beside the latency: nothing tells it but the next
/// thing it does on that connection.
const NOTICED: i64 = 1_000;

/// How long after its end an operation is stored at the latest, when the disk is well.
const STORED: Duration = Duration::from_secs(1);

pub(super) fn check(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    let mut rows: BTreeMap<&str, Vec<&StreamOperation>> = BTreeMap::new();
    for row in &outcome.activity {
        rows.entry(&row.client).or_default().push(row);
    }
    for heard in &outcome.heard {
        let of_this = rows.remove(heard.name.as_str()).unwrap_or_default();
        match (of_this.as_slice(), heard.head.map(|(_, head)| head.status)) {
            // The last moments before a crash, and what the disk refused, are lost (decision 3).
            ([], _) if may_be_lost(heard, outcome) => {}
            ([row], status) if was_cut_off(heard, row, outcome) => {
                interrupted(heard, row, status, broken);
            }
            ([row], Some(200 | 206)) => {
                committed(scenario, outcome, heard, row, broken);
                attempts(row, outcome, broken);
            }
            ([row], Some(502)) => {
                failed(heard, row, broken);
                attempts(row, outcome, broken);
            }
            // The listener left; the hub may have been further.
            ([] | [_], None) => {}
            ([], Some(416)) => {}
            (rows, status) => broken.push(format!(
                "F6: {} rows for {}, which was answered {status:?}",
                rows.len(),
                heard.name
            )),
        }
    }
    for client in rows.keys() {
        broken.push(format!("F6: a row of {client:?}, who asked for nothing"));
    }
}

fn may_be_lost(heard: &Heard, outcome: &Outcome) -> bool {
    let (from, to) = (heard.asked, heard.over + STORED);
    let to = to + outcome.stood_still(from, to);
    outcome.was_away(from, to) || outcome.disk_was_ill(from, to)
}

/// Whether the hub died in the middle of it, or before its end was stored.
fn was_cut_off(heard: &Heard, row: &StreamOperation, outcome: &Outcome) -> bool {
    match row.status {
        OperationStatus::Interrupted => may_be_lost(heard, outcome),
        // All was sent and stored, but the listener never got it.
        _ => outcome.was_away(heard.asked, heard.over) && heard.ending != Ending::Clean,
    }
}

/// A row that the next hub found open, or whose listener lost his hub.
fn interrupted(
    heard: &Heard,
    row: &StreamOperation,
    status: Option<u16>,
    broken: &mut Vec<String>,
) {
    let source = NAMES
        .iter()
        .position(|name| Some(*name) == row.source_id.as_deref());
    let is_heard = matches!(status, Some(200 | 206)) && heard.length > 0;
    if is_heard && !source.is_some_and(|source| heard.owners.contains(&source)) {
        broken.push(format!(
            "F6: {} got bytes of {:?}, its row says {:?}",
            heard.name, heard.owners, row.source_id
        ));
    }
    if row.ended_at.is_none() {
        broken.push(format!("F6: the row of {} was left open", heard.name));
    }
}

/// One row, naming the source whose bytes were sent, and how many.
fn committed(
    scenario: &Scenario,
    outcome: &Outcome,
    heard: &Heard,
    row: &StreamOperation,
    broken: &mut Vec<String>,
) {
    let name = &heard.name;
    let source = row.source_id.as_deref();
    let source = NAMES.iter().position(|name| Some(*name) == source);
    if !source.is_some_and(|source| heard.owners.contains(&source)) {
        broken.push(format!(
            "F6: {name} got bytes of {:?}, its row says {:?}",
            heard.owners, row.source_id
        ));
    }
    let status_fits = match (heard.ending, row.status) {
        (Ending::Clean, status) => status == OperationStatus::Completed,
        (Ending::Broken(_), status) => status == OperationStatus::Truncated,
        // What is announced may be out before the listener leaves.
        (Ending::Left, OperationStatus::ClientGone | OperationStatus::Completed) => true,
        // The source may have died while the listener was not looking.
        (Ending::Left, OperationStatus::Truncated) => true,
        (Ending::Left | Ending::Hung, _) => false,
    };
    if !status_fits {
        broken.push(format!(
            "F6: {name} ended {:?}, its row says {:?}",
            heard.ending, row.status
        ));
    }
    let served: u64 = row.attempts.iter().map(|attempt| attempt.bytes).sum();
    let unheard = row.bytes.saturating_sub(heard.length);
    let bytes_fit = match heard.ending {
        Ending::Clean | Ending::Broken(_) => unheard == 0,
        Ending::Left | Ending::Hung => unheard <= UNDER_WAY,
    };
    if row.bytes < heard.length || !bytes_fit || served != row.bytes {
        broken.push(format!(
            "F6: {name} got {} bytes, its row says {}, its attempts {served}",
            heard.length, row.bytes
        ));
    }
    let resumed = row
        .attempts
        .iter()
        .any(|attempt| attempt.outcome == "resumed");
    if resumed && scenario.midstream == Midstream::Abort {
        broken.push(format!("rule 7: {name} was resumed, which nobody wanted"));
    }
    let excused = outcome.wall_was_set(heard.asked, heard.over + STORED)
        || !outcome
            .stood_still(heard.over, heard.over + STORED)
            .is_zero();
    if row.status == OperationStatus::ClientGone
        && !excused
        && row
            .ended_at
            .is_none_or(|at| at.millis_since(heard.over_wall) > NOTICED)
    {
        broken.push(format!(
            "rule 9: the hub went on long after {name} had left"
        ));
    }
}

/// A failed row with the list of attempts.
fn failed(heard: &Heard, row: &StreamOperation, broken: &mut Vec<String>) {
    let is_failed = row.status == OperationStatus::Failed
        && row.source_id.is_none()
        && row.bytes == 0
        && row.ended_at.is_some()
        && !row.attempts.is_empty();
    if !is_failed {
        broken.push(format!(
            "F6: {} heard 502, its row says {row:?}",
            heard.name
        ));
    }
}

/// Only sources that hold the track are tried, and each at most once.
fn attempts(row: &StreamOperation, outcome: &Outcome, broken: &mut Vec<String>) {
    let track = outcome.heard.iter().find(|heard| heard.name == row.client);
    let holders = track.map_or(&[][..], |heard| &outcome.ranked[heard.play.track]);
    let mut opened = Vec::new();
    for attempt in &row.attempts {
        let source = NAMES.iter().position(|name| *name == attempt.source_id);
        if !source.is_some_and(|source| holders.contains(&source)) {
            broken.push(format!("F6: {} tried {}", row.client, attempt.source_id));
        }
        if attempt.outcome == "running" {
            broken.push(format!(
                "F6: {} has an attempt that never ended",
                row.client
            ));
        }
        if attempt.outcome != "resumed" && opened.contains(&source) {
            broken.push(format!(
                "D4: {} tried {} twice",
                row.client, attempt.source_id
            ));
        }
        opened.push(source);
    }
}
