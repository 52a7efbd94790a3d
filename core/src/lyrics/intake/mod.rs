//! Text that is not lyrics: placeholders, credits alone, notices, whole books (lyrics.md 3.9).
//!
//! Only known words count. "Me: hello" is a line, "Composer: X" is a credit.

mod phrases;

use super::lrc::is_note;
use super::model::{Body, Lyrics, Song};
use super::plain;
use crate::catalog::normalise::fold;
use phrases::{
    BOILERPLATE, BOILERPLATE_LINES, CREDIT_KEYS, CREDIT_PHRASES, EXCERPT, INSTRUMENTAL, LABELS,
    PLACEHOLDERS, RESTRICTED,
};
use thiserror::Error;

/// The most characters of words per second of music. Fast rap has twenty.
const CHARS_PER_SECOND: u64 = 40;

/// Characters that a track of any length may have: a jingle's words may come with its credits.
const SHORT_TEXT: u64 = 1_000;

/// The longest text for a track of unknown length, in bytes.
const TEXT_LIMIT: usize = 30_000;

/// Why a text is not lyrics.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
pub enum NotLyrics {
    /// Nothing but stamps, notes or blanks.
    #[error("there are no words in it")]
    Empty,
    /// Who wrote it, and no word of it.
    #[error("it is only credits")]
    CreditsOnly,
    /// The title and the artist, and no word more.
    #[error("it is only the title")]
    TitleOnly,
    /// A sentence that stands where lyrics are missing.
    #[error("it is a placeholder")]
    Placeholder,
    /// A sentence that says that the words may not be shown.
    #[error("the words may not be shown")]
    Restricted,
    /// The beginning of the words and a notice.
    #[error("it is an excerpt")]
    Excerpt,
    /// More text than anybody sings in that time.
    #[error("it is far too long for the track")]
    TooMuch,
}

/// What a text turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sifted {
    /// Words, without the boilerplate of the site that they come from.
    Words(Lyrics),
    /// A statement that there is nothing to sing.
    Instrumental,
    /// Nothing.
    Nothing(NotLyrics),
}

/// Tells words from what only stands in their place, and takes a site's boilerplate off.
#[must_use]
pub fn sift(lyrics: Lyrics, song: &Song) -> Sifted {
    match verdict(&lyrics, song) {
        Err(why) => Sifted::Nothing(why),
        Ok(false) => Sifted::Instrumental,
        Ok(true) => Sifted::Words(without_boilerplate(lyrics)),
    }
}

/// Whether there are words (`true`) or a statement that there are none (`false`).
pub(super) fn verdict(lyrics: &Lyrics, song: &Song) -> Result<bool, NotLyrics> {
    if lyrics.body == Body::Instrumental {
        return Ok(false);
    }
    let shown: Vec<&str> = texts(lyrics).filter(|line| !is_blank(line)).collect();
    if shown.is_empty() {
        return Err(NotLyrics::Empty);
    }
    if is_too_much(&shown, song.duration_ms) {
        return Err(NotLyrics::TooMuch);
    }
    if shown.iter().any(|line| is_any(line, &EXCERPT)) {
        return Err(NotLyrics::Excerpt);
    }
    let sung: Vec<&str> = sung(lyrics).collect();
    if sung.is_empty() {
        // "Instrumental" in brackets looks like a label, and is the whole text.
        return match shown.iter().any(|line| is_whole(line, &INSTRUMENTAL)) {
            true => Ok(false),
            false => Err(NotLyrics::CreditsOnly),
        };
    }
    if let Some(verdict) = short_verdict(&sung, song) {
        return verdict;
    }
    Ok(true)
}

/// Placeholders are a line or two; among more lines the same words are sung.
fn short_verdict(sung: &[&str], song: &Song) -> Option<Result<bool, NotLyrics>> {
    let sung: Vec<&str> = sung
        .iter()
        .copied()
        .filter(|line| !is_heading(line, song))
        .collect();
    if sung.is_empty() {
        return Some(Err(NotLyrics::TitleOnly));
    }
    if sung.len() > 3 {
        return None;
    }
    if sung.iter().all(|line| is_whole(line, &INSTRUMENTAL)) {
        return Some(Ok(false));
    }
    if sung.iter().any(|line| is_any(line, &RESTRICTED)) {
        return Some(Err(NotLyrics::Restricted));
    }
    let placeholders = |line: &&str| is_any(line, &PLACEHOLDERS);
    sung.iter()
        .any(placeholders)
        .then_some(Err(NotLyrics::Placeholder))
}

/// The lines that are sung: without blanks, notes, credits and labels of sections.
pub fn sung(lyrics: &Lyrics) -> impl Iterator<Item = &str> {
    texts(lyrics).filter(|line| !is_blank(line) && !is_credit(line) && !is_label(line))
}

fn texts(lyrics: &Lyrics) -> impl Iterator<Item = &str> {
    let (plain, timed): (&[String], &[_]) = match &lyrics.body {
        Body::Instrumental => (&[], &[]),
        Body::Plain(plain) => (plain, &[]),
        Body::Synced(timed) => (&[], timed),
    };
    let timed = timed
        .iter()
        .map(|line: &super::model::Line| line.text.as_str());
    plain.iter().map(String::as_str).chain(timed)
}

/// Whether a line shows nothing that could be sung.
pub(super) fn is_blank(line: &str) -> bool {
    line.chars().all(is_note)
}

/// Whether a line says who made the song: a known role and a colon, or a known phrase that it begins with.
#[must_use]
pub fn is_credit(line: &str) -> bool {
    let begins = line.get(..80).unwrap_or(line);
    if let Some((role, _)) = line.split_once([':', '：'])
        && role.len() <= 64
    {
        let mut roles = role.split(['/', '&', '、', '／', '·', '・', ',', '，', '+', '|']);
        if roles.all(|role| CREDIT_KEYS.contains(&&*fold(role))) {
            return true;
        }
    }
    // Short, or somebody sings it: "Written by the hands of time ...".
    let begins = fold(begins);
    line.chars().count() <= 80
        && CREDIT_PHRASES
            .iter()
            .any(|phrase| begins.starts_with(phrase))
}

/// Whether a line only names a section: `[Chorus]`, `(Verse 2)`, `Bridge:`.
#[must_use]
pub fn is_label(line: &str) -> bool {
    let line = line.trim();
    if line.len() > 48 {
        return false;
    }
    let is_marked = (line.starts_with('[') && line.ends_with(']'))
        || (line.starts_with('(') && line.ends_with(')'))
        || line.ends_with(':');
    let words = fold(line);
    let first = words.split(' ').next().unwrap_or_default();
    is_marked && LABELS.contains(&first)
}

/// Whether a line is the title, the artist, or both.
fn is_heading(line: &str, song: &Song) -> bool {
    let (line, title, artist) = (fold(line), fold(&song.title), fold(&song.artist));
    if title.is_empty() || artist.is_empty() {
        return false;
    }
    line == format!("{title} {artist}")
        || line == format!("{artist} {title}")
        || line == format!("{title} by {artist}")
}

fn is_too_much(lines: &[&str], duration_ms: Option<u64>) -> bool {
    match duration_ms.filter(|duration| *duration > 0) {
        Some(duration) => {
            let chars: usize = lines.iter().map(|line| line.chars().count()).sum();
            let most = (duration / 1000 + 1).saturating_mul(CHARS_PER_SECOND);
            chars as u64 > most.max(SHORT_TEXT)
        }
        None => lines.iter().map(|line| line.len()).sum::<usize>() > TEXT_LIMIT,
    }
}

fn is_whole(line: &str, phrases: &[&str]) -> bool {
    let line = line.trim_matches(is_note);
    phrases.contains(&&*fold(line))
}

/// Whether one of the phrases stands in the line, as whole words where the language has blanks.
fn is_any(line: &str, phrases: &[&str]) -> bool {
    let line = fold(line);
    phrases.iter().any(|phrase| line.contains(phrase))
}

/// Without the lines that a site adds. Timed lines lose theirs as well.
fn without_boilerplate(mut lyrics: Lyrics) -> Lyrics {
    match &mut lyrics.body {
        Body::Instrumental => {}
        Body::Plain(lines) => {
            if lines.iter().any(|line| is_boilerplate(line)) {
                let kept = lines.iter().filter(|line| !is_boilerplate(line));
                *lines = plain::lines(kept.map(String::as_str));
            }
        }
        Body::Synced(lines) => lines.retain(|line| !is_boilerplate(&line.text)),
    }
    lyrics
}

fn is_boilerplate(line: &str) -> bool {
    is_whole(line, &BOILERPLATE_LINES) || (line.len() <= 160 && is_any(line, &BOILERPLATE))
}
