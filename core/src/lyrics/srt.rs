//! SubRip subtitles, and WebVTT as far as it is the same.

use super::lrc::ParseHints;
use super::model::{Line, Lyrics};
use super::read::Unreadable;
use super::text;

/// Reads subtitles: each block is one line, with begin and end. Marks like `<i>` and `{\an8}` are taken off.
pub(super) fn parse(text: &str, _: ParseHints) -> Result<Lyrics, Unreadable> {
    let mut lines: Vec<Line> = Vec::new();
    let mut is_open = false;
    for line in text::lines(text) {
        let line = text::clean(line);
        if let Some((start, end)) = times(&line) {
            let line = Line {
                start,
                end: Some(end),
                ..Line::default()
            };
            lines.push(line);
            is_open = true;
        } else if line.is_empty() {
            is_open = false;
        } else if is_open && let Some(open) = lines.last_mut() {
            if !open.text.is_empty() {
                open.text.push(' ');
            }
            open.text.push_str(text::trim(&unmarked(&line)));
        }
    }
    match lines.is_empty() {
        true => Err(Unreadable::Broken("SRT")),
        false => Ok(Lyrics::timed(lines)),
    }
}

/// `00:00:01,500 --> 00:00:04,000`, whatever follows.
fn times(line: &str) -> Option<(u64, u64)> {
    let (start, end) = line.split_once("-->")?;
    let end = end.split_whitespace().next()?;
    Some((time(start.trim())?, time(end)?))
}

fn time(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once([',', '.'])?;
    let mut seconds = 0u64;
    for (at, group) in whole.split(':').enumerate() {
        let is_group = at < 3 && group.len() <= 4 && group.bytes().all(|b| b.is_ascii_digit());
        seconds = seconds * 60 + group.parse::<u64>().ok().filter(|_| is_group)?;
    }
    let is_fraction = fraction.len() == 3 && fraction.bytes().all(|b| b.is_ascii_digit());
    Some(seconds * 1000 + fraction.parse::<u64>().ok().filter(|_| is_fraction)?)
}

/// Without `<...>` that begins with a letter or a slash, and without `{\...}`. A lone `<3` stays.
fn unmarked(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{']) {
        let mark = &rest[at..];
        let is_mark = match mark.as_bytes() {
            [b'<', next, ..] => next.is_ascii_alphabetic() || *next == b'/',
            [b'{', b'\\', ..] => true,
            _ => false,
        };
        let end = mark.find(if mark.starts_with('<') { '>' } else { '}' });
        kept.push_str(&rest[..at]);
        match end.filter(|_| is_mark) {
            Some(end) => rest = &mark[end + 1..],
            None => {
                kept.push_str(&mark[..1]);
                rest = &mark[1..];
            }
        }
    }
    kept + rest
}
