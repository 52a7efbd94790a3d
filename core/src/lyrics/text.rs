//! From bytes of unknown encoding to text, and from text to lines: what is let in before any format is looked at.
//!
//! Text that cannot be read with certainty is refused: words in the wrong letters are worse than none.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;
use thiserror::Error;

/// The longest text that is read, in bytes: an hour of words is about 100 KiB.
pub const BYTE_LIMIT: usize = 1024 * 1024;

/// The most lines that are read, repeated ones counted as often as they are sung.
pub const LINE_LIMIT: usize = 20_000;

/// Why bytes are no text of ours.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
pub enum Undecodable {
    /// Over [`BYTE_LIMIT`].
    #[error("longer than 1 MiB")]
    TooLong,
    /// Over [`LINE_LIMIT`].
    #[error("more than 20,000 lines")]
    TooManyLines,
    /// Not text at all.
    #[error("not text")]
    Binary,
    /// Text, but in letters that nobody can name, or mangled before it came here.
    #[error("an encoding that cannot be told")]
    Encoding,
    /// A web page.
    #[error("a web page instead of words")]
    Html,
    /// A JSON document.
    #[error("a JSON document instead of words")]
    Json,
}

/// Decodes bytes: by BOM, else UTF-8, else as the encoding that the bytes themselves suggest (Shift_JIS, GB18030, Big5,
/// EUC-KR, windows-125x and kin). The BOM is gone afterwards. Pages are not looked for: see [`check`].
pub fn decode(bytes: &[u8]) -> Result<String, Undecodable> {
    if bytes.len() > BYTE_LIMIT {
        return Err(Undecodable::TooLong);
    }
    let text = match Encoding::for_bom(bytes) {
        Some((encoding, bom)) => strictly(encoding, &bytes[bom..])?,
        None => without_bom(bytes)?,
    };
    // First, for `Á` encoded twice looks mangled and is not, and a lost letter encoded twice looks like letters.
    let text = undo_double_encoding(text);
    if is_binary(&text) {
        return Err(Undecodable::Binary);
    }
    if is_mangled(&text) {
        return Err(Undecodable::Encoding);
    }
    // UTF-16 of Latin text shrinks, legacy CJK grows.
    if text.len() > 2 * BYTE_LIMIT {
        return Err(Undecodable::TooLong);
    }
    Ok(text)
}

fn without_bom(bytes: &[u8]) -> Result<String, Undecodable> {
    if let Some(encoding) = utf16_by_zeros(bytes) {
        return strictly(encoding, bytes);
    }
    let is_iso_2022_jp = bytes
        .windows(3)
        .any(|w| matches!(w, [0x1B, b'$', b'@' | b'B']));
    if is_iso_2022_jp {
        return strictly(ISO_2022_JP, bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    if share(bytes, |byte| *byte < 0x20 && !byte.is_ascii_whitespace()) > 10 {
        return Err(Undecodable::Binary);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    strictly(detector.guess(None, Utf8Detection::Deny), bytes)
}

/// Decodes without a single replacement, or not at all.
fn strictly(encoding: &'static Encoding, bytes: &[u8]) -> Result<String, Undecodable> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    let text = text.ok_or(Undecodable::Encoding)?;
    // The legacy encodings leave holes that decode to controls or private letters: nobody sings those.
    let is_odd =
        |c: &char| matches!(c, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9F}' | '\u{E000}'..='\u{F8FF}');
    let is_legacy = encoding != UTF_8 && encoding != UTF_16LE && encoding != UTF_16BE;
    let is_wrong = text.chars().any(|c| is_odd(&c)) || has_lone_half_width(&text);
    if is_legacy && is_wrong {
        return Err(Undecodable::Encoding);
    }
    Ok(text.into_owned())
}

/// Whether a half-width kana stands alone among other letters: people write runs of them, the wrong encoding strews them.
fn has_lone_half_width(text: &str) -> bool {
    let is_half = |c: char| matches!(c, '\u{FF61}'..='\u{FF9F}');
    let others = text.split(|c: char| !is_half(c));
    others.filter(|run| !run.is_empty()).any(|run| {
        let mut kana = run.chars();
        kana.next().is_some() && kana.next().is_none()
    })
}

/// UTF-16 without a BOM shows in its zeros: every second byte of ASCII text is one.
fn utf16_by_zeros(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |from: usize| {
        let every_second = bytes.iter().skip(from).step_by(2);
        every_second.filter(|byte| **byte == 0).count() * 2
    };
    let (even, odd) = (zeros(0), zeros(1));
    let half = bytes.len() / 2;
    if odd > half && even * 20 < half {
        Some(UTF_16LE)
    } else if even > half && odd * 20 < half {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// How many in a thousand.
fn share<T>(of: &[T], which: impl Fn(&T) -> bool) -> usize {
    of.iter().filter(|item| which(item)).count() * 1000 / of.len().max(1)
}

fn is_binary(text: &str) -> bool {
    let controls = text
        .chars()
        .filter(|c| matches!(c, '\0'..='\u{8}' | '\u{E}'..='\u{1F}' | '\u{7F}'))
        .count();
    controls > 8 && controls * 50 > text.chars().count()
}

/// Whether letters were lost before the text came here: replacement characters, or controls where letters were.
fn is_mangled(text: &str) -> bool {
    let lost = text
        .chars()
        .filter(|c| matches!(c, '\u{FFFD}' | '\u{80}'..='\u{84}' | '\u{86}'..='\u{9F}'))
        .count();
    lost > 0 && lost * 100 > text.chars().filter(|c| c.is_alphabetic()).count()
}

/// UTF-8 that was taken for windows-1252 and encoded again (`Ã©`) is what it was; no other text reads as UTF-8 that way.
fn undo_double_encoding(text: String) -> String {
    if text.is_ascii() {
        return text;
    }
    let (bytes, _, is_lossy) = WINDOWS_1252.encode(&text);
    match std::str::from_utf8(&bytes) {
        Ok(once) if !is_lossy && once.chars().filter(|c| !c.is_ascii()).count() > 1 => {
            once.to_owned()
        }
        Ok(_) | Err(_) => text,
    }
}

/// Whether text may be read as lyrics: within the limits, and neither a web page nor JSON.
pub fn check(text: &str) -> Result<(), Undecodable> {
    if text.len() > 2 * BYTE_LIMIT {
        return Err(Undecodable::TooLong);
    }
    if lines(text.trim_end()).nth(LINE_LIMIT).is_some() {
        return Err(Undecodable::TooManyLines);
    }
    let text = text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']);
    if is_page(text) {
        return Err(Undecodable::Html);
    }
    if is_json(text) {
        return Err(Undecodable::Json);
    }
    Ok(())
}

/// Whether text begins as TTML does: the XML of words, not of a page.
pub(super) fn is_ttml(text: &str) -> bool {
    let begins = |at: usize| {
        let after = &text[at..];
        after.starts_with("<tt>")
            || after.starts_with("<tt ")
            || after.starts_with("<tt:tt")
            || after.starts_with("<tt\n")
            || after.starts_with("<tt\r")
            || after.starts_with("<tt\t")
    };
    let is_xml = text.starts_with("<?xml") || text.starts_with("<!--");
    begins(0) || (is_xml && text.match_indices("<tt").take(4).any(|(at, _)| begins(at)))
}

fn is_page(text: &str) -> bool {
    if is_ttml(text) {
        return false;
    }
    let head: String = text.chars().take(512).collect::<String>().to_lowercase();
    let begins = ["<!doctype html", "<html", "<head", "<body", "<!--"];
    let inside = ["<html", "<head>", "<title>", "<meta ", "<script", "<body"];
    begins.iter().any(|tag| head.starts_with(tag))
        || (head.starts_with('<') && inside.iter().any(|tag| head.contains(tag)))
        || text.contains("</html>")
        || text.contains("</body>")
}

fn is_json(text: &str) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    let whole = serde_json::from_str::<serde::de::IgnoredAny>(text.trim_end()).is_ok();
    // Cut short, it is JSON all the same. Single lines of JSON among LRC are NetEase's credits: not the whole.
    let compact: String = text
        .chars()
        .take(64)
        .filter(|c| !c.is_whitespace())
        .collect();
    let begins = ["{\"", "[{\"", "[\""]
        .iter()
        .any(|start| compact.starts_with(start));
    whole || (begins && !lines(text).any(super::lrc::is_stamped))
}

/// The lines of a text, however they end: LF, CRLF, CR, NEL, and the two separators of Unicode.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some((end, ending)) = line_end(text.as_bytes()) else {
            rest = None;
            return Some(text);
        };
        rest = Some(&text[end + ending..]);
        Some(&text[..end])
    })
}

/// Where the first line ends, and how long its ending is. Byte by byte: most bytes begin no ending.
fn line_end(bytes: &[u8]) -> Option<(usize, usize)> {
    bytes.iter().enumerate().find_map(|(at, byte)| {
        let ending = match byte {
            b'\n' => 1,
            b'\r' => 1 + usize::from(bytes.get(at + 1) == Some(&b'\n')),
            0xC2 if bytes.get(at + 1) == Some(&0x85) => 2,
            0xE2 if matches!(bytes.get(at + 1..at + 3), Some([0x80, 0xA8 | 0xA9])) => 3,
            _ => return None,
        };
        Some((at, ending))
    })
}

/// One line as it is kept: without controls (a tab stays), byte order marks, and what shows nothing at its ends.
pub(super) fn clean(line: &str) -> Cow<'_, str> {
    let is_dropped = |c: char| (c.is_control() && c != '\t') || c == '\u{FEFF}';
    if line.contains(is_dropped) {
        let kept: String = line.chars().filter(|c| !is_dropped(*c)).collect();
        Cow::Owned(trim(&kept).to_owned())
    } else {
        Cow::Borrowed(trim(line))
    }
}

/// Without blanks and zero-width characters at both ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2060}')
    })
}
