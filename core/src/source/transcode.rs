//! Which bytes to ask a candidate for: the original, or a transcode (contracts 3.4).
//!
//! Resolved again for each candidate, since the answer depends on its format and bit rate: what one source
//! must transcode, another may have lying there.

use super::media;
use crate::catalog::model::TrackSource;
use crate::rank::is_lossless;

/// The format used when a bit rate is asked for and no format: every client plays it.
pub const DEFAULT_FORMAT: &str = "mp3";

/// What a client may say about the encoding it wants. Everything else it sends (`estimateContentLength`,
/// vendor parameters) never reaches an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamParams {
    /// `format`, in any case; `raw` means the original whatever else is said.
    pub format: Option<String>,
    /// `maxBitRate` in kilobits per second; 0 is no limit.
    pub max_bit_rate: Option<u32>,
    /// `timeOffset` in seconds. Honoured when transcoding; an original is sought in by ranges.
    pub time_offset: Option<u32>,
}

impl StreamParams {
    /// The original bytes, as `download` sends them.
    pub fn original() -> Self {
        StreamParams {
            format: Some("raw".to_owned()),
            ..StreamParams::default()
        }
    }
}

/// What a candidate is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The original bytes. Only then may a range be asked for, and only then is the length known.
    pub raw: bool,
    /// Parameters for the candidate, besides the id.
    pub query: Vec<(String, String)>,
    /// Lower-case format name of what will come.
    pub format: String,
    /// Its bit rate in kilobits per second; `None` when only the source will know.
    pub bit_rate: Option<u32>,
    /// Its media type.
    pub content_type: String,
}

/// Decides what to ask `source` for.
///
/// The original, when it is asked for; when it is under the cap and in the format asked for; or when it is
/// under the cap and lossy, since going from lossy to lossy loses twice and gains nothing. A transcode
/// otherwise. An unknown bit rate is over every cap.
pub fn resolve(params: &StreamParams, source: &TrackSource) -> Resolved {
    let wanted = params.format.as_deref().and_then(format_name);
    let cap = params.max_bit_rate.filter(|cap| *cap > 0);
    let over = cap.is_some_and(|cap| source.bit_rate == 0 || source.bit_rate > cap);
    let lossless = is_lossless(&source.format);
    match wanted.as_deref() {
        Some("raw") => original(source),
        Some(wanted) if !over && (!lossless || is_same(wanted, &source.format)) => original(source),
        // A lossless target cannot keep a cap.
        Some(wanted) if over && is_lossless(wanted) => {
            transcode(DEFAULT_FORMAT, cap, params.time_offset)
        }
        Some(wanted) => transcode(wanted, cap, params.time_offset),
        None if over => transcode(DEFAULT_FORMAT, cap, params.time_offset),
        None => original(source),
    }
}

fn original(source: &TrackSource) -> Resolved {
    let content_type = match source.content_type.as_str() {
        "" => media::content_type_of(&source.suffix).to_owned(),
        known => known.to_owned(),
    };
    Resolved {
        raw: true,
        // Said out loud: a server may have a transcoding profile of its own for our user.
        query: vec![("format".to_owned(), "raw".to_owned())],
        format: source.format.clone(),
        bit_rate: Some(source.bit_rate).filter(|rate| *rate > 0),
        content_type,
    }
}

fn transcode(format: &str, cap: Option<u32>, time_offset: Option<u32>) -> Resolved {
    let cap = cap.map(|cap| cap.min(ceiling(format)));
    let mut query = vec![("format".to_owned(), format.to_owned())];
    if let Some(cap) = cap {
        query.push(("maxBitRate".to_owned(), cap.to_string()));
    }
    if let Some(offset) = time_offset.filter(|offset| *offset > 0) {
        query.push(("timeOffset".to_owned(), offset.to_string()));
    }
    Resolved {
        raw: false,
        query,
        format: format.to_owned(),
        bit_rate: cap,
        content_type: media::content_type_of(format).to_owned(),
    }
}

/// The highest bit rate the encoders of a format take; some fail on more instead of using less.
fn ceiling(format: &str) -> u32 {
    match format {
        "mp3" => 320,
        "opus" => 510,
        _ => 512,
    }
}

/// A format as a client names it, in lower case; `None` for what cannot be the name of one.
pub(super) fn format_name(format: &str) -> Option<String> {
    let name = format.trim().trim_start_matches('.').to_ascii_lowercase();
    let plausible = (1..=16).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    plausible.then_some(name)
}

/// Whether two names mean the same encoding.
fn is_same(wanted: &str, have: &str) -> bool {
    fn canonical(name: &str) -> &str {
        match name {
            "oga" | "vorbis" => "ogg",
            "m4a" | "mp4" | "m4b" => "aac",
            "aif" | "aifc" => "aiff",
            "wavpack" => "wv",
            other => other,
        }
    }
    canonical(wanted) == canonical(have)
}
