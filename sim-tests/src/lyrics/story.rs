//! The acts of a story about lookups: songs are put in and things go wrong; then all is healed, and every song must come to
//! its end.

use super::history::{Answered, Counts, Look};
use super::process::Call;
use super::scenario::{Answer, Fault, Knows, Scenario};
use super::world::World;
use crate::alone::{self, alone};
use bytes::Bytes;
use futures_util::future::{join, select};
use madsim::Config;
use madsim::runtime::{Handle, Runtime};
use madsim::time::sleep;
use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::{Clock, Place};
use segue_core::queue::Status;
use segue_runtime_sim::Timeline;
use segue_sqlite::{QueueDetail, TargetRow};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

/// No story needs longer to settle once all is well: the longest is a lease from a clock that was hours fast.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);

/// Longer than anything that was cancelled takes to go away.
const QUIET: Duration = Duration::from_secs(30);

/// Longer than a process leaves what is due alone, when nobody rings.
const SWEEP: Duration = Duration::from_secs(20);

/// What a run came to.
pub type Run = alone::Run<Outcome>;

/// What is left at the end, and what happened on the way.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Every request to a lane.
    pub calls: Vec<Call>,
    /// Every answer that was stored.
    pub answered: Vec<Answered>,
    /// What was wrong when it happened.
    pub broken: Vec<String>,
    /// How often rare things happened.
    pub counts: Counts,
    /// The queue.
    pub details: Vec<QueueDetail>,
    /// The queue and the journal.
    pub look: Look,
    /// The music folder.
    pub files: BTreeMap<Place, Bytes>,
    /// Files of others that are to lie there.
    pub users: BTreeMap<Place, Bytes>,
    /// Where others have done something.
    pub touched: BTreeSet<Place>,
    /// What each lane knows at the end, by song.
    pub knows: Vec<Vec<Knows>>,
    /// Lanes that answered something else than what they know.
    pub spoilt: BTreeSet<usize>,
    /// Whether everything had settled.
    pub settled: bool,
    /// When all was healed.
    pub healed: Tick,
    /// Tasks by node, at the end and at the beginning, where they differ.
    pub leaked: Vec<(String, usize, usize)>,
    /// Permits that are out, and lookups that wait.
    pub held: Vec<(String, usize, usize)>,
    /// Sockets that are open.
    pub sockets: usize,
    /// Errors that were logged, and when.
    pub errors: Vec<(Tick, String)>,
    /// Panics that nobody ordered.
    pub panics: u64,
    /// Lines of the timeline, and a hash over them.
    pub fingerprint: (usize, u64),
    /// The simulated time that went by.
    pub took: Tick,
}

/// Plays a scenario in a thread of its own.
pub fn run(scenario: &Scenario) -> Run {
    run_within(scenario, |simulation| simulation())
}

/// As [`run`], within something that is chosen for the thread of the simulation: a broken twin.
pub fn run_within(
    scenario: &Scenario,
    within: impl FnOnce(&mut dyn FnMut() -> Outcome) -> Outcome + Send,
) -> Run {
    alone(within, |lines| simulate(scenario, lines))
}

fn simulate(scenario: &Scenario, lines: Timeline) -> Outcome {
    let mut runtime = Runtime::with_seed_and_config(scenario.seed, Config::default());
    runtime.set_time_limit(2 * PATIENCE);
    runtime.block_on(async {
        let (world, log) = World::build(scenario, lines);
        let _logging = tracing::dispatcher::set_default(&log);
        let outcome = world.play(scenario).await;
        world.end().await;
        outcome
    })
}

impl World {
    async fn play(&self, scenario: &Scenario) -> Outcome {
        sleep(Duration::from_secs(1)).await;
        let tasks = tasks();
        let acting = pin!(join(self.put_all(scenario), self.go_wrong(scenario)));
        let power = pin!(self.see_to_the_power());
        select(acting, power).await;
        let power = pin!(self.see_to_the_power());
        // What was ordered for later may still come.
        let later = pin!(sleep(Duration::from_millis(scenario.healed_after)));
        select(later, power).await;
        self.heal(scenario);
        let healed = self.ground.clock.now();
        let settled = self.settles(scenario).await && self.goes_on(scenario).await;
        sleep(QUIET).await;
        let look = self.ground.look(Look::at);
        let details = look.rows.iter().filter_map(|row| {
            let id = row.work_id;
            self.ground.look(|reader| reader.queue_show(id))
        });
        let leaked = self::tasks().into_iter().filter_map(|(node, now)| {
            let then = tasks.get(&node).copied().unwrap_or(0);
            (now != then && node != "main").then_some((node, now, then))
        });
        let held = self.processes.iter().filter_map(|process| {
            let held = (process.permits(), process.waiting());
            (held != (0, 0)).then(|| (process.name(), held.0, held.1))
        });
        let history = &self.ground.history;
        let (users, touched) = history.users();
        Outcome {
            users,
            touched,
            calls: lock(&self.ground.calls).values().cloned().collect(),
            answered: history.answered(),
            broken: history.broken(),
            counts: history.counts(),
            details: details.collect(),
            files: self.ground.shelf.files().into_iter().collect(),
            knows: history.knows(),
            look,
            spoilt: spoilt(scenario),
            settled,
            healed,
            leaked: leaked.collect(),
            held: held.collect(),
            sockets: self.ground.links.open(),
            errors: lock(&self.ground.errors).clone(),
            panics: alone::panics(),
            fingerprint: self.ground.trace.fingerprint(),
            took: self.ground.clock.now(),
        }
    }

    async fn put_all(&self, scenario: &Scenario) {
        for (after, put) in &scenario.puts {
            sleep(Duration::from_millis(*after)).await;
            self.put(scenario, *put).await;
        }
    }

    /// Days go by twice, and somebody reads the folders: whether all has settled again. What comes first wins a race, and may
    /// be bettered the next time.
    async fn goes_on(&self, scenario: &Scenario) -> bool {
        let days = i64::try_from(scenario.later).unwrap_or(0);
        if days == 0 {
            return true;
        }
        for _ in 0..2 {
            self.ground
                .trace
                .note("world", format!("{days} days go by"));
            self.days_go_by(days);
            if !self.settles(scenario).await {
                return false;
            }
        }
        self.ground.trace.note("world", "the folders are read");
        self.read_folders();
        self.settles(scenario).await
    }

    /// Waits until nothing is due any more; whether that came about.
    async fn settles(&self, scenario: &Scenario) -> bool {
        let deadline = self.ground.clock.now() + PATIENCE;
        let mut songs: Vec<usize> = scenario.puts.iter().map(|(_, put)| put.song).collect();
        songs.sort_unstable();
        songs.dedup();
        // The sweep for what is due again may have to come first.
        sleep(SWEEP).await;
        while self.ground.clock.now() < deadline {
            sleep(Duration::from_secs(5)).await;
            let look = self.ground.look(Look::at);
            let is_over = |status| matches!(status, Status::Done | Status::Deferred);
            let over = look.rows.iter().filter(|row| is_over(row.status)).count();
            let is_quiet = look.parcels.iter().all(|p| p.next_attempt_at.is_none());
            if over == songs.len() && over == look.rows.len() && is_quiet {
                return true;
            }
        }
        false
    }
}

/// The targets of a song's row.
pub(crate) fn targets(outcome: &Outcome, work_id: i64) -> &[TargetRow] {
    let detail = outcome.details.iter().find(|d| d.row.work_id == work_id);
    detail.map_or(&[], |detail| &detail.targets)
}

fn spoilt(scenario: &Scenario) -> BTreeSet<usize> {
    let is_spoilt = |answer: &Answer| !matches!(answer, Answer::After(_));
    let lanes = scenario.lanes.iter().enumerate();
    let spoilt = lanes.filter(|(_, answers)| answers.iter().any(is_spoilt));
    let trapped = scenario.faults.iter().filter_map(|(_, fault)| match fault {
        Fault::Panic(lane, _) => Some(*lane),
        _ => None,
    });
    spoilt.map(|(lane, _)| lane).chain(trapped).collect()
}

fn tasks() -> BTreeMap<String, usize> {
    Handle::current().metrics().num_tasks_by_node()
}
