//! Bytes of any encoding, and what their text is then taken for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::lyrics::text::decode;
use segue_core::lyrics::{ParseHints, TextKind, read_bytes};

fuzz_target!(|bytes: &[u8]| {
    // Zeros and escapes say something about the encoding of bytes, and nothing once they are text.
    if let Ok(text) = decode(bytes)
        && !text.contains(['\0', '\u{1b}'])
    {
        let again = decode(text.as_bytes());
        assert!(again.is_ok(), "{again:?}");
    }
    if let Ok(lyrics) = read_bytes(TextKind::Sniff, bytes, ParseHints::default()) {
        segue_fuzz::sound(&lyrics);
    }
});
