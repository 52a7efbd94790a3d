//! PetitLyrics over real HTTP.

use crate::ask::{ask, is_told_what_goes_wrong, lines, song, tune};
use segue::providers_fake::petitlyrics::Fake;
use segue::providers_fake::{Served, Tune, Words};
use segue_core::dispatch::Quality;
use segue_core::lyrics::Body;
use segue_core::provider::petitlyrics::{PetitLyrics, Settings};
use segue_core::provider::{MissReason, Outcome, Trouble};

async fn served() -> (Fake, Served) {
    let tunes = vec![
        tune("By Word (Live)", Words::ByLine(lines())),
        tune("By Word", Words::ByWord(lines())),
        tune("By Line", Words::ByLine(lines())),
        tune("Plain", Words::Plain("紙の舟\n\n灯".to_owned())),
        tune(
            "Guarded",
            Words::Protected(Some("boats of paper".to_owned())),
        ),
        tune("Locked", Words::Protected(None)),
        tune("Blank", Words::Nothing),
        Tune::new(
            "Tin Whistle Club",
            "Namesake",
            90,
            Words::Plain("other words".to_owned()),
        ),
    ];
    let fake = Fake::new("mine", tunes);
    let served = Served::start(fake.router()).await.expect("a port");
    (fake, served)
}

fn lane(served: &Served, id: &str) -> PetitLyrics {
    let settings = Settings {
        base_url: served.url().parse().ok(),
        client_app_id: Some(id.to_owned()),
    };
    PetitLyrics::new(settings).expect("configured")
}

#[tokio::test]
async fn s33_each_tier_arrives_and_the_protected_one_as_plain() {
    let (fake, served) = served().await;
    let lane = lane(&served, "mine");
    for (title, quality) in [
        ("By Word", Quality::Word),
        ("By Line", Quality::Line),
        ("Plain", Quality::Plain),
        ("Guarded", Quality::Plain),
    ] {
        let Outcome::Found(found) = ask(lane.lookup(&song(title))).await else {
            panic!("{title}")
        };
        assert_eq!(found[0].lyrics.quality(), quality, "{title}");
        assert_eq!(
            found[0].matched.title.as_deref(),
            Some(title),
            "the best comes first"
        );
    }
    assert_eq!(
        fake.script().seen().len(),
        5,
        "one more for the protected one"
    );
    for (title, reason) in [
        ("Locked", MissReason::Restricted),
        ("Blank", MissReason::NoLyrics),
        ("Namesake", MissReason::NotFound),
        ("Unheard", MissReason::NotFound),
    ] {
        assert_eq!(
            ask(lane.lookup(&song(title))).await,
            Outcome::Miss(reason),
            "{title}"
        );
    }
}

#[tokio::test]
async fn words_keep_their_marks() {
    let (_fake, served) = served().await;
    let Outcome::Found(found) = ask(lane(&served, "mine").lookup(&song("By Word"))).await else {
        panic!("found")
    };
    let Body::Synced(lines) = &found[0].lyrics.body else {
        panic!("synced")
    };
    let last = lines[1].words.last().expect("words");
    assert_eq!(
        (&lines[1].text[last.bytes.clone()], last.start),
        ("<wire>", 5200)
    );
}

#[tokio::test]
async fn s6_what_goes_wrong_on_the_wire_is_told_apart() {
    let (fake, served) = served().await;
    let right = lane(&served, "mine");
    is_told_what_goes_wrong(fake.script(), || right.lookup(&song("By Line"))).await;
    let stranger = lane(&served, "not-mine");
    let outcome = ask(stranger.lookup(&song("By Line"))).await;
    assert_eq!(outcome, Outcome::Failed(Trouble::Refused));
}
