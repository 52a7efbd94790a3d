//! PetitLyrics: any replies.

#![no_main]

use libfuzzer_sys::fuzz_target;
use segue_core::provider::Kind;
use segue_core::provider::petitlyrics::Settings;

fuzz_target!(|data: &[u8]| {
    let settings = Settings {
        client_app_id: Some("p0".to_owned()),
        ..Settings::default()
    };
    segue_fuzz::replies(Kind::PetitLyrics(settings), data);
});
