//! One door for text of any format.

use super::lrc::{self, LrcError, ParseHints};
use super::model::{Body, Lyrics};
use super::plain;
use super::text::{self, Undecodable};
use super::{lyricsfile, srt, ttml};
use thiserror::Error;

/// What a text is said to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// LRC. Text without stamps is read as plain.
    Lrc,
    /// LRC with stamps within lines. The same reader.
    Enhanced,
    /// Apple's XML.
    Ttml,
    /// LRCLIB's YAML.
    Lyricsfile,
    /// Subtitles.
    Srt,
    /// Text without times. Stamps are taken off.
    Plain,
    /// Nobody says: the text decides.
    Sniff,
}

/// Why a text could not be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub enum Unreadable {
    /// It is no text, or none of words.
    #[error("{0}")]
    Text(#[from] Undecodable),
    /// There are no words in it.
    #[error("no words")]
    Empty,
    /// It is not of the format that it is said to be, or broken.
    #[error("broken {0}")]
    Broken(&'static str),
}

impl From<LrcError> for Unreadable {
    fn from(error: LrcError) -> Self {
        match error {
            LrcError::TooLong => Unreadable::Text(Undecodable::TooLong),
            LrcError::Empty => Unreadable::Empty,
        }
    }
}

/// Reads bytes: decodes them, then as [`read`].
pub fn read_bytes(kind: TextKind, bytes: &[u8], hints: ParseHints) -> Result<Lyrics, Unreadable> {
    read(kind, &text::decode(bytes)?, hints)
}

/// Reads text. Web pages, JSON, and what is over the limits are refused. What is only a placeholder is for
/// `lyrics::intake` to tell.
pub fn read(kind: TextKind, text: &str, hints: ParseHints) -> Result<Lyrics, Unreadable> {
    text::check(text)?;
    let text = text.trim_start_matches('\u{FEFF}');
    let kind = match kind {
        TextKind::Sniff => sniff(text),
        said => said,
    };
    let lyrics = match kind {
        TextKind::Lrc | TextKind::Enhanced | TextKind::Sniff => lrc::parse(text, hints)?.lyrics,
        TextKind::Plain => plain::parse(text),
        TextKind::Ttml => ttml::parse(text, hints)?,
        TextKind::Lyricsfile => lyricsfile::parse(text, hints)?,
        TextKind::Srt => srt::parse(text, hints)?,
    };
    match &lyrics.body {
        Body::Plain(lines) if lines.is_empty() => Err(Unreadable::Empty),
        Body::Synced(lines) if lines.is_empty() => Err(Unreadable::Empty),
        Body::Plain(_) | Body::Synced(_) | Body::Instrumental => Ok(lyrics),
    }
}

/// What a text is by its looks. Anything unknown is read as LRC, which reads text without stamps as plain.
fn sniff(text: &str) -> TextKind {
    let text = text.trim_start();
    if text::is_ttml(text) {
        return TextKind::Ttml;
    }
    let head = || text::lines(text).map(str::trim).take(8);
    let has = |key: &str| text.contains(&format!("\n{key}:"));
    if text.starts_with("version:") && (has("lines") || has("plain") || has("metadata")) {
        return TextKind::Lyricsfile;
    }
    let is_span = |line: &str| {
        line.split_once("-->").is_some_and(|(start, _)| {
            let start = start.trim();
            start.contains(':')
                && start
                    .bytes()
                    .all(|b| b.is_ascii_digit() || b":,.".contains(&b))
        })
    };
    if head().any(is_span) {
        return TextKind::Srt;
    }
    TextKind::Lrc
}
