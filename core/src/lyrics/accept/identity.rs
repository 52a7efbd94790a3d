//! Who an answer is for, by all that it says about itself: ids, names, version, length.

use super::likeness::{Likeness, artist, title};
use super::{Mistimed, RefusedBecause, Rules};
use crate::catalog::normalise::{Version, fold, split_version};
use crate::lyrics::model::{Matched, Song};
use std::collections::BTreeSet;

/// Who the answer is for, by all that it says about itself.
pub(super) struct Identity {
    pub(super) score: u32,
    pub(super) mistimed: Option<Mistimed>,
    /// One has singing and the other has not.
    pub(super) is_of_other_kind: bool,
}

/// Compares all that both sides say.
pub(super) fn identity(
    song: &Song,
    matched: &Matched,
    rules: &Rules,
) -> Result<Identity, RefusedBecause> {
    let lengths = lengths(song, matched, rules)?;
    if is_proven(song, matched) {
        return Ok(Identity {
            score: 800 + lengths.score(),
            mistimed: lengths.mistimed(),
            is_of_other_kind: false,
        });
    }
    let title = match &matched.title {
        Some(theirs) => title(&song.title, theirs),
        None => Likeness::Unsaid,
    };
    let artist = match &matched.artist {
        Some(theirs) => artist(song, theirs),
        None => Likeness::Unsaid,
    };
    let is_same_length = matches!(lengths, Lengths::Equal { .. });
    let score = match (title, artist) {
        (Likeness::None, _) => return Err(RefusedBecause::OtherTitle),
        (_, Likeness::None) => return Err(RefusedBecause::OtherArtist),
        // Names in letters that spelling cannot compare need something else to hold on to.
        (Likeness::OtherScript, Likeness::OtherScript | Likeness::Unsaid) => {
            return Err(RefusedBecause::OtherTitle);
        }
        (Likeness::Unsaid, Likeness::OtherScript) => return Err(RefusedBecause::OtherArtist),
        (Likeness::OtherScript | Likeness::Partly, _) if !is_same_length => {
            return Err(RefusedBecause::OtherTitle);
        }
        (_, Likeness::OtherScript) if !is_same_length => return Err(RefusedBecause::OtherArtist),
        // Asked for by its own id or path, and it says no name.
        (Likeness::Unsaid, Likeness::Unsaid) => 600,
        (title, artist) => title.points(400) + artist.points(300),
    };
    let versions = versions(song, matched);
    let mistimed = lengths.mistimed().or(match versions {
        Versions::Other => Some(Mistimed::OtherVersion),
        Versions::Cut if !is_same_length => Some(Mistimed::OtherVersion),
        Versions::Same | Versions::Cut | Versions::OtherKind => None,
    });
    Ok(Identity {
        score: score + lengths.score() + album_points(song, matched),
        mistimed,
        is_of_other_kind: versions == Versions::OtherKind,
    })
}

/// Whether an id says that it is this recording.
fn is_proven(song: &Song, matched: &Matched) -> bool {
    let mbids = song
        .recording_mbid
        .as_ref()
        .zip(matched.recording_mbid.as_ref());
    let isrc = matched.isrc.as_deref().map(compact_isrc);
    mbids.is_some_and(|(ours, theirs)| ours.eq_ignore_ascii_case(theirs))
        || isrc.is_some_and(|isrc| {
            !isrc.is_empty() && song.isrcs.iter().any(|ours| compact_isrc(ours) == isrc)
        })
}

fn compact_isrc(isrc: &str) -> String {
    let kept = isrc.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_uppercase()).collect()
}

/// How the lengths compare.
enum Lengths {
    Unknown,
    Equal { difference: u64, tolerance: u64 },
    Other,
}

impl Lengths {
    fn score(&self) -> u32 {
        match self {
            Lengths::Unknown => 80,
            Lengths::Equal {
                difference,
                tolerance,
            } => {
                let share = difference.saturating_mul(100) / (*tolerance).max(1);
                200 - u32::try_from(share).unwrap_or(100).min(100)
            }
            Lengths::Other => 0,
        }
    }

    fn mistimed(&self) -> Option<Mistimed> {
        match self {
            Lengths::Unknown | Lengths::Equal { .. } => None,
            Lengths::Other => Some(Mistimed::OtherLength),
        }
    }
}

/// Lengths of which one is half as long again as the other are two recordings for certain.
fn lengths(song: &Song, matched: &Matched, rules: &Rules) -> Result<Lengths, RefusedBecause> {
    let known = |ms: Option<u64>| ms.filter(|ms| *ms > 0);
    let (Some(ours), Some(theirs)) = (known(song.duration_ms), known(matched.duration_ms)) else {
        return Ok(Lengths::Unknown);
    };
    let tolerance = rules.duration_tolerance_ms;
    let difference = ours.abs_diff(theirs);
    if difference <= tolerance {
        return Ok(Lengths::Equal {
            difference,
            tolerance,
        });
    }
    match is_half_as_long_again(ours.max(theirs), ours.min(theirs)) {
        true => Err(RefusedBecause::OtherLength),
        false => Ok(Lengths::Other),
    }
}

/// From one and a half times the length on it is another recording for certain.
pub(super) fn is_half_as_long_again(long: u64, short: u64) -> bool {
    long.saturating_mul(2) >= short.saturating_mul(3)
}

/// How two versions compare.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Versions {
    Same,
    /// Shortened, lengthened or to sing along to: the same singing if the length is the same.
    Cut,
    /// Sung at another time.
    Other,
    /// One is not sung at all.
    OtherKind,
}

/// Compares versions by title, and with the albums when the titles differ: "Song" on "Live at Wembley" is "Song (Live)".
fn versions(song: &Song, matched: &Matched) -> Versions {
    let Some(theirs) = &matched.title else {
        return Versions::Same;
    };
    let (by_ours, by_theirs) = (split_version(&song.title).1, split_version(theirs).1);
    let by_title = compare(&by_ours, &by_theirs);
    if by_title != Versions::Other {
        return by_title;
    }
    let with_album = |mut versions: BTreeSet<Version>, album: Option<&str>| {
        versions.extend(album.and_then(version_of_album));
        versions
    };
    compare(
        &with_album(by_ours, song.album.as_deref()),
        &with_album(by_theirs, matched.album.as_deref()),
    )
}

/// How an album was recorded, when its name says so: `Live at Wembley`, `MTV Unplugged`, `Somewhere (Live)`.
fn version_of_album(album: &str) -> Option<Version> {
    let versions = split_version(album).1;
    let said = [Version::Live, Version::Acoustic].into_iter();
    let words = format!(" {} ", fold(album));
    let live = [
        " live at ",
        " live in ",
        " live from ",
        " live on ",
        " in concert ",
    ];
    let by_words = || {
        if live.iter().any(|phrase| words.contains(phrase)) {
            Some(Version::Live)
        } else {
            words.contains(" unplugged ").then_some(Version::Acoustic)
        }
    };
    said.clone()
        .find(|version| versions.contains(version))
        .or_else(by_words)
}

fn compare(ours: &BTreeSet<Version>, theirs: &BTreeSet<Version>) -> Versions {
    let mut worst = Versions::Same;
    for version in ours.symmetric_difference(theirs) {
        let this = match version {
            Version::Instrumental => return Versions::OtherKind,
            Version::Live
            | Version::Remix
            | Version::Acoustic
            | Version::Demo
            | Version::Alternate
            | Version::Session
            | Version::Rerecorded
            | Version::Tempo
            | Version::Acapella => Versions::Other,
            Version::Karaoke | Version::Edit | Version::Extended => Versions::Cut,
            Version::Remaster
            | Version::Mono
            | Version::Stereo
            | Version::Clean
            | Version::Explicit
            | Version::Edition => Versions::Same,
        };
        worst = match (worst, this) {
            (Versions::Other, _) | (_, Versions::Other) => Versions::Other,
            (Versions::Cut, _) | (_, Versions::Cut) => Versions::Cut,
            (Versions::Same | Versions::OtherKind, other) => other,
        };
    }
    worst
}

fn album_points(song: &Song, matched: &Matched) -> u32 {
    match (&song.album, &matched.album) {
        (Some(ours), Some(theirs)) if fold(ours) == fold(theirs) => 100,
        (Some(ours), Some(theirs)) if split_version(ours).0 == split_version(theirs).0 => 80,
        (Some(_), Some(_)) => 0,
        (None, _) | (_, None) => 30,
    }
}
