//! A queue in memory for one or two workers, and lanes that say what a script says.

use bytes::Bytes;
use segue_core::Wall;
use segue_core::delivery::{Intent, Removal};
use segue_core::dispatch::Quality;
use segue_core::driver::lyrics::{
    Codec, Desk, Due, End, Job, LaneState, Parcel, ParcelEnd, ParcelTicket,
};
use segue_core::io::{NetError, StoreError};
use segue_core::lyrics::{Body, Line, Lyrics, Matched, Song};
use segue_core::provider::{
    Candidate, Cost, Descriptor, Lookup, MissReason, Next, Outcome, Question, Reply, Trouble, judge,
};
use segue_core::queue::{Claim, Identity, Priority, Ticket, identify};
use std::future::{Future, pending};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) fn song(title: &str) -> Song {
    Song {
        title: title.to_owned(),
        artist: "The Paper Boats".to_owned(),
        duration_ms: Some(60_000),
        ..Song::default()
    }
}

#[derive(Default)]
struct Rows {
    waiting: Vec<Claim>,
    ended: Vec<(String, End)>,
    lost: bool,
    beats: u32,
    troubles: Vec<&'static str>,
}

/// Songs that wait, and what became of those that were taken.
#[derive(Clone, Default)]
pub(crate) struct Memory(Arc<Mutex<Rows>>);

impl Memory {
    pub(crate) fn with(titles: &[&str]) -> Self {
        let memory = Memory::default();
        for (work_id, title) in (1..).zip(titles) {
            let song = song(title);
            memory.0.lock().unwrap().waiting.push(Claim {
                ticket: Ticket { work_id, epoch: 1 },
                identity: identify(&song).expect("a name"),
                song,
                lease_until: Wall(0),
                priority: Priority::SCAN,
                attempts: 0,
                miss_count: 0,
                upgrades: 0,
                providers_version: 0,
                standing: Quality::None,
            });
        }
        memory
    }

    /// Gives a song that waits another priority.
    pub(crate) fn prefer(&self, title: &str, priority: Priority) {
        let mut rows = self.0.lock().unwrap();
        let named = rows.waiting.iter_mut().filter(|c| c.song.title == title);
        named.for_each(|claim| claim.priority = priority);
    }

    /// From now on every claim is another's.
    pub(crate) fn lose(&self) {
        self.0.lock().unwrap().lost = true;
    }

    pub(crate) fn ended(&self) -> Vec<(String, End)> {
        self.0.lock().unwrap().ended.clone()
    }

    pub(crate) fn beats(&self) -> u32 {
        self.0.lock().unwrap().beats
    }

    pub(crate) fn troubles(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().troubles.clone()
    }
}

impl Desk for Memory {
    async fn take(&self, _: Wall, _: Wall, _: u32) -> Result<Option<Job>, StoreError> {
        let mut rows = self.0.lock().unwrap();
        if rows.waiting.is_empty() {
            return Ok(None);
        }
        let claim = rows.waiting.remove(0);
        Ok(Some(Job {
            claim,
            copies: Vec::new(),
            ledger: Vec::new(),
            cached: None,
            ours: std::collections::BTreeSet::new(),
        }))
    }

    async fn heartbeat(&self, _: Ticket, _: Wall) -> Result<(), StoreError> {
        let mut rows = self.0.lock().unwrap();
        rows.beats += 1;
        match rows.lost {
            true => Err(StoreError::StaleClaim),
            false => Ok(()),
        }
    }

    async fn end(
        &self,
        claim: &Claim,
        end: End,
        _: Vec<LaneState>,
        _: Wall,
    ) -> Result<(), StoreError> {
        let mut rows = self.0.lock().unwrap();
        if rows.lost {
            return Err(StoreError::StaleClaim);
        }
        rows.ended.push((claim.song.title.clone(), end));
        Ok(())
    }

    async fn is_decoy(&self, _: &str, _: &Identity) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn take_parcel(&self, _: Wall, _: Wall) -> Result<Option<Parcel>, StoreError> {
        Ok(None)
    }

    async fn begin_parcel(
        &self,
        _: ParcelTicket,
        _: &str,
        _: &Intent,
        _: Wall,
    ) -> Result<(), StoreError> {
        Err(StoreError::StaleClaim)
    }

    async fn begin_removal(&self, _: ParcelTicket, _: &Removal, _: Wall) -> Result<(), StoreError> {
        Err(StoreError::StaleClaim)
    }

    async fn end_parcel(&self, _: ParcelTicket, _: ParcelEnd, _: Wall) -> Result<(), StoreError> {
        Err(StoreError::StaleClaim)
    }

    async fn due(&self) -> Result<Due, StoreError> {
        let waits = !self.0.lock().unwrap().waiting.is_empty();
        Ok(Due {
            song: waits.then_some(Wall(i64::MIN)),
            parcel: None,
        })
    }

    fn rung(&self) -> impl Future<Output = ()> + Send {
        pending()
    }

    fn ring(&self) {}

    fn salt(&self) -> String {
        "salt".to_owned()
    }

    fn trouble(&self, what: &'static str, _: &StoreError) {
        self.0.lock().unwrap().troubles.push(what);
    }
}

/// What a scripted lane does.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Script {
    /// Asks its host so often, and has timed words if all replies were good.
    Ask(u32),
    /// Breaks when it is asked what to do.
    Panic,
    /// Asks for ever.
    Circles,
}

pub(crate) struct Scripted {
    descriptor: Descriptor,
    script: Script,
}

impl Scripted {
    /// A lane of this name, which is also that of its host.
    pub(crate) fn lane(name: &str, script: Script, spacing: Duration) -> Arc<dyn Codec> {
        Arc::new(Scripted {
            descriptor: Descriptor {
                name: name.to_owned(),
                cost: Cost::Remote,
                best: Quality::Line,
                spacing,
                timeout: Duration::from_secs(30),
                terms: "",
            },
            script,
        })
    }
}

impl Codec for Scripted {
    fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    fn lookup(&self, question: &Question<'_>) -> Box<dyn Lookup> {
        Box::new(Asking {
            host: self.descriptor.name.clone(),
            title: question.song.title.clone(),
            script: self.script,
            asked: 0,
            over: None,
        })
    }
}

struct Asking {
    host: String,
    title: String,
    script: Script,
    asked: u32,
    over: Option<Outcome>,
}

impl Lookup for Asking {
    fn next(&mut self) -> Next {
        if let Some(outcome) = self.over.take() {
            return Next::Done(outcome);
        }
        match self.script {
            Script::Panic => panic!("a codec that breaks"),
            Script::Ask(times) if self.asked == times => return Next::Done(found(&self.title)),
            Script::Ask(_) | Script::Circles => {}
        }
        self.asked += 1;
        let request = http::Request::get(format!("http://{}/", self.host));
        Next::Send(Box::new(request.body(Bytes::new()).expect("a URL")))
    }

    fn reply(&mut self, reply: Result<Reply, NetError>) {
        let trouble = match reply {
            Err(error) => Trouble::Net(error),
            Ok(reply) if reply.parts.status == 404 => {
                self.over = Some(Outcome::Miss(MissReason::NotFound));
                return;
            }
            Ok(reply) => match judge::status(&reply) {
                Ok(()) => return,
                Err(trouble) => trouble,
            },
        };
        self.over = Some(Outcome::Failed(trouble));
    }
}

fn found(title: &str) -> Outcome {
    let line = |start, text: &str| Line {
        start,
        text: text.to_owned(),
        ..Line::default()
    };
    let lines = vec![
        line(1_000, "Paper boats go by"),
        line(9_500, "Down the river and away"),
    ];
    Outcome::Found(vec![Candidate {
        lyrics: Lyrics::of(Body::Synced(lines)),
        matched: Matched {
            title: Some(title.to_owned()),
            artist: Some("The Paper Boats".to_owned()),
            duration_ms: Some(60_000),
            ..Matched::default()
        },
    }])
}
