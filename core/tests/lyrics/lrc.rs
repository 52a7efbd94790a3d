//! LRC as found in the wild: one test per row of the table of facts (lyrics.md 3.1), reader and writer.

use crate::made::{lines, pairs, parsed, parsed_for, synced, timed};
use segue_core::lyrics::lrc::{
    EqualStamps, Fraction, Header, LongTracks, LrcError, LrcStyle, Notes, ParseHints, Warning,
    WriteOptions, parse, write,
};
use segue_core::lyrics::{Body, Line, Lyrics};

fn written(lyrics: &Lyrics) -> String {
    write(lyrics, &WriteOptions::default())
}

fn enhanced() -> WriteOptions {
    WriteOptions {
        style: LrcStyle::Enhanced,
        ..WriteOptions::default()
    }
}

#[test]
fn fraction_digits_are_a_decimal_fraction() {
    for (stamp, ms) in [
        ("[00:05]", 5_000),
        ("[00:05.]", 5_000),
        ("[00:05.5]", 5_500),
        ("[00:05.05]", 5_050),
        ("[00:05.831]", 5_831),
        ("[00:05,83]", 5_830),
        ("[0:5.5]", 5_500),
    ] {
        assert_eq!(pairs(&lines(&format!("{stamp}x"))), [(ms, "x")], "{stamp}");
    }
}

#[test]
fn fractions_are_written_with_two_digits_and_carry() {
    let lyrics = synced(&[(23, "a"), (59_994, "b"), (59_999, "c")]);
    assert_eq!(written(&lyrics), "[00:00.02]a\n[00:59.99]b\n[01:00.00]c\n");
    let three = WriteOptions {
        fraction: Fraction::Thousandths,
        ..WriteOptions::default()
    };
    assert_eq!(
        write(&lyrics, &three),
        "[00:00.023]a\n[00:59.994]b\n[00:59.999]c\n"
    );
}

#[test]
fn three_groups_are_hundredths_when_any_is_above_59() {
    let text = "[00:10:20]a\n[00:12:75]b";
    assert_eq!(pairs(&lines(text)), [(10_200, "a"), (12_750, "b")]);
}

#[test]
fn three_groups_are_hundredths_when_hours_would_outlast_the_track() {
    let text = "[00:10:20]a\n[03:12:30]b";
    let short = timed(parsed_for(text, 200_000).lyrics);
    assert_eq!(pairs(&short), [(10_200, "a"), (192_300, "b")]);
    let tagged = lines(&format!("[length: 03:20]\n{text}"));
    assert_eq!(pairs(&tagged), [(10_200, "a"), (192_300, "b")]);
}

#[test]
fn three_groups_are_hours_otherwise() {
    let text = "[00:10:20]a\n[01:12:30]b";
    let hours = [(620_000, "a"), (4_350_000, "b")];
    assert_eq!(pairs(&lines(text)), hours);
    assert_eq!(pairs(&timed(parsed_for(text, 5_000_000).lyrics)), hours);
}

#[test]
fn minutes_have_up_to_four_digits() {
    assert_eq!(pairs(&lines("[1:02.00]a")), [(62_000, "a")]);
    assert_eq!(pairs(&lines("[1234:00.00]a")), [(74_040_000, "a")]);
    assert!(matches!(
        parsed("[12345:00.00]a").lyrics.body,
        Body::Plain(_)
    ));
}

#[test]
fn beyond_99_minutes_hours_or_minutes_are_written() {
    let lyrics = synced(&[(5_999_990, "a"), (6_000_000, "b")]);
    assert_eq!(written(&lyrics), "[99:59.99]a\n[01:40:00.00]b\n");
    let minutes = WriteOptions {
        long_tracks: LongTracks::Minutes,
        ..WriteOptions::default()
    };
    assert_eq!(write(&lyrics, &minutes), "[99:59.99]a\n[100:00.00]b\n");
    for text in [written(&lyrics), write(&lyrics, &minutes)] {
        assert_eq!(parsed(&text).lyrics, lyrics);
    }
}

#[test]
fn seconds_of_60_and_more_carry_with_a_warning() {
    let parsed = parsed("[00:75.00]a");
    assert_eq!(pairs(&timed(parsed.lyrics)), [(75_000, "a")]);
    assert!(parsed.warnings.contains(&Warning::SecondsCarried));
}

#[test]
fn several_stamps_are_several_lines() {
    let text = "[00:01.00][00:10.00] [00:05.00]again\n[00:02.00]once";
    let expected = [
        (1_000, "again"),
        (2_000, "once"),
        (5_000, "again"),
        (10_000, "again"),
    ];
    assert_eq!(pairs(&lines(text)), expected);
    assert_eq!(written(&parsed(text).lyrics).lines().count(), 4);
}

#[test]
fn a_trailing_stamp_is_the_end_of_its_line() {
    let lines = lines("[00:10.34]a[00:15.86]\n[00:20.00][00:30.00]b [00:33.00]");
    assert_eq!(pairs(&lines), [(10_340, "a"), (20_000, "b"), (30_000, "b")]);
    let ends: Vec<_> = lines.iter().map(|line| line.end).collect();
    assert_eq!(ends, [Some(15_860), None, Some(33_000)]);
}

#[test]
fn lines_are_sorted_and_equal_stamps_keep_their_order() {
    let text = "[00:09.00]z\n[00:01.00]original\n[00:01.00]translation\n[00:00.50]a";
    let expected = [
        (500, "a"),
        (1_000, "original"),
        (1_000, "translation"),
        (9_000, "z"),
    ];
    assert_eq!(pairs(&lines(text)), expected);
}

#[test]
fn of_a_bilingual_text_the_first_lines_are_written() {
    let lyrics = synced(&[
        (1_000, "una"),
        (1_000, "one"),
        (2_000, "dos"),
        (2_000, "two"),
    ]);
    assert_eq!(written(&lyrics), "[00:01.00]una\n[00:02.00]dos\n");
    let all = WriteOptions {
        equal_stamps: EqualStamps::All,
        ..WriteOptions::default()
    };
    assert_eq!(parsed(&write(&lyrics, &all)).lyrics, lyrics);
}

#[test]
fn two_singers_at_one_time_are_both_written() {
    let lyrics = synced(&[
        (1_000, "a"),
        (1_000, "b"),
        (2_000, "c"),
        (3_000, "d"),
        (4_000, "e"),
    ]);
    assert_eq!(parsed(&written(&lyrics)).lyrics, lyrics);
}

#[test]
fn a_stamp_without_text_is_a_break_and_stays() {
    let text = "[00:01.00]a\n[00:02.00]\n[00:03.00]b\n";
    assert_eq!(
        pairs(&lines(text)),
        [(1_000, "a"), (2_000, ""), (3_000, "b")]
    );
    assert_eq!(written(&parsed(text).lyrics), text);
}

#[test]
fn notes_are_kept_or_written_as_breaks() {
    let lyrics = parsed("[00:01.00]♪\n[00:02.00]a").lyrics;
    assert_eq!(written(&lyrics), "[00:01.00]♪\n[00:02.00]a\n");
    let empty = WriteOptions {
        notes: Notes::Empty,
        ..WriteOptions::default()
    };
    assert_eq!(write(&lyrics, &empty), "[00:01.00]\n[00:02.00]a\n");
}

#[test]
fn an_untimed_line_goes_on_with_the_one_before() {
    let parsed = parsed("[00:01.00]the long\nand winding\n[00:02.00]\nroad\n[00:03.00]x");
    let expected = [
        (1_000, "the long and winding"),
        (2_000, "road"),
        (3_000, "x"),
    ];
    assert!(parsed.warnings.contains(&Warning::UntimedLines));
    assert_eq!(pairs(&timed(parsed.lyrics)), expected);
}

#[test]
fn text_with_few_stamps_is_plain() {
    let parsed = parsed("[00:00.00]Song\none\ntwo\n\nthree");
    assert!(parsed.warnings.contains(&Warning::TakenAsPlain));
    assert_eq!(
        parsed.lyrics,
        crate::made::plain(&["Song", "one", "two", "", "three"])
    );
}

#[test]
fn one_time_for_all_lines_is_no_time() {
    let parsed = parsed("[00:00.00]one\n[00:00.00]two\n[00:00.00]three");
    assert_eq!(parsed.lyrics, crate::made::plain(&["one", "two", "three"]));
}

#[test]
fn brackets_without_a_colon_are_text() {
    let text = "[00:01.00][Whistling]\n[00:02.00]a\n[Chorus]\n[00:03.00]b";
    let expected = [(1_000, "[Whistling]"), (2_000, "a [Chorus]"), (3_000, "b")];
    assert_eq!(pairs(&lines(text)), expected);
    let plain = parsed("[Chorus]\nla la").lyrics;
    assert_eq!(plain, crate::made::plain(&["[Chorus]", "la la"]));
}

#[test]
fn what_looks_like_a_tag_is_one_before_the_first_stamp_or_with_a_known_key() {
    let text = "[mood:sad]\n[00:01.00]a\n[Chorus: x2]\n[00:02.00]b\n[by:me]\n[00:03.00][ti:c]";
    let parsed = parsed(text);
    let expected = [(1_000, "a [Chorus: x2]"), (2_000, "b"), (3_000, "[ti:c]")];
    let tags: Vec<_> = parsed.tags.iter().map(|t| (&*t.key, &*t.value)).collect();
    assert_eq!(tags, [("mood", "sad"), ("by", "me")]);
    assert_eq!(pairs(&timed(parsed.lyrics)), expected);
}

#[test]
fn tags_may_hold_brackets_and_stand_on_one_line() {
    let parsed = parsed("[ti:Song [Live]][ar: A ]\n[AL:x] [00:01.00]a\n[00:02.00]b");
    let tags: Vec<_> = parsed.tags.iter().map(|t| (&*t.key, &*t.value)).collect();
    assert_eq!(tags, [("ti", "Song [Live]"), ("ar", "A"), ("al", "x")]);
    assert_eq!(timed(parsed.lyrics).len(), 2);
}

#[test]
fn our_tags_are_written_above_the_lines_and_cannot_break_out() {
    let options = WriteOptions {
        header: Header {
            title: "Evil]\n[00:00.00]x".to_owned(),
            artist: "A".to_owned(),
            album: String::new(),
            by: "Segue".to_owned(),
            length_ms: Some(185_400),
        },
        ..WriteOptions::default()
    };
    assert_eq!(
        write(&synced(&[(1_000, "a")]), &options),
        "[ti:Evil) (00:00.00)x]\n[ar:A]\n[length:03:05]\n[by:Segue]\n[00:01.00]a\n"
    );
}

#[test]
fn the_offset_is_exposed_and_baked_in_on_writing() {
    for (tag, offset) in [
        ("[offset:500]", 500),
        ("[offset: +500 ]", 500),
        ("[offset:- 500]", -500),
        ("[offset:+175.99]", 175),
    ] {
        let parsed = parsed(&format!("{tag}\n[00:01.00]a"));
        assert_eq!(parsed.lyrics.offset_ms, offset, "{tag}");
        assert_eq!(pairs(&timed(parsed.lyrics)), [(1_000, "a")]);
    }
    let sooner = parsed("[offset:500]\n[00:00.20]a\n[00:02.00]b").lyrics;
    assert_eq!(written(&sooner), "[00:00.00]a\n[00:01.50]b\n");
}

#[test]
fn junk_and_far_offsets_are_ignored_with_a_warning() {
    for junk in ["soon", "600001", "-9999999999999999999", "1.x", "--5", ""] {
        let parsed = parsed(&format!("[offset:{junk}]\n[00:01.00]a"));
        assert_eq!(parsed.lyrics.offset_ms, 0, "{junk}");
        assert!(parsed.warnings.contains(&Warning::OffsetIgnored), "{junk}");
    }
}

#[test]
fn the_length_is_only_a_hint() {
    for (value, ms) in [
        (" 03 : 05 ", Some(185_000)),
        ("1:02:03.4", Some(3_723_000)),
        ("junk", None),
    ] {
        let parsed = parsed(&format!("[length:{value}]\n[00:01.00]a"));
        assert_eq!(parsed.length_ms, ms, "{value}");
    }
}

#[test]
fn line_ends_of_every_kind_part_lines() {
    let text = "\u{feff}[00:01.00]a\r\n[00:02.00]b\r[00:03.00]c\u{85}[00:04.00]d\n";
    let expected = [(1_000, "a"), (2_000, "b"), (3_000, "c"), (4_000, "d")];
    assert_eq!(pairs(&lines(text)), expected);
    let written = written(&parsed(text).lyrics);
    assert!(!written.contains('\r') && written.ends_with("d\n"));
}

#[test]
fn blank_lines_are_ignored_between_timed_ones_and_kept_in_plain_text() {
    let timed = "[00:01.00]a\n\n\n[00:02.00]b\n";
    assert_eq!(written(&parsed(timed).lyrics), "[00:01.00]a\n[00:02.00]b\n");
    let plain = parsed("a\n\nb\n\n").lyrics;
    assert_eq!(written(&plain), "a\n\nb\n");
}

#[test]
fn controls_and_what_shows_nothing_are_dropped() {
    let text = "\u{200b}[00:01.00]\u{200b}a\0\u{1}b\tc\u{feff}\u{200b}\n[00:02.00]x";
    assert_eq!(pairs(&lines(text))[0], (1_000, "ab\tc"));
}

#[test]
fn enhanced_words_have_times_and_bytes() {
    let text = "[00:01.00]<00:01.00>Über <00:01.50>den <00:02.00>Wolken<00:03.00>\n[00:04.00]x";
    let lines = lines(text);
    assert_eq!(lines[0].text, "Über den Wolken");
    let words: Vec<_> = lines[0]
        .words
        .iter()
        .map(|w| (w.start, w.end, &lines[0].text[w.bytes.clone()]))
        .collect();
    let expected = [
        (1_000, None, "Über"),
        (1_500, None, "den"),
        (2_000, Some(3_000), "Wolken"),
    ];
    assert_eq!(words, expected);
    assert_eq!(lines[0].end, Some(3_000));
}

#[test]
fn words_may_stand_in_square_brackets_and_without_a_line_stamp() {
    let square = lines("[00:01.00]one[00:01.50] two[00:02.00] three[00:03.00]");
    assert_eq!(square[0].text, "one two three");
    assert_eq!(square[0].words.len(), 2);
    let only_words = lines("<00:01.00> one <00:01.50> two\n<00:03.00>three");
    assert_eq!(pairs(&only_words), [(1_000, "one two"), (3_000, "three")]);
}

#[test]
fn enhanced_style_brings_words_ends_and_singers_back() {
    let text = "[00:01.00]v1: <00:01.00>one<00:01.40> <00:01.50>two<00:02.00>\n\
                [00:03.00]F: three<00:04.00>\n[00:05.00]bg: ooh\n";
    let lyrics = parsed(text).lyrics;
    assert_eq!(write(&lyrics, &enhanced()), text);
    assert_eq!(
        written(&lyrics),
        "[00:01.00]one two\n[00:03.00]three\n[00:05.00]ooh\n"
    );
}

#[test]
fn singers_are_kept_as_agents() {
    let lines = lines(
        "[00:01.00]M: a\n[00:02.00]F:b\n[00:03.00]v2: c\n[bg: <00:03.50>ooh]\n[00:05.00]Me: hi",
    );
    let agents: Vec<_> = lines.iter().map(|l| l.agent.as_deref()).collect();
    assert_eq!(agents, [Some("M"), Some("F"), Some("v2"), Some("bg"), None]);
    assert_eq!(pairs(&lines)[3..], [(3_500, "ooh"), (5_000, "Me: hi")]);
}

#[test]
fn words_that_run_backwards_are_dropped() {
    let parsed = parsed("[00:05.00]<00:05.00>a <00:01.00>b");
    assert!(parsed.warnings.contains(&Warning::DisorderedWords));
    assert!(timed(parsed.lyrics)[0].words.is_empty());
}

#[test]
fn sizes_are_capped_with_an_error() {
    let hints = ParseHints::default();
    let many = "[00:01.00]a\n".repeat(20_001);
    assert_eq!(parse(&many, hints), Err(LrcError::TooLong));
    let full = "[00:01.00]a\n[00:02.00]b\n".repeat(10_000);
    assert_eq!(lines(&full).len(), 20_000);
    let stacked = format!("{}{}", "[00:01.00]".repeat(20_001), "a");
    assert_eq!(parse(&stacked, hints), Err(LrcError::TooLong));
    let product = format!("{}{}", "[00:01.00]".repeat(10_000), "a".repeat(900_000));
    assert_eq!(parse(&product, hints), Err(LrcError::TooLong));
    let long = format!("[00:01.00]{}", "a".repeat(1_000_000));
    assert_eq!(lines(&long).len(), 1);
}

#[test]
fn a_file_without_words_is_empty() {
    for text in ["", "\n\n", "[ti:x]\n[ar:y]", "[00:01.00]\n[00:02.00]"] {
        assert_eq!(
            parse(text, ParseHints::default()),
            Err(LrcError::Empty),
            "{text:?}"
        );
    }
}

#[test]
fn an_instrumental_is_written_as_the_tag_that_is_read() {
    let instrumental = Lyrics::of(Body::Instrumental);
    assert_eq!(written(&instrumental), "[au: instrumental]\n");
    assert_eq!(parsed(&written(&instrumental)).lyrics, instrumental);
}

#[test]
fn a_stamp_in_foreign_text_is_never_written() {
    let lyrics = synced(&[(1_000, "a[00:05.00]b"), (2_000, "c\n[00:09.00]d")]);
    let written = written(&lyrics);
    assert_eq!(
        written,
        "[00:01.00]a［00:05.00]b\n[00:02.00]c ［00:09.00]d\n"
    );
    assert_eq!(lines(&written).len(), 2);
}

#[test]
fn the_language_is_read_from_its_tag() {
    let lyrics = parsed("[la:pt-BR]\n[00:01.00]a").lyrics;
    assert_eq!(lyrics.lang.as_deref(), Some("pt-BR"));
    let default: Line = Line::default();
    assert!(default.words.is_empty());
}
