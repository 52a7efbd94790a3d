//! What must hold at the end of a story about lookups, beside what the history has seen to at each write.

use super::history::Answered;
use super::lane::NAMES;
use super::process::Call;
use super::scenario::{Fault, Knows, Scenario};
use super::songs::{TITLES, beside, number_of};
use super::story::{Outcome, targets};
use segue_core::breaker::Phase;
use segue_core::delivery::Form;
use segue_core::dispatch::Quality;
use segue_core::io::Digest;
use segue_core::queue::{Outcome as Found, Status};
use segue_core::{Tick, Wall};
use segue_sqlite::{DeliveryStatus, QueueRow};
use std::collections::BTreeMap;
use std::time::Duration;

/// A turn of the store, and the messages of a connection that is closed.
const SLACK: Duration = Duration::from_millis(100);

/// What is broken; nothing when all is well.
pub fn check(scenario: &Scenario, outcome: &Outcome) -> Vec<String> {
    let mut broken = outcome.broken.clone();
    lanes(scenario, outcome, &mut broken);
    windows(scenario, outcome, &mut broken);
    ends(scenario, outcome, &mut broken);
    folder(scenario, outcome, &mut broken);
    leftovers(outcome, &mut broken);
    broken
}

/// D4, D8 and the pace: one call of a lane at a time, apart from its end, and none while it is open.
fn lanes(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    let mut by_lane: BTreeMap<(u64, usize), Vec<&Call>> = BTreeMap::new();
    for call in &outcome.calls {
        by_lane
            .entry((call.owner, call.lane))
            .or_default()
            .push(call);
    }
    let spacing = Duration::from_millis(scenario.spacing);
    for ((_, lane), mut calls) in by_lane {
        calls.sort_by_key(|call| call.began);
        let name = NAMES[lane];
        for pair in calls.windows(2) {
            match pair[0].closed {
                None => broken.push(format!("D4: {name} is called while it is called")),
                Some(closed) if pair[1].began < closed => {
                    broken.push(format!("D4: {name} is called while it is called"));
                }
                Some(closed) if pair[1].began < closed + spacing => {
                    broken.push(format!(
                        "D4: {name} is called too soon after its last answer"
                    ));
                }
                Some(_) => {}
            }
        }
        for call in calls {
            match call.phase {
                Some(Phase::Open { until }) if until > call.began => {
                    broken.push(format!("D8: {name} is called, and is open"));
                }
                Some(Phase::Open { .. } | Phase::Closed | Phase::HalfOpen) | None => {}
            }
        }
    }
}

/// D6 and D7: what was at hand when a song was answered, and how long it had been held.
fn windows(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    for answered in &outcome.answered {
        // What is at hand is not wanted when it is no better than what the song has.
        if answered.outcome != Found::Lyrics || answered.again || is_disturbed(scenario) {
            continue;
        }
        let title = TITLES[answered.song];
        for (lane, name) in NAMES.iter().enumerate().take(scenario.lanes.len()) {
            let quality = match outcome.knows[answered.song][lane] {
                Knows::Plain => Quality::Plain,
                Knows::Line => Quality::Line,
                Knows::Nothing | Knows::Instrumental => continue,
            };
            let Some(arrived) = arrived(outcome, answered, lane) else {
                continue;
            };
            if quality > answered.quality && arrived + SLACK < answered.at {
                broken.push(format!("D6: {title} gets less than {} had said", name));
            }
            let wait = match scenario.race_wait {
                Some(millis) if quality == Quality::Plain => Duration::from_millis(millis),
                Some(_) | None => Duration::ZERO,
            };
            if arrived + wait + SLACK < answered.at {
                broken.push(format!(
                    "D7: {title} waits for too long after {} had it",
                    name
                ));
            }
        }
    }
}

/// Whether somebody stood still, so that nothing can be said of how long things took.
fn is_disturbed(scenario: &Scenario) -> bool {
    let disturbs =
        |(_, fault): &(u64, Fault)| matches!(fault, Fault::Freeze(..) | Fault::Learns(..));
    scenario.faults.iter().any(disturbs)
}

/// When a lane's whole answer for a song had come to who answered it in the end.
fn arrived(outcome: &Outcome, answered: &Answered, lane: usize) -> Option<Tick> {
    let mine = |call: &&Call| {
        (call.owner, call.song, call.lane) == (answered.owner, answered.song, lane)
            && call.began >= answered.claimed
            && call.began <= answered.at
    };
    let knows = outcome.knows[answered.song][lane];
    let last = outcome
        .calls
        .iter()
        .filter(mine)
        .max_by_key(|call| call.began)?;
    // A lane that has only plain words goes on to search for better ones.
    let is_whole = last.last || knows == Knows::Line;
    let arrived = last
        .closed
        .filter(|_| is_whole && last.status == Some(200))?;
    let is_right = outcome.answered.iter().any(|a| a == answered) && arrived <= answered.at;
    // Whether what came was right is only sure of the lane that won, and where nothing was spoilt.
    let is_winner = answered.lane.as_deref() == Some(NAMES[lane]);
    let is_sure = is_winner || !outcome.spoilt.contains(&lane);
    (is_right && is_sure).then_some(arrived)
}

/// Q1, Q4, Q5 and liveness: every song has come to its right end.
fn ends(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    if !outcome.settled {
        let rows = outcome.look.rows.iter();
        let rows: Vec<String> = rows.map(shown).collect();
        broken.push(format!(
            "liveness: all is well, and it does not settle: {rows:?}"
        ));
        return;
    }
    for (_, put) in &scenario.puts {
        let title = TITLES[put.song];
        let rows = outcome.look.rows.iter();
        let rows: Vec<&QueueRow> = rows.filter(|row| row.song.title == title).collect();
        let [row] = rows[..] else {
            broken.push(format!("Q5: {title} has {} rows", rows.len()));
            continue;
        };
        let files = scenario.songs[put.song].files;
        let wanted = 1 + put.times.min(files);
        if targets(outcome, row.work_id).len() < wanted {
            broken.push(format!("Q5: {title} has lost who wants it"));
        }
        if !is_right(scenario, outcome, put.song, row) {
            let knows = &outcome.knows[put.song];
            broken.push(format!(
                "liveness: {}, and the lanes know {knows:?}",
                shown(row)
            ));
        }
    }
}

/// Whether a song has ended as what the lanes know of it says.
fn is_right(scenario: &Scenario, outcome: &Outcome, song: usize, row: &QueueRow) -> bool {
    let knows = &outcome.knows[song];
    let best = knows.iter().map(|knows| match knows {
        Knows::Nothing => Quality::None,
        Knows::Instrumental => Quality::Instrumental,
        Knows::Plain => Quality::Plain,
        Knows::Line => Quality::Line,
    });
    let best = best.max().unwrap_or(Quality::None);
    let has_words = best >= Quality::Plain;
    let is_well_known = !scenario
        .faults
        .iter()
        .any(|(_, fault)| matches!(fault, Fault::Learns(of, ..) if *of == song));
    let expected = match best {
        Quality::None => (Status::Deferred, None),
        Quality::Instrumental => (Status::Done, Some(Found::Instrumental)),
        Quality::Plain | Quality::Line | Quality::Word => (Status::Done, Some(Found::Lyrics)),
    };
    if is_well_known && (row.status, row.outcome) != expected {
        return false;
    }
    match row.outcome {
        // Time enough for the best that anybody has.
        Some(Found::Lyrics) => scenario.later == 0 || row.quality >= best,
        // Remembered, whatever somebody learns afterwards.
        Some(Found::Instrumental) => row.status == Status::Done,
        Some(Found::Rejected) => false,
        None => row.status == Status::Deferred && (scenario.later == 0 || !has_words),
    }
}

fn shown(row: &QueueRow) -> String {
    let lease = row.lease_until.map(|Wall(at)| at);
    format!(
        "{} is {} {:?} lease {lease:?}: {:?}",
        row.song.title,
        row.status.as_str(),
        row.outcome,
        row.reason
    )
}

/// S1 to S3 at the end: every sidecar is right, whole and ours, or somebody else's as it was.
fn folder(scenario: &Scenario, outcome: &Outcome, broken: &mut Vec<String>) {
    for at in outcome.files.keys().filter(|at| at.is_temp()) {
        broken.push(format!("S1: {} is left", at.path));
    }
    if !outcome.settled {
        return;
    }
    for parcel in &outcome.look.parcels {
        let path = &parcel.file.path;
        let name = path.rsplit_once('/').map_or("", |(_, name)| name);
        let title = name.trim_end_matches(".flac").trim_end_matches(['0', '1']);
        let Some(song) = number_of(title.trim_end()) else {
            broken.push(format!("Q5: nobody has {path}"));
            continue;
        };
        let file = usize::from(name.ends_with("1.flac"));
        let form = Form::of(parcel.quality).unwrap_or(Form::Plain);
        let (target, other) = (beside(song, file, form), beside(song, file, form.other()));
        let is_theirs = outcome.users.contains_key(&target);
        let is_blocked = form == Form::Plain && outcome.users.contains_key(&other);
        let stands = match is_theirs || is_blocked {
            true => DeliveryStatus::Refused,
            false => DeliveryStatus::Delivered,
        };
        // What somebody does afterwards may go unseen, and what he takes back was seen once.
        let is_touched = [&target, &other]
            .iter()
            .any(|at| outcome.touched.contains(at));
        if parcel.status != stands && !is_touched {
            broken.push(format!(
                "liveness: the sidecar of {path} is {}, not {}: {:?}",
                parcel.status.as_str(),
                stands.as_str(),
                parcel.reason
            ));
            continue;
        }
        if parcel.status != DeliveryStatus::Delivered || is_theirs {
            continue;
        }
        let lies = outcome.files.get(&target);
        let hash = parcel.delivered.as_ref().map(|file| file.hash.clone());
        let is_right = match lies.map(|bytes| Digest::of(bytes).to_hex()) {
            None => is_touched && scenario.later == 0,
            Some(lies) => Some(lies) == hash,
        };
        if !is_right {
            broken.push(format!(
                "S1: the sidecar of {path} is not what was delivered"
            ));
        }
    }
    let with_words = outcome
        .look
        .rows
        .iter()
        .filter(|row| row.outcome == Some(Found::Lyrics));
    for row in with_words {
        let files = targets(outcome, row.work_id)
            .iter()
            .filter_map(|t| t.file.as_ref());
        for file in files {
            if !outcome.look.parcels.iter().any(|p| p.file == *file) {
                broken.push(format!("S4: nobody delivers to {}", file.path));
            }
        }
    }
}

/// B2, D5: nothing is left over.
fn leftovers(outcome: &Outcome, broken: &mut Vec<String>) {
    for (node, now, then) in &outcome.leaked {
        broken.push(format!("D5: {node} has {now} tasks, and had {then}"));
    }
    for (process, permits, waiting) in &outcome.held {
        broken.push(format!(
            "B2: {process} holds {permits} permits, {waiting} wait"
        ));
    }
    for (at, error) in &outcome.errors {
        broken.push(format!("an error is logged at {at:?}: {error}"));
    }
    if outcome.panics > 0 {
        broken.push(format!("{} panics were contained", outcome.panics));
    }
    if outcome.sockets > 0 {
        broken.push(format!("D5: {} sockets are open", outcome.sockets));
    }
    let open = outcome
        .calls
        .iter()
        .filter(|call| call.closed.is_none())
        .count();
    if open > 0 {
        broken.push(format!(
            "D3: {open} calls are neither answered nor given up"
        ));
    }
}
