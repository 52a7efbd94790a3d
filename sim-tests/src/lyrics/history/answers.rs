//! What a claim came to: whether it is what the lanes know, and whether all who want it have it.

use super::{Answered, Now, State};
use crate::lyrics::scenario::Knows;
use crate::lyrics::songs::{ARTIST, TITLES, has_words, number_of};
use segue_core::driver::lyrics::render;
use segue_core::io::Digest;
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::queue::{LaneAnswer, Outcome, Status};
use segue_sqlite::{QueueDetail, QueueRow, Reader, TargetStatus};
use std::collections::BTreeSet;

impl State {
    pub(super) fn ended(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        let title = after.song.title.clone();
        let counts = |row: &QueueRow| (row.attempts, row.miss_count);
        let (attempts, misses) = counts(before);
        let expected = match after.status {
            Status::Done => (0, 0),
            Status::Failed | Status::Parked => (attempts + 1, misses),
            Status::Deferred | Status::Retired => (0, misses + 1),
            Status::Pending | Status::Processing => (attempts, misses),
        };
        if counts(after) != expected {
            self.breach(format!(
                "Q8: {title} counts {:?}, not {expected:?}",
                counts(after)
            ));
        }
        let song = self.song(after);
        let knew = self.knew[song].clone();
        match after.status {
            Status::Done => {
                if !self.successes.insert((after.work_id, after.claim_epoch)) {
                    self.breach(format!("Q1: {title} has two successes of one epoch"));
                }
                self.answers(song, before, after, &knew, now);
            }
            Status::Deferred | Status::Retired => {
                self.counts.add("deferred");
                // What a lane said may be believed for a week, so it has to have been wrong all the time.
                if knew.iter().any(|knew| !knew.contains(&Knows::Nothing)) {
                    self.breach(format!(
                        "Q6: {title} is recorded as a miss, and a lane has it"
                    ));
                }
            }
            Status::Failed => self.counts.add("failed"),
            Status::Parked => self.counts.add("parked"),
            Status::Pending | Status::Processing => {}
        }
    }

    fn answers(
        &mut self,
        song: usize,
        before: &QueueRow,
        after: &QueueRow,
        knew: &[BTreeSet<Knows>],
        now: Now,
    ) {
        let title = TITLES[song];
        if after.song.artist != ARTIST {
            self.breach(format!("Q8: {title} is somebody else's"));
        }
        if after.quality < before.quality {
            self.breach(format!("S3: the words of {title} get worse"));
        }
        let Some(outcome) = after.outcome else {
            return self.breach(format!("Q1: {title} is done without an outcome"));
        };
        match outcome {
            Outcome::Lyrics => self.counts.add("done with words"),
            Outcome::Instrumental => {
                self.counts.add("done as instrumental");
                if knew.iter().any(|knew| knew.iter().all(|k| has_words(*k))) {
                    self.breach(format!(
                        "Q6: {title} is taken for instrumental, and a lane has words"
                    ));
                }
            }
            Outcome::Rejected => self.breach(format!("Q6: right words of {title} are rejected")),
        }
        let again = before.outcome.is_some();
        if again {
            let is_better = after.quality > before.quality;
            self.counts.add(match is_better {
                true => "found something better",
                false => "kept what it had",
            });
        }
        self.answered.push(Answered {
            song,
            claimed: self
                .claimed
                .get(&after.work_id)
                .copied()
                .unwrap_or(now.tick),
            at: now.tick,
            owner: now.owner,
            outcome,
            quality: after.quality,
            lane: after.lane.clone(),
            again,
        });
    }

    /// A row and all that hangs on it, in the transaction that changed it.
    pub(super) fn whole(&mut self, row: &QueueRow, reader: &Reader) {
        if !matches!(
            row.status,
            Status::Done | Status::Deferred | Status::Retired
        ) {
            return;
        }
        let title = &row.song.title;
        let detail: QueueDetail = match reader.queue_show(row.work_id) {
            Ok(Some(detail)) => detail,
            Ok(None) | Err(_) => return self.breach(format!("Q2: {title} cannot be shown")),
        };
        if row.status != Status::Done {
            let uncertain =
                |entry: &&segue_core::queue::LaneEntry| entry.answer != LaneAnswer::Miss;
            if let Some(entry) = detail.answers.iter().find(uncertain) {
                let said = entry.answer.as_str();
                self.breach(format!(
                    "Q6: {title} is a miss, and {} said {said}",
                    entry.lane
                ));
            }
            return;
        }
        let is_done = |target: &segue_sqlite::TargetRow| {
            target.status == TargetStatus::Done && target.quality == row.quality
        };
        if !detail.targets.iter().all(is_done) {
            self.breach(format!(
                "Q2: {title} is done, and not all who want it have it"
            ));
        }
        let body = detail.document_id.and_then(|id| reader.document(&id).ok()?);
        let Some(body) = body else {
            return self.breach(format!("Q1: {title} is done without a document"));
        };
        if row.outcome == Some(Outcome::Lyrics) && !body.contains(title.as_str()) {
            self.breach(format!("Q1: {title} has the words of another song"));
        }
        if let (Some(rendered), Some(song)) = (render(&body, LrcStyle::default()), number_of(title))
        {
            let renderings = self.renderings.entry(song).or_default();
            renderings.insert(Digest::of(&rendered.bytes), rendered.quality);
        }
    }
}
