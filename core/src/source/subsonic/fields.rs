//! Single fields of a reply, whatever type a server gives them.
//!
//! `null` is absent; numbers may be text and text may be numbers; one object may stand for a list of one; zero is
//! unknown where zero makes no sense.

use crate::catalog::normalise;
use crate::time::Wall;
use serde_json::Value;

/// The longest id that is taken: it travels in the query of every later request.
const ID_LIMIT: usize = 1024;

/// The longest text that is kept of a tag.
const TEXT_LIMIT: usize = 4096;

/// The most entries of a small list (genres, codes) that are looked at.
const LIST_LIMIT: usize = 64;

/// Timestamps up to the end of this day mean "never" (seen: 1970-01-01 on everything).
const EPOCH_DAY_END: i64 = 86_400_000;

/// 2020-01-01T00:00:00Z, which one server writes on everything.
const PLACEHOLDER: i64 = 1_577_836_800_000;

/// An id, exactly as it is written; `None` for an empty or impossible one.
pub(super) fn id(of: &Value, field: &str) -> Option<String> {
    let id = match of.get(field)? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let fine = !id.is_empty() && id.len() <= ID_LIMIT && !id.chars().any(char::is_control);
    fine.then_some(id)
}

/// Text for people: NFC, no control characters, trimmed; `None` when nothing is left.
pub(super) fn text(of: &Value, field: &str) -> Option<String> {
    as_text(of.get(field)?)
}

fn as_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => normalise::display(text),
        Value::Number(number) => number.to_string(),
        Value::Object(fields) => {
            return fields.get("value").or(fields.get("name")).and_then(as_text);
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    // Noncharacters are legal nowhere they could end up.
    let mut text = match text.contains(['\u{fffe}', '\u{ffff}']) {
        true => text.replace(['\u{fffe}', '\u{ffff}'], ""),
        false => text,
    };
    if text.len() > TEXT_LIMIT {
        let end = (0..=TEXT_LIMIT).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
    }
    (!text.is_empty()).then_some(text)
}

/// A positive number; `None` for absent, zero, negative, or no number. Fractions are cut.
pub(super) fn positive(of: &Value, field: &str) -> Option<u64> {
    match of.get(field)? {
        Value::Number(number) => whole(number.as_f64()?),
        Value::String(text) => whole(text.trim().parse().ok()?),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A positive number of 32 bits.
pub(super) fn small(of: &Value, field: &str) -> Option<u32> {
    positive(of, field).and_then(|number| u32::try_from(number).ok())
}

/// A length in seconds, whole or with a fraction, in milliseconds.
pub(super) fn seconds(of: &Value, field: &str) -> Option<u64> {
    let seconds = match of.get(field)? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    whole((seconds * 1000.0).round())
}

/// `f64` is exact up to 2^53, more than any size or count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be positive and in range"
)]
fn whole(number: f64) -> Option<u64> {
    (1.0..9.0e15).contains(&number).then_some(number as u64)
}

/// A number that may also be zero or missing: whether it says zero.
pub(super) fn is_zero(of: &Value, field: &str) -> bool {
    match of.get(field) {
        Some(Value::Number(number)) => number.as_f64() == Some(0.0),
        Some(Value::String(text)) => text.trim() == "0",
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// A truth: `true`, `"true"`, `1` or `"1"`.
pub(super) fn is_true(of: &Value, field: &str) -> bool {
    match of.get(field) {
        Some(Value::Bool(truth)) => *truth,
        Some(Value::Number(number)) => number.as_f64() == Some(1.0),
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true") || text == "1",
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// A list: its entries, or the one object or text that stands for a list of one.
pub(super) fn list<'a>(of: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    let entries = match of.get(field) {
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(one @ (Value::Object(_) | Value::String(_))) => std::slice::from_ref(one),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => &[],
    };
    entries.iter().filter(|entry| !entry.is_null())
}

/// The one object under `field`; of a list, its first.
pub(super) fn object<'a>(of: &'a Value, field: &str) -> Option<&'a Value> {
    list(of, field).next().filter(|value| value.is_object())
}

/// Texts of a list whose entries are texts, or objects with a `name` or `value`.
pub(super) fn texts(of: &Value, field: &str) -> Vec<String> {
    list(of, field)
        .take(LIST_LIMIT)
        .filter_map(as_text)
        .collect()
}

/// Genres, the main one first, none twice: `genre` is the main one, `genres` has them all, in any order.
pub(super) fn genres(of: &Value) -> Vec<String> {
    let mut genres: Vec<String> = Vec::new();
    for genre in text(of, "genre").into_iter().chain(texts(of, "genres")) {
        if !genres.contains(&genre) {
            genres.push(genre);
        }
    }
    genres
}

/// A MusicBrainz id in lower case; `None` for anything that is not shaped like one.
pub(super) fn mbid(of: &Value, field: &str) -> Option<String> {
    let id = of.get(field)?.as_str()?.trim().to_ascii_lowercase();
    let shaped = id.len() == 36
        && id.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    shaped.then_some(id)
}

/// The first ISRC, upper case without dashes. Seen as text, as a list, and as text with several in it.
pub(super) fn isrc(of: &Value) -> Option<String> {
    let codes = texts(of, "isrc");
    let pieces = codes
        .iter()
        .flat_map(|text| text.split([';', ',', '/', ' ']));
    pieces
        .map(|code| code.replace('-', "").to_ascii_uppercase())
        .find(|code| {
            let code = code.as_bytes();
            code.len() == 12
                && code[..2].iter().all(u8::is_ascii_uppercase)
                && code[2..5].iter().all(u8::is_ascii_alphanumeric)
                && code[5..].iter().all(u8::is_ascii_digit)
        })
}

/// A moment; `None` for absent, unreadable, or one of the moments that stand for "unknown".
pub(super) fn moment(of: &Value, field: &str) -> Option<Wall> {
    let moment = match of.get(field)? {
        Value::String(text) => iso_8601(text.trim())?,
        // Seconds or milliseconds since 1970; the limit is the year 5138 for one and 1973 for the other.
        Value::Number(number) => match number.as_i64()? {
            number if number < 100_000_000_000 => number.saturating_mul(1000),
            number => number,
        },
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    (moment >= EPOCH_DAY_END && moment != PLACEHOLDER).then_some(Wall(moment))
}

/// Milliseconds of an ISO 8601 moment: with or without a zone (then UTC), with any number of fractional digits,
/// or a date alone.
fn iso_8601(text: &str) -> Option<i64> {
    let date = text.get(..10)?;
    let mut parts = date.split('-').map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) * 86_400_000;
    let time = text.get(10..)?;
    let Some(time) = time.strip_prefix(['T', 't', ' ']) else {
        return time.is_empty().then_some(midnight);
    };
    let (time, offset) = split_zone(time)?;
    let (whole, fraction) = time.split_once(['.', ',']).unwrap_or((time, ""));
    let mut parts = whole.split(':').map(digits);
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
    let of_day = ((hour * 60 + minute) * 60 + second) * 1000 + digits(&millis)?;
    Some(midnight + of_day - offset * 60_000)
}

/// A time of day and its offset from UTC in minutes.
fn split_zone(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, 0));
    };
    let (time, zone) = time.split_at(at);
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let zone = zone[1..].replace(':', "");
    let (hours, minutes) = match zone.len() {
        2 => (digits(&zone)?, 0),
        4 => (digits(&zone[..2])?, digits(&zone[2..])?),
        _ => return None,
    };
    Some((time, sign * (hours * 60 + minutes)))
}

fn digits(text: &str) -> Option<i64> {
    let only = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    only.then(|| text.parse().ok()).flatten()
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = (month + 9) % 12;
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(value: Value) -> Option<String> {
        moment(&json!({ "at": value }), "at").map(|at| at.to_string())
    }

    #[test]
    fn moments_come_in_many_forms() {
        let expected = Some("2026-11-29T21:46:07.000Z".to_owned());
        for text in [
            "2026-11-29T21:46:07",
            "2026-11-29T21:46:07Z",
            "2026-11-29 21:46:07",
            "2026-11-29T21:46:07.000000000Z",
            "2026-11-29T22:46:07+01:00",
            "2026-11-29T16:46:07-0500",
        ] {
            assert_eq!(at(json!(text)), expected, "{text}");
        }
        assert_eq!(at(json!(1_795_988_767)), expected);
        assert_eq!(at(json!(1_795_988_767_000_i64)), expected);
        assert_eq!(
            at(json!("2000-02-29T00:00:00.1239Z")).as_deref(),
            Some("2000-02-29T00:00:00.123Z")
        );
        assert_eq!(
            at(json!("2001-12-31")).as_deref(),
            Some("2001-12-31T00:00:00.000Z")
        );
    }

    #[test]
    fn moments_that_stand_for_unknown_are_none() {
        for value in [
            json!("1970-01-01T00:00:00.000Z"),
            json!("1970-01-01"),
            json!("0001-01-01T00:00:00Z"),
            json!("2020-01-01T00:00:00Z"),
            json!(0),
            json!(null),
            json!(""),
            json!("yesterday"),
            json!("2026-13-01"),
            json!("2026-11-29T99:00:00"),
            json!("ää2026-11-29"),
        ] {
            assert_eq!(at(value.clone()), None, "{value}");
        }
    }

    #[test]
    fn fields_forgive_types() {
        let value = json!({
            "id": 42, "track": "07", "size": 1.9, "duration": "13.25", "yes": "True", "one": 1, "no": "false",
            "none": null, "zero": 0, "minus": -1, "text": "  A\u{8}B\u{ffff} ", "number": 1999, "control": "a\nb",
            "name": {"name": "x"},
        });
        assert_eq!(id(&value, "id").as_deref(), Some("42"));
        assert_eq!(id(&value, "control"), None);
        assert_eq!(small(&value, "track"), Some(7));
        assert_eq!(positive(&value, "size"), Some(1));
        assert_eq!(seconds(&value, "duration"), Some(13_250));
        assert!(is_true(&value, "yes") && is_true(&value, "one") && !is_true(&value, "no"));
        for field in ["none", "zero", "minus", "absent", "text"] {
            assert_eq!(positive(&value, field), None, "{field}");
        }
        assert!(is_zero(&value, "zero") && !is_zero(&value, "none"));
        assert_eq!(text(&value, "text").as_deref(), Some("AB"));
        assert_eq!(text(&value, "number").as_deref(), Some("1999"));
        assert_eq!(text(&value, "name").as_deref(), Some("x"));
    }

    #[test]
    fn names_become_nfc() {
        let value = json!({"name": "Beyonce\u{301}"});
        assert_eq!(text(&value, "name").as_deref(), Some("Beyoncé"));
    }

    #[test]
    fn genres_are_listed_with_the_main_one_first() {
        let both = json!({"genre": "Electronic", "genres": [{"name": "Art Pop"}, {"name": "Electronic"}, {}]});
        assert_eq!(genres(&both), ["Electronic", "Art Pop"]);
        assert_eq!(
            genres(&json!({"genres": ["A", {"value": "B"}, null, ""]})),
            ["A", "B"]
        );
        assert_eq!(
            genres(&json!({"genres": {"name": "A"}, "genre": null})),
            ["A"]
        );
        assert!(genres(&json!({})).is_empty());
    }

    #[test]
    fn identifiers_are_checked_for_shape() {
        let value = json!({
            "good": "8F6BD1E4-FBE1-4F50-AA9B-94C450EC0F11", "bad": "8f6bd1e4fbe14f50aa9b94c450ec0f11", "number": 7,
        });
        let good = Some("8f6bd1e4-fbe1-4f50-aa9b-94c450ec0f11");
        assert_eq!(mbid(&value, "good").as_deref(), good);
        assert_eq!((mbid(&value, "bad"), mbid(&value, "number")), (None, None));
        for codes in [
            json!("us-rc1-76-07839"),
            json!(["nope", "USRC17607839"]),
            json!("x;USRC17607839;GBAYE0000351"),
        ] {
            assert_eq!(
                isrc(&json!({ "isrc": codes })).as_deref(),
                Some("USRC17607839"),
                "{codes}"
            );
        }
        assert_eq!(isrc(&json!({"isrc": []})), None);
    }
}
