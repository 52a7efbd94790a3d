//! What a reply of PetitLyrics says: songs, none, or that the question is not welcome.

use crate::io::NetError;
use crate::lyrics::Matched;
use crate::provider::words::is_page;
use crate::provider::{MissReason, Outcome, Reply, Trouble, judge};
use crate::source::subsonic::read_xml;
use serde_json::Value;

/// The status of a reply in which all is well.
const WELL: &str = "00000000";

/// The most songs that are looked at.
const SONG_LIMIT: usize = 100;

/// One song of a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its number there; empty when none is given.
    pub(super) lyrics_id: String,
    pub(super) matched: Matched,
    /// In base 64, as sent.
    pub(super) data: String,
}

/// The songs of a reply, in its order; never empty.
pub(super) fn entries(reply: Result<Reply, NetError>) -> Result<Vec<Entry>, Outcome> {
    let reply = reply.map_err(|error| Outcome::Failed(Trouble::Net(error)))?;
    judge::status(&reply).map_err(Outcome::Failed)?;
    let text = std::str::from_utf8(&reply.body);
    let document = text
        .ok()
        .and_then(|text| read_xml(text.trim_start_matches('\u{feff}').trim()));
    let malformed = Outcome::Failed(match is_page(&reply.body) {
        true => Trouble::WrongService,
        false => Trouble::Malformed,
    });
    let Some(response) = document
        .as_ref()
        .and_then(|document| document.get("response"))
    else {
        return Err(malformed);
    };
    match text_of(response, "status") {
        Some(WELL) => {}
        // Its errors are numbers that nobody explains; all say that this question is not answered to us.
        Some(_) => return Err(Outcome::Failed(Trouble::Refused)),
        None => return Err(malformed),
    }
    let songs = response.pointer("/songs/0/song").and_then(Value::as_array);
    let entries: Vec<Entry> = songs
        .into_iter()
        .flatten()
        .take(SONG_LIMIT)
        .map(entry)
        .collect();
    match (entries.is_empty(), text_of(response, "returnedCount")) {
        (false, _) => Ok(entries),
        (true, Some("0")) => Err(Outcome::Miss(MissReason::NotFound)),
        // Announces songs and sends none.
        (true, _) => Err(malformed),
    }
}

fn entry(song: &Value) -> Entry {
    let text = |key| text_of(song, key).map(str::to_owned);
    let duration = text_of(song, "duration").and_then(|text| text.parse().ok());
    let lyrics_id = text("lyricsId").unwrap_or_default();
    Entry {
        matched: Matched {
            title: text("title"),
            artist: text("artist"),
            album: text("album"),
            duration_ms: duration.filter(|duration| *duration > 0),
            isrc: text("isrc").map(|isrc| isrc.replace('-', "").to_ascii_uppercase()),
            recording_mbid: None,
            provider_id: Some(lyrics_id.clone()).filter(|id| !id.is_empty()),
        },
        lyrics_id,
        data: text("lyricsData").unwrap_or_default(),
    }
}

/// The text of an element, or of the first of several.
pub(super) fn text_of<'a>(parent: &'a Value, name: &str) -> Option<&'a str> {
    let value = match parent.get(name)? {
        Value::Array(several) => several.first()?,
        one => one,
    };
    let text = value
        .as_str()
        .or_else(|| value.get("value")?.as_str())?
        .trim();
    (!text.is_empty()).then_some(text)
}
