//! A music folder answers like a server: ranges, validators, refusals, covers and transcodes.

use crate::kit::fixture_bytes;
use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE, RANGE,
};
use http::{HeaderMap, HeaderName, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use segue_core::io::{Accepted, Network};
use segue_core::source::folder::{cover_uri, track_uri};
use segue_runtime_tokio::folder::{Ffmpeg, FolderSource, RelativePath};
use segue_runtime_tokio::net::{LocalBody, LocalOrigin, TokioNetwork};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

struct Folder {
    place: TempDir,
    ffmpeg: Option<Ffmpeg>,
}

/// A whole answer.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: HeaderName) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }
}

impl Folder {
    fn new() -> Self {
        Self {
            place: tempfile::tempdir().unwrap(),
            ffmpeg: None,
        }
    }

    fn with_ffmpeg(ffmpeg: Ffmpeg) -> Self {
        Self {
            ffmpeg: Some(ffmpeg),
            ..Self::new()
        }
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("music")
    }

    fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    async fn send(&self, request: Request<Bytes>) -> Response<LocalBody> {
        let source = FolderSource::new(self.root(), self.ffmpeg.clone());
        source.answer(request).await.unwrap()
    }

    async fn ask(&self, request: Request<Bytes>) -> Answer {
        let (head, body) = self.send(request).await.into_parts();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    async fn get(&self, uri: Uri, headers: &[(HeaderName, &str)]) -> Answer {
        let mut request = Request::get(uri);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        self.ask(request.body(Bytes::new()).unwrap()).await
    }
}

fn track(path: &str) -> Uri {
    track_uri("disk", path, &[]).unwrap()
}

fn transcode(path: &str, query: &[(&str, &str)]) -> Uri {
    let query: Vec<_> = query
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    track_uri("disk", path, &query).unwrap()
}

fn fixture(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    path.join(name)
}

#[tokio::test]
async fn the_whole_file_comes_with_its_length_and_a_strong_validator() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..300_000_u32).map(|i| (i % 251) as u8).collect();
    folder.write("A & B/1 + 1 = 2?.mp3", &bytes);
    let answer = folder.get(track("A & B/1 + 1 = 2?.mp3"), &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header(CONTENT_TYPE), "audio/mpeg");
    assert_eq!(answer.header(CONTENT_LENGTH), "300000");
    assert_eq!(answer.header(ACCEPT_RANGES), "bytes");
    assert!(answer.header(ETAG).starts_with('"') && answer.header(ETAG).ends_with('"'));
    assert!(answer.body == bytes);
}

#[tokio::test]
async fn ranges_are_cut_to_the_byte() {
    let folder = Folder::new();
    folder.write("a.flac", b"0123456789");
    let cases = [
        ("bytes=0-3", "bytes 0-3/10", "0123"),
        ("bytes=4-", "bytes 4-9/10", "456789"),
        ("bytes=9-9", "bytes 9-9/10", "9"),
        ("bytes=8-100", "bytes 8-9/10", "89"),
        ("bytes=-3", "bytes 7-9/10", "789"),
        ("bytes=-100", "bytes 0-9/10", "0123456789"),
    ];
    for (range, content_range, expected) in cases {
        let answer = folder.get(track("a.flac"), &[(RANGE, range)]).await;
        assert_eq!(answer.status, 206, "{range}");
        assert_eq!(answer.header(CONTENT_RANGE), content_range, "{range}");
        assert_eq!(answer.header(CONTENT_LENGTH), expected.len().to_string());
        assert_eq!(answer.body, expected, "{range}");
    }
    for ignored in ["bytes=0-1,4-5", "bytes=x-", "chunks=1-2", "bytes=5-4"] {
        let answer = folder.get(track("a.flac"), &[(RANGE, ignored)]).await;
        assert_eq!((answer.status, answer.body.len()), (200, 10), "{ignored}");
    }
}

#[tokio::test]
async fn a_range_beyond_the_end_is_not_satisfiable() {
    let folder = Folder::new();
    folder.write("a.flac", b"0123456789");
    folder.write("empty.flac", b"");
    for (path, range, whole) in [
        ("a.flac", "bytes=10-", "bytes */10"),
        ("a.flac", "bytes=-0", "bytes */10"),
        ("empty.flac", "bytes=0-", "bytes */0"),
    ] {
        let answer = folder.get(track(path), &[(RANGE, range)]).await;
        assert_eq!(answer.status, 416, "{path} {range}");
        assert_eq!(answer.header(CONTENT_RANGE), whole);
        assert!(answer.body.is_empty());
    }
}

#[tokio::test]
async fn a_range_of_another_version_gets_the_whole_file() {
    let folder = Folder::new();
    folder.write("a.flac", b"0123456789");
    let first = folder.get(track("a.flac"), &[]).await;
    let tag = first.header(ETAG);
    let same = [(RANGE, "bytes=5-"), (IF_RANGE, tag)];
    assert_eq!(folder.get(track("a.flac"), &same).await.status, 206);
    folder.write("a.flac", b"0123456789A");
    assert_eq!(folder.get(track("a.flac"), &same).await.status, 200);
}

#[tokio::test]
async fn head_tells_everything_but_the_bytes() {
    let folder = Folder::new();
    folder.write("a.ogg", b"0123456789");
    let request = Request::head(track("a.ogg")).body(Bytes::new()).unwrap();
    let answer = folder.ask(request).await;
    assert_eq!((answer.status, answer.header(CONTENT_LENGTH)), (200, "10"));
    assert!(answer.body.is_empty());

    let mut request = Request::new(Bytes::new());
    *request.method_mut() = Method::POST;
    *request.uri_mut() = track("a.ogg");
    assert_eq!(folder.ask(request).await.status, 405);
}

#[tokio::test]
async fn a_file_name_that_is_not_text_can_be_played() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = b"caf\xe9 100%.mp3";
    folder.write(std::ffi::OsStr::from_bytes(name), b"sound");
    let path = RelativePath::from_bytes(name).to_text();
    let answer = folder.get(track(&path), &[]).await;
    assert_eq!((answer.status, answer.body.as_ref()), (200, &b"sound"[..]));
}

#[tokio::test]
async fn what_is_not_there_is_not_found_and_what_is_outside_is_forbidden() {
    let folder = Folder::new();
    folder.write("a.mp3", b"sound");
    folder.write("secret.txt", b"secret");
    folder.write("folder.mp3/x.txt", b"");
    let outside = folder.place.path().join("outside.mp3");
    fs::write(&outside, b"secret").unwrap();
    symlink("../outside.mp3", folder.root().join("relative.mp3")).unwrap();
    symlink(&outside, folder.root().join("absolute.mp3")).unwrap();
    symlink("..", folder.root().join("up")).unwrap();
    for missing in ["b.mp3", "a.mp3/b.mp3", "secret.txt", "folder.mp3"] {
        let answer = folder.get(track(missing), &[]).await;
        assert_eq!(answer.status, 404, "{missing}");
    }
    // `%2e` and `%2f` survive the URI's own check and meet the folder's.
    for outside in [
        "relative.mp3",
        "absolute.mp3",
        "up/outside.mp3",
        "%2e%2e/outside.mp3",
        "x%2f%2e%2e%2f%2e%2e%2foutside.mp3",
        "%2fetc%2fpasswd",
    ] {
        let answer = folder.get(track(outside), &[]).await;
        assert_eq!(answer.status, 403, "{outside}");
        assert!(answer.body.is_empty());
    }
    let dots = "folder://disk/track?path=../outside.mp3".parse().unwrap();
    assert_eq!(folder.get(dots, &[]).await.status, 403);
    let other = "folder://disk/elsewhere?path=a.mp3".parse().unwrap();
    assert_eq!(folder.get(other, &[]).await.status, 400);
}

#[tokio::test]
async fn a_named_pipe_does_not_hang_the_folder() {
    let folder = Folder::new();
    folder.write("a.mp3", b"sound");
    let pipe = folder.root().join("pipe.mp3");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert_eq!(folder.get(track("pipe.mp3"), &[]).await.status, 404);
}

#[tokio::test]
async fn a_root_that_is_not_there_is_a_source_that_is_down() {
    let folder = Folder::new();
    assert_eq!(folder.get(track("a.mp3"), &[]).await.status, 503);
    assert_eq!(
        folder
            .get(cover_uri("disk", "a.mp3").unwrap(), &[])
            .await
            .status,
        503
    );
}

#[tokio::test]
async fn covers_come_from_pictures_and_from_inside_sound_files() {
    let folder = Folder::new();
    for name in ["tone.flac", "tone.mp3", "tone-aac.m4a", "tone.ogg"] {
        folder.write(name, &fixture_bytes(name));
    }
    folder.write("cover.jpg", b"\xff\xd8\xff\xe0 a picture");
    folder.write("fake.jpg", b"<html>");
    folder.write(
        "huge.png",
        &[b"\x89PNG\r\n\x1a\n", &[0; 20 * 1024 * 1024][..]].concat(),
    );
    let cover = |path: &str| cover_uri("disk", path).unwrap();

    let beside = folder.get(cover("cover.jpg"), &[]).await;
    assert_eq!(
        (beside.status, beside.header(CONTENT_TYPE)),
        (200, "image/jpeg")
    );
    assert_eq!(beside.body, &b"\xff\xd8\xff\xe0 a picture"[..]);
    assert!(!beside.header(ETAG).is_empty());

    let mut inside = Vec::new();
    for name in ["tone.flac", "tone.mp3", "tone-aac.m4a"] {
        let answer = folder.get(cover(name), &[]).await;
        assert_eq!(
            (answer.status, answer.header(CONTENT_TYPE)),
            (200, "image/png"),
            "{name}"
        );
        inside.push(answer.body);
    }
    // The MP3 has a back cover too, and it comes first in the file.
    assert!(inside[0] == inside[1] && inside[1] == inside[2]);

    for nothing in ["tone.ogg", "fake.jpg", "huge.png", "none.png"] {
        assert_eq!(
            folder.get(cover(nothing), &[]).await.status,
            404,
            "{nothing}"
        );
    }
}

#[tokio::test]
async fn without_ffmpeg_another_format_is_the_original() {
    let folder = Folder::new();
    folder.write("a.flac", b"0123456789");
    let uri = transcode("a.flac", &[("format", "mp3"), ("maxBitRate", "128")]);
    let answer = folder.get(uri.clone(), &[(RANGE, "bytes=2-3")]).await;
    assert_eq!((answer.status, answer.body.as_ref()), (206, &b"23"[..]));
    assert_eq!(answer.header(CONTENT_TYPE), "audio/flac");

    let gone = Folder::with_ffmpeg(Ffmpeg::at(fixture("none")));
    gone.write("a.flac", b"0123456789");
    assert_eq!(gone.get(uri, &[]).await.body.as_ref(), b"0123456789");
}

#[tokio::test]
async fn the_head_of_a_transcode_starts_no_encoder() {
    let folder = Folder::with_ffmpeg(Ffmpeg::at(fixture("ffmpeg-fails")));
    folder.write("a.flac", b"0123456789");
    let uri = transcode("a.flac", &[("format", "aac")]);
    let request = Request::head(uri).body(Bytes::new()).unwrap();
    let answer = folder.ask(request).await;
    assert_eq!(
        (answer.status, answer.header(CONTENT_TYPE)),
        (200, "audio/aac")
    );
}

#[tokio::test]
async fn the_network_reaches_a_folder_by_its_instance() {
    let folder = Folder::new();
    folder.write("a.flac", b"0123456789");
    let source = FolderSource::new(folder.root(), None);
    let origin: Arc<dyn LocalOrigin> = Arc::new(source);
    let network = TokioNetwork::new().with_folders([("disk".to_owned(), origin)].into());
    let request = Request::get(track("a.flac")).header(RANGE, "bytes=-2");
    let request = request.body(Bytes::new()).unwrap();
    let answer = network.send(request, Accepted::default()).await.unwrap();
    assert_eq!(answer.status(), 206);
    assert_eq!(answer.collect().await.unwrap().to_bytes(), "89");
}

#[tokio::test]
async fn the_encoder_gets_arguments_and_no_path() {
    let folder = Folder::with_ffmpeg(Ffmpeg::at(fixture("ffmpeg-echoes")));
    folder.write("-i evil; rm.flac", b"0123456789");
    let query = [
        ("format", "opus"),
        ("maxBitRate", "96"),
        ("timeOffset", "61"),
    ];
    let answer = folder
        .get(
            transcode("-i evil; rm.flac", &query),
            &[(RANGE, "bytes=5-")],
        )
        .await;
    assert_eq!((answer.status, answer.header(ACCEPT_RANGES)), (200, "none"));
    assert_eq!(answer.header(CONTENT_TYPE), "audio/ogg");
    assert_eq!(answer.header(CONTENT_LENGTH), "");
    let said = String::from_utf8(answer.body.to_vec()).unwrap();
    assert!(
        said.contains("-ss 61 -i file:/dev/fd/0 -map 0:a:0"),
        "{said}"
    );
    assert!(
        said.contains("-c:a libopus -b:a 96k -f ogg pipe:1"),
        "{said}"
    );
    assert!(!said.contains("evil"), "{said}");
}

#[tokio::test]
async fn a_file_the_encoder_makes_nothing_of_is_refused() {
    let folder = Folder::with_ffmpeg(Ffmpeg::at(fixture("ffmpeg-fails")));
    folder.write("a.flac", b"0123456789");
    let answer = folder
        .get(transcode("a.flac", &[("format", "mp3")]), &[])
        .await;
    assert_eq!(answer.status, 422);
}

#[tokio::test]
async fn the_real_ffmpeg_makes_every_format() {
    // Nothing to try on a machine without it.
    let Some(ffmpeg) = Ffmpeg::find() else { return };
    let folder = Folder::with_ffmpeg(ffmpeg);
    for name in [
        "tone.flac",
        "tone.mp3",
        "tone.opus",
        "tone-alac.m4a",
        "tone.wv",
        "tone.aiff",
    ] {
        folder.write(name, &fixture_bytes(name));
        let answer = folder.get(transcode(name, &[("format", "wav")]), &[]).await;
        assert_eq!(answer.status, 200, "{name}");
        assert!(answer.body.starts_with(b"RIFF"), "{name}");
    }
    let cases: [(&str, &[u8]); 6] = [
        ("mp3", b"ID3"),
        ("opus", b"OggS"),
        ("ogg", b"OggS"),
        ("aac", b"\xff\xf1"),
        ("flac", b"fLaC"),
        ("wav", b"RIFF"),
    ];
    for (format, start) in cases {
        let uri = transcode("tone.flac", &[("format", format), ("maxBitRate", "64")]);
        let answer = folder.get(uri, &[]).await;
        assert_eq!(answer.status, 200, "{format}");
        assert!(
            answer.body.starts_with(start),
            "{format}: {:?}",
            answer.body.get(..4)
        );
    }
    folder.write("page.mp3", b"#EXTM3U\nfile:///etc/passwd\n");
    folder.write("list.mp3", b"ffconcat version 1.0\nfile /etc/passwd\n");
    for hostile in ["page.mp3", "list.mp3"] {
        let answer = folder
            .get(transcode(hostile, &[("format", "wav")]), &[])
            .await;
        assert_eq!(answer.status, 422, "{hostile}");
    }
}
