//! Random stories of several workers over one database, against a model on paper: the tests play them, and so does whoever
//! looks whether broken twins are noticed.

use crate::dice::Dice;
use segue_core::io::StoreError;
use segue_core::lyrics::Song;
use segue_core::queue::{
    Call, Completion, File, LOST_WORKERS, NewDocument, Outcome, Priority, Quality, Request, Status,
    Target, Ticket,
};
use segue_core::time::Wall;
use segue_sqlite::{Db, Enqueued, Error, Reader, TargetStatus, Which, Writer};
use std::collections::{BTreeMap, BTreeSet};

const LEASE: i64 = 50;
const SONGS: u64 = 4;
const TARGETS: u64 = 3;

/// A row on paper.
#[derive(Clone, Debug)]
struct Row {
    status: Status,
    epoch: i64,
    lease: i64,
    next: i64,
    attempts: u32,
    misses: u32,
    lost: u32,
    stamp: u32,
    priority: Priority,
    /// What any answer must exceed.
    quality: Quality,
    document: Option<(String, Quality)>,
    answered: bool,
    upgrade: Option<i64>,
    /// Target, and whether it has its answer.
    targets: BTreeMap<u64, bool>,
}

/// What a write came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    Done,
    Stale,
    Refused,
}

/// One story.
pub(crate) struct Story {
    writers: [Writer; 2],
    reader: Reader,
    now: i64,
    rows: BTreeMap<i64, Row>,
    ids: BTreeMap<u64, i64>,
    /// Every ticket that was ever handed out.
    tickets: Vec<Ticket>,
    /// Claims that ended in a success.
    successes: BTreeSet<Ticket>,
    told: Vec<String>,
}

/// Plays one story to its end: in it, and in the calm after it, everything is as on paper.
pub(crate) fn play(dice: &mut Dice) -> Result<u64, String> {
    let db = Db::open_in_memory().map_err(|e| e.to_string())?;
    let connect = || db.writer().map_err(|e| e.to_string());
    let mut story = Story {
        writers: [connect()?, connect()?],
        reader: db.reader().map_err(|e| e.to_string())?,
        now: 1_000,
        rows: BTreeMap::new(),
        ids: BTreeMap::new(),
        tickets: Vec::new(),
        successes: BTreeSet::new(),
        told: Vec::new(),
    };
    let steps = 5 + dice.below(40);
    for _ in 0..steps {
        let outcome = story.step(dice).and_then(|()| story.compare());
        outcome.map_err(|why| format!("{why}\n{}", story.told.join("\n")))?;
    }
    let calm = story.calm();
    calm.map_err(|why| format!("{why}\n{}", story.told.join("\n")))?;
    Ok(steps)
}

fn song(number: u64) -> Song {
    Song {
        artist: "An Artist".into(),
        title: format!("Song {number}"),
        duration_ms: Some(200_000),
        ..Song::default()
    }
}

/// Even targets are tracks, odd ones files.
fn target(song: u64, number: u64) -> Target {
    let track_id = format!("tr{song}-{number}");
    let file = (number % 2 == 1).then(|| File {
        instance_id: "shelf".into(),
        remote_id: track_id.clone(),
        path: format!("{track_id}.flac"),
    });
    Target { track_id, file }
}

fn completion(text: u64, quality: Quality, upgrade: Option<i64>) -> Completion {
    let document = (quality > Quality::None).then(|| NewDocument {
        id: format!("{text:032x}{:032x}", quality as u8),
        body: format!("\"{text}\""),
        quality,
    });
    Completion {
        outcome: match quality {
            Quality::None => Outcome::Rejected,
            Quality::Instrumental => Outcome::Instrumental,
            Quality::Plain | Quality::Line | Quality::Word => Outcome::Lyrics,
        },
        document,
        lane: Some("lane".into()),
        reason: None,
        upgrade_after: upgrade.map(Wall),
        answers: Vec::new(),
    }
}

fn came<T>(outcome: Result<T, Error>) -> Result<(Came, Option<T>), String> {
    match outcome {
        Ok(value) => Ok((Came::Done, Some(value))),
        Err(Error::StaleClaim | Error::Store(StoreError::StaleClaim)) => Ok((Came::Stale, None)),
        Err(Error::Conflict(_) | Error::Store(StoreError::Conflict(_))) => {
            Ok((Came::Refused, None))
        }
        Err(other) => Err(other.to_string()),
    }
}

impl Story {
    /// One change by one of the two connections. A crash before the commit undoes it.
    fn change<T>(
        &self,
        dice: &mut Dice,
        change: impl FnOnce(&Writer) -> Result<T, Error>,
    ) -> Result<Option<(Came, Option<T>)>, String> {
        let writer = &self.writers[dice.below(2) as usize];
        if dice.below(8) == 7 {
            let crashed: Result<(), Error> = writer.alone(|w| {
                change(w)?;
                Err(Error::Conflict("crashed".to_owned()))
            });
            crashed.err().ok_or("a crash was committed")?;
            return Ok(None);
        }
        came(writer.alone(change)).map(Some)
    }

    fn step(&mut self, dice: &mut Dice) -> Result<(), String> {
        let now = Wall(self.now);
        match dice.below(16) {
            0..=2 => self.enqueue(dice),
            3..=5 => self.claim(dice),
            6..=8 => self.complete(dice),
            9 => self.settle(dice),
            10 => {
                let ticket = self.ticket(dice);
                let lease = self.now + LEASE;
                let told = self.change(dice, |w| w.heartbeat(ticket, Wall(lease)))?;
                self.tell(format!("heartbeat {ticket:?}: {told:?}"));
                let held = self.holds(ticket);
                self.expect(
                    Call::Heartbeat,
                    ticket,
                    held,
                    told.map(|(came, _)| came),
                    |row| {
                        row.lease = row.lease.max(lease);
                    },
                )
            }
            11 => {
                let told = self.change(dice, |w| w.reclaim(now))?;
                self.tell(format!("reclaim at {}: {told:?}", self.now));
                let Some((_, reclaimed)) = told else {
                    return Ok(());
                };
                let mut due = Vec::new();
                for (id, row) in &mut self.rows {
                    if row.status == Status::Processing && row.lease < now.0 {
                        row.lost += 1;
                        (row.status, row.next) = match row.lost < LOST_WORKERS {
                            true => (Status::Pending, now.0),
                            false => (Status::Parked, row.next),
                        };
                        due.push(*id);
                    }
                }
                let mut reclaimed = reclaimed.unwrap_or_default();
                reclaimed.sort_unstable();
                match reclaimed == due {
                    true => Ok(()),
                    false => Err(format!("Q4: reclaimed {reclaimed:?}, not {due:?}")),
                }
            }
            12 | 13 => {
                self.now += dice.below(80) as i64;
                self.tell(format!("it is {}", self.now));
                Ok(())
            }
            14 => self.by_hand(dice),
            _ => self.sweep(dice),
        }
    }

    fn enqueue(&mut self, dice: &mut Dice) -> Result<(), String> {
        let number = dice.below(SONGS);
        let targets: Vec<u64> = (0..TARGETS).filter(|_| dice.below(2) == 0).collect();
        let priority = dice.pick(&[Priority::SCAN, Priority::WEBHOOK, Priority::PLAYED]);
        let stamp = dice.pick(&[7, 8]);
        let request = Request {
            song: song(number),
            targets: targets.iter().map(|t| target(number, *t)).collect(),
            priority,
        };
        let now = self.now;
        let told = self.change(dice, |w| w.enqueue(&request, stamp, Wall(now)))?;
        self.tell(format!(
            "enqueue {number} for {targets:?} {priority:?}, {stamp}: {told:?}"
        ));
        let Some((_, Some(told))) = told else {
            return Ok(());
        };
        match (told, self.ids.get(&number)) {
            (Enqueued::New { work_id }, None) => {
                self.ids.insert(number, work_id);
                let row = Row {
                    status: Status::Pending,
                    epoch: 0,
                    lease: 0,
                    next: now,
                    attempts: 0,
                    misses: 0,
                    lost: 0,
                    stamp,
                    priority,
                    quality: Quality::None,
                    document: None,
                    answered: false,
                    upgrade: None,
                    targets: targets.iter().map(|t| (*t, false)).collect(),
                };
                self.rows.insert(work_id, row);
                Ok(())
            }
            (Enqueued::Joined { work_id, .. }, Some(id)) if work_id == *id => {
                let row = self.rows.get_mut(id).ok_or("a row off the paper")?;
                if priority > row.priority {
                    let waits = matches!(row.status, Status::Pending | Status::Failed);
                    if priority.is_urgent() && waits {
                        row.next = row.next.min(now);
                    }
                    row.priority = priority;
                }
                let at_once =
                    row.status == Status::Done || (row.document.is_some() && row.answered);
                for number in targets {
                    row.targets.entry(number).or_insert(at_once);
                }
                Ok(())
            }
            (told, id) => Err(format!("Q5: {told:?} of {id:?}")),
        }
    }

    fn claim(&mut self, dice: &mut Dice) -> Result<(), String> {
        let (now, lease) = (self.now, self.now + LEASE);
        let told = self.change(dice, |w| w.claim("worker", Wall(now), Wall(lease)))?;
        self.tell(format!(
            "claim at {now}: {:?}",
            told.as_ref().map(|t| t.1.as_ref())
        ));
        let Some((_, claim)) = told else {
            return Ok(());
        };
        let waiting = self
            .rows
            .iter()
            .filter(|(_, row)| row.status.is_claimable());
        let due = waiting.filter(|(_, row)| row.next <= now);
        let next = due.min_by_key(|(id, row)| (std::cmp::Reverse(row.priority), row.next, **id));
        let next = next.map(|(id, _)| *id);
        let claim = claim.flatten();
        if claim.as_ref().map(|claim| claim.ticket.work_id) != next {
            return Err(format!("the claim should be of {next:?}"));
        }
        let Some(claim) = claim else {
            return Ok(());
        };
        let row = self
            .rows
            .get_mut(&claim.ticket.work_id)
            .ok_or("no such row")?;
        (row.status, row.lease) = (Status::Processing, lease);
        row.epoch += 1;
        if claim.ticket.epoch != row.epoch || self.tickets.contains(&claim.ticket) {
            return Err(format!("Q3: the epoch of {:?} is not new", claim.ticket));
        }
        let standing = (claim.standing, claim.attempts, claim.miss_count);
        if standing != (row.quality, row.attempts, row.misses) {
            return Err(format!("the claim says {standing:?}"));
        }
        self.tickets.push(claim.ticket);
        Ok(())
    }

    fn complete(&mut self, dice: &mut Dice) -> Result<(), String> {
        let ticket = self.ticket(dice);
        let quality = dice.pick(&[
            Quality::Line,
            Quality::Plain,
            Quality::Word,
            Quality::Instrumental,
            Quality::None,
        ]);
        let (text, now) = (dice.below(3), self.now);
        let upgrade = (dice.below(2) == 0).then_some(now + 60);
        let answer = completion(text, quality, upgrade);
        let told = self.change(dice, |w| w.complete(ticket, &answer, Wall(now)))?;
        self.tell(format!("complete {ticket:?} with {quality:?}: {told:?}"));
        let held = self.holds(ticket);
        if let Some((Came::Done, _)) = told
            && !self.successes.insert(ticket)
        {
            return Err(format!("Q1: two successes of {ticket:?}"));
        }
        self.expect(
            Call::Complete,
            ticket,
            held,
            told.map(|(came, _)| came),
            |row| {
                row.status = Status::Done;
                (row.attempts, row.misses, row.lost) = (0, 0, 0);
                row.upgrade = upgrade;
                row.answered = true;
                row.targets.values_mut().for_each(|done| *done = true);
                if quality > row.quality || row.document.is_none() {
                    row.quality = quality;
                    row.document = answer.document.map(|d| (d.id, quality));
                } else {
                    row.quality = row.document.as_ref().map_or(Quality::None, |d| d.1);
                }
            },
        )
    }

    /// Release, fail, defer, keep.
    fn settle(&mut self, dice: &mut Dice) -> Result<(), String> {
        let ticket = self.ticket(dice);
        let (now, later) = (self.now, self.now + dice.below(100) as i64);
        let at = (dice.below(3) > 0).then_some(later);
        let held = self.holds(ticket);
        let at_wall = at.map(Wall);
        match dice.below(4) {
            0 => {
                let change = |w: &Writer| w.release(ticket, Wall(later), None, &[], Wall(now));
                let told = self.change(dice, change)?;
                self.tell(format!("release {ticket:?}: {told:?}"));
                self.expect(Call::Release, ticket, held, told.map(|t| t.0), |row| {
                    (row.status, row.next, row.lost) = (Status::Pending, later, 0);
                })
            }
            1 => {
                let told = self.change(dice, |w| w.fail(ticket, at_wall, "x", &[], Wall(now)))?;
                self.tell(format!("fail {ticket:?}: {told:?}"));
                self.expect(Call::Fail, ticket, held, told.map(|t| t.0), |row| {
                    row.status = at.map_or(Status::Parked, |_| Status::Failed);
                    row.next = at.unwrap_or_default();
                    row.attempts += 1;
                    row.lost = 0;
                })
            }
            2 => {
                let told = self.change(dice, |w| w.defer(ticket, at_wall, "x", &[], Wall(now)))?;
                self.tell(format!("defer {ticket:?}: {told:?}"));
                self.expect(Call::Defer, ticket, held, told.map(|t| t.0), |row| {
                    row.status = at.map_or(Status::Retired, |_| Status::Deferred);
                    row.next = at.unwrap_or_default();
                    row.misses += 1;
                    (row.attempts, row.lost) = (0, 0);
                    row.priority = Priority::MISS;
                })
            }
            _ => {
                let told = self.change(dice, |w| w.keep(ticket, at_wall, &[], Wall(now)))?;
                self.tell(format!("keep {ticket:?}: {told:?}"));
                let row = self.rows.get(&ticket.work_id);
                let has_answer = row.is_some_and(|row| row.answered);
                let expected = match (held, has_answer) {
                    (Came::Done, false) => Came::Refused,
                    (held, _) => held,
                };
                if let Some((Came::Done, _)) = told
                    && !self.successes.insert(ticket)
                {
                    return Err(format!("Q1: two successes of {ticket:?}"));
                }
                self.expect(Call::Keep, ticket, expected, told.map(|t| t.0), |row| {
                    row.status = Status::Done;
                    (row.attempts, row.misses, row.lost) = (0, 0, 0);
                    row.upgrade = at;
                    row.quality = row.document.as_ref().map_or(Quality::None, |d| d.1);
                    row.targets.values_mut().for_each(|done| *done = true);
                })
            }
        }
    }

    /// What an operator does to one row.
    fn by_hand(&mut self, dice: &mut Dice) -> Result<(), String> {
        let ids: Vec<i64> = self.rows.keys().copied().collect();
        let Some(id) = ids.get(dice.below(ids.len().max(1) as u64) as usize) else {
            return Ok(());
        };
        let (id, now) = (*id, self.now);
        let call = dice.pick(&[Call::TakeBack, Call::Retry, Call::Recheck, Call::Redo]);
        let one = Which::One(id);
        let told = self.change(dice, |w| match call {
            Call::Retry => w.retry(&one, 1, Wall(now)).map(|_| ()),
            Call::Recheck => w.recheck(&one, 1, Wall(now)).map(|_| ()),
            Call::Redo => w.redo(id, Wall(now)),
            _ => w.take_back(id, Wall(now)),
        })?;
        self.tell(format!("{call:?} {id}: {told:?}"));
        let row = self.rows.get(&id).ok_or("no such row")?;
        let expected = match call.may_leave(row.status) {
            true => Came::Done,
            false => Came::Refused,
        };
        let ticket = Ticket {
            work_id: id,
            epoch: 0,
        };
        self.expect(call, ticket, expected, told.map(|t| t.0), |row| {
            match call {
                Call::Retry => (row.attempts, row.lost) = (0, 0),
                Call::Recheck if row.status == Status::Retired => row.misses = 0,
                Call::Redo => (row.quality, row.upgrade) = (Quality::None, None),
                _ => {}
            }
            if call != Call::TakeBack {
                row.priority = row.priority.max(Priority::SCAN);
            }
            (row.status, row.next) = (Status::Pending, now);
        })
    }

    fn sweep(&mut self, dice: &mut Dice) -> Result<(), String> {
        let now = self.now;
        let told = self.change(dice, |w| w.upgrade_due(Wall(now), 9))?;
        self.tell(format!("upgrades at {now}: {told:?}"));
        let Some((_, moved)) = told else {
            return Ok(());
        };
        let mut due = 0;
        for row in self.rows.values_mut() {
            if row.status == Status::Done && row.upgrade.is_some_and(|at| at <= now) {
                (row.status, row.next, row.upgrade) = (Status::Pending, now, None);
                row.priority = Priority::UPGRADE;
                due += 1;
            }
        }
        match moved == Some(due) {
            true => Ok(()),
            false => Err(format!("{due} upgrades were due")),
        }
    }

    /// Some ticket, mostly one of the latest; one that nobody was given while there is none.
    fn ticket(&self, dice: &mut Dice) -> Ticket {
        let all = self.tickets.len() as u64;
        let back = match dice.below(3) {
            0 => 0,
            1 => dice.below(all.clamp(1, 3)),
            _ => dice.below(all.max(1)),
        };
        let at = all.checked_sub(back + 1);
        let found = at.and_then(|at| self.tickets.get(at as usize));
        found.copied().unwrap_or(Ticket {
            work_id: 1,
            epoch: 1,
        })
    }

    fn holds(&self, ticket: Ticket) -> Came {
        let row = self.rows.get(&ticket.work_id);
        let holds = |row: &Row| row.status == Status::Processing && row.epoch == ticket.epoch;
        match row.is_some_and(holds) {
            true => Came::Done,
            false => Came::Stale,
        }
    }

    /// Moves the row on paper, if that is what should have happened and did.
    fn expect(
        &mut self,
        call: Call,
        ticket: Ticket,
        expected: Came,
        told: Option<Came>,
        then: impl FnOnce(&mut Row),
    ) -> Result<(), String> {
        let Some(told) = told else {
            return Ok(());
        };
        if told != expected {
            return Err(format!("Q3, Q8: {call:?} should be {expected:?}"));
        }
        let row = self.rows.get_mut(&ticket.work_id);
        if let (Came::Done, Some(row)) = (told, row) {
            let from = row.status;
            then(row);
            if !call.leads(from).contains(&row.status) {
                return Err(format!(
                    "Q8: {call:?} led from {from:?} to {:?}",
                    row.status
                ));
            }
        }
        Ok(())
    }

    /// The database is as on paper.
    fn compare(&self) -> Result<(), String> {
        let found = self
            .reader
            .queue_list(None, 0, 99)
            .map_err(|e| e.to_string())?;
        if found.len() != self.rows.len() {
            return Err(format!(
                "Q5: {} rows of {} songs",
                found.len(),
                self.rows.len()
            ));
        }
        for (status, count) in self.reader.queue_counts().map_err(|e| e.to_string())? {
            let there = found.iter().filter(|row| row.status == status).count();
            if u64::try_from(there) != Ok(count) {
                return Err(format!("{count} rows are counted as {status:?} of {there}"));
            }
        }
        for (found, (id, row)) in found.iter().zip(&self.rows) {
            let wall = |is: bool, at: i64| is.then_some(Wall(at));
            let seen = (
                found.work_id,
                found.status,
                found.claim_epoch,
                found.lease_until,
                found.next_attempt_at,
                (found.attempts, found.miss_count, found.providers_version),
                (found.priority, found.quality, found.upgrade_after),
            );
            let paper = (
                *id,
                row.status,
                row.epoch,
                wall(row.status == Status::Processing, row.lease),
                wall(row.status.is_claimable(), row.next),
                (row.attempts, row.misses, row.stamp),
                (
                    row.priority,
                    row.quality,
                    row.upgrade.filter(|_| row.status == Status::Done).map(Wall),
                ),
            );
            if seen != paper {
                return Err(format!("the row is {seen:?}, not {paper:?}"));
            }
            self.compare_targets(*id, row)?;
        }
        let due = self.rows.values().filter(|row| row.status.is_claimable());
        let due = due.map(|row| Wall(row.next)).min();
        match self.reader.wakeup().map_err(|e| e.to_string())?.claim == due {
            true => Ok(()),
            false => Err(format!("the next claim is due at {due:?}")),
        }
    }

    fn compare_targets(&self, id: i64, row: &Row) -> Result<(), String> {
        let detail = self.reader.queue_show(id).map_err(|e| e.to_string())?;
        let detail = detail.ok_or("the row is gone")?;
        let document = row.document.as_ref().map(|(document, _)| document);
        if detail.document_id.as_ref() != document {
            return Err(format!(
                "the document is {:?}, not {document:?}",
                detail.document_id
            ));
        }
        let song = self
            .ids
            .iter()
            .find(|(_, row)| **row == id)
            .map(|(song, _)| *song);
        let song = song.ok_or("no such song")?;
        let done: BTreeMap<String, bool> = detail
            .targets
            .iter()
            .map(|t| (t.track_id.clone(), t.status == TargetStatus::Done))
            .collect();
        let paper: BTreeMap<String, bool> = row
            .targets
            .iter()
            .map(|(number, done)| (target(song, *number).track_id, *done))
            .collect();
        if done != paper {
            return Err(format!("Q2: the targets are {done:?}, not {paper:?}"));
        }
        if row.status == Status::Done && done.values().any(|done| !done) {
            return Err(format!("Q2: the row is done, its targets are {done:?}"));
        }
        for found in detail.targets.iter().filter(|t| t.file.is_some()) {
            let delivery = self
                .reader
                .delivery_of(found.scan_id)
                .map_err(|e| e.to_string())?;
            let has_words = row.document.as_ref().filter(|(_, q)| *q >= Quality::Plain);
            let is_done = found.status == TargetStatus::Done && row.status == Status::Done;
            if let (true, Some((document, _))) = (is_done, has_words)
                && delivery.and_then(|d| d.document_id) != Some(document.clone())
            {
                return Err(format!("{found:?} does not want {document}"));
            }
        }
        Ok(())
    }

    /// After the story nobody crashes any more: every song that may be asked for ends, and no lease outlives its owner.
    fn calm(&mut self) -> Result<(), String> {
        let writer = &self.writers[0];
        let run = |change: &dyn Fn(&Writer) -> Result<(), Error>| {
            writer.alone(change).map_err(|e| e.to_string())
        };
        let end = Wall(self.now + 10_000);
        run(&|w| w.reclaim(end).map(|_| ()))?;
        loop {
            let claim = writer.alone(|w| w.claim("calm", end, Wall(end.0 + LEASE)));
            let Some(claim) = claim.map_err(|e| e.to_string())? else {
                break;
            };
            run(&|w| {
                w.complete(claim.ticket, &completion(9, Quality::Word, None), end)
                    .map(|_| ())
            })?;
            if !self.successes.insert(claim.ticket) {
                return Err(format!("Q1: two successes of {:?}", claim.ticket));
            }
        }
        let rows = self
            .reader
            .queue_list(None, 0, 99)
            .map_err(|e| e.to_string())?;
        let stuck = rows
            .iter()
            .find(|row| !matches!(row.status, Status::Done | Status::Parked | Status::Retired));
        match stuck {
            Some(row) => Err(format!("Q4: {row:?} is stuck")),
            None => match self.reader.damage().map_err(|e| e.to_string())?.pop() {
                Some(damage) => Err(damage),
                None => Ok(()),
            },
        }
    }

    fn tell(&mut self, line: String) {
        self.told.push(line);
    }
}
