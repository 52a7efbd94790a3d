//! PetitLyrics' texts. The type that a reply names echoes the question, so a text is told by its own bytes.

use super::answer::{Entry, text_of};
use crate::dispatch::Quality;
use crate::lyrics::{Body, Line, Lyrics, TextKind, Word};
use crate::provider::words::words;
use crate::source::subsonic::read_xml;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Stamps beyond a day are no stamps. In milliseconds.
const LONGEST: u64 = 24 * 3_600_000;

/// What a text turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Payload {
    Lyrics(Lyrics),
    /// The tier that is not read.
    Protected,
    /// No text.
    Empty,
    /// Not what the protocol says.
    Broken,
}

/// Reads an entry's text. `duration_ms` is the length of the song that was asked for.
pub(super) fn read(entry: &Entry, duration_ms: Option<u64>) -> Payload {
    let data: String = entry.data.split_ascii_whitespace().collect();
    if data.is_empty() {
        return Payload::Empty;
    }
    let Ok(bytes) = STANDARD.decode(data) else {
        return Payload::Broken;
    };
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) if !text.contains('\0') => text.trim_start_matches('\u{feff}').trim(),
        Ok(_) | Err(_) => return Payload::Protected,
    };
    if text.is_empty() {
        return Payload::Empty;
    }
    if without_prologue(text).starts_with("<wsy") {
        return match word_tier(text) {
            Some(lyrics) if lyrics.quality() == Quality::None => Payload::Empty,
            Some(lyrics) => Payload::Lyrics(lyrics),
            None => Payload::Broken,
        };
    }
    match words(TextKind::Sniff, text, duration_ms) {
        Some(lyrics) => Payload::Lyrics(lyrics),
        None => Payload::Empty,
    }
}

/// What follows an XML declaration and comments.
fn without_prologue(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = match (rest.starts_with("<?"), rest.starts_with("<!--")) {
            (true, _) => "?>",
            (_, true) => "-->",
            (false, false) => return rest,
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// The word tier: lines with their text and the times of its words.
fn word_tier(text: &str) -> Option<Lyrics> {
    let document = read_xml(text)?;
    let lines = document.get("wsy")?.get("line")?.as_array()?;
    let mut synced: Vec<Line> = Vec::with_capacity(lines.len());
    let mut is_timed = false;
    for line in lines {
        let text = text_of(line, "linestring").unwrap_or("");
        match timed(line, text) {
            Some(line) => {
                is_timed = true;
                synced.push(line);
            }
            // A line without a time of its own goes with the one before it, never to the beginning of the song.
            None if !text.is_empty() => synced.push(Line {
                start: synced.last().map_or(0, |line| line.start),
                text: text.to_owned(),
                ..Line::default()
            }),
            None => {}
        }
    }
    let body = match is_timed {
        true => {
            // Lines above the first stamp begin with it.
            let first = synced.iter().find(|line| !line.words.is_empty());
            let first = first.map_or(0, |line| line.start);
            synced
                .iter_mut()
                .for_each(|line| line.start = line.start.max(first));
            synced.sort_by_key(|line| line.start);
            Body::Synced(synced)
        }
        false => Body::Plain(synced.into_iter().map(|line| line.text).collect()),
    };
    Some(Lyrics::of(body))
}

/// A line whose words all have a time and a place in its text, in order. Its own time is its first word's.
fn timed(line: &Value, text: &str) -> Option<Line> {
    let mut words: Vec<Word> = Vec::new();
    let mut from = 0;
    for word in line.get("word")?.as_array()? {
        let Some(string) = text_of(word, "wordstring") else {
            continue;
        };
        let start = millis(word, "starttime")?;
        let at = from + text.get(from..)?.find(string)?;
        from = at + string.len();
        if words.last().is_some_and(|last| last.start > start) {
            return None;
        }
        words.push(Word {
            start,
            end: millis(word, "endtime").filter(|end| *end >= start),
            bytes: at..from,
        });
    }
    let start = words.first()?.start;
    Some(Line {
        start,
        end: words.last()?.end,
        text: text.to_owned(),
        words,
        agent: None,
    })
}

fn millis(word: &Value, key: &str) -> Option<u64> {
    let millis = text_of(word, key)?.parse().ok();
    millis.filter(|millis| *millis <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_bytes(bytes: &[u8]) -> Payload {
        read(
            &Entry {
                data: STANDARD.encode(bytes),
                ..Entry::default()
            },
            None,
        )
    }

    #[test]
    fn words_are_found_in_their_line() {
        let text = "<?xml version=\"1.0\"?><!-- v --><wsy><line><linestring>紙の 舟</linestring>\
            <word><starttime>1000</starttime><endtime>1400</endtime><wordstring>紙の</wordstring></word>\
            <word><starttime>1400</starttime><endtime>2100</endtime><wordstring>舟</wordstring></word></line>\
            <line><linestring>a &amp; b</linestring></line></wsy>";
        let Payload::Lyrics(lyrics) = read_bytes(text.as_bytes()) else {
            panic!()
        };
        let Body::Synced(lines) = lyrics.body else {
            panic!()
        };
        let pieces: Vec<_> = lines[0]
            .words
            .iter()
            .map(|word| (&lines[0].text[word.bytes.clone()], word.start, word.end))
            .collect();
        assert_eq!(
            pieces,
            [("紙の", 1000, Some(1400)), ("舟", 1400, Some(2100))]
        );
        assert_eq!((lines[1].text.as_str(), lines[1].start), ("a & b", 1000));
    }

    #[test]
    fn s33_the_protected_tier_is_recognised_and_not_read() {
        assert_eq!(read_bytes(b"LSY\0\x01\x02\x03"), Payload::Protected);
        assert_eq!(read_bytes(b"\xff\xfe\x80"), Payload::Protected);
    }

    #[test]
    fn what_is_no_text_is_told_apart() {
        assert_eq!(read_bytes(b"  \n"), Payload::Empty);
        assert_eq!(read(&Entry::default(), None), Payload::Empty);
        assert_eq!(read_bytes(b"<wsy><line>"), Payload::Broken);
        let entry = Entry {
            data: "***".to_owned(),
            ..Entry::default()
        };
        assert_eq!(read(&entry, None), Payload::Broken);
    }
}
