//! What the demo says while it runs: each failover in one line.

use crate::hub::Hub;
use crate::world::World;
use segue_core::io::{Clock, Runtime};
use segue_sqlite::{OperationStatus, StreamOperation};
use std::collections::BTreeMap;
use std::time::Duration;

/// How often the activity is looked at.
const EVERY: Duration = Duration::from_millis(300);
/// More operations than can happen meanwhile, by hand.
const ROWS: usize = 50;

/// Prints `what` with the time of day.
pub(super) fn line(clock: &impl Clock, what: &str) {
    let now = clock.wall().to_string();
    println!("{}  {what}", now.get(11..19).unwrap_or(""));
}

/// Tells about each operation once when it begins and once more if it ends badly, for ever.
pub(super) async fn tell(hub: &Hub<World>) {
    let clock = hub.runtime().clock();
    let mut told: BTreeMap<i64, OperationStatus> = BTreeMap::new();
    loop {
        hub.activity().flush().await;
        let rows = hub.read(|r| r.activity(ROWS)).await.unwrap_or_default();
        for row in rows.iter().rev() {
            let before = told.insert(row.id, row.status);
            for what in [begun(row, before), ended(row, before)]
                .into_iter()
                .flatten()
            {
                line(clock, &what);
            }
        }
        clock.sleep_until(clock.now() + EVERY).await;
    }
}

fn begun(row: &StreamOperation, before: Option<OperationStatus>) -> Option<String> {
    if before.is_some() {
        return None;
    }
    let Some(source) = &row.source_id else {
        return Some(format!(
            "\"{}\" cannot be played: no source has it now.",
            row.track_title
        ));
    };
    let passed_over = row
        .attempts
        .iter()
        .filter(|attempt| attempt.source_id != *source);
    let passed_over: Vec<String> = passed_over
        .map(|attempt| format!("the {} {}", attempt.source_id, words(&attempt.outcome)))
        .collect();
    Some(match passed_over.is_empty() {
        true => format!("\"{}\" plays from the {source}.", row.track_title),
        false => format!(
            "\"{}\" plays from the {source}: {}.",
            row.track_title,
            passed_over.join(", ")
        ),
    })
}

fn ended(row: &StreamOperation, before: Option<OperationStatus>) -> Option<String> {
    let source = row.source_id.as_ref()?;
    let is_news = before != Some(row.status);
    match row.status {
        OperationStatus::Truncated if is_news => Some(format!(
            "\"{}\" broke off: the {source} died under it. Asked again, it goes on from another source.",
            row.track_title
        )),
        OperationStatus::Truncated
        | OperationStatus::Active
        | OperationStatus::Completed
        | OperationStatus::ClientGone
        | OperationStatus::Failed
        | OperationStatus::Interrupted => None,
    }
}

/// An outcome as the rest of a sentence.
fn words(outcome: &str) -> String {
    match outcome {
        "suspect" => "has failed a moment ago".to_owned(),
        other => format!("failed ({other})"),
    }
}
