//! Reading LRC.

use super::COMMENT;
use super::line::{self, Sung};
use super::stamp::{self, Reading};
use super::tags::{self, Tag};
use crate::lyrics::model::{Body, Line, Lyrics};
use crate::lyrics::text::{self, BYTE_LIMIT, LINE_LIMIT, clean};
use crate::lyrics::timed::sorted;
use std::collections::BTreeSet;
use thiserror::Error;

/// Tags beyond this many are not kept.
const TAG_LIMIT: usize = 256;

/// What is known besides the text.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseHints {
    /// Length of the recording in milliseconds: decides what `01:02:03` means.
    pub duration_ms: Option<u64>,
}

/// What an LRC text says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The words: timed if any line is and most are, else plain.
    pub lyrics: Lyrics,
    /// The id tags, in the order of the text.
    pub tags: Vec<Tag>,
    /// What the `length` tag says, in milliseconds. A hint, nothing more.
    pub length_ms: Option<u64>,
    /// What was odd.
    pub warnings: BTreeSet<Warning>,
}

/// What was odd about a text that could be read all the same.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// The offset is no number, or of more than ten minutes: ignored.
    OffsetIgnored,
    /// A stamp with 60 seconds or more: carried over.
    SecondsCarried,
    /// Text before the first stamp that is no tag: left out.
    TextBeforeFirstStamp,
    /// Lines without a stamp: joined to the line before.
    UntimedLines,
    /// More lines without a stamp than with one, or one stamp for all: taken as plain text.
    TakenAsPlain,
    /// Word stamps that run backwards: left out.
    DisorderedWords,
    /// Lines of JSON among the text: left out.
    JsonLines,
    /// More tags than are kept.
    TagsLeftOut,
}

/// Why an LRC text was refused.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub enum LrcError {
    /// Over the limit of bytes or lines, repeated lines counted as often as they are sung.
    #[error("too long")]
    TooLong,
    /// Tags and stamps at most, no words.
    #[error("no words")]
    Empty,
}

/// Reads LRC, enhanced or not, or text that pretends to be. Never panics, and bounded in time and memory.
///
/// ```
/// use segue_core::lyrics::lrc::{ParseHints, parse};
/// let parsed = parse("[00:01.5]one\n[00:00.25]nought", ParseHints::default()).unwrap();
/// let segue_core::lyrics::Body::Synced(lines) = parsed.lyrics.body else { panic!() };
/// assert_eq!((lines[0].start, &*lines[1].text), (250, "one"));
/// ```
pub fn parse(text: &str, hints: ParseHints) -> Result<Parsed, LrcError> {
    if text.len() > 2 * BYTE_LIMIT {
        return Err(LrcError::TooLong);
    }
    let text = text.trim_start_matches('\u{FEFF}').trim_end();
    let mut reader = Reader::new(text, hints);
    for (at, line) in text::lines(text).enumerate() {
        if at >= LINE_LIMIT {
            return Err(LrcError::TooLong);
        }
        reader.line(&clean(line))?;
    }
    reader.finish()
}

struct Reader {
    reading: Reading,
    tags: Vec<Tag>,
    warnings: BTreeSet<Warning>,
    lines: Vec<Line>,
    /// Where the copies of the line before begin in `lines`.
    last: usize,
    /// Everything that is no tag, without times, for when the times turn out to be worth nothing.
    plain: Vec<String>,
    /// Lines of text that had no stamp, and those that had one.
    untimed: usize,
    timed: usize,
    /// Whether there was any text.
    has_words: bool,
    /// Bytes of text kept so far.
    bytes: usize,
}

impl Reader {
    fn new(text: &str, hints: ParseHints) -> Self {
        let lengths = text::lines(text).take(64);
        let length = lengths
            .filter_map(|line| tags::leading(text::trim(line), false))
            .find_map(|(tag, _)| (tag.key == "length").then(|| tags::length(&tag.value))?);
        Reader {
            reading: stamp::reading(text, hints.duration_ms.or(length)),
            tags: Vec::new(),
            warnings: BTreeSet::new(),
            lines: Vec::new(),
            last: 0,
            plain: Vec::new(),
            untimed: 0,
            timed: 0,
            has_words: false,
            bytes: 0,
        }
    }

    fn line(&mut self, line: &str) -> Result<(), LrcError> {
        if line.is_empty() {
            self.plain.push(String::new());
            return Ok(());
        }
        if let Some(inside) = line::background(line) {
            return self.background(inside);
        }
        let mut rest = line;
        while let Some((tag, after)) = tags::leading(rest, !self.lines.is_empty()) {
            if !tags::is_known(&tag.key) {
                // In a text without stamps it is none: "[Chorus: x2]".
                self.plain.push(rest[..rest.len() - after.len()].to_owned());
            }
            self.tag(tag);
            rest = after;
        }
        if rest.is_empty() || rest.starts_with(COMMENT) {
            return Ok(());
        }
        let (stamps, rest) = line::stamps(rest);
        let carries =
            |stamp: &stamp::Stamp| matches!(stamp, stamp::Stamp::Clear { carries: true, .. });
        if stamps.iter().any(carries) {
            self.warnings.insert(Warning::SecondsCarried);
        }
        let starts: Vec<u64> = stamps.iter().map(|stamp| stamp.ms(self.reading)).collect();
        self.sung(&starts, line::sung(rest, self.reading))
    }

    /// A line of voices behind begins with its first word, or with the line before.
    fn background(&mut self, inside: &str) -> Result<(), LrcError> {
        let (stamps, rest) = line::stamps(inside);
        let mut sung = line::sung(rest, self.reading);
        sung.agent = Some("bg".to_owned());
        let own = stamps.first().map(|stamp| stamp.ms(self.reading));
        let first = own.or(sung.begins);
        let before = self.lines.get(self.last).map(|line| line.start);
        let start: Vec<u64> = first.or(before).into_iter().collect();
        self.sung(&start, sung)
    }

    fn tag(&mut self, tag: Tag) {
        if self.tags.len() < TAG_LIMIT {
            self.tags.push(tag);
        } else {
            self.warnings.insert(Warning::TagsLeftOut);
        }
    }

    fn sung(&mut self, starts: &[u64], sung: Sung) -> Result<(), LrcError> {
        if is_json(&sung.text) {
            self.warnings.insert(Warning::JsonLines);
            return Ok(());
        }
        if sung.is_disordered {
            self.warnings.insert(Warning::DisorderedWords);
        }
        let of_words;
        let starts = match (starts, sung.begins) {
            ([], Some(start)) => {
                of_words = [start];
                &of_words[..]
            }
            (starts, _) => starts,
        };
        self.bytes += sung.text.len() * starts.len().max(1);
        if self.lines.len() + starts.len() > LINE_LIMIT || self.bytes > 4 * BYTE_LIMIT {
            return Err(LrcError::TooLong);
        }
        self.has_words |= !sung.text.is_empty();
        self.plain.push(sung.plain());
        if starts.is_empty() {
            return self.untimed(&sung.text);
        }
        self.timed += usize::from(!sung.text.is_empty());
        self.last = self.lines.len();
        // Of several stamps, the words and the end belong to the last one before them.
        let anchor = sung.begins.or(sung.end).unwrap_or(0);
        let before = (0..starts.len()).filter(|at| starts[*at] <= anchor);
        let own = before.max_by_key(|at| starts[*at]).unwrap_or(0);
        for (at, start) in starts.iter().enumerate() {
            let is_own = at == own;
            self.lines.push(Line {
                start: *start,
                end: sung.end.filter(|end| is_own && end >= start),
                text: sung.text.clone(),
                words: if is_own {
                    sung.words.clone()
                } else {
                    Vec::new()
                },
                agent: sung.agent.clone(),
            });
        }
        Ok(())
    }

    /// A line without a stamp goes on with the one before.
    fn untimed(&mut self, text: &str) -> Result<(), LrcError> {
        if text.is_empty() {
            return Ok(());
        }
        self.untimed += 1;
        if self.lines.is_empty() {
            self.warnings.insert(Warning::TextBeforeFirstStamp);
            return Ok(());
        }
        self.warnings.insert(Warning::UntimedLines);
        self.bytes += text.len() * (self.lines.len() - self.last);
        if self.bytes > 4 * BYTE_LIMIT {
            return Err(LrcError::TooLong);
        }
        for line in &mut self.lines[self.last..] {
            if !line.text.is_empty() {
                line.text.push(' ');
            }
            line.text.push_str(text);
            // What is joined has no times, and words that cover half a line time nothing.
            line.words.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Parsed, LrcError> {
        let offset_ms = self.offset();
        let lang = self.value(&["la", "lang", "language"]);
        let lang = lang.and_then(tags::language);
        let body = self.body()?;
        let length_ms = self.value(&["length"]).and_then(tags::length);
        Ok(Parsed {
            lyrics: Lyrics {
                lang,
                // An offset shifts stamps; plain text has none.
                offset_ms: if matches!(body, Body::Synced(_)) {
                    offset_ms
                } else {
                    0
                },
                body,
            },
            tags: self.tags,
            length_ms,
            warnings: self.warnings,
        })
    }

    fn offset(&mut self) -> i64 {
        let Some(value) = self.value(&["offset"]) else {
            return 0;
        };
        let offset = tags::offset(value);
        if offset.is_none() {
            self.warnings.insert(Warning::OffsetIgnored);
        }
        offset.unwrap_or(0)
    }

    fn value(&self, keys: &[&str]) -> Option<&str> {
        let tag = self.tags.iter().find(|tag| keys.contains(&&*tag.key))?;
        Some(&tag.value)
    }

    fn body(&mut self) -> Result<Body, LrcError> {
        if !self.has_words {
            let marked = self.value(&["au"]);
            let is_instrumental = marked.is_some_and(|au| au.eq_ignore_ascii_case("instrumental"));
            return match is_instrumental {
                true => Ok(Body::Instrumental),
                false => Err(LrcError::Empty),
            };
        }
        if self.lines.is_empty() {
            return self.plain();
        }
        let mut sung = self.lines.iter().filter(|line| !line.text.is_empty());
        let first = sung.next().map(|line| line.start);
        let is_one_time = sung.clone().count() > 1 && sung.all(|line| Some(line.start) == first);
        if self.untimed > self.timed || is_one_time {
            self.warnings.insert(Warning::TakenAsPlain);
            return self.plain();
        }
        Ok(Body::Synced(sorted(std::mem::take(&mut self.lines))))
    }

    /// The lines without times; stanzas stay apart. Nothing but what looks like tags is no text.
    fn plain(&self) -> Result<Body, LrcError> {
        let lines = crate::lyrics::plain::lines(self.plain.iter().map(String::as_str));
        let is_tag = |line: &String| {
            line.is_empty() || tags::leading(line, false).is_some_and(|(_, after)| after.is_empty())
        };
        match lines.iter().all(is_tag) {
            true => Err(LrcError::Empty),
            false => Ok(Body::Plain(lines)),
        }
    }
}

/// NetEase puts its credits among the lines as JSON objects.
fn is_json(text: &str) -> bool {
    text.starts_with("{\"") && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}
