//! A music folder of this machine.

use super::{NotFound, Row, Shape, Side, ask};
use crate::drive::json;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_core::dispatch::Quality;
use segue_core::provider::local::{Beside, Sidecar};
use segue_core::provider::{Kind, MissReason};

/// A folder's answer.
pub(crate) fn beside(beside: &Beside) -> String {
    serde_json::to_string(beside).expect("JSON")
}

/// A sidecar of that name.
pub(crate) fn sidecar(name: &str, bytes: impl AsRef<[u8]>) -> Sidecar {
    Sidecar {
        name: name.to_owned(),
        sha256: format!("hash of {name}"),
        base64: STANDARD.encode(bytes),
    }
}

pub(super) fn row() -> Row {
    Row {
        name: "local",
        lookup: |song| ask("local", Kind::Local, song),
        hit: |_| {
            let lrc = sidecar(
                "01 Lantern Hill.lrc",
                "[00:12.50]Paper boats\n[00:17.00]Lamps of tin\n",
            );
            json(beside(&Beside {
                sidecars: vec![lrc],
                embedded: Vec::new(),
            }))
        },
        miss: |_| json(r#"{"sidecars":[],"embedded":[]}"#),
        quality: Quality::Line,
        reason: MissReason::NoLyrics,
        hollow: &[
            r#"{"sidecars":[{"name":"a.lrc","sha256":"","base64":""}],"embedded":[]}"#,
            r#"{"sidecars":[{"name":"a.lrc","sha256":"","base64":"?"}],"embedded":[{"kind":"text","text":" "}]}"#,
            r#"{"sidecars":[],"embedded":[{"kind":"sylt","lang":"eng","entries":[]},{"kind":"sylt","lang":null,"entries":[[5,"\n"]]}]}"#,
        ],
        most_requests: 1,
        not_found: NotFound::IsMiss,
        shape: Shape::Document,
        side: Side::Machine,
    }
}
