//! Which of PetitLyrics' songs may be the one that was asked for. It answers with namesakes when it has nothing better, so
//! there is a floor.

use super::answer::Entry;
use crate::catalog::normalise::{fold, split_version};
use crate::lyrics::{Matched, Song};

/// Titles less alike than this, in percent, are other titles.
const TITLE_FLOOR: u32 = 60;

/// Artists less alike than this, in percent, are others, unless title and length speak for the song.
const ARTIST_FLOOR: u32 = 40;

/// How far a length may be off, in milliseconds, and speak for a song; twice that says little, and more against it.
const NEAR_MS: u64 = 3_000;

/// The songs that may be meant, best first.
pub(super) fn above_the_floor(entries: Vec<Entry>, song: &Song) -> Vec<Entry> {
    let mut scored: Vec<(u32, Entry)> = entries
        .into_iter()
        .filter_map(|entry| Some((score(&entry.matched, song)?, entry)))
        .collect();
    // Stable: among equals the service's own order holds.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, entry)| entry).collect()
}

/// How well a song fits; `None` below the floor.
fn score(matched: &Matched, song: &Song) -> Option<u32> {
    let same_isrc = matched
        .isrc
        .as_ref()
        .is_some_and(|isrc| song.isrcs.contains(isrc));
    let off = match (matched.duration_ms, song.duration_ms) {
        (Some(theirs), Some(ours)) => Some(theirs.abs_diff(ours)),
        (None, _) | (_, None) => None,
    };
    let (title, artist) = (
        matched.title.as_deref().unwrap_or(""),
        matched.artist.as_deref().unwrap_or(""),
    );
    let (our_base, our_versions) = split_version(&song.title);
    let (base, versions) = split_version(title);
    let titles = likeness(title, &song.title).max(likeness(&base, &our_base));
    let artists = std::iter::once(&song.artist)
        .chain(&song.artists)
        .map(|ours| likeness(artist, ours))
        .max()
        .unwrap_or(0);
    let speaks = titles == 100 && off.is_some_and(|off| off <= NEAR_MS);
    if !same_isrc && (titles < TITLE_FLOOR || (artists < ARTIST_FLOOR && !speaks)) {
        return None;
    }
    let length = match off {
        Some(off) if off <= NEAR_MS => 100,
        Some(off) if off <= 2 * NEAR_MS => 60,
        None => 40,
        Some(_) => 0,
    };
    let version = if versions == our_versions { 100 } else { 0 };
    let album = match (&matched.album, &song.album) {
        (Some(theirs), Some(ours)) => likeness(theirs, ours) / 4,
        (None, _) | (_, None) => 0,
    };
    let isrc = if same_isrc { 1000 } else { 0 };
    Some(isrc + 3 * titles + artists + length + version + album)
}

/// How alike two names are, in percent: the share of pairs of neighbouring letters that they have in common (Dice).
fn likeness(a: &str, b: &str) -> u32 {
    let (a, b) = (fold(a), fold(b));
    if a.is_empty() || b.is_empty() {
        return 0;
    }
    if a == b {
        return 100;
    }
    // Between 0 and 1, so it fits.
    ((strsim::sorensen_dice(&a, &b) * 100.0) as u32).min(99)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, title: &str, artist: &str, duration_ms: u64) -> Entry {
        Entry {
            lyrics_id: id.to_owned(),
            matched: Matched {
                title: Some(title.to_owned()),
                artist: Some(artist.to_owned()),
                duration_ms: Some(duration_ms),
                ..Matched::default()
            },
            data: String::new(),
        }
    }

    fn a_song() -> Song {
        Song {
            title: "紙の舟".to_owned(),
            artist: "灯台ゆき".to_owned(),
            duration_ms: Some(201_000),
            isrcs: vec!["JPZZ01700001".to_owned()],
            ..Song::default()
        }
    }

    fn ids(entries: Vec<Entry>) -> Vec<String> {
        let chosen = above_the_floor(entries, &a_song());
        chosen.into_iter().map(|entry| entry.lyrics_id).collect()
    }

    #[test]
    fn the_recording_comes_before_a_live_one_that_is_listed_first() {
        let live = entry("1", "紙の舟 (Live)", "灯台ゆき", 260_000);
        let studio = entry("2", "紙の舟", "灯台ゆき", 201_500);
        assert_eq!(ids(vec![live, studio]), ["2", "1"]);
    }

    #[test]
    fn namesakes_and_others_are_below_the_floor() {
        let other_title = entry("1", "青い鳥の夜", "灯台ゆき", 201_000);
        let namesake = entry("2", "紙の舟", "丘の上楽団", 150_000);
        assert_eq!(ids(vec![other_title, namesake]), [""; 0]);
    }

    #[test]
    fn another_spelling_of_the_artist_passes_with_title_and_length() {
        assert_eq!(
            ids(vec![entry("1", "紙の舟", "Toudai Yuki", 200_000)]),
            ["1"]
        );
    }

    #[test]
    fn an_equal_isrc_outweighs_names() {
        let mut romanised = entry("1", "Kami no Fune", "Toudai Yuki", 201_000);
        romanised.matched.isrc = Some("JPZZ01700001".to_owned());
        let named = entry("2", "紙の舟", "灯台ゆき", 201_000);
        assert_eq!(ids(vec![named, romanised]), ["1", "2"]);
    }
}
