//! Whatever comes back, a codec neither breaks nor takes it for a miss where that cannot be.

use crate::drive::{Sent, play, reply};
use crate::rows::{Row, all, song};
use bytes::Bytes;
use http::Request;
use proptest::prelude::*;
use segue_core::dispatch::Quality;
use segue_core::provider::{Outcome, Reply};
use serde_json::Value;

/// No codec hands out lyrics that are none, or an empty list of candidates.
fn sound(row: &Row, outcome: &Outcome) {
    if let Outcome::Found(found) = outcome {
        assert!(!found.is_empty(), "{}", row.name);
        for one in found {
            assert_ne!(one.lyrics.quality(), Quality::None, "{}: {one:?}", row.name);
        }
    }
}

fn with_body(sent: Sent, body: Bytes) -> Sent {
    sent.map(|reply| Reply { body, ..reply })
}

/// A value with one of its parts replaced, counted in order of appearance.
fn replaced(value: &Value, at: &mut usize, by: &Value) -> Value {
    if *at == 0 {
        *at = usize::MAX;
        return by.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter().map(|item| replaced(item, at, by)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, item)| (name.clone(), replaced(item, at, by)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        "\\[[0-9]{0,6}:[0-9.]{0,8}\\].{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..3);
        let object = prop::collection::btree_map("[a-z]{1,6}", inner, 0..3);
        prop_oneof![
            list.prop_map(Value::from),
            object.prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_with_any_status_are_survived(
        statuses in prop::collection::vec(100_u16..600, 8),
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 8),
    ) {
        for row in all() {
            let played = play((row.lookup)(&song()), |at, _| {
                Ok(reply(statuses[at % 8], &[], bodies[at % 8].clone()))
            });
            sound(&row, &played.outcome);
        }
    }

    #[test]
    fn one_wrong_byte_is_survived(place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for row in all() {
            for right in [row.hit, row.miss] {
                let played = play((row.lookup)(&song()), |_, request: &Request<Bytes>| {
                    let sent = right(request);
                    let Ok(good) = &sent else { return sent };
                    let mut body = good.body.to_vec();
                    if !body.is_empty() {
                        let at = place.index(body.len());
                        body[at] = byte;
                    }
                    with_body(sent, body.into())
                });
                sound(&row, &played.outcome);
            }
        }
    }

    #[test]
    fn one_part_of_another_kind_is_survived(at in 0_usize..60, by in any_json()) {
        for row in all() {
            let played = play((row.lookup)(&song()), |_, request: &Request<Bytes>| {
                let sent = (row.hit)(request);
                let Ok(good) = &sent else { return sent };
                let Ok(value) = serde_json::from_slice::<Value>(&good.body) else { return sent };
                let body = replaced(&value, &mut at.clone(), &by).to_string();
                with_body(sent, body.into())
            });
            sound(&row, &played.outcome);
        }
    }
}
