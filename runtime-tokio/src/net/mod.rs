//! The HTTP/1.1 client: one thin pool over hyper's connections, for every request the hub sends.
//!
//! Why our own: `docs/decisions/0001-one-http-client.md`. Redirects are not followed, cookies not kept,
//! nothing is decompressed; that is for the codecs in core to ask for and to judge.

mod body;
mod dial;
mod error;
mod link;
mod pool;
mod reused;
mod socket;

pub use body::Body;

use bytes::Bytes;
use dial::Origin;
use futures_util::future::BoxFuture;
use http::header::{self, HeaderName};
use http::{HeaderValue, Method, Request, Response, Uri};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use link::Link;
use pool::Pool;
use rustls::{ClientConfig, RootCertStore};
use segue_core::io::{Accepted, NetError, Network};
use socket::Stream;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;
use tokio::time::Instant;

/// A reused connection that says nothing for this long may lead to a machine that is gone: a dial beside it
/// tells. Leaves most of the failover's stagger (250 ms) for the dial.
const SILENCE: Duration = Duration::from_millis(100);

/// The body of an answer that comes from this machine.
pub type LocalBody = UnsyncBoxBody<Bytes, NetError>;

/// Who answers the `folder:` or `command:` URIs of one host: a music folder or a program that behaves like a server.
pub trait LocalOrigin: Send + Sync {
    /// Answers `request` with a status code, as a server would.
    ///
    /// # Errors
    /// [`NetError::Local`] when a file or process of this machine fails.
    fn answer(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<LocalBody>, NetError>>;
}

/// The music folders, by the host of their URIs.
pub type Folders = BTreeMap<String, Arc<dyn LocalOrigin>>;

/// The programs, by the host of their URIs, which is their name.
pub type Commands = BTreeMap<String, Arc<dyn LocalOrigin>>;

/// The real network.
#[derive(Clone, Default)]
pub struct TokioNetwork(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pool: Arc<Pool>,
    folders: RwLock<Folders>,
    commands: RwLock<Commands>,
    /// Reading the machine's certificates takes a while, and many never need them.
    tls: OnceLock<Result<Arc<ClientConfig>, NetError>>,
}

impl TokioNetwork {
    /// Trusts the certificates that this machine trusts (`SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured).
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts `roots` and nothing else.
    pub fn trusting(roots: RootCertStore) -> Self {
        let network = Self::default();
        network.0.tls.get_or_init(|| dial::tls_client(roots));
        network
    }

    /// Lets `folders` answer `folder:` URIs.
    #[must_use]
    pub fn with_folders(self, folders: Folders) -> Self {
        self.set_folders(folders);
        self
    }

    /// Replaces the folders, for all clones. Answers that have begun go on.
    pub fn set_folders(&self, folders: Folders) {
        *self
            .0
            .folders
            .write()
            .unwrap_or_else(PoisonError::into_inner) = folders;
    }

    /// Replaces the programs that answer `command:` URIs, for all clones. Runs that have begun go on.
    pub fn set_commands(&self, commands: Commands) {
        *self
            .0
            .commands
            .write()
            .unwrap_or_else(PoisonError::into_inner) = commands;
    }

    /// Connections that rest between exchanges.
    pub fn resting_connections(&self) -> usize {
        self.0.pool.len()
    }

    async fn send_local(
        &self,
        origins: &RwLock<BTreeMap<String, Arc<dyn LocalOrigin>>>,
        request: Request<Bytes>,
        accepted: Accepted,
    ) -> Result<Response<Body>, NetError> {
        let answer = {
            let host = request.uri().host().ok_or(NetError::BadUrl)?;
            let origins = origins.read().unwrap_or_else(PoisonError::into_inner);
            origins.get(host).cloned().ok_or(NetError::Unreachable)?
        };
        accepted.mark();
        Ok(answer.answer(request).await?.map(Body::local))
    }

    async fn send_remote(
        &self,
        request: Request<Bytes>,
        accepted: Accepted,
    ) -> Result<Response<Body>, NetError> {
        let origin = Origin::of(request.uri())?;
        let request = in_origin_form(request, &origin)?;
        // Only what may be repeated goes over a connection that may have died at rest (RFC 9110 9.2.2).
        let mut beside = None;
        if request.method().is_idempotent()
            && let Some(mut link) = self.0.pool.take(&origin)
        {
            let before = link.received();
            let dialled = self.dial_if_silent(&origin, &accepted);
            let (outcome, stream) = reused::outcome(link.exchange(request.clone()), dialled).await;
            if outcome.is_ok() || link.received() > before {
                accepted.mark();
                self.keep(&origin, stream).await;
                return Ok(self.reply(outcome?, link, origin));
            }
            // Stale: says nothing about the other side. The others that rest are likely stale too.
            self.0.pool.forget(&origin);
            beside = stream;
        }
        let stream = match beside {
            Some(stream) => stream,
            None => dial::dial(&origin, || self.tls(), &accepted).await?,
        };
        let mut link = Link::over(stream).await?;
        let response = link.exchange(request).await?;
        Ok(self.reply(response, link, origin))
    }

    /// Dials beside a reused connection once that has been silent for a while.
    async fn dial_if_silent(
        &self,
        origin: &Origin,
        accepted: &Accepted,
    ) -> Result<Stream, NetError> {
        tokio::time::sleep_until(Instant::now() + SILENCE).await;
        dial::dial(origin, || self.tls(), accepted).await
    }

    /// What was dialled in vain serves the next exchange.
    async fn keep(&self, origin: &Origin, stream: Option<Stream>) {
        if let Some(stream) = stream
            && let Ok(link) = Link::over(stream).await
        {
            self.0.pool.give(origin.clone(), link);
        }
    }

    fn reply(
        &self,
        response: Response<hyper::body::Incoming>,
        link: Link,
        origin: Origin,
    ) -> Response<Body> {
        response.map(|incoming| Body::remote(incoming, link, origin, self.0.pool.clone()))
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, NetError> {
        let machine = || dial::tls_client(dial::machine_roots());
        self.0.tls.get_or_init(machine).clone()
    }
}

impl Network for TokioNetwork {
    type Body = Body;

    async fn send(
        &self,
        request: Request<Bytes>,
        accepted: Accepted,
    ) -> Result<Response<Body>, NetError> {
        match request.uri().scheme_str() {
            Some("folder") => self.send_local(&self.0.folders, request, accepted).await,
            Some("command") => self.send_local(&self.0.commands, request, accepted).await,
            _ => self.send_remote(request, accepted).await,
        }
    }
}

/// What belongs to one connection and is not the caller's to say. `Expect` would make us wait for leave.
const OURS: [HeaderName; 7] = [
    header::CONNECTION,
    header::EXPECT,
    header::HOST,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// `request` as it goes to the origin itself: path and query only, and a `Host`.
fn in_origin_form(
    request: Request<Bytes>,
    origin: &Origin,
) -> Result<Request<Full<Bytes>>, NetError> {
    let (mut head, body) = request.into_parts();
    if head.method == Method::CONNECT {
        return Err(NetError::BadUrl);
    }
    head.uri = match head.uri.path_and_query() {
        Some(path) => Uri::from(path.clone()),
        None => Uri::from_static("/"),
    };
    for name in OURS {
        head.headers.remove(name);
    }
    let host = HeaderValue::try_from(origin.authority()).map_err(|_| NetError::BadUrl)?;
    head.headers.insert(header::HOST, host);
    Ok(Request::from_parts(head, Full::new(body)))
}
