//! Where a JSON reply holds what, as JSON pointers (RFC 6901).

use serde_json::Value;
use std::collections::BTreeMap;

/// What can be pointed at.
const NAMES: [&str; 11] = [
    "list",
    "synced",
    "plain",
    "title",
    "artist",
    "album",
    "duration",
    "duration_ms",
    "isrc",
    "id",
    "instrumental",
];

/// Where a JSON reply holds what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointers(BTreeMap<&'static str, String>);

/// Why pointers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPointer {
    /// Nothing is called so.
    #[error("\"{name}\" is not known; known are {}", NAMES.join(", "))]
    UnknownName {
        /// What was written.
        name: String,
    },
    /// Not a JSON pointer.
    #[error("\"{0}\" must be empty or begin with a slash")]
    NoPointer(&'static str),
    /// There are no words without them.
    #[error("\"synced\" or \"plain\" must be pointed at")]
    NoWords,
}

impl Pointers {
    /// Checks pointers by their names: `list` is where the candidates are, the others are within one.
    ///
    /// # Errors
    /// When a name is unknown, a text no pointer, or no words are pointed at.
    pub fn new(named: &BTreeMap<String, String>) -> Result<Self, BadPointer> {
        let mut pointers = BTreeMap::new();
        for (name, pointer) in named {
            let known = NAMES.iter().find(|known| *known == name);
            let known = known.ok_or_else(|| BadPointer::UnknownName { name: name.clone() })?;
            if !pointer.is_empty() && !pointer.starts_with('/') {
                return Err(BadPointer::NoPointer(known));
            }
            pointers.insert(*known, pointer.clone());
        }
        match pointers.contains_key("synced") || pointers.contains_key("plain") {
            true => Ok(Pointers(pointers)),
            false => Err(BadPointer::NoWords),
        }
    }

    /// The names with what they point at.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, pointer)| (*name, pointer.as_str()))
    }

    /// Those of LRCLIB's records.
    pub(super) fn lrclib() -> Self {
        Pointers(BTreeMap::from(
            [
                ("synced", "/syncedLyrics"),
                ("plain", "/plainLyrics"),
                ("title", "/trackName"),
                ("artist", "/artistName"),
                ("album", "/albumName"),
                ("duration", "/duration"),
                ("isrc", "/isrc"),
                ("id", "/id"),
                ("instrumental", "/instrumental"),
            ]
            .map(|(name, pointer)| (name, pointer.to_owned())),
        ))
    }

    /// What `name` points at within `value`; null is nothing.
    fn at<'a>(&self, value: &'a Value, name: &str) -> Option<&'a Value> {
        let found = value.pointer(self.0.get(name)?)?;
        (!found.is_null()).then_some(found)
    }

    /// The candidates of a reply: the items of a list, or the one that is there.
    pub(super) fn candidates<'a>(&self, reply: &'a Value) -> &'a [Value] {
        let root = match self.0.get("list") {
            Some(pointer) => reply.pointer(pointer),
            None => Some(reply),
        };
        match root {
            Some(Value::Array(items)) => items,
            Some(Value::Null) | None => &[],
            Some(one) => std::slice::from_ref(one),
        }
    }

    /// A text that is not blank.
    pub(super) fn text(&self, value: &Value, name: &str) -> Option<String> {
        let text = match self.at(value, name)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            // Lines as a list.
            Value::Array(items) => {
                let lines = items
                    .iter()
                    .map(Value::as_str)
                    .collect::<Option<Vec<_>>>()?;
                lines.join("\n")
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// A length in milliseconds, from `duration_ms` or from `duration` in seconds.
    pub(super) fn duration_ms(&self, value: &Value) -> Option<u64> {
        let number = |name| match self.at(value, name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let seconds = number("duration").map(|seconds| seconds * 1000.0);
        let millis = number("duration_ms").or(seconds)?;
        // Beyond a week it is no song's length.
        (millis > 0.0 && millis < 6e8).then(|| millis.round() as u64)
    }

    /// Whether the candidate says that there is nothing to sing.
    pub(super) fn is_instrumental(&self, value: &Value) -> bool {
        match self.at(value, "instrumental") {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number != 0.0),
            Some(Value::String(text)) => matches!(text.as_str(), "true" | "1" | "yes"),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
        }
    }
}
