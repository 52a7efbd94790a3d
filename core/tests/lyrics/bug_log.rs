//! What went wrong in other programs (the bug log of lyrics.md section 6), each under its number with its smallest input.
//! Numbers that need a network, a queue or a file are held where those are.

use crate::made::{a_song, matched, pairs, parsed, plain, some_words, synced, timed};
use segue_core::lyrics::accept::{Judgement, Mistimed, RefusedBecause, Rules, best, judge};
use segue_core::lyrics::intake::{NotLyrics, Sifted, sift};
use segue_core::lyrics::lrc::{LrcStyle, Warning, WriteOptions, write};
use segue_core::lyrics::query::{first, is_askable, more, primary_artist};
use segue_core::lyrics::script::is_romanised;
use segue_core::lyrics::text::{Undecodable, decode};
use segue_core::lyrics::{
    Body, Lyrics, ParseHints, Song, TextKind, Unreadable, plain as text, read, read_bytes,
};

fn seconds(song: Song, seconds: u64) -> Song {
    Song {
        duration_ms: Some(seconds * 1000),
        ..song
    }
}

fn is_accepted(song: &Song, lyrics: &Lyrics, theirs: &segue_core::lyrics::Matched) -> bool {
    matches!(
        judge(song, lyrics, theirs, &Rules::default()),
        Judgement::Accepted { .. }
    )
}

fn asked(song: &Song) -> Vec<(String, String)> {
    more(song)
        .into_iter()
        .map(|ask| (ask.title, ask.artist))
        .collect()
}

fn has(asks: &[(String, String)], title: &str, artist: &str) -> bool {
    asks.contains(&(title.to_owned(), artist.to_owned()))
}

#[test]
fn m1_m5_a_second_more_or_less_is_the_same_song() {
    for (id, ours, theirs) in [("M1", 241, 240), ("M1", 239, 240), ("M5", 182, 183)] {
        let song = seconds(a_song("Song", "A"), ours);
        assert!(
            is_accepted(&song, &some_words(), &matched("Song", "A", theirs * 1000)),
            "{id}"
        );
    }
}

#[test]
fn m3_a_title_of_an_asterisk_is_not_asked_for() {
    assert!(!is_askable(&a_song("*", "M83")));
}

#[test]
fn m7_a_live_track_does_not_get_the_times_of_the_studio() {
    let mut song = seconds(a_song("Song", "A"), 260);
    song.album = Some("Live".to_owned());
    let studio = matched("Song", "A", 200_000);
    let rules = Rules::default();
    let judged = judge(&song, &some_words(), &studio, &rules);
    assert!(matches!(
        judged,
        Judgement::WordsOnly {
            because: Mistimed::OtherLength,
            ..
        }
    ));
    let strict = Rules {
        words_of_other_recordings: false,
        ..rules
    };
    let judged = judge(&song, &some_words(), &studio, &strict);
    assert_eq!(judged, Judgement::Refused(RefusedBecause::OtherLength));
}

#[test]
fn m9_of_two_languages_the_one_that_another_candidate_speaks_goes_first() {
    let song = a_song("UNDEAD", "YOASOBI");
    let exact = matched("UNDEAD", "YOASOBI", 200_000);
    let english = synced(&[(1_000, "I am undead"), (5_000, "you are unalive")]);
    let japanese = synced(&[(1_000, "不死身のからだで"), (5_000, "生きてゆくのさ")]);
    let candidates = [(&english, &exact), (&japanese, &exact)];
    let pick = best(&song, &candidates, &Rules::default()).expect("both fit");
    assert_eq!(pick.index, 1);
}

#[test]
fn m11_remaster_suffixes_go_in_the_second_question_only() {
    let song = a_song(
        "Hypnotize - 2014 Remastered Version",
        "The Notorious B.I.G.",
    );
    assert_eq!(first(&song).title, song.title);
    assert_eq!(more(&song)[0].title, "Hypnotize");
    assert!(is_accepted(
        &song,
        &some_words(),
        &matched("Hypnotize", "Notorious B.I.G.", 200_000)
    ));
}

#[test]
fn m13_guests_stay_in_the_first_question() {
    let song = a_song("Song (feat. Y)", "X");
    assert_eq!(first(&song).title, "Song (feat. Y)");
    assert!(has(&asked(&song), "Song", "X"));
}

#[test]
fn m15_a_slash_parts_artists_but_not_known_names() {
    assert_eq!(primary_artist(&a_song("Song", "AC/DC")), "AC/DC");
    assert_eq!(asked(&a_song("Song", "AC/DC")), []);
    let both = a_song("Song", "A/B");
    assert_eq!(first(&both).artist, "A/B");
    assert!(has(&asked(&both), "Song", "A"));
    assert!(is_accepted(
        &both,
        &some_words(),
        &matched("Song", "A", 200_000)
    ));
}

#[test]
fn m17_a_sampler_is_asked_for_again_without_the_album() {
    let mut song = a_song("Song", "Neko Case");
    song.album = Some("Some Sampler 7".to_owned());
    assert!(first(&song).album.is_some());
    let again = more(&song);
    assert_eq!((&*again[0].title, &again[0].album), ("Song", &None));
}

#[test]
fn m19_the_base_title_is_asked_for_second() {
    let song = a_song("Où sont les roses (intro)", "A");
    assert!(has(&asked(&song), "Où sont les roses", "A"));
    assert!(is_accepted(
        &song,
        &some_words(),
        &matched("Où sont les roses", "A", 200_000)
    ));
}

#[test]
fn m21_both_names_of_a_title_are_asked_for() {
    let asks = asked(&a_song("Into The Night (夜に駆ける)", "YOASOBI"));
    assert!(has(&asks, "夜に駆ける", "YOASOBI") && has(&asks, "Into The Night", "YOASOBI"));
}

#[test]
fn m23_romanised_text_ranks_below_native_text_and_is_flagged() {
    let song = a_song("夜に駆ける", "YOASOBI");
    let exact = matched("夜に駆ける", "YOASOBI", 200_000);
    let romanised = synced(&[(1_000, "shizumu you ni"), (5_000, "tokete yuku you ni")]);
    let native = plain(&["沈むように", "溶けてゆくように"]);
    let candidates = [(&romanised, &exact), (&native, &exact)];
    let pick = best(&song, &candidates, &Rules::default()).expect("both fit");
    assert_eq!(pick.index, 1);
    assert!(is_romanised(&song, &romanised));
    let alone = best(&song, &candidates[..1], &Rules::default());
    assert_eq!(alone.map(|pick| pick.index), Some(0));
}

/// Number, text, and the timed lines in it.
type Read = (&'static str, &'static str, &'static [(u64, &'static str)]);

/// Every number that is about reading stamps.
const READ: [Read; 12] = [
    ("L1", "[00:25.831]x", &[(25_831, "x")]),
    ("L5", "\u{feff}[00:01.00]a", &[(1_000, "a")]),
    ("L9", "[01:23:45.678]a", &[(5_025_678, "a")]),
    ("L9", "[83:45.67]a", &[(5_025_670, "a")]),
    ("L11", "[00:10.34]a[00:15.86]", &[(10_340, "a")]),
    (
        "L13",
        "[00:01.00]b\n[00:01.00]a",
        &[(1_000, "b"), (1_000, "a")],
    ),
    (
        "L15",
        "[00:05.00]a\nand on\n[00:09.00]b",
        &[(5_000, "a and on"), (9_000, "b")],
    ),
    (
        "L15",
        "by nobody\n[00:05.00]a\n[00:09.00]b",
        &[(5_000, "a"), (9_000, "b")],
    ),
    (
        "L17",
        "[00:05.00][Whistling]\n[00:06.00]a",
        &[(5_000, "[Whistling]"), (6_000, "a")],
    ),
    ("L21", "[00:01.00]x", &[(1_000, "x")]),
    ("L21", "[00:01.00] x", &[(1_000, "x")]),
    (
        "S5",
        "[00:01.00]<3 you & <b>me</b>",
        &[(1_000, "<3 you & <b>me</b>")],
    ),
];

#[test]
fn l1_to_l21_stamps_are_read_as_they_are_meant() {
    for (id, text, expected) in READ {
        assert_eq!(pairs(&timed(parsed(text).lyrics)), expected, "{id}: {text}");
    }
}

#[test]
fn l3_hundredths_are_not_tenths() {
    let written = write(&synced(&[(23, "a")]), &WriteOptions::default());
    assert_eq!(written, "[00:00.02]a\n");
}

#[test]
fn l7_an_offset_of_175_99_is_no_176_seconds() {
    let parsed = parsed("[offset:+175.99]\n[00:01.00]a");
    assert_eq!(parsed.lyrics.offset_ms, 175);
    let far = crate::made::parsed("[offset:+9999999]\n[00:01.00]a");
    assert_eq!(far.lyrics.offset_ms, 0);
    assert!(far.warnings.contains(&Warning::OffsetIgnored));
}

#[test]
fn l15_a_text_with_one_stamp_among_many_lines_is_plain() {
    let lyrics = parsed("one\n[00:00.00]two\nthree\nfour").lyrics;
    assert_eq!(lyrics, plain(&["one", "two", "three", "four"]));
}

#[test]
fn l19_no_blank_line_is_written_between_timed_ones() {
    let lyrics = parsed("[00:01.00]a\n\n\n[00:02.00]\n\n[00:03.00]b").lyrics;
    for style in [LrcStyle::Line, LrcStyle::Enhanced] {
        let options = WriteOptions {
            style,
            ..WriteOptions::default()
        };
        assert!(!write(&lyrics, &options).lines().any(str::is_empty));
    }
}

#[test]
fn l23_foreign_encodings_are_read_or_refused_and_never_mangled() {
    let line = "[00:01.00]沈むように溶けてゆくように、二人だけの空が広がる夜に";
    let utf16: Vec<u8> = format!("\u{feff}{line}")
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let sjis = encoding_rs::SHIFT_JIS.encode(line).0.into_owned();
    let gbk = encoding_rs::GBK.encode(line).0.into_owned();
    assert_eq!(decode(&utf16).as_deref(), Ok(line));
    assert_eq!(decode(&sjis).as_deref(), Ok(line));
    // Japanese in a Chinese encoding looks like neither.
    assert_eq!(decode(&gbk), Err(Undecodable::Encoding));
    let chinese = "[00:01.00]月亮代表我的心，你问我爱你有多深";
    let gbk = encoding_rs::GBK.encode(chinese).0.into_owned();
    assert_eq!(decode(&gbk).as_deref(), Ok(chinese));
    let mangled = "[00:01.00]\u{fffd}\u{fffd}\u{fffd}";
    let refused = read_bytes(TextKind::Sniff, mangled.as_bytes(), ParseHints::default());
    assert_eq!(refused, Err(Unreadable::Text(Undecodable::Encoding)));
}

#[test]
fn l25_stanzas_stay_apart_in_plain_text() {
    let lyrics = read(
        TextKind::Plain,
        "a\nb\n\nc\r\n\r\nd\n",
        ParseHints::default(),
    )
    .expect("words");
    assert_eq!(text::write(&lyrics), "a\nb\n\nc\n\nd\n");
    let from_timed = synced(&[(1_000, "a"), (2_000, ""), (3_000, "b")]);
    assert_eq!(text::write(&from_timed), "a\n\nb\n");
}

#[test]
fn p3_the_word_instrumental_is_never_shown_as_lyrics() {
    for text in ["Instrumental", "(Instrumental)", "[00:00.00]Instrumental"] {
        let lyrics = read(TextKind::Sniff, text, ParseHints::default()).expect("text");
        assert_eq!(
            sift(lyrics, &a_song("Song", "A")),
            Sifted::Instrumental,
            "{text}"
        );
    }
    assert_eq!(text::write(&Lyrics::of(Body::Instrumental)), "");
}

#[test]
fn p5_credits_alone_are_nothing() {
    let text = "[00:00.00]作词 : X\n[00:00.00]作曲 : Y\n[00:01.00]编曲 : Z";
    let lyrics = read(TextKind::Lrc, text, ParseHints::default()).expect("text");
    assert_eq!(
        sift(lyrics, &a_song("Song", "A")),
        Sifted::Nothing(NotLyrics::CreditsOnly)
    );
}

#[test]
fn r9_a_page_or_json_instead_of_words_is_refused() {
    let hints = ParseHints::default();
    for (body, why) in [
        (
            "<html><head><title>404 Not Found</title>",
            Undecodable::Html,
        ),
        (
            "{\"code\":404,\"name\":\"TrackNotFound\"}",
            Undecodable::Json,
        ),
    ] {
        for kind in [TextKind::Lrc, TextKind::Plain, TextKind::Sniff] {
            assert_eq!(
                read(kind, body, hints),
                Err(Unreadable::Text(why)),
                "{body}"
            );
        }
    }
}

#[test]
fn s1_no_stamp_is_left_in_a_line() {
    let text = "[00:01.00]<00:01.00>a [00:02.00]b<00:03.00>\nc[00:04.00]\n[00:05.00]x[00:06.00]y";
    let lines = timed(parsed(text).lyrics);
    assert!(
        lines
            .iter()
            .all(|line| !line.text.contains([':', '[', '<'])),
        "{lines:?}"
    );
    let left_in = read(TextKind::Plain, text, ParseHints::default()).expect("words");
    assert_eq!(text::write(&left_in), "a b\nc\nxy\n");
}
