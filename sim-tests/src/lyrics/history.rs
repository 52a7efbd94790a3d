//! What became of the queue and the music folder, judged at each write and each step as it happens.
//!
//! A sentence for each breach begins with the number of the rule.

use super::scenario::{Fault, Knows, Scenario, Users};
use super::songs::{ARTIST, TITLES, beside, has_words, number_of, track, users_place, users_words};
use bytes::Bytes;
use segue_core::delivery::Form;
use segue_core::dispatch::Quality;
use segue_core::driver::lock;
use segue_core::driver::lyrics::render;
use segue_core::io::{Clock, Digest, Place, ShelfError};
use segue_core::lyrics::lrc::LrcStyle;
use segue_core::queue::{LaneAnswer, Outcome, Status};
use segue_core::{Tick, Wall};
use segue_runtime_sim::{SimClock, SimShelf, SimTrace};
use segue_sqlite::{
    DeliveryRow, DeliveryStatus, Error, QueueDetail, QueueRow, Reader, TargetStatus,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

/// Everything in the queue and the journal, as one transaction sees it.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// The songs.
    pub rows: Vec<QueueRow>,
    /// The sidecars.
    pub parcels: Vec<DeliveryRow>,
}

impl Look {
    /// Looks.
    ///
    /// # Errors
    /// The store's.
    pub fn at(reader: &Reader) -> Result<Look, Error> {
        Ok(Look {
            rows: reader.queue_list(None, 0, 1_000)?,
            parcels: reader.deliveries(0, 1_000)?,
        })
    }
}

/// A song was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Which.
    pub song: usize,
    /// When it had been claimed.
    pub claimed: Tick,
    /// When it was answered.
    pub at: Tick,
    /// By whom.
    pub owner: u64,
    /// How.
    pub outcome: Outcome,
    /// How good.
    pub quality: Quality,
    /// By which lane; `None` for what was remembered.
    pub lane: Option<String>,
}

/// What is counted, to see that it happens at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub BTreeMap<&'static str, u64>);

impl Counts {
    pub(crate) fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

#[derive(Default)]
struct State {
    rows: BTreeMap<i64, QueueRow>,
    parcels: BTreeMap<i64, DeliveryRow>,
    /// The epochs that had their success.
    successes: BTreeSet<(i64, i64)>,
    /// When each row was last claimed.
    claimed: BTreeMap<i64, Tick>,
    /// Who holds, or believes to hold, which song.
    open: BTreeSet<(u64, usize)>,
    /// What our files of each song may hold, and how good that is.
    renderings: BTreeMap<usize, BTreeMap<Digest, Quality>>,
    /// How good our file at a place was last.
    laid: BTreeMap<Place, Quality>,
    /// Files of others that we must leave as they are.
    users: BTreeMap<Place, Bytes>,
    answered: Vec<Answered>,
    broken: Vec<String>,
    counts: Counts,
    /// When each life's process was last not itself: frozen, or its wall clock was set.
    disturbed: BTreeMap<u64, Tick>,
    alive: BTreeSet<u64>,
    everybody_disturbed: Option<Tick>,
    knows: Vec<Vec<Knows>>,
    upgrades: bool,
}

/// Shared by all who act.
#[derive(Clone)]
pub struct History {
    state: Arc<Mutex<State>>,
    clock: SimClock,
    trace: SimTrace,
}

impl History {
    /// Nothing has happened yet.
    pub fn new(scenario: &Scenario, clock: SimClock, trace: SimTrace) -> Self {
        let users = (scenario.songs.iter().enumerate())
            .filter_map(|(song, tune)| {
                let users: Users = tune.users?;
                Some((users_place(song, users), users_words(song)))
            })
            .collect();
        let is_upgrade = |(_, fault): &(u64, Fault)| matches!(fault, Fault::Days(_));
        History {
            state: Arc::new(Mutex::new(State {
                users,
                knows: scenario.songs.iter().map(|t| t.knows.clone()).collect(),
                upgrades: scenario.faults.iter().any(is_upgrade),
                ..State::default()
            })),
            clock,
            trace,
        }
    }

    /// A process begins a life.
    pub fn begins(&self, owner: u64) {
        lock(&self.state).alive.insert(owner);
    }

    /// A life is over.
    pub fn ends(&self, owner: u64) {
        let mut state = lock(&self.state);
        state.alive.remove(&owner);
        state.open.retain(|(of, _)| *of != owner);
    }

    /// A process stands still, or has until now.
    pub fn disturb(&self, owner: u64) {
        let now = self.clock.now();
        lock(&self.state).disturbed.insert(owner, now);
    }

    /// The wall clock was set.
    pub fn disturb_all(&self) {
        lock(&self.state).everybody_disturbed = Some(self.clock.now());
    }

    /// A lane knows something else from now on.
    pub fn learns(&self, song: usize, lane: usize, knows: Knows) {
        lock(&self.state).knows[song][lane] = knows;
    }

    /// Somebody's file lies there from now on; `None` takes ours away.
    pub fn user_writes(&self, at: &Place, bytes: Option<Bytes>) {
        let mut state = lock(&self.state);
        state.laid.remove(at);
        match bytes {
            Some(bytes) => drop(state.users.insert(at.clone(), bytes)),
            None => drop(state.users.remove(at)),
        }
    }

    /// Something happened that is worth counting.
    pub fn count(&self, what: &'static str) {
        lock(&self.state).counts.add(what);
    }

    /// A request for a song goes out.
    pub fn asked(&self, owner: u64, song: usize, lane: &str) {
        let mut state = lock(&self.state);
        if !state.open.contains(&(owner, song)) {
            let title = TITLES[song];
            state.breach(format!(
                "S4: {lane} is asked for {title} by one who has no claim on it"
            ));
        }
    }

    /// Something is wrong.
    pub fn breach(&self, sentence: String) {
        lock(&self.state).breach(sentence);
    }

    /// What was answered, in order.
    pub fn answered(&self) -> Vec<Answered> {
        lock(&self.state).answered.clone()
    }

    /// What was wrong.
    pub fn broken(&self) -> Vec<String> {
        lock(&self.state).broken.clone()
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        lock(&self.state).counts.clone()
    }

    /// What each lane knows by now, by song.
    pub fn knows(&self) -> Vec<Vec<Knows>> {
        lock(&self.state).knows.clone()
    }

    /// A transaction is about to be committed: how everything stands in it.
    pub(crate) fn written(&self, owner: u64, look: &Look, reader: &Reader) {
        let moment = Now {
            tick: self.clock.now(),
            wall: self.clock.wall(),
            owner,
        };
        let mut state = lock(&self.state);
        for row in &look.rows {
            let before = state.rows.insert(row.work_id, row.clone());
            if before.as_ref() == Some(row) {
                continue;
            }
            if before.as_ref().map(|b| (b.status, b.claim_epoch))
                != Some((row.status, row.claim_epoch))
            {
                self.trace.note(&name_of(owner), shown(row));
            }
            match before {
                None => state.put_in(row, moment),
                Some(before) => state.moved(&before, row, moment),
            }
            state.whole(row, reader);
        }
        if look.rows.len() < state.rows.len() {
            state.breach("Q8: a row is gone".to_owned());
        }
        for parcel in &look.parcels {
            let id = parcel.ticket.delivery_id;
            let before = state.parcels.insert(id, parcel.clone());
            if before.map(|b| b.status) != Some(parcel.status) {
                let event = format!(
                    "sidecar of {} is {}",
                    parcel.file.path,
                    parcel.status.as_str()
                );
                self.trace.note(&name_of(owner), event);
            }
        }
    }

    /// A crash: this is what the disks have kept.
    pub(crate) fn crashed(&self, look: Look, shelf: &SimShelf) {
        let mut state = lock(&self.state);
        for parcel in &look.parcels {
            let Some(delivered) = &parcel.delivered else {
                continue;
            };
            let at = Place::new(parcel.file.instance_id.as_str(), delivered.sidecar.as_str());
            let there = shelf.get(&at);
            let is_there = there.as_ref().map(|bytes| Digest::of(bytes).to_hex());
            let is_users = state.users.contains_key(&at);
            let is_ours = parcel.status == DeliveryStatus::Delivered;
            if is_ours
                && !is_users
                && is_there.as_deref() != Some(delivered.hash.as_str())
                && state.laid.contains_key(&at)
            {
                state.breach(format!(
                    "S1: {} is delivered, and gone in the crash",
                    at.path
                ));
            }
        }
        state.rows = look
            .rows
            .into_iter()
            .map(|row| (row.work_id, row))
            .collect();
        state.parcels = (look.parcels.into_iter())
            .map(|parcel| (parcel.ticket.delivery_id, parcel))
            .collect();
        let kept: BTreeSet<(i64, i64)> = (state.rows.values())
            .filter(|row| row.status == Status::Done)
            .map(|row| (row.work_id, row.claim_epoch))
            .collect();
        state.successes.retain(|success| kept.contains(success));
        // What was not committed may be gone, and so may be worse than before.
        let files: BTreeMap<Place, Bytes> = shelf.files().into_iter().collect();
        state.laid.retain(|at, _| files.contains_key(at));
        state
            .laid
            .values_mut()
            .for_each(|quality| *quality = Quality::None);
        drop(state);
        self.shelf(&shelf.files());
    }

    /// A process has made a step in the music folder.
    pub(crate) fn step(&self, owner: u64, what: &str, at: &Place, error: Option<&ShelfError>) {
        let event = match error {
            None => format!("{what} {}", at.path),
            Some(error) => format!("{what} {}: {error}", at.path),
        };
        self.trace.note(&name_of(owner), event);
    }

    /// This lies in the music folder now.
    pub(crate) fn shelf(&self, files: &[(Place, Bytes)]) {
        let mut state = lock(&self.state);
        let files: BTreeMap<&Place, &Bytes> = files.iter().map(|(at, bytes)| (at, bytes)).collect();
        let users = state.users.clone();
        for (at, bytes) in &users {
            if files.get(at) != Some(&bytes) {
                state.breach(format!("S2: somebody's {} was touched", at.path));
            }
        }
        for song in 0..state.knows.len() {
            for file in 0..2 {
                let mut ours = 0;
                for form in [Form::Plain, Form::Synced] {
                    let at = beside(song, file, form);
                    let Some(bytes) = files.get(&at).filter(|_| !users.contains_key(&at)) else {
                        continue;
                    };
                    ours += 1;
                    state.lies(song, &at, form, bytes);
                }
                if ours > 1 {
                    let track = track(song, file).path;
                    state.breach(format!(
                        "S1: {track} has both plain and timed words of ours"
                    ));
                }
            }
        }
    }
}

/// Where a row stands, and why.
fn shown(row: &QueueRow) -> String {
    let (title, epoch) = (&row.song.title, row.claim_epoch);
    let mut line = format!("{title} is {} in epoch {epoch}", row.status.as_str());
    if row.status == Status::Done {
        let by = row.lane.as_deref().unwrap_or("memory");
        let outcome = row.outcome.map_or("nothing", Outcome::as_str);
        line += &format!(": {outcome}, {:?}, by {by}", row.quality);
    }
    if let Some(reason) = &row.reason {
        line += &format!(": {reason}");
    }
    if let (Some(at), Status::Pending | Status::Failed | Status::Deferred) =
        (row.next_attempt_at, row.status)
    {
        line += &format!(", again in {} s", at.millis_since(row.updated_at) / 1_000);
    }
    line
}

pub(crate) fn name_of(owner: u64) -> String {
    match owner {
        0 => "puts".to_owned(),
        _ => format!("worker{}", owner / 1_000),
    }
}

#[derive(Clone, Copy)]
struct Now {
    tick: Tick,
    wall: Wall,
    owner: u64,
}

/// The life that a row is claimed by.
fn owner_of(row: &QueueRow) -> Option<u64> {
    let (seed, _) = row.owner.as_deref()?.split_once('/')?;
    u64::from_str_radix(seed, 16).ok()
}

impl State {
    fn breach(&mut self, sentence: String) {
        if self.broken.len() < 20 && !self.broken.contains(&sentence) {
            self.broken.push(sentence);
        }
    }

    fn song(&mut self, row: &QueueRow) -> usize {
        number_of(&row.song.title).unwrap_or_else(|| {
            self.breach(format!("Q5: nobody has put in {}", row.song.title));
            0
        })
    }

    fn put_in(&mut self, row: &QueueRow, now: Now) {
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
    fn moved(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
        use Status::{Deferred, Done, Failed, Parked, Pending, Processing, Retired};
        let title = &after.song.title;
        if before.providers_version != after.providers_version {
            self.breach(format!("Q7: {title} is stamped again"));
        }
        if after.claim_epoch < before.claim_epoch {
            self.breach(format!("Q3: the epoch of {title} falls"));
        }
        match (before.status, after.status) {
            (Pending | Failed | Deferred, Processing) => self.claimed(before, after, now),
            (Processing, Processing) => self.kept(before, after, now),
            (Processing, Done | Failed | Deferred | Parked | Retired) => {
                self.is_by_its_worker(before, after, now);
                self.ended(before, after, now);
            }
            (Processing, Pending) => self.given_back(before, after, now),
            (Done, Pending) if self.upgrades => self.counts.add("looks for something better"),
            (one, other) if one == other => self.stays(before, after),
            (one, other) => {
                let (one, other) = (one.as_str(), other.as_str());
                self.breach(format!("Q8: {title} goes from {one} to {other}"));
            }
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

    fn ended(&mut self, before: &QueueRow, after: &QueueRow, now: Now) {
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
        let knows = self.knows[song].clone();
        match after.status {
            Status::Done => {
                if !self.successes.insert((after.work_id, after.claim_epoch)) {
                    self.breach(format!("Q1: {title} has two successes of one epoch"));
                }
                self.answers(song, before, after, &knows, now);
            }
            Status::Deferred | Status::Retired => {
                self.counts.add("deferred");
                if knows.iter().any(|knows| *knows != Knows::Nothing) {
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
        knows: &[Knows],
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
                if knows.iter().any(|knows| has_words(*knows)) {
                    self.breach(format!(
                        "Q6: {title} is taken for instrumental, and a lane has words"
                    ));
                }
            }
            Outcome::Rejected => self.breach(format!("Q6: right words of {title} are rejected")),
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
        });
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

    /// A row and all that hangs on it, in the transaction that changed it.
    fn whole(&mut self, row: &QueueRow, reader: &Reader) {
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

    /// A file of ours.
    fn lies(&mut self, song: usize, at: &Place, form: Form, bytes: &Bytes) {
        let known = self.renderings.get(&song);
        let quality = known.and_then(|known| known.get(&Digest::of(bytes)).copied());
        match quality {
            Some(quality) if Form::of(quality) == Some(form) => {
                let before = self.laid.insert(at.clone(), quality);
                if before.is_some_and(|before| before > quality) {
                    self.breach(format!("S3: {} gets worse", at.path));
                }
            }
            Some(_) | None => {
                let path = &at.path;
                self.breach(format!("S1: {path} is neither old nor new: {bytes:?}"));
            }
        }
    }
}
