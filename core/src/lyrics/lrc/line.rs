//! One line of LRC: its stamps, who sings it, its text, and its words.

use super::stamp::{self, Reading, Stamp};
use crate::lyrics::model::Word;
use crate::lyrics::text::trim;

/// What is sung in a line, whenever that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sung {
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    /// The first stamp within the line that text follows.
    pub(super) begins: Option<u64>,
    /// The last stamp, when nothing follows it.
    pub(super) end: Option<u64>,
    pub(super) agent: Option<String>,
    /// Word stamps ran backwards and were dropped.
    pub(super) is_disordered: bool,
}

/// The stamps in square brackets that a line begins with, and the rest.
pub(super) fn stamps(line: &str) -> (Vec<Stamp>, &str) {
    let (mut stamps, mut rest) = (Vec::new(), line);
    while rest.starts_with('[') {
        let Some((stamp, len)) = stamp::leading(rest) else {
            break;
        };
        stamps.push(stamp);
        rest = rest[len..].trim_start();
    }
    (stamps, rest)
}

/// Reads what follows a line's own stamps.
pub(super) fn sung(rest: &str, reading: Reading) -> Sung {
    let (before, rest) = agent(rest);
    let mut sung = pieces(rest, reading);
    sung.agent = before.map(str::to_owned);
    sung.begins = sung.words.first().map(|word| word.start);
    // A mark behind the first word's stamp is one all the same, and the stamp is not of a word.
    if let (Some(behind), text) = agent(&sung.text) {
        sung.agent.get_or_insert_with(|| behind.to_owned());
        sung.text = text.to_owned();
        sung.words.clear();
    }
    let times = sung.words.iter().map(|word| word.start);
    if !times.is_sorted() {
        sung.words.clear();
        sung.is_disordered = true;
    }
    // One stamp before a whole line of several words times the line, not its words.
    if let [only] = &sung.words[..]
        && only.bytes.len() == sung.text.len()
        && sung.text.contains(char::is_whitespace)
    {
        sung.words.clear();
    }
    sung
}

/// Text between stamps. A stamp before nothing is the end of the word before it; any other begins a word.
fn pieces(rest: &str, reading: Reading) -> Sung {
    let mut sung = Sung::default();
    let (mut rest, mut begins) = (rest, None);
    loop {
        let next = stamp::find(rest);
        let piece = next.map_or(rest, |(at, ..)| &rest[..at]);
        sung.take(begins, piece, next.is_none());
        let Some((at, stamp, len)) = next else {
            break;
        };
        begins = Some(stamp.ms(reading));
        rest = &rest[at + len..];
    }
    let shown = trim(&sung.text).len();
    debug_assert!(sung.text.is_empty() || !sung.text.starts_with(char::is_whitespace));
    if shown != sung.text.len() {
        // Only the end can be blank; words are trimmed already.
        let kept = trim(&sung.text).to_owned();
        let cut = sung.text.find(&kept).unwrap_or(0);
        for word in &mut sung.words {
            word.bytes = word.bytes.start.saturating_sub(cut).min(shown)
                ..word.bytes.end.saturating_sub(cut).min(shown);
        }
        sung.words.retain(|word| !word.bytes.is_empty());
        sung.text = kept;
    }
    sung
}

impl Sung {
    /// The line as plain text, which has no other place for who sings.
    pub(super) fn plain(&self) -> String {
        match self.agent.as_deref() {
            Some(agent) if agent != "bg" && !self.text.is_empty() => {
                format!("{agent}: {}", self.text)
            }
            Some(_) | None => self.text.clone(),
        }
    }

    fn take(&mut self, begins: Option<u64>, piece: &str, is_last: bool) {
        // Stamps with blanks on both sides are one blank.
        let piece = if self.text.is_empty() || self.text.ends_with(char::is_whitespace) {
            piece.trim_start()
        } else {
            piece
        };
        let shown = piece.trim();
        let from = self.text.len() + (piece.len() - piece.trim_start().len());
        self.text.push_str(piece);
        let Some(begins) = begins else {
            return;
        };
        if !shown.is_empty() {
            self.words.push(Word {
                start: begins,
                end: None,
                bytes: from..from + shown.len(),
            });
            return;
        }
        if let Some(word) = self.words.last_mut() {
            let is_end = word.end.is_none() && begins >= word.start;
            word.end = if is_end { Some(begins) } else { word.end };
        }
        if is_last {
            self.end = Some(begins);
        }
    }
}

/// Who sings, in the marks of Walaoke (`F:`, `M:`, `D:`), of Apple's files (`v1:`), and for voices behind (`bg:`); and the rest.
/// Of several marks the first counts.
fn agent(text: &str) -> (Option<&str>, &str) {
    let (mut found, mut rest) = (None, text);
    while let Some((mark, after)) = mark(rest) {
        found = found.or(Some(mark));
        rest = after;
    }
    (found, rest)
}

fn mark(text: &str) -> Option<(&str, &str)> {
    let colon = text.bytes().take(4).position(|byte| byte == b':')?;
    let mark = text.get(..colon)?;
    is_agent(mark).then(|| (mark, trim(&text[colon + 1..])))
}

/// Whether a singer's name is one of the marks that LRC has.
pub(super) fn is_agent(name: &str) -> bool {
    match name {
        "M" | "F" | "D" | "bg" => true,
        voice => voice.strip_prefix('v').is_some_and(|number| {
            (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        }),
    }
}

/// The inside of `[bg: ...]`, a line of voices behind.
pub(super) fn background(line: &str) -> Option<&str> {
    let inside = line.strip_prefix("[bg:")?.strip_suffix(']')?;
    Some(trim(inside))
}
