//! `kill -9` of two processes that look songs up on one queue: a hub, and workers beside it.
//!
//! Each cycle starts who is not there, checks what was left, and kills one or both at a chosen happening; who is not
//! killed goes on. What a cycle chooses follows from the seed and its number.

mod checks;
mod plan;

use crate::chance::asked_for;
use crate::client::{Client, Gone};
use crate::program::{Home, Moment, Output, Victim};
use crate::provider::{Manner, Provider};
use crate::songs::{Files, Has, Song, album, names, release};
use futures_util::future::{Either, join, select};
use plan::{Plan, Seat, Trigger, Who};
use segue_core::Wall;
use segue_core::io::{Clock, TEMP_PREFIX};
use segue_runtime_tokio::clock::TokioClock;
use segue_sqlite::Db;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

/// Kills of the default run; `SEGUE_LOOKUP_KILLS` asks for more.
const KILLS: u64 = 200;

/// The seed of the default run; `SEGUE_LOOKUP_SEED` asks for another.
const SEED: u64 = 9;

/// How long a happening is waited for: by then all may be done.
const PATIENCE: Duration = Duration::from_millis(300);

/// What takes longer hangs. Ten times a slow one on a busy machine.
const HANGS: Duration = Duration::from_secs(60);

/// Songs that may be taken, at least, so that there is something to be killed at.
const BACKLOG: usize = 8;

/// A process that lives.
struct Life {
    victim: Victim,
    /// Kept, for who prints to nobody dies of it.
    _output: Output,
    /// Where it answers, if it does.
    url: Option<String>,
}

/// What a run came to.
#[derive(Debug, Default)]
struct Run {
    /// By kind of moment.
    kills: BTreeMap<&'static str, u64>,
    /// Killed while the other one went on.
    survived: u64,
    /// Unfinished sidecars that the dead left.
    orphans: u64,
    /// Songs that were in work when they were looked at.
    in_work: u64,
    retried: u64,
    /// Times that a happening did not come.
    waited: u64,
}

/// What stays from cycle to cycle.
struct Stage {
    home: Home,
    music: PathBuf,
    provider: Provider,
    clock: TokioClock,
    hub: Option<Life>,
    beside: Option<Life>,
    albums: usize,
    songs: Vec<Song>,
    /// What lies in the folder and must stay as it is: what was put there, and sidecars since they were seen.
    files: Files,
    /// Unfinished sidecars that lay there when nobody lived.
    orphans: BTreeSet<PathBuf>,
    /// Answered songs: epoch, when, document.
    done: BTreeMap<i64, (i64, Option<Wall>, Option<String>)>,
    run: Run,
}

impl Stage {
    async fn new(seed: u64) -> Stage {
        let provider = Provider::start(seed).await;
        let home = Home::with(&format!(
            "[sync]\ninterval = \"0s\"\n[queue]\nlease = \"2s\"\nworkers = 2\n\
             [[sources]]\nid = \"shelf\"\nkind = \"folder\"\npath = \"music\"\nwrite_sidecars = true\n\
             [providers.lrclib]\nbase_url = \"{}\"\nspacing = \"0s\"\ntimeout = \"2s\"\n\
             [providers.circuit]\nbase_seconds = 1\ncap_seconds = 1\ntransient_threshold = 100\n",
            provider.url()
        ));
        let music = home.path("music");
        std::fs::create_dir(&music).expect("made");
        let mut stage = Stage {
            home,
            music,
            provider,
            clock: TokioClock::new(),
            hub: None,
            beside: None,
            albums: 0,
            songs: Vec::new(),
            files: Files::new(),
            orphans: BTreeSet::new(),
            done: BTreeMap::new(),
            run: Run::default(),
        };
        for _ in 0..6 {
            stage.release();
        }
        stage
    }

    /// One album more.
    fn release(&mut self) {
        let songs = album(self.albums);
        self.albums += 1;
        let put = release(&self.music, self.provider.lrclib(), &songs);
        self.files.extend(put);
        self.songs.extend(songs);
    }

    fn life(&self, seat: Seat) -> &Option<Life> {
        match seat {
            Seat::Hub => &self.hub,
            Seat::Beside => &self.beside,
        }
    }

    fn take(&mut self, seat: Seat) -> Option<Life> {
        match seat {
            Seat::Hub => self.hub.take(),
            Seat::Beside => self.beside.take(),
        }
    }

    /// One cycle.
    async fn cycle(&mut self, plan: Plan) {
        self.provider.behave(plan.manner);
        if let Trigger::Start(descriptors) = plan.trigger {
            self.kill_in_start(plan.who, descriptors).await;
        } else {
            self.start().await;
            let new = self.check().await;
            self.live(plan, new).await;
            self.bury(plan).await;
        }
        self.look();
    }

    /// Starts who is not there, both at once when there is a library already.
    async fn start(&mut self) {
        let start = async |stage: &Stage, seat: Seat| {
            if stage.life(seat).is_some() {
                return None;
            }
            let (victim, mut output) = stage.home.run(seat.arguments(), seat.log(), Moment::Rest);
            let url = match seat {
                Seat::Hub => Some(victim.greeting(&mut output).await.expect("not killed")),
                Seat::Beside => {
                    victim.first_line(&mut output).await.expect("not killed");
                    None
                }
            };
            Some(Life {
                victim,
                _output: output,
                url,
            })
        };
        let (hub, beside) = match self.home.database().exists() {
            true => join(start(self, Seat::Hub), start(self, Seat::Beside)).await,
            false => (
                start(self, Seat::Hub).await,
                start(self, Seat::Beside).await,
            ),
        };
        self.hub = self.hub.take().or(hub);
        self.beside = self.beside.take().or(beside);
    }

    /// Kills in the middle of a start. Who lived before is killed first.
    async fn kill_in_start(&mut self, who: Who, descriptors: usize) {
        for seat in Seat::ALL {
            let can_start = seat == Seat::Hub || self.home.database().exists();
            if !who.is(seat) || !can_start {
                continue;
            }
            if let Some(life) = self.take(seat) {
                life.victim.bury().await;
                self.count("resting");
            }
            let moment = Moment::Descriptors(descriptors);
            let (victim, mut output) = self.home.run(seat.arguments(), seat.log(), moment);
            victim.first_line(&mut output).await;
            victim.bury().await;
            self.count("starting");
            self.read_log(seat);
        }
    }

    fn count(&mut self, kind: &'static str) {
        *self.run.kills.entry(kind).or_default() += 1;
    }

    fn kills(&self) -> u64 {
        self.run.kills.values().sum()
    }

    fn read_log(&self, seat: Seat) {
        let log = self.home.log_of(seat.log());
        assert!(
            !log.contains(" ERROR ") && !log.contains("panicked"),
            "the log complains:\n{log}"
        );
    }

    /// What happens until the kill, and the kill.
    async fn live(&mut self, plan: Plan, new: bool) {
        let hub = self.hub.as_ref().expect("started");
        let client = Client::new(&hub.victim, hub.url.clone().expect("it answers"));
        let strike = || {
            for seat in Seat::ALL {
                if let (true, Some(life)) = (plan.who.is(seat), self.life(seat)) {
                    life.victim.kill();
                }
            }
        };
        let (retried, waited) = (Cell::new(0), Cell::new(false));
        let acts = async {
            if new {
                client.api("POST", "sync").await?;
            }
            for row in stuck(&client).await? {
                let retry = format!("queue/{row}/retry");
                client.api("POST", &retry).await?;
                retried.set(retried.get() + 1);
                if plan.trigger == Trigger::Acknowledged(retried.get()) {
                    strike();
                }
            }
            Ok::<(), Gone>(())
        };
        let watch = async {
            let happening = pin!(self.happening(plan.trigger, &client));
            let patience = pin!(self.clock.sleep_until(self.clock.now() + PATIENCE));
            if let Either::Right(_) = select(happening, patience).await {
                waited.set(true);
            }
            strike();
        };
        // An error is the kill.
        let (acted, ()) = join(acts, watch).await;
        assert!(acted.is_ok() || plan.who.is(Seat::Hub));
        self.run.retried += retried.get();
        self.run.waited += u64::from(waited.get());
    }

    async fn happening(&self, trigger: Trigger, client: &Client<'_>) {
        let pause = || {
            self.clock
                .sleep_until(self.clock.now() + Duration::from_millis(1))
        };
        let sidecars =
            || names(&self.music).filter(|name| name.ends_with("lrc") || name.ends_with("txt"));
        match trigger {
            Trigger::Asked(more) => self.provider.asked(self.provider.count() + more).await,
            Trigger::Written(more) => {
                let before = sidecars().count();
                while sidecars().count() < before + more {
                    pause().await;
                }
            }
            Trigger::Unfinished => {
                while !names(&self.music).any(|name| name.starts_with(TEMP_PREFIX)) {
                    tokio::task::yield_now().await;
                }
            }
            Trigger::Claimed => loop {
                match client.api("GET", "queue").await {
                    Ok(queue) if queue["counts"]["processing"] == 0 => {}
                    Ok(_) | Err(Gone) => return,
                }
            },
            Trigger::Start(_) | Trigger::Acknowledged(_) | Trigger::Rest => {
                std::future::pending().await
            }
        }
    }

    /// Waits for the end of those that were killed.
    async fn bury(&mut self, plan: Plan) {
        for seat in Seat::ALL {
            if !plan.who.is(seat) {
                continue;
            }
            let life = self.take(seat).expect("started");
            life.victim.bury().await;
            self.count(plan.trigger.kind());
            self.read_log(seat);
        }
        self.run.survived += u64::from(plan.who != Who::Both);
    }

    /// Checks what is stored while both live; whether there are new songs for a sync to find.
    async fn check(&mut self) -> bool {
        self.adopt().await;
        self.look();
        let waiting = {
            let db = Db::open(&self.home.database()).expect("the database");
            let reader = db.reader().expect("a reader");
            assert_eq!(reader.damage().expect("read"), Vec::<String>::new());
            self.check_rows(&reader)
        };
        if waiting < BACKLOG {
            self.release();
        }
        waiting < BACKLOG
    }

    /// With a provider in health all comes to its end.
    async fn finish(&mut self) {
        self.provider.behave(Manner::default());
        self.start().await;
        self.adopt().await;
        let hub = self.hub.as_ref().expect("started");
        let client = Client::new(&hub.victim, hub.url.clone().expect("it answers"));
        client.api("POST", "sync").await.expect("not killed");
        let askable = self.songs.iter().filter(|song| song.has != Has::Untagged);
        let (askable, late) = (askable.count(), self.clock.now() + HANGS);
        loop {
            let queue = client.api("GET", "queue").await.expect("not killed");
            let (counts, sidecars) = (&queue["counts"], &queue["sidecars"]);
            let written = sidecars["wanted"] == 0 && sidecars["intent"] == 0;
            if counts["done"] == askable && written {
                break;
            }
            assert!(self.clock.now() < late, "it never ends: {queue}");
            for row in stuck(&client).await.expect("not killed") {
                let retry = format!("queue/{row}/retry");
                client.api("POST", &retry).await.expect("not killed");
            }
            let soon = self.clock.now() + Duration::from_millis(20);
            self.clock.sleep_until(soon).await;
        }
        self.check_words(&client).await;
    }
}

/// Rows that wait for somebody to have them tried again, or for longer than a test does.
async fn stuck(client: &Client<'_>) -> Result<Vec<i64>, Gone> {
    let mut rows = Vec::new();
    for status in ["failed", "parked"] {
        let page = format!("queue?status={status}&limit=200");
        let page = client.api("GET", &page).await?;
        let items = page["items"].as_array().expect("a list");
        rows.extend(items.iter().filter_map(|row| row["id"].as_i64()));
    }
    Ok(rows)
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
            eprintln!("again: SEGUE_LOOKUP_SEED={seed} cargo test -p segue --test process lookups");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn q1_songs_are_answered_and_written_once_whoever_of_two_processes_is_killed_when() {
    let seed = asked_for("SEGUE_LOOKUP_SEED", SEED);
    let kills = asked_for("SEGUE_LOOKUP_KILLS", KILLS);
    let mut stage = Stage::new(seed).await;
    let mut cycle = 0;
    while stage.kills() < kills {
        let plan = Plan::of(seed, cycle);
        let replay = Replay { seed, cycle, plan };
        let life = stage.cycle(replay.plan);
        let lived = tokio::time::timeout(HANGS, life).await;
        lived.expect("the cycle hangs");
        cycle += 1;
    }
    stage.finish().await;
    stage.check_end();
    println!(
        "{} kills in {cycle} cycles of seed {seed}, {} songs, {} requests: {:?}",
        stage.kills(),
        stage.songs.len(),
        stage.provider.count(),
        stage.run
    );
    // Once more from the beginning: there is nothing to do.
    let asked = stage.provider.count();
    for seat in Seat::ALL {
        let life = stage.take(seat).expect("started");
        life.victim.bury().await;
        stage.read_log(seat);
    }
    stage.look();
    stage.start().await;
    let late = stage.clock.now() + PATIENCE;
    stage.clock.sleep_until(late).await;
    stage.check_end();
    assert_eq!(stage.provider.count(), asked, "nobody needs to be asked");
    if kills >= KILLS {
        // What is rare has happened, or this tests less than it says.
        let run = &stage.run;
        assert_eq!(run.kills.len(), 7, "a kind of moment was never chosen");
        assert!(run.survived > 20 && run.orphans > 0 && run.in_work > 0 && run.retried > 0);
    }
}
