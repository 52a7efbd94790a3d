//! What is left of a run: plain data, so that two runs can be compared with `==`.

use crate::scenario::{Fault, Play};
use segue_core::breaker::View;
use segue_core::io::NetError;
use segue_core::{Tick, Wall};
use segue_sqlite::StreamOperation;
use std::collections::BTreeMap;

/// Everything the checks go by.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What each listener's requests came to, in the order of their beginnings.
    pub heard: Vec<Heard>,
    /// Every call of the hub for media, in order.
    pub calls: Vec<Call>,
    /// Requests for media that arrived at each source: the salt each carried.
    pub arrivals: Vec<Vec<String>>,
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
    /// Errors that were logged.
    pub errors: Vec<String>,
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
            | Fault::Freeze(n)
            | Fault::Trouble(n, _) => *n == source,
            Fault::TroubleEverywhere(_) => true,
            Fault::Rejoin(_)
            | Fault::Thaw(_)
            | Fault::Mend(_)
            | Fault::Latency(_)
            | Fault::Sync => false,
        };
        let mut made = self.faults.iter().filter(|(at, _)| *at <= until);
        !made.any(|(_, fault)| touches(fault))
    }

    /// The highest latency there had been up to `until`, in milliseconds; 0 when nobody had made it higher.
    pub fn slowest(&self, until: Tick) -> u64 {
        let made = self.faults.iter().filter(|(at, _)| *at <= until);
        let latencies = made.filter_map(|(_, fault)| match fault {
            Fault::Latency(millis) => Some(*millis),
            Fault::Kill(_)
            | Fault::Restart(_)
            | Fault::Isolate(_)
            | Fault::Rejoin(_)
            | Fault::Freeze(_)
            | Fault::Thaw(_)
            | Fault::Trouble(..)
            | Fault::TroubleEverywhere(_)
            | Fault::Mend(_)
            | Fault::Sync => None,
        });
        latencies.max().unwrap_or(0)
    }
}

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
