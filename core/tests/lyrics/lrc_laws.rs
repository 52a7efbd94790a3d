//! Laws of the LRC reader and writer, for all texts.

use proptest::prelude::*;
use segue_core::lyrics::document::is_well_formed;
use segue_core::lyrics::lrc::{
    EqualStamps, Fraction, LrcStyle, ParseHints, WriteOptions, parse, write,
};
use segue_core::lyrics::{Body, Line, Lyrics, Word};

fn exact(style: LrcStyle) -> WriteOptions {
    WriteOptions {
        style,
        fraction: Fraction::Thousandths,
        equal_stamps: EqualStamps::All,
        ..WriteOptions::default()
    }
}

/// Words as they are sung: letters of several scripts, punctuation, brackets, nothing that is a stamp or a singer's mark.
fn a_word() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "la", "Über", "夜に", "don't", "(oh)", "[Hook]", "<3", "a:b", "1:2", "♪", "שלום", "🎸",
        "x]", "e\u{301}",
    ])
    .prop_map(str::to_owned)
}

/// A line whose times, words and end lie as the enhanced form can say them.
fn a_line() -> impl Strategy<Value = Line> {
    let start = prop_oneof![0..300_000u64, 5_990_000..7_300_000u64];
    let words = prop::collection::vec((a_word(), 0..900u64, any::<bool>()), 0..5);
    let agent = prop::option::of(prop::sample::select(vec!["M", "F", "D", "v1", "v12", "bg"]));
    (start, words, any::<bool>(), agent).prop_map(|(start, parts, is_timed, agent)| {
        let mut line = Line {
            start,
            ..Line::default()
        };
        let mut at = start;
        for (text, length, has_end) in parts {
            if !line.text.is_empty() {
                line.text.push(' ');
            }
            let from = line.text.len();
            line.text.push_str(&text);
            let end = has_end.then_some(at + length);
            line.words.push(Word {
                start: at,
                end,
                bytes: from..line.text.len(),
            });
            at += length;
        }
        if !is_timed || line.words.is_empty() {
            line.words.clear();
        }
        line.end = line.words.last().and_then(|word| word.end);
        line.agent = agent.map(str::to_owned);
        line
    })
}

fn some_lyrics() -> impl Strategy<Value = Lyrics> {
    prop::collection::vec(a_line(), 1..12)
        .prop_filter("words at two times", |lines| {
            let mut sung = lines.iter().filter(|line| !line.text.is_empty());
            let first = sung.next().map(|line| line.start);
            let mut others = sung.filter(|line| Some(line.start) != first).peekable();
            first.is_some()
                && (others.peek().is_some()
                    || lines.iter().filter(|l| !l.text.is_empty()).count() == 1)
        })
        .prop_map(|mut lines| {
            lines.sort_by_key(|line| line.start);
            Lyrics::of(Body::Synced(lines))
        })
}

/// Without what the line style leaves out.
fn lines_only(lyrics: &Lyrics) -> Lyrics {
    let Body::Synced(lines) = &lyrics.body else {
        return lyrics.clone();
    };
    let lines = lines.iter().map(|line| Line {
        start: line.start,
        text: line.text.clone(),
        ..Line::default()
    });
    Lyrics::of(Body::Synced(lines.collect()))
}

/// Text that looks like LRC more often than chance would have it.
pub(crate) fn lrc_ish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "[00:01.00]",
            "[0:1]",
            "<00:02.50>",
            "[00:03:75]",
            "[01:02:03]",
            "[01:02:03.4]",
            "[",
            "]",
            "<",
            ">",
            "[00:",
            "01.00]",
            ":",
            "[ti:",
            "[offset:+5.5]",
            "[length:3:00]",
            "[bg: ",
            "v1:",
            "M:",
            "\n",
            "\r\n",
            "\r",
            "\u{85}",
            " ",
            "  ",
            "\t",
            "\0",
            "\u{feff}",
            "\u{200b}",
            "a",
            "夜",
            "[Chorus: x2]",
            "{\"t\":0}",
            "[:]",
            "[99:99.99]",
            "[9999:59.999]",
            "♪",
            "[au: instrumental]",
            "[[00:01.00]",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
        (0..99999u32, 0..99u32, 0..9999u32).prop_map(|(m, s, f)| format!("[{m}:{s:02}.{f}]")),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn enhanced_lrc_reads_back_as_it_was_written(lyrics in some_lyrics()) {
        let text = write(&lyrics, &exact(LrcStyle::Enhanced));
        let parsed = parse(&text, ParseHints::default()).expect("our own");
        prop_assert_eq!(normal(parsed.lyrics), normal(lyrics), "{}", text);
    }

    #[test]
    fn line_lrc_reads_back_as_its_lines(lyrics in some_lyrics()) {
        let text = write(&lyrics, &exact(LrcStyle::Line));
        let parsed = parse(&text, ParseHints::default()).expect("our own");
        prop_assert_eq!(parsed.lyrics, lines_only(&lyrics), "{}", text);
    }

    #[test]
    fn hundredths_are_as_near_as_can_be(lyrics in some_lyrics()) {
        let options = WriteOptions { equal_stamps: EqualStamps::All, ..WriteOptions::default() };
        let again = parse(&write(&lyrics, &options), ParseHints::default()).expect("our own").lyrics;
        if let (Body::Synced(was), Body::Synced(is)) = (&lyrics.body, &again.body) {
            prop_assert_eq!(was.len(), is.len());
            for (was, is) in was.iter().zip(is) {
                prop_assert!(was.start.abs_diff(is.start) <= 5);
            }
        }
    }

    #[test]
    fn an_offset_is_baked_in(lyrics in some_lyrics(), offset in -600_000..600_000i64) {
        let shifted = Lyrics { offset_ms: offset, ..lyrics.clone() };
        let text = write(&shifted, &exact(LrcStyle::Line));
        let again = parse(&text, ParseHints::default()).expect("our own").lyrics;
        prop_assert_eq!(again.offset_ms, 0);
        if let (Body::Synced(was), Body::Synced(is)) = (&lyrics.body, &again.body) {
            for (was, is) in was.iter().zip(is) {
                prop_assert_eq!(is.start, was.start.saturating_add_signed(-offset));
            }
        }
    }

    #[test]
    fn what_was_read_once_reads_the_same_ever_after(text in lrc_ish()) {
        if let Ok(once) = parse(&text, ParseHints::default()) {
            prop_assert!(is_well_formed(&once.lyrics));
            for style in [LrcStyle::Line, LrcStyle::Enhanced] {
                let again = |text: &str| {
                    let parsed = parse(text, ParseHints::default()).expect("our own");
                    write(&parsed.lyrics, &exact(style))
                };
                let written = write(&once.lyrics, &exact(style));
                let twice = again(&written);
                // Untimed text that plays at being tags and voices may take a second look.
                let is_timed = matches!(once.lyrics.body, Body::Synced(_));
                prop_assert!(!is_timed || written == twice, "{:?}: {:?}, {:?}", text, written, twice);
                prop_assert_eq!(&twice, &again(&twice), "{:?}", text);
            }
        }
    }
}

/// One stamp before several words times the line: the one thing that is said in two ways.
fn normal(mut lyrics: Lyrics) -> Lyrics {
    if let Body::Synced(lines) = &mut lyrics.body {
        for line in lines {
            if let [only] = &line.words[..]
                && only.bytes.len() == line.text.len()
                && line.text.contains(' ')
            {
                line.words.clear();
            }
        }
    }
    lyrics
}
