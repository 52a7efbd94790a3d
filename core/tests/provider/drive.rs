//! Drives a lookup by hand, as the worker does: redirects followed, every request counted.

use bytes::Bytes;
use http::{Request, Response};
use segue_core::Wall;
use segue_core::io::NetError;
use segue_core::provider::{Lookup, Next, Outcome, Reply, Trouble, judge};

/// More requests than any lookup may make: a codec that asks on and on fails the test instead of hanging it.
const TOO_MANY: usize = 20;

/// When replies arrive: 2026-11-30T00:00:00Z.
pub(crate) const NOW: Wall = Wall(1_796_000_000_000 - 1_796_000_000_000 % 86_400_000);

/// What a fake sends back.
pub(crate) type Sent = Result<Reply, NetError>;

/// A reply of that status with these headers.
pub(crate) fn reply(status: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) -> Reply {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    let (parts, ()) = response.body(()).expect("a response").into_parts();
    Reply {
        parts,
        body: body.into(),
        at: NOW,
    }
}

/// A good reply in JSON.
pub(crate) fn json(body: impl Into<Bytes>) -> Sent {
    Ok(reply(200, &[("content-type", "application/json")], body))
}

/// What came of a lookup.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    /// The requests, redirected ones included.
    pub(crate) requests: Vec<Request<Bytes>>,
}

/// Plays a lookup to its end. `answer` is given the number of the request and the request.
pub(crate) fn play(
    mut lookup: Box<dyn Lookup>,
    mut answer: impl FnMut(usize, &Request<Bytes>) -> Sent,
) -> Played {
    let mut requests = Vec::new();
    loop {
        let request = match lookup.next() {
            Next::Done(outcome) => {
                // Asking again changes nothing.
                assert!(matches!(lookup.next(), Next::Done(again) if again == outcome));
                return Played { outcome, requests };
            }
            Next::Send(request) => *request,
        };
        let sent = exchange(request, &mut requests, &mut answer);
        assert!(requests.len() <= TOO_MANY, "asks without end");
        lookup.reply(sent);
    }
}

/// One request, with redirects to the same host followed. A refused one reaches the codec as it is.
fn exchange(
    mut request: Request<Bytes>,
    requests: &mut Vec<Request<Bytes>>,
    answer: &mut impl FnMut(usize, &Request<Bytes>) -> Sent,
) -> Sent {
    for hops in 0.. {
        requests.push(request.clone());
        let reply = answer(requests.len() - 1, &request)?;
        match judge::redirected(&request, &reply.parts, hops) {
            Ok(None) => return Ok(reply),
            Ok(Some(next)) => request = next,
            Err(trouble) => {
                assert_eq!(trouble, Trouble::RedirectRefused);
                return Ok(reply);
            }
        }
    }
    unreachable!("redirects end")
}
