//! Stamps: `[01:02.34]`, `<01:02.34>`, and every other way in which they are found written.

/// Blanks that are tolerated inside the brackets, on each side.
const BLANKS: usize = 2;

/// What a stamp says, before it is known how a file writes them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Only one reading: milliseconds, and whether a group was 60 or more.
    Clear { ms: u64, carries: bool },
    /// Three groups without a point: hours, minutes, seconds, or minutes, seconds, hundredths.
    Groups(u64, u64, u64),
}

/// How a file's three groups are to be read.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Reading {
    /// `hh:mm:ss`, as Navidrome writes.
    #[default]
    Hours,
    /// `mm:ss:cc`, as NetEase writes.
    Hundredths,
}

impl Stamp {
    /// In milliseconds.
    pub(super) fn ms(self, reading: Reading) -> u64 {
        match (self, reading) {
            (Stamp::Clear { ms, .. }, _) => ms,
            (Stamp::Groups(h, m, s), Reading::Hours) => (h * 3600 + m * 60 + s) * 1000,
            (Stamp::Groups(m, s, cc), Reading::Hundredths) => (m * 60 + s) * 1000 + cc * 10,
        }
    }
}

/// Whether a bracket could begin a stamp.
pub(super) fn is_bracket(c: char) -> bool {
    matches!(c, '[' | '<')
}

/// The stamp that `text` begins with, and its length in bytes, brackets included.
pub(super) fn leading(text: &str) -> Option<(Stamp, usize)> {
    let close = match text.as_bytes().first()? {
        b'[' => b']',
        b'<' => b'>',
        _ => return None,
    };
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 1,
    };
    scan.blanks();
    let stamp = scan.stamp()?;
    scan.blanks();
    scan.is(close).then_some((stamp, scan.at))
}

/// The next stamp anywhere in `text`: where it begins, what it says, its length.
pub(super) fn find(text: &str) -> Option<(usize, Stamp, usize)> {
    let candidates = text.match_indices(is_bracket);
    candidates
        .filter_map(|(at, _)| leading(&text[at..]).map(|(stamp, len)| (at, stamp, len)))
        .next()
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn stamp(&mut self) -> Option<Stamp> {
        let (first, _) = self.digits(4)?;
        if !self.is(b':') {
            return None;
        }
        let (second, _) = self.digits(2)?;
        if self.is_point() {
            return Some(minutes(first, second, self.fraction()));
        }
        if !self.is(b':') {
            return Some(minutes(first, second, 0));
        }
        let (third, digits) = self.digits(3)?;
        if self.is_point() || self.is(b':') {
            let fraction = self.fraction();
            let carries = second > 59 || third > 59;
            let ms = (first * 3600 + second * 60 + third) * 1000 + fraction;
            return Some(Stamp::Clear { ms, carries });
        }
        match digits {
            // No second has three digits.
            3 => Some(minutes(first, second, third)),
            _ => Some(Stamp::Groups(first, second, third)),
        }
    }

    /// Up to so many digits, at least one, and how many there were.
    fn digits(&mut self, most: usize) -> Option<(u64, usize)> {
        let from = self.at;
        let mut value = 0;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            if self.at - from == most {
                return None;
            }
            value = value * 10 + u64::from(digit - b'0');
            self.at += 1;
        }
        (self.at > from).then_some((value, self.at - from))
    }

    /// Digits of a decimal fraction of a second, none to six, in milliseconds.
    fn fraction(&mut self) -> u64 {
        let (mut ms, mut weight) = (0, 100);
        for _ in 0..6 {
            let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) else {
                break;
            };
            ms += u64::from(digit - b'0') * weight;
            weight /= 10;
            self.at += 1;
        }
        ms
    }

    fn is(&mut self, byte: u8) -> bool {
        let is = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is);
        is
    }

    fn is_point(&mut self) -> bool {
        self.is(b'.') || self.is(b',')
    }

    fn blanks(&mut self) {
        for _ in 0..BLANKS {
            if !self.is(b' ') && !self.is(b'\t') {
                break;
            }
        }
    }
}

fn minutes(minutes: u64, seconds: u64, fraction: u64) -> Stamp {
    Stamp::Clear {
        ms: (minutes * 60 + seconds) * 1000 + fraction,
        carries: seconds > 59,
    }
}

/// Decides for a whole file (lyrics.md 3.1): hundredths if any third group is above 59, or if the last stamp would lie beyond
/// the track when read as hours. Ten seconds of grace: files overrun a little, the wrong reading overruns sixtyfold.
pub(super) fn reading(text: &str, duration_ms: Option<u64>) -> Reading {
    let mut rest = text;
    let mut last = 0;
    while let Some((at, stamp, len)) = find(rest) {
        if let Stamp::Groups(_, _, third) = stamp {
            if third > 59 {
                return Reading::Hundredths;
            }
            last = last.max(stamp.ms(Reading::Hours));
        }
        rest = &rest[at + len..];
    }
    match duration_ms {
        Some(duration) if last > duration.saturating_add(10_000) => Reading::Hundredths,
        Some(_) | None => Reading::Hours,
    }
}
