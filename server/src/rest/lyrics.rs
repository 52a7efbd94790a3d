//! `getLyrics` and `getLyricsBySongId` (OpenSubsonic `songLyrics`, versions 1 and 2), from the stored documents.
//!
//! Both endpoints serve the same document. One that cannot be read is told to the operator, and to the client it is as
//! if it were not there: lyrics are never an error.

use super::browse::the_song;
use super::call::Call;
use super::document::{Doc, is_xml_char};
use super::envelope::ApiError;
use crate::hub::{Hub, HubRuntime};
use crate::wanted;
use segue_core::lyrics::document::Document;
use segue_core::lyrics::{Body, Line, Lyrics, Word, layers, plain};
use segue_sqlite::{NamedTrack, TrackLyrics};

/// What stands for a language that nobody knows (OpenSubsonic, `StructuredLyrics.lang`).
const UNKNOWN_LANGUAGE: &str = "xxx";

/// Names under which texts keep what is sung behind, and what all sing.
const BEHIND: [&str; 4] = ["bg", "background", "backing", "x-bg"];
const TOGETHER: [&str; 4] = ["group", "all", "both", "choir"];

/// `getLyricsBySongId`. With `enhanced=true` words have their times (version 2); without, the answer is that of
/// version 1 and has no other keys, for old clients read strictly.
pub(super) async fn by_song_id<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let is_enhanced = call.params.flag("enhanced", false)?;
    let song = the_song(hub, call).await?;
    let id = song.track.id.clone();
    let stored = hub.read(move |r| r.lyrics_of_track(&id)).await?;
    let entries = match stored {
        Some(stored) => {
            readable(&stored).map_or_else(Vec::new, |lyrics| texts(&lyrics, is_enhanced))
        }
        None => {
            wanted::note(hub, &song.track.id);
            Vec::new()
        }
    };
    let entries = entries.into_iter().map(|entry| {
        Doc::new()
            .with("displayArtist", &song.track.artist_name)
            .with("displayTitle", &song.track.title)
            .with_all(entry)
    });
    Ok(Doc::new().with(
        "lyricsList",
        Doc::new().with_list("structuredLyrics", entries),
    ))
}

/// `getLyrics`: by artist and title, without times. Of several songs of that name, one that has lyrics.
pub(super) async fn by_name<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    let (artist, title) = (call.params.get("artist"), call.params.get("title"));
    let found = match artist.zip(title) {
        Some((artist, title)) => {
            let (artist, title) = (artist.to_owned(), title.to_owned());
            hub.read(move |r| r.tracks_named(&artist, &title)).await?
        }
        None => Vec::new(),
    };
    let song = found.into_iter().next();
    if let Some(NamedTrack {
        track_id,
        lyrics: None,
        ..
    }) = &song
    {
        wanted::note(hub, track_id);
    }
    let text = song.and_then(|song| {
        let lyrics = readable(song.lyrics.as_ref()?)?;
        Some(
            Doc::new()
                .with("artist", song.artist)
                .with("title", song.title)
                .with_content("value", untimed(&lyrics)?),
        )
    });
    Ok(Doc::new().with("lyrics", text.unwrap_or_default()))
}

fn readable(stored: &TrackLyrics) -> Option<Lyrics> {
    match Document::read(&stored.body) {
        Ok(lyrics) => Some(lyrics),
        Err(error) => {
            tracing::error!(document = stored.document_id, %error, "stored lyrics cannot be read");
            None
        }
    }
}

/// The words alone; `None` when there is nothing to sing.
fn untimed(lyrics: &Lyrics) -> Option<String> {
    let lines = plain::lines_of(lyrics);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The words, and in version 2 what they mean, where that is known to be a text of its own. Version 1 has no word for
/// which is which: there the lines stay as they were found.
fn texts(lyrics: &Lyrics, is_enhanced: bool) -> Vec<Doc> {
    let layers = layers::split(lyrics).filter(|_| is_enhanced);
    let texts = match &layers {
        Some(layers) => vec![
            structured(&layers.main, Some("main")),
            structured(&layers.translation, Some("translation")),
        ],
        None => vec![structured(lyrics, is_enhanced.then_some("main"))],
    };
    texts.into_iter().flatten().collect()
}

/// One `StructuredLyrics`, without what it is called; `None` when there is nothing to sing. With its kind, as version 2 has
/// it.
fn structured(lyrics: &Lyrics, kind: Option<&str>) -> Option<Doc> {
    let head = Doc::new().with("lang", language(lyrics.lang.as_deref()));
    let shift = (lyrics.offset_ms != 0).then_some(lyrics.offset_ms);
    let text = |text: &str| Doc::new().with_content("value", text);
    let doc = match &lyrics.body {
        Body::Instrumental => return None,
        Body::Plain(lines) => head
            .with("synced", false)
            .with_known("offset", shift)
            .with_list("line", lines.iter().map(|line| text(line))),
        Body::Synced(lines) => {
            let timed = |line: &Line| {
                Doc::new()
                    .with("start", line.start)
                    .with_content("value", &line.text)
            };
            head.with("synced", true)
                .with_known("offset", shift)
                .with_list("line", lines.iter().map(timed))
        }
    };
    Some(match (kind, &lyrics.body) {
        (None, _) => doc,
        (Some(kind), Body::Synced(lines)) => doc.with("kind", kind).with_all(cues(lines)),
        (Some(kind), Body::Plain(_) | Body::Instrumental) => doc.with("kind", kind),
    })
}

/// `agents` and `cueLine` of the lines whose words have times; neither when there is none.
fn cues(lines: &[Line]) -> Doc {
    let worded: Vec<(usize, &Line)> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_worded(line))
        .collect();
    if worded.is_empty() {
        return Doc::new();
    }
    let agents = Agents::of(worded.iter().map(|(_, line)| *line));
    let cue_lines: Vec<Doc> = worded
        .iter()
        .map(|(index, line)| {
            Doc::new()
                .with("index", *index as u64)
                .with("start", line.start)
                .with_known("end", line.end)
                .with("value", &line.text)
                .with_known("agentId", agents.id_of(line))
                .with_list("cue", cues_of(line))
        })
        .collect();
    agents.list().with_list("cueLine", cue_lines)
}

/// Whether a line has words at places that hold in what is sent. A character that XML cannot carry is left out, which
/// would shift every place behind it.
fn is_worded(line: &Line) -> bool {
    let are_in_order = line
        .words
        .is_sorted_by(|a, b| a.bytes.end <= b.bytes.start && a.start <= b.start);
    line.words.iter().any(is_something)
        && line
            .words
            .iter()
            .all(|word| line.text.get(word.bytes.clone()).is_some())
        && are_in_order
        && line.text.chars().all(is_xml_char)
}

fn is_something(word: &Word) -> bool {
    !word.bytes.is_empty()
}

/// The cues of a line: places are inclusive bytes of its UTF-8; all have an end, or none.
fn cues_of(line: &Line) -> Vec<Doc> {
    let words = || line.words.iter().filter(|word| is_something(word));
    let has_ends = words().all(|word| word.end.is_some());
    let cue = |word: &Word| {
        Doc::new()
            .with("start", word.start)
            .with_known("end", word.end.filter(|_| has_ends))
            .with("byteStart", word.bytes.start as u64)
            .with("byteEnd", (word.bytes.end - 1) as u64)
            .with_content(
                "value",
                line.text.get(word.bytes.clone()).unwrap_or_default(),
            )
    };
    words().map(cue).collect()
}

/// Who sings: exactly one of them is the main voice, and every cue line names one, or there are none.
struct Agents<'a> {
    names: Vec<&'a str>,
    main: usize,
}

impl<'a> Agents<'a> {
    fn of(lines: impl Iterator<Item = &'a Line>) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for name in lines.filter_map(|line| line.agent.as_deref()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let is_voice = |name: &&str| role(name) == "voice";
        let main = names.iter().position(is_voice).unwrap_or(0);
        Agents { names, main }
    }

    /// A line that names nobody is the main voice's.
    fn id_of(&self, line: &Line) -> Option<&'a str> {
        let named = line.agent.as_deref();
        let known = named.and_then(|name| self.names.iter().find(|known| **known == name));
        known.or_else(|| self.names.get(self.main)).copied()
    }

    fn list(&self) -> Doc {
        if self.names.is_empty() {
            return Doc::new();
        }
        let agents = self.names.iter().enumerate().map(|(at, name)| {
            let role = if at == self.main { "main" } else { role(name) };
            Doc::new().with("id", *name).with("role", role)
        });
        Doc::new().with_each("agents", "agent", agents)
    }
}

fn role(name: &str) -> &'static str {
    let is_one_of = |words: &[&str]| words.iter().any(|word| name.eq_ignore_ascii_case(word));
    if is_one_of(&BEHIND) {
        "bg"
    } else if is_one_of(&TOGETHER) {
        "group"
    } else {
        "voice"
    }
}

/// The language as ISO 639 has it: of `en-GB` the `en`.
fn language(found: Option<&str>) -> String {
    let subtag = found.and_then(|lang| lang.split(['-', '_']).next());
    let is_code =
        |code: &&str| matches!(code.len(), 2 | 3) && code.bytes().all(|b| b.is_ascii_alphabetic());
    match subtag.filter(is_code) {
        Some(code) => code.to_ascii_lowercase(),
        None => UNKNOWN_LANGUAGE.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(start: u64, end: Option<u64>, bytes: std::ops::Range<usize>) -> Word {
        Word { start, end, bytes }
    }

    fn line(text: &str, words: Vec<Word>) -> Line {
        Line {
            text: text.to_owned(),
            words,
            ..Line::default()
        }
    }

    #[test]
    fn languages_are_iso_639_or_unknown() {
        for (found, shown) in [
            (None, "xxx"),
            (Some(""), "xxx"),
            (Some("en-GB"), "en"),
            (Some("JPN"), "jpn"),
            (Some("und"), "und"),
            (Some("english"), "xxx"),
            (Some("日本"), "xxx"),
        ] {
            assert_eq!(language(found), shown);
        }
    }

    #[test]
    fn s6_places_are_inclusive_bytes_and_ends_are_all_or_none() {
        let some = line(
            "あ é",
            vec![
                word(1, Some(2), 0..3),
                word(2, None, 4..6),
                word(3, None, 6..6),
            ],
        );
        let cues = cues_of(&some);
        assert_eq!(cues.len(), 2, "what has no bytes is no cue");
        assert_eq!(
            Doc::new().with_list("cue", cues).to_json("r"),
            r#"{"r":{"cue":[{"start":1,"byteStart":0,"byteEnd":2,"value":"あ"},{"start":2,"byteStart":4,"byteEnd":5,"value":"é"}]}}"#
        );
    }

    #[test]
    fn words_out_of_place_are_left_out() {
        assert!(!is_worded(&line("é", vec![word(1, None, 0..1)])));
        assert!(!is_worded(&line("a", vec![word(1, None, 0..9)])));
        assert!(!is_worded(&line("a\u{1}b", vec![word(1, None, 2..3)])));
        assert!(!is_worded(&line(
            "ab",
            vec![word(1, None, 0..2), word(2, None, 1..2)]
        )));
        assert!(!is_worded(&line("ab", vec![])));
        assert!(is_worded(&line("ab", vec![word(1, None, 0..2)])));
    }

    #[test]
    fn one_agent_is_the_main_voice() {
        let by = |agent: Option<&str>| Line {
            agent: agent.map(str::to_owned),
            ..Line::default()
        };
        let lines = [by(Some("bg")), by(Some("v1")), by(None), by(Some("v2"))];
        let agents = Agents::of(lines.iter());
        assert_eq!(
            agents.list().to_json("r"),
            r#"{"r":{"agents":[{"id":"bg","role":"bg"},{"id":"v1","role":"main"},{"id":"v2","role":"voice"}]}}"#
        );
        assert_eq!(agents.id_of(&lines[2]), Some("v1"));
        let nameless = [by(None)];
        let nobody = Agents::of(nameless.iter());
        assert_eq!(nobody.list(), Doc::new());
        assert_eq!(nobody.id_of(&lines[2]), None);
    }
}
