//! Names that people call the same have one key (M1; opensubsonic.md section 4, cases 25 and 40), and others do not.

use proptest::prelude::*;
use segue_core::catalog::normalise::{
    Version, display, fold, index_letter, sort_key, split_title, split_version,
};
use unicode_normalization::UnicodeNormalization;

fn same(names: &[&str]) {
    let keys: Vec<String> = names.iter().map(|name| fold(name)).collect();
    assert!(
        keys.iter().all(|key| *key == keys[0] && !key.is_empty()),
        "{names:?} have the keys {keys:?}"
    );
}

fn different(names: &[&str]) {
    let mut keys: Vec<String> = names.iter().map(|name| fold(name)).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), names.len(), "{names:?} have the keys {keys:?}");
}

#[test]
fn m1_spelling_does_not_count() {
    same(&["Björk", "bjork", "BJÖRK", "Bjo\u{308}rk"]);
    same(&["Straße", "strasse", "STRASSE", "STRAẞE"]);
    same(&["Ørsted", "orsted"]);
    same(&["Æon Flux", "aeon flux"]);
    same(&["Sigur Rós & Þór", "sigur ros and thor"]);
    same(&["Motörhead", "Motorhead"]);
    same(&["Łódź", "lodz"]);
    same(&["İstanbul", "istanbul", "ISTANBUL", "ıstanbul"]);
    same(&["Đorđe", "dorde"]);
    same(&[
        "Blink‑182",
        "blink-182",
        "Blink–182",
        "Blink 182",
        "ｂｌｉｎｋ－１８２",
    ]);
    same(&[
        "Guns N' Roses",
        "Guns N’ Roses",
        "guns n´ roses",
        "GUNS N ROSES",
    ]);
    same(&["R.E.M.", "REM", "r.e.m"]);
    same(&["N*E*R*D", "N.E.R.D.", "NERD"]);
    same(&[
        "Florence + the Machine",
        "Florence & The Machine",
        "Florence and the Machine",
    ]);
    same(&["AC/DC", "AC-DC", "ac dc", "AC⁄DC"]);
    same(&["Godspeed You! Black Emperor", "godspeed you black emperor"]);
    same(&["Οδυσσεύς", "ΟΔΥΣΣΕΥΣ", "οδυσσευς"]);
    same(&["Сплин", "сплин"]);
    same(&["“Heroes”", "\"Heroes\"", "Heroes", "«Heroes»"]);
    same(&["Mr. Big", "Mr.Big", "mr big"]);
    same(&["  A \t B ", "a b", "a\u{200B} b", "a b\u{0008}"]);
}

#[test]
fn m6_names_of_punctuation_only_stay_apart() {
    different(&[
        "!!!", "???", "The", "!", "...", "-", "&", "and", "+", "×", "÷", "=", "♥", "☆",
    ]);
    same(&["!!!", "！！！"]);
    same(&["…", "..."]);
    assert_eq!(
        fold(" \t\u{200B}\u{FEFF}"),
        "",
        "what shows nothing has no key"
    );
}

#[test]
fn m1_meaning_counts() {
    different(&["か", "が", "カ"]);
    different(&["हिन्दी", "हनद"]);
    different(&["+44", "44"]);
    different(&["A$AP Rocky", "A AP Rocky"]);
    assert_eq!(fold("宇多田ヒカル"), "宇多田ヒカル");
    assert_eq!(fold("ﾋｶﾙ"), "ヒカル");
    assert_eq!(fold("한국 노래"), "한국 노래");
}

#[test]
fn ordering_skips_an_article_that_is_a_word_by_itself() {
    assert_eq!(sort_key("The Beatles"), "beatles");
    assert_eq!(sort_key("Beatles, The"), "beatles");
    assert_eq!(sort_key("Die Ärzte"), "arzte");
    assert_eq!(sort_key("Los Lobos"), "lobos");
    assert_eq!(sort_key("A-ha"), "a ha");
    assert_eq!(sort_key("The The"), "the");
    assert_eq!(sort_key("The"), "the");
    assert_eq!(sort_key("Theatre"), "theatre");
    assert_eq!(sort_key("The !!!"), "!!!");
}

#[test]
fn an_index_letter_is_the_first_letter_of_the_sort_key() {
    let letter = |name: &str| index_letter(&sort_key(name));
    assert_eq!(letter("Ångström"), "A");
    assert_eq!(letter("The Who"), "W");
    assert_eq!(letter("Ødegaard"), "O");
    assert_eq!(letter("Дельфин"), "Д");
    assert_eq!(letter("2Pac"), "#");
    assert_eq!(letter("!!!"), "#");
    assert_eq!(letter("東京事変"), "#");
    assert_eq!(letter(""), "#");
}

#[test]
fn case_25_names_are_shown_in_nfc() {
    assert_eq!(display("  Bjo\u{308}rk\u{0007} "), "Björk");
}

#[test]
fn m1_a_version_is_split_from_its_title() {
    let base_and_versions = |title| {
        let (base, versions) = split_version(title);
        (base, versions.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(base_and_versions("Song"), ("song".to_owned(), vec![]));
    for live in [
        "Song (Live)",
        "Song [live]",
        "Song - Live",
        "Song – LIVE",
        "Song（Live）",
    ] {
        assert_eq!(
            base_and_versions(live),
            ("song".to_owned(), vec![Version::Live]),
            "{live}"
        );
    }
    assert_eq!(
        base_and_versions("Help! (2009 Remaster)"),
        ("help".to_owned(), vec![Version::Remaster])
    );
    assert_eq!(
        base_and_versions("Help! 2009 Remaster"),
        base_and_versions("Help! - Remastered 2009")
    );
    assert_eq!(
        base_and_versions("Song - Live (2009 Remaster)"),
        ("song".to_owned(), vec![Version::Live, Version::Remaster])
    );
    assert_eq!(
        base_and_versions("Song (Album Version)"),
        ("song".to_owned(), vec![])
    );
    assert_eq!(
        base_and_versions("Song (Radio Edit) (feat. Somebody)"),
        ("song".to_owned(), vec![Version::Edit])
    );
    assert_eq!(
        base_and_versions("Song feat. Somebody"),
        ("song".to_owned(), vec![])
    );
}

#[test]
fn words_that_only_look_like_a_version_stay_in_the_name() {
    for name in [
        "Live and Let Die",
        "Long Live",
        "Mono No Aware",
        "Demo",
        "(Live)",
        "- Live",
        "Acoustic #3",
    ] {
        assert_eq!(split_version(name), (fold(name), [].into()), "{name}");
    }
    assert_eq!(
        split_version("(I Can't Get No) Satisfaction").0,
        "i cant get no satisfaction"
    );
    assert_eq!(split_version("Suite (Part I)").0, "suite part i");
    assert_eq!(split_version("Unclosed (bracket").0, "unclosed bracket");
    assert_eq!(
        split_version("Closed) too (much)) x").0,
        "closed too much x"
    );
}

#[test]
fn two_remixes_differ_in_the_qualifier() {
    let (a, b) = (
        split_title("Song (Alice Remix)"),
        split_title("Song (Bob Remix)"),
    );
    assert_eq!((a.base, a.versions), (b.base.clone(), b.versions.clone()));
    assert_eq!(
        (a.qualifier.as_str(), b.qualifier.as_str()),
        ("alice", "bob")
    );
    assert_eq!(split_title("Song (Live at Wembley)").qualifier, "wembley");
}

proptest! {
    #[test]
    fn m1_a_key_is_its_own_key(name in any::<String>()) {
        let key = fold(&name);
        prop_assert_eq!(fold(&key), key);
    }

    #[test]
    fn m1_the_form_of_unicode_does_not_count(name in "[a-zäöüéñçÅßøひが한ไहि \\-'.&!]{0,12}") {
        let nfd: String = name.nfd().collect();
        let nfc: String = name.nfc().collect();
        prop_assert_eq!(fold(&nfd), fold(&nfc));
    }

    #[test]
    fn any_title_can_be_taken_apart(title in "[a-c(){}\\[\\] .–-]{0,20}|(live|feat|mix|-|\\(|\\)| |é){0,8}") {
        let split = split_title(&title);
        prop_assert!(fold(&title).is_empty() || !split.base.is_empty() || !split.versions.is_empty(), "{split:?}");
        split_version(&title);
        sort_key(&title);
    }
}
