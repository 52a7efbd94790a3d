//! LRCLIB: any replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::provider::Kind;

fuzz_target!(|data: &[u8]| {
    let base_url = "https://lrclib.example".parse().expect("a URL");
    segue_fuzz::replies(Kind::Lrclib { base_url }, data);
});
