//! A program of the operator's own.

use super::{NotFound, Row, Shape, Side};
use crate::drive::json;
use segue_core::dispatch::Quality;
use segue_core::provider::MissReason;
use segue_core::provider::command::Command;

pub(super) fn row() -> Row {
    Row {
        name: "command",
        lookup: |song| Command::new("mine").expect("a name").lookup(song),
        hit: |_| {
            json(
                r#"{"outcome":"found","candidates":[{"kind":"plain","text":"Boats of paper\nlamps of tin",
                "title":"Lantern Hill","artist":"The Paper Boats"}]}"#,
            )
        },
        miss: |_| json(r#"{"outcome":"miss","reason":"not_found"}"#),
        quality: Quality::Plain,
        reason: MissReason::NotFound,
        hollow: &[r#"{"outcome":"found","candidates":[]}"#],
        most_requests: 1,
        not_found: NotFound::IsTrouble,
        shape: Shape::Document,
        side: Side::Machine,
    }
}
