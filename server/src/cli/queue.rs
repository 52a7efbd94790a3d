//! `segue queue`: what waits to be looked up, why, and how to move it.
//!
//! Works on the data directory, beside a running hub as well, which is told when something is due.

use super::data::{Claim, People, has_library};
use super::failure::Failure;
use super::{Common, QueueCommand, Rows, prompt, running, show};
use crate::api::shown;
use segue_core::delivery::Left;
use segue_core::io::Clock;
use segue_core::queue::{Outcome, Status};
use segue_core::time::Wall;
use segue_runtime_tokio::clock::TokioClock;
use segue_sqlite::{DeliveryRow, DeliveryStatus, QueueRow, TargetRow, Which, Writer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rows moved in one transaction: a running hub gets its turns between.
const STEP: usize = 1_000;

/// Longer reasons are cut in lists.
const REASON: usize = 60;

pub(super) async fn run(command: QueueCommand) -> Result<(), Failure> {
    match command {
        QueueCommand::List {
            status,
            limit,
            after,
            json,
            common,
        } => list(&common, &status, limit, after, json).await,
        QueueCommand::Show { id, json, common } => one(&common, id, json).await,
        QueueCommand::Retry { rows, common } => {
            let all = [Status::Failed, Status::Parked];
            let change = Change::new("tried again", Writer::retry);
            change.rows(&common, &rows, &all).await
        }
        QueueCommand::Recheck { rows, lane, common } => {
            let change = Change::new("asked for again", Writer::recheck);
            match lane {
                Some(lane) => change.each(&common, vec![Which::NotAskedOf(lane)]).await,
                None => {
                    let all = [Status::Deferred, Status::Retired];
                    change.rows(&common, &rows, &all).await
                }
            }
        }
        QueueCommand::Release { rows, yes, common } => release(&common, rows, yes).await,
        QueueCommand::Clear {
            status,
            yes,
            common,
        } => clear(&common, &status, yes).await,
    }
}

/// The data directory of a library that there is.
pub(super) fn library(common: &Common) -> Result<PathBuf, Failure> {
    let dir = common.load(None)?.config.server.data_dir;
    match has_library(&dir) {
        true => Ok(dir),
        false => Err(Failure::new(format!(
            "there is no library in {}; `segue serve` or `segue sync` begins one",
            dir.display()
        ))),
    }
}

fn status_of(word: &str) -> Result<Status, Failure> {
    Status::of(word).ok_or_else(|| Failure::new(format!("there is no status `{word}`")))
}

async fn list(
    common: &Common,
    status: &str,
    limit: usize,
    after: i64,
    json: bool,
) -> Result<(), Failure> {
    let people = People::open(&library(common)?)?;
    let counts = people
        .read(|r| Ok((r.queue_counts()?, r.refused_count()?)))
        .await?;
    if status == "refused" {
        let rows = people
            .read(move |r| r.refused_targets(after, limit))
            .await?;
        people.close().await;
        return tell_refused(&counts, &rows, json);
    }
    let rows = match status {
        "all" => people.read(move |r| r.queue_list(None, after, limit)).await,
        "next" => people.read(move |r| r.queue_next(limit)).await,
        word => {
            let status = status_of(word)?;
            people
                .read(move |r| r.queue_list(Some(status), after, limit))
                .await
        }
    }?;
    people.close().await;
    if json {
        let items: Vec<Value> = rows.iter().map(shown::row).collect();
        return show::json(&json!({ "counts": by_word(&counts), "items": items }));
    }
    println!("{}", sum(&counts));
    if counts.1 > 0 {
        println!("Those refused are shown by: segue queue list --status refused");
    }
    if rows.is_empty() {
        return Ok(());
    }
    let heading = ["ID", "STATUS", "PRIORITY", "ARTIST", "TITLE", "WHY"];
    let mut table = vec![heading.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(line));
    println!();
    show::table(&table);
    if rows.len() == limit && status != "next" {
        let last = rows.last().map_or(0, |row| row.work_id);
        println!("\nThere may be more: --after {last}");
    }
    Ok(())
}

type Counts = (Vec<(Status, u64)>, u64);

fn by_word((counts, refused): &Counts) -> BTreeMap<&'static str, u64> {
    let counts = counts
        .iter()
        .map(|(status, count)| (status.as_str(), *count));
    counts.chain([("refused", *refused)]).collect()
}

/// The statuses that there are, in one line.
fn sum((counts, refused): &Counts) -> String {
    let words = counts
        .iter()
        .map(|(status, count)| (*count, status.as_str()));
    let words: Vec<String> = words
        .chain([(*refused, "refused")])
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match words.is_empty() {
        true => "The queue is empty.".to_owned(),
        false => words.join(", "),
    }
}

fn line(row: &QueueRow) -> Vec<String> {
    vec![
        row.work_id.to_string(),
        row.status.as_str().to_owned(),
        row.priority.get().to_string(),
        row.song.artist.clone(),
        row.song.title.clone(),
        cut(&why(row)),
    ]
}

/// Why a row stands where it stands, in one sentence.
fn why(row: &QueueRow) -> String {
    let reason = row.reason.clone();
    let at = |at: Option<Wall>| at.map(|at| at.to_string()).unwrap_or_default();
    match row.status {
        Status::Done => {
            let from = row.lane.as_deref().unwrap_or("the cache");
            reason.unwrap_or_else(|| format!("{} from {from}", shown::quality(row.quality)))
        }
        Status::Processing => format!(
            "{} has it until {}",
            row.owner.as_deref().unwrap_or("somebody"),
            at(row.lease_until)
        ),
        Status::Pending => reason.unwrap_or_default(),
        Status::Failed | Status::Deferred => {
            let reason = reason.unwrap_or_else(|| "not found".to_owned());
            format!("{reason}; again at {}", at(row.next_attempt_at))
        }
        Status::Parked | Status::Retired => reason.unwrap_or_default(),
    }
}

fn cut(text: &str) -> String {
    cut_at(text, REASON)
}

/// As one line of at most so many characters.
fn cut_at(text: &str, most: usize) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}

fn tell_refused(counts: &Counts, rows: &[TargetRow], json: bool) -> Result<(), Failure> {
    if json {
        let items: Vec<Value> = rows.iter().map(shown::target).collect();
        return show::json(&json!({ "counts": by_word(counts), "items": items }));
    }
    println!("{}", sum(counts));
    let heading = ["ID", "TRACK", "FILE", "ARTIST", "TITLE", "WHY"];
    let mut table = vec![heading.map(str::to_owned).to_vec()];
    table.extend(rows.iter().map(|row| {
        vec![
            row.scan_id.to_string(),
            row.track_id.clone(),
            cut_at(row.file.as_ref().map_or("", |file| &file.path), usize::MAX),
            cut(&row.artist),
            cut(&row.title),
            row.reason.clone().unwrap_or_default(),
        ]
    }));
    if !rows.is_empty() {
        println!();
        show::table(&table);
    }
    Ok(())
}

async fn one(common: &Common, id: i64, json: bool) -> Result<(), Failure> {
    let people = People::open(&library(common)?)?;
    let detail = people.read(move |r| r.queue_show(id)).await?;
    people.close().await;
    let detail =
        detail.ok_or_else(|| Failure::new(format!("there is no row {id} in the queue")))?;
    if json {
        return show::json(&shown::detail(&detail));
    }
    let row = &detail.row;
    println!("{} - {}", row.song.artist, row.song.title);
    println!("{}: {}", row.status.as_str(), why(row));
    println!(
        "priority {}, {} failed, {} found nothing",
        row.priority.get(),
        show::count(row.attempts.into(), "attempt"),
        show::count(row.miss_count.into(), "round")
    );
    if !detail.answers.is_empty() {
        println!();
        let heading = ["LANE", "SAID", "AT", "WHY"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        table.extend(detail.answers.iter().map(|entry| {
            vec![
                entry.lane.clone(),
                entry.answer.as_str().to_owned(),
                entry.at.to_string(),
                cut(entry.reason.as_deref().unwrap_or_default()),
            ]
        }));
        show::table(&table);
    }
    if !detail.targets.is_empty() {
        println!();
        for target in &detail.targets {
            match &target.file {
                Some(file) => {
                    let sidecar = detail
                        .deliveries
                        .iter()
                        .find(|d| d.scan_id == target.scan_id);
                    let stands = sidecar.map_or_else(|| waits(row), stands);
                    let (path, source) = (cut_at(&file.path, usize::MAX), &file.instance_id);
                    println!("for the file {path} of {source}: {stands}");
                }
                None => println!("for the track {}", target.track_id),
            }
        }
    }
    Ok(())
}

/// How a file's sidecar stands.
fn stands(row: &DeliveryRow) -> String {
    let because = match &row.reason {
        Some(word) => match Left::of(word) {
            Some(left) => left.sentence(),
            None => word.as_str(),
        },
        None => "no reason was noted",
    };
    let there = row.delivered.as_ref().map(|file| &file.sidecar);
    let stands = match (row.status, there) {
        (DeliveryStatus::Delivered, Some(sidecar)) => format!("written as {sidecar}"),
        (DeliveryStatus::Delivered, None) => "written".to_owned(),
        (DeliveryStatus::Refused, _) => format!("not written: {because}"),
        (DeliveryStatus::Wanted, _) if row.attempts > 0 => {
            let at = row.next_attempt_at.map(|at| format!(", again at {at}"));
            format!("could not be written{}: {because}", at.unwrap_or_default())
        }
        (DeliveryStatus::Wanted, _) => "waits to be written".to_owned(),
        (DeliveryStatus::Intent, _) => "is being written".to_owned(),
    };
    cut_at(&stands, usize::MAX)
}

/// Why nothing is to be written beside a file.
fn waits(row: &QueueRow) -> String {
    match row.outcome {
        Some(Outcome::Lyrics) => "nothing is to be written",
        Some(Outcome::Instrumental) => Left::NothingToWrite.sentence(),
        Some(Outcome::Rejected) | None => "waits for words",
    }
    .to_owned()
}

/// A change of many rows, a step at a time.
struct Change<F> {
    /// What they were, in the sentence that tells how many.
    done: &'static str,
    step: F,
}

impl<F> Change<F>
where
    F: Fn(&Writer, &Which, usize, Wall) -> segue_sqlite::Result<usize> + Copy + Send + 'static,
{
    fn new(done: &'static str, step: F) -> Self {
        Change { done, step }
    }

    /// The rows that are named, or all of these statuses.
    async fn rows(&self, common: &Common, rows: &Rows, all: &[Status]) -> Result<(), Failure> {
        let which = match rows.all {
            true => all.iter().map(|status| Which::All(*status)).collect(),
            false => rows.ids.iter().map(|id| Which::One(*id)).collect(),
        };
        self.each(common, which).await
    }

    async fn each(&self, common: &Common, which: Vec<Which>) -> Result<(), Failure> {
        let dir = library(common)?;
        let people = People::open(&dir)?;
        let (step, now) = (self.step, TokioClock::new().wall());
        let mut moved = 0;
        for which in which {
            loop {
                let of = which.clone();
                let some = people.write(move |w| step(w, &of, STEP, now)).await?;
                moved += some as u64;
                if some < STEP {
                    break;
                }
            }
        }
        people.close().await;
        println!("{} will be {}.", show::count(moved, "song"), self.done);
        wake(&dir).await
    }
}

/// Tells the hub, when one runs, that something is due.
pub(super) async fn wake(dir: &Path) -> Result<(), Failure> {
    match Claim::take(dir)? {
        Ok(_nobody) => Ok(()),
        Err(hub) if hub.url.is_none() => Ok(()),
        Err(hub) => running::post(dir, &hub, "queue/wake", "segue queue")
            .await
            .map(drop),
    }
}

async fn release(common: &Common, rows: Rows, yes: bool) -> Result<(), Failure> {
    let dir = library(common)?;
    let question = "Take songs from workers that may still be at them?";
    if !yes && !prompt::agrees(question)? {
        return Err(Failure::new("nothing was changed"));
    }
    let people = People::open(&dir)?;
    let ids = match rows.all {
        true => {
            let held = people.read(|r| r.queue_list(Some(Status::Processing), 0, usize::MAX));
            held.await?.iter().map(|row| row.work_id).collect()
        }
        false => rows.ids,
    };
    let now = TokioClock::new().wall();
    let count = ids.len() as u64;
    people
        .write(move |w| ids.iter().try_for_each(|id| w.take_back(*id, now)))
        .await?;
    people.close().await;
    println!("{} taken back.", show::count(count, "song"));
    wake(&dir).await
}

async fn clear(common: &Common, status: &str, yes: bool) -> Result<(), Failure> {
    let dir = library(common)?;
    let status = status_of(status)?;
    let people = People::open(&dir)?;
    let counts = people.read(|r| r.queue_counts()).await?;
    let there = counts.iter().find(|(of, _)| *of == status);
    let there = there.map_or(0, |(_, count)| *count);
    let question = format!(
        "Remove {} from the queue ({})?",
        show::count(there, "song"),
        status.as_str()
    );
    if there > 0 && !yes && !prompt::agrees(&question)? {
        return Err(Failure::new("nothing was changed"));
    }
    let mut gone = 0;
    loop {
        let some = people.write(move |w| w.clear(status, STEP)).await?;
        gone += some as u64;
        if some < STEP {
            break;
        }
    }
    people.close().await;
    println!("{} removed.", show::count(gone, "song"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_leaves_out_what_is_not_there() {
        let counts = (vec![(Status::Pending, 3), (Status::Done, 0)], 2);
        assert_eq!(sum(&counts), "3 pending, 2 refused");
        assert_eq!(sum(&(vec![(Status::Pending, 0)], 0)), "The queue is empty.");
    }

    #[test]
    fn long_reasons_are_cut_between_characters_and_stay_on_their_line() {
        assert_eq!(cut("a\nb\u{1b}[31m"), "a b [31m");
        let long = "é".repeat(61);
        assert_eq!(cut(&long), format!("{}...", "é".repeat(60)));
    }
}
