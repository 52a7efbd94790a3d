//! Text of a provider as lyrics.

use crate::dispatch::Quality;
use crate::lyrics::text::{Undecodable, check};
use crate::lyrics::{Lyrics, ParseHints, TextKind, read};

/// Reads text that has something to sing in it. `duration_ms` is the length of the song that was asked for.
pub(super) fn words(kind: TextKind, text: &str, duration_ms: Option<u64>) -> Option<Lyrics> {
    let lyrics = read(kind, text, ParseHints { duration_ms }).ok()?;
    (lyrics.quality() != Quality::None).then_some(lyrics)
}

/// Whether a body is a web page: an answer of something that is not the provider.
pub(super) fn is_page(body: &[u8]) -> bool {
    check(&String::from_utf8_lossy(body)) == Err(Undecodable::Html)
}
