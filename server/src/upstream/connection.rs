//! One connection of the fake upstream, over any byte stream.
//!
//! No timer but the given clock and no task of its own: the simulator runs it on simulated sockets.

use super::auth;
use super::cover;
use super::document::{Format, failed, ok};
use super::faults::{Fault, Group};
use super::media::{self, Pace, Reply};
use super::shared::{Seen, Shared};
use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{Method, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use segue_core::io::Clock;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const CHUNK: u64 = 64 * 1024;
const FORM_LIMIT: usize = 1024 * 1024;

/// Serves `shared` on `io` until the other side has had enough, a fault ends it, or the upstream dies.
pub async fn serve_connection<IO, C>(io: IO, clock: C, shared: Shared)
where
    IO: AsyncRead + AsyncWrite + Unpin,
    C: Clock,
{
    let cut = shared.cut();
    let _open = OpenConnection::new(&shared);
    let drain = Drain::default();
    let service =
        service_fn(|request| answer(request, clock.clone(), shared.clone(), drain.clone()));
    let io = TokioIo::new(Wire {
        io,
        drain: drain.clone(),
    });
    let connection = http1::Builder::new()
        .header_read_timeout(None)
        .serve_connection(io, service);
    match select(pin!(cut), pin!(connection)).await {
        Either::Left(((), _)) => {}
        // How a connection ended is no business of a fake's.
        Either::Right((_ended, _)) => {}
    }
}

async fn answer<C: Clock>(
    request: Request<Incoming>,
    clock: C,
    shared: Shared,
    drain: Drain,
) -> Result<Response<Flow<C>>, Interrupted> {
    let released: Waiting = Box::pin(shared.released());
    let (parts, body) = request.into_parts();
    let form = match parts.method == Method::POST {
        true => Limited::new(body, FORM_LIMIT)
            .collect()
            .await
            .map_err(|_| Interrupted)?
            .to_bytes(),
        false => Bytes::new(),
    };
    let prefix = shared.setup().prefix.clone();
    let Some(seen) = read(&parts, &form, &prefix) else {
        let reply = Reply::new(StatusCode::NOT_FOUND, "text/html", "<html>Not found</html>");
        let exchange = Exchange::start(&shared, None);
        return Ok(send(
            reply,
            Flow::new(exchange, released, drain, clock),
            false,
        ));
    };
    let group = match seen.endpoint.as_str() {
        "stream" | "download" => Group::Media,
        "getCoverArt" => Group::Art,
        _ => Group::Api,
    };
    let exchange = Exchange::start(&shared, Some((&seen, group)));
    shared.record(seen.clone());
    let fault = shared.fault(group, seen.param("id"));
    let mut flow = Flow::new(exchange, released, drain, clock.clone());
    match &fault {
        Some(Fault::HangBeforeHead) => flow.released.take().unwrap_or(Box::pin(async {})).await,
        Some(Fault::SlowHead(by)) => clock.sleep_until(clock.now() + *by).await,
        Some(Fault::CloseBeforeHead) => {
            flow.exchange.finish();
            return Err(Interrupted);
        }
        Some(_) | None => {}
    }
    let reply = right_reply(&shared, &seen, group, fault.as_ref());
    let reply = match &fault {
        Some(fault) => media::bent(reply, fault, &shared.setup().quirks),
        None => reply,
    };
    Ok(send(reply, flow, seen.method == Method::HEAD))
}

/// The request, if it is one for the API.
fn read(parts: &http::request::Parts, form: &[u8], prefix: &str) -> Option<Seen> {
    let path = parts
        .uri
        .path()
        .strip_prefix(prefix)?
        .strip_prefix("/rest/")?;
    let query = parts.uri.query().unwrap_or("").as_bytes();
    let params = url::form_urlencoded::parse(query).chain(url::form_urlencoded::parse(form));
    Some(Seen {
        method: parts.method.clone(),
        endpoint: path.strip_suffix(".view").unwrap_or(path).to_owned(),
        params: params
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect(),
        headers: parts.headers.clone(),
    })
}

fn right_reply(shared: &Shared, seen: &Seen, group: Group, fault: Option<&Fault>) -> Reply {
    let setup = shared.setup();
    let format = Format::asked(seen.param("f"), &setup.quirks);
    let refuse = |code, message: &str| {
        let body = failed(code, message, format, &setup.quirks);
        Reply::new(StatusCode::OK, format.media_type(), body)
    };
    if seen.endpoint != "getOpenSubsonicExtensions"
        && let Err((code, message)) = auth::check(setup, seen)
    {
        return refuse(code, message);
    }
    match group {
        Group::Media => {
            let mut seen = seen.clone();
            if fault == Some(&Fault::Whole200ToRange) {
                seen.headers.remove(header::RANGE);
            }
            media::media(shared, &seen)
        }
        Group::Art => match seen.param("id") {
            None => refuse(10, "Required parameter 'id' is missing"),
            Some(id) if knows_cover(shared, id) => {
                let size = seen.param("size").and_then(|size| size.parse().ok());
                Reply::new(
                    StatusCode::OK,
                    "image/png",
                    cover::png(&setup.name, id, size),
                )
            }
            Some(_) => refuse(70, "Cover art not found"),
        },
        Group::Api => match super::api::answer(&shared.library(), &setup.quirks, seen) {
            Ok(payload) => {
                let body = ok(payload, format, &setup.quirks);
                Reply::new(StatusCode::OK, format.media_type(), body)
            }
            Err((code, message)) => refuse(code, &message),
        },
    }
}

fn knows_cover(shared: &Shared, id: &str) -> bool {
    let library = shared.library();
    library.artists.iter().any(|artist| {
        artist.id == id
            || artist
                .albums
                .iter()
                .any(|album| album.id == id || album.tracks.iter().any(|track| track.id == id))
    })
}

fn send<C: Clock>(reply: Reply, mut flow: Flow<C>, head_only: bool) -> Response<Flow<C>> {
    let length = reply.part.1 - reply.part.0;
    if head_only || length == 0 {
        flow.exchange.finish();
    }
    flow.reply = Some((reply.content, reply.part.1, reply.pace));
    (flow.at, flow.started_at) = (reply.part.0, reply.part.0);
    let mut response = Response::new(flow);
    *response.status_mut() = reply.status;
    let headers = response.headers_mut();
    for (name, value) in reply.headers {
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
    }
    if reply.announced {
        headers.insert(header::CONTENT_LENGTH, length.into());
    }
    response
}

type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The body of a response, going out at its pace.
struct Flow<C> {
    exchange: Exchange,
    /// Boxed, so that the body may be moved whatever the clock is.
    clock: Box<C>,
    drain: Drain,
    released: Option<Waiting>,
    waiting: Option<Waiting>,
    /// Content, where to end, and how.
    reply: Option<(super::content::Content, u64, Pace)>,
    started_at: u64,
    at: u64,
    /// Set while the last bytes before a cut are on their way.
    draining: Option<u64>,
}

impl<C: Clock> Flow<C> {
    fn new(exchange: Exchange, released: Waiting, drain: Drain, clock: C) -> Self {
        Flow {
            exchange,
            clock: Box::new(clock),
            drain,
            released: Some(released),
            waiting: None,
            reply: None,
            started_at: 0,
            at: 0,
            draining: None,
        }
    }
}

impl<C: Clock> Body for Flow<C> {
    type Data = Bytes;
    type Error = Interrupted;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Interrupted>>> {
        let flow = self.get_mut();
        if let Some(waiting) = &mut flow.waiting {
            ready!(waiting.as_mut().poll(cx));
            flow.waiting = None;
        }
        let Some((content, end, pace)) = &mut flow.reply else {
            return Poll::Ready(None);
        };
        let left = *end - flow.at;
        let sent = flow.at - flow.started_at;
        if left == 0 && *pace != Pace::CutAt(sent) {
            return Poll::Ready(None);
        }
        let size = match *pace {
            Pace::Free => CHUNK,
            Pace::CutAt(bytes) if sent == bytes => {
                let ticket = *flow.draining.get_or_insert_with(|| flow.drain.ticket());
                ready!(flow.drain.poll_after(ticket, cx));
                flow.exchange.finish();
                return Poll::Ready(Some(Err(Interrupted)));
            }
            Pace::StallAt(bytes) if sent == bytes => {
                *pace = Pace::Free;
                if let Some(mut released) = flow.released.take()
                    && released.as_mut().poll(cx).is_pending()
                {
                    flow.waiting = Some(released);
                    return Poll::Pending;
                }
                CHUNK
            }
            Pace::CutAt(bytes) | Pace::StallAt(bytes) => CHUNK.min(bytes - sent),
            Pace::Drip { bytes, every } => {
                let next = flow.clock.now() + every;
                flow.waiting = Some(Box::pin(flow.clock.sleep_until(next)));
                bytes
            }
        };
        let chunk = content.slice(flow.at, flow.at + size.min(left));
        flow.at += chunk.len() as u64;
        flow.exchange.sent(chunk.len() as u64);
        if flow.at == *end {
            flow.exchange.finish();
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// The connection ends here, on purpose.
#[derive(Debug)]
struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut by the upstream")
    }
}

impl std::error::Error for Interrupted {}

/// Counts one request from its arrival to the last byte handed over, or to its being given up.
struct Exchange {
    shared: Shared,
    media: bool,
    finished: bool,
    cuts: u64,
}

impl Exchange {
    fn start(shared: &Shared, request: Option<(&Seen, Group)>) -> Self {
        let media = request
            .is_some_and(|(seen, group)| group == Group::Media && seen.method != Method::HEAD);
        if media {
            shared.count(|counters| {
                counters.streams += 1;
                counters.open_streams += 1;
            });
        }
        Exchange {
            shared: shared.clone(),
            media,
            finished: false,
            cuts: shared.cuts(),
        }
    }

    fn sent(&self, bytes: u64) {
        if self.media {
            self.shared.count(|counters| counters.bytes += bytes);
        }
    }

    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let aborted = !self.finished && self.cuts == self.shared.cuts();
        let media = self.media;
        self.shared.count(|counters| {
            counters.aborted += u64::from(aborted);
            counters.open_streams -= u64::from(media);
        });
    }
}

struct OpenConnection(Shared);

impl OpenConnection {
    fn new(shared: &Shared) -> Self {
        shared.count(|counters| {
            counters.connections += 1;
            counters.open_connections += 1;
        });
        OpenConnection(shared.clone())
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.count(|counters| counters.open_connections -= 1);
    }
}

/// Tells when everything handed to the connection has gone down to the socket.
#[derive(Clone, Default)]
struct Drain(Arc<Mutex<(u64, Option<Waker>)>>);

impl Drain {
    fn ticket(&self) -> u64 {
        self.with(|(flushes, _)| *flushes)
    }

    fn poll_after(&self, ticket: u64, cx: &mut Context<'_>) -> Poll<()> {
        self.with(|(flushes, waker)| match *flushes > ticket {
            true => Poll::Ready(()),
            false => {
                *waker = Some(cx.waker().clone());
                Poll::Pending
            }
        })
    }

    fn flushed(&self) {
        let waker = self.with(|(flushes, waker)| {
            *flushes += 1;
            waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut (u64, Option<Waker>)) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The byte stream, with its flushes counted. hyper flushes it only when its own buffer is empty.
struct Wire<IO> {
    io: IO,
    drain: Drain,
}

impl<IO: AsyncRead + Unpin> AsyncRead for Wire<IO> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Wire<IO> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(cx))?;
        self.drain.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
