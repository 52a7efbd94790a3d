//! Telling a document from media by its first bytes. What is not a document passes: formats are many, and an
//! unknown one is the client's to judge.

/// How many bytes decide. A document says so sooner; media is never held back longer.
pub(super) const SNIFF_LEN: usize = 512;

/// What the first bytes of a body look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Markup or JSON, whatever the head says.
    Document,
    /// Nothing of the kind.
    Bytes,
    /// More bytes are needed to tell.
    Unclear,
}

/// How a document may begin, after a byte order mark and white space, in lower case.
const MARKERS: [&[u8]; 5] = [
    b"<?xml",
    b"<!doctype",
    b"<html",
    b"<subsonic-response",
    b"{\"subsonic-response\"",
];

/// At the beginning of a file: anything that looks like markup or JSON is a document. No audio format
/// begins so.
pub(super) fn at_start(bytes: &[u8]) -> Look {
    if let Some(mark) = UTF16_MARKUP.iter().find(|mark| begins(bytes, *mark)) {
        return match bytes.len() >= mark.len() {
            true => Look::Document,
            false => Look::Unclear,
        };
    }
    let text = trimmed(bytes);
    match text.first() {
        None => unclear_within(bytes),
        Some(b'<') => match text.get(1) {
            None => unclear_within(bytes),
            Some(b'?' | b'!' | b'/' | b'a'..=b'z' | b'A'..=b'Z') => Look::Document,
            Some(_) => Look::Bytes,
        },
        Some(b'{' | b'[') => {
            let inner = text[1..].trim_ascii_start();
            match inner.first() {
                None => unclear_within(bytes),
                Some(b'"' | b'{' | b'[' | b'}' | b']') => Look::Document,
                Some(_) => Look::Bytes,
            }
        }
        Some(0xEF) if begins(bytes, &BOM) => Look::Unclear,
        Some(_) => Look::Bytes,
    }
}

/// Inside a file, where any byte may come first: only a full marker is a document.
pub(super) fn in_the_middle(bytes: &[u8]) -> Look {
    let text = trimmed(bytes);
    match MARKERS.iter().find(|marker| begins(text, marker)) {
        Some(marker) if text.len() >= marker.len() => Look::Document,
        Some(_) => unclear_within(bytes),
        None => Look::Bytes,
    }
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// `<` in UTF-16 with a byte order mark. As MPEG Layer I this would be a frame of a reserved sample rate.
const UTF16_MARKUP: [[u8; 4]; 2] = [[0xFF, 0xFE, b'<', 0], [0xFE, 0xFF, 0, b'<']];

/// Without a UTF-8 byte order mark and leading white space.
fn trimmed(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(&BOM).unwrap_or(bytes).trim_ascii_start()
}

/// Whether `bytes`, as far as they go, are the beginning of `marker`, in any case.
fn begins(bytes: &[u8], marker: &[u8]) -> bool {
    let known = bytes.len().min(marker.len());
    bytes[..known].eq_ignore_ascii_case(&marker[..known])
}

fn unclear_within(bytes: &[u8]) -> Look {
    if bytes.len() < SNIFF_LEN {
        Look::Unclear
    } else {
        // So much white space before anything else is no media, but a document padded out.
        Look::Document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_seen_through_marks_and_white_space() {
        for text in [
            "<?xml version=\"1.0\"?>",
            "<subsonic-response/>",
            "\u{feff}<!DOCTYPE html>",
            "\r\n\t <HTML>",
            "{\"error\":1}",
            "{ }",
            "[\"a\"]",
            "{\n  \"subsonic-response\": {}}",
        ] {
            assert_eq!(at_start(text.as_bytes()), Look::Document, "{text}");
        }
        assert_eq!(at_start(&[0xFF, 0xFE, b'<', 0, b'?', 0]), Look::Document);
    }

    #[test]
    fn media_is_not_taken_for_a_document() {
        for bytes in [
            &b"fLaC\0\0"[..],
            b"ID3\x04",
            b"\xFF\xFB\x90\x64",
            b"OggS",
            b"\0\0\0\x20ftypM4A ",
            b"RIFF",
            b"\xFF\xF1\x50\x80",
            b"\x1A\x45\xDF\xA3",
        ] {
            assert_eq!(at_start(bytes), Look::Bytes, "{bytes:?}");
        }
    }

    #[test]
    fn too_little_is_unclear_and_too_much_padding_is_a_document() {
        for bytes in [&b""[..], b" \n", b"<", b"{ ", b"\xFF", &BOM[..2], &BOM] {
            assert_eq!(at_start(bytes), Look::Unclear, "{bytes:?}");
        }
        assert_eq!(at_start(&[b' '; SNIFF_LEN]), Look::Document);
    }

    #[test]
    fn inside_a_file_only_a_full_marker_counts() {
        assert_eq!(in_the_middle(b"{\"ab"), Look::Bytes);
        assert_eq!(in_the_middle(b"<a"), Look::Bytes);
        assert_eq!(in_the_middle(b"<!doc"), Look::Unclear);
        assert_eq!(in_the_middle(b"<!DOCTYPE html>"), Look::Document);
    }
}
