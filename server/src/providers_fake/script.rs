//! What a fake is to do wrong, and what it was asked.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use segue_core::provider::REPLY_LIMIT;
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

/// One way to answer wrongly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This status with a web page.
    Status {
        /// The status.
        status: StatusCode,
        /// The value of `Retry-After`.
        retry_after: Option<String>,
    },
    /// 200 and this body.
    Body(String),
    /// This status and this body.
    Says(u16, String),
    /// 200 and more than anybody wants to read.
    Oversized,
    /// Half of the right answer, ended cleanly.
    CutShort,
    /// The right answer announced whole, and a connection that ends after half of it.
    Broken,
    /// A redirect to there.
    Redirect(String),
    /// No answer, as long as the client waits.
    Hang,
}

impl Fault {
    /// A status with a web page.
    ///
    /// # Panics
    /// When `code` is no HTTP status.
    #[must_use]
    pub fn status(code: u16) -> Self {
        Fault::Status {
            status: StatusCode::from_u16(code).expect("an HTTP status"),
            retry_after: None,
        }
    }

    /// The same, with seconds to wait.
    #[must_use]
    pub fn retry_after(self, seconds: u32) -> Self {
        match self {
            Fault::Status { status, .. } => Fault::Status {
                status,
                retry_after: Some(seconds.to_string()),
            },
            other => other,
        }
    }
}

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its method.
    pub method: Method,
    /// Its path.
    pub path: String,
    /// Query and form; of a name that comes twice the last value.
    pub params: BTreeMap<String, String>,
    /// Its headers.
    pub headers: HeaderMap,
}

impl Seen {
    /// A parameter; empty when it is not there.
    #[must_use]
    pub fn param(&self, name: &str) -> &str {
        self.params.get(name).map_or("", String::as_str)
    }
}

/// What a fake is to do wrong, and what it was asked. Clones are the same script.
#[derive(Clone, Debug, Default)]
pub struct Script(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    seen: Vec<Seen>,
    once: VecDeque<Option<Fault>>,
    always: Option<Fault>,
}

impl Script {
    /// The next answer that is not spoken for goes wrong so.
    pub fn once(&self, fault: Fault) {
        self.with(|state| state.once.push_back(Some(fault)));
    }

    /// The next answer that is not spoken for is right.
    pub fn once_right(&self) {
        self.with(|state| state.once.push_back(None));
    }

    /// Every answer goes wrong so; `None` heals.
    pub fn always(&self, fault: Option<Fault>) {
        self.with(|state| state.always = fault);
    }

    /// All requests so far, oldest first.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.with(|state| state.seen.clone())
    }

    /// Notes a request and says what to do wrong about it.
    pub(super) fn record(&self, seen: Seen) -> Option<Fault> {
        self.with(|state| {
            state.seen.push(seen);
            match state.once.pop_front() {
                Some(once) => once,
                None => state.always.clone(),
            }
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A 200 with `right`, with `fault` done to it.
pub(super) async fn spoilt(
    right: String,
    kind: &'static str,
    fault: Option<Fault>,
) -> Response<Body> {
    spoilt_answer((StatusCode::OK, kind, right), fault).await
}

/// An answer of that status and type, with `fault` done to it.
pub(super) async fn spoilt_answer(
    right: (StatusCode, &'static str, String),
    fault: Option<Fault>,
) -> Response<Body> {
    const PAGE: &str = "<!DOCTYPE html><html><body>Something is wrong</body></html>";
    let (good, kind, body) = right;
    let page = |status| answer(status, "text/html", PAGE.to_owned());
    match fault {
        None => answer(good, kind, body),
        Some(Fault::Status {
            status,
            retry_after,
        }) => with(page(status), header::RETRY_AFTER, retry_after),
        Some(Fault::Body(body)) => answer(StatusCode::OK, kind, body),
        Some(Fault::Says(status, body)) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
            answer(status, kind, body)
        }
        Some(Fault::Oversized) => answer(StatusCode::OK, kind, " ".repeat(REPLY_LIMIT + 1)),
        Some(Fault::CutShort) => {
            let half = body.chars().take(body.chars().count() / 2).collect();
            answer(good, kind, half)
        }
        Some(Fault::Broken) => broken(answer(good, kind, body.clone()), body),
        Some(Fault::Redirect(to)) => with(page(StatusCode::FOUND), header::LOCATION, Some(to)),
        Some(Fault::Hang) => std::future::pending().await,
    }
}

fn answer(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn with(
    mut response: Response<Body>,
    name: header::HeaderName,
    value: Option<String>,
) -> Response<Body> {
    if let Some(value) = value.and_then(|value| value.parse().ok()) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Announces `whole` and ends after half of it. Pending in between, so that head and half are on their way before the
/// connection ends: one that says nothing at all looks like one that had died at rest.
fn broken(head: Response<Body>, whole: String) -> Response<Body> {
    let length = whole.len();
    let half = Bytes::from(whole).slice(..length / 2);
    let end = stream::once(async {
        once_pending().await;
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    });
    let pieces = stream::iter([Ok(half)]).chain(end);
    let mut response = head.map(|_| Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, length.into());
    response
}

/// Ends when it is polled again.
async fn once_pending() {
    let mut pending = true;
    poll_fn(|cx| match std::mem::replace(&mut pending, false) {
        true => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        false => Poll::Ready(()),
    })
    .await;
}
