//! The script guard.

use crate::made::{a_song, plain};
use segue_core::lyrics::script::{DEFAULT_THRESHOLD, ScriptGuard, is_romanised};

fn guard(names: &[&str], threshold: f64) -> ScriptGuard {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    ScriptGuard::new(&names, threshold).unwrap_or_else(|error| panic!("{error}"))
}

fn passes(names: &[&str], lines: &[&str]) -> bool {
    guard(names, DEFAULT_THRESHOLD).judge(&plain(lines)).is_ok()
}

#[test]
fn s29_accented_latin_is_latin() {
    for line in [
        "Où sont passées les années d'été",
        "Zażółć gęślą jaźń",
        "Trăm năm trong cõi người ta",
        "Það var einu sinni",
        "Příliš žluťoučký kůň úpěl ďábelské ódy",
        "ＦＵＬＬ ｗｉｄｔｈ",
    ] {
        assert!(passes(&["latin"], &[line]), "{line}");
    }
}

#[test]
fn s29_a_hook_in_another_script_stays_under_the_threshold() {
    let song = [
        "沈むように溶けてゆくように",
        "二人だけの空が広がる夜に",
        "Oh yeah",
    ];
    assert!(passes(&["han", "kana"], &song));
    assert!(!passes(&["latin"], &song));
    assert!(passes(&["ja"], &["Oh yeah", "夜に"]));
}

#[test]
fn the_threshold_is_the_share_that_still_passes() {
    let one_of_five = plain(&["aaaa", "я"]);
    assert!(guard(&["latin"], 0.20).judge(&one_of_five).is_ok());
    let foreign = guard(&["latin"], 0.19)
        .judge(&one_of_five)
        .expect_err("a fifth");
    assert_eq!(
        (foreign.share_percent, foreign.group.to_string()),
        (20, "cyrillic".to_owned())
    );
}

#[test]
fn languages_stand_for_their_scripts() {
    assert!(passes(&["ko"], &["그대를 사랑해요", "愛"]));
    assert!(passes(&["zh"], &["月亮代表我的心"]));
    assert!(!passes(&["zh"], &["그대를 사랑해요"]));
    // Half-width kana, and Han beyond the first plane.
    assert!(passes(&["kana"], &["ｶﾀｶﾅ"]));
    assert!(passes(&["han"], &["𠮷野家"]));
}

#[test]
fn credits_and_labels_do_not_count() {
    let song = [
        "作词 : 张三李四王五赵六",
        "作曲 : 张三李四王五赵六",
        "[Chorus]",
        "la la la",
    ];
    assert!(passes(&["latin"], &song));
}

#[test]
fn no_letters_and_no_list_pass() {
    assert!(passes(&["latin"], &["1 2 3", "♪"]));
    assert!(passes(&[], &["что угодно"]));
    assert!(guard(&[], 0.0).is_off());
}

#[test]
fn s29_a_name_that_is_no_script_is_an_error_with_the_nearest_one() {
    for (name, nearest) in [
        ("Latn1", "latin"),
        ("cyrilic", "cyrillic"),
        ("hangal", "hangul"),
        ("Common", "cherokee"),
    ] {
        let error = ScriptGuard::new(&[name.to_owned()], 0.2).expect_err(name);
        if name != "Common" {
            assert_eq!(error.nearest, nearest, "{name}");
        }
        assert!(error.to_string().contains(name));
    }
    for name in [
        "Latin", "LATIN", " greek ", "Hiragana", "Grek", "cherokee", "tai_le",
    ] {
        assert!(ScriptGuard::new(&[name.to_owned()], 0.2).is_ok(), "{name}");
    }
}

#[test]
fn m23_romanised_words_are_told_from_native_ones() {
    let song = a_song("夜に駆ける", "YOASOBI");
    assert!(is_romanised(
        &song,
        &plain(&["shizumu you ni tokete yuku you ni"])
    ));
    assert!(!is_romanised(
        &song,
        &plain(&["沈むように溶けてゆくように"])
    ));
    let english = a_song("The Kettle", "Alpha Band");
    assert!(!is_romanised(&english, &plain(&["the kettle sings"])));
}
