//! Real HTTP exchanges over simulated sockets.

use crate::SimClock;
use crate::http::BUFFER;
use crate::wire::{Links, Wire};
use bytes::Bytes;
use http::header::{HOST, HeaderValue, RANGE};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use madsim::net::{NetSim, TcpStream};
use madsim::rand::{Rng, thread_rng};
use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::{Accepted, Clock, NetError, Network};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

/// Peers that are cut off.
///
/// madsim refuses a connection to a node that is cut off at once, where a real one would hear
/// nothing. Those are two different paths through a failover, so the caller is made to wait.
#[derive(Clone, Debug, Default)]
pub struct Dark(Arc<Mutex<BTreeSet<SocketAddr>>>);

impl Dark {
    /// Cuts a peer off, or lets it back.
    pub fn set(&self, peer: SocketAddr, dark: bool) {
        let mut peers = lock(&self.0);
        if dark {
            peers.insert(peer);
        } else {
            peers.remove(&peer);
        }
    }

    fn contains(&self, peer: SocketAddr) -> bool {
        lock(&self.0).contains(&peer)
    }

    /// Knocks once a second, as TCP does, until the peer is back or the caller gives up.
    async fn reach(&self, peer: SocketAddr) {
        while self.contains(peer) {
            madsim::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Where in an exchange something panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// When the head is there.
    Head,
    /// When so many bytes of the body have come.
    Body(u64),
}

/// What a trap panics with.
#[derive(Clone, Copy, Debug)]
pub struct Trapped;

/// Traps for whoever reads an answer: the next one who gets to that place panics, as a codec with a mistake in it would.
#[derive(Clone, Debug, Default)]
pub struct Traps(Arc<Mutex<BTreeMap<SocketAddr, Place>>>);

impl Traps {
    /// Sets the trap of a peer, or takes it away.
    pub fn set(&self, peer: SocketAddr, place: Option<Place>) {
        let mut traps = lock(&self.0);
        match place {
            Some(place) => traps.insert(peer, place),
            None => traps.remove(&peer),
        };
    }

    fn pass(&self, peer: SocketAddr, here: Place) {
        let is_here = |trap: &Place| match (trap, here) {
            (Place::Head, Place::Head) => true,
            (Place::Body(at), Place::Body(bytes)) => bytes >= *at,
            (Place::Head, Place::Body(_)) | (Place::Body(_), Place::Head) => false,
        };
        let mut traps = lock(&self.0);
        if traps.get(&peer).is_some_and(is_here) {
            traps.remove(&peer);
            drop(traps);
            // Without a word on the standard error of the process: it was ordered.
            resume_unwind(Box::new(Trapped));
        }
    }
}

/// One exchange, as the side that asked saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Its place among all exchanges of its network.
    pub serial: usize,
    /// Who was asked.
    pub peer: SocketAddr,
    /// Path and query.
    pub target: String,
    /// Whether it asks for a part.
    pub ranged: bool,
    /// When it was begun.
    pub began: Tick,
    /// When the other side had accepted the connection.
    pub accepted: Option<Tick>,
    /// When the head was there, and its status; or why none came.
    pub answered: Option<(Tick, Result<u16, NetError>)>,
    /// When its connection was closed, for whatever reason.
    pub closed: Option<Tick>,
}

/// Told of every exchange when it begins, is answered, and is closed.
pub type Watch = Arc<dyn Fn(&Exchange) + Send + Sync>;

#[derive(Clone)]
struct Log {
    exchanges: Arc<Mutex<Vec<Exchange>>>,
    clock: SimClock,
    watch: Option<Watch>,
}

impl Log {
    fn begin(&self, peer: SocketAddr, request: &http::Request<Bytes>) -> Open {
        let exchange = {
            let mut exchanges = lock(&self.exchanges);
            let exchange = Exchange {
                serial: exchanges.len(),
                peer,
                target: request.uri().to_string(),
                ranged: request.headers().contains_key(RANGE),
                began: self.clock.now(),
                accepted: None,
                answered: None,
                closed: None,
            };
            exchanges.push(exchange.clone());
            exchange
        };
        self.show(&exchange);
        Open {
            log: self.clone(),
            serial: exchange.serial,
        }
    }

    fn show(&self, exchange: &Exchange) {
        if let Some(watch) = &self.watch {
            watch(exchange);
        }
    }
}

/// An exchange that is not over.
struct Open {
    log: Log,
    serial: usize,
}

impl Open {
    fn change(&self, change: impl FnOnce(&mut Exchange, Tick)) -> Exchange {
        let mut exchanges = lock(&self.log.exchanges);
        let exchange = &mut exchanges[self.serial];
        change(exchange, self.log.clock.now());
        exchange.clone()
    }

    fn accepted(&self) {
        self.change(|exchange, now| exchange.accepted = Some(now));
    }

    fn answered(&self, result: Result<u16, NetError>) {
        let changed = self.change(|exchange, now| exchange.answered = Some((now, result)));
        self.log.show(&changed);
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let changed = self.change(|exchange, now| exchange.closed = Some(now));
        self.log.show(&changed);
    }
}

/// One connection for each exchange, held by its future and body: dropping them closes it.
#[derive(Clone)]
pub struct SimNetwork {
    dark: Dark,
    links: Links,
    log: Log,
    traps: Traps,
}

impl SimNetwork {
    /// A network whose connections are joined by `links` and end at whom `dark` does not cut off.
    pub fn new(clock: SimClock, dark: Dark, links: Links) -> Self {
        SimNetwork {
            dark,
            links,
            log: Log {
                exchanges: Arc::default(),
                clock,
                watch: None,
            },
            traps: Traps::default(),
        }
    }

    /// The same, with traps in its answers.
    #[must_use]
    pub fn trapped(mut self, traps: Traps) -> Self {
        self.traps = traps;
        self
    }

    /// The same, with somebody who watches.
    pub fn watched(mut self, watch: Watch) -> Self {
        self.log.watch = Some(watch);
        self
    }

    /// All exchanges so far.
    pub fn exchanges(&self) -> Vec<Exchange> {
        lock(&self.log.exchanges).clone()
    }

    async fn connect(&self, peer: SocketAddr, open: &Open) -> Result<Wire, NetError> {
        self.dark.reach(peer).await;
        // madsim connects at once, whatever its latency is; TCP takes one round trip.
        madsim::time::sleep(latency() + latency()).await;
        self.dark.reach(peer).await;
        let stream = TcpStream::connect(peer)
            .await
            .map_err(|_| NetError::Refused)?;
        open.accepted();
        Wire::dialled(stream, &self.links).map_err(|_| NetError::Reset)
    }

    async fn exchange(
        &self,
        request: http::Request<Bytes>,
        peer: SocketAddr,
        accepted: &Accepted,
        open: &Open,
    ) -> Result<http::Response<Pumped>, NetError> {
        let wire = self.connect(peer, open).await?;
        accepted.mark();
        let (mut sender, connection) = http1::Builder::new()
            .max_buf_size(BUFFER)
            .handshake(TokioIo::new(wire))
            .await
            .map_err(|error| classify(&error))?;
        let mut pump: Option<Pump> = Some(Box::pin(async move {
            // What breaks the connection shows at the response or its body.
            let _ = connection.await;
        }));
        let mut response = pin!(sender.send_request(request.map(Full::new)));
        let response = poll_fn(|cx| {
            poll_pump(&mut pump, cx);
            response.as_mut().poll(cx)
        })
        .await
        .map_err(|error| classify(&error))?;
        Ok(response.map(|incoming| (incoming, pump)))
    }
}

/// How long one message takes now.
fn latency() -> Duration {
    let mut range = Duration::ZERO..Duration::ZERO;
    NetSim::current().update_config(|config| range = config.send_latency.clone());
    if range.is_empty() {
        return range.start;
    }
    thread_rng().gen_range(range)
}

/// The half of an exchange that moves bytes. Polled beside the response, never spawned.
type Pump = Pin<Box<dyn Future<Output = ()> + Send>>;

type Pumped = (Incoming, Option<Pump>);

/// A body together with the connection it comes over.
pub struct SimBody {
    incoming: Incoming,
    pump: Option<Pump>,
    peer: SocketAddr,
    traps: Traps,
    bytes: u64,
    /// Dropped last: then the connection is closed.
    _open: Open,
}

impl Network for SimNetwork {
    type Body = SimBody;

    async fn send(
        &self,
        request: http::Request<Bytes>,
        accepted: Accepted,
    ) -> Result<http::Response<SimBody>, NetError> {
        let authority = request.uri().authority().ok_or(NetError::BadUrl)?.clone();
        let peer: SocketAddr = authority.as_str().parse().map_err(|_| NetError::Dns)?;
        let request = origin_form(request, authority.as_str())?;
        let open = self.log.begin(peer, &request);
        let answer = self.exchange(request, peer, &accepted, &open).await;
        open.answered(match &answer {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => Err(*error),
        });
        if answer.is_ok() {
            self.traps.pass(peer, Place::Head);
        }
        Ok(answer?.map(|(incoming, pump)| SimBody {
            incoming,
            pump,
            peer,
            traps: self.traps.clone(),
            bytes: 0,
            _open: open,
        }))
    }
}

fn poll_pump(pump: &mut Option<Pump>, cx: &mut Context<'_>) {
    if pump
        .as_mut()
        .is_some_and(|p| p.as_mut().poll(cx).is_ready())
    {
        *pump = None;
    }
}

fn origin_form(
    request: http::Request<Bytes>,
    authority: &str,
) -> Result<http::Request<Bytes>, NetError> {
    let (mut parts, body) = request.into_parts();
    let host = HeaderValue::from_str(authority).map_err(|_| NetError::BadUrl)?;
    parts.headers.insert(HOST, host);
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().map_err(|_| NetError::BadUrl)?;
    Ok(http::Request::from_parts(parts, body))
}

/// As the real runtime classifies.
fn classify(error: &hyper::Error) -> NetError {
    let io = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    match io.map(io::Error::kind) {
        Some(ErrorKind::UnexpectedEof) => NetError::Truncated,
        Some(ErrorKind::InvalidInput | ErrorKind::InvalidData) => NetError::Malformed,
        Some(_) => NetError::Reset,
        None if error.is_parse_too_large() => NetError::Oversized,
        None if error.is_parse() => NetError::Malformed,
        None if error.is_incomplete_message() => NetError::Truncated,
        None => NetError::Reset,
    }
}

impl Body for SimBody {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        let this = &mut *self;
        poll_pump(&mut this.pump, cx);
        let frame = Pin::new(&mut this.incoming).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            this.bytes += data.len() as u64;
            this.traps.pass(this.peer, Place::Body(this.bytes));
        }
        frame.map(|frame| frame.map(|result| result.map_err(|error| classify(&error))))
    }
}
