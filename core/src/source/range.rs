//! Byte ranges: one range per request, as RFC 9110 section 14 has them.

use std::fmt;

/// One range of a `Range` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// `bytes=FIRST-` or `bytes=FIRST-LAST`, both inclusive; `last` is never before `first`.
    From {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte; to the end when absent.
        last: Option<u64>,
    },
    /// `bytes=-LENGTH`: the last bytes.
    Suffix {
        /// How many.
        length: u64,
    },
}

/// Reads a `Range` header. `None` means that the header is to be ignored and the whole is to be sent:
/// another unit, bad syntax, or several ranges (which a server may answer with the whole, RFC 9110 14.2).
pub fn parse(header: &str) -> Option<ByteRange> {
    let (unit, set) = header.trim().split_once('=')?;
    if !unit.trim_end().eq_ignore_ascii_case("bytes") {
        return None;
    }
    // A list may hold empty elements (RFC 9110 5.6.1); more than one real one is several ranges.
    let mut specs = set
        .split(',')
        .map(str::trim)
        .filter(|spec| !spec.is_empty());
    let spec = specs.next()?;
    if specs.next().is_some() {
        return None;
    }
    let (first, last) = spec.split_once('-')?;
    if first.is_empty() {
        return Some(ByteRange::Suffix {
            length: number(last)?,
        });
    }
    let first = number(first)?;
    if last.is_empty() {
        return Some(ByteRange::From { first, last: None });
    }
    let last = number(last)?;
    (first <= last).then_some(ByteRange::From {
        first,
        last: Some(last),
    })
}

/// Digits only, as the grammar wants; too many of them mean "beyond every end".
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}

impl ByteRange {
    /// First and last offset of the range in `complete` bytes; `None` when it cannot be satisfied.
    pub fn within(self, complete: u64) -> Option<(u64, u64)> {
        let end = complete.checked_sub(1)?;
        match self {
            ByteRange::From { first, last } => {
                (first <= end).then(|| (first, last.map_or(end, |last| last.min(end))))
            }
            ByteRange::Suffix { length: 0 } => None,
            ByteRange::Suffix { length } => Some((complete.saturating_sub(length), end)),
        }
    }

    /// Whether it begins at the first byte, so that a whole body continues nothing a client may hold.
    pub const fn starts_at_zero(self) -> bool {
        matches!(self, ByteRange::From { first: 0, .. })
    }
}

impl fmt::Display for ByteRange {
    /// As the value of a `Range` header.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ByteRange::From { first, last: None } => write!(f, "bytes={first}-"),
            ByteRange::From {
                first,
                last: Some(last),
            } => write!(f, "bytes={first}-{last}"),
            ByteRange::Suffix { length } => write!(f, "bytes=-{length}"),
        }
    }
}

/// A `Content-Range` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContentRange {
    /// Of a 206: which bytes follow.
    Part {
        /// Offset of the first byte.
        first: u64,
        /// Offset of the last byte.
        last: u64,
        /// Length of the whole, when it is known.
        complete: Option<u64>,
    },
    /// Of a 416: how long the whole is.
    Unsatisfied {
        /// Length of the whole.
        complete: u64,
    },
}

impl ContentRange {
    /// Reads the header; `None` for another unit or anything impossible.
    pub fn parse(header: &str) -> Option<Self> {
        let (unit, rest) = header.trim().split_once(' ')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (span, complete) = rest.trim().split_once('/')?;
        if span == "*" {
            let complete = exact(complete)?;
            return Some(ContentRange::Unsatisfied { complete });
        }
        let (first, last) = span.split_once('-')?;
        let (first, last) = (exact(first)?, exact(last)?);
        let complete = match complete {
            "*" => None,
            complete => Some(exact(complete)?),
        };
        let possible = first <= last && complete.is_none_or(|complete| last < complete);
        possible.then_some(ContentRange::Part {
            first,
            last,
            complete,
        })
    }

    /// Whether a 206 with this header answers `asked`: it starts there and does not go beyond. A shorter
    /// part is legal (RFC 9110 15.3.7); a suffix whose place cannot be checked is not taken on trust.
    pub fn answers(self, asked: ByteRange) -> bool {
        let ContentRange::Part {
            first,
            last,
            complete,
        } = self
        else {
            return false;
        };
        match asked {
            ByteRange::From {
                first: want,
                last: end,
            } => first == want && end.is_none_or(|end| last <= end),
            ByteRange::Suffix { .. } => complete
                .and_then(|complete| asked.within(complete))
                .is_some_and(|(want, _)| first == want),
        }
    }

    /// Number of bytes that follow; `None` for a 416.
    pub const fn part_len(self) -> Option<u64> {
        match self {
            ContentRange::Part { first, last, .. } => Some((last - first).saturating_add(1)),
            ContentRange::Unsatisfied { .. } => None,
        }
    }

    /// Length of the whole, when it is known.
    pub const fn complete(self) -> Option<u64> {
        match self {
            ContentRange::Part { complete, .. } => complete,
            ContentRange::Unsatisfied { complete } => Some(complete),
        }
    }
}

fn exact(digits: &str) -> Option<u64> {
    let all_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}

impl fmt::Display for ContentRange {
    /// As the value of a `Content-Range` header.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContentRange::Part {
                first,
                last,
                complete: Some(complete),
            } => write!(f, "bytes {first}-{last}/{complete}"),
            ContentRange::Part {
                first,
                last,
                complete: None,
            } => write!(f, "bytes {first}-{last}/*"),
            ContentRange::Unsatisfied { complete } => write!(f, "bytes */{complete}"),
        }
    }
}
