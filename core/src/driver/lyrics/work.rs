//! The worker: takes a song, asks the lanes, ends its turn, and writes what is to lie beside the music.

use super::ask::Asked;
use super::desk::{Desk, End, Job, Remembered};
use super::lanes::{LaneState, Lanes, Setup};
use super::post;
use super::race::{Answer, Race, Raced};
use crate::breaker::{NEVER, Phase};
use crate::dispatch::{Heard, Known, Lane, Quality};
use crate::driver::lock;
use crate::io::{Clock, Runtime, StoreError};
use crate::lyrics::document::Document;
use crate::lyrics::lrc::LrcStyle;
use crate::lyrics::{Body, Lyrics};
use crate::queue::{Claim, Completion, Moment, NewDocument, Outcome, Step, decide, entries, known};
use crate::time::{Tick, Wall};
use std::collections::BTreeMap;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Looks at the queue this often even when nothing is announced: wall clocks step, and other processes do not ring.
const LOOK: Duration = Duration::from_secs(30);

/// A wait after the store has failed.
const PAUSE: Duration = Duration::from_secs(1);

/// One worker. Any number of them may run over one set of lanes, and any number of processes over one queue.
pub struct Worker<R, D> {
    /// The world.
    pub runtime: R,
    /// The store.
    pub desk: D,
    /// The lanes, shared by all workers of the process.
    pub lanes: Arc<Lanes>,
    /// How timed sidecars are written.
    pub style: LrcStyle,
}

/// What a worker has done.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// A song.
    Song,
    /// A sidecar.
    Parcel,
    /// There is nothing to do before then.
    Idle(Tick),
    /// It was told to stop, and has given back what it had.
    Stopped,
}

impl<R: Runtime, D: Desk> Worker<R, D> {
    /// Works until `stop` ends. A song that is being looked up then is given back.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut stop = pin!(stop);
        loop {
            let wait_until = match self.step(stop.as_mut()).await {
                Ok(Done::Song | Done::Parcel) => continue,
                Ok(Done::Stopped) => return,
                Ok(Done::Idle(at)) => at,
                Err(error) => {
                    self.desk.trouble("the queue cannot be worked on", &error);
                    self.runtime.clock().now() + PAUSE
                }
            };
            if self.wait(wait_until, stop.as_mut()).await {
                return;
            }
        }
    }

    /// Does one thing.
    ///
    /// # Errors
    /// The store's. A claim that is not valid any more is none.
    pub async fn step<S: Future<Output = ()>>(
        &self,
        mut stop: Pin<&mut S>,
    ) -> Result<Done, StoreError> {
        let clock = self.runtime.clock();
        let (now, wall) = (clock.now(), clock.wall());
        let setup = self.lanes.setup();
        let due = self.desk.due().await?;
        let is_due = |at: Option<Wall>| at.is_some_and(|at| at <= wall);
        if is_due(due.parcel) {
            let lease_until = wall + setup.book.lease;
            if let Some(parcel) = self.desk.take_parcel(wall, lease_until).await? {
                self.desk.ring();
                let seed = setup.book.seed;
                let posted = post::post(&self.runtime, &self.desk, self.style, seed, &parcel).await;
                self.unless_late(posted)?;
                return Ok(Done::Parcel);
            }
        }
        let closed = self.closed_until(&setup, now);
        if is_due(due.song) && closed.is_none() {
            let lease_until = wall + setup.book.lease;
            let version = setup.providers_version;
            if let Some(job) = self.desk.take(wall, lease_until, version).await? {
                self.desk.ring();
                return self.song(&setup, job, stop.as_mut()).await;
            }
        }
        let song = due.song.filter(|_| closed.is_none());
        let mut at = now + LOOK;
        for due in [song, due.parcel].into_iter().flatten() {
            let wait = u64::try_from(due.millis_since(wall)).unwrap_or(0).max(1);
            at = at.min(now + Duration::from_millis(wait));
        }
        Ok(Done::Idle(closed.map_or(at, |until| at.min(until))))
    }

    /// When the first lane can be asked again, if none can now.
    fn closed_until(&self, setup: &Setup, now: Tick) -> Option<Tick> {
        let bank = lock(self.lanes.bank());
        let mut earliest = now + LOOK;
        for slot in &setup.slots {
            match bank.view(slot.lane, now).map(|view| view.phase) {
                Some(Phase::Open { until }) => earliest = earliest.min(until),
                Some(Phase::Closed | Phase::HalfOpen) | None => return None,
            }
        }
        Some(earliest)
    }

    /// Waits; whether it was told to stop.
    async fn wait<S: Future<Output = ()>>(&self, until: Tick, mut stop: Pin<&mut S>) -> bool {
        let mut rung = pin!(self.desk.rung());
        let mut timer = pin!(self.runtime.clock().sleep_until(until));
        poll_fn(|cx| {
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(true);
            }
            match rung.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => timer.as_mut().poll(cx).map(|()| false),
            }
        })
        .await
    }

    async fn song<S: Future<Output = ()>>(
        &self,
        setup: &Arc<Setup>,
        job: Job,
        stop: Pin<&mut S>,
    ) -> Result<Done, StoreError> {
        let claim = &job.claim;
        let clock = self.runtime.clock();
        if let (Some(cached), Quality::None) = (&job.cached, claim.standing) {
            let end = remembered(setup, claim, cached, clock.wall());
            let ended = self.desk.end(claim, end, Vec::new(), clock.wall()).await;
            self.unless_late(ended)?;
            return Ok(Done::Song);
        }
        let asked = Asked {
            song: crate::lyrics::Song {
                copies: job.copies.clone(),
                ..claim.song.clone()
            },
            ours: job.ours.clone(),
            salt: self.desk.salt(),
        };
        let race = Race {
            runtime: &self.runtime,
            desk: &self.desk,
            bank: self.lanes.bank(),
            setup,
            asked: &asked,
            identity: &claim.identity,
            ticket: claim.ticket,
            standing: claim.standing,
            known: believed(setup, &job, clock.wall()),
        };
        let (done, raced) = match self.beside_heartbeat(setup, claim, race.run(), stop).await {
            Beside::Ended(raced) => (Done::Song, Some(raced)),
            Beside::Stopped => (Done::Stopped, None),
            // Somebody else has the song by now: whatever we know of it comes too late (Q3).
            Beside::Lost => return Ok(Done::Song),
        };
        let moment = Moment {
            tick: clock.now(),
            wall: clock.wall(),
        };
        let mut lanes = self.lanes.states(moment.tick, moment.wall);
        let end = match raced {
            Some(raced) => {
                let called = called(setup, &raced);
                lanes.retain(|lane: &LaneState| called.contains(&lane.name));
                concluded(setup, &job, raced, moment)
            }
            None => End::Release {
                retry_at: moment.wall,
                reason: Some("the hub was stopped".to_owned()),
                answers: Vec::new(),
            },
        };
        let ended = self.desk.end(claim, end, lanes, moment.wall).await;
        self.unless_late(ended)?;
        Ok(done)
    }

    /// A write that came too late was discarded, and that is that.
    fn unless_late(&self, written: Result<(), StoreError>) -> Result<(), StoreError> {
        match written {
            Err(StoreError::StaleClaim) => {
                self.desk
                    .trouble("what was found comes too late", &StoreError::StaleClaim);
                Ok(())
            }
            other => other,
        }
    }

    /// Runs `race` while the claim is kept alive beside it.
    async fn beside_heartbeat<T, S: Future<Output = ()>>(
        &self,
        setup: &Setup,
        claim: &Claim,
        race: impl Future<Output = T>,
        mut stop: Pin<&mut S>,
    ) -> Beside<T> {
        let mut race = pin!(race);
        let mut heart = pin!(self.beat(setup, claim));
        poll_fn(|cx| {
            if stop.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Beside::Stopped);
            }
            match race.as_mut().poll(cx) {
                Poll::Ready(ended) => Poll::Ready(Beside::Ended(ended)),
                Poll::Pending => heart.as_mut().poll(cx).map(|()| Beside::Lost),
            }
        })
        .await
    }

    /// Keeps the claim; ends when it is lost.
    async fn beat(&self, setup: &Setup, claim: &Claim) {
        let (clock, lease) = (self.runtime.clock(), setup.book.lease);
        if lease.is_zero() {
            return pending().await;
        }
        loop {
            clock.sleep_until(clock.now() + lease / 3).await;
            let until = clock.wall() + lease;
            match self.desk.heartbeat(claim.ticket, until).await {
                Ok(()) => {}
                Err(StoreError::StaleClaim) => return,
                Err(error) => self.desk.trouble("a claim could not be kept alive", &error),
            }
        }
    }
}

enum Beside<T> {
    Ended(T),
    Stopped,
    Lost,
}

/// The lanes that need not be asked, because what they said is still believed.
fn believed(setup: &Setup, job: &Job, now: Wall) -> BTreeMap<Lane, Known> {
    let slots = setup.slots.iter().filter_map(|slot| {
        let entry = job.ledger.iter().find(|entry| entry.lane == slot.name())?;
        Some((slot.lane, known(entry, now)?))
    });
    slots.collect()
}

/// The lanes that were called.
fn called(setup: &Setup, raced: &Raced) -> Vec<String> {
    let was_called = |heard: &Heard| match heard {
        Heard::Waiting | Heard::Known(_) | Heard::Open { .. } => false,
        Heard::Called
        | Heard::Suitable(_)
        | Heard::Unsuitable(_)
        | Heard::Miss
        | Heard::Failed { .. }
        | Heard::Discarded
        | Heard::GivenUp(_) => true,
    };
    let called = raced.heard.iter().filter(|(_, heard)| was_called(heard));
    let names = called.filter_map(|(lane, _)| setup.slot(*lane));
    names.map(|slot| slot.name().to_owned()).collect()
}

fn remembered(setup: &Setup, claim: &Claim, cached: &Remembered, now: Wall) -> End {
    let read = Document::read(&cached.body).ok();
    let document = read.map(|lyrics| NewDocument {
        quality: cached.quality,
        ..NewDocument::of(&lyrics)
    });
    End::Complete(Box::new(Completion {
        outcome: cached.outcome,
        document,
        lane: cached.lane.clone(),
        reason: None,
        upgrade_after: upgrade_at(setup, claim, cached.quality, now),
        answers: Vec::new(),
    }))
}

fn upgrade_at(setup: &Setup, claim: &Claim, quality: Quality, now: Wall) -> Option<Wall> {
    let wait = setup.book.ladders.upgrade(quality, claim.upgrades);
    wait.map(|wait| now + wait)
}

/// What becomes of the song: the resolution table of contracts section 2.
fn concluded(setup: &Setup, job: &Job, raced: Raced, moment: Moment) -> End {
    let Raced {
        resolution,
        heard,
        reasons,
    } = raced;
    let (claim, ladders) = (&job.claim, &setup.book.ladders);
    let entry_of = |lane: Lane| {
        let name = setup.slot(lane)?.name();
        job.ledger.iter().find(|entry| entry.lane == name)
    };
    let name = |lane: Lane| {
        let name = setup.slot(lane)?.name().to_owned();
        Some((name, reasons.get(&lane).cloned()))
    };
    let answers = entries(heard.iter().copied(), name, ladders.miss_base, moment);
    let told = told(setup, &heard, &reasons);
    let stored = |lane: Lane| entry_of(lane).map(|entry| entry.answer);
    match decide(resolution, claim.standing, stored, moment) {
        Step::Complete {
            outcome,
            lane,
            value,
        } => {
            let known_reason = || entry_of(lane).and_then(|entry| entry.reason.clone());
            let (lyrics, reason) = match value {
                Some(Answer { lyrics, reason, .. }) => (lyrics, reason),
                None => (None, known_reason()),
            };
            let lyrics = match outcome {
                Outcome::Lyrics => lyrics,
                Outcome::Instrumental => Some(Lyrics::of(Body::Instrumental)),
                Outcome::Rejected => None,
            };
            let quality = lyrics.as_ref().map_or(Quality::None, Lyrics::quality);
            let document = lyrics.as_ref().map(NewDocument::of);
            End::Complete(Box::new(Completion {
                outcome,
                document,
                lane: setup.slot(lane).map(|slot| slot.name().to_owned()),
                reason,
                upgrade_after: upgrade_at(setup, claim, quality, moment.wall),
                answers,
            }))
        }
        Step::Keep => End::Keep {
            upgrade_after: upgrade_at(setup, claim, claim.standing, moment.wall),
            answers,
        },
        Step::Release { retry_at } => End::Release {
            retry_at: in_line(setup, claim, &heard, moment).unwrap_or(retry_at),
            reason: Some(told),
            answers,
        },
        Step::Fail => {
            let seed = setup.book.seed ^ claim.ticket.work_id.unsigned_abs();
            let wait = ladders.backoff(claim.attempts.saturating_add(1), seed);
            End::Fail {
                retry_at: wait.map(|wait| moment.wall + wait),
                reason: told,
                answers,
            }
        }
        Step::Defer => {
            let wait = ladders.miss(claim.miss_count.saturating_add(1));
            End::Defer {
                retry_at: wait.map(|wait| moment.wall + wait),
                reason: "no lane has it".to_owned(),
                answers,
            }
        }
    }
}

/// When a song comes back that waits for a lane, if nobody waits for the song: behind the others of the library that wait
/// for the same lane.
fn in_line(setup: &Setup, claim: &Claim, heard: &[(Lane, Heard)], moment: Moment) -> Option<Wall> {
    if claim.priority.is_urgent() {
        return None;
    }
    let reopens = |(lane, heard): &(Lane, Heard)| match heard {
        Heard::Open { until } => Some((*until, *lane)),
        Heard::Failed { retry_at, .. } => retry_at.map(|at| (at, *lane)),
        Heard::Waiting
        | Heard::Known(_)
        | Heard::Called
        | Heard::Suitable(_)
        | Heard::Unsuitable(_)
        | Heard::Miss
        | Heard::Discarded
        | Heard::GivenUp(_) => None,
    };
    let (earliest, lane) = heard.iter().filter_map(reopens).min()?;
    if earliest >= NEVER {
        return None;
    }
    let slot = setup.slot(lane)?;
    let at = slot.turn.come_back(earliest, setup.spacing(slot));
    Some(moment.wall_at(at))
}

/// What stood in the way, lane by lane.
fn told(setup: &Setup, heard: &[(Lane, Heard)], reasons: &BTreeMap<Lane, String>) -> String {
    let lines = heard.iter().filter_map(|(lane, heard)| {
        let name = setup.slot(*lane)?.name();
        match heard {
            Heard::Failed { .. } => {
                let reason = reasons.get(lane).map_or("took too long", String::as_str);
                Some(format!("{name} {reason}"))
            }
            Heard::Open { .. } => Some(format!("{name} is left alone for a while")),
            Heard::GivenUp(_) | Heard::Waiting | Heard::Called => {
                Some(format!("{name} did not answer in time"))
            }
            Heard::Known(_)
            | Heard::Suitable(_)
            | Heard::Unsuitable(_)
            | Heard::Miss
            | Heard::Discarded => None,
        }
    });
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => "no lane can be asked now".to_owned(),
        false => lines.join("; "),
    }
}
