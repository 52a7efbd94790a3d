//! A Subsonic source: any replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::provider::Kind;

fuzz_target!(|data: &[u8]| {
    segue_fuzz::replies(Kind::Subsonic, data);
});
