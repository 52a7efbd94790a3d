//! What a fake is to do wrong, and what it was asked.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use segue_core::provider::REPLY_LIMIT;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// 200 and more than anybody wants to read.
    Oversized,
    /// Half of the right answer, ended cleanly.
    CutShort,
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
    /// Query and form.
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
    once: VecDeque<Fault>,
    always: Option<Fault>,
}

impl Script {
    /// The next answer that is not spoken for goes wrong so.
    pub fn once(&self, fault: Fault) {
        self.with(|state| state.once.push_back(fault));
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
            state.once.pop_front().or_else(|| state.always.clone())
        })
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// `right`, with `fault` done to it.
pub(super) async fn spoilt(
    right: String,
    kind: &'static str,
    fault: Option<Fault>,
) -> Response<Body> {
    const PAGE: &str = "<!DOCTYPE html><html><body>Something is wrong</body></html>";
    let page = || (StatusCode::OK, "text/html", PAGE.to_owned());
    let mut extra = None;
    let (status, kind, body) = match fault {
        None => (StatusCode::OK, kind, right),
        Some(Fault::Status {
            status,
            retry_after,
        }) => {
            extra = retry_after.map(|wait| (header::RETRY_AFTER, wait));
            (status, "text/html", PAGE.to_owned())
        }
        Some(Fault::Body(body)) => (StatusCode::OK, kind, body),
        Some(Fault::Oversized) => (StatusCode::OK, kind, " ".repeat(REPLY_LIMIT + 1)),
        Some(Fault::CutShort) => {
            let half: String = right.chars().take(right.chars().count() / 2).collect();
            (StatusCode::OK, kind, half)
        }
        Some(Fault::Redirect(to)) => {
            extra = Some((header::LOCATION, to));
            (StatusCode::FOUND, page().1, page().2)
        }
        Some(Fault::Hang) => std::future::pending().await,
    };
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Some((name, value)) = extra
        && let Ok(value) = value.parse()
    {
        headers.insert(name, value);
    }
    response
}
