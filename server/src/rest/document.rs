//! The body of a reply as one tree of values, and the two ways to write it: XML and JSON.
//!
//! An endpoint builds a [`Doc`] once; what XML makes of it follows from the kinds of its values alone
//! (OpenSubsonic, "Response format"): scalars are attributes, objects and lists are child elements that
//! repeat the field's name, lists of scalars are text children, and [`Value::Content`] is the text of the
//! element itself. Characters that XML 1.0 cannot carry are left out of both, so the two always agree.

use std::fmt::Write;

/// The namespace of the XML root.
const NAMESPACE: &str = "http://subsonic.org/restapi";

/// An object: named values in the order they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doc(Vec<(&'static str, Value)>);

/// What a field of a [`Doc`] can hold. There is no null: a field that is not known is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A string that is the text of its element in XML (`genre.value`, `lyrics.value`).
    Content(String),
    /// A string that has an element of its own in XML, as the older parts of the API want it (`artistInfo`).
    Element(String),
    /// A whole number.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// An object.
    Doc(Doc),
    /// A list; an array in JSON however many elements it has.
    List(Vec<Value>),
    /// A list whose elements have a name of their own in XML, as the later parts of the API want it (`agents`).
    Each(&'static str, Vec<Value>),
}

impl Doc {
    /// An object without fields.
    pub const fn new() -> Self {
        Doc(Vec::new())
    }

    /// Adds a field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.0.push((name, value.into()));
        self
    }

    /// Adds a field when its value is known.
    #[must_use]
    pub fn with_known(self, name: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a string that is the element's own text in XML.
    #[must_use]
    pub fn with_content(mut self, name: &'static str, text: impl Into<String>) -> Self {
        self.0.push((name, Value::Content(text.into())));
        self
    }

    /// Adds a list.
    #[must_use]
    pub fn with_list<T: Into<Value>>(
        mut self,
        name: &'static str,
        items: impl IntoIterator<Item = T>,
    ) -> Self {
        let items = items.into_iter().map(Into::into).collect();
        self.0.push((name, Value::List(items)));
        self
    }

    /// Adds a list whose elements are called `each` in XML.
    #[must_use]
    pub fn with_each<T: Into<Value>>(
        mut self,
        name: &'static str,
        each: &'static str,
        items: impl IntoIterator<Item = T>,
    ) -> Self {
        let items = items.into_iter().map(Into::into).collect();
        self.0.push((name, Value::Each(each, items)));
        self
    }

    /// Adds all fields of another object after this one's.
    #[must_use]
    pub fn with_all(mut self, other: Doc) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, v)| v)
    }

    /// The document as XML, with this object as the element `root` in the Subsonic namespace.
    pub fn to_xml(&self, root: &'static str) -> String {
        let mut out = String::with_capacity(512);
        out.push_str(r#"<?xml version="1.0" encoding="UTF-8"?>"#);
        out.push('\n');
        write_element(&mut out, root, &[("xmlns", NAMESPACE)], self);
        out
    }

    /// The document as JSON, with this object as the only field, `root`.
    pub fn to_json(&self, root: &'static str) -> String {
        let mut out = String::with_capacity(512);
        out.push('{');
        write_json_string(&mut out, root);
        out.push(':');
        write_json_object(&mut out, self);
        out.push('}');
        out
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Value::Text(text.clone())
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Value::Bool(is)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Self {
        Value::Int(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Int(number.into())
    }
}

impl From<u64> for Value {
    /// Saturates: no JSON reader holds more than 2^53 anyway.
    fn from(number: u64) -> Self {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<Doc> for Value {
    fn from(doc: Doc) -> Self {
        Value::Doc(doc)
    }
}

/// Whether XML 1.0 can carry `c`, if need be as a reference (XML 1.0, production 2).
pub(super) const fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

fn write_element(out: &mut String, name: &str, first: &[(&str, &str)], doc: &Doc) {
    out.push('<');
    out.push_str(name);
    for (attribute, text) in first {
        write_attribute(out, attribute, text);
    }
    let mut is_empty = true;
    for (field, value) in &doc.0 {
        match value {
            Value::Text(text) => write_attribute(out, field, text),
            Value::Int(number) => {
                let _ = write!(out, r#" {field}="{number}""#);
            }
            Value::Bool(is) => {
                let _ = write!(out, r#" {field}="{is}""#);
            }
            Value::List(items) | Value::Each(_, items) => is_empty &= items.is_empty(),
            Value::Content(_) | Value::Element(_) | Value::Doc(_) => is_empty = false,
        }
    }
    if is_empty {
        out.push_str("/>");
        return;
    }
    out.push('>');
    for (field, value) in &doc.0 {
        match value {
            Value::Text(_) | Value::Int(_) | Value::Bool(_) => {}
            Value::Content(text) => write_xml_text(out, text),
            Value::Element(_) | Value::Doc(_) | Value::List(_) | Value::Each(..) => {
                write_child(out, field, value);
            }
        }
    }
    let _ = write!(out, "</{name}>");
}

/// A value as one element, or a list as one for each item.
fn write_child(out: &mut String, name: &str, item: &Value) {
    match item {
        Value::Doc(doc) => write_element(out, name, &[], doc),
        Value::Text(text) | Value::Content(text) | Value::Element(text) => {
            let _ = write!(out, "<{name}>");
            write_xml_text(out, text);
            let _ = write!(out, "</{name}>");
        }
        Value::Int(number) => {
            let _ = write!(out, "<{name}>{number}</{name}>");
        }
        Value::Bool(is) => {
            let _ = write!(out, "<{name}>{is}</{name}>");
        }
        Value::List(items) => {
            for item in items {
                write_child(out, name, item);
            }
        }
        Value::Each(each, items) => {
            for item in items {
                write_child(out, each, item);
            }
        }
    }
}

fn write_attribute(out: &mut String, name: &str, text: &str) {
    let _ = write!(out, r#" {name}=""#);
    for c in text.chars().filter(|c| is_xml_char(*c)) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // As they are, a reader would turn them into spaces (XML 1.0, 3.3.3).
            '\t' => out.push_str("&#9;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn write_xml_text(out: &mut String, text: &str) {
    for c in text.chars().filter(|c| is_xml_char(*c)) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // As it is, a reader would turn it into a line feed (XML 1.0, 2.11).
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
}

fn write_json_object(out: &mut String, doc: &Doc) {
    out.push('{');
    for (i, (field, value)) in doc.0.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_json_string(out, field);
        out.push(':');
        write_json_value(out, value);
    }
    out.push('}');
}

fn write_json_value(out: &mut String, value: &Value) {
    match value {
        Value::Text(text) | Value::Content(text) | Value::Element(text) => {
            write_json_string(out, text);
        }
        Value::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Value::Bool(is) => {
            let _ = write!(out, "{is}");
        }
        Value::Doc(doc) => write_json_object(out, doc),
        Value::List(items) | Value::Each(_, items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json_value(out, item);
            }
            out.push(']');
        }
    }
}

fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars().filter(|c| is_xml_char(*c)) {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            // Line ends in JavaScript before 2019: they would break JSONP.
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_doc() -> Doc {
        Doc::new()
            .with("status", "ok")
            .with("openSubsonic", true)
            .with(
                "genres",
                Doc::new().with_list(
                    "genre",
                    [Doc::new()
                        .with("songCount", 2u32)
                        .with_content("value", "R&B")],
                ),
            )
            .with(
                "user",
                Doc::new()
                    .with("username", "a")
                    .with_list("folder", [1u32, 2]),
            )
    }

    #[test]
    fn scalars_are_attributes_and_lists_are_repeated_children() {
        assert_eq!(
            a_doc().to_xml("r"),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <r xmlns=\"http://subsonic.org/restapi\" status=\"ok\" openSubsonic=\"true\">\
             <genres><genre songCount=\"2\">R&amp;B</genre></genres>\
             <user username=\"a\"><folder>1</folder><folder>2</folder></user></r>"
        );
    }

    #[test]
    fn json_keeps_types_and_arrays() {
        assert_eq!(
            a_doc().to_json("r"),
            r#"{"r":{"status":"ok","openSubsonic":true,"genres":{"genre":[{"songCount":2,"value":"R&B"}]},"user":{"username":"a","folder":[1,2]}}}"#
        );
    }

    #[test]
    fn extensions_have_their_own_shape_without_a_rule_of_their_own() {
        let doc = Doc::new().with_list(
            "openSubsonicExtensions",
            [Doc::new()
                .with("name", "formPost")
                .with_list("versions", [1u32])],
        );
        assert!(doc.to_xml("r").ends_with(
            "<openSubsonicExtensions name=\"formPost\"><versions>1</versions></openSubsonicExtensions></r>"
        ));
        assert_eq!(
            doc.to_json("r"),
            r#"{"r":{"openSubsonicExtensions":[{"name":"formPost","versions":[1]}]}}"#
        );
    }

    #[test]
    fn a_list_may_call_its_elements_otherwise_in_xml() {
        let agents = [Doc::new().with("id", "a"), Doc::new().with("id", "b")];
        let doc = Doc::new().with_each("agents", "agent", agents);
        assert!(
            doc.to_xml("r")
                .ends_with("><agent id=\"a\"/><agent id=\"b\"/></r>")
        );
        assert_eq!(
            doc.to_json("r"),
            r#"{"r":{"agents":[{"id":"a"},{"id":"b"}]}}"#
        );
        let none = Doc::new().with_each("agents", "agent", Vec::<Doc>::new());
        assert!(none.to_xml("r").ends_with("restapi\"/>"));
    }

    #[test]
    fn empty_lists_and_objects_stay_in_json_and_close_in_xml() {
        let doc = Doc::new()
            .with_list("song", Vec::<Doc>::new())
            .with("replayGain", Doc::new());
        assert_eq!(doc.to_json("r"), r#"{"r":{"song":[],"replayGain":{}}}"#);
        assert!(doc.to_xml("r").ends_with("><replayGain/></r>"));
        let only_empty = Doc::new().with_list("song", Vec::<Doc>::new());
        assert!(only_empty.to_xml("r").ends_with("restapi\"/>"));
    }

    #[test]
    fn what_xml_cannot_carry_is_in_neither() {
        let text = "A\u{8}B\u{0}\u{1F}\u{FFFE}\u{FFFF}\u{FFFD}\u{1F600}";
        let doc = Doc::new().with("title", text).with_content("value", text);
        assert_eq!(
            doc.to_json("r"),
            "{\"r\":{\"title\":\"AB\u{FFFD}\u{1F600}\",\"value\":\"AB\u{FFFD}\u{1F600}\"}}"
        );
        assert!(
            doc.to_xml("r")
                .ends_with(" title=\"AB\u{FFFD}\u{1F600}\">AB\u{FFFD}\u{1F600}</r>")
        );
    }
}
