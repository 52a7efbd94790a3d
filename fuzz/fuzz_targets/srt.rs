//! The reader of this format, with any text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::lyrics::TextKind;

fuzz_target!(|text: &str| segue_fuzz::text(TextKind::Srt, text));
