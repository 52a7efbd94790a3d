//! What the sources of a scenario hold: few tracks, each another case for a failover.

use segue::upstream::{Album, Artist, Audio, Content, Library, Shared, Track};

/// The sources by number: their ids in the hub, and how they sign their bytes.
pub const NAMES: [&str; 3] = ["home", "shelf", "attic"];

/// The titles by number.
pub const TITLES: [&str; 4] = ["Hunter", "Joga", "Unravel", "Pluto"];

/// What source number `source` holds.
///
/// - *Hunter* is on all, each another encode: a failover changes the bytes.
/// - *Joga* is on all, the very same bytes: a stream may be continued from a copy.
/// - *Unravel* is on the shelf and in the attic, not at home: as long, in the same format and of the same bit rate, and
///   yet not the same. No catalog can tell.
/// - *Pluto* is best in the attic, with a copy on the shelf and a lesser encode at home.
pub fn library(source: usize) -> Library {
    let hunter = [
        ("flac", 900, 180_000),
        ("mp3", 320, 70_000),
        ("mp3", 128, 30_000),
    ];
    let pluto = [
        ("opus", 128, 40_000),
        ("flac", 700, 220_000),
        ("flac", 700, 220_000),
    ];
    let (suffix, bit_rate, size) = hunter[source];
    let mut album = Album::new("Homogenic").year(1997);
    album = album.track(
        Track::new("Hunter")
            .format(suffix, bit_rate)
            .size(size)
            .place(1, 1),
    );
    let joga = Track::new("Joga").format("flac", 800).size(160_000);
    album = album.track(joga.audio(Audio::Labelled("joga".to_owned())).place(1, 2));
    if source > 0 {
        let unravel = Track::new("Unravel").format("flac", 850).size(120_000);
        album = album.track(unravel.place(1, 3));
    }
    let (suffix, bit_rate, size) = pluto[source];
    let mut track = Track::new("Pluto")
        .format(suffix, bit_rate)
        .size(size)
        .place(1, 4);
    if source > 0 {
        track = track.audio(Audio::Labelled("pluto".to_owned()));
    }
    Library::new().artist(Artist::new("Bjork").album(album.track(track)))
}

/// The bytes of track number `track` on a source, if it has them.
pub fn content(source: &Shared, track: usize) -> Option<Content> {
    let library = source.library();
    let track = library.titled(TITLES[track])?;
    Some(track.content(&source.setup().name))
}

/// Which of [`TITLES`] a source calls `id`.
pub fn number_of(source: usize, id: &str) -> Option<usize> {
    // The sources number their tracks in the order of their shelf.
    let place: usize = id.strip_prefix("tr-")?.parse().ok()?;
    let library = library(source);
    let (_, _, track) = library.tracks().nth(place.checked_sub(1)?)?;
    TITLES.iter().position(|title| *title == track.title)
}

/// How long a track is on a source, in bytes; `None` when it has none.
pub fn size(source: usize, track: usize) -> Option<u64> {
    let name = NAMES[source];
    Some(library(source).titled(TITLES[track])?.content(name).size())
}

/// What a source with [`crate::scenario::Trouble::WrongBytesOnResume`] sends instead of `content`.
pub(crate) fn lie(content: &Content) -> Content {
    Content::Marked {
        label: "wrong bytes".to_owned(),
        suffix: "bin".to_owned(),
        size: content.size(),
    }
}
