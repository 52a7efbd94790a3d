//! Which copy of a track comes first: one table of keys, rendered as a comparator and as SQL.
//!
//! Contracts section 4. The keys, first to last: `preferred` (set by the merge), format rank, bit rate,
//! local before peer, instance id, remote id. The last two are a copy's primary key, so that two copies never tie
//! (R2). [`compare`] and [`order_by`] are generated from the same table, so that they cannot drift (R1).
//!
//! ```
//! use segue_core::rank::{RankKey, compare, format_rank};
//! let at_home = RankKey { preferred: false, format_rank: format_rank("mp3"), bit_rate: 320, local: true, instance: "home", remote_id: "7" };
//! let lossless = RankKey { format_rank: format_rank("flac"), bit_rate: 900, local: false, instance: "peer", ..at_home };
//! assert!(compare(&lossless, &at_home).is_lt(), "the better copy is the lesser one: it sorts first");
//! ```

use crate::twin::{self, Twin};
use std::cmp::Ordering;

/// What the rank of one copy depends on; the columns of `track_sources` under their own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankKey<'a> {
    /// Whether the merge chose this copy.
    pub preferred: bool,
    /// See [`format_rank`].
    pub format_rank: u32,
    /// Kilobits per second; 0 when unknown, which ranks last within its format rank.
    pub bit_rate: u32,
    /// Whether the source is local rather than a peer.
    pub local: bool,
    /// The source's id.
    pub instance: &'a str,
    /// The source's id of the track.
    pub remote_id: &'a str,
}

/// One key of the order: how SQLite sorts by it and how we do.
struct Key {
    column: &'static str,
    direction: &'static str,
    compare: fn(&RankKey<'_>, &RankKey<'_>) -> Ordering,
}

/// The order itself. `preferred` is first: [`compare_unpreferred`] is the rest.
const KEYS: [Key; 6] = [
    Key {
        column: "preferred",
        direction: "DESC",
        compare: |a, b| b.preferred.cmp(&a.preferred),
    },
    Key {
        column: "format_rank",
        direction: "DESC",
        compare: |a, b| b.format_rank.cmp(&a.format_rank),
    },
    Key {
        column: "bit_rate",
        direction: "DESC",
        compare: |a, b| b.bit_rate.cmp(&a.bit_rate),
    },
    Key {
        column: "local",
        direction: "DESC",
        compare: |a, b| b.local.cmp(&a.local),
    },
    // SQLite's BINARY collation compares UTF-8 bytes, and so does `str`. Said aloud, because a column may
    // be declared with another one.
    Key {
        column: "instance_id",
        direction: "COLLATE BINARY ASC",
        compare: |a, b| a.instance.cmp(b.instance),
    },
    Key {
        column: "remote_id",
        direction: "COLLATE BINARY ASC",
        compare: |a, b| a.remote_id.cmp(b.remote_id),
    },
];

/// The order of copies, best first: `Less` means that `a` is tried before `b`.
pub fn compare(a: &RankKey<'_>, b: &RankKey<'_>) -> Ordering {
    by(&KEYS, a, b)
}

/// The order without its first key: by this the merge sets `preferred`.
pub fn compare_unpreferred(a: &RankKey<'_>, b: &RankKey<'_>) -> Ordering {
    by(&KEYS[1..], a, b)
}

fn by(keys: &[Key], a: &RankKey<'_>, b: &RankKey<'_>) -> Ordering {
    let told_apart = keys.len() - usize::from(twin::is(Twin::RankTies));
    keys[..told_apart]
        .iter()
        .map(|key| (key.compare)(a, b))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The same order as an SQL `ORDER BY` list (without the words `ORDER BY`) over the columns of `track_sources`,
/// each qualified by `alias` unless that is empty.
///
/// # Panics
/// If `alias` is not a plain identifier: it becomes SQL text, so it may only be a word of the program.
pub fn order_by(alias: &str) -> String {
    assert!(
        alias
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_'),
        "a table alias is a plain word"
    );
    let dot = if alias.is_empty() { "" } else { "." };
    let mut keys: Vec<String> = KEYS
        .iter()
        .map(|key| format!("{alias}{dot}{} {}", key.column, key.direction))
        .collect();
    if twin::is(Twin::RankKeysSwapped) {
        keys.swap(1, 2);
    }
    keys.join(", ")
}

/// A tier of the table of formats.
struct FormatRank {
    rank: u32,
    formats: &'static [&'static str],
}

/// Formats by rank.
///
/// - Lossless comes first, and there the bit rate says more of the packing than of the sound, so the order is by how widely
///   a format plays and seeks: FLAC, then what wraps plain PCM, then the rarer packers, then DSD, which few clients play.
/// - All lossy formats share one tier, in which the bit rate decides. A tier for each codec puts a 64 kbit/s file of a "better" codec
///   before a 320 kbit/s file of a "worse" one. ALAC in an `m4a` whose codec nobody told has a bit rate that puts it in front here.
/// - What nobody knows comes last.
const FORMATS: [FormatRank; 5] = [
    FormatRank {
        rank: 90,
        formats: &["flac"],
    },
    FormatRank {
        rank: 80,
        formats: &["alac", "wav", "wave", "aiff", "aif", "aifc", "pcm"],
    },
    FormatRank {
        rank: 70,
        formats: &["wv", "wavpack", "ape", "tta", "tak", "shn"],
    },
    FormatRank {
        rank: 60,
        formats: &["dsf", "dff", "dsd"],
    },
    FormatRank {
        rank: 50,
        formats: &[
            "mp3", "opus", "ogg", "oga", "vorbis", "m4a", "m4b", "m4r", "mp4", "aac", "adts",
            "mp2", "mpc", "mp+", "wma", "asf", "webm", "weba", "mka", "ac3", "eac3", "dts", "spx",
            "speex", "amr", "3gp", "ra", "rm",
        ],
    },
];

/// The rank of a format that is in no tier.
const UNKNOWN_FORMAT: u32 = 10;

/// The lowest rank of a lossless format.
const LOSSLESS: u32 = 60;

/// The rank of a format by its name (`flac`, `mp3`, ...; case does not matter), higher is better. Total: an unknown
/// or empty name ranks below all known ones.
pub fn format_rank(format: &str) -> u32 {
    let holds = |tier: &&FormatRank| {
        tier.formats
            .iter()
            .any(|known| known.eq_ignore_ascii_case(format))
    };
    FORMATS
        .iter()
        .find(holds)
        .map_or(UNKNOWN_FORMAT, |tier| tier.rank)
}

/// Whether a format keeps every sample.
pub fn is_lossless(format: &str) -> bool {
    format_rank(format) >= LOSSLESS
}
