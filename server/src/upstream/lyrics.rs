//! The words of the fake upstream's songs, by the old method and the new one.

use super::library::{Library, Track};
use super::shared::{LyricsMethods, Quirks, Seen};
use serde_json::{Value, json};

/// The words of one track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    /// Lines without times.
    Plain(Vec<String>),
    /// Lines with times.
    Timed(Vec<TimedLine>),
}

/// One line with times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedLine {
    /// When it begins, in milliseconds.
    pub start: u64,
    /// Its pieces, blanks included, each with when it begins. A line of one piece has no times of words.
    pub pieces: Vec<(u64, String)>,
}

impl Words {
    /// Lines without times.
    pub fn plain(text: &str) -> Self {
        Words::Plain(text.lines().map(str::to_owned).collect())
    }

    /// Lines with times.
    pub fn timed(lines: &[(u64, &str)]) -> Self {
        let lines = lines.iter().map(|(start, text)| TimedLine {
            start: *start,
            pieces: vec![(*start, (*text).to_owned())],
        });
        Words::Timed(lines.collect())
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Words::Plain(lines) => lines.clone(),
            Words::Timed(lines) => lines.iter().map(TimedLine::text).collect(),
        }
    }
}

impl TimedLine {
    fn text(&self) -> String {
        let pieces = self.pieces.iter();
        pieces.map(|(_, text)| text.as_str()).collect()
    }

    /// The line's words with their times: both ends of the bytes belong to a word.
    fn cues(&self) -> Vec<Value> {
        let mut at = 0;
        let pieces = self.pieces.iter();
        let cues = pieces.filter_map(|(start, piece)| {
            let word = piece.trim();
            let begins = at + piece.len() - piece.trim_start().len();
            at += piece.len();
            let ends = begins + word.len().checked_sub(1)?;
            Some(json!({ "start": start, "byteStart": begins, "byteEnd": ends, "value": word }))
        });
        cues.collect()
    }
}

/// What is advertised.
pub(super) fn extensions(quirks: &Quirks) -> Value {
    let versions: &[u32] = match quirks.lyrics {
        LyricsMethods::Unknown | LyricsMethods::ByName => return json!([]),
        LyricsMethods::ById => &[1],
        LyricsMethods::Enhanced => &[1, 2],
    };
    json!([{ "name": "songLyrics", "versions": versions }])
}

/// `getLyrics`: the first song of these names that has words; an empty element when there is none.
pub(super) fn by_name(library: &Library, seen: &Seen) -> Value {
    let same = |asked: &str, name: &str| {
        let asked = seen.param(asked).unwrap_or_default();
        asked.to_lowercase() == name.to_lowercase()
    };
    let found = library.tracks().find_map(|(artist, _, track)| {
        let artist = track.artist.as_deref().unwrap_or(&artist.name);
        let words = track.words.as_ref()?;
        let matches = same("artist", artist) && same("title", &track.title);
        matches.then(|| {
            (
                artist.to_owned(),
                track.title.clone(),
                words.lines().join("\n"),
            )
        })
    });
    match found {
        Some((artist, title, value)) => {
            json!({ "lyrics": { "artist": artist, "title": title, "value": value } })
        }
        None => json!({ "lyrics": {} }),
    }
}

/// `getLyricsBySongId`: `None` when there is no such song, an empty list when it has no words.
pub(super) fn by_id(library: &Library, quirks: &Quirks, id: &str, seen: &Seen) -> Option<Value> {
    let (artist, _, track) = library.tracks().find(|(_, _, track)| track.id == id)?;
    let enhanced =
        quirks.lyrics == LyricsMethods::Enhanced && seen.param("enhanced") == Some("true");
    let artist = track.artist.as_deref().unwrap_or(&artist.name);
    Some(match &track.words {
        None => json!({ "lyricsList": {} }),
        Some(words) => {
            let entry = entry(track, artist, words, enhanced);
            json!({ "lyricsList": { "structuredLyrics": [entry] } })
        }
    })
}

fn entry(track: &Track, artist: &str, words: &Words, enhanced: bool) -> Value {
    let lines: Vec<Value> = match words {
        Words::Plain(lines) => lines.iter().map(|line| json!({ "value": line })).collect(),
        Words::Timed(lines) => {
            let lines = lines.iter();
            lines
                .map(|line| json!({ "start": line.start, "value": line.text() }))
                .collect()
        }
    };
    let mut entry = json!({
        "lang": "xxx",
        "synced": matches!(words, Words::Timed(_)),
        "displayArtist": artist,
        "displayTitle": track.title,
        "line": lines,
    });
    if let (true, Words::Timed(lines)) = (enhanced, words) {
        let worded = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| line.pieces.len() > 1);
        let cue_lines = worded.map(|(index, line)| {
            json!({ "index": index, "start": line.start, "value": line.text(), "cue": line.cues() })
        });
        entry["kind"] = "main".into();
        entry["cueLine"] = cue_lines.collect();
    }
    entry
}
