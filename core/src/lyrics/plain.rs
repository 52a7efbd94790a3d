//! Plain text: lines without times.

use super::lrc;
use super::model::{Body, Lyrics};
use super::text;

/// Reads plain text. Stamps are taken off: text that was made from timed lines by cutting off the first one still has them on
/// all others (LRCLIB does so).
#[must_use]
pub fn parse(text: &str) -> Lyrics {
    let bare: Vec<String> = text::lines(text).map(lrc::bare).collect();
    Lyrics::of(Body::Plain(lines(bare.iter().map(String::as_str))))
}

/// The words as text: one line each, LF, a final newline, stanzas apart. Empty when there is nothing to sing.
#[must_use]
pub fn write(lyrics: &Lyrics) -> String {
    let mut text = String::new();
    for line in lines_of(lyrics) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The lines of any lyrics, without times. Breaks among timed lines part stanzas.
#[must_use]
pub fn lines_of(lyrics: &Lyrics) -> Vec<String> {
    match &lyrics.body {
        Body::Instrumental => Vec::new(),
        Body::Plain(plain) => lines(plain.iter().map(String::as_str)),
        Body::Synced(timed) => lines(timed.iter().map(|line| line.text.as_str())),
    }
}

/// Lines in their canonical form: clean, no blank ones at the ends, no stamp or tag in any, at most two blank ones together.
pub(super) fn lines<'a>(from: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut blank = 0;
    for line in from {
        // A provider's line may hold several.
        for line in text::lines(line) {
            let clean = text::clean(line);
            let line = lrc::untagged(&clean);
            if line.is_empty() {
                blank += 1;
                continue;
            }
            if !lines.is_empty() {
                lines.extend(std::iter::repeat_n(String::new(), blank.min(2)));
            }
            blank = 0;
            lines.push(lrc::without_stamps(line).into_owned());
        }
    }
    lines
}

impl Lyrics {
    /// The same words without their times.
    #[must_use]
    pub fn untimed(&self) -> Lyrics {
        let body = match &self.body {
            Body::Instrumental => Body::Instrumental,
            Body::Plain(_) | Body::Synced(_) => Body::Plain(lines_of(self)),
        };
        Lyrics {
            lang: self.lang.clone(),
            offset_ms: 0,
            body,
        }
    }
}
