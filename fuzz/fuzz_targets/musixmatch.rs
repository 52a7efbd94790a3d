//! Musixmatch: any replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::provider::Kind;
use segue_core::provider::musixmatch::Settings;
use segue_core::source::subsonic::Secret;

fuzz_target!(|data: &[u8]| {
    let settings = Settings {
        token: Some(Secret::new("a-token-of-ones-own")),
        ..Settings::default()
    };
    segue_fuzz::replies(Kind::Musixmatch(settings), data);
});
