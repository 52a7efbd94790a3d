//! Musixmatch's two kinds of timed lines: subtitles, and richsync with a time for each word.

use crate::lyrics::{Body, Line, Word};
use serde_json::Value;

/// Stamps beyond a day are no stamps.
const LONGEST_SECONDS: f64 = 24.0 * 3600.0;

/// The most lines that are read.
const LINE_LIMIT: usize = 20_000;

/// The lines of `subtitle_body`: a text that holds JSON.
pub(super) fn subtitles(text: &str) -> Option<Vec<Line>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let items = value.as_array().filter(|items| items.len() <= LINE_LIMIT)?;
    let mut lines = Vec::with_capacity(items.len());
    for item in items {
        lines.push(Line {
            start: millis(item.get("time")?.get("total")?)?,
            text: item.get("text")?.as_str()?.trim().to_owned(),
            ..Line::default()
        });
    }
    lines.sort_by_key(|line| line.start);
    Some(lines)
}

/// The lines of `richsync_body`, with words.
pub(super) fn richsync(text: &str) -> Option<Body> {
    let value: Value = serde_json::from_str(text).ok()?;
    let items = value.as_array().filter(|items| items.len() <= LINE_LIMIT)?;
    let mut lines = items.iter().map(rich_line).collect::<Option<Vec<_>>>()?;
    lines.sort_by_key(|line| line.start);
    let sung = lines.iter().any(|line| !line.words.is_empty());
    sung.then_some(Body::Synced(lines))
}

/// `ts` and `te` are the line's begin and end, `l` its pieces with their distance from `ts`, blanks included.
fn rich_line(item: &Value) -> Option<Line> {
    let start = millis(item.get("ts")?)?;
    let end = item.get("te").and_then(millis).filter(|end| *end >= start);
    let pieces = item.get("l")?.as_array()?;
    let mut whole = String::new();
    let mut words: Vec<Word> = Vec::new();
    for piece in pieces {
        let text = piece.get("c")?.as_str()?;
        let at = start.checked_add(millis(piece.get("o")?)?)?;
        if let Some(last) = words.last_mut().filter(|word| word.end.is_none()) {
            last.end = Some(at);
        }
        let from = whole.len() + (text.len() - text.trim_start().len());
        whole.push_str(text);
        let to = from + text.trim().len();
        if to > from {
            words.push(Word {
                start: at,
                end: None,
                bytes: from..to,
            });
        }
    }
    if let Some(last) = words.last_mut().filter(|word| word.end.is_none()) {
        last.end = end.filter(|end| *end >= last.start);
    }
    let shift = whole.len() - whole.trim_start().len();
    for word in &mut words {
        word.bytes = word.bytes.start - shift..word.bytes.end - shift;
    }
    let in_order = words.is_sorted_by(|a, b| a.start <= b.start)
        && words
            .iter()
            .all(|word| word.end.is_none_or(|end| end >= word.start));
    let given = item.get("x").and_then(Value::as_str).map(str::trim);
    let text = match (whole.trim(), given) {
        ("", Some(given)) => given,
        (whole, _) => whole,
    };
    Some(Line {
        start,
        end,
        text: text.to_owned(),
        words: if in_order { words } else { Vec::new() },
        agent: None,
    })
}

/// Seconds, as a number or as a text that holds one.
pub(super) fn millis(seconds: &Value) -> Option<u64> {
    let seconds = match seconds {
        Value::String(text) => text.trim().parse().ok()?,
        other => other.as_f64()?,
    };
    let usable = (0.0..=LONGEST_SECONDS).contains(&seconds);
    usable.then(|| (seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_richsync_line_has_its_words_on_its_own_text() {
        let body = json!([{"ts": 29.26, "te": 31.597, "x": "Más luz arriba", "l": [
            {"c": " ", "o": 0}, {"c": "Más", "o": 0.1}, {"c": " ", "o": 0.5}, {"c": "luz ", "o": 0.6},
            {"c": "arriba", "o": 1.0},
        ]}]);
        let Some(Body::Synced(lines)) = richsync(&body.to_string()) else {
            panic!()
        };
        let line = &lines[0];
        assert_eq!((line.start, line.end), (29_260, Some(31_597)));
        let words: Vec<_> = line
            .words
            .iter()
            .map(|word| (&line.text[word.bytes.clone()], word.start, word.end))
            .collect();
        assert_eq!(
            words,
            [
                ("Más", 29_360, Some(29_760)),
                ("luz", 29_860, Some(30_260)),
                ("arriba", 30_260, Some(31_597)),
            ]
        );
    }

    #[test]
    fn words_out_of_order_leave_the_line_alone() {
        let body = json!([
            {"ts": 1, "te": 3, "l": [{"c": "b", "o": 1.0}, {"c": "a", "o": 0.5}]},
            {"ts": 5, "te": 6, "l": [{"c": "c", "o": 0.5}]},
        ]);
        let Some(Body::Synced(lines)) = richsync(&body.to_string()) else {
            panic!()
        };
        assert_eq!((lines[0].text.as_str(), lines[0].words.len()), ("ba", 0));
        assert_eq!(lines[1].words.len(), 1);
    }

    #[test]
    fn stamps_that_are_none_are_refused() {
        for stamp in [
            json!(-0.5),
            json!(1e9),
            json!("nan"),
            json!(null),
            json!("x"),
        ] {
            assert_eq!(millis(&stamp), None, "{stamp}");
        }
        assert_eq!(millis(&json!("1.25")), Some(1250));
        assert_eq!(subtitles("[{\"text\":\"a\"}]"), None);
        assert_eq!(subtitles("{}"), None);
    }
}
