//! Each change of a row, held against the table of contracts section 5.

use super::{Now, State};
use segue_core::Tick;
use segue_core::queue::Status;
use segue_sqlite::QueueRow;

/// The life that a row is claimed by.
fn owner_of(row: &QueueRow) -> Option<u64> {
    let (seed, _) = row.owner.as_deref()?.split_once('/')?;
    u64::from_str_radix(seed, 16).ok()
}

impl State {
    pub(super) fn put_in(&mut self, row: &QueueRow, now: Now) {
        let is_new = (row.status, row.attempts, row.miss_count, row.claim_epoch)
            == (Status::Pending, 0, 0, 0);
        if !is_new || now.owner != 0 {
            self.breach(format!("Q8: a row begins as {row:?}"));
        }
        let same = |other: &&QueueRow| other.song.title == row.song.title;
        if self.rows.values().filter(same).count() > 1 {
            self.breach(format!("Q5: {} has two rows", row.song.title));
        }
    }

    /// One row changed in one transaction: by a line of the table of contracts section 5.
    pub(super) fn moved(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        use Status::{Deferred, Done, Failed, Parked, Pending, Processing, Retired};
        let title = &after.song.title;
        if before.providers_version != after.providers_version {
            self.breach(format!("Q7: {title} is stamped again"));
        }
        if after.claim_epoch < before.claim_epoch {
            self.breach(format!("Q3: the epoch of {title} falls"));
        }
        let answer = |row: &QueueRow| (row.outcome, row.quality, row.lane.clone());
        if before.outcome.is_some() && after.status != Done && answer(before) != answer(after) {
            self.breach(format!("S3: {title} loses the answer that it has"));
        }
        match (before.status, after.status) {
            (Pending | Failed | Deferred, Processing) => self.claimed(before, after, now),
            (Processing, Processing) => self.kept(before, after, now),
            (Processing, Done | Failed | Deferred | Parked | Retired) => {
                self.is_by_its_worker(before, after, now);
                self.ended(before, after, now);
            }
            (Processing, Pending) => self.given_back(before, after, now),
            (Done, Pending) if self.ages => self.reopened(before, now),
            (one, other) if one == other => self.stays(before, after),
            (one, other) => {
                let (one, other) = (one.as_str(), other.as_str());
                self.breach(format!("Q8: {title} goes from {one} to {other}"));
            }
        }
    }

    /// It has an answer, and may find a better one.
    fn reopened(&mut self, before: &QueueRow, now: Now) {
        self.counts.add("looks for something better");
        let is_due = before.upgrade_after.is_some_and(|at| at <= now.wall);
        if !is_due && !self.is_just_set(now) {
            let title = &before.song.title;
            self.breach(format!("Q8: {title} is looked up again before it is due"));
        }
    }

    /// Whether the wall clock was set while this change was on its way.
    fn is_just_set(&self, now: Now) -> bool {
        let set = self.everybody_disturbed;
        set.is_some_and(|at| now.tick.since(at).as_millis() < 1_000)
    }

    fn claimed(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        let title = &after.song.title;
        if after.claim_epoch != before.claim_epoch + 1 {
            self.breach(format!("Q3: {title} is claimed without a new epoch"));
        }
        let is_due = before.next_attempt_at.is_some_and(|at| at <= now.wall);
        if !is_due && !self.is_just_set(now) {
            self.breach(format!("Q8: {title} is claimed before it is due"));
        }
        if owner_of(after) != Some(now.owner) {
            self.breach(format!("Q5: {title} is claimed for somebody else"));
        }
        if (before.attempts, before.miss_count) != (after.attempts, after.miss_count) {
            self.breach(format!("Q6: {title} is counted at its claim"));
        }
        let song = self.song(after);
        self.claimed.insert(after.work_id, now.tick);
        self.open.insert((now.owner, song));
        if after.claim_epoch > 1 {
            self.counts.add("claimed again");
        }
    }

    fn kept(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        let title = &after.song.title;
        if before.claim_epoch != after.claim_epoch {
            self.breach(format!("Q5: {title} is claimed while it is claimed"));
        }
        if before.lease_until != after.lease_until {
            self.counts.add("kept alive");
            if owner_of(before) != Some(now.owner) {
                self.breach(format!("Q3: {title} is kept by another than its worker"));
            }
            if after.lease_until < before.lease_until {
                self.breach(format!("Q4: the lease of {title} is shortened"));
            }
        }
    }

    fn is_by_its_worker(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        let title = &after.song.title;
        if owner_of(before) != Some(now.owner) {
            let status = after.status.as_str();
            self.breach(format!(
                "Q3: {title} becomes {status} by another than its worker"
            ));
        }
        if after.claim_epoch != before.claim_epoch {
            self.breach(format!("Q3: {title} ends another epoch"));
        }
        let song = self.song(after);
        self.open.remove(&(now.owner, song));
    }

    fn given_back(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        let title = &after.song.title;
        if (before.attempts, before.miss_count) != (after.attempts, after.miss_count) {
            self.breach(format!("Q6: {title} is given back and counted"));
        }
        if before.claim_epoch != after.claim_epoch {
            self.breach(format!("Q3: {title} is given back with another epoch"));
        }
        let is_reclaimed = after.reason.as_deref() == Some("its worker did not come back");
        if !is_reclaimed {
            self.counts.add("released");
            return self.is_by_its_worker(before, after, now);
        }
        self.counts.add("reclaimed");
        let is_over = before.lease_until.is_some_and(|until| until < now.wall);
        if !is_over && !self.is_just_set(now) {
            self.breach(format!(
                "Q4: {title} is taken back before its lease is over"
            ));
        }
        let Some(owner) = owner_of(before) else {
            return;
        };
        let claimed = self.claimed.get(&after.work_id).copied();
        let since = |at: Option<Tick>| at.is_some() && at >= claimed;
        let excused = since(self.disturbed.get(&owner).copied())
            || since(self.everybody_disturbed)
            || !self.alive.contains(&owner);
        if !excused {
            self.breach(format!(
                "Q4: {title} is taken from a worker that was well: it kept its claim alive"
            ));
        }
    }

    /// Nothing but what a put may change.
    fn stays(&mut self, before: &QueueRow, after: &QueueRow) {
        let core = |row: &QueueRow| {
            let when = (row.next_attempt_at, row.completed_at, row.upgrade_after);
            let what = (row.outcome, row.quality, row.lane.clone());
            (row.claim_epoch, row.attempts, row.miss_count, when, what)
        };
        let title = &after.song.title;
        let is_sooner =
            after.status == Status::Pending && after.next_attempt_at <= before.next_attempt_at;
        let same = core(before) == core(after) || is_sooner;
        if !same || after.priority < before.priority {
            self.breach(format!(
                "Q8: {title} changes where it stands: {before:?} {after:?}"
            ));
        }
    }
}
