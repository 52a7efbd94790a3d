//! LRC: timed lines as they are found in the wild, read leniently, and written in the one form that every player reads.
//!
//! Rules: lyrics.md 3.1, row by row in `core/tests/lyrics/lrc.rs`. Enhanced LRC (`<mm:ss.xx>word`) is the same reader.

mod line;
mod parse;
mod stamp;
mod tags;
mod write;

pub use parse::{LrcError, ParseHints, Parsed, Warning, parse};
pub use tags::Tag;
pub(super) use write::is_note;
pub use write::{EqualStamps, Fraction, Header, LongTracks, LrcStyle, Notes, WriteOptions, write};

use std::borrow::Cow;

/// What begins a line that is for nobody to see.
const COMMENT: &str = "[:]";

/// Whether a line begins with a stamp, and so is part of an LRC file.
pub(super) fn is_stamped(line: &str) -> bool {
    stamp::leading(super::text::trim(line)).is_some()
}

/// The text of a line without any stamp, known tag or control: what may be shown.
pub(super) fn bare(line: &str) -> String {
    let clean = super::text::clean(line);
    let (_, rest) = line::stamps(untagged(&clean));
    line::sung(rest, stamp::Reading::Hours).plain()
}

/// What follows the known tags that a line begins with; nothing of a comment.
pub(super) fn untagged(line: &str) -> &str {
    let mut rest = line;
    while let Some((_, after)) = tags::leading(rest, true) {
        rest = after;
    }
    match rest.starts_with(COMMENT) {
        true => "",
        false => rest,
    }
}

/// Text that no reader can take for a stamp. Only text that was mangled or is hostile holds one; its brackets become wide ones,
/// from which no new stamp can be put together.
pub(super) fn without_stamps(text: &str) -> Cow<'_, str> {
    let Some((first, ..)) = stamp::find(text) else {
        return Cow::Borrowed(text);
    };
    let mut safe = text[..first].to_owned();
    for (at, c) in text[first..].char_indices() {
        let is_stamp = stamp::is_bracket(c) && stamp::leading(&text[first + at..]).is_some();
        safe.push(match c {
            '[' if is_stamp => '［',
            '<' if is_stamp => '＜',
            c => c,
        });
    }
    Cow::Owned(safe)
}
