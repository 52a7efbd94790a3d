//! Reads XML replies back and holds them against the JSON of the same reply.
//!
//! Written from the specification's conversion rules, not from our writer: the two are to meet here.

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use serde_json::Value;
use std::collections::BTreeMap;

/// An element.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Element {
    /// Its name.
    pub(crate) name: String,
    /// Its attributes.
    pub(crate) attributes: BTreeMap<String, String>,
    /// Its own text.
    pub(crate) text: String,
    /// Its children in order.
    pub(crate) children: Vec<Element>,
}

/// Parses a document; panics where it is not well-formed.
pub(crate) fn parse(xml: &str) -> Element {
    let mut reader = Reader::from_str(xml);
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(start) => open.push(element(&start)),
            Event::Empty(start) => {
                let child = element(&start);
                open.last_mut().expect("a parent").children.push(child);
            }
            Event::End(_) => {
                let child = open.pop().expect("an open element");
                open.last_mut().expect("a parent").children.push(child);
            }
            Event::Text(text) => {
                let text = text.xml_content(XmlVersion::Explicit1_0);
                open.last_mut().expect("a parent").text.push_str(&text);
            }
            Event::GeneralRef(reference) => {
                let c = reference.resolve_char_ref().expect("a legal reference");
                let text = &mut open.last_mut().expect("a parent").text;
                match (c, &*reference) {
                    (Some(c), _) => text.push(c),
                    (None, "amp") => text.push('&'),
                    (None, "lt") => text.push('<'),
                    (None, "gt") => text.push('>'),
                    (None, "quot") => text.push('"'),
                    (None, "apos") => text.push('\''),
                    (None, other) => panic!("unknown entity {other}"),
                }
            }
            Event::Decl(_) => {}
            Event::Eof => break,
            other => panic!("unexpected {other:?}"),
        }
    }
    let mut document = open.pop().expect("the document");
    assert!(open.is_empty(), "every element is closed");
    assert_eq!(document.text.trim(), "");
    document.children.pop().expect("a root")
}

fn element(start: &BytesStart<'_>) -> Element {
    let mut attributes = BTreeMap::new();
    for attribute in start.attributes() {
        let attribute = attribute.expect("a well-formed attribute");
        let value = attribute
            .normalized_value(XmlVersion::Explicit1_0)
            .expect("a legal value");
        let name = attribute.key.as_ref().to_owned();
        let before = attributes.insert(name, value.into_owned());
        assert_eq!(before, None, "an attribute is there once");
    }
    Element {
        name: start.name().as_ref().to_owned(),
        attributes,
        ..Element::default()
    }
}

/// Asserts that an XML and a JSON reply say the same.
pub(crate) fn assert_same(xml: &str, json: &str) {
    let root = parse(xml);
    let json: Value = serde_json::from_str(json).expect("JSON");
    let fields = json.as_object().expect("an object");
    assert_eq!(fields.len(), 1, "one root");
    let (name, value) = fields.iter().next().expect("a root");
    assert_eq!(&root.name, name);
    let mut root = root;
    assert_eq!(
        root.attributes.remove("xmlns").as_deref(),
        Some("http://subsonic.org/restapi")
    );
    compare(&root, value, name);
}

/// One element against one JSON object.
fn compare(element: &Element, json: &Value, path: &str) {
    let fields = json
        .as_object()
        .unwrap_or_else(|| panic!("{path}: an element needs an object, not {json}"));
    let mut attributes = 0;
    let mut children = 0;
    let mut text = "";
    for (name, value) in fields {
        let here = format!("{path}.{name}");
        match value {
            Value::Null => panic!("{here}: null"),
            Value::Object(_) => {
                let found: Vec<_> = element
                    .children
                    .iter()
                    .filter(|c| &c.name == name)
                    .collect();
                assert_eq!(found.len(), 1, "{here}: one child");
                compare(found[0], value, &here);
                children += 1;
            }
            Value::Array(items) => {
                let each = element_of(name);
                let found: Vec<_> = element.children.iter().filter(|c| c.name == each).collect();
                assert_eq!(found.len(), items.len(), "{here}: children");
                for (child, item) in found.iter().zip(items) {
                    compare_item(child, item, &here);
                }
                children += items.len();
            }
            Value::String(s) if name == "value" && !path.ends_with("cueLine") => text = s,
            Value::String(_) if has_elements_only(path) => {
                let found: Vec<_> = element
                    .children
                    .iter()
                    .filter(|c| &c.name == name)
                    .collect();
                assert_eq!(found.len(), 1, "{here}: one child");
                compare_item(found[0], value, &here);
                children += 1;
            }
            Value::String(_) | Value::Number(_) | Value::Bool(_) => {
                let attribute = element.attributes.get(name);
                assert_eq!(attribute, Some(&scalar(value)), "{here}");
                attributes += 1;
            }
        }
    }
    assert_eq!(element.text, text, "{path}: text");
    assert_eq!(element.attributes.len(), attributes, "{path}: attributes");
    assert_eq!(element.children.len(), children, "{path}: children");
}

/// What an item of a list is called in XML: as the list, but for this one (`songLyrics`, version 2).
fn element_of(list: &str) -> &str {
    match list {
        "agents" => "agent",
        list => list,
    }
}

/// Types of the API whose strings are elements in the schema.
fn has_elements_only(path: &str) -> bool {
    ["artistInfo", "artistInfo2", "albumInfo"]
        .iter()
        .any(|name| path.ends_with(name))
}

/// One element against one item of a JSON array.
fn compare_item(element: &Element, json: &Value, path: &str) {
    match json {
        Value::Object(_) => compare(element, json, path),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => {
            assert_eq!(element.text, scalar(json), "{path}");
            assert!(element.attributes.is_empty() && element.children.is_empty());
        }
        Value::Null | Value::Array(_) => panic!("{path}: {json} in an array"),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}
