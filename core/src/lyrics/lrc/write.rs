//! Writing LRC, in the one form that every player reads.

use super::line::is_agent;
use super::without_stamps;
use crate::lyrics::model::{Body, Line, Lyrics};
use crate::lyrics::plain;
use crate::lyrics::timed::{are_words_in_place, one_line};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Lines only, or words as well.
    pub style: LrcStyle,
    /// Digits of a second's fraction.
    pub fraction: Fraction,
    /// Beyond 99:59.99.
    pub long_tracks: LongTracks,
    /// Lines of notes.
    pub notes: Notes,
    /// Lines of the same time.
    pub equal_stamps: EqualStamps,
    /// Tags above the lines.
    pub header: Header,
}

/// What is timed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum LrcStyle {
    /// `[mm:ss.cc]line`: singers and words' times are left out. Read by everything.
    #[default]
    Line,
    /// `[mm:ss.cc]<mm:ss.cc>word`, with ends and singers: for `.elrc`.
    Enhanced,
}

/// Digits of a second's fraction.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Fraction {
    /// Hundredths, rounded.
    #[default]
    Hundredths,
    /// Thousandths.
    Thousandths,
}

/// Times beyond 99:59.99.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum LongTracks {
    /// `hh:mm:ss.cc`, which Navidrome reads.
    #[default]
    Hours,
    /// `mmm:ss.cc`.
    Minutes,
}

/// Lines that are nothing but `♪`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Notes {
    /// As they are.
    #[default]
    Keep,
    /// As breaks.
    Empty,
}

/// Lines of the same time: a translation below its original.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EqualStamps {
    /// Where most times are given twice the text is bilingual, and only the first of each is written. A few equal times are
    /// two singers, and stay.
    #[default]
    Main,
    /// All of them.
    All,
}

/// The tags that we write. Empty ones are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// `ti`.
    pub title: String,
    /// `ar`.
    pub artist: String,
    /// `al`.
    pub album: String,
    /// `by`: who wrote the file.
    pub by: String,
    /// `length`, in milliseconds.
    pub length_ms: Option<u64>,
}

/// Writes lyrics as LRC: UTF-8 without BOM, LF, a final newline, sorted, no blank line, offset baked in. Plain lyrics come out as
/// plain text; lyrics without words as the tag `[au: instrumental]`.
#[must_use]
pub fn write(lyrics: &Lyrics, options: &WriteOptions) -> String {
    let lines = match &lyrics.body {
        Body::Plain(_) => return plain::write(lyrics),
        Body::Instrumental => return header(&options.header) + "[au: instrumental]\n",
        Body::Synced(lines) => lines,
    };
    let mut sheet = Sheet {
        text: header(&options.header),
        offset_ms: lyrics.offset_ms,
        options,
    };
    let is_bilingual = options.equal_stamps == EqualStamps::Main && is_bilingual(lines);
    let mut sorted: Vec<&Line> = lines.iter().collect();
    sorted.sort_by_key(|line| line.start);
    let mut before = None;
    for line in sorted {
        if !(is_bilingual && before == Some(line.start)) {
            sheet.line(line);
        }
        before = Some(line.start);
    }
    sheet.text
}

fn is_bilingual(lines: &[Line]) -> bool {
    let times: BTreeSet<u64> = lines.iter().map(|line| line.start).collect();
    (lines.len() - times.len()) * 2 >= times.len()
}

fn header(header: &Header) -> String {
    let mut text = String::new();
    let mut tag = |key: &str, value: &str| {
        // One line, and no bracket that ends the tag early.
        let value = one_line(value).replace('[', "(").replace(']', ")");
        if !value.is_empty() {
            let _ = writeln!(text, "[{key}:{value}]");
        }
    };
    tag("ti", &header.title);
    tag("ar", &header.artist);
    tag("al", &header.album);
    let length = header.length_ms.map(|ms| ms.saturating_add(500) / 1000);
    let length = length.map(|s| format!("{:02}:{:02}", s / 60, s % 60));
    tag("length", length.as_deref().unwrap_or_default());
    tag("by", &header.by);
    text
}

struct Sheet<'a> {
    text: String,
    offset_ms: i64,
    options: &'a WriteOptions,
}

impl Sheet<'_> {
    fn line(&mut self, line: &Line) {
        self.stamp('[', line.start, ']');
        match self.options.style {
            LrcStyle::Line => self.shown(&line.text),
            LrcStyle::Enhanced => self.enhanced(line),
        }
        self.text.push('\n');
    }

    fn shown(&mut self, text: &str) {
        let text = one_line(text);
        let is_notes = !text.is_empty() && text.chars().all(is_note);
        if !(is_notes && self.options.notes == Notes::Empty) {
            self.text.push_str(&without_stamps(&text));
        }
    }

    fn enhanced(&mut self, line: &Line) {
        if let Some(agent) = line.agent.as_deref().filter(|agent| is_agent(agent)) {
            self.text.push_str(agent);
            self.text.push_str(": ");
        }
        let is_clean =
            one_line(&line.text) == line.text && super::stamp::find(&line.text).is_none();
        if is_clean && are_words_in_place(line) {
            self.words(line);
        } else {
            self.shown(&line.text);
        }
        let word_end = line.words.last().and_then(|word| word.end);
        if let Some(end) = line.end.filter(|end| Some(*end) != word_end) {
            self.stamp('<', end, '>');
        }
    }

    fn words(&mut self, line: &Line) {
        let mut at = 0;
        for word in &line.words {
            self.text.push_str(&line.text[at..word.bytes.start]);
            self.stamp('<', word.start, '>');
            self.text.push_str(&line.text[word.bytes.clone()]);
            if let Some(end) = word.end {
                self.stamp('<', end, '>');
            }
            at = word.bytes.end;
        }
        self.text.push_str(&line.text[at..]);
    }

    fn stamp(&mut self, open: char, at: u64, close: char) {
        // A positive offset shows everything sooner.
        let ms = at.saturating_add_signed(self.offset_ms.saturating_neg());
        let (units, digits) = match self.options.fraction {
            Fraction::Hundredths => (ms.saturating_add(5) / 10, 2),
            Fraction::Thousandths => (ms, 3),
        };
        let per_second = 10u64.pow(digits);
        let (seconds, fraction) = (units / per_second, units % per_second);
        let (minutes, second) = (seconds / 60, seconds % 60);
        let width = digits as usize;
        self.text.push(open);
        if minutes > 99 && self.options.long_tracks == LongTracks::Hours {
            let _ = write!(self.text, "{:02}:{:02}", minutes / 60, minutes % 60);
        } else {
            let _ = write!(self.text, "{minutes:02}");
        }
        let _ = write!(self.text, ":{second:02}.{fraction:0width$}");
        self.text.push(close);
    }
}

/// Whether a character only says that music plays.
pub(in crate::lyrics) fn is_note(c: char) -> bool {
    matches!(c, '♩'..='♯' | '\u{1F3B5}' | '\u{1F3B6}' | '\u{FE0F}') || c.is_whitespace()
}
