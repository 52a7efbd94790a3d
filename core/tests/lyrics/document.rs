//! Stored lyrics: equal values have equal names, and come back as they were.

use crate::made::{lines, plain, some_words};
use segue_core::lyrics::document::{Document, DocumentId, Malformed, fingerprint};
use segue_core::lyrics::{Body, Lyrics};

#[test]
fn documents_come_back_as_they_were() {
    let enhanced = Lyrics {
        lang: Some("de".to_owned()),
        offset_ms: -250,
        body: Body::Synced(lines(
            "[00:01.00]v1: <00:01.00>Über <00:02.00>uns<00:03.00>\n[00:04.00]",
        )),
    };
    for lyrics in [
        enhanced,
        some_words(),
        plain(&["a", "", "b"]),
        Lyrics::of(Body::Instrumental),
    ] {
        let document = Document::of(&lyrics);
        assert_eq!(Document::read(&document.json), Ok(lyrics));
        assert_eq!(document.id, DocumentId::of(document.json.as_bytes()));
    }
}

#[test]
fn the_bytes_and_the_name_are_fixed_for_ever() {
    let document = Document::of(&Lyrics::of(Body::Synced(lines(
        "[00:01.00]<00:01.00>a <00:02.00>b",
    ))));
    assert_eq!(
        document.json,
        r#"{"body":{"synced":[{"start":1000,"text":"a b","words":[{"start":1000,"bytes":{"start":0,"end":1}},{"start":2000,"bytes":{"start":2,"end":3}}]}]}}"#
    );
    let instrumental = Document::of(&Lyrics::of(Body::Instrumental));
    assert_eq!(instrumental.json, r#"{"body":"instrumental"}"#);
    assert_eq!(
        instrumental.id.as_str(),
        "6c996d0067aced8a1bcc3d2c0d0786fdb373945a06bde8ceb6888710bf1b309e"
    );
}

#[test]
fn names_are_64_lower_hexadecimal_digits() {
    let id = DocumentId::of(b"x");
    assert_eq!(DocumentId::parse(id.as_str()), Some(id.clone()));
    for not in ["", "abc", &id.as_str().to_uppercase(), &format!("{id}0")] {
        assert_eq!(DocumentId::parse(not), None);
    }
}

#[test]
fn bytes_that_are_no_document_are_refused() {
    let inside_a_letter = r#"{"body":{"synced":[{"start":1,"text":"é","words":[{"start":1,"bytes":{"start":0,"end":1}}]}]}}"#;
    let disordered = r#"{"body":{"synced":[{"start":2,"text":"a"},{"start":1,"text":"b"}]}}"#;
    for out_of_place in [inside_a_letter, disordered] {
        assert_eq!(Document::read(out_of_place), Err(Malformed::OutOfPlace));
    }
    for no_json in ["", "{}", r#"{"body":"silent"}"#, r#"{"body":{"plain":"#] {
        assert!(
            matches!(Document::read(no_json), Err(Malformed::Json(_))),
            "{no_json}"
        );
    }
}

#[test]
fn s26_one_text_has_one_fingerprint_however_it_is_timed_and_spelt() {
    let text = "the kettle sings\nand the windows weep\nnobody is home\nthe roof is low, and the garden is asleep\nla la la";
    let timed = "[00:01.00]The kettle sings!\n[00:02.00]and the windows weep\n[00:03.00]Nobody is home\n[00:04.00]\n\
        [00:05.00]the roof is low and the garden is asleep\n[00:06.00]La la la\n[00:07.00]Composer: X";
    let lines_of_text: Vec<&str> = text.lines().collect();
    let plain = fingerprint(&plain(&lines_of_text));
    assert!(plain.is_some());
    assert_eq!(plain, fingerprint(&Lyrics::of(Body::Synced(lines(timed)))));
    assert_eq!(fingerprint(&some_words()), None);
}
