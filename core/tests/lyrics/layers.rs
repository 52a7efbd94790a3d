//! Two texts in one.

use crate::made::{pairs, parsed, timed};
use segue_core::lyrics::layers::split;

/// Lines one second apart, each with a second one at the same time.
fn doubled(lines: &[(&str, &str)]) -> String {
    let both = lines.iter().enumerate();
    let both = both.map(|(n, (a, b))| format!("[00:{n:02}.00]{a}\n[00:{n:02}.00]{b}\n"));
    both.collect()
}

const KETTLE: [(&str, &str); 5] = [
    ("The kettle sings", "水壶在唱歌"),
    ("The windows weep", "窗户在流泪"),
    ("Oh oh oh", "喔喔喔"),
    ("Nobody is home", "没有人在家"),
    ("The kettle sings again", "水壶又在唱歌"),
];

#[test]
fn a_line_below_each_in_another_script_is_a_translation() {
    let twice: Vec<_> = KETTLE.iter().chain(&KETTLE).copied().collect();
    let text = doubled(&twice);
    let text = format!("[00:00.00]作词：某人\n{text}[00:18.00]Oh\n[00:18.00]Oh\n[00:19.00]\n");
    let layers = split(&parsed(&text).lyrics).expect("two texts");
    let (main, translation) = (timed(layers.main), timed(layers.translation));
    assert_eq!((main.len(), translation.len()), (13, 11));
    let meant: Vec<&str> = KETTLE.iter().map(|(_, second)| *second).collect();
    assert_eq!(pairs(&translation)[0], (0, meant[0]));
    assert_eq!(pairs(&translation)[10], (18_000, "Oh"));
    assert_eq!(pairs(&main)[main.len() - 1], (19_000, ""), "a break stays");
}

#[test]
fn japanese_is_told_from_chinese_though_both_use_han() {
    let lines = [
        ("夜に駆ける", "奔向夜空"),
        ("沈むように", "像是沉没一般"),
        ("君だけが", "只有你"),
        ("見えた空", "看见的天空"),
    ];
    assert!(split(&parsed(&doubled(&lines)).lyrics).is_some());
}

#[test]
fn what_may_be_a_pronunciation_or_a_second_voice_stays_one_text() {
    let pronounced = [
        ("夜に駆ける", "yoru ni kakeru"),
        ("沈むように", "shizumu you ni"),
        ("君だけが", "kimi dake ga"),
        ("見えた空", "mieta sora"),
    ];
    let voices = KETTLE.map(|(line, _)| (line, "(and nobody hears it)"));
    for lines in [&pronounced[..], &voices[..], &KETTLE[..3]] {
        assert_eq!(split(&parsed(&doubled(lines)).lyrics), None, "{lines:?}");
    }
}

#[test]
fn now_and_then_is_not_for_the_most_part() {
    let mostly_alone: String = (10..20).map(|n| format!("[00:{n}.00]line {n}\n")).collect();
    let text = format!("{}{mostly_alone}", doubled(&KETTLE[..4]));
    assert_eq!(split(&parsed(&text).lyrics), None);
    let mut half = KETTLE;
    for pair in &mut half[..2] {
        pair.1 = "in the same letters";
    }
    assert_eq!(split(&parsed(&doubled(&half)).lyrics), None);
    let third = format!("{}[00:00.00]noch einer\n", doubled(&KETTLE));
    assert_eq!(split(&parsed(&third).lyrics), None, "three texts");
}
