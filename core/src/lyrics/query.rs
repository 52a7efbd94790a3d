//! What a song is asked for by: first as it is, then by names that other people may have given it.
//!
//! Nothing is cut off in the first question: "feat." may be part of a title (M13), a slash part of a name (M15).

use super::accept::{is_one_name, singles};
use super::model::Song;
use super::script::share_no_script;
use crate::catalog::normalise::{Version, fold, split_version};
use unicode_normalization::UnicodeNormalization;

/// Questions after the first that are worth a request.
const MORE: usize = 3;

/// One question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Title, in NFC.
    pub title: String,
    /// Artist, in NFC.
    pub artist: String,
    /// Album, in NFC; `None` when it should not narrow the answer.
    pub album: Option<String>,
}

/// The first question: everything as the library has it. LRCLIB tells NFC from NFD, so it is NFC always.
#[must_use]
pub fn first(song: &Song) -> Ask {
    Ask {
        title: nfc(&song.title),
        artist: nfc(&song.artist),
        album: song
            .album
            .as_deref()
            .map(nfc)
            .filter(|album| !album.is_empty()),
    }
}

/// Further questions, best first, at most three, none equal to the first but for the album: without the suffixes of releases,
/// with the first artist alone, with the other of two names.
#[must_use]
pub fn more(song: &Song) -> Vec<Ask> {
    let (title, artist) = (nfc(&song.title), nfc(&song.artist));
    let (base, primary) = (base_title(&title), primary_artist(song));
    let named = |title: &str, artist: &str| Ask {
        title: title.to_owned(),
        artist: artist.to_owned(),
        album: None,
    };
    let mut asks = vec![named(&base, &primary)];
    let others = other_names(&title);
    asks.extend(others.iter().map(|other| named(other, &primary)));
    asks.push(named(&base, &artist));
    asks.push(named(&without_parts(&base), &primary));
    let key = |ask: &Ask| (fold(&ask.title), fold(&ask.artist));
    let mut seen = Vec::new();
    asks.retain(|ask| {
        let is_new = !seen.contains(&key(ask)) && !fold(&ask.title).is_empty();
        seen.push(key(ask));
        is_new
    });
    asks.truncate(MORE);
    // The first question again, without the album, says nothing new to who ignores albums.
    let whole = (fold(&title), fold(&artist));
    asks.retain(|ask| key(ask) != whole || song.album.is_some());
    asks
}

/// Whether a title has any letter or number that a provider could find it by: "*" has not (M3).
#[must_use]
pub fn is_askable(song: &Song) -> bool {
    let has_letters = |name: &str| name.chars().any(char::is_alphanumeric);
    has_letters(&song.title) && has_letters(&song.artist)
}

fn nfc(name: &str) -> String {
    let shown: String = name.nfc().filter(|c| !c.is_control()).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

const OPENING: [char; 4] = ['(', '[', '（', '【'];
const CLOSING: [char; 4] = [')', ']', '）', '】'];

/// The title without what only says how it was released or who is a guest: `(2014 Remaster)`, `- Single Version`, `(feat. X)`.
/// Live, remixed and acoustic songs keep what they are, for they are sung otherwise. Spelling and case stay.
#[must_use]
pub fn base_title(title: &str) -> String {
    let mut base = title.trim();
    while let Some((rest, part)) = last_part(base) {
        if !is_release(part) {
            break;
        }
        base = rest.trim_end();
    }
    let lower = base.to_ascii_lowercase();
    let guests = [" feat. ", " feat ", " ft. ", " featuring "];
    let guest = guests.iter().filter_map(|guest| lower.find(guest)).min();
    base[..guest.unwrap_or(base.len())].trim_end().to_owned()
}

/// The last bracket or dashed part of a title, and what stands before.
fn last_part(title: &str) -> Option<(&str, &str)> {
    let inside = title.strip_suffix(CLOSING);
    let (rest, part) = match inside {
        Some(inside) => inside.rsplit_once(OPENING)?,
        None => [" - ", " – ", " — "]
            .iter()
            .filter_map(|dash| title.rsplit_once(dash))
            .min_by_key(|(_, part)| part.len())?,
    };
    (!rest.trim().is_empty()).then_some((rest, part))
}

/// Whether a part of a title says only how or with whom a song was released.
fn is_release(part: &str) -> bool {
    let words = fold(part);
    if words
        .split(' ')
        .next()
        .is_some_and(|first| matches!(first, "feat" | "ft" | "featuring" | "with" | "prod"))
    {
        return true;
    }
    let (_, versions) = split_version(&format!("x ({part})"));
    let says_release = words.split(' ').any(|word| {
        matches!(
            word,
            "version" | "single" | "album" | "radio" | "bonus" | "ost" | "soundtrack"
        )
    });
    let is_sung_the_same = |version: &Version| {
        matches!(
            version,
            Version::Remaster
                | Version::Mono
                | Version::Stereo
                | Version::Edition
                | Version::Explicit
                | Version::Clean
                | Version::Edit
        )
    };
    (!versions.is_empty() || says_release) && versions.iter().all(is_sung_the_same)
}

/// The title without any part in brackets or behind a dash (M19: `(intro)`). The last resort.
fn without_parts(title: &str) -> String {
    let mut base = title;
    while let Some((rest, part)) = last_part(base) {
        // A number tells songs apart, and a version is asked for as such.
        let (_, versions) = split_version(&format!("x ({part})"));
        if part.chars().any(char::is_numeric) || !versions.is_empty() {
            break;
        }
        base = rest.trim_end();
    }
    base.to_owned()
}

/// The names of a title that has two, in different letters (M21): the native one and the translated one.
fn other_names(title: &str) -> Vec<String> {
    let (before, part) = match last_part(title) {
        Some((before, part)) => (before, part),
        None => match title.split_once(" / ") {
            Some(names) => names,
            None => return Vec::new(),
        },
    };
    let (before, part) = (before.trim(), part.trim());
    match share_no_script(before, part) {
        true => vec![before.to_owned(), part.to_owned()],
        false => Vec::new(),
    }
}

/// The first of several artists: of the list if the source has one, else of the text, unless the text is known to be one name.
#[must_use]
pub fn primary_artist(song: &Song) -> String {
    if let [first, _, ..] = &song.artists[..] {
        return nfc(first);
    }
    let whole = nfc(&song.artist);
    if is_one_name(&whole) {
        return whole;
    }
    let first = singles(&whole).first().map(|first| (*first).to_owned());
    first.unwrap_or(whole)
}
