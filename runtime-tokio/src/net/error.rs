//! From what sockets, TLS and hyper report to the closed [`NetError`].

use segue_core::io::NetError;
use std::error::Error;
use std::io::{self, ErrorKind};

/// What a failed `connect` means.
pub(super) fn of_connect(error: &io::Error) -> NetError {
    match error.kind() {
        ErrorKind::ConnectionRefused => NetError::Refused,
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => NetError::Reset,
        ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable
        | ErrorKind::TimedOut
        | ErrorKind::InvalidInput => NetError::Unreachable,
        // No descriptor left, no memory, forbidden: this machine, not the other one.
        _ => NetError::Local,
    }
}

/// What a failed TLS handshake means. A peer that closes or resets in the middle of one does not speak TLS
/// with us either.
pub(super) fn of_handshake(error: &io::Error) -> NetError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => NetError::Reset,
        _ => NetError::Tls,
    }
}

/// What hyper's error means for the head or the body of a response.
pub(super) fn of_exchange(error: &hyper::Error) -> NetError {
    if let Some(io) = source_of::<io::Error>(error) {
        return match io.kind() {
            ErrorKind::UnexpectedEof => NetError::Truncated,
            // What the decoder of a chunked body reports.
            ErrorKind::InvalidInput | ErrorKind::InvalidData => match of_tls(io) {
                true => NetError::Tls,
                false => NetError::Malformed,
            },
            _ => NetError::Reset,
        };
    }
    if error.is_parse_too_large() {
        NetError::Oversized
    } else if error.is_parse() {
        NetError::Malformed
    } else if error.is_incomplete_message() {
        NetError::Truncated
    } else {
        NetError::Reset
    }
}

/// Whether rustls gave up on the stream (a bad record, an alert).
fn of_tls(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<rustls::Error>())
}

/// The first `E` in the chain of causes.
fn source_of<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<E>() {
            return Some(found);
        }
        next = current.source();
    }
    None
}
