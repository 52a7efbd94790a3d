//! Id tags: `[ti:Song]`, and telling them from lines in brackets that are sung.

use super::stamp;

/// Keys that are a tag wherever they stand. Any other `[key:value]` is one only before the first stamp: after it,
/// `[Chorus: x2]` is text.
const KNOWN: [&str; 34] = [
    "al", "album", "ar", "artist", "au", "author", "by", "creator", "dv", "encoding", "fetched",
    "hash", "id", "isrc", "kana", "la", "lang", "language", "length", "lr", "mbid", "offset", "qq",
    "re", "sign", "source", "ti", "title", "tool", "total", "ve", "version", "#", "url",
];

/// The longest key, in bytes.
const KEY_LIMIT: usize = 32;

/// One id tag as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// The key, in lower case.
    pub key: String,
    /// The value, trimmed.
    pub value: String,
}

/// The tag that a line begins with, and what follows it. After the first stamp only known keys count.
pub(super) fn leading(line: &str, is_after_stamp: bool) -> Option<(Tag, &str)> {
    let (key, value_from) = key(line)?;
    if is_after_stamp && !is_known(&key) {
        return None;
    }
    let value = &line[value_from..];
    // A value may hold brackets (`[ti:Song [Live]]`): it ends where the line ends, or the next tag or stamp begins.
    let (end, after) = value.match_indices(']').find_map(|(end, _)| {
        let after = value[end + 1..].trim_start();
        let begins_next = || {
            stamp::leading(after).is_some()
                || self::key(after).is_some_and(|(key, _)| is_known(&key))
        };
        (after.is_empty() || begins_next()).then_some((end, after))
    })?;
    let value = value[..end].trim().to_owned();
    Some((Tag { key, value }, after))
}

/// The lower-cased key of `[key:`, and where the value begins.
fn key(line: &str) -> Option<(String, usize)> {
    let inside = line.strip_prefix('[')?;
    let head = inside.as_bytes();
    let colon = head.iter().take(KEY_LIMIT).position(|byte| *byte == b':')?;
    let key = inside.get(..colon)?.trim();
    let begins = key.starts_with(|c: char| c.is_alphabetic() || c == '#');
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '#');
    (begins && key.chars().all(is_word)).then(|| (key.to_lowercase(), colon + 2))
}

/// Whether a key is a tag's wherever it stands.
pub(super) fn is_known(key: &str) -> bool {
    KNOWN.contains(&key)
}

/// An offset's value in milliseconds: the integer part of a number with an optional sign. `None` for junk and for more than
/// ten minutes, which nobody means.
pub(super) fn offset(value: &str) -> Option<i64> {
    let compact: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let compact = compact.strip_suffix("ms").unwrap_or(&compact);
    let (whole, fraction) = compact.split_once('.').unwrap_or((compact, ""));
    let is_number = fraction.bytes().all(|byte| byte.is_ascii_digit());
    let offset: i64 = whole.parse().ok().filter(|_| is_number)?;
    (offset.unsigned_abs() <= 600_000).then_some(offset)
}

/// A length's value (`3:05`, `1:02:03.4`, `185`) in milliseconds.
pub(super) fn length(value: &str) -> Option<u64> {
    let compact: String = value.chars().filter(|c| !c.is_whitespace()).collect();
    let (whole, fraction) = compact.split_once('.').unwrap_or((&compact, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut seconds = 0u64;
    for (at, group) in whole.split(':').enumerate() {
        let is_group = at < 3 && group.len() <= 6 && group.bytes().all(|b| b.is_ascii_digit());
        let group: u64 = group.parse().ok().filter(|_| is_group)?;
        seconds = seconds * 60 + group;
    }
    Some(seconds * 1000)
}

/// A language tag's value, when it looks like one.
pub(super) fn language(value: &str) -> Option<String> {
    let is_code = (2..=12).contains(&value.len())
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && value.starts_with(|c: char| c.is_ascii_alphabetic());
    is_code.then(|| value.to_owned())
}
