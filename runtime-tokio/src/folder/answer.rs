//! A music folder that answers requests like a server.

use super::body::FileBody;
use super::path::RelativePath;
use super::root::{OpenError, Root};
use super::transcode::{Ffmpeg, Order, Target, TranscodeError};
use super::{audio, cover, lyrics};
use crate::art;
use crate::net::{LocalBody, LocalOrigin};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE, RANGE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode, response};
use http_body_util::{BodyExt, Empty, Full};
use segue_core::io::NetError;
use segue_core::source::folder::{self, BadFolderUri, FolderWhat};
use segue_core::source::media;
use segue_core::source::range::{self, ContentRange};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// Answers `folder://INSTANCE/track?path=...`, `/cover?path=...` and `/lyrics?path=...` of one folder: the original
/// bytes with ranges and a strong validator, a transcode when one is asked for and can be made, a picture, or what
/// there is of lyrics in and beside a file.
#[derive(Clone, Debug)]
pub struct FolderSource(Arc<Place>);

#[derive(Debug)]
struct Place {
    root: PathBuf,
    ffmpeg: Option<Ffmpeg>,
}

impl FolderSource {
    /// The folder at `root`. It is opened anew for each request, so a disk may come and go. Without
    /// `ffmpeg` a request for another format gets the original bytes.
    pub fn new(root: PathBuf, ffmpeg: Option<Ffmpeg>) -> Self {
        Self(Arc::new(Place { root, ffmpeg }))
    }
}

impl LocalOrigin for FolderSource {
    fn answer(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<LocalBody>, NetError>> {
        let place = Arc::clone(&self.0);
        Box::pin(async move { place.answer(&request).await })
    }
}

type Answer = Result<Response<LocalBody>, NetError>;

impl Place {
    async fn answer(self: Arc<Self>, request: &Request<Bytes>) -> Answer {
        let head_only = match *request.method() {
            Method::GET => false,
            Method::HEAD => true,
            _ => return finish(status(StatusCode::METHOD_NOT_ALLOWED).header(ALLOW, "GET, HEAD")),
        };
        let asked = match folder::parse(request.uri()) {
            Ok(asked) => asked,
            Err(BadFolderUri::BadPath) => return finish(status(StatusCode::FORBIDDEN)),
            Err(
                BadFolderUri::NotFolder
                | BadFolderUri::BadInstance
                | BadFolderUri::BadParameter
                | BadFolderUri::TooLong,
            ) => return finish(status(StatusCode::BAD_REQUEST)),
        };
        let path = RelativePath::from_text(&asked.path);
        match asked.what {
            FolderWhat::Original => self.original(path, request.headers(), head_only).await,
            FolderWhat::Transcode {
                format,
                max_bit_rate,
                time_offset,
            } => match (&self.ffmpeg, Target::named(&format)) {
                (Some(ffmpeg), Some(target)) => {
                    let order = Order {
                        target,
                        bit_rate: max_bit_rate,
                        time_offset,
                    };
                    self.transcode(ffmpeg, path, order, head_only).await
                }
                _ => self.original(path, request.headers(), head_only).await,
            },
            FolderWhat::Cover => self.cover(path, head_only).await,
            FolderWhat::Lyrics => self.lyrics(path, head_only).await,
        }
    }

    async fn original(&self, path: RelativePath, headers: &HeaderMap, head_only: bool) -> Answer {
        let content_type = media::content_type_of(&path.suffix());
        let (file, metadata) = match self.open(path).await? {
            Ok(opened) => opened,
            Err(refused) => return refuse(refused),
        };
        let (size, tag) = (metadata.len(), validator(&metadata));
        let head = status(StatusCode::OK)
            .header(CONTENT_TYPE, content_type)
            .header(ACCEPT_RANGES, "bytes")
            .header(ETAG, &tag);
        let Some(range) = wanted_range(headers, &tag) else {
            let head = head.header(CONTENT_LENGTH, size);
            return send(head, FileBody::new(file, 0, size), head_only);
        };
        let Some((first, last)) = range.within(size) else {
            let whole = ContentRange::Unsatisfied { complete: size };
            return finish(
                head.status(StatusCode::RANGE_NOT_SATISFIABLE)
                    .header(CONTENT_RANGE, whole.to_string()),
            );
        };
        let part = ContentRange::Part {
            first,
            last,
            complete: Some(size),
        };
        let length = last - first + 1;
        let head = head
            .status(StatusCode::PARTIAL_CONTENT)
            .header(CONTENT_RANGE, part.to_string())
            .header(CONTENT_LENGTH, length);
        send(head, FileBody::new(file, first, length), head_only)
    }

    async fn transcode(
        &self,
        ffmpeg: &Ffmpeg,
        path: RelativePath,
        order: Order,
        head_only: bool,
    ) -> Answer {
        let (file, metadata) = match self.open(path.clone()).await? {
            Ok(opened) => opened,
            Err(refused) => return refuse(refused),
        };
        let head = status(StatusCode::OK)
            .header(CONTENT_TYPE, order.target.content_type())
            .header(ACCEPT_RANGES, "none");
        if head_only {
            return finish(head);
        }
        match ffmpeg.start(file, order).await {
            Ok(transcode) => send(head, transcode, false),
            // Uninstalled since the hub started: as if it had never been there.
            Err(TranscodeError::Unstarted(error)) if error.kind() == ErrorKind::NotFound => {
                tracing::warn!("ffmpeg is gone; sending original bytes");
                self.original(path, &HeaderMap::new(), head_only).await
            }
            // A fact about this file: the folder is fine (contracts 3.5, "other 4xx").
            Err(TranscodeError::Fruitless) => {
                tracing::debug!(size = metadata.len(), "ffmpeg made nothing of a file");
                finish(status(StatusCode::UNPROCESSABLE_ENTITY))
            }
            Err(error @ (TranscodeError::Unstarted(_) | TranscodeError::Broken)) => {
                tracing::warn!(%error, "no transcode");
                Err(NetError::Local)
            }
        }
    }

    async fn cover(self: Arc<Self>, path: RelativePath, head_only: bool) -> Answer {
        let found = off_thread(move || self.picture(&path)).await?;
        let (picture, tag) = match found {
            Ok(found) => found,
            Err(refused) => return refuse(refused),
        };
        let Some(content_type) = art::sniff(&picture) else {
            return finish(status(StatusCode::NOT_FOUND));
        };
        let head = status(StatusCode::OK)
            .header(CONTENT_TYPE, content_type)
            .header(CONTENT_LENGTH, picture.len())
            .header(ETAG, tag);
        let body = Full::new(picture).map_err(|never| match never {});
        send(head, body, head_only)
    }

    async fn lyrics(self: Arc<Self>, path: RelativePath, head_only: bool) -> Answer {
        let found = off_thread(move || lyrics::beside(&Root::open(&self.root)?, &path)).await?;
        let document = match found {
            Ok(document) => document,
            // A link that leads out has no lyrics here, and that is no fault of the folder's.
            Err(OpenError::Outside) => return refuse(OpenError::Missing),
            Err(refused) => return refuse(refused),
        };
        let head = status(StatusCode::OK)
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, document.len());
        let body = Full::new(document).map_err(|never| match never {});
        send(head, body, head_only)
    }

    /// The picture at `path`, or the one inside the sound file there, with the file's validator. Blocks.
    fn picture(&self, path: &RelativePath) -> Result<(Bytes, String), OpenError> {
        let suffix = path.suffix();
        if !audio::is_picture(&suffix) && !audio::is_sound(&suffix) {
            return Err(OpenError::Missing);
        }
        let (file, metadata) = Root::open(&self.root)?.open_file(path)?;
        let picture = if audio::is_sound(&suffix) {
            cover::embedded(file, &suffix)
        } else {
            read_bounded(file).map_err(OpenError::Unreadable)?
        };
        let picture = picture.ok_or(OpenError::Missing)?;
        Ok((picture, validator(&metadata)))
    }

    /// Opens a sound file beneath the root, off the async threads.
    async fn open(
        &self,
        path: RelativePath,
    ) -> Result<Result<(File, Metadata), OpenError>, NetError> {
        if !path.is_beneath() {
            return Ok(Err(OpenError::Outside));
        }
        // What is not music is nobody's business, even inside the folder.
        if !audio::is_sound(&path.suffix()) {
            return Ok(Err(OpenError::Missing));
        }
        let root = self.root.clone();
        off_thread(move || Root::open(&root)?.open_file(&path)).await
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NetError> {
    spawn_blocking(work).await.map_err(|_| NetError::Local)
}

/// A whole file, `None` when it is larger than a cover may be.
fn read_bounded(file: File) -> io::Result<Option<Bytes>> {
    let mut bytes = Vec::new();
    file.take(cover::MAX_COVER as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok((bytes.len() <= cover::MAX_COVER).then(|| bytes.into()))
}

/// A strong validator: another size, time or inode is another file.
fn validator(metadata: &Metadata) -> String {
    format!(
        "\"{:x}-{:x}.{:x}-{:x}\"",
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ino()
    )
}

/// The range to send: none when it is not a single one, or when `If-Range` names another file.
fn wanted_range(headers: &HeaderMap, tag: &str) -> Option<range::ByteRange> {
    let range = range::parse(headers.get(RANGE)?.to_str().ok()?)?;
    let applies = headers.get(IF_RANGE).is_none_or(|named| named == tag);
    applies.then_some(range)
}

/// The answer to a file that cannot be opened. A file that is not there or not readable is a fact about the
/// track (404); a root that is not there is a source that is down (503).
fn refuse(error: OpenError) -> Answer {
    match error {
        OpenError::NoRoot(..) => {
            tracing::warn!(%error, "a music folder is not there");
            finish(status(StatusCode::SERVICE_UNAVAILABLE))
        }
        OpenError::Outside => finish(status(StatusCode::FORBIDDEN)),
        OpenError::Missing => finish(status(StatusCode::NOT_FOUND)),
        OpenError::Unreadable(error) if error.kind() == ErrorKind::PermissionDenied => {
            tracing::warn!("a file of a music folder may not be read");
            finish(status(StatusCode::NOT_FOUND))
        }
        OpenError::Unreadable(error) => {
            tracing::warn!(%error, "a file of a music folder cannot be read");
            Err(NetError::Local)
        }
    }
}

fn status(status: StatusCode) -> response::Builder {
    Response::builder().status(status)
}

/// A head without a body.
fn finish(head: response::Builder) -> Answer {
    send(head, Empty::new().map_err(|never| match never {}), false)
}

fn send<B>(head: response::Builder, body: B, head_only: bool) -> Answer
where
    B: http_body::Body<Data = Bytes, Error = NetError> + Send + 'static,
{
    let body = if head_only {
        LocalBody::new(Empty::new().map_err(|never| match never {}))
    } else {
        LocalBody::new(body)
    };
    // Every header is made of digits, fixed words and media types.
    head.body(body).map_err(|_| NetError::Local)
}
