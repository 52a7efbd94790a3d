//! Finding the error of a Subsonic envelope in a document that may be cut short.

use super::refusal::EnvelopeCode;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

/// The `error` of a failed envelope. The message is for judging only; it is never shown or stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnvelopeError {
    pub(super) code: EnvelopeCode,
    pub(super) message: String,
}

/// The error in `body`, JSON or XML; `None` when it is no failed envelope.
pub(super) fn find_error(body: &[u8]) -> Option<EnvelopeError> {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.as_bytes().first()? {
        b'{' => find_in_json(text),
        b'<' => find_in_xml(text),
        _ => None,
    }
}

fn find_in_json(text: &str) -> Option<EnvelopeError> {
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return find_in_cut_json(text);
    };
    let error = document.get("subsonic-response")?.get("error")?;
    let number = match error.get("code") {
        Some(Value::Number(number)) => number.as_u64().and_then(|n| u32::try_from(n).ok()),
        Some(Value::String(digits)) => digits.trim().parse().ok(),
        _ => None,
    };
    let message = error.get("message").and_then(Value::as_str);
    Some(EnvelopeError {
        code: EnvelopeCode::from_number(number.unwrap_or(0)),
        message: message.unwrap_or_default().to_owned(),
    })
}

/// JSON that does not parse, most likely because we stopped reading: the code still tells.
fn find_in_cut_json(text: &str) -> Option<EnvelopeError> {
    if !text.contains("\"subsonic-response\"") {
        return None;
    }
    let (_, after) = text.split_once("\"error\"")?;
    let (_, after) = after.split_once("\"code\"")?;
    let after = after.trim_start_matches([' ', '\t', '\r', '\n', ':', '"']);
    let digits = after.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(EnvelopeError {
        code: EnvelopeCode::from_number(digits.parse().ok()?),
        message: String::new(),
    })
}

fn find_in_xml(text: &str) -> Option<EnvelopeError> {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut within_envelope = false;
    loop {
        let tag = match reader.read_event() {
            Ok(Event::Start(tag) | Event::Empty(tag)) => tag,
            Ok(Event::Eof) | Err(_) => return None,
            Ok(_) => continue,
        };
        match tag.local_name().into_inner() {
            "subsonic-response" => within_envelope = true,
            "error" if within_envelope => {
                let number = attribute(&tag, "code").and_then(|code| code.trim().parse().ok());
                return Some(EnvelopeError {
                    code: EnvelopeCode::from_number(number.unwrap_or(0)),
                    message: attribute(&tag, "message").unwrap_or_default(),
                });
            }
            _ if within_envelope => {}
            _ => return None,
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok()??;
    let value = attribute.normalized_value(XmlVersion::Implicit1_0);
    Some(value.map_or_else(|_| attribute.value.to_string(), |value| value.into_owned()))
}
