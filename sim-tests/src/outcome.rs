//! What is left of a run: plain data, so that two runs can be compared with `==`.

use crate::keeper::Done;
use crate::scenario::{Fault, Play};
use segue_core::breaker::View;
use segue_core::io::NetError;
use segue_core::{Tick, Wall};
use segue_sqlite::StreamOperation;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// Everything the checks go by.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What each listener's requests came to, in the order of their beginnings.
    pub heard: Vec<Heard>,
    /// Every call of the hub for media, in order.
    pub calls: Vec<Call>,
    /// Requests for media that arrived at each source: the salt each carried.
    pub arrivals: Vec<Vec<String>>,
    /// What the keeper of marks did, and what came of it.
    pub deeds: Vec<Done>,
    /// What went wrong, and when.
    pub faults: Vec<(Tick, Fault)>,
    /// When all was well again.
    pub healed: Tick,
    /// `stream_operations`, in order of their ids.
    pub activity: Vec<StreamOperation>,
    /// Which sources hold each track, best first: after the first sync.
    pub ranked: Vec<Vec<usize>>,
    /// The same at the end.
    pub ranked_at_end: Vec<Vec<usize>>,
    /// The ids of the tracks, at the beginning and at the end.
    pub ids: (Vec<String>, Vec<String>),
    /// When the hub was dead, or not yet serving again; without an end when it never did.
    pub outages: Vec<(Tick, Option<Tick>)>,
    /// What became of the hub and its disk.
    pub fate: Fate,
    /// What is wrong with the database file at the end.
    pub damage: Vec<String>,
    /// Nodes with another number of tasks than before all this: how many, and how many then.
    pub leaked: BTreeMap<String, (usize, usize)>,
    /// Operations that are still shown as playing.
    pub live: usize,
    /// Permits that nobody handed back.
    pub permits: usize,
    /// Connections of the hub to sources that were never closed.
    pub unclosed: usize,
    /// Connections and streams that stand at each source, as it sees them.
    pub standing: Vec<(u64, u64)>,
    /// Panics that nobody ordered.
    pub panics: u64,
    /// Sockets that are open at either end, anywhere.
    pub sockets: usize,
    /// Files that the hub holds open: before all this, and at the end.
    pub files: (usize, usize),
    /// Hosts that the hub called and that are no source.
    pub strangers: Vec<SocketAddr>,
    /// Errors that were logged.
    pub errors: Vec<(Tick, String)>,
    /// Length and hash of the timeline.
    pub fingerprint: (usize, u64),
    /// Simulated time in all.
    pub took: Tick,
}

impl Outcome {
    /// Whether nothing had ever been wrong with a source up to `until`, whatever was wrong with the network.
    pub fn was_never_in_trouble(&self, source: usize, until: Tick) -> bool {
        let touches = |fault: &Fault| match fault {
            Fault::Kill(n)
            | Fault::Restart(n)
            | Fault::Isolate(n)
            | Fault::Deafen(n)
            | Fault::Mute(n)
            | Fault::Freeze(n)
            | Fault::Panic(n, _)
            | Fault::Trouble(n, _) => *n == source,
            Fault::TroubleEverywhere(_) => true,
            Fault::Rejoin(_)
            | Fault::Thaw(_)
            | Fault::Mend(_)
            | Fault::Latency(_)
            | Fault::Jitter(_)
            | Fault::Sync
            | Fault::HubDies(..)
            | Fault::HubFreezes(_)
            | Fault::DiskFails(..)
            | Fault::DiskFull(_)
            | Fault::DiskMends
            | Fault::WallStep(_) => false,
        };
        let mut made = self.faults.iter().filter(|(at, _)| *at <= until);
        !made.any(|(_, fault)| touches(fault))
    }

    /// The highest latency there had been up to `until`, in milliseconds; 0 when nobody had made it higher.
    pub fn slowest(&self, until: Tick) -> u64 {
        let made = self.faults.iter().filter(|(at, _)| *at <= until);
        let latencies = made.filter_map(|(_, fault)| match fault {
            // A latency is the least that a message takes, and twice as much the most.
            Fault::Latency(millis) => Some(*millis),
            Fault::Jitter(millis) => Some(millis.div_ceil(2)),
            Fault::Kill(_)
            | Fault::Restart(_)
            | Fault::Isolate(_)
            | Fault::Deafen(_)
            | Fault::Mute(_)
            | Fault::Rejoin(_)
            | Fault::Freeze(_)
            | Fault::Thaw(_)
            | Fault::Trouble(..)
            | Fault::TroubleEverywhere(_)
            | Fault::Mend(_)
            | Fault::Sync
            | Fault::Panic(..)
            | Fault::HubDies(..)
            | Fault::HubFreezes(_)
            | Fault::DiskFails(..)
            | Fault::DiskFull(_)
            | Fault::DiskMends
            | Fault::WallStep(_) => None,
        });
        latencies.max().unwrap_or(0)
    }

    /// Whether messages had jittered so much up to `until` that a source which is well may have lost against another before
    /// it had accepted, and been taken for a machine that is off.
    pub fn jittered(&self, until: Tick) -> bool {
        let mut made = self.faults.iter().filter(|(at, _)| *at <= until);
        made.any(|(_, fault)| matches!(fault, Fault::Jitter(most) if most.div_ceil(2) > PROMPT))
    }

    /// Whether the hub was dead or starting at any time between.
    pub fn was_away(&self, from: Tick, to: Tick) -> bool {
        let overlaps = |(died, back): &(Tick, Option<Tick>)| {
            *died <= to && back.is_none_or(|back| from <= back + LISTENS)
        };
        self.outages.iter().any(overlaps)
    }

    /// Whether the disk may have refused something between.
    pub fn disk_was_ill(&self, from: Tick, to: Tick) -> bool {
        let mut ill_since = None;
        for (at, fault) in &self.faults {
            match fault {
                Fault::DiskFails(..) | Fault::DiskFull(_) => ill_since = ill_since.or(Some(*at)),
                Fault::DiskMends => {
                    if ill_since.is_some_and(|since| since <= to) && from <= *at + SETTLED {
                        return true;
                    }
                    ill_since = None;
                }
                _ => {}
            }
        }
        ill_since.is_some_and(|since| since <= to && from <= self.healed + SETTLED)
    }

    /// For how long the hub stood still between.
    pub fn stood_still(&self, from: Tick, to: Tick) -> Duration {
        let frozen = self.faults.iter().filter_map(|(at, fault)| match fault {
            Fault::HubFreezes(millis) => {
                let thawed = (*at + Duration::from_millis(*millis)).min(self.healed.max(*at));
                (*at <= to && from <= thawed).then(|| thawed.since(*at))
            }
            _ => None,
        });
        frozen.sum()
    }

    /// Whether somebody set the wall clock between.
    pub fn wall_was_set(&self, from: Tick, to: Tick) -> bool {
        let mut steps = self.faults.iter();
        steps.any(|(at, fault)| matches!(fault, Fault::WallStep(_)) && from <= *at && *at <= to)
    }
}

/// What became of a hub and its disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Times that it was killed.
    pub killed: u64,
    /// Times that the power was cut.
    pub powerless: u64,
    /// Deaths in the middle of a change of the disk, or instead of a sync.
    pub in_a_change: u64,
    /// Deaths at an await that was chosen.
    pub at_an_await: u64,
    /// Starts that failed because of the disk.
    pub false_starts: u64,
    /// Writes of the disk that failed, syncs that failed, and writes that found no room.
    pub failed_writes: u64,
    /// See `failed_writes`.
    pub failed_syncs: u64,
    /// See `failed_writes`.
    pub full: u64,
}

/// How long a hub that has started takes until it can be connected to.
const LISTENS: Duration = Duration::from_millis(10);

/// How long after it is well again what the disk has refused may still show: a hub that could not start tries again.
const SETTLED: Duration = Duration::from_secs(2);

/// Messages of up to this latency, in milliseconds, leave every stage of an opening its time.
pub const QUICK: u64 = 300;

/// Messages of up to this latency, in milliseconds, let every source accept within the stagger. One that does not, and
/// loses against another, is taken for a machine that is off.
pub const PROMPT: u64 = 60;

/// The phase of the scenario in which something was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// While things go wrong.
    Trouble,
    /// All is well, but breakers are still open.
    Convalescence,
    /// Breakers have had their time; everybody plays everything at once.
    Health,
    /// Once more, one after another.
    Encore,
}

/// One request of a listener, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The name it gave itself (`c`), which no other request has.
    pub name: String,
    /// Who asked.
    pub listener: usize,
    /// When in the story.
    pub act: Act,
    /// What was asked.
    pub play: Play,
    /// When.
    pub asked: Tick,
    /// When the head was there, and what it said.
    pub head: Option<(Tick, Head)>,
    /// When it was over.
    pub over: Tick,
    /// The wall clock then.
    pub over_wall: Wall,
    /// How it ended.
    pub ending: Ending,
    /// How many bytes came.
    pub length: u64,
    /// Their hash.
    pub hash: u64,
    /// Whose bytes they are: the sources on which the part said in the head begins with just these.
    pub owners: Vec<usize>,
    /// Whether it contains what only a source may see.
    pub leak: bool,
}

/// What a head said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// `Content-Length`.
    pub announced: Option<u64>,
    /// Offset of the first byte by `Content-Range`, and the length of the whole.
    pub part: Option<(u64, u64)>,
}

/// How a request ended for the listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// As HTTP says an answer should.
    Clean,
    /// The connection ended or broke before.
    Broken(NetError),
    /// The listener had had enough.
    Left,
    /// Nothing came any more, for longer than anybody waits.
    Hung,
}

/// One call of the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which source.
    pub source: usize,
    /// Which track.
    pub track: Option<usize>,
    /// The random text that this call alone carries.
    pub salt: String,
    /// Whether it asks for a part.
    pub ranged: bool,
    /// In which life of the hub, from 0.
    pub life: usize,
    /// When it began.
    pub began: Tick,
    /// When the source accepted the connection.
    pub accepted: Option<Tick>,
    /// When the head was there, and its status.
    pub answered: Option<(Tick, Result<u16, NetError>)>,
    /// When the connection was closed.
    pub closed: Option<Tick>,
    /// How the breakers of all sources stood when it began.
    pub breakers: Vec<View>,
}
