//! What the merge compares of a track and of an album, as numbers.

use super::artists::{Artists, UNKNOWN_ARTIST, VARIOUS_ARTISTS, mbid};
use super::normalise::{Title, Version, split_title};
use super::rows::Rows;
use super::sets::Numbers;
use std::collections::BTreeSet;

/// The number of every blank title. A blank title equals nothing.
pub(super) const BLANK: u32 = 0;

/// Lengths up to this far apart, in milliseconds, are of one recording (product.md section 5): servers round, rippers trim.
const DURATION_TOLERANCE_MS: u64 = 3_000;

/// A track, as far as identity looks at it.
#[derive(Clone, Copy)]
pub(super) struct TrackFacts<'a> {
    pub(super) album: u32,
    pub(super) disc: u32,
    pub(super) number: Option<u32>,
    /// Title without version.
    pub(super) title: u32,
    /// Version words, those of the album's name included.
    pub(super) version: u32,
    pub(super) duration: Option<u64>,
    /// The track's artist; [`complete`] gives it one where its source does not.
    pub(super) artist: Option<u32>,
    pub(super) recording: Option<&'a str>,
}

/// An album, as far as identity looks at it.
pub(super) struct AlbumFacts<'a> {
    pub(super) instance: u32,
    /// Name with version.
    pub(super) name: u32,
    /// Name without version.
    pub(super) base: String,
    pub(super) artist: u32,
    /// Of several artists.
    pub(super) various: bool,
    /// Its name or artist say too little: it only joins an album that shares its tracks.
    pub(super) vague: bool,
    pub(super) year: Option<i32>,
    pub(super) release: Option<&'a str>,
    pub(super) release_group: Option<&'a str>,
    /// Its tracks, sorted by title.
    pub(super) listing: Vec<Heard>,
    /// Recording id and version of its tracks, sorted.
    pub(super) recordings: Vec<(&'a str, u32)>,
    /// Disc, number and title of its numbered tracks, sorted.
    pub(super) positions: Vec<(u32, u32, u32)>,
}

/// A track of an album's listing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Heard {
    pub(super) title: u32,
    pub(super) version: u32,
    pub(super) artist: Option<u32>,
    pub(super) duration: Option<u64>,
}

/// Whether two lengths may be of one recording. An unknown one may be anything.
pub(super) fn close(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) <= DURATION_TOLERANCE_MS,
        (None, _) | (_, None) => true,
    }
}

/// Whether two facts are known and contradict each other.
pub(super) fn differ<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

/// Reads the facts of all albums and tracks.
pub(super) fn read<'a>(
    rows: &Rows<'a>,
    artists: &mut Artists<'a>,
) -> (Vec<AlbumFacts<'a>>, Vec<TrackFacts<'a>>) {
    let names: Vec<Title> = rows
        .albums
        .iter()
        .map(|album| split_title(&album.row.name))
        .collect();
    let mut tracks = read_tracks(rows, artists, &names);
    distrust_repeated_recordings(rows, &mut tracks);
    let mut numbers = Numbers::default();
    let mut albums = Vec::with_capacity(names.len());
    for (at, name) in names.into_iter().enumerate() {
        let row = &rows.albums[at];
        let (artist, known) = album_artist(rows, artists, &tracks, at);
        let blank = name.base.is_empty();
        for track in &rows.tracks_of[at] {
            tracks[*track as usize].artist.get_or_insert(artist);
        }
        let on_it: Vec<TrackFacts<'a>> = rows.tracks_of[at]
            .iter()
            .map(|track| tracks[*track as usize])
            .collect();
        albums.push(AlbumFacts {
            instance: row.instance,
            name: numbers.of(format!(
                "{}\0{}",
                name.base,
                version_key(&name.versions, &name.qualifier)
            )),
            base: name.base,
            artist,
            various: artists.all[artist as usize].various,
            vague: blank || !known,
            year: row.row.year.filter(|year| *year != 0),
            release: mbid(row.row.musicbrainz_id.as_ref()),
            release_group: mbid(row.row.release_group_mbid.as_ref()),
            listing: sorted(on_it.iter().map(TrackFacts::heard)),
            recordings: sorted(
                on_it
                    .iter()
                    .filter_map(|track| Some((track.recording?, track.version))),
            ),
            positions: sorted(on_it.iter().filter_map(TrackFacts::place)),
        });
    }
    (albums, tracks)
}

fn read_tracks<'a>(
    rows: &Rows<'a>,
    artists: &mut Artists<'a>,
    albums: &[Title],
) -> Vec<TrackFacts<'a>> {
    let mut titles = Numbers::default();
    let mut versions = Numbers::default();
    titles.of(String::new());
    let plain = versions.of(String::new());
    let mut facts = Vec::with_capacity(rows.tracks.len());
    for (at, track) in rows.tracks.iter().enumerate() {
        let (at, album, row) = (super::sets::index(at), rows.album_of[at], track.row);
        let title = split_title(&row.title);
        let on = &albums[album as usize];
        let version =
            if title.versions.is_empty() && title.qualifier.is_empty() && on.versions.is_empty() {
                plain
            } else {
                versions.of(version_of(&title, on))
            };
        facts.push(TrackFacts {
            album,
            disc: row.disc_number.max(1),
            number: row.track_number.filter(|number| *number != 0),
            title: titles.of(title.base),
            version,
            duration: row.duration_ms.filter(|length| *length != 0),
            artist: artists.named_by_track(rows, at),
            recording: mbid(row.musicbrainz_id.as_ref()),
        });
    }
    facts
}

/// An id that one album gives to several of its tracks identifies none of them.
fn distrust_repeated_recordings(rows: &Rows<'_>, tracks: &mut [TrackFacts<'_>]) {
    for on_it in &rows.tracks_of {
        let ids = sorted(
            on_it
                .iter()
                .filter_map(|track| tracks[*track as usize].recording),
        );
        let repeated: BTreeSet<&str> = ids
            .windows(2)
            .filter(|two| two[0] == two[1])
            .map(|two| two[0])
            .collect();
        for track in on_it.iter().filter(|_| !repeated.is_empty()) {
            let recording = &mut tracks[*track as usize].recording;
            *recording = recording.filter(|id| !repeated.contains(id));
        }
    }
}

/// The version of a track: its own words and, where the album's name speaks of the sound, the album's. How an album is packaged
/// ([`Version::Edition`]) says nothing of a track.
fn version_of(title: &Title, album: &Title) -> String {
    let sound = |title: &Title| {
        title
            .versions
            .iter()
            .copied()
            .filter(|version| *version != Version::Edition)
            .collect()
    };
    let mut versions: BTreeSet<Version> = sound(title);
    let inherited: BTreeSet<Version> = sound(album);
    if inherited.is_empty() {
        return version_key(&versions, &title.qualifier);
    }
    versions.extend(inherited);
    version_key(
        &versions,
        &format!("{} {}", title.qualifier, album.qualifier),
    )
}

/// A version in one spelling: the order of its words does not count. Empty for none.
fn version_key(versions: &BTreeSet<Version>, qualifier: &str) -> String {
    let words: BTreeSet<&str> = qualifier.split_whitespace().collect();
    if versions.is_empty() && words.is_empty() {
        String::new()
    } else {
        format!("{versions:?}{words:?}")
    }
}

/// An album's artist, and whether that is known rather than a stand-in: the one its source names, else the one who plays at least two
/// thirds of it (guests are common), else various artists or nobody.
fn album_artist<'a>(
    rows: &Rows<'a>,
    artists: &mut Artists<'a>,
    tracks: &[TrackFacts<'a>],
    album: usize,
) -> (u32, bool) {
    if let Some(named) = artists.named_by_album(rows, super::sets::index(album)) {
        return (named, true);
    }
    let players = sorted(
        rows.tracks_of[album]
            .iter()
            .filter_map(|track| tracks[*track as usize].artist),
    );
    let most = players
        .chunk_by(|a, b| a == b)
        .max_by_key(|by_one| by_one.len());
    let compiled = rows.albums[album].row.is_compilation;
    match most {
        Some(by_one)
            if by_one.len() == players.len()
                || (!compiled && by_one.len() * 3 >= players.len() * 2) =>
        {
            (by_one[0], true)
        }
        Some(_) => (artists.stand_in(VARIOUS_ARTISTS), false),
        None => (artists.stand_in(UNKNOWN_ARTIST), false),
    }
}

impl TrackFacts<'_> {
    fn heard(&self) -> Heard {
        let TrackFacts {
            title,
            version,
            artist,
            duration,
            ..
        } = *self;
        Heard {
            title,
            version,
            artist,
            duration,
        }
    }

    fn place(&self) -> Option<(u32, u32, u32)> {
        Some((self.disc, self.number?, self.title))
    }
}

fn sorted<T: Ord>(of: impl Iterator<Item = T>) -> Vec<T> {
    let mut sorted: Vec<T> = of.collect();
    sorted.sort_unstable();
    sorted
}
