//! What became of the queue and the music folder, judged at each write and each step as it happens.
//!
//! A sentence for each breach begins with the number of the rule.

mod answers;
mod folder;
mod rows;

use super::scenario::{Fault, Knows, Scenario, Users};
use super::songs::{TITLES, number_of, users_place, users_words};
use bytes::Bytes;
use segue_core::dispatch::Quality;
use segue_core::driver::lock;
use segue_core::io::{Clock, Digest, Place};
use segue_core::queue::{Outcome, Status};
use segue_core::{Tick, Wall};
use segue_runtime_sim::{SimClock, SimTrace};
use segue_sqlite::{DeliveryRow, Error, QueueRow, Reader};
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
    /// Whether it had an answer before.
    pub again: bool,
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
    /// Where others have laid, edited or removed a file.
    touched: BTreeSet<Place>,
    answered: Vec<Answered>,
    broken: Vec<String>,
    counts: Counts,
    /// When each life's process was last not itself: frozen, or its wall clock was set.
    disturbed: BTreeMap<u64, Tick>,
    alive: BTreeSet<u64>,
    everybody_disturbed: Option<Tick>,
    knows: Vec<Vec<Knows>>,
    /// Everything that each lane has known of each song so far.
    knew: Vec<Vec<BTreeSet<Knows>>>,
    /// Days go by in this story.
    ages: bool,
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
        let days = |(_, fault): &(u64, Fault)| matches!(fault, Fault::Days(_));
        let knows: Vec<Vec<Knows>> = scenario.songs.iter().map(|t| t.knows.clone()).collect();
        let one = |knows: &Knows| BTreeSet::from([*knows]);
        let knew = knows.iter().map(|song| song.iter().map(one).collect());
        History {
            state: Arc::new(Mutex::new(State {
                users,
                knew: knew.collect(),
                knows,
                ages: scenario.later > 0 || scenario.faults.iter().any(days),
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
        let mut state = lock(&self.state);
        state.knows[song][lane] = knows;
        state.knew[song][lane].insert(knows);
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

    /// Files of others, and where others have done anything.
    pub(crate) fn users(&self) -> (BTreeMap<Place, Bytes>, BTreeSet<Place>) {
        let state = lock(&self.state);
        (state.users.clone(), state.touched.clone())
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
}
