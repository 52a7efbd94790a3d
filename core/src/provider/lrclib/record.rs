//! One record of LRCLIB: what `/api/get` answers and `/api/search` lists.

use crate::dispatch::Quality;
use crate::lyrics::{Body, Lyrics, Matched, ParseHints, TextKind, read};
use crate::provider::Candidate;
use serde_json::Value;

/// What a record comes to.
#[derive(Debug)]
pub(super) enum Record {
    /// Words, or the word that there are none to sing.
    Words(Box<Candidate>),
    /// A song that is known, and no words of it. Never an instrumental: nobody has said so.
    Hollow,
    /// Something else.
    Strange,
}

/// Reads a record; unknown keys are passed over.
pub(super) fn read_record(value: &Value, hints: ParseHints) -> Record {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let title = text("trackName").or_else(|| text("name"));
    let (Some(title), Some(id)) = (title, value.get("id").and_then(Value::as_u64)) else {
        return Record::Strange;
    };
    let said = |key: &str| text(key).filter(|text| !text.trim().is_empty());
    let matched = Matched {
        title: Some(title.to_owned()),
        artist: said("artistName").map(str::to_owned),
        album: said("albumName").map(str::to_owned),
        duration_ms: value.get("duration").and_then(millis),
        provider_id: Some(id.to_string()),
        ..Matched::default()
    };
    let instrumental = value.get("instrumental").and_then(Value::as_bool);
    let words = words(
        said("lyricsfile"),
        said("syncedLyrics"),
        said("plainLyrics"),
        hints,
    );
    let instrumental = || (instrumental == Some(true)).then(|| Lyrics::of(Body::Instrumental));
    match words.or_else(instrumental) {
        Some(lyrics) => Record::Words(Box::new(Candidate { lyrics, matched })),
        None => Record::Hollow,
    }
}

/// The best of the three forms that can be read. The server's own plain text still carries stamps when only synced
/// words were published, so plain is only looked at when there is nothing better; the reader takes stamps off.
fn words(
    lyricsfile: Option<&str>,
    synced: Option<&str>,
    plain: Option<&str>,
    hints: ParseHints,
) -> Option<Lyrics> {
    let good = |kind: TextKind, text: &str| {
        let lyrics = read(kind, text, hints).ok()?;
        (lyrics.quality() > Quality::None).then_some(lyrics)
    };
    let file = lyricsfile.and_then(|text| good(TextKind::Lyricsfile, text));
    let file = file.filter(|lyrics| lyrics.quality() == Quality::Word);
    let timed = || {
        let lyrics = synced.and_then(|text| good(TextKind::Lrc, text))?;
        (lyrics.quality() >= Quality::Line).then_some(lyrics)
    };
    let untimed = || plain.and_then(|text| good(TextKind::Sniff, text));
    let claimed = || synced.and_then(|text| good(TextKind::Plain, text));
    file.or_else(timed).or_else(untimed).or_else(claimed)
}

/// Seconds with a fraction as milliseconds; zero is unknown.
fn millis(seconds: &Value) -> Option<u64> {
    let millis = (seconds.as_f64()? * 1000.0).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    (1.0..9.0e15).contains(&millis).then_some(millis as u64)
}
