//! What must hold whatever a stranger sends.

use bytes::Bytes;
use http::Response;
use segue_core::Wall;
use segue_core::lyrics::accept::{Rules, judge};
use segue_core::lyrics::document::{Document, is_well_formed};
use segue_core::lyrics::intake::sift;
use segue_core::lyrics::text::LINE_LIMIT;
use segue_core::lyrics::{
    Body, Copy, Lyrics, ParseHints, Song, TextKind, layers, lrc, plain, read,
};
use segue_core::provider::{Kind, Next, Outcome, Provider, Question, Reply, Server, Settings};
use segue_core::source::subsonic::{Auth, Credentials, Endpoint, Secret};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// More requests than any lookup makes.
const TOO_MANY: usize = 20;

/// Parts one input into replies.
const NEXT_REPLY: u8 = 0x1e;

/// The song that everybody is asked for.
#[must_use]
pub fn song() -> Song {
    let copy = |instance_id: &str, folder| Copy {
        instance_id: instance_id.to_owned(),
        remote_id: "tr-7".to_owned(),
        folder,
    };
    Song {
        title: "Lantern Hill".to_owned(),
        artist: "The Paper Boats".to_owned(),
        artists: vec!["The Paper Boats".to_owned()],
        album: Some("Harbour Songs".to_owned()),
        duration_ms: Some(201_000),
        isrcs: vec!["XXA012600001".to_owned()],
        recording_mbid: None,
        copies: vec![copy("shelf", true), copy("home", false)],
    }
}

/// Reads a text of that kind as strangers' texts are read, and everything that is done with what comes of it.
///
/// # Panics
/// When something is wrong.
pub fn text(kind: TextKind, text: &str) {
    // Every other text is of a track whose length is known.
    let duration_ms = (text.len() % 2 == 1).then_some(201_000);
    if let Ok(lyrics) = read(kind, text, ParseHints { duration_ms }) {
        sound(&lyrics);
    }
}

/// What holds of all lyrics, wherever they are from.
///
/// # Panics
/// When it does not.
pub fn sound(lyrics: &Lyrics) {
    assert!(is_well_formed(lyrics), "{lyrics:?}");
    if let Body::Synced(lines) = &lyrics.body {
        assert!(lines.len() <= LINE_LIMIT);
    }
    let stored = Document::of(lyrics);
    assert_eq!(Document::read(&stored.json).as_ref(), Ok(lyrics));
    let _ = plain::write(lyrics);
    let song = song();
    let _ = judge(&song, lyrics, &Default::default(), &Rules::default());
    let _ = sift(lyrics.clone(), &song);
    if let Some(layers) = layers::split(lyrics) {
        assert!(is_well_formed(&layers.main) && is_well_formed(&layers.translation));
        assert_eq!(
            layers::split(&layers.main),
            None,
            "it was two texts, not three"
        );
    }
    written(lyrics);
}

/// What we write reads the same ever after.
fn written(lyrics: &Lyrics) {
    for style in [lrc::LrcStyle::Line, lrc::LrcStyle::Enhanced] {
        let options = lrc::WriteOptions {
            style,
            fraction: lrc::Fraction::Thousandths,
            equal_stamps: lrc::EqualStamps::All,
            ..Default::default()
        };
        let again = |text: &str| {
            let read = lrc::parse(text, ParseHints::default());
            read.map(|parsed| lrc::write(&parsed.lyrics, &options))
        };
        // Words that are none, and more than anybody sings, are written and not read.
        let Ok(once) = again(&lrc::write(lyrics, &options)) else {
            continue;
        };
        let twice = again(&once).expect("our own");
        assert_eq!(again(&twice).as_ref(), Ok(&twice));
    }
}

/// Asks a provider of that kind for [`song`]; the input has its replies, one after the other: a letter for the status, then
/// the body.
///
/// # Panics
/// When the codec does, asks without end, or finds what is none.
pub fn replies(kind: Kind, data: &[u8]) {
    let base = "http://home.example".parse().expect("a URL");
    let credentials = Credentials::password("ann", Secret::new("sesame"));
    let server = Server {
        endpoint: Endpoint::new(&base, credentials).expect("an endpoint"),
        auth: Auth::Token,
        structured: None,
    };
    let provider = Provider::new(Settings {
        name: "lane".to_owned(),
        spacing: Duration::ZERO,
        timeout: Duration::from_secs(30),
        kind,
    });
    let song = song();
    let mut lookup = provider.expect("fine settings").lookup(&Question {
        song: &song,
        rules: &Rules::default(),
        servers: &BTreeMap::from([("home".to_owned(), server)]),
        salt: "c19b2d",
        ours: &BTreeSet::new(),
    });
    let mut sent = data.split(|byte| *byte == NEXT_REPLY);
    for _ in 0..TOO_MANY {
        match lookup.next() {
            Next::Send(_) => lookup.reply(Ok(reply(sent.next().unwrap_or_default()))),
            Next::Done(outcome) => {
                if let Outcome::Found(found) = outcome {
                    assert!(!found.is_empty());
                    found.iter().for_each(|one| sound(&one.lyrics));
                }
                return;
            }
        }
    }
    panic!("asks without end");
}

fn reply(part: &[u8]) -> Reply {
    let (letter, body) = part.split_first().unwrap_or((&b'o', &[]));
    let status = match letter {
        b'n' => 404,
        b'a' => 401,
        b'f' => 403,
        b't' => 429,
        b's' => 503,
        _ => 200,
    };
    let response = Response::builder().status(status).body(());
    Reply {
        parts: response.expect("a response").into_parts().0,
        body: Bytes::copy_from_slice(body),
        at: Wall(1_796_000_000_000),
    }
}
