//! What happens in a story about lookups, as plain data.

use crate::scenario::Snag;
use serde::{Deserialize, Serialize};

/// A story.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scenario {
    /// Decides whatever is not written down here.
    pub seed: u64,
    /// How many processes work on the one store; 1 to 3.
    pub processes: usize,
    /// Workers of each.
    pub workers: u32,
    /// Songs are looked up over all lanes at once, and plain words are held for so many milliseconds; one lane after
    /// another without.
    pub race_wait: Option<u64>,
    /// How long a claim holds, in milliseconds.
    pub lease: u64,
    /// Between two requests of a lane, in milliseconds.
    pub spacing: u64,
    /// The store lies on a simulated disk; in memory without.
    pub on_disk: bool,
    /// What the lanes say, best rank first; 1 to 3 of them.
    pub lanes: Vec<Vec<Answer>>,
    /// The songs; what each lane knows of each, and whose files want it.
    pub songs: Vec<Tune>,
    /// Who is put in: after so many milliseconds from the one before.
    pub puts: Vec<(u64, Put)>,
    /// What goes wrong: after so many milliseconds from the one before.
    pub faults: Vec<(u64, Fault)>,
    /// Milliseconds from the last of these until all is healed.
    pub healed_after: u64,
    /// Once all has settled, so many days go by, twice, and then somebody reads the music folders: everything for which
    /// there may be something better is looked up again. 0 ends the story before that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub later: u64,
}

fn is_zero(days: &u64) -> bool {
    *days == 0
}

/// What is known of one song.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tune {
    /// By each lane.
    pub knows: Vec<Knows>,
    /// Files of it in the music folder; up to 2.
    pub files: usize,
    /// What somebody has laid beside the first of them.
    pub users: Option<Users>,
}

/// What a lane knows of a song.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Knows {
    /// Nothing.
    Nothing,
    /// That there is nothing to sing.
    Instrumental,
    /// Words.
    Plain,
    /// Words with a time for each line.
    Line,
}

/// A file of somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Users {
    /// Beside the track, named as our timed words would be.
    Lrc,
    /// Named as our plain words would be.
    Txt,
}

/// A song is put into the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Put {
    /// Which.
    pub song: usize,
    /// By so many at the same moment.
    pub times: usize,
}

/// How a lane answers one request, in the order in which they arrive; those beyond the list are answered at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// With what it knows, after so many milliseconds.
    After(u64),
    /// With this status and a web page.
    Status(u16),
    /// 429, and so many seconds to wait.
    SlowDown(u32),
    /// 200 and something that is not its protocol.
    Garbage,
    /// Half of what it knows, ended cleanly.
    CutShort,
    /// Half of what it knows, and the connection breaks.
    Reset,
    /// More than anybody reads.
    Oversized,
    /// A redirect to another host.
    Elsewhere,
    /// Never.
    Hang,
}

/// What goes wrong. Processes and lanes are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// A process is killed, and starts again so many milliseconds later.
    Kill(usize, When, u64),
    /// A process is told to stop, and starts again so many milliseconds after it did.
    Stop(usize, u64),
    /// A process stands still for so many milliseconds, as under SIGSTOP.
    Freeze(usize, u64),
    /// The machine loses its power now; what was not durable is decided by this number. All processes start again so
    /// many milliseconds later.
    PowerCut(u64, u64),
    /// The same at the so-many-th change of the store's disk from now on.
    PowerCutAtChange(u64),
    /// A lane's server dies.
    LaneDies(usize),
    /// A lane hears nothing and is not heard.
    LaneDark(usize),
    /// A lane is well again.
    LaneBack(usize),
    /// Nothing can be written into the music folder for so many milliseconds.
    FolderFull(u64),
    /// Somebody sets the wall clock by so many minutes.
    WallStep(i64),
    /// So many days go by at once, as on a machine that was asleep.
    Days(i64),
    /// Of a song, a lane knows something else from now on, better or worse.
    Learns(usize, usize, Knows),
    /// Somebody removes what lies beside the first file of a song, ours or his own.
    SidecarGone(usize),
    /// Somebody edits what lies there, or writes words of his own where nothing lies.
    SidecarEdited(usize),
    /// The music folders have been read anew: what of ours is gone from them is to be written again.
    Pass,
    /// The next who reads an answer of a lane panics, as a codec with a mistake in it would.
    Panic(usize, Snag),
}

/// When a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// Now.
    Now,
    /// At the so-many-th turn of its tasks from now on.
    Await(u64),
    /// Before its so-many-th write to the store.
    BeforeWrite(u64),
    /// After that, before it learns of it.
    AfterWrite(u64),
    /// Before its so-many-th step in the music folder.
    BeforeShelf(u64),
    /// After that, before it learns of it.
    AfterShelf(u64),
}

impl Scenario {
    /// The most lanes that a story has.
    pub const LANES: usize = 3;

    /// Nothing goes wrong: one process and one worker, one song that is put in once. `knows` is what each lane knows.
    pub fn quiet(knows: &[Knows]) -> Scenario {
        Scenario {
            seed: 7,
            processes: 1,
            workers: 1,
            race_wait: None,
            lease: 10_000,
            spacing: 200,
            on_disk: false,
            lanes: vec![Vec::new(); knows.len()],
            songs: vec![Tune {
                knows: knows.to_vec(),
                files: 1,
                users: None,
            }],
            puts: vec![(100, Put { song: 0, times: 1 })],
            faults: Vec::new(),
            healed_after: 300_000,
            later: 0,
        }
    }
}
