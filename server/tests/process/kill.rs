//! `kill -9` of the real program under load, hundreds of times on one data directory.
//!
//! Each cycle starts the program, checks what the cycles before left, lets clients listen, change and leave while it
//! synchronises, and kills it at a chosen happening. What a cycle chooses follows from the seed and its number.

use crate::chance::asked_for;
use crate::client::{Client, Gone};
use crate::ledger::{Change, Ledger, Marks};
use crate::plan::{Listener, Plan, SONGS, Sources, library};
use crate::program::{AUTH, Happening, Home, Moment, Victim};
use bytes::Bytes;
use futures_util::future::{Either, LocalBoxFuture, join_all, select};
use http_body_util::BodyExt;
use segue::upstream::{Fault, Group, Setup, Upstream};
use segue_core::io::Clock;
use segue_runtime_tokio::clock::TokioClock;
use segue_sqlite::{Db, OperationStatus};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

/// Cycles of the default run; `SEGUE_KILL_CYCLES` asks for more.
const CYCLES: u64 = 200;

/// The seed of the default run; `SEGUE_KILL_SEED` asks for another.
const SEED: u64 = 9;

/// A cycle that takes longer hangs. Ten times a slow one on a busy machine.
const CYCLE: Duration = Duration::from_secs(60);

impl Listener {
    async fn listen(
        self,
        stage: &Stage,
        client: &Client<'_>,
        sources: Sources,
    ) -> Result<(), Gone> {
        let title = SONGS[self.song].0;
        let target = format!("/rest/stream?{AUTH}&id={}", stage.ledger.borrow().id(title));
        let range = self.range.map(|(from, to)| format!("bytes={from}-{to}"));
        let headers: Vec<(&str, &str)> = range.iter().map(|range| ("range", &**range)).collect();
        let (head, mut body) = client.open("GET", &target, &headers).await?.into_parts();
        if head.status == 502 {
            assert_eq!(sources, Sources::AllDown, "somebody has {title}");
            return Ok(());
        }
        client.victim.note(Happening::Opened);
        let expected = self.expected(stage, &head);
        let mut got = 0;
        let mut pauses = if self.slowly { 4 } else { 0 };
        while let Some(frame) = body.frame().await {
            let chunk = frame.map_err(|error| client.gone(error))?;
            let chunk = chunk.into_data().unwrap_or_default();
            assert!(expected[got..].starts_with(&chunk), "F2: {title} at {got}");
            got += chunk.len();
            client.victim.note(Happening::Bytes(chunk.len() as u64));
            if self.leaves.is_some_and(|at| got as u64 >= at) {
                drop(body);
                client.victim.note(Happening::Left);
                return Ok(());
            }
            if pauses > 0 {
                pauses -= 1;
                client.rest("ping", "").await?;
            }
        }
        assert_eq!(got, expected.len(), "{title} ended cleanly and too early");
        if self.looks {
            let shown = client.api("GET", "activity?limit=10").await?;
            stage.ledger.borrow_mut().note_operations(&shown);
        }
        Ok(())
    }

    /// The bytes that follow this head.
    fn expected(&self, stage: &Stage, head: &http::response::Parts) -> Bytes {
        let (first, second) = &stage.copies[self.song];
        let whole = match head.headers["content-type"].to_str() {
            Ok("audio/flac") => first,
            Ok("audio/mpeg") => second,
            other => panic!("a content type of neither source: {other:?}"),
        };
        match (head.status.as_u16(), self.range) {
            (200, _) => whole.clone(),
            (206, Some((from, to))) => whole.slice(from as usize..=to as usize),
            (status, range) => panic!("status {status} to {range:?}"),
        }
    }
}

/// Makes changes one after the other, and reads each back when it is acknowledged.
async fn change(
    stage: &Stage,
    client: &Client<'_>,
    changes: &[(usize, Change)],
) -> Result<(), Gone> {
    for (song, change) in changes {
        let title = SONGS[*song].0;
        let id = stage.ledger.borrow().id(title).to_owned();
        let (endpoint, params) = change.call();
        stage.ledger.borrow_mut().ask(title, *change);
        client.rest(endpoint, &format!("id={id}{params}")).await?;
        let marks = stage.ledger.borrow_mut().acknowledge(title);
        client.victim.note(Happening::Acknowledged);
        stage.count(|run| run.acknowledged += 1);
        let shown = client.rest("getSong", &format!("id={id}")).await?;
        assert_eq!(Marks::of(&shown["song"]), marks, "{title} after {change:?}");
    }
    Ok(())
}

/// What a run came to.
#[derive(Debug, Default)]
struct Run {
    /// By kind of moment.
    kills: BTreeMap<&'static str, u64>,
    acknowledged: u64,
    listened: u64,
    cut: u64,
    synchronised: u64,
    /// Rows that a start closed.
    interrupted: BTreeSet<i64>,
    slowest_start: Duration,
}

/// What stays from cycle to cycle.
struct Stage {
    home: Home,
    first: Upstream,
    second: Upstream,
    /// The bytes of [`SONGS`] on both sources.
    copies: Vec<(Bytes, Bytes)>,
    ledger: RefCell<Ledger>,
    run: RefCell<Run>,
    clock: TokioClock,
}

impl Stage {
    async fn new() -> Stage {
        let first = Setup::new("first", library("flac", 900, true, false));
        let second = Setup::new("second", library("mp3", 128, false, false));
        let first = Upstream::start(first).await.expect("a free port");
        let second = Upstream::start(second).await.expect("a free port");
        let bytes = |upstream: &Upstream, title| upstream.shared().bytes_of(title);
        let copies = SONGS.map(|(title, ..)| (bytes(&first, title), bytes(&second, title)));
        Stage {
            home: Home::new(&[("one", &first), ("two", &second)]),
            copies: copies.into(),
            first,
            second,
            ledger: RefCell::default(),
            run: RefCell::default(),
            clock: TokioClock::new(),
        }
    }

    fn count(&self, change: impl FnOnce(&mut Run)) {
        change(&mut self.run.borrow_mut());
    }

    async fn set(&self, plan: &Plan) {
        let (first, second) = (self.first.faults(), self.second.faults());
        self.first
            .shared()
            .set_library(library("flac", 900, true, plan.more.0));
        self.second
            .shared()
            .set_library(library("mp3", 128, false, plan.more.1));
        match plan.sources {
            Sources::Well => {}
            Sources::OneDown => first.die().await,
            Sources::AllDown => {
                first.die().await;
                second.die().await;
            }
            Sources::Silent => first.set(Group::Api, Fault::HangBeforeHead),
        }
    }

    async fn heal(&self) {
        for upstream in [&self.first, &self.second] {
            upstream.faults().revive().await;
            upstream.faults().release();
        }
    }

    /// One life of the program.
    async fn cycle(&self, plan: &Plan) {
        self.set(plan).await;
        let asked = self.first.counters().all_requests();
        let started = self.clock.now();
        let (victim, mut output) = self.home.start(plan.moment);
        if let Some(url) = victim.greeting(&mut output).await {
            let took = self.clock.now().since(started);
            self.count(|run| run.slowest_start = run.slowest_start.max(took));
            let client = Client::new(&victim, url);
            let life = pin!(self.live(&client, plan));
            let watch = pin!(self.kill_at_request(asked, &victim));
            // An error is the kill.
            let _ = match select(life, watch).await {
                Either::Left((ended, _)) => ended,
                Either::Right(((), life)) => life.await,
            };
        }
        victim.bury().await;
        self.heal().await;
        let log = self.home.log();
        assert!(
            !log.contains(" ERROR ") && !log.contains("panicked"),
            "the log complains"
        );
        self.count(|run| *run.kills.entry(kind(plan.moment)).or_default() += 1);
    }

    async fn kill_at_request(&self, asked: u64, victim: &Victim) {
        let Moment::Requests(number) = victim.moment() else {
            return std::future::pending().await;
        };
        let shared = self.first.shared();
        shared
            .until(|counters| counters.all_requests() >= asked + number)
            .await;
        victim.kill();
    }

    /// Checks what was left, then everybody at once.
    async fn live(&self, client: &Client<'_>, plan: &Plan) -> Result<(), Gone> {
        if !self.ledger.borrow().has_begun() {
            client.api("POST", "sync").await?;
        }
        self.check(client).await?;
        let mut actors: Vec<LocalBoxFuture<'_, Result<(), Gone>>> = Vec::new();
        for listener in &plan.listeners {
            actors.push(Box::pin(async move {
                let listened = listener.listen(self, client, plan.sources).await;
                self.count(|run| match &listened {
                    Ok(()) => run.listened += 1,
                    Err(Gone) => run.cut += 1,
                });
                listened
            }));
        }
        for changes in &plan.changes {
            actors.push(Box::pin(change(self, client, changes)));
        }
        if plan.syncs {
            actors.push(Box::pin(async {
                client.api("POST", "sync").await?;
                self.count(|run| run.synchronised += 1);
                Ok(())
            }));
        }
        join_all(actors).await.into_iter().collect()
    }

    /// Everything acknowledged in earlier cycles is there, and nothing is damaged or left open.
    async fn check(&self, client: &Client<'_>) -> Result<(), Gone> {
        let titles = SONGS.map(|(title, ..)| title);
        let songs = client.songs().await?;
        self.ledger.borrow_mut().check_songs(&titles, &songs);
        // Without a pause, so that the hub lives: whoever closes a database last tidies it up.
        let db = Db::open(&self.home.database()).expect("the database");
        let reader = db.reader().expect("a reader");
        assert_eq!(reader.damage().expect("read"), Vec::<String>::new());
        let active = reader.active_operations().expect("read");
        assert!(active.is_empty(), "F5: left active {active:?}");
        let mut stored = BTreeMap::new();
        for row in reader.activity(500).expect("read") {
            assert!(row.ended_at.is_some(), "{row:?}");
            if row.status == OperationStatus::Interrupted {
                self.count(|run| {
                    run.interrupted.insert(row.id);
                });
            }
            stored.insert(row.id, (row.status.as_str().to_owned(), row.bytes));
        }
        self.ledger.borrow_mut().check_operations(&stored);
        Ok(())
    }
}

fn kind(moment: Moment) -> &'static str {
    match moment {
        Moment::Descriptors(_) => "starting",
        Moment::Greeting => "greeting",
        Moment::Requests(_) | Moment::Written(_) => "synchronising",
        Moment::Opened(_) => "opening",
        Moment::Bytes(_) => "streaming",
        Moment::Acknowledged(_) => "acknowledging",
        Moment::Left(_) => "leaving",
        Moment::Rest => "resting",
    }
}

/// Says at a failure how to come back to it.
struct Replay {
    seed: u64,
    cycle: u64,
    plan: Plan,
}

impl Drop for Replay {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Replay { seed, cycle, plan } = self;
            eprintln!("cycle {cycle} of seed {seed}: {plan:?}");
            let cycles = *cycle + 1;
            eprintln!(
                "again: SEGUE_KILL_SEED={seed} SEGUE_KILL_CYCLES={cycles} cargo test -p segue --test process kill"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_killed_at_any_moment_starts_again_and_knows_all_it_acknowledged() {
    let seed = asked_for("SEGUE_KILL_SEED", SEED);
    let cycles = asked_for("SEGUE_KILL_CYCLES", CYCLES);
    let stage = Stage::new().await;
    for cycle in 0..cycles {
        let mut plan = Plan::of(seed, cycle);
        if !stage.ledger.borrow().has_begun() {
            plan.sources = Sources::Well;
        }
        let replay = Replay { seed, cycle, plan };
        let life = stage.cycle(&replay.plan);
        tokio::time::timeout(CYCLE, life)
            .await
            .expect("the cycle hangs");
    }
    let run = stage.run.borrow();
    println!("{cycles} kills of seed {seed}: {run:?}");
    if cycles >= CYCLES {
        // What is rare has happened, or this tests less than it says.
        assert_eq!(run.kills.len(), 8, "a kind of moment was never chosen");
        assert!(run.acknowledged > cycles && run.listened > 0 && run.synchronised > 0);
        assert!(run.cut > 0 && !run.interrupted.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_killed_anywhere_is_followed_by_a_good_one() {
    let first = Setup::new("first", library("flac", 900, true, false));
    let first = Upstream::start(first).await.expect("a free port");
    for descriptors in 3..24 {
        let home = Home::new(&[("one", &first)]);
        let (victim, mut output) = home.start(Moment::Descriptors(descriptors));
        victim.greeting(&mut output).await;
        victim.bury().await;
        let (victim, mut output) = home.start(Moment::Rest);
        let url = victim.greeting(&mut output).await.expect("not killed");
        let client = Client::new(&victim, url);
        // Logs in with the password of the first administrator, and reads all.
        client.api("POST", "sync").await.expect("not killed");
        let songs = client.songs().await.expect("not killed");
        assert_eq!(songs.len(), SONGS.len(), "after {descriptors}");
        victim.bury().await;
    }
}
