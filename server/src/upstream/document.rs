//! Subsonic documents: one tree, written as JSON or XML by the rules of the API.
//!
//! In XML scalars become attributes, objects and lists become elements, and a field called `value` becomes the text.

use super::shared::{Answers, Quirks};
use bytes::Bytes;
use serde_json::{Map, Value, json};

/// How a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Xml,
    Json,
}

impl Format {
    /// What `f=` asks for, as far as the server can.
    pub(super) fn asked(f: Option<&str>, quirks: &Quirks) -> Self {
        match quirks.answers {
            Answers::XmlOnly => Format::Xml,
            Answers::JsonOnly => Format::Json,
            Answers::Both if f == Some("json") => Format::Json,
            Answers::Both => Format::Xml,
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Format::Xml => "text/xml; charset=utf-8",
            Format::Json => "application/json",
        }
    }
}

/// A successful envelope around `payload`, an object.
pub(super) fn ok(payload: Value, format: Format, quirks: &Quirks) -> Bytes {
    write("ok", payload, format, quirks)
}

/// A failed envelope.
pub(super) fn failed(code: u32, message: &str, format: Format, quirks: &Quirks) -> Bytes {
    let error = json!({ "error": { "code": code, "message": message } });
    write("failed", error, format, quirks)
}

fn write(status: &str, payload: Value, format: Format, quirks: &Quirks) -> Bytes {
    let mut envelope = Map::new();
    envelope.insert("status".into(), status.into());
    envelope.insert("version".into(), "1.16.1".into());
    if !quirks.classic {
        envelope.insert("type".into(), "segue-upstream".into());
        envelope.insert("serverVersion".into(), "1".into());
        envelope.insert("openSubsonic".into(), true.into());
    }
    if let Value::Object(fields) = payload {
        envelope.extend(fields);
    }
    match format {
        Format::Json => json!({ "subsonic-response": envelope }).to_string().into(),
        Format::Xml => {
            let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
            envelope.insert("xmlns".into(), "http://subsonic.org/restapi".into());
            element(&mut out, "subsonic-response", &Value::Object(envelope));
            out.into()
        }
    }
}

fn element(out: &mut String, name: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Array(items) => items.iter().for_each(|item| element(out, name, item)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            *out += &format!("<{name}>{}</{name}>", escaped(&scalar(value)));
        }
        Value::Object(fields) => object(out, name, fields),
    }
}

fn object(out: &mut String, name: &str, fields: &Map<String, Value>) {
    *out += &format!("<{name}");
    let mut inside = String::new();
    for (key, value) in fields {
        match value {
            Value::Null => {}
            Value::Array(_) | Value::Object(_) => element(&mut inside, key, value),
            Value::Bool(_) | Value::Number(_) | Value::String(_) if key == "value" => {
                inside += &escaped(&scalar(value));
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                *out += &format!(" {key}=\"{}\"", escaped(&scalar(value)));
            }
        }
    }
    *out += &match inside.is_empty() {
        true => "/>".to_owned(),
        false => format!(">{inside}</{name}>"),
    };
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_and_json_say_the_same() {
        let payload = json!({ "genres": { "genre": [
            { "value": "R&B", "songCount": 2 }, { "value": "Art \"Pop\"", "songCount": 1 } ] } });
        let quirks = Quirks {
            classic: true,
            ..Quirks::default()
        };
        assert_eq!(
            ok(payload.clone(), Format::Xml, &quirks),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<subsonic-response status=\"ok\" version=\"1.16.1\" \
             xmlns=\"http://subsonic.org/restapi\"><genres><genre songCount=\"2\">R&amp;B</genre>\
             <genre songCount=\"1\">Art &quot;Pop&quot;</genre></genres></subsonic-response>"
        );
        let json = ok(payload.clone(), Format::Json, &quirks);
        let back: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(back["subsonic-response"]["genres"], payload["genres"]);
        assert_eq!(back["subsonic-response"]["status"], "ok");
    }
}
