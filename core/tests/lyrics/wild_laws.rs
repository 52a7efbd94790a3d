//! Laws for whatever a stranger sends: no reader breaks, no judge is fooled into nonsense.

use crate::lrc_laws::lrc_ish;
use crate::made::{plain, synced};
use proptest::prelude::*;
use segue_core::lyrics::accept::{Judgement, Rules, admit, best, judge};
use segue_core::lyrics::document::{Document, is_well_formed};
use segue_core::lyrics::query::{first, is_askable, more};
use segue_core::lyrics::text::{LINE_LIMIT, decode};
use segue_core::lyrics::{Body, Lyrics, Matched, ParseHints, Song, TextKind, read, read_bytes};

const KINDS: [TextKind; 7] = [
    TextKind::Lrc,
    TextKind::Enhanced,
    TextKind::Ttml,
    TextKind::Lyricsfile,
    TextKind::Srt,
    TextKind::Plain,
    TextKind::Sniff,
];

/// Pieces of the other formats in any order: mostly broken, sometimes not.
fn document_ish() -> impl Strategy<Value = String> {
    let ttml = prop::sample::select(vec![
        "<tt>",
        "</tt>",
        "<body>",
        "</body>",
        "<div>",
        "</div>",
        "<p begin='1s' end='2s'>",
        "<p begin='0:01'>",
        "<p>",
        "</p>",
        "<br/>",
        "<span begin='1.5'>",
        "<span begin='9:9:9:9' end='1t'>",
        "<span ttm:role='x-bg'>",
        "</span>",
        "&amp;",
        "&#x0;",
        "&b;",
        "<![CDATA[x]]>",
        "<!DOCTYPE tt [<!ENTITY b 'c'>]>",
        "word ",
        "\u{301}",
        "夜",
    ]);
    let yaml = prop::sample::select(vec![
        "version: '1.0'\n",
        "lines:\n",
        "lines: []\n",
        "- text: a b\n",
        "  start_ms: 1000\n",
        "  start_ms: 99999999999999999999\n",
        "  words:\n",
        "  - {text: 'a ', start_ms: 1000, end_ms: 5}\n",
        "  - {text: b, start_ms: 900}\n",
        "plain: |\n  x\n\n  y\n",
        "metadata: {instrumental: true}\n",
        "&a ",
        "*a",
        "? ",
        "[",
        "]",
        "{",
        "}",
        "---\n",
        "...\n",
        "!!str ",
        "\"\\x\"",
        "\t",
    ]);
    let srt = prop::sample::select(vec![
        "1\n",
        "00:00:01,000 --> 00:00:02,000\n",
        "99999:99:99,999 --> 0:0:0,000\n",
        "-->",
        "<i>a</i>\n",
        "{\\an8}",
        "\n\n",
        "WEBVTT\n",
    ]);
    let of = |piece: BoxedStrategy<&'static str>| {
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    };
    prop_oneof![
        of(ttml.clone().boxed())
            .prop_map(|inside| format!("<tt><body><div>{inside}</div></body></tt>")),
        of(ttml.boxed()),
        of(yaml.clone().boxed()).prop_map(|rest| format!("version: '1.0'\nlines:\n{rest}")),
        of(yaml.boxed()),
        of(srt.boxed()),
    ]
}

/// Names as libraries have them, and worse.
fn a_name() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "Song",
        "song",
        "夜に",
        "The",
        " ",
        " ",
        " - ",
        "(",
        ")",
        "[Live]",
        "(feat. X)",
        "Part 2",
        "II",
        "/",
        " & ",
        " feat. ",
        "Remaster",
        "2009",
        "é",
        "e\u{301}",
        "*",
        "'",
        "Ω",
        "AC/DC",
        ", ",
        "x",
        "ß",
    ]);
    prop_oneof![
        4 => prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()),
        1 => any::<String>(),
    ]
}

fn a_song() -> impl Strategy<Value = Song> {
    (
        a_name(),
        a_name(),
        prop::option::of(a_name()),
        prop::option::of(prop_oneof![30_000..900_000u64, any::<u64>()]),
    )
        .prop_map(|(title, artist, album, duration_ms)| Song {
            artists: vec![artist.clone()],
            title,
            artist,
            album,
            duration_ms,
            ..Song::default()
        })
}

fn itself(song: &Song) -> Matched {
    Matched {
        title: Some(song.title.clone()),
        artist: Some(song.artist.clone()),
        album: song.album.clone(),
        duration_ms: song.duration_ms,
        ..Matched::default()
    }
}

/// Words that no rule of intake has anything against, within half a minute.
fn innocent() -> impl Strategy<Value = Lyrics> {
    prop_oneof![
        Just(synced(&[
            (1_000, "the kettle sings"),
            (9_000, "the windows weep")
        ])),
        Just(plain(&["the kettle sings", "the windows weep"])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_a_reader(text in prop_oneof![lrc_ish(), document_ish(), any::<String>()]) {
        for kind in KINDS {
            if let Ok(lyrics) = read(kind, &text, ParseHints::default()) {
                prop_assert!(is_well_formed(&lyrics), "{:?}", kind);
                if let Body::Synced(lines) = &lyrics.body {
                    prop_assert!(lines.len() <= LINE_LIMIT);
                }
                let document = Document::of(&lyrics);
                prop_assert_eq!(Document::read(&document.json), Ok(lyrics));
            }
        }
    }

    #[test]
    fn no_bytes_break_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode(&bytes);
        let _ = read_bytes(TextKind::Sniff, &bytes, ParseHints::default());
    }

    #[test]
    fn no_names_break_the_judge(song in a_song(), theirs in a_song(), text in lrc_ish(), offset in any::<i64>()) {
        let lyrics = read(TextKind::Sniff, &text, ParseHints { duration_ms: song.duration_ms });
        let lyrics = Lyrics { offset_ms: offset, ..lyrics.unwrap_or_else(|_| plain(&["la"])) };
        let judged = judge(&song, &lyrics, &itself(&theirs), &Rules::default());
        prop_assert!(judged.score().is_none_or(|score| score <= 1_000));
        let admitted = admit(&song, lyrics, &itself(&theirs), &Rules::default());
        prop_assert_eq!(admitted.is_ok(), judged.score().is_some());
        if let Ok(admitted) = admitted {
            prop_assert!(is_well_formed(&admitted.lyrics));
        }
        prop_assert!(more(&song).len() <= 3);
        let ask = first(&song);
        prop_assert!(!is_askable(&song) || !ask.title.is_empty());
    }

    #[test]
    fn a_song_is_always_itself(song in a_song(), lyrics in innocent()) {
        let song = Song { duration_ms: song.duration_ms.filter(|ms| *ms > 30_000), ..song };
        let is_its_own = matches!(judge(&song, &lyrics, &itself(&song), &Rules::default()), Judgement::Accepted { .. });
        prop_assert!(is_its_own);
    }

    #[test]
    fn the_order_of_candidates_changes_no_score(song in a_song(), others in prop::collection::vec((a_song(), innocent()), 1..5)) {
        let mut candidates: Vec<(Lyrics, Matched)> = others.into_iter().map(|(other, lyrics)| (lyrics, itself(&other))).collect();
        candidates.push((plain(&["the kettle sings"]), itself(&song)));
        let chosen = |candidates: &[(Lyrics, Matched)]| {
            let borrowed: Vec<_> = candidates.iter().map(|(lyrics, matched)| (lyrics, matched)).collect();
            best(&song, &borrowed, &Rules::default()).map(|pick| (pick.score, candidates[pick.index].0.quality()))
        };
        let forwards = chosen(&candidates);
        candidates.reverse();
        prop_assert_eq!(forwards, chosen(&candidates));
        prop_assert!(forwards.is_some());
    }
}
