//! Media types and file extensions of audio.

use super::opening::Wanted;

/// What a `Content-Type` claims about a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Audio, or a container that may hold it.
    Media,
    /// Nothing, or "some bytes": the bytes themselves must tell.
    Unsaid,
    /// Text, XML, HTML, JSON, pictures, anything else: not media.
    Other,
}

/// Reads a `Content-Type`. Playlists (`audio/mpegurl` and the like) are text, whatever they are called.
pub fn claim(content_type: Option<&str>, wanted: Wanted) -> Claim {
    let essence = content_type.map(essence_of).unwrap_or_default();
    match essence.as_str() {
        "" | "application/octet-stream" | "binary/octet-stream" | "application/binary" => {
            Claim::Unsaid
        }
        // A vector image is a document that can run scripts.
        "image/svg+xml" => Claim::Other,
        other if wanted == Wanted::Picture => match other.strip_prefix("image/") {
            Some(sub) if !sub.is_empty() => Claim::Media,
            Some(_) | None => Claim::Other,
        },
        "audio/mpegurl" | "audio/x-mpegurl" | "audio/x-scpls" | "audio/scpls" => Claim::Other,
        "application/ogg" | "application/x-ogg" | "application/flac" | "application/x-flac"
        | "application/mp4" | "video/mp4" | "video/webm" | "video/ogg" => Claim::Media,
        other
            if other
                .strip_prefix("audio/")
                .is_some_and(|sub| !sub.is_empty()) =>
        {
            Claim::Media
        }
        _ => Claim::Other,
    }
}

/// Whether `content_type` names audio, or a container that may hold it.
pub fn is_media_type(content_type: &str) -> bool {
    claim(Some(content_type), Wanted::Media) == Claim::Media
}

/// The type without its parameters, in lower case.
fn essence_of(content_type: &str) -> String {
    let essence = content_type.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// The media type of a file extension or format name, without a dot, in any case.
pub fn content_type_of(suffix: &str) -> &'static str {
    match suffix.to_ascii_lowercase().as_str() {
        "mp3" => "audio/mpeg",
        "flac" => "audio/flac",
        "ogg" | "oga" | "vorbis" | "opus" | "spx" => "audio/ogg",
        "m4a" | "m4b" | "mp4" | "alac" => "audio/mp4",
        "aac" => "audio/aac",
        "wav" => "audio/wav",
        "aif" | "aiff" | "aifc" => "audio/aiff",
        "ape" => "audio/x-ape",
        "wv" | "wavpack" => "audio/x-wavpack",
        "wma" => "audio/x-ms-wma",
        "mpc" => "audio/x-musepack",
        "webm" | "weba" => "audio/webm",
        "mka" => "audio/x-matroska",
        "dsf" => "audio/x-dsf",
        "dff" => "audio/x-dff",
        "tta" => "audio/x-tta",
        "tak" => "audio/x-tak",
        _ => "application/octet-stream",
    }
}

/// The file extension that goes with a media type; `None` when there is no usual one.
pub fn suffix_of(content_type: &str) -> Option<&'static str> {
    let suffix = match essence_of(content_type).as_str() {
        "audio/mpeg" | "audio/mp3" | "audio/x-mp3" | "audio/x-mpeg" => "mp3",
        "audio/flac" | "audio/x-flac" | "application/flac" | "application/x-flac" => "flac",
        "audio/ogg" | "application/ogg" | "audio/vorbis" => "ogg",
        "audio/opus" => "opus",
        "audio/mp4" | "audio/x-m4a" | "audio/m4a" | "video/mp4" => "m4a",
        "audio/aac" | "audio/aacp" | "audio/x-aac" => "aac",
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/aiff" | "audio/x-aiff" => "aiff",
        "audio/x-ape" | "audio/ape" | "audio/x-monkeys-audio" => "ape",
        "audio/x-wavpack" | "audio/wavpack" => "wv",
        "audio/x-ms-wma" => "wma",
        "audio/x-musepack" | "audio/musepack" => "mpc",
        "audio/webm" | "video/webm" => "webm",
        "audio/x-matroska" => "mka",
        _ => return None,
    };
    Some(suffix)
}
