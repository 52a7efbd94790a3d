//! What the sources of a scenario hold: few tracks, each another case for a failover.

use bytes::Bytes;
use segue::upstream::{Album, Artist, Audio, Content, Library, Track};
use std::sync::OnceLock;

/// The sources by number: their ids in the hub.
pub const NAMES: [&str; 3] = ["home", "shelf", "attic"];

/// The titles by number.
pub const TITLES: [&str; 4] = ["Hunter", "Joga", "Unravel", "Pluto"];

/// One source's copy of a track.
struct Copy {
    suffix: &'static str,
    /// Kilobits per second.
    bit_rate: u32,
    /// Bytes.
    size: u64,
    /// Equal labels and sizes are equal bytes.
    label: &'static str,
}

const fn copy(suffix: &'static str, bit_rate: u32, size: u64, label: &'static str) -> Option<Copy> {
    Some(Copy {
        suffix,
        bit_rate,
        size,
        label,
    })
}

/// By track, then by source.
const COPIES: [[Option<Copy>; 3]; 4] = [
    // On all, each another encode: a failover changes the bytes.
    [
        copy("flac", 900, 180_000, "hunter at home"),
        copy("mp3", 320, 70_000, "hunter on the shelf"),
        copy("mp3", 128, 30_000, "hunter in the attic"),
    ],
    // On all, the very same: a stream may be continued from a copy.
    [
        copy("flac", 800, 160_000, "joga"),
        copy("flac", 800, 160_000, "joga"),
        copy("flac", 800, 160_000, "joga"),
    ],
    // Not at home; as long, in the same format and of the same bit rate, and yet not the same. No catalog can tell.
    [
        None,
        copy("flac", 850, 120_000, "unravel on the shelf"),
        copy("flac", 850, 120_000, "unravel in the attic"),
    ],
    // Two copies, and a lesser encode at home.
    [
        copy("opus", 128, 40_000, "pluto at home"),
        copy("flac", 700, 220_000, "pluto"),
        copy("flac", 700, 220_000, "pluto"),
    ],
];

/// What source number `source` holds.
pub fn library(source: usize) -> Library {
    let mut album = Album::new("Homogenic").year(1997);
    for (track, (copies, number)) in COPIES.iter().zip(1..).enumerate() {
        let (Some(copy), Some(bytes)) = (&copies[source], bytes(source, track)) else {
            continue;
        };
        let track = Track::new(TITLES[track]).place(1, number);
        let track = track.format(copy.suffix, copy.bit_rate);
        album = album.track(track.audio(Audio::Bytes(bytes)));
    }
    Library::new().artist(Artist::new("Bjork").album(album))
}

/// The bytes of a track on a source, if it has it. Each block of 64 tells whose it is and where it belongs.
pub fn bytes(source: usize, track: usize) -> Option<Bytes> {
    static MADE: OnceLock<Vec<Bytes>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let all = COPIES.iter().flatten();
        all.map(|copy| copy.as_ref().map_or(Bytes::new(), Copy::make))
            .collect()
    });
    COPIES[track][source].as_ref()?;
    Some(made[track * NAMES.len() + source].clone())
}

/// How long a track is on a source, in bytes; `None` when it has none.
pub fn size(source: usize, track: usize) -> Option<u64> {
    COPIES[track][source].as_ref().map(|copy| copy.size)
}

/// Which of [`TITLES`] a source calls `id`.
pub fn number_of(source: usize, id: &str) -> Option<usize> {
    // The sources number their tracks in the order of their shelf.
    let place: usize = id.strip_prefix("tr-")?.parse().ok()?;
    let mut there = (0..TITLES.len()).filter(|track| size(source, *track).is_some());
    there.nth(place.checked_sub(1)?)
}

/// What a source with [`crate::scenario::Trouble::WrongBytesOnResume`] sends of a track of `size` bytes.
pub(crate) fn lie(size: u64) -> Content {
    Content::Marked {
        label: "wrong bytes".to_owned(),
        suffix: "bin".to_owned(),
        size,
    }
}

impl Copy {
    fn make(&self) -> Bytes {
        let content = Content::Marked {
            label: self.label.to_owned(),
            suffix: self.suffix.to_owned(),
            size: self.size,
        };
        content.all()
    }
}
