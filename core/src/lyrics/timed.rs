//! Timed lines in their canonical form, whatever they were read from.

use super::lrc;
use super::model::{Body, Line, Lyrics};
use super::text;
use std::borrow::Cow;

impl Lyrics {
    /// Timed lyrics from lines in any order: sorted (equal times keep their order), each on one line without controls or stamps.
    /// Words that do not lie in order within their line are left out.
    #[must_use]
    pub fn timed(lines: Vec<Line>) -> Lyrics {
        Lyrics::of(Body::Synced(sorted(lines)))
    }
}

/// See [`Lyrics::timed`].
pub(super) fn sorted(mut lines: Vec<Line>) -> Vec<Line> {
    lines.sort_by_key(|line| line.start);
    for line in &mut lines {
        let text = one_line(&line.text);
        if let Cow::Owned(text) = lrc::without_stamps(&text) {
            line.text = text;
            line.words.clear();
        } else if text != line.text {
            line.text = text.into_owned();
            line.words.clear();
        }
        if !are_words_in_place(line) {
            line.words.clear();
        }
        line.end = line.end.filter(|end| *end >= line.start);
    }
    lines
}

/// Text on one line, without controls.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let clean = text::clean(text);
    if text::lines(text).nth(1).is_none() {
        return clean;
    }
    let parts = text::lines(text).map(text::clean);
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    Cow::Owned(parts.join(" "))
}

/// Whether words are in order, in time and in the line's text, on character boundaries.
pub(super) fn are_words_in_place(line: &Line) -> bool {
    let (mut at, mut time) = (0, 0);
    line.words.iter().all(|word| {
        let in_order = word.bytes.start >= at && word.start >= time;
        (at, time) = (word.bytes.end, word.start);
        in_order && !word.bytes.is_empty() && line.text.get(word.bytes.clone()).is_some()
    })
}

/// Puts a line together from pieces, each with its time if it is a word.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    pub(super) line: Line,
}

impl Pieces {
    /// Text that no time belongs to. Blanks of any kind and number are one.
    pub(super) fn push(&mut self, text: &str) {
        for c in text.chars() {
            let is_blank = c.is_whitespace();
            let is_due = !self.line.text.is_empty() && !self.line.text.ends_with(' ');
            match is_blank {
                true if is_due => self.line.text.push(' '),
                true => {}
                false => self.line.text.push(c),
            }
        }
    }

    /// A word; blanks around it are not part of it.
    pub(super) fn word(&mut self, start: u64, end: Option<u64>, text: &str) {
        self.push(&text[..text.len() - text.trim_start().len()]);
        let from = self.line.text.len();
        self.push(text.trim());
        let bytes = from..self.line.text.len();
        if !bytes.is_empty() {
            let end = end.filter(|end| *end >= start);
            self.line
                .words
                .push(super::model::Word { start, end, bytes });
        }
        self.push(&text[text.trim_end().len()..]);
    }

    /// The line, without blanks at its end.
    pub(super) fn finish(mut self) -> Line {
        let shown = self.line.text.trim_end().len();
        self.line.text.truncate(shown);
        self.line
    }
}
