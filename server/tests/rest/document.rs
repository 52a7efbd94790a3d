//! XML and JSON of one reply are equal, whatever the text.

use super::xml::{assert_same, parse};
use segue::rest::document::Doc;

/// Texts that have broken a serializer somewhere.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "  leading and trailing  ",
    "<&\"'>",
    "]]>",
    "<!--x-->",
    "<![CDATA[x]]>",
    "&amp;&#65;&unknown;",
    "tab\tnew\nline\rreturn\r\nboth",
    "A\u{8}B\u{0}\u{1}\u{B}\u{C}\u{E}\u{1F}",
    "\u{7F}\u{80}\u{85}\u{9F}\u{AD}",
    "\u{FFFD}\u{FFFE}\u{FFFF}\u{1FFFE}\u{10FFFF}",
    "\u{2028}\u{2029}\u{FEFF}\u{202E}",
    "日本語 e\u{301} \u{1F600}\u{1F468}\u{200D}\u{1F469}",
    "back\\slash /slash",
    "</subsonic-response>",
    "');alert(1);//",
    "%s %d {} $(x) `x`",
];

#[test]
fn xml_and_json_agree_on_every_text_in_every_place() {
    for text in HOSTILE {
        let doc = Doc::new()
            .with("title", *text)
            .with("number", -5)
            .with("big", u64::MAX)
            .with("is", true)
            .with("isNot", false)
            .with(
                "lyrics",
                Doc::new()
                    .with("artist", *text)
                    .with_content("value", *text),
            )
            .with("cueLine", Doc::new().with("value", *text))
            .with("empty", Doc::new())
            .with_list("isrc", [*text, "x"])
            .with_list("folder", [1u32])
            .with_list("nothing", Vec::<Doc>::new())
            .with_list(
                "song",
                [
                    Doc::new().with("name", *text),
                    Doc::new(),
                    Doc::new().with_list("genres", [Doc::new().with("name", *text)]),
                ],
            );
        assert_same(
            &doc.to_xml("subsonic-response"),
            &doc.to_json("subsonic-response"),
        );
    }
}

#[test]
fn every_character_survives_or_is_left_out_of_both() {
    let all: String = ('\0'..=char::MAX).collect();
    let doc = Doc::new()
        .with("title", all.as_str())
        .with_content("value", all.as_str());
    assert_same(&doc.to_xml("r"), &doc.to_json("r"));
    let kept = parse(&doc.to_xml("r")).text;
    // Of the 1,112,064 scalar values XML 1.0 cannot carry 29 controls, U+FFFE and U+FFFF.
    assert_eq!(kept.chars().count(), 1_112_064 - 29 - 2);
}
