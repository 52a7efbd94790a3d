//! From the bytes of a reply to one tree of values, whether they are JSON or XML.
//!
//! XML becomes what the same reply would be in JSON: attributes are strings, child elements are lists under
//! their name, text beside attributes is `value` (OpenSubsonic, "Subsonic response"; reading is lenient about
//! types anyway).

use crate::io::NetError;
use crate::source::Refusal;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The longest reply that is read.
pub const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// The most values a reply may hold: a tree takes many times the memory of its text, and the text is a
/// stranger's. Enough for a list of half a million artists.
const VALUE_LIMIT: usize = 4_000_000;

/// How deep elements may nest; replies go to about six. JSON has the same kind of limit in its reader.
const DEPTH_LIMIT: usize = 64;

/// Reads a reply. A document that is neither JSON nor XML, or is broken, is an
/// [`Refusal::ErrorDocument`] without a code.
pub(super) fn read(body: &[u8]) -> Result<Value, Refusal> {
    if body.len() > BODY_LIMIT {
        return Err(Refusal::Net(NetError::Oversized));
    }
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    let is_json = match text.as_bytes().first() {
        None => return Err(Refusal::Empty),
        Some(b'{') => true,
        Some(b'<') => false,
        Some(_) => return Err(Refusal::ErrorDocument(None)),
    };
    let begins_a_value = |byte: &u8| match is_json {
        true => matches!(byte, b',' | b':' | b'[' | b'{'),
        false => matches!(byte, b'<' | b'='),
    };
    if text
        .as_bytes()
        .iter()
        .filter(|byte| begins_a_value(byte))
        .count()
        > VALUE_LIMIT
    {
        return Err(Refusal::Net(NetError::Oversized));
    }
    let value = if is_json {
        read_json(text)
    } else {
        read_xml(text)
    };
    value.ok_or(Refusal::ErrorDocument(None))
}

fn read_json(text: &str) -> Option<Value> {
    let strict = serde_json::from_str(text);
    strict
        .or_else(|_| serde_json::from_str(&repaired(text)))
        .ok()
}

/// JSON as some servers write it when a tag holds what JSON does not allow: raw control characters become blanks,
/// halves of surrogate pairs become the replacement character.
fn repaired(text: &str) -> String {
    let mut fixed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '\\' || c < ' ') {
        fixed.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (rest.starts_with('\\'), surrogate(rest)) {
            (true, Some(High)) if surrogate(&rest[6..]) == Some(Low) => {
                fixed.push_str(&rest[..12]);
                12
            }
            (true, Some(High | Low)) => {
                fixed.push_str("\\ufffd");
                6
            }
            // Any other escape, whole, so that an escaped backslash escapes nothing after it.
            (true, None) => {
                let escape: String = rest.chars().take(2).collect();
                fixed.push_str(&escape);
                escape.len()
            }
            (false, _) => {
                fixed.push(' ');
                1
            }
        };
        rest = &rest[taken..];
    }
    fixed.push_str(rest);
    fixed
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Surrogate {
    High,
    Low,
}
use Surrogate::{High, Low};

/// Which half of a pair the text begins with, as in `\ud83d`.
fn surrogate(text: &str) -> Option<Surrogate> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(High),
        0xDC00..=0xDFFF => Some(Low),
        _ => None,
    }
}

/// An element that is being read.
struct Element {
    name: String,
    fields: Map<String, Value>,
    text: String,
}

impl Element {
    fn open(tag: &BytesStart<'_>) -> Self {
        let mut fields = Map::new();
        for attribute in tag.attributes().with_checks(false).flatten() {
            let name = attribute.key.local_name().into_inner().to_owned();
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            // What cannot be unescaped is kept as it stands: one odd title is no reason to lose the album.
            let value = value.unwrap_or(Cow::Borrowed(&attribute.value));
            fields.insert(name, Value::String(value.into_owned()));
        }
        Element {
            name: tag.local_name().into_inner().to_owned(),
            fields,
            text: String::new(),
        }
    }

    fn close(mut self) -> (String, Value) {
        let text = self.text.trim();
        if self.fields.is_empty() && !text.is_empty() {
            return (self.name, Value::String(text.to_owned()));
        }
        if !text.is_empty() {
            self.fields
                .insert("value".to_owned(), Value::String(text.to_owned()));
        }
        (self.name, Value::Object(self.fields))
    }

    fn adopt(&mut self, (name, value): (String, Value)) {
        match self
            .fields
            .entry(name)
            .or_insert_with(|| Value::Array(Vec::new()))
        {
            Value::Array(list) => list.push(value),
            // An attribute of the same name as a child: the children are richer.
            attribute => *attribute = Value::Array(vec![value]),
        }
    }
}

/// One XML document as what it would be in JSON; `None` for a broken one.
pub(crate) fn read_xml(text: &str) -> Option<Value> {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().check_end_names = false;
    let mut open: Vec<Element> = Vec::new();
    loop {
        let closed = match reader.read_event().ok()? {
            Event::Start(tag) => {
                open.push(Element::open(&tag));
                if open.len() > DEPTH_LIMIT {
                    return None;
                }
                continue;
            }
            Event::Empty(tag) => Element::open(&tag).close(),
            Event::End(_) => open.pop()?.close(),
            Event::Text(text) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text.xml10_content());
                }
                continue;
            }
            Event::CData(text) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&text.xml10_content());
                }
                continue;
            }
            Event::GeneralRef(entity) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&resolve(&entity));
                }
                continue;
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            Event::Eof => return None,
        };
        match open.last_mut() {
            Some(parent) => parent.adopt(closed),
            // The root, wrapped in its name as in JSON.
            None => return Some(Value::Object(Map::from_iter([closed]))),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn xml_becomes_what_json_would_be() {
        let xml = "\u{feff}<?xml version=\"1.0\"?>\n<!-- x --><r:reply xmlns:r=\"u\" ok='a&amp;b&#228;'>\
            <genre songCount=\"2\">R&amp;B</genre><genre>Rock</genre><isrc>X</isrc><empty/></r:reply>";
        let expected = json!({"reply": {
            "r": "u",
            "ok": "a&bä",
            "genre": [{"songCount": "2", "value": "R&B"}, "Rock"],
            "isrc": ["X"],
            "empty": [{}],
        }});
        assert_eq!(read(xml.as_bytes()), Ok(expected));
    }

    #[test]
    fn json_with_what_json_forbids_is_repaired() {
        let text = "{\"a\":\"x\u{1}y\\ud83dz\\udc00\",\"b\":\"\\ud83d\\ude00 \\\\ud800\"}";
        let expected = json!({"a": "x y\u{fffd}z\u{fffd}", "b": "😀 \\ud800"});
        assert_eq!(read(text.as_bytes()), Ok(expected));
    }

    #[test]
    fn what_is_no_document_is_refused() {
        assert_eq!(read(b""), Err(Refusal::Empty));
        assert_eq!(read(b" \n"), Err(Refusal::Empty));
        for text in ["OK", "{", "<a>", "<a", "</a>", "{\"a\":nope}"] {
            assert_eq!(
                read(text.as_bytes()),
                Err(Refusal::ErrorDocument(None)),
                "{text}"
            );
        }
    }

    #[test]
    fn hostile_size_and_depth_are_refused() {
        let flat = format!("{{\"a\":[{}0]}}", "0,".repeat(VALUE_LIMIT));
        assert_eq!(
            read(flat.as_bytes()),
            Err(Refusal::Net(NetError::Oversized))
        );
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!(
                "{{\"a\":{}1{}}}",
                open.repeat(100_000),
                close.repeat(100_000)
            );
            assert_eq!(read(deep.as_bytes()), Err(Refusal::ErrorDocument(None)));
        }
        let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
        assert_eq!(read(deep.as_bytes()), Err(Refusal::ErrorDocument(None)));
    }
}
