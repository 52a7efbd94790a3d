//! What happens in one life of the program: the sources, who listens, who changes what, and when it ends.

use crate::chance::Chance;
use crate::ledger::Change;
use crate::program::Moment;
use segue::upstream::{Album, Artist, Library, Track};

/// Titles, and the sizes of their copies on both sources. The largest does not fit the buffers on its way.
pub(crate) const SONGS: [(&str, u64, u64); 6] = [
    ("Hunter", 30_000, 20_000),
    ("Jóga", 300_000, 90_000),
    ("Unravel", 70_000, 64_000),
    ("Bachelorette", 2_500_000, 600_000),
    ("All Neon Like", 160_000, 33_333),
    ("Alarm Call", 65_536, 65_537),
];

/// How the sources are while a hub lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sources {
    /// Both answer.
    Well,
    /// The better one is down.
    OneDown,
    /// Both are down.
    AllDown,
    /// Both play; the better one's API never answers, so that the sync hangs.
    Silent,
}

/// What one listener does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listener {
    pub(crate) song: usize,
    pub(crate) range: Option<(u64, u64)>,
    pub(crate) slowly: bool,
    /// Leaves when he has so many bytes.
    pub(crate) leaves: Option<u64>,
    /// Looks at the history when he is done.
    pub(crate) looks: bool,
}

/// What one cycle does.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) sources: Sources,
    pub(crate) moment: Moment,
    pub(crate) listeners: Vec<Listener>,
    /// By each of the two who change marks, each of songs of their own.
    pub(crate) changes: [Vec<(usize, Change)>; 2],
    pub(crate) syncs: bool,
    /// Whether the first and the second source have an album more.
    pub(crate) more: (bool, bool),
}

impl Plan {
    /// Of a cycle.
    pub(crate) fn of(seed: u64, cycle: u64) -> Plan {
        let chance = &mut Chance::of(seed, cycle);
        let sources = match chance.below(10) {
            0 | 1 => Sources::AllDown,
            2 => Sources::OneDown,
            3 => Sources::Silent,
            _ => Sources::Well,
        };
        let moment = match chance.below(20) {
            0..4 => Moment::Descriptors(3 + chance.below(34) as usize),
            4 => Moment::Greeting,
            5..8 => Moment::Requests(1 + chance.below(9)),
            8 | 9 => Moment::Opened(1 + chance.below(3)),
            10..14 => Moment::Bytes(1 + chance.below(900_000)),
            14..18 => Moment::Acknowledged(1 + chance.below(6)),
            18 => Moment::Left(1),
            _ => Moment::Rest,
        };
        Plan {
            sources,
            moment,
            listeners: (0..2 + chance.below(2))
                .map(|_| Listener::of(chance))
                .collect(),
            changes: [changes(chance, 0), changes(chance, 1)],
            // One that waits for its turn behind a sync that hangs would never end.
            syncs: chance.one_in(3) && sources != Sources::Silent,
            more: (chance.one_in(2), chance.one_in(2)),
        }
    }
}

impl Listener {
    fn of(chance: &mut Chance) -> Listener {
        let song = chance.below(SONGS.len() as u64) as usize;
        let (_, first, second) = SONGS[song];
        let size = first.min(second);
        let from = chance.below(size);
        let to = from + chance.below(size - from);
        Listener {
            song,
            range: chance.one_in(3).then_some((from, to)),
            slowly: chance.one_in(3),
            leaves: chance.one_in(4).then(|| 1 + chance.below(size)),
            looks: chance.one_in(2),
        }
    }
}

fn changes(chance: &mut Chance, who: usize) -> Vec<(usize, Change)> {
    let songs: Vec<usize> = (0..SONGS.len()).filter(|song| song % 2 == who).collect();
    let change = |chance: &mut Chance| match chance.below(4) {
        0 => Change::Star,
        1 => Change::Unstar,
        2 => Change::Rate(chance.below(6)),
        _ => Change::Play,
    };
    let one = |chance: &mut Chance| (*chance.among(&songs), change(chance));
    (0..1 + chance.below(5)).map(|_| one(chance)).collect()
}

pub(crate) fn library(suffix: &str, bit_rate: u32, is_first: bool, more: bool) -> Library {
    let track = |(title, first, second): &(&str, u64, u64)| {
        let size = if is_first { *first } else { *second };
        Track::new(title).format(suffix, bit_rate).size(size)
    };
    let homogenic = SONGS
        .iter()
        .map(track)
        .fold(Album::new("Homogenic"), Album::track);
    let artist = Artist::new("Björk").album(homogenic);
    let demos =
        ["Nature Is Ancient", "So Broken"].map(|title| Track::new(title).format(suffix, bit_rate));
    Library::new().artist(match more {
        true => artist.album(demos.into_iter().fold(Album::new("Demos"), Album::track)),
        false => artist,
    })
}
