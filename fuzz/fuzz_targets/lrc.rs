//! The reader and the writer of LRC, with any text: what was read once reads the same ever after.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::lyrics::lrc::{EqualStamps, Fraction, LrcStyle, WriteOptions, parse, write};
use segue_core::lyrics::{Body, ParseHints, TextKind};

fuzz_target!(|text: &str| {
    let kinds = [TextKind::Lrc, TextKind::Sniff, TextKind::Plain];
    segue_fuzz::text(kinds[text.len() % 3], text);
    let Ok(parsed) = parse(text, ParseHints::default()) else {
        return;
    };
    // Text without times that plays at being tags and voices may take a second look: the library above sees to that.
    if let Body::Plain(_) | Body::Instrumental = parsed.lyrics.body {
        return;
    }
    for style in [LrcStyle::Line, LrcStyle::Enhanced] {
        let options = WriteOptions {
            style,
            fraction: Fraction::Thousandths,
            equal_stamps: EqualStamps::All,
            ..WriteOptions::default()
        };
        let written = write(&parsed.lyrics, &options);
        let again = parse(&written, ParseHints::default()).expect("our own");
        assert_eq!(write(&again.lyrics, &options), written);
    }
});
