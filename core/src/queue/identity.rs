//! When two songs are one song to look up (contracts section 5, Identity).

use crate::catalog::normalise::{Version, is_accent, is_invisible, split_version};
use crate::lyrics::Song;
use crate::twin::{self, Twin};
use unicode_normalization::UnicodeNormalization;

/// Recordings whose lengths differ by more are different variants, in milliseconds.
pub const TOLERANCE_MS: u64 = 3_000;

/// Names that sources give to what has no name, as keys.
const NOBODY: [&str; 5] = [
    "[unknown artist]",
    "[unknown]",
    "<unknown>",
    "unknown artist",
    "unknown",
];
const UNTITLED: [&str; 4] = ["[unknown track]", "[unknown]", "<unknown>", "unknown track"];

/// What a song is looked up and remembered under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The artist's [`key`].
    pub artist_key: String,
    /// The title's [`key`].
    pub title_key: String,
    /// Which kind of version it is.
    pub marker: Marker,
    /// Length of the recording in milliseconds.
    pub duration_ms: Option<u64>,
}

/// Why a song cannot be looked up. A bounded word, and a sentence for people.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Blank {
    /// Nobody is named.
    #[error("the track names no artist")]
    Artist,
    /// Nothing is named.
    #[error("the track has no title")]
    Title,
}

/// Live, remix, acoustic: what makes another recording of a song. As text, the words in the order of the alphabet with
/// a plus between; empty for a song as it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Marker(String);

impl Marker {
    /// What title and album say.
    #[must_use]
    pub fn of(title: &str, album: Option<&str>) -> Self {
        let mut versions = split_version(title).1;
        if let Some(album) = album {
            versions.extend(split_version(album).1);
            let album = format!(" {} ", key(album));
            let says = |phrases: &[&str]| phrases.iter().any(|phrase| album.contains(phrase));
            if says(&[" live at ", " live in ", " live from ", " in concert "]) {
                versions.insert(Version::Live);
            }
            if says(&[" unplugged "]) {
                versions.insert(Version::Acoustic);
            }
        }
        let words = [
            (Version::Acoustic, "acoustic"),
            (Version::Live, "live"),
            (Version::Remix, "remix"),
        ];
        let found = words
            .iter()
            .filter(|(version, _)| versions.contains(version));
        Marker(found.map(|(_, word)| *word).collect::<Vec<_>>().join("+"))
    }

    /// A marker as it was stored.
    #[must_use]
    pub fn stored(text: String) -> Self {
        Marker(text)
    }

    /// As it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key of a name: NFKD, accents stripped, case folded, NFC, trimmed. Marks that are letters, as those of Kana and of
/// the Indic scripts, stay, as in [`crate::catalog::normalise`]; what shows nothing goes.
#[must_use]
pub fn key(name: &str) -> String {
    let letters = name.nfkd().filter(|c| !is_invisible(*c));
    let plain = letters.filter(|c| !is_accent(*c) || twin::is(Twin::AccentsKept));
    // By way of the upper case, so that all that fold together do: sharp s with ss, both sigmas.
    let folded: String = plain
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect();
    folded.trim().to_owned()
}

/// What the song is looked up under.
///
/// # Errors
/// [`Blank`], when artist or title say nothing: such a song is never asked for.
pub fn identify(song: &Song) -> Result<Identity, Blank> {
    let (artist_key, title_key) = (key(&song.artist), key(&song.title));
    let is_asked_for = twin::is(Twin::BlankAsked);
    if !is_asked_for && (artist_key.is_empty() || NOBODY.contains(&artist_key.as_str())) {
        return Err(Blank::Artist);
    }
    if !is_asked_for && (title_key.is_empty() || UNTITLED.contains(&title_key.as_str())) {
        return Err(Blank::Title);
    }
    Ok(Identity {
        artist_key,
        title_key,
        marker: Marker::of(&song.title, song.album.as_deref()),
        duration_ms: song.duration_ms.filter(|length| *length > 0),
    })
}

/// A row that has the same keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its number among those with its keys.
    pub number: u32,
    /// Which kind of version it is.
    pub marker: Marker,
    /// Length in milliseconds, if it is known by now.
    pub duration_ms: Option<u64>,
}

/// Which row a song belongs to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The row with this number.
    Join(u32),
    /// A new one, with this number.
    New(u32),
}

/// Finds the row of a song among those with its keys: of the same marker, the nearest in length within
/// [`TOLERANCE_MS`], else one whose length is not known, which then learns it. A song of unknown length joins the first
/// of its marker, because no other is nearer.
#[must_use]
pub fn choose(known: &[Variant], identity: &Identity) -> Choice {
    let same = |v: &&Variant| v.marker == identity.marker || twin::is(Twin::MarkerIgnored);
    let near = known.iter().filter(same).filter_map(|variant| {
        let apart = match (variant.duration_ms, identity.duration_ms) {
            (Some(a), Some(b)) => a.abs_diff(b),
            (None, None) => 0,
            (Some(_), None) => 0,
            // Behind all whose length fits.
            (None, Some(_)) => TOLERANCE_MS,
        };
        let is_near = apart <= TOLERANCE_MS || twin::is(Twin::LengthIgnored);
        let is_unknown = variant.duration_ms.is_none();
        is_near.then_some((apart, is_unknown, variant.number))
    });
    match near.min() {
        Some((.., number)) => Choice::Join(number),
        None => {
            let last = known.iter().map(|variant| variant.number).max();
            Choice::New(last.map_or(0, |last| last.saturating_add(1)))
        }
    }
}
