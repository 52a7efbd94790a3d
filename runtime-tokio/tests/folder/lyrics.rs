//! What a folder answers about lyrics: files beside a track, by all spellings of its name, and every kind of tag.

use crate::kit::{Folder, tagged_ape};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Method;
use http_body_util::BodyExt;
use lofty::TextEncoding;
use lofty::ape::{ApeItem, ApeTag};
use lofty::config::WriteOptions;
use lofty::id3::v2::{
    BinaryFrame, ExtendedTextFrame, Frame, FrameFlags, FrameId, Id3v2Tag, SyncTextContentType,
    SynchronizedTextFrame, TimestampFormat, UnsynchronizedTextFrame,
};
use lofty::mp4::{Atom, AtomData, AtomIdent, Ilst};
use lofty::ogg::tag::VorbisComments;
use lofty::tag::{ItemValue, TagExt};
use segue_core::provider::REPLY_LIMIT;
use segue_core::provider::local::{Beside, Embedded};
use segue_core::source::folder::lyrics_request;
use segue_runtime_tokio::folder::{FolderSource, RelativePath};
use segue_runtime_tokio::net::LocalOrigin;
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

const LRC: &[u8] = b"[00:01.00]Paper boats\n";

/// The status, and the document of a good answer.
async fn ask(folder: &Folder, path: &str) -> (u16, Option<Beside>) {
    let source = FolderSource::new(folder.root(), None);
    let answer = source
        .answer(lyrics_request("disk", path).unwrap())
        .await
        .unwrap();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    assert!(body.len() <= REPLY_LIMIT);
    let document = (status == 200).then(|| serde_json::from_slice(&body).unwrap());
    (status, document)
}

async fn beside(folder: &Folder, path: &str) -> Beside {
    let (status, document) = ask(folder, path).await;
    document.unwrap_or_else(|| panic!("{path}: {status}"))
}

async fn names(folder: &Folder, path: &str) -> Vec<String> {
    let found = beside(folder, path).await.sidecars;
    found.into_iter().map(|sidecar| sidecar.name).collect()
}

/// Kind, language, description and text of each tag.
async fn tags(folder: &Folder, path: &str) -> Vec<(String, String, String)> {
    let told = |tag: Embedded| match tag {
        Embedded::Sylt { lang, entries } => (
            lang.unwrap_or_default(),
            "SYLT".to_owned(),
            format!("{entries:?}"),
        ),
        Embedded::Text {
            lang,
            description,
            text,
        } => (
            lang.unwrap_or_default(),
            description.unwrap_or_default(),
            text,
        ),
    };
    beside(folder, path)
        .await
        .embedded
        .into_iter()
        .map(told)
        .collect()
}

fn tag(lang: &str, description: &str, text: &str) -> (String, String, String) {
    (lang.to_owned(), description.to_owned(), text.to_owned())
}

#[tokio::test]
async fn sidecars_are_found_by_the_exact_stem_best_first() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a/01. U.S.A..flac");
    let near = [
        "01. U.S.A.flac.lrc",
        "01. u.s.a..lrc",
        "01. U.S.A.lrc",
        "01. U.S.A..en.lrc",
        "U.S.A..lrc",
    ];
    for name in near {
        folder.write(format!("a/{name}"), LRC);
    }
    assert!(names(&folder, "a/01. U.S.A..flac").await.is_empty());
    for suffix in ["txt", "srt", "LRC", "elrc", "yml", "yaml", "ttml"] {
        folder.write(format!("a/01. U.S.A..{suffix}"), suffix.as_bytes());
    }
    let found = beside(&folder, "a/01. U.S.A..flac").await.sidecars;
    let suffixes = ["ttml", "yaml", "yml", "elrc", "LRC", "srt", "txt"];
    assert_eq!(found.len(), suffixes.len());
    for (sidecar, suffix) in found.iter().zip(suffixes) {
        assert_eq!(sidecar.name, format!("01. U.S.A..{suffix}"));
        assert_eq!(STANDARD.decode(&sidecar.base64).unwrap(), suffix.as_bytes());
        assert_eq!(sidecar.sha256, hex::encode(Sha256::digest(suffix)));
    }
}

/// F9: the song came from one system and its words from another.
#[tokio::test]
async fn both_spellings_of_the_same_letters_are_found() {
    for (audio, sidecar) in [
        ("ガ é.flac", "カ\u{3099} e\u{301}.lrc"),
        ("カ\u{3099} e\u{301}.flac", "ガ é.lrc"),
    ] {
        let folder = Folder::new();
        folder.tone("tone.flac", audio);
        folder.write(sidecar, LRC);
        assert_eq!(names(&folder, audio).await, [sidecar]);
    }
}

#[tokio::test]
async fn a_name_that_is_not_text_has_its_sidecar() {
    let folder = Folder::new();
    let name = |suffix: &[u8]| [b"caf\xe9 100%.", suffix].concat();
    folder.tone("tone.flac", std::ffi::OsStr::from_bytes(&name(b"flac")));
    folder.write(std::ffi::OsStr::from_bytes(&name(b"lrc")), LRC);
    let path = RelativePath::from_bytes(&name(b"flac")).to_text();
    assert_eq!(names(&folder, &path).await, ["caf\u{fffd} 100%.lrc"]);
}

/// F15.
#[tokio::test]
async fn nothing_outside_of_the_root_is_read() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a.flac");
    let outside = folder.beside().join("outside.lrc");
    fs::write(&outside, LRC).unwrap();
    symlink(&outside, folder.root().join("a.lrc")).unwrap();
    symlink("../outside.lrc", folder.root().join("a.txt")).unwrap();
    assert!(names(&folder, "a.flac").await.is_empty());
    fs::copy(folder.root().join("a.flac"), folder.beside().join("b.flac")).unwrap();
    symlink("../b.flac", folder.root().join("b.flac")).unwrap();
    assert_eq!(ask(&folder, "b.flac").await.0, 404);
    let dots = "folder://disk/lyrics?path=../b.flac".parse().unwrap();
    let mut request = lyrics_request("disk", "a.flac").unwrap();
    *request.uri_mut() = dots;
    let source = FolderSource::new(folder.root(), None);
    assert_eq!(source.answer(request).await.unwrap().status(), 403);
}

#[tokio::test]
async fn a_sidecar_is_a_file_of_modest_size() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a.flac");
    folder.write("a.txt", &vec![b'a'; 1024 * 1024 + 1]);
    fs::create_dir(folder.root().join("a.lrc")).unwrap();
    let pipe = folder.root().join("a.srt");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, rustix::fs::Mode::RUSR, 0).unwrap();
    assert!(names(&folder, "a.flac").await.is_empty());
}

#[tokio::test]
async fn the_answer_stays_within_what_a_lane_reads() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a.flac");
    for suffix in ["elrc", "lrc", "srt", "txt"] {
        folder.write(format!("a.{suffix}"), &vec![b'a'; 1000 * 1000]);
    }
    folder.write("a.ttml", b"small");
    assert_eq!(names(&folder, "a.flac").await, ["a.ttml", "a.elrc"]);
}

#[tokio::test]
async fn what_is_not_there_or_no_sound_is_not_found() {
    let folder = Folder::new();
    folder.write("a.lrc", LRC);
    for path in ["a.flac", "a.lrc", "a.flac/b.flac"] {
        assert_eq!(ask(&folder, path).await.0, 404, "{path}");
    }
    let empty = FolderSource::new(folder.beside().join("nowhere"), None);
    let answer = empty
        .answer(lyrics_request("disk", "a.flac").unwrap())
        .await
        .unwrap();
    assert_eq!(answer.status(), 503);
}

#[tokio::test]
async fn a_broken_sound_file_still_has_its_sidecar() {
    let folder = Folder::new();
    folder.write("a.mp3", b"ID3\x04\0\0\xff\xff\xff\xffno sound at all");
    folder.write("a.lrc", LRC);
    let found = beside(&folder, "a.mp3").await;
    assert_eq!((found.sidecars.len(), found.embedded.len()), (1, 0));
}

#[tokio::test]
async fn a_sidecar_that_may_not_be_read_is_passed_over() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a.flac");
    let file = folder.write("a.lrc", LRC);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    // Whoever may read everything reads this, too.
    let readable = fs::read(&file).is_ok();
    assert_eq!(names(&folder, "a.flac").await.len(), usize::from(readable));
}

#[tokio::test]
async fn head_tells_the_length_alone() {
    let folder = Folder::new();
    folder.tone("tone.flac", "a.flac");
    let mut request = lyrics_request("disk", "a.flac").unwrap();
    *request.method_mut() = Method::HEAD;
    let source = FolderSource::new(folder.root(), None);
    let answer = source.answer(request).await.unwrap();
    assert!(answer.headers()["content-length"].len() > 1);
    assert_eq!(
        answer.into_body().collect().await.unwrap().to_bytes(),
        Bytes::new()
    );
}

fn id3v2() -> Id3v2Tag {
    let timed = |content_type, format| {
        let content = vec![(1000, "Paper".to_owned()), (1400, " boats".to_owned())];
        let frame = SynchronizedTextFrame::new(
            TextEncoding::UTF16,
            *b"eng",
            format,
            content_type,
            None,
            content,
        );
        let bytes = frame.as_bytes(WriteOptions::default()).unwrap();
        let id = FrameId::new("SYLT").unwrap();
        Frame::Binary(BinaryFrame::new(id, bytes))
    };
    let text = |lang: &[u8; 3], description: &'static str, content: &'static str| {
        Frame::UnsynchronizedText(UnsynchronizedTextFrame::new(
            TextEncoding::UTF8,
            *lang,
            description,
            content,
        ))
    };
    let user = |description: &'static str, content: &'static str| {
        Frame::UserText(ExtendedTextFrame::new(
            TextEncoding::UTF8,
            description,
            content,
        ))
    };
    let mut tag = Id3v2Tag::new();
    tag.insert(text(b"eng", "", "plain words"));
    tag.insert(text(b"deu", "Übersetzung", "schlichte Worte"));
    tag.insert(text(b"fra", "", "  "));
    tag.insert(user("SYNCEDLYRICS", "[00:01.00]Paper"));
    tag.insert(user("Lyricist", "Somebody"));
    tag.insert(timed(SyncTextContentType::Lyrics, TimestampFormat::MS));
    tag
}

fn told_of_id3v2() -> Vec<(String, String, String)> {
    vec![
        tag("eng", "", "plain words"),
        tag("deu", "Übersetzung", "schlichte Worte"),
        tag("", "SYNCEDLYRICS", "[00:01.00]Paper"),
        tag("eng", "SYLT", "[(1000, \"Paper\"), (1400, \" boats\")]"),
    ]
}

#[tokio::test]
async fn id3v2_tags_are_read_in_every_file_that_has_them() {
    for fixture in ["tone.mp3", "tone.wav", "tone.aiff", "tone.aac"] {
        let folder = Folder::new();
        let suffix = fixture.rsplit('.').next().unwrap();
        let name = format!("a.{suffix}");
        let file = folder.tone(fixture, &name);
        id3v2()
            .save_to_path(&file, WriteOptions::default())
            .unwrap();
        let mut told = tags(&folder, &name).await;
        let mut expected = told_of_id3v2();
        told.sort();
        expected.sort();
        assert_eq!(told, expected, "{fixture}");
    }
}

#[tokio::test]
async fn times_in_frames_of_sound_and_chords_are_left_alone() {
    let frames = [
        (TimestampFormat::MPEG, SyncTextContentType::Lyrics),
        (TimestampFormat::MS, SyncTextContentType::Chord),
    ];
    for (format, kind) in frames {
        let folder = Folder::new();
        let file = folder.tone("tone.mp3", "a.mp3");
        let content = vec![(1, "Am".to_owned())];
        let frame =
            SynchronizedTextFrame::new(TextEncoding::UTF8, *b"eng", format, kind, None, content);
        let bytes = frame.as_bytes(WriteOptions::default()).unwrap();
        assert!(SynchronizedTextFrame::parse(&bytes, FrameFlags::default()).is_ok());
        let mut tag = Id3v2Tag::new();
        tag.insert(Frame::Binary(BinaryFrame::new(
            FrameId::new("SYLT").unwrap(),
            bytes,
        )));
        tag.save_to_path(&file, WriteOptions::default()).unwrap();
        assert!(tags(&folder, "a.mp3").await.is_empty());
    }
}

#[tokio::test]
async fn vorbis_comments_are_read_with_all_their_values() {
    for fixture in ["tone.flac", "tone.ogg", "tone.opus"] {
        let folder = Folder::new();
        let name = format!("a.{}", fixture.rsplit('.').next().unwrap());
        let file = folder.tone(fixture, &name);
        let mut comments = VorbisComments::new();
        for (key, value) in [
            ("TITLE", "Lantern Hill"),
            ("LYRICS", "one"),
            ("lyrics", "[00:01.00]two"),
            ("UNSYNCEDLYRICS", "three"),
            ("SYNCEDLYRICS", "[00:01.00]four"),
            ("LYRICS-deu", "fünf"),
            ("LYRICS:fra", "six"),
            ("LYRICIST", "Somebody"),
        ] {
            comments.push(key.to_owned(), value.to_owned());
        }
        comments
            .save_to_path(&file, WriteOptions::default())
            .unwrap();
        let told = tags(&folder, &name).await;
        let expected = [
            tag("", "LYRICS", "one"),
            tag("", "lyrics", "[00:01.00]two"),
            tag("", "UNSYNCEDLYRICS", "three"),
            tag("", "SYNCEDLYRICS", "[00:01.00]four"),
            tag("deu", "LYRICS-deu", "fünf"),
            tag("fra", "LYRICS:fra", "six"),
        ];
        let folded = |tags: &[(String, String, String)]| -> Vec<(String, String, String)> {
            let tags = tags.iter().cloned();
            tags.map(|(lang, name, text)| (lang, name.to_lowercase(), text))
                .collect()
        };
        assert_eq!(folded(&told), folded(&expected), "{fixture}");
    }
}

#[tokio::test]
async fn mp4_atoms_are_read_freeform_ones_too() {
    let free = |name: &'static str, text: &str| {
        let ident = AtomIdent::Freeform {
            mean: "com.apple.iTunes".into(),
            name: name.into(),
        };
        Atom::new(ident, AtomData::UTF8(text.to_owned()))
    };
    for fixture in ["tone-aac.m4a", "tone-alac.m4a"] {
        let folder = Folder::new();
        let file = folder.tone(fixture, "a.m4a");
        let mut ilst = Ilst::new();
        let own = AtomData::UTF8("plain words".to_owned());
        ilst.insert(Atom::new(AtomIdent::Fourcc(*b"\xa9lyr"), own));
        ilst.insert(free("LYRICS", "more words"));
        ilst.insert(free("SYNCEDLYRICS", "[00:01.00]Paper"));
        ilst.insert(free("ISRC", "XXA012600001"));
        ilst.save_to_path(&file, WriteOptions::default()).unwrap();
        let expected = [
            tag("", "", "plain words"),
            tag("", "LYRICS", "more words"),
            tag("", "SYNCEDLYRICS", "[00:01.00]Paper"),
        ];
        assert_eq!(tags(&folder, "a.m4a").await, expected, "{fixture}");
    }
}

#[tokio::test]
async fn ape_tags_are_read() {
    let folder = Folder::new();
    let pack = folder.tone("tone.wv", "a.wv");
    let monkey = folder.write("a.ape", &tagged_ape());
    for file in [pack, monkey] {
        let mut ape = ApeTag::new();
        for (key, text) in [("Lyrics", "plain words"), ("Comment", "no words")] {
            let text = ItemValue::Text(text.to_owned());
            ape.insert(ApeItem::new(key.to_owned(), text).unwrap());
        }
        ape.save_to_path(&file, WriteOptions::default()).unwrap();
    }
    for path in ["a.wv", "a.ape"] {
        let expected = [tag("", "Lyrics", "plain words")];
        assert_eq!(tags(&folder, path).await, expected, "{path}");
    }
}

/// A file that is cut anywhere, or has one wrong byte, is a document all the same.
#[tokio::test]
async fn broken_tags_are_no_lyrics_and_no_failure() {
    let folder = Folder::new();
    let file = folder.tone("tone.mp3", "a.mp3");
    id3v2()
        .save_to_path(&file, WriteOptions::default())
        .unwrap();
    let whole = fs::read(&file).unwrap();
    let tag_length = whole.len().min(700);
    for at in (0..tag_length).step_by(3) {
        fs::write(&file, &whole[..at]).unwrap();
        assert_eq!(ask(&folder, "a.mp3").await.0, 200, "cut at {at}");
        let mut spoilt = whole.clone();
        spoilt[at] ^= 0xff;
        fs::write(&file, &spoilt).unwrap();
        assert_eq!(ask(&folder, "a.mp3").await.0, 200, "spoilt at {at}");
    }
}
