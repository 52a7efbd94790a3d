//! Text of a provider as lyrics.

use crate::lyrics::{Body, Lyrics};

/// Reads text that has something to sing in it, timed or not.
pub(super) fn sniff(text: &str) -> Option<Lyrics> {
    let lines = text
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    (!text.trim().is_empty()).then(|| Lyrics::of(Body::Plain(lines)))
}

/// Reads text that has something to sing in it and no times.
pub(super) fn plain(text: &str) -> Option<Lyrics> {
    sniff(text)
}

/// Whether a body is a web page: an answer of something that is not the provider.
pub(super) fn is_page(body: &[u8]) -> bool {
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let body = body.trim_ascii_start();
    let begins = |mark: &str| {
        let head = body.get(..mark.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(mark.as_bytes()))
    };
    begins("<!doctype") || begins("<html")
}
