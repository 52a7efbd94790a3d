//! `stream`, `download` and covers: what the right answer is, and how a fault bends it.

use super::content::{Content, media_type};
use super::document::{Format, failed};
use super::faults::Fault;
use super::library::Track;
use super::shared::{Quirks, Seen, Shared};
use http::{StatusCode, header};
use std::time::Duration;

/// A response that has not been sent.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(header::HeaderName, String)>,
    pub(super) content: Content,
    /// The part of `content` that is the body.
    pub(super) part: (u64, u64),
    /// Whether the length is announced, or the body chunked.
    pub(super) announced: bool,
    pub(super) pace: Pace,
}

/// How the body goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    Free,
    /// After so many bytes the connection ends.
    CutAt(u64),
    /// After so many bytes nothing comes until a release.
    StallAt(u64),
    Drip {
        bytes: u64,
        every: Duration,
    },
}

impl Reply {
    /// A whole small body.
    pub(super) fn new(status: StatusCode, media_type: &str, body: impl Into<bytes::Bytes>) -> Self {
        let content = Content::Bytes(body.into());
        Reply {
            status,
            headers: vec![(header::CONTENT_TYPE, media_type.to_owned())],
            part: (0, content.size()),
            content,
            announced: true,
            pace: Pace::Free,
        }
    }

    fn with(mut self, name: header::HeaderName, value: impl Into<String>) -> Self {
        self.headers.retain(|(of, _)| *of != name);
        self.headers.push((name, value.into()));
        self
    }

    fn at_pace(mut self, pace: Pace) -> Self {
        self.pace = pace;
        self
    }
}

/// The right answer to `stream` or `download`.
pub(super) fn media(shared: &Shared, seen: &Seen) -> Reply {
    let setup = shared.setup();
    let format = Format::asked(seen.param("f"), &setup.quirks);
    let refused = |code, message| {
        let body = failed(code, message, format, &setup.quirks);
        Reply::new(StatusCode::OK, format.media_type(), body)
    };
    let Some(id) = seen.param("id") else {
        return refused(10, "Required parameter 'id' is missing");
    };
    let library = shared.library();
    let Some((_, _, track)) = library.tracks().find(|(_, _, track)| track.id == id) else {
        return refused(70, "Song not found");
    };
    match transcoding(track, seen) {
        Some((suffix, bit_rate)) => transcoded(track, &setup.name, &suffix, bit_rate, seen),
        None => raw(track, &setup.name, &setup.quirks, seen),
    }
}

/// What the request asks to be converted to, if that is not what the track is.
fn transcoding(track: &Track, seen: &Seen) -> Option<(String, u32)> {
    if seen.endpoint == "download" {
        return None;
    }
    let cap = seen.param("maxBitRate").and_then(|rate| rate.parse().ok());
    let cap = cap.filter(|rate| (1..track.bit_rate).contains(rate));
    let format = seen.param("format").filter(|format| !format.is_empty());
    match (format, cap) {
        (Some("raw"), _) | (None, None) => None,
        (Some(format), None) if format == track.suffix => None,
        (Some(format), cap) => Some((format.to_owned(), cap.unwrap_or(128))),
        (None, Some(cap)) => Some(("mp3".to_owned(), cap)),
    }
}

fn transcoded(track: &Track, source: &str, suffix: &str, bit_rate: u32, seen: &Seen) -> Reply {
    let offset = seen
        .param("timeOffset")
        .and_then(|offset| offset.parse().ok());
    let content = track.transcode(source, suffix, bit_rate, offset.unwrap_or(0));
    Reply {
        status: StatusCode::OK,
        headers: vec![(header::CONTENT_TYPE, media_type(suffix))],
        part: (0, content.size()),
        content,
        announced: false,
        pace: Pace::Free,
    }
}

fn raw(track: &Track, source: &str, quirks: &Quirks, seen: &Seen) -> Reply {
    let content = track.content(source);
    let size = content.size();
    let mut reply = Reply {
        status: StatusCode::OK,
        headers: vec![(header::CONTENT_TYPE, track.media_type())],
        part: (0, size),
        content,
        announced: true,
        pace: Pace::Free,
    };
    let etag = quirks.etag.then(|| etag(&reply.content));
    if let Some(etag) = &etag {
        reply = reply.with(header::ETAG, etag);
    }
    if quirks.no_ranges {
        return reply;
    }
    reply = reply.with(header::ACCEPT_RANGES, "bytes");
    let holds = |condition: &str| etag.as_deref() == Some(condition);
    let range = seen
        .header("range")
        .filter(|_| seen.header("if-range").is_none_or(holds));
    match range.and_then(|range| parse_range(range, size)) {
        None => reply,
        Some(Ok(part)) => partial(reply, part),
        Some(Err(Unsatisfiable)) => {
            Reply::new(StatusCode::RANGE_NOT_SATISFIABLE, "text/html", Fault::LEAK)
                .with(header::CONTENT_RANGE, format!("bytes */{size}"))
        }
    }
}

fn partial(reply: Reply, part: (u64, u64)) -> Reply {
    let range = format!("bytes {}-{}/{}", part.0, part.1 - 1, reply.content.size());
    let reply = reply.with(header::CONTENT_RANGE, range);
    Reply {
        status: StatusCode::PARTIAL_CONTENT,
        part,
        ..reply
    }
}

fn etag(content: &Content) -> String {
    use sha2::{Digest, Sha256};
    let name = match content {
        Content::Marked {
            label,
            suffix,
            size,
        } => Sha256::digest(format!("{label}.{suffix}.{size}")),
        Content::Bytes(bytes) => Sha256::digest(bytes),
    };
    format!("\"{}\"", hex::encode(&name[..8]))
}

struct Unsatisfiable;

/// One range as from and before-which; `None` for what should be ignored.
fn parse_range(range: &str, size: u64) -> Option<Result<(u64, u64), Unsatisfiable>> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let part = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), Ok(to)) if from <= to => (from, to.saturating_add(1).min(size)),
        (Ok(from), Err(_)) if to.is_empty() => (from, size),
        (Err(_), Ok(last)) if from.is_empty() => match last {
            0 => return Some(Err(Unsatisfiable)),
            last => (size.saturating_sub(last), size),
        },
        (Ok(_) | Err(_), Ok(_) | Err(_)) => return None,
    };
    Some(match part.0 < size {
        true => Ok(part),
        false => Err(Unsatisfiable),
    })
}

/// What `fault` makes of the right answer. Faults of the head's timing have been seen to by the caller.
pub(super) fn bent(reply: Reply, fault: &Fault, quirks: &Quirks) -> Reply {
    let envelope = |code: u32, format: Format| {
        let body = failed(code, Fault::LEAK, format, quirks);
        Reply::new(StatusCode::OK, format.media_type(), body)
    };
    let page = format!(
        "<!DOCTYPE html><html><body><form>{} Log in</form></body></html>",
        Fault::LEAK
    );
    match fault {
        Fault::HangBeforeHead
        | Fault::SlowHead(_)
        | Fault::CloseBeforeHead
        | Fault::Whole200ToRange => reply,
        Fault::HangAfterHead => reply.at_pace(Pace::StallAt(0)),
        Fault::ErrorIn200Xml { code } => envelope(*code, Format::Xml),
        Fault::ErrorIn200Json { code } => envelope(*code, Format::Json),
        Fault::ErrorIn200Html => Reply::new(StatusCode::OK, "text/html; charset=utf-8", page),
        Fault::ErrorIn200HtmlAsAudio => Reply::new(StatusCode::OK, "audio/mpeg", page),
        Fault::Empty200 => Reply::new(StatusCode::OK, "audio/mpeg", ""),
        Fault::Status(code) => refusal(*code),
        Fault::Status429 { retry_after } => retry(refusal(429), *retry_after),
        Fault::Status503 { retry_after } => retry(refusal(503), *retry_after),
        Fault::RedirectTo(url) => refusal(302).with(header::LOCATION, url),
        Fault::CutAt(bytes) => reply.at_pace(Pace::CutAt(*bytes)),
        Fault::TooLong(bytes) => longer(reply, *bytes),
        Fault::StallAt(bytes) => reply.at_pace(Pace::StallAt(*bytes)),
        Fault::SlowDrip { bytes, every } => reply.at_pace(Pace::Drip {
            bytes: (*bytes).max(1),
            every: *every,
        }),
        Fault::WrongContentRange => match reply.status == StatusCode::PARTIAL_CONTENT {
            true => elsewhere(reply),
            false => reply,
        },
        Fault::WrongBytesOnResume => match reply.part.0 {
            0 => reply,
            _ => other_bytes(reply),
        },
        Fault::NoContentType => {
            let mut reply = reply;
            reply
                .headers
                .retain(|(name, _)| *name != header::CONTENT_TYPE);
            reply
        }
    }
}

fn refusal(code: u16) -> Reply {
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::new(status, "text/plain", Fault::LEAK)
}

fn retry(reply: Reply, after: Option<u32>) -> Reply {
    match after {
        Some(seconds) => reply.with(header::RETRY_AFTER, seconds.to_string()),
        None => reply,
    }
}

fn longer(reply: Reply, bytes: u64) -> Reply {
    let length = reply.part.1 - reply.part.0;
    let announced = (length + bytes).to_string();
    let reply = Reply {
        announced: false,
        ..reply.with(header::CONTENT_LENGTH, announced)
    };
    reply.at_pace(Pace::CutAt(length))
}

fn elsewhere(reply: Reply) -> Reply {
    let (from, to) = reply.part;
    let part = match from {
        0 => (1, to.max(2)),
        from => (from / 2, from / 2 + (to - from)),
    };
    partial(reply, part)
}

fn other_bytes(reply: Reply) -> Reply {
    let size = reply.content.size();
    Reply {
        content: Content::Marked {
            label: "wrong bytes".to_owned(),
            suffix: "bin".to_owned(),
            size,
        },
        ..reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_says() {
        for (range, expected) in [
            ("bytes=0-99", Some(Some((0, 100)))),
            ("bytes=100-", Some(Some((100, 1000)))),
            ("bytes=-50", Some(Some((950, 1000)))),
            ("bytes=-5000", Some(Some((0, 1000)))),
            ("bytes=990-5000", Some(Some((990, 1000)))),
            ("bytes=1000-", Some(None)),
            ("bytes=-0", Some(None)),
            ("bytes=5-4", None),
            ("bytes=a-b", None),
            ("bytes=0-1,5-6", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(
                parse_range(range, 1000).map(Result::ok),
                expected,
                "{range}"
            );
        }
    }
}
