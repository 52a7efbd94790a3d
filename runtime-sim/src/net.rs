//! Real HTTP exchanges over simulated sockets.

use crate::http::Wire;
use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use madsim::net::TcpStream;
use segue_core::driver::lock;
use segue_core::io::{Accepted, NetError, Network};
use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
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

/// One connection for each exchange, held by its future and body: dropping them closes it.
#[derive(Clone, Debug, Default)]
pub struct SimNetwork {
    /// Who is cut off.
    pub dark: Dark,
}

/// The half of an exchange that moves bytes. Polled beside the response, never spawned.
type Pump = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A body together with the connection it comes over.
pub struct SimBody {
    incoming: Incoming,
    pump: Option<Pump>,
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
        self.dark.reach(peer).await;
        let stream = TcpStream::connect(peer)
            .await
            .map_err(|_| NetError::Refused)?;
        accepted.mark();
        let (mut sender, connection) = http1::handshake(TokioIo::new(Wire::new(stream)))
            .await
            .map_err(|error| classify(&error))?;
        let mut pump: Option<Pump> = Some(Box::pin(async move {
            // What breaks the connection shows at the response or its body.
            let _ = connection.await;
        }));
        let request = origin_form(request, authority.as_str())?;
        let mut response = pin!(sender.send_request(request));
        let response = poll_fn(|cx| {
            poll_pump(&mut pump, cx);
            response.as_mut().poll(cx)
        })
        .await
        .map_err(|error| classify(&error))?;
        Ok(response.map(|incoming| SimBody { incoming, pump }))
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
) -> Result<http::Request<Full<Bytes>>, NetError> {
    let (mut parts, body) = request.into_parts();
    let host = HeaderValue::from_str(authority).map_err(|_| NetError::BadUrl)?;
    parts.headers.insert(HOST, host);
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = path.parse().map_err(|_| NetError::BadUrl)?;
    Ok(http::Request::from_parts(parts, Full::new(body)))
}

fn classify(error: &hyper::Error) -> NetError {
    if error.is_incomplete_message() {
        NetError::Truncated
    } else if error.is_parse() {
        NetError::Malformed
    } else {
        NetError::Reset
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
        frame.map(|frame| frame.map(|result| result.map_err(|error| classify(&error))))
    }
}
