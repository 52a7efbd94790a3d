//! What is particular to files beside a track and tags in it.

use crate::drive::{Played, Sent, json, play, reply};
use crate::rows::local::{beside, sidecar};
use crate::rows::{ask, song};
use segue_core::dispatch::Quality;
use segue_core::io::NetError;
use segue_core::lyrics::{Body, Copy, Song};
use segue_core::provider::local::{Beside, Embedded, Sidecar};
use segue_core::provider::{Candidate, Kind, MissReason, Outcome, Trouble};

const LRC: &str = "[00:12.50]Paper boats\n[00:17.00]Lamps of tin\n";

fn in_folders(paths: &[&str]) -> Song {
    let copies = paths.iter().map(|path| Copy {
        instance_id: "shelf".to_owned(),
        remote_id: (*path).to_owned(),
        folder: true,
    });
    Song {
        copies: copies.collect(),
        ..song()
    }
}

fn look_up(song: &Song, mut answer: impl FnMut(&str) -> Sent) -> Played {
    play(ask("local", Kind::Local, song), |_, request| {
        answer(&request.uri().to_string())
    })
}

fn with(sidecars: Vec<Sidecar>, embedded: Vec<Embedded>) -> Played {
    let answer = beside(&Beside { sidecars, embedded });
    look_up(&in_folders(&["a.flac"]), |_| json(answer.clone()))
}

fn found(played: &Played) -> Vec<(Quality, &str)> {
    let Outcome::Found(found) = &played.outcome else {
        panic!("{:?}", played.outcome)
    };
    found.iter().map(name_of).collect()
}

fn name_of(one: &Candidate) -> (Quality, &str) {
    let name = one.matched.provider_id.as_deref();
    (one.lyrics.quality(), name.unwrap_or_default())
}

fn text(lang: Option<&str>, text: &str) -> Embedded {
    Embedded::Text {
        lang: lang.map(str::to_owned),
        description: None,
        text: text.to_owned(),
    }
}

fn sylt(entries: &[(u64, &str)]) -> Embedded {
    Embedded::Sylt {
        lang: Some("eng".to_owned()),
        entries: entries
            .iter()
            .map(|(at, text)| (*at, (*text).to_owned()))
            .collect(),
    }
}

#[test]
fn any_path_can_be_asked_for() {
    let mut seen = Vec::new();
    let song = in_folders(&["Jóga/01 100% #1? & more.flac"]);
    look_up(&song, |uri| {
        seen.push(uri.to_owned());
        json("{\"sidecars\":[],\"embedded\":[]}")
    });
    assert_eq!(
        seen,
        ["folder://shelf/lyrics?path=J%C3%B3ga/01%20100%25%20%231%3F%20%26%20more.flac"]
    );
}

#[test]
fn sidecars_come_before_tags_and_a_timed_frame_before_other_tags() {
    let played = with(
        vec![
            sidecar("a.lrc", LRC),
            sidecar("a.txt", "Paper boats\nLamps of tin"),
        ],
        vec![
            text(None, "Paper boats\nLamps"),
            sylt(&[(10, "Paper boats"), (900, "Lamps")]),
        ],
    );
    let expected = [
        (Quality::Line, "a.lrc"),
        (Quality::Plain, "a.txt"),
        (Quality::Line, "SYLT"),
        (Quality::Plain, "tag"),
    ];
    assert_eq!(found(&played), expected);
}

/// A .txt may hold LRC, and tags for plain words often do.
#[test]
fn what_a_text_is_decides_not_its_place() {
    let played = with(vec![sidecar("a.TXT", LRC)], vec![text(Some("eng"), LRC)]);
    assert_eq!(
        found(&played),
        [(Quality::Line, "a.TXT"), (Quality::Line, "tag")]
    );
}

#[test]
fn encodings_of_old_files_are_read() {
    let utf16: Vec<u8> = [0xFEFF_u16]
        .into_iter()
        .chain(LRC.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let bom = [b"\xEF\xBB\xBF", LRC.as_bytes()].concat();
    for bytes in [utf16, bom] {
        let played = with(vec![sidecar("a.lrc", bytes)], Vec::new());
        assert_eq!(found(&played), [(Quality::Line, "a.lrc")]);
    }
}

/// Otherwise our own words would win over every better answer for ever.
#[test]
fn a_sidecar_that_we_delivered_proves_nothing() {
    let played = with(vec![sidecar("ours.lrc", LRC)], Vec::new());
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
    let both = vec![
        sidecar("ours.lrc", LRC),
        sidecar("a.txt", "Paper boats\nLamps"),
    ];
    assert_eq!(found(&with(both, Vec::new())), [(Quality::Plain, "a.txt")]);
}

#[test]
fn what_cannot_be_read_is_passed_over() {
    let page = "<!DOCTYPE html><html><body>404</body></html>";
    let sidecars = vec![
        sidecar("a.ttml", "<tt"),
        sidecar("a.yaml", "version: ["),
        sidecar("a.lrc", page),
        sidecar("a.srt", "\u{0}\u{1}"),
        sidecar("a.docx", "Paper boats"),
        sidecar("noextension", "Paper boats"),
    ];
    let played = with(sidecars, vec![text(None, "  ")]);
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NoLyrics));
}

#[test]
fn the_language_of_a_tag_is_kept_unless_it_is_a_filler() {
    for (lang, kept) in [
        (Some("eng"), Some("eng")),
        (Some("Xxx"), None),
        (Some("und"), None),
        (Some("   "), None),
        (None, None),
    ] {
        let played = with(Vec::new(), vec![text(lang, "Paper boats\nLamps of tin")]);
        let Outcome::Found(found) = &played.outcome else {
            panic!()
        };
        assert_eq!(found[0].lyrics.lang.as_deref(), kept, "{lang:?}");
    }
}

fn lines_of(entries: &[(u64, &str)]) -> Vec<(u64, String, Vec<String>)> {
    let played = with(Vec::new(), vec![sylt(entries)]);
    let Outcome::Found(found) = &played.outcome else {
        panic!("{:?}", played.outcome)
    };
    let Body::Synced(lines) = &found[0].lyrics.body else {
        panic!()
    };
    let words = |line: &segue_core::lyrics::Line| {
        let words = line.words.iter();
        words
            .map(|word| format!("{}@{}", &line.text[word.bytes.clone()], word.start))
            .collect()
    };
    lines
        .iter()
        .map(|line| (line.start, line.text.clone(), words(line)))
        .collect()
}

#[test]
fn a_timed_frame_of_lines_has_a_line_for_each_piece() {
    let expected = vec![
        (10, "Paper boats".to_owned(), Vec::new()),
        (900, "Lamps of tin".to_owned(), Vec::new()),
    ];
    assert_eq!(
        lines_of(&[(10, "Paper boats"), (900, "Lamps of tin")]),
        expected
    );
    // The usual form: each piece begins with the break before it.
    assert_eq!(
        lines_of(&[(10, "\nPaper boats"), (900, "\nLamps of tin")]),
        expected
    );
    assert_eq!(
        lines_of(&[(10, "Paper boats\r\n"), (900, "Lamps of tin\n")]),
        expected
    );
    // In disorder.
    assert_eq!(
        lines_of(&[(900, "Lamps of tin"), (10, "Paper boats")]),
        expected
    );
}

#[test]
fn a_timed_frame_of_syllables_has_words() {
    let frame = [
        (10, "Pa"),
        (200, "per"),
        (400, " boats"),
        (900, "\n Låmps"),
        (1200, " of "),
        (1300, ""),
        (1400, "tin"),
    ];
    let word = |word: &str| word.to_owned();
    assert_eq!(
        lines_of(&frame),
        [
            (
                10,
                "Paper boats".to_owned(),
                ["Pa@10", "per@200", "boats@400"].map(word).to_vec()
            ),
            (
                900,
                "Låmps of tin".to_owned(),
                ["Låmps@900", "of@1200", "tin@1400"].map(word).to_vec()
            ),
        ]
    );
}

#[test]
fn a_file_that_is_gone_is_a_miss_and_a_folder_that_is_gone_is_not() {
    let song = in_folders(&["a.flac", "b.flac"]);
    let played = look_up(&song, |_| Ok(reply(404, &[], "")));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotFound));
    let played = look_up(&song, |_| Ok(reply(503, &[], "")));
    assert_eq!(played.outcome, Outcome::Failed(Trouble::Server(503)));
    let played = look_up(&song, |_| Err(NetError::Unreachable));
    assert_eq!(
        played.outcome,
        Outcome::Failed(Trouble::Net(NetError::Unreachable))
    );
}

#[test]
fn a_song_outside_of_folders_cannot_be_asked_for_here() {
    let mut elsewhere = song();
    elsewhere.copies.retain(|copy| !copy.folder);
    let played = look_up(&elsewhere, |_| panic!("asks"));
    assert_eq!(played.outcome, Outcome::Miss(MissReason::NotAskable));
}

#[test]
fn the_next_copy_is_asked_until_there_are_timed_words() {
    let words = |name: &str, text: &str| {
        json(beside(&Beside {
            sidecars: vec![sidecar(name, text)],
            embedded: Vec::new(),
        }))
    };
    let song = in_folders(&["a.flac", "b.flac", "c.flac"]);
    let played = look_up(&song, |uri| match uri.rsplit('=').next() {
        Some("a.flac") => words("a.txt", "Paper boats\nLamps of tin"),
        Some("b.flac") => words("b.lrc", LRC),
        _ => panic!("asks on"),
    });
    assert_eq!(
        found(&played),
        [(Quality::Plain, "a.txt"), (Quality::Line, "b.lrc")]
    );
}
