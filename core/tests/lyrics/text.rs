//! From bytes to text: what is decoded, and what is refused.

use segue_core::lyrics::text::{Undecodable, check, decode, lines};

#[test]
fn boms_decide_and_are_gone() {
    let text = "[00:01.00]a";
    let utf16 = |order: fn(u16) -> [u8; 2]| {
        let units = std::iter::once(0xFEFF).chain(text.encode_utf16());
        units.flat_map(order).collect::<Vec<u8>>()
    };
    let utf8 = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    for bytes in [utf8, utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
        assert_eq!(decode(&bytes).as_deref(), Ok(text));
    }
}

#[test]
fn utf16_without_a_bom_shows_in_its_zeros() {
    let bytes: Vec<u8> = "[00:01.00]hello"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(decode(&bytes).as_deref(), Ok("[00:01.00]hello"));
}

#[test]
fn legacy_encodings_are_told_by_their_bytes() {
    let cases: [(&'static encoding_rs::Encoding, &str); 6] = [
        (
            encoding_rs::SHIFT_JIS,
            "[00:01.00]沈むように溶けてゆくように\n[00:05.00]二人だけの空が広がる夜に\n",
        ),
        (
            encoding_rs::GB18030,
            "[00:01.00]月亮代表我的心\n[00:05.00]你问我爱你有多深我爱你有几分\n",
        ),
        (
            encoding_rs::BIG5,
            "[00:01.00]月亮代表我的心\n[00:05.00]你問我愛你有多深我愛你有幾分\n",
        ),
        (
            encoding_rs::EUC_KR,
            "[00:01.00]그대를 사랑해요 언제까지나\n[00:05.00]바람이 불어오는 곳 그곳으로 가네\n",
        ),
        (
            encoding_rs::WINDOWS_1251,
            "[00:01.00]Расцветали яблони и груши\n[00:05.00]Поплыли туманы над рекой\n",
        ),
        (
            encoding_rs::WINDOWS_1252,
            "[00:01.00]Sous le ciel étoilé de l'été\n[00:05.00]où sont passées les années\n",
        ),
    ];
    for (encoding, text) in cases {
        let (bytes, _, lossy) = encoding.encode(text);
        assert!(!lossy);
        assert_eq!(decode(&bytes).as_deref(), Ok(text), "{}", encoding.name());
    }
}

#[test]
fn text_that_was_encoded_twice_is_mended() {
    let twice = "Ã‰tÃ© sous la pluie, Ã\u{a0} deux";
    assert_eq!(
        decode(twice.as_bytes()).as_deref(),
        Ok("Été sous la pluie, à deux")
    );
    let once = "Été sous la pluie";
    assert_eq!(decode(once.as_bytes()).as_deref(), Ok(once));
}

#[test]
fn what_cannot_be_told_is_refused() {
    assert_eq!(
        decode(&[0, 1, 2, 3, 0, 0, 9, 1, 2, 4, 5, 6, 7, 8, 1, 2]),
        Err(Undecodable::Binary)
    );
    assert_eq!(
        decode("\u{fffd}\u{fffd} b\u{fffd}".as_bytes()),
        Err(Undecodable::Encoding)
    );
    assert_eq!(
        decode(&vec![b'a'; 1024 * 1024 + 1]),
        Err(Undecodable::TooLong)
    );
    let jpeg = [
        0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10, b'J', b'F', b'I', b'F', 0, 1, 1, 0, 0, 1,
    ];
    assert!(decode(&jpeg).is_err());
}

#[test]
fn pages_and_json_are_refused() {
    for page in [
        "<!DOCTYPE html><html><body>Not found</body></html>",
        "\n <html>\n<head><title>404</title>",
        "Sorry\n</body></html>",
    ] {
        assert_eq!(check(page), Err(Undecodable::Html), "{page}");
    }
    for json in [
        r#"{"statusCode":404,"name":"TrackNotFound"}"#,
        r#"[{"id":1}]"#,
        r#"{"error": "cut sho"#,
    ] {
        assert_eq!(check(json), Err(Undecodable::Json), "{json}");
    }
    for words in [
        "[Chorus]\nla",
        "[00:01.00]a",
        "{\"t\":0,\"c\":[]}\n[00:01.00]a",
        "<3 you\nand me",
        "{wind} blows",
    ] {
        assert_eq!(check(words), Ok(()), "{words}");
    }
}

#[test]
fn lines_end_in_every_way() {
    let text = "a\r\nb\rc\n\nd\u{85}e\u{2028}f";
    assert_eq!(
        lines(text).collect::<Vec<_>>(),
        ["a", "b", "c", "", "d", "e", "f"]
    );
    assert_eq!(lines("").collect::<Vec<_>>(), [""]);
}

#[test]
fn letters_encoded_twice_are_judged_once_they_are_mended() {
    let twice = |text: &str| {
        let letters = text.bytes().map(char::from);
        letters.collect::<String>()
    };
    for text in ["Ágnes álma", "Ívar á Ísafirði"] {
        assert_eq!(decode(twice(text).as_bytes()).as_deref(), Ok(text));
    }
    let lost = twice("caf\u{FFFD} \u{FFFD}t\u{FFFD}");
    assert!(decode(lost.as_bytes()).is_err(), "letters are lost");
}
