//! Lyricsfile, LRCLIB's YAML: metadata, lines with words, and the same words as plain text.
//!
//! Read event by event: aliases are refused, so no document is larger than its text.

use super::lrc::ParseHints;
use super::model::{Body, Line, Lyrics, Word};
use super::plain;
use super::read::Unreadable;
use super::text::LINE_LIMIT;
use super::timed::Pieces;
use saphyr_parser::{Event, Parser};

/// How deep the values may nest; the format goes to five.
const DEPTH_LIMIT: usize = 12;

/// How many values there may be: a word takes eight with its keys.
const VALUE_LIMIT: usize = 400_000;

/// Reads a Lyricsfile: its timed lines, else its plain ones, or that there is nothing to sing.
pub(super) fn parse(text: &str, _: ParseHints) -> Result<Lyrics, Unreadable> {
    let root = tree(text).ok_or(Unreadable::Broken("Lyricsfile"))?;
    let (Some(_), true) = (root.get("version"), root.is_map()) else {
        return Err(Unreadable::Broken("Lyricsfile"));
    };
    let metadata = root.get("metadata");
    let about = |key: &str| metadata.and_then(|metadata| metadata.get(key)?.text());
    let lang = about("language").filter(|lang| !lang.is_empty() && *lang != "null" && *lang != "~");
    let offset_ms = about("offset_ms").and_then(|offset| offset.trim().parse().ok());
    let body = body(&root, about("instrumental") == Some("true"))?;
    Ok(Lyrics {
        lang: lang.map(str::to_owned),
        offset_ms: match body {
            Body::Synced(_) => offset_ms.unwrap_or(0),
            Body::Plain(_) | Body::Instrumental => 0,
        },
        body,
    })
}

fn body(root: &Value, is_instrumental: bool) -> Result<Body, Unreadable> {
    let lines = root.get("lines").map_or(&[][..], Value::items);
    if lines.len() > LINE_LIMIT {
        return Err(Unreadable::Text(super::text::Undecodable::TooManyLines));
    }
    let timed: Vec<Line> = lines.iter().filter_map(line).collect();
    if !timed.is_empty() && timed.len() * 2 > lines.len() {
        return Ok(Lyrics::timed(timed).body);
    }
    let plain = root.get("plain").and_then(Value::text).unwrap_or_default();
    let mut body = plain::parse(plain).body;
    if body == Body::Plain(Vec::new()) {
        let texts = lines.iter().filter_map(|line| line.get("text")?.text());
        body = Body::Plain(plain::lines(texts));
    }
    match body {
        Body::Plain(lines) if lines.is_empty() && is_instrumental => Ok(Body::Instrumental),
        Body::Plain(lines) if lines.is_empty() => Err(Unreadable::Empty),
        body => Ok(body),
    }
}

fn line(value: &Value) -> Option<Line> {
    let start = value.ms("start_ms")?;
    let text = value.get("text").and_then(Value::text).unwrap_or_default();
    let mut pieces = Pieces::default();
    for word in value.get("words").map_or(&[][..], Value::items) {
        let text = word.get("text").and_then(Value::text).unwrap_or_default();
        match word.ms("start_ms") {
            Some(start) => pieces.word(start, word.ms("end_ms"), text),
            None => pieces.push(text),
        }
    }
    let mut line = pieces.finish();
    if line.text != text && !text.trim().is_empty() {
        line.words = within(text, &line);
        line.text = text.to_owned();
    }
    line.start = start;
    line.end = value.ms("end_ms");
    Some(line)
}

/// The words of `of` where they stand in `text`; none if one is missing.
fn within(text: &str, of: &Line) -> Vec<Word> {
    let mut at = 0;
    let mut found = Vec::with_capacity(of.words.len());
    for word in &of.words {
        let wanted = &of.text[word.bytes.clone()];
        let Some(from) = text[at..].find(wanted).map(|from| at + from) else {
            return Vec::new();
        };
        at = from + wanted.len();
        let bytes = from..at;
        found.push(Word {
            bytes,
            ..word.clone()
        });
    }
    found
}

/// What YAML holds, as far as we care: everything that is no list or map is text.
#[derive(Debug, PartialEq)]
enum Value {
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    fn is_map(&self) -> bool {
        matches!(self, Value::Map(_))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Map(entries) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            Value::Text(_) | Value::List(_) => None,
        }
    }

    fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            Value::Text(_) | Value::Map(_) => &[],
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            Value::List(_) | Value::Map(_) => None,
        }
    }

    /// A whole number of milliseconds, less than a day.
    fn ms(&self, key: &str) -> Option<u64> {
        let text = self.get(key)?.text()?.trim();
        let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
        whole.parse().ok().filter(|ms| *ms < 86_400_000)
    }
}

/// The first document of a text.
fn tree(text: &str) -> Option<Value> {
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut count = 0;
    loop {
        let (event, _) = parser.next_event()?.ok()?;
        count += 1;
        if count > VALUE_LIMIT || open.len() > DEPTH_LIMIT {
            return None;
        }
        let complete = match event {
            Event::Scalar(text, ..) => Value::Text(text.into_owned()),
            Event::SequenceStart(..) => {
                open.push((Value::List(Vec::new()), None));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((Value::Map(Vec::new()), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => open.pop()?.0,
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => continue,
            // Nothing stands for another value: that is how a small text becomes a large document.
            Event::Alias(_) | Event::StreamEnd | Event::DocumentEnd => return None,
        };
        match open.last_mut() {
            None => return Some(complete),
            Some((Value::List(items), _)) => items.push(complete),
            Some((Value::Map(entries), key)) => match (key.take(), complete) {
                (Some(key), value) => entries.push((key, value)),
                (None, Value::Text(text)) => *key = Some(text),
                (None, Value::List(_) | Value::Map(_)) => return None,
            },
            Some((Value::Text(_), _)) => return None,
        }
    }
}
