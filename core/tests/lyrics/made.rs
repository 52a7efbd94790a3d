//! Values for tests, in a line each.

use segue_core::lyrics::lrc::{ParseHints, Parsed, parse};
use segue_core::lyrics::{Body, Line, Lyrics, Matched, Song};

/// Reads LRC that must be readable.
pub(crate) fn parsed(text: &str) -> Parsed {
    parse(text, ParseHints::default()).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

/// Reads LRC for a track of this length.
pub(crate) fn parsed_for(text: &str, duration_ms: u64) -> Parsed {
    let duration_ms = Some(duration_ms);
    parse(text, ParseHints { duration_ms }).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

/// Its lines, which must be timed.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    timed(parsed(text).lyrics)
}

/// The timed lines of lyrics.
pub(crate) fn timed(lyrics: Lyrics) -> Vec<Line> {
    match lyrics.body {
        Body::Synced(lines) => lines,
        other => panic!("not timed: {other:?}"),
    }
}

/// Times and texts.
pub(crate) fn pairs(lines: &[Line]) -> Vec<(u64, &str)> {
    lines.iter().map(|line| (line.start, &*line.text)).collect()
}

/// Timed lines without anything else.
pub(crate) fn synced(lines: &[(u64, &str)]) -> Lyrics {
    let line = |(start, text): &(u64, &str)| Line {
        start: *start,
        text: (*text).to_owned(),
        ..Line::default()
    };
    Lyrics::of(Body::Synced(lines.iter().map(line).collect()))
}

/// Plain lines.
pub(crate) fn plain(lines: &[&str]) -> Lyrics {
    Lyrics::of(Body::Plain(
        lines.iter().map(|line| (*line).to_owned()).collect(),
    ))
}

/// A song of 200 seconds.
pub(crate) fn a_song(title: &str, artist: &str) -> Song {
    Song {
        title: title.to_owned(),
        artist: artist.to_owned(),
        artists: vec![artist.to_owned()],
        duration_ms: Some(200_000),
        ..Song::default()
    }
}

/// An answer that says this of itself.
pub(crate) fn matched(title: &str, artist: &str, duration_ms: u64) -> Matched {
    Matched {
        title: Some(title.to_owned()),
        artist: Some(artist.to_owned()),
        duration_ms: Some(duration_ms),
        ..Matched::default()
    }
}

/// Words that fit any song of a minute or more.
pub(crate) fn some_words() -> Lyrics {
    synced(&[
        (1_000, "the kettle sings"),
        (9_500, "the windows weep"),
        (30_000, "and nobody is home"),
    ])
}
