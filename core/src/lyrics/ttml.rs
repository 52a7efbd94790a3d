//! TTML, as Apple and the tools around it write it: `<p begin end>` for lines, `<span begin end>` for words.
//!
//! Read only. Entities are never expanded: what is not one of XML's own five or a number reads as nothing.

use super::lrc::ParseHints;
use super::model::{Body, Line, Lyrics};
use super::read::Unreadable;
use super::text::LINE_LIMIT;
use super::timed::Pieces;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

/// How deep elements may nest; lyrics go to about seven.
const DEPTH_LIMIT: usize = 64;

/// Reads TTML. Without a single time the lines are plain.
pub(super) fn parse(text: &str, _: ParseHints) -> Result<Lyrics, Unreadable> {
    let lines = Sheet::read(text).ok_or(Unreadable::Broken("TTML"))?;
    let (lang, lines) = (lines.lang, lines.lines);
    if lines.is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut lyrics = match lines.iter().any(|line| line.time.is_some()) {
        true => Lyrics::timed(placed(lines)),
        false => {
            let texts = lines.iter().map(|line| line.text());
            let texts: Vec<String> = texts.collect();
            let plain = super::plain::lines(texts.iter().map(String::as_str));
            Lyrics::of(Body::Plain(plain))
        }
    };
    lyrics.lang = lang;
    Ok(lyrics)
}

/// Raw times of an element, and where its parent begins.
#[derive(Copy, Clone, Debug, Default)]
struct Time {
    begin: Option<u64>,
    end: Option<u64>,
    /// The nearest ancestor's own begin, and the sum of all of them.
    parent: Option<u64>,
    ancestors: u64,
}

impl Time {
    fn absolute(&self, is_relative: bool) -> Option<(u64, Option<u64>)> {
        let base = if is_relative { self.ancestors } else { 0 };
        let begin = self.begin?.saturating_add(base);
        Some((begin, self.end.map(|end| end.saturating_add(base))))
    }

    /// A child that begins before its parent can only count from there.
    fn is_relative(&self) -> bool {
        self.begin
            .zip(self.parent)
            .is_some_and(|(child, parent)| child < parent)
    }
}

/// A line before it is known how its times count.
#[derive(Debug, Default)]
struct RawLine {
    time: Option<Time>,
    agent: Option<String>,
    pieces: Vec<(Option<Time>, String)>,
}

impl RawLine {
    fn text(&self) -> String {
        let mut pieces = Pieces::default();
        for (_, text) in &self.pieces {
            pieces.push(text);
        }
        pieces.finish().text
    }

    fn place(&self, is_relative: bool) -> Option<Line> {
        let mut pieces = Pieces::default();
        for (time, text) in &self.pieces {
            match time.and_then(|time| time.absolute(is_relative)) {
                Some((start, end)) => pieces.word(start, end, text),
                None => pieces.push(text),
            }
        }
        let own = self.time.and_then(|time| time.absolute(is_relative));
        let first = pieces.line.words.first().map(|word| word.start);
        let last = pieces.line.words.last().and_then(|word| word.end);
        Some(Line {
            start: own.map(|(begin, _)| begin).or(first)?,
            end: own.and_then(|(_, end)| end).or(last),
            agent: self.agent.clone(),
            ..pieces.finish()
        })
    }
}

/// All lines with their times. Whether nested times count from their parents is one decision for the file: Apple's do not, the
/// standard's do.
fn placed(lines: Vec<RawLine>) -> Vec<Line> {
    let times = lines.iter().flat_map(|line| {
        let pieces = line.pieces.iter().filter_map(|(time, _)| *time);
        line.time.into_iter().chain(pieces)
    });
    let is_relative = times.into_iter().any(|time| time.is_relative());
    let placed = lines.iter().filter_map(|line| line.place(is_relative));
    placed.filter(|line| !line.text.is_empty()).collect()
}

/// What an element is to us.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Role {
    /// Holds lines or words.
    Container,
    /// A line.
    Line,
    /// A piece of a line, perhaps timed.
    Piece,
    /// Voices behind, a line of its own.
    Background,
    /// Translations, metadata: left out with all that is inside.
    Skipped,
}

struct Open {
    role: Role,
    time: Time,
}

#[derive(Default)]
struct Sheet {
    lang: Option<String>,
    lines: Vec<RawLine>,
    open: Vec<Open>,
    line: Option<RawLine>,
    background: Option<RawLine>,
    rates: Rates,
    has_root: bool,
}

impl Sheet {
    fn read(text: &str) -> Option<Sheet> {
        let mut sheet = Sheet::default();
        let mut reader = quick_xml::Reader::from_str(text);
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) => sheet.opened(&tag)?,
                Event::Empty(tag) => {
                    sheet.opened(&tag)?;
                    sheet.closed();
                }
                Event::End(_) => sheet.closed(),
                Event::Text(text) => sheet.text(&text.xml10_content()),
                Event::CData(text) => sheet.text(&text.xml10_content()),
                Event::GeneralRef(entity) => sheet.text(&resolve(&entity)),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => break,
            }
        }
        (sheet.has_root && sheet.open.is_empty()).then_some(sheet)
    }

    fn opened(&mut self, tag: &BytesStart<'_>) -> Option<()> {
        let name = tag.local_name();
        let name = name.as_ref();
        if self.open.is_empty() {
            self.has_root = name == "tt";
            self.has_root.then_some(())?;
        }
        if self.open.len() >= DEPTH_LIMIT || self.lines.len() >= LINE_LIMIT {
            return None;
        }
        let attributes = Attributes::of(tag);
        if name == "tt" {
            self.lang = attributes.lang.clone().filter(|lang| !lang.is_empty());
            self.rates = attributes.rates;
        }
        let role = self.role(name, &attributes);
        let time = self.time(&attributes);
        match role {
            Role::Line => {
                self.line = Some(RawLine {
                    time: Some(time).filter(|time| time.begin.is_some()),
                    agent: attributes.agent,
                    pieces: Vec::new(),
                });
            }
            Role::Background => {
                self.background = Some(RawLine {
                    time: Some(time).filter(|time| time.begin.is_some()),
                    agent: Some("bg".to_owned()),
                    pieces: Vec::new(),
                });
            }
            Role::Piece if name == "br" => self.text(" "),
            Role::Container | Role::Piece | Role::Skipped => {}
        }
        self.open.push(Open { role, time });
        Some(())
    }

    fn role(&self, name: &str, attributes: &Attributes) -> Role {
        let parent = self.open.last().map_or(Role::Container, |open| open.role);
        match (parent, name) {
            (Role::Skipped, _) | (_, "head" | "metadata") => Role::Skipped,
            (Role::Container, "p") => Role::Line,
            (Role::Container, _) => Role::Container,
            (Role::Line | Role::Piece | Role::Background, _) => match attributes.role.as_deref() {
                Some("x-bg") if self.background.is_none() => Role::Background,
                Some("x-translation" | "x-roman" | "x-transliteration") => Role::Skipped,
                Some(_) | None => Role::Piece,
            },
        }
    }

    fn time(&self, attributes: &Attributes) -> Time {
        let read = |value: &Option<String>| value.as_deref().and_then(|v| self.rates.ms(v));
        let begin = read(&attributes.begin);
        let dur = read(&attributes.dur);
        let end = read(&attributes.end).or_else(|| Some(begin?.saturating_add(dur?)));
        let begins = || self.open.iter().filter_map(|open| open.time.begin);
        Time {
            begin,
            end,
            parent: begins().next_back(),
            ancestors: begins().fold(0, u64::saturating_add),
        }
    }

    fn closed(&mut self) {
        match self.open.pop().map(|open| open.role) {
            Some(Role::Line) => self.lines.extend(self.line.take()),
            Some(Role::Background) => self.lines.extend(self.background.take()),
            Some(Role::Container | Role::Piece | Role::Skipped) | None => {}
        }
    }

    fn text(&mut self, text: &str) {
        let Some(open) = self.open.last() else {
            return;
        };
        let time = match open.role {
            Role::Container | Role::Skipped => return,
            Role::Piece => Some(open.time).filter(|time| time.begin.is_some()),
            Role::Line | Role::Background => None,
        };
        let Some(line) = self.background.as_mut().or(self.line.as_mut()) else {
            return;
        };
        // An entity within a word is a piece of the same word.
        match line.pieces.last_mut() {
            Some((last, piece)) if same(*last, time) => piece.push_str(text),
            Some(_) | None => line.pieces.push((time, text.to_owned())),
        }
    }
}

fn same(a: Option<Time>, b: Option<Time>) -> bool {
    a.map(|time| (time.begin, time.end)) == b.map(|time| (time.begin, time.end))
}

/// The attributes that say something to us, whatever their prefix.
#[derive(Default)]
struct Attributes {
    begin: Option<String>,
    end: Option<String>,
    dur: Option<String>,
    agent: Option<String>,
    role: Option<String>,
    lang: Option<String>,
    rates: Rates,
}

impl Attributes {
    fn of(tag: &BytesStart<'_>) -> Self {
        let mut found = Attributes::default();
        for attribute in tag.attributes().flatten() {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let Ok(value) = value.map(|value| value.trim().to_owned()) else {
                continue;
            };
            match attribute.key.local_name().as_ref() {
                "begin" => found.begin = Some(value),
                "end" => found.end = Some(value),
                "dur" => found.dur = Some(value),
                "agent" => found.agent = Some(value).filter(|agent| !agent.is_empty()),
                "role" => found.role = Some(value),
                "lang" => found.lang = Some(value),
                "frameRate" => found.rates.frames = value.parse().unwrap_or(30),
                "tickRate" => found.rates.ticks = value.parse().unwrap_or(1),
                _ => {}
            }
        }
        found
    }
}

/// How many frames and ticks make a second.
#[derive(Copy, Clone, Debug)]
struct Rates {
    frames: u32,
    ticks: u32,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            frames: 30,
            ticks: 1,
        }
    }
}

impl Rates {
    /// A time expression in milliseconds: `1:02:03.4`, `2:03.4`, `3.4`, `3.4s`, `1:02:03:12` (frames), `250ms`, `90f`, `5t`.
    fn ms(self, text: &str) -> Option<u64> {
        let frame = 1000.0 / f64::from(self.frames.max(1));
        if text.contains(':') {
            let groups: Vec<f64> = text.split(':').map(number).collect::<Option<_>>()?;
            return match groups[..] {
                [m, s] => rounded((m * 60.0 + s) * 1000.0),
                [h, m, s] => rounded((h * 3600.0 + m * 60.0 + s) * 1000.0),
                [h, m, s, f] => rounded((h * 3600.0 + m * 60.0 + s) * 1000.0 + f * frame),
                _ => None,
            };
        }
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "" | "s" => 1000.0,
            "ms" => 1.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            "f" => frame,
            "t" => 1000.0 / f64::from(self.ticks.max(1)),
            _ => return None,
        };
        rounded(number(digits)? * unit)
    }
}

fn number(text: &str) -> Option<f64> {
    let is_number = !text.is_empty()
        && text.len() <= 20
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|_| is_number)
}

fn rounded(ms: f64) -> Option<u64> {
    // A day is longer than anything that is sung.
    (ms <= 86_400_000.0).then_some(ms.round() as u64)
}

/// The text of an entity; nothing for one that we do not know.
fn resolve(entity: &BytesRef<'_>) -> String {
    match entity.resolve_char_ref() {
        Ok(Some(character)) => character.to_string(),
        Ok(None) => {
            let name = entity.xml10_content();
            let text = quick_xml::escape::resolve_predefined_entity(&name);
            text.unwrap_or_default().to_owned()
        }
        Err(_) => String::new(),
    }
}
