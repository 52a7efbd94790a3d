//! How a track of a music folder is asked for: by URI, like one of a server.
//!
//! `folder://INSTANCE/track?path=...&format=&maxBitRate=&timeOffset=`, and the same with `/cover?path=...` and
//! `/lyrics?path=...`, where `path` is percent-encoded and relative to the folder's root. The runtime answers with 200,
//! 206, 416 or 404, so failover knows only one kind of source.

use super::Refusal;
use super::transcode::format_name;
use crate::io::NetError;
use bytes::Bytes;
use http::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fmt::Write as _;

/// The scheme of folder URIs.
pub const SCHEME: &str = "folder";

/// Everything but the unreserved characters of RFC 3986 and the slash.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// What is asked of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderRequest {
    /// The folder's instance id.
    pub instance: String,
    /// Path below the root: relative, without `.` or `..`.
    pub path: String,
    /// What of it.
    pub what: FolderWhat,
}

/// What is asked of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderWhat {
    /// The original bytes; a `Range` header counts.
    Original,
    /// A transcode.
    Transcode {
        /// Lower-case format name.
        format: String,
        /// Kilobits per second; `None` for the encoder's default.
        max_bit_rate: Option<u32>,
        /// Where to start, in seconds.
        time_offset: u32,
    },
    /// The picture in or beside the file.
    Cover,
    /// The lyrics in and beside the file, in JSON: `provider::local` says how.
    Lyrics,
}

/// Why something is no folder request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadFolderUri {
    /// Another scheme, or neither `track` nor `cover` nor `lyrics`.
    #[error("not a folder URI")]
    NotFolder,
    /// The instance id is not `[a-z0-9-]+`.
    #[error("bad instance id")]
    BadInstance,
    /// Empty, absolute, leading out of the folder, or not text.
    #[error("bad path")]
    BadPath,
    /// A number or format that cannot be one.
    #[error("bad parameter")]
    BadParameter,
    /// Longer than a URI may be.
    #[error("path too long")]
    TooLong,
}

impl From<BadFolderUri> for Refusal {
    fn from(_: BadFolderUri) -> Self {
        Refusal::Net(NetError::BadUrl)
    }
}

/// The request for a track; `query` as [`super::transcode::resolve`] gives it.
pub fn track_request(
    instance: &str,
    path: &str,
    query: &[(String, String)],
) -> Result<http::Request<Bytes>, Refusal> {
    Ok(get(track_uri(instance, path, query)?))
}

/// The request for the picture in or beside the file at `path`.
pub fn cover_request(instance: &str, path: &str) -> Result<http::Request<Bytes>, Refusal> {
    Ok(get(cover_uri(instance, path)?))
}

/// The request for the lyrics in and beside the file at `path`.
pub fn lyrics_request(instance: &str, path: &str) -> Result<http::Request<Bytes>, Refusal> {
    Ok(get(build(instance, "lyrics", path, &[])?))
}

fn get(uri: Uri) -> http::Request<Bytes> {
    let mut request = http::Request::new(Bytes::new());
    *request.uri_mut() = uri;
    request
}

/// The URI of a track; `query` as [`super::transcode::resolve`] gives it.
pub fn track_uri(
    instance: &str,
    path: &str,
    query: &[(String, String)],
) -> Result<Uri, BadFolderUri> {
    build(instance, "track", path, query)
}

/// The URI of the picture in or beside the file at `path`.
pub fn cover_uri(instance: &str, path: &str) -> Result<Uri, BadFolderUri> {
    build(instance, "cover", path, &[])
}

fn build(
    instance: &str,
    what: &str,
    path: &str,
    query: &[(String, String)],
) -> Result<Uri, BadFolderUri> {
    check_instance(instance)?;
    check_path(path)?;
    let mut uri = format!(
        "{SCHEME}://{instance}/{what}?path={}",
        utf8_percent_encode(path, PATH)
    );
    for (name, value) in query {
        // Writing into a String cannot fail.
        let _ = write!(
            uri,
            "&{}={}",
            utf8_percent_encode(name, PATH),
            utf8_percent_encode(value, PATH)
        );
    }
    uri.parse().map_err(|_| BadFolderUri::TooLong)
}

/// Reads a folder URI. Checks everything again: the one who opens files trusts no one.
pub fn parse(uri: &Uri) -> Result<FolderRequest, BadFolderUri> {
    if uri.scheme_str() != Some(SCHEME) {
        return Err(BadFolderUri::NotFolder);
    }
    let instance = uri
        .authority()
        .map(|authority| authority.as_str().to_owned())
        .unwrap_or_default();
    check_instance(&instance)?;
    let mut query = Query::default();
    for pair in uri.query().unwrap_or_default().split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value)
            .decode_utf8()
            .map_err(|_| BadFolderUri::BadPath)?;
        query.take(name, &value)?;
    }
    check_path(&query.path)?;
    let what = match (uri.path(), query.format) {
        ("/cover", _) => FolderWhat::Cover,
        ("/lyrics", _) => FolderWhat::Lyrics,
        ("/track", None) => FolderWhat::Original,
        ("/track", Some(format)) => FolderWhat::Transcode {
            format,
            max_bit_rate: query.max_bit_rate,
            time_offset: query.time_offset,
        },
        _ => return Err(BadFolderUri::NotFolder),
    };
    Ok(FolderRequest {
        instance,
        path: query.path,
        what,
    })
}

#[derive(Default)]
struct Query {
    path: String,
    format: Option<String>,
    max_bit_rate: Option<u32>,
    time_offset: u32,
}

impl Query {
    fn take(&mut self, name: &str, value: &str) -> Result<(), BadFolderUri> {
        let number = || value.parse::<u32>().map_err(|_| BadFolderUri::BadParameter);
        match name {
            "path" => value.clone_into(&mut self.path),
            "format" if value.is_empty() || value == "raw" => self.format = None,
            "format" => {
                self.format = Some(format_name(value).ok_or(BadFolderUri::BadParameter)?);
            }
            "maxBitRate" if !value.is_empty() => {
                self.max_bit_rate = Some(number()?).filter(|rate| *rate > 0);
            }
            "timeOffset" if !value.is_empty() => self.time_offset = number()?,
            _ => {}
        }
        Ok(())
    }
}

fn check_instance(instance: &str) -> Result<(), BadFolderUri> {
    let fine = !instance.is_empty()
        && instance
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    fine.then_some(()).ok_or(BadFolderUri::BadInstance)
}

fn check_path(path: &str) -> Result<(), BadFolderUri> {
    let steps_down = |part: &str| !part.is_empty() && part != "." && part != "..";
    let fine = path.split('/').all(steps_down) && !path.contains('\0');
    fine.then_some(()).ok_or(BadFolderUri::BadPath)
}
