//! Musixmatch over real HTTP.

use crate::ask::{ask, is_told_what_goes_wrong, lines, song, tune};
use segue::providers_fake::musixmatch::{Fake, Mood};
use segue::providers_fake::{Served, Words};
use segue_core::dispatch::Quality;
use segue_core::lyrics::Body;
use segue_core::provider::musixmatch::{Musixmatch, Settings};
use segue_core::provider::{MissReason, Outcome, Trouble};
use segue_core::source::subsonic::Secret;

async fn served() -> (Fake, Served) {
    let tunes = vec![
        tune("By Word", Words::ByWord(lines())),
        tune("By Line", Words::ByLine(lines())),
        tune(
            "Plain",
            Words::Plain("boats of paper\n\nlamps of tin".to_owned()),
        ),
        tune("Silent", Words::Instrumental),
        tune("Locked", Words::Restricted),
        tune("Blank", Words::Nothing),
    ];
    let fake = Fake::new("of-my-own", tunes);
    let served = Served::start(fake.router()).await.expect("a port");
    (fake, served)
}

fn lane(served: &Served, token: &str) -> Musixmatch {
    let settings = Settings {
        base_url: served.url().parse().ok(),
        token: Some(Secret::new(token)),
        ..Settings::default()
    };
    Musixmatch::new(settings).expect("configured")
}

#[tokio::test]
async fn each_kind_of_words_arrives() {
    let (fake, served) = served().await;
    let lane = lane(&served, "of-my-own");
    for (title, quality) in [
        ("By Word", Quality::Word),
        ("By Line", Quality::Line),
        ("Plain", Quality::Plain),
        ("Silent", Quality::Instrumental),
    ] {
        let Outcome::Found(found) = ask(lane.lookup(&song(title))).await else {
            panic!("{title}")
        };
        assert_eq!(found[0].lyrics.quality(), quality, "{title}");
        assert_eq!(found[0].matched.title.as_deref(), Some(title));
    }
    for (title, reason) in [
        ("Locked", MissReason::Restricted),
        ("Blank", MissReason::NoLyrics),
        ("Unheard", MissReason::NotFound),
    ] {
        assert_eq!(
            ask(lane.lookup(&song(title))).await,
            Outcome::Miss(reason),
            "{title}"
        );
    }
    let asked = fake.script().seen();
    assert_eq!(asked.len(), 8, "one call each, and one more for word times");
    assert!(
        asked
            .iter()
            .all(|seen| seen.param("usertoken") == "of-my-own")
    );
}

#[tokio::test]
async fn word_times_lie_on_their_words() {
    let (_fake, served) = served().await;
    let Outcome::Found(found) = ask(lane(&served, "of-my-own").lookup(&song("By Word"))).await
    else {
        panic!("found")
    };
    let Body::Synced(lines) = &found[0].lyrics.body else {
        panic!("synced")
    };
    let words: Vec<(&str, u64)> = lines[1]
        .words
        .iter()
        .map(|word| (&lines[1].text[word.bytes.clone()], word.start))
        .collect();
    let expected = [
        ("lamps", 4000),
        ("of", 4300),
        ("tin", 4600),
        ("&", 4900),
        ("<wire>", 5200),
    ];
    assert_eq!(words, expected);
}

#[tokio::test]
async fn s6_what_goes_wrong_on_the_wire_is_told_apart() {
    let (fake, served) = served().await;
    let lane = lane(&served, "of-my-own");
    is_told_what_goes_wrong(fake.script(), || lane.lookup(&song("By Line"))).await;
}

#[tokio::test]
async fn s26_what_it_says_within_a_200_is_told_apart() {
    let (fake, served) = served().await;
    let right = lane(&served, "of-my-own");
    for (mood, trouble) in [
        (Mood::Inner(401, "captcha".to_owned()), Trouble::Captcha),
        (Mood::Inner(401, "upgrade".to_owned()), Trouble::Refused),
        (Mood::Inner(402, String::new()), Trouble::Refused),
        (Mood::Hollow, Trouble::RateLimited { retry_after: None }),
        (Mood::Decoy, Trouble::Refused),
    ] {
        fake.set_mood(mood.clone());
        let outcome = ask(right.lookup(&song("By Line"))).await;
        assert_eq!(outcome, Outcome::Failed(trouble), "{mood:?}");
    }
    fake.set_mood(Mood::Well);
    let stale = lane(&served, "of-yesterday");
    let outcome = ask(stale.lookup(&song("By Line"))).await;
    assert_eq!(outcome, Outcome::Failed(Trouble::RenewalRequired));
}
