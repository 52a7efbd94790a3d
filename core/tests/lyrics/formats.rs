//! TTML, Lyricsfile, SRT, and telling formats apart.

use crate::made::{pairs, plain, synced, timed};
use segue_core::lyrics::{Body, Line, Lyrics, ParseHints, TextKind, Unreadable, read};

fn reads(kind: TextKind, text: &str) -> Lyrics {
    read(kind, text, ParseHints::default()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn words(line: &Line) -> Vec<(u64, Option<u64>, &str)> {
    let words = line.words.iter();
    words
        .map(|word| (word.start, word.end, &line.text[word.bytes.clone()]))
        .collect()
}

const APPLE: &str = r#"<?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="u" xml:lang="ja">
<head><metadata><ttm:agent xml:id="v1"/><translation><text for="L1">not sung</text></translation></metadata></head>
<body dur="3:00.000"><div begin="9.5" end="20.0">
  <p begin="9.500" end="12.000" ttm:agent="v1"><span begin="9.500" end="10.000">Rock</span><span begin="10.000" end="10.500">&amp;roll</span>
    <span begin="10.5" end="11.0">now</span><span ttm:role="x-bg"><span begin="11.1" end="11.9">(ooh)</span></span><span ttm:role="x-translation">nicht</span></p>
  <p begin="00:15.250" end="0:16.5">夜に<br/>駆ける &#x266a;</p>
</div></body></tt>"#;

#[test]
fn ttml_has_lines_words_singers_and_voices_behind() {
    let lyrics = reads(TextKind::Ttml, APPLE);
    assert_eq!(lyrics.lang.as_deref(), Some("ja"));
    let lines = timed(lyrics);
    let expected = [
        (9_500, "Rock&roll now"),
        (11_100, "(ooh)"),
        (15_250, "夜に 駆ける ♪"),
    ];
    assert_eq!(pairs(&lines), expected);
    let first = [
        (9_500, Some(10_000), "Rock"),
        (10_000, Some(10_500), "&roll"),
        (10_500, Some(11_000), "now"),
    ];
    assert_eq!(words(&lines[0]), first);
    assert_eq!(lines[0].agent.as_deref(), Some("v1"));
    assert_eq!(
        (lines[1].agent.as_deref(), lines[1].end),
        (Some("bg"), Some(11_900))
    );
    assert_eq!(lines[2].end, Some(16_500));
}

#[test]
fn ttml_times_have_many_forms() {
    let at = |begin: &str| {
        let text = format!(
            r#"<tt xmlns:ttp="p" ttp:frameRate="25" ttp:tickRate="1000"><body><div><p begin="{begin}">x</p></div></body></tt>"#
        );
        timed(reads(TextKind::Ttml, &text))[0].start
    };
    for (begin, ms) in [
        ("12.3s", 12_300),
        ("12.3", 12_300),
        ("1:02.5", 62_500),
        ("1:00:02.5", 3_602_500),
        ("00:00:01:05", 1_200),
        ("50f", 2_000),
        ("1500t", 1_500),
        ("250ms", 250),
        ("1.5m", 90_000),
        ("1h", 3_600_000),
    ] {
        assert_eq!(at(begin), ms, "{begin}");
    }
}

#[test]
fn ttml_words_that_begin_before_their_line_count_from_it() {
    let text = r#"<tt><body><div><p begin="10s" end="14s"><span begin="0s" end="1s">a</span> <span begin="2s">b</span></p></div></body></tt>"#;
    let lines = timed(reads(TextKind::Ttml, text));
    assert_eq!(
        words(&lines[0]),
        [(10_000, Some(11_000), "a"), (12_000, None, "b")]
    );
}

#[test]
fn ttml_without_times_is_plain() {
    let text = "<tt><body><div><p>one</p><p>two &lt;3</p></div></body></tt>";
    assert_eq!(reads(TextKind::Sniff, text), plain(&["one", "two <3"]));
}

#[test]
fn ttml_entities_are_not_expanded_and_broken_files_are_refused() {
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE tt [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><tt><body><div><p begin="1s">x&b;y</p></div></body></tt>"#;
    assert_eq!(pairs(&timed(reads(TextKind::Ttml, bomb))), [(1_000, "xy")]);
    let deep = format!("<tt>{}", "<div>".repeat(100_000));
    for broken in ["<tt><body>", "<tt><p></tt>", "<svg/>", "no xml", &deep] {
        let read = read(TextKind::Ttml, broken, ParseHints::default());
        assert_eq!(read, Err(Unreadable::Broken("TTML")), "{:.20}", broken);
    }
    let empty = read(TextKind::Ttml, "<tt><body/></tt>", ParseHints::default());
    assert_eq!(empty, Err(Unreadable::Empty));
}

const LYRICSFILE: &str = "version: \"1.0\"\nmetadata:\n  title: A\n  offset_ms: -120\n  language: en\n  instrumental: false\nlines:\n\
    - text: \"the kettle sings\"\n  start_ms: 1000\n  end_ms: 3000\n  words:\n  - {text: \"the \", start_ms: 1000, end_ms: 1200}\n  \
    - text: \"kettle \"\n    start_ms: 1300\n  - text: sings\n    start_ms: 2000\n\
    - text: no words\n  start_ms: 4000\nplain: |\n  the kettle sings\n  no words\n";

#[test]
fn lyricsfile_has_lines_words_and_metadata() {
    let lyrics = reads(TextKind::Sniff, LYRICSFILE);
    assert_eq!(
        (lyrics.lang.as_deref(), lyrics.offset_ms),
        (Some("en"), -120)
    );
    let lines = timed(lyrics);
    assert_eq!(
        pairs(&lines),
        [(1_000, "the kettle sings"), (4_000, "no words")]
    );
    let expected = [
        (1_000, Some(1_200), "the"),
        (1_300, None, "kettle"),
        (2_000, None, "sings"),
    ];
    assert_eq!(words(&lines[0]), expected);
    assert_eq!(lines[0].end, Some(3_000));
}

#[test]
fn lyricsfile_without_lines_is_plain_or_instrumental() {
    let text =
        "version: '1.0'\nmetadata:\n  instrumental: false\nlines: []\nplain: |\n  one\n\n  two\n";
    assert_eq!(
        reads(TextKind::Lyricsfile, text),
        plain(&["one", "", "two"])
    );
    let text = "version: '1.0'\nmetadata: {instrumental: true}\nlines: []\nplain: ''\n";
    let lyrics = reads(TextKind::Lyricsfile, text);
    assert_eq!(lyrics.body, Body::Instrumental);
}

#[test]
fn lyricsfile_aliases_and_depth_are_refused() {
    let bomb = "version: '1.0'\na: &a [x,x,x]\nb: &b [*a,*a]\nlines: *b\n";
    let deep = format!("version: '1.0'\nlines: {}", "[".repeat(5_000));
    let wide = format!("version: '1.0'\nlines: [{}]", "a,".repeat(450_000));
    for hostile in [bomb, &deep, &wide, "- a\n- b\n", "version", "{", "a: b: c"] {
        let read = read(TextKind::Lyricsfile, hostile, ParseHints::default());
        assert_eq!(
            read,
            Err(Unreadable::Broken("Lyricsfile")),
            "{:.40}",
            hostile
        );
    }
}

#[test]
fn srt_blocks_are_lines() {
    let text = "1\n00:00:01,500 --> 00:00:04,000\n<i>the kettle</i>\n{\\an8}sings <3\n\n2\n01:00:05,000 --> 01:00:06,000 x:1\nend\n";
    let lines = timed(reads(TextKind::Sniff, text));
    assert_eq!(
        pairs(&lines),
        [(1_500, "the kettle sings <3"), (3_605_000, "end")]
    );
    assert_eq!(lines[0].end, Some(4_000));
    let vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\na\n";
    assert_eq!(pairs(&timed(reads(TextKind::Srt, vtt))), [(1_000, "a")]);
    let broken = read(TextKind::Srt, "words", ParseHints::default());
    assert_eq!(broken, Err(Unreadable::Broken("SRT")));
}

#[test]
fn looks_decide_when_nobody_says() {
    assert_eq!(
        reads(TextKind::Sniff, "[ti:x]\n[00:01.00]a"),
        synced(&[(1_000, "a")])
    );
    assert_eq!(
        reads(TextKind::Sniff, "a --> b\nversion: 2"),
        plain(&["a --> b", "version: 2"])
    );
    assert!(matches!(
        reads(TextKind::Sniff, APPLE).body,
        Body::Synced(_)
    ));
}

#[test]
fn plain_text_loses_stamps_that_were_left_in() {
    let left_in = "first line\n[00:05.00]second line\n\n[00:07.00] third\n[by:x]";
    let expected = plain(&["first line", "second line", "", "third"]);
    assert_eq!(reads(TextKind::Plain, left_in), expected);
}
