//! Which candidate may be asked for which part, so that a client never splices two encodes.
//!
//! Contracts section 3, rule 8; RFC 9110 section 13.1.5 (If-Range).

use crate::catalog::model::TrackSource;
use crate::source::range::ByteRange;
use crate::twin::{self, Twin};

/// What one candidate is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Index into the sources as they were handed in.
    pub source: usize,
    /// The client's range, or `None`: the whole body, to be answered with 200.
    pub range: Option<ByteRange>,
}

/// Orders the sources of a raw stream and says what each is asked for.
///
/// `sources` come in rank order. `last_served` is the index of the source that served this user and
/// track last. `if_range` is the client's validator; `etag` names the hub's own for a source.
pub fn plan(
    sources: &[TrackSource],
    range: Option<&ByteRange>,
    if_range: Option<&str>,
    last_served: Option<usize>,
    etag: impl Fn(&TrackSource) -> String,
) -> Vec<Ask> {
    let whole = |source| Ask {
        source,
        range: None,
    };
    let Some(range) = range else {
        return (0..sources.len()).map(whole).collect();
    };
    let if_range = if_range.filter(|_| !twin::is(Twin::IfRangeIgnored));
    let reference = match if_range {
        // An unknown validator: the client's bytes are of a version that is gone, it gets the whole.
        Some(validator) => match sources.iter().position(|s| etag(s) == validator) {
            Some(reference) => reference,
            None => return (0..sources.len()).map(whole).collect(),
        },
        None if range.starts_at_zero() => 0,
        // Without a record of what was played, the client goes by what getSong shows: the preferred.
        None => last_served.filter(|at| *at < sources.len()).unwrap_or(0),
    };
    let Some(original) = sources.get(reference) else {
        return Vec::new();
    };
    let order = std::iter::once(reference).chain((0..sources.len()).filter(|at| *at != reference));
    order
        .map(|at| Ask {
            source: at,
            range: (at == reference
                || if_range.is_none()
                    && (range.starts_at_zero() || is_same_encode(original, &sources[at])))
            .then_some(*range),
        })
        .collect()
}

/// Whether two sources hold the same bytes as far as the catalog can tell: same length to the byte,
/// same format, same bit rate.
pub fn is_same_encode(a: &TrackSource, b: &TrackSource) -> bool {
    let same = a.size.is_some() && a.size == b.size;
    same && a.format == b.format && a.bit_rate == b.bit_rate || twin::is(Twin::RangeSpliced)
}

/// The hub's strong validator of a source's original bytes (FNV-1a over source and version).
pub fn etag(source: &TrackSource) -> String {
    let size = source.size.unwrap_or(0).to_string();
    let bit_rate = source.bit_rate.to_string();
    let parts = [
        source.instance.as_str(),
        &source.remote_id,
        &source.format,
        &size,
        &bit_rate,
    ];
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    format!("\"{hash:016x}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(instance: &str, size: u64) -> TrackSource {
        TrackSource {
            instance: instance.to_owned(),
            remote_id: "1".to_owned(),
            format: "flac".to_owned(),
            size: Some(size),
            ..TrackSource::default()
        }
    }

    fn asked(asks: &[Ask]) -> Vec<(usize, bool)> {
        asks.iter().map(|a| (a.source, a.range.is_some())).collect()
    }

    fn from(start: u64) -> ByteRange {
        crate::source::range::parse(&format!("bytes={start}-")).expect("a range")
    }

    #[test]
    fn a_range_past_zero_goes_to_the_source_that_served_last() {
        let sources = [source("a", 10), source("b", 20), source("c", 20)];
        let asks = plan(&sources, Some(&from(5)), None, Some(1), etag);
        assert_eq!(asked(&asks), [(1, true), (0, false), (2, true)]);
    }

    #[test]
    fn a_source_that_served_last_and_is_gone_is_no_record() {
        let sources = [source("a", 10), source("b", 20)];
        let asks = plan(&sources, Some(&from(5)), None, Some(2), etag);
        assert_eq!(asked(&asks), [(0, true), (1, false)]);
    }

    #[test]
    fn a_validator_stays_the_same_over_releases() {
        assert_eq!(etag(&source("a", 10)), "\"655673f5e0a76888\"");
    }

    #[test]
    fn without_a_record_the_preferred_source_is_what_the_client_knows() {
        let sources = [source("a", 10), source("b", 20)];
        let asks = plan(&sources, Some(&from(5)), None, None, etag);
        assert_eq!(asked(&asks), [(0, true), (1, false)]);
    }

    #[test]
    fn a_range_from_zero_may_be_any_encode() {
        let sources = [source("a", 10), source("b", 20)];
        for last_served in [None, Some(1)] {
            let asks = plan(&sources, Some(&from(0)), None, last_served, etag);
            assert_eq!(asked(&asks), [(0, true), (1, true)]);
        }
    }

    #[test]
    fn if_range_names_the_one_source_that_may_continue() {
        let sources = [source("a", 10), source("b", 10)];
        let validator = etag(&sources[1]);
        let asks = plan(&sources, Some(&from(5)), Some(&validator), Some(0), etag);
        assert_eq!(asked(&asks), [(1, true), (0, false)]);
        let asks = plan(&sources, Some(&from(5)), Some("\"other\""), Some(0), etag);
        assert_eq!(asked(&asks), [(0, false), (1, false)]);
    }

    #[test]
    fn an_unknown_length_is_never_the_same_encode() {
        let mut sources = [source("a", 1), source("b", 1)];
        sources[0].size = None;
        sources[1].size = None;
        let asks = plan(&sources, Some(&from(5)), None, None, etag);
        assert_eq!(asked(&asks), [(0, true), (1, false)]);
    }
}
