//! What is played, and what goes wrong meanwhile: plain data that shrinks, prints and can be kept in a file.

use segue::upstream;
use segue_core::failover;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Sources at most; see [`crate::shelf`] for what they hold.
pub const SOURCES: usize = 3;

/// One simulated story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Decides every interleaving, latency and wait.
    pub seed: u64,
    /// How many sources there are, 1 to [`SOURCES`].
    pub sources: usize,
    /// `stream.mode`.
    pub mode: Mode,
    /// `stream.midstream`.
    pub midstream: Midstream,
    /// What each listener does, one thing after another.
    pub listeners: Vec<Vec<Play>>,
    /// What one who keeps marks does, each so many milliseconds after the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deeds: Vec<(u64, Deed)>,
    /// Milliseconds since the last one, and what then goes wrong.
    pub faults: Vec<(u64, Fault)>,
}

/// `stream.mode`, in words that can be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the configuration's own words")]
pub enum Mode {
    Ordered,
    Hedged,
    Parallel,
}

impl From<Mode> for failover::StreamMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Ordered => failover::StreamMode::Ordered,
            Mode::Hedged => failover::StreamMode::Hedged,
            Mode::Parallel => failover::StreamMode::Parallel,
        }
    }
}

/// `stream.midstream`, in words that can be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the configuration's own words")]
pub enum Midstream {
    Abort,
    Resume,
}

impl From<Midstream> for failover::Midstream {
    fn from(midstream: Midstream) -> Self {
        match midstream {
            Midstream::Abort => failover::Midstream::Abort,
            Midstream::Resume => failover::Midstream::Resume,
        }
    }
}

/// One request of a listener.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Play {
    /// Milliseconds since the listener's last request was over.
    pub after: u64,
    /// Which track of the shelf.
    pub track: usize,
    /// Which part.
    pub part: Part,
    /// How it is listened to.
    pub manner: Manner,
}

impl Play {
    /// The whole track at once, straight away.
    pub fn whole(track: usize) -> Self {
        Play {
            after: 0,
            track,
            part: Part::Whole,
            manner: Manner::ToTheEnd,
        }
    }
}

/// Which part of a track is asked for. Offsets are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    /// No `Range`.
    Whole,
    /// `bytes=N-`.
    From(u64),
    /// `bytes=N-M`, with how many bytes that is.
    Some(u64, u64),
    /// `bytes=-N`.
    Last(u64),
}

impl Part {
    /// The value of the `Range` header.
    pub fn header(self) -> Option<String> {
        match self {
            Part::Whole => None,
            Part::From(first) => Some(format!("bytes={first}-")),
            Part::Some(first, length) => {
                Some(format!("bytes={first}-{}", first + length.max(1) - 1))
            }
            Part::Last(length) => Some(format!("bytes=-{length}")),
        }
    }

    /// Whether a track of `size` bytes has no such part.
    pub fn is_beyond(self, size: u64) -> bool {
        match self {
            Part::Whole => false,
            Part::From(first) | Part::Some(first, _) => first >= size,
            Part::Last(length) => length == 0,
        }
    }
}

/// How a listener listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// Reads as fast as it can.
    ToTheEnd,
    /// Waits so many milliseconds before each piece.
    Slowly(u64),
    /// Stops reading behind this byte for so many milliseconds, then reads on.
    Pausing(u64, u64),
    /// Hangs up behind this byte.
    UpTo(u64),
    /// Hangs up when there is no head after so many milliseconds.
    Impatiently(u64),
}

/// What one says about a track of the shelf, to be kept, or wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// Stars it.
    Star(usize),
    /// Takes the star away.
    Unstar(usize),
    /// Rates it 0 to 5.
    Rate(usize, u8),
    /// Counts a play of it.
    Scrobble(usize),
    /// Reads all marks and what was played.
    Look,
}

/// Something that goes wrong, or right again. Sources are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// The source's process dies: connections end, new ones are refused.
    Kill(usize),
    /// It starts again.
    Restart(usize),
    /// Nothing reaches the source, and nothing comes from it.
    Isolate(usize),
    /// Nothing reaches the source; what it sends arrives.
    Deafen(usize),
    /// What the source sends is lost; everything reaches it.
    Mute(usize),
    /// The network to it is back.
    Rejoin(usize),
    /// The source stops like a process under SIGSTOP: it accepts, and says nothing.
    Freeze(usize),
    /// It goes on.
    Thaw(usize),
    /// Every message takes this many milliseconds, or up to twice as many.
    Latency(u64),
    /// Messages take one to this many milliseconds, as it comes.
    Jitter(u64),
    /// The source answers requests for media this way.
    Trouble(usize, Trouble),
    /// All sources do.
    TroubleEverywhere(Trouble),
    /// The source answers rightly again.
    Mend(usize),
    /// Somebody asks the hub to synchronise.
    Sync,
    /// Whoever reads the source's next answer panics.
    Panic(usize, Snag),
    /// The hub dies, and starts again so many milliseconds later.
    HubDies(When, Death, u64),
    /// The hub stops like a process under SIGSTOP for so many milliseconds.
    HubFreezes(u64),
    /// One operation of the hub's disk fails, when so many of it have gone well.
    DiskFails(Work, u64),
    /// The hub's disk has room for so many bytes more.
    DiskFull(u64),
    /// The hub's disk is well again and has room.
    DiskMends,
    /// Somebody sets the wall clock by so many hours, forward or back.
    WallStep(i64),
}

/// Where in an answer its reader panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Snag {
    /// At the head.
    Head,
    /// Behind so many bytes of the body.
    Body(u64),
}

impl Snag {
    /// The same, for a trap.
    pub(crate) fn place(self) -> segue_runtime_sim::Place {
        match self {
            Snag::Head => segue_runtime_sim::Place::Head,
            Snag::Body(bytes) => segue_runtime_sim::Place::Body(bytes),
        }
    }
}

/// When the hub dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// At once.
    Now,
    /// When its tasks have run and awaited so many times.
    Await(u64),
    /// In the middle of its so-manieth change of the disk.
    Change(u64),
    /// Instead of its so-manieth sync of the disk.
    Sync(u64),
}

/// What a hub dies of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Death {
    /// `kill -9`: what it has written stays.
    Killed,
    /// A power cut: of what was not synced, this seed decides what is kept, lost, torn or scrambled.
    PowerCut(u64),
}

/// What a disk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// Writes.
    Write,
    /// Makes durable.
    Sync,
}

/// The query that a source which sends in a circle sends to.
pub const AGAIN: &str = "again";

/// A host that nobody may be sent to.
pub const ELSEWHERE: &str = "10.9.9.9:80";

/// How requests for media go wrong: those of [`upstream::Fault`] that mean something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "see the faults of the same name")]
pub enum Trouble {
    Status(u16),
    ErrorIn200Xml(u32),
    ErrorIn200Json(u32),
    ErrorIn200Html,
    ErrorIn200HtmlAsAudio,
    Empty200,
    CloseBeforeHead,
    HangBeforeHead,
    HangAfterHead,
    /// Milliseconds.
    SlowHead(u64),
    /// Seconds of `Retry-After`.
    Throttled(u32),
    /// 503, with seconds of `Retry-After`.
    Overloaded(u32),
    /// Sends whoever asks round in a circle.
    RedirectInCircle,
    /// Sends whoever asks to another host.
    RedirectElsewhere,
    /// Announces so many bytes more than come.
    TooLong(u64),
    CutAt(u64),
    StallAt(u64),
    /// Bytes, every so many milliseconds.
    SlowDrip(u64, u64),
    WrongContentRange,
    Whole200ToRange,
    WrongBytesOnResume,
    NoContentType,
}

impl From<Trouble> for upstream::Fault {
    fn from(trouble: Trouble) -> Self {
        use upstream::Fault as F;
        match trouble {
            Trouble::Status(code) => F::Status(code),
            Trouble::ErrorIn200Xml(code) => F::ErrorIn200Xml { code },
            Trouble::ErrorIn200Json(code) => F::ErrorIn200Json { code },
            Trouble::ErrorIn200Html => F::ErrorIn200Html,
            Trouble::ErrorIn200HtmlAsAudio => F::ErrorIn200HtmlAsAudio,
            Trouble::Empty200 => F::Empty200,
            Trouble::CloseBeforeHead => F::CloseBeforeHead,
            Trouble::HangBeforeHead => F::HangBeforeHead,
            Trouble::HangAfterHead => F::HangAfterHead,
            Trouble::SlowHead(millis) => F::SlowHead(Duration::from_millis(millis)),
            Trouble::Throttled(seconds) => F::Status429 {
                retry_after: Some(seconds),
            },
            Trouble::Overloaded(seconds) => F::Status503 {
                retry_after: Some(seconds),
            },
            Trouble::RedirectInCircle => F::RedirectTo(format!("?{AGAIN}")),
            Trouble::RedirectElsewhere => F::RedirectTo(format!("http://{ELSEWHERE}/rest/stream")),
            Trouble::TooLong(bytes) => F::TooLong(bytes),
            Trouble::CutAt(bytes) => F::CutAt(bytes),
            Trouble::StallAt(bytes) => F::StallAt(bytes),
            Trouble::SlowDrip(bytes, millis) => F::SlowDrip {
                bytes: bytes.max(1),
                every: Duration::from_millis(millis),
            },
            Trouble::WrongContentRange => F::WrongContentRange,
            Trouble::Whole200ToRange => F::Whole200ToRange,
            Trouble::WrongBytesOnResume => F::WrongBytesOnResume,
            Trouble::NoContentType => F::NoContentType,
        }
    }
}
