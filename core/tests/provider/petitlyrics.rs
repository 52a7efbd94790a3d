//! What PetitLyrics does in particular.

use crate::drive::{Played, play};
use crate::rows::petitlyrics::{
    PROTECTED, WORDS, is_for_plain, lookup, named, song as entry, songs, xml,
};
use crate::rows::song;
use segue_core::dispatch::Quality;
use segue_core::lyrics::Body;
use segue_core::provider::petitlyrics::{PetitLyrics, Settings, Unconfigured};
use segue_core::provider::{MissReason, Outcome, Trouble};

fn ask(body: &str) -> Played {
    play(lookup(&song()), |_, _| xml(body))
}

#[test]
fn without_an_application_id_it_is_not_configured() {
    let told = PetitLyrics::new(Settings::default()).expect_err("no id");
    assert_eq!(told, Unconfigured::NoClientAppId);
    assert!(
        told.to_string()
            .contains("providers.petitlyrics.client_app_id")
    );
}

#[test]
fn the_question_is_a_form_with_the_songs_names() {
    let played = ask(&songs(&[]));
    let request = &played.requests[0];
    assert_eq!(request.method(), "POST");
    assert_eq!(
        request.uri(),
        "https://p0.petitlyrics.com/api/GetPetitLyricsData.php"
    );
    let form = String::from_utf8_lossy(request.body());
    let expected = "clientAppId=p0&terminalType=10&lyricsType=3&key_title=Lantern+Hill&key_artist=The+Paper+Boats&key_album=Harbour+Songs";
    assert_eq!(form, expected);
}

#[test]
fn s33_the_protected_tier_is_left_alone_and_the_plain_one_asked_for() {
    let played = play(lookup(&song()), |_, request| {
        let data = if is_for_plain(request) {
            "Boats of paper".as_bytes()
        } else {
            PROTECTED
        };
        xml(&songs(&[entry("8", data)]))
    });
    let Outcome::Found(found) = played.outcome else {
        panic!("words")
    };
    assert_eq!(
        found[0].lyrics.body,
        Body::Plain(vec!["Boats of paper".to_owned()])
    );
    assert_eq!(found[0].matched.title.as_deref(), Some("Lantern Hill"));
    assert_eq!(played.requests.len(), 2);
}

#[test]
fn s33_a_song_with_no_text_but_the_protected_one_is_restricted() {
    for second in [
        songs(&[entry("8", PROTECTED)]),
        songs(&[]),
        songs(&[entry("9", b"other")]),
    ] {
        let played = play(lookup(&song()), |_, request| match is_for_plain(request) {
            true => xml(&second),
            false => xml(&songs(&[entry("8", PROTECTED)])),
        });
        assert_eq!(
            played.outcome,
            Outcome::Miss(MissReason::Restricted),
            "{second}"
        );
        assert_eq!(played.requests.len(), 2);
    }
}

#[test]
fn s33_a_text_may_hold_stamps_and_several_of_them() {
    let text = "\u{feff}[00:01.00][00:09.50]Boats of paper\r\n[00:04.25]lamps of tin\r\n";
    let Outcome::Found(found) = ask(&songs(&[entry("8", text.as_bytes())])).outcome else {
        panic!("words")
    };
    let Body::Synced(lines) = &found[0].lyrics.body else {
        panic!("lines")
    };
    let starts: Vec<u64> = lines.iter().map(|line| line.start).collect();
    assert_eq!(starts, [1000, 4250, 9500]);
}

#[test]
fn the_best_song_comes_first_and_strangers_not_at_all() {
    let body = songs(&[
        named("1", "Lantern Hill (Live)", "The Paper Boats", b"live words"),
        named("2", "Another Evening", "The Paper Boats", b"other words"),
        named("3", "Lantern Hill", "The Paper Boats", WORDS.as_bytes()),
    ]);
    let Outcome::Found(found) = ask(&body).outcome else {
        panic!("words")
    };
    let ids: Vec<_> = found
        .iter()
        .filter_map(|one| one.matched.provider_id.as_deref())
        .collect();
    assert_eq!(ids, ["3", "1"]);
    assert_eq!(found[0].lyrics.quality(), Quality::Word);
    let strangers = songs(&[named(
        "2",
        "Another Evening",
        "Tin Whistle Club",
        b"other words",
    )]);
    assert_eq!(ask(&strangers).outcome, Outcome::Miss(MissReason::NotFound));
}

#[test]
fn its_own_errors_are_refusals_and_empty_texts_are_none() {
    let error = "<response><status>90000001</status><returnedCount>0</returnedCount></response>";
    assert_eq!(ask(error).outcome, Outcome::Failed(Trouble::Refused));
    assert_eq!(
        ask(&songs(&[entry("8", b"")])).outcome,
        Outcome::Miss(MissReason::NoLyrics)
    );
    let page = "<!DOCTYPE html><html><body>closed</body></html>";
    assert_eq!(ask(page).outcome, Outcome::Failed(Trouble::WrongService));
}
