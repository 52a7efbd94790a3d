//! The accept loop: HTTP/1.1 for any tower service, bounded in every direction.
//!
//! `axum::serve` leaves Nagle's algorithm on, which makes small keep-alive replies ten to forty times slower, and
//! has no bound for connections, heads or what waits for a slow client.

mod downstream;

use crate::sockopt;
use downstream::Downstream;
use futures_util::future::{Either, select};
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use segue_core::driver::drained::{Cause, Drained, Flushes};
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tower_service::Service;

/// Connections at once. Each listener costs two descriptors, his own and his source's.
const CONNECTIONS: usize = 8192;

/// For a whole request head, counted from the connection's start or the last reply's end: against clients
/// who send a byte a minute, and the life of an idle keep-alive connection.
const HEAD_TIME: Duration = Duration::from_secs(60);

/// A request head longer than this is answered 431 (Subsonic clients put long lists into the query), and what
/// waits in the program for one client is at most about this and one chunk of a body. hyper has one knob for both.
const BUFFER: usize = 32 * 1024;

/// What begun replies get to finish in after a shutdown was asked for.
const GRACE: Duration = Duration::from_secs(5);

/// How long to leave the backlog alone when this machine has no descriptor or memory left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Serves `service` on `listener` until `shutdown` ends, then lets begun replies finish for a grace
/// period. The client's [`SocketAddr`] is in each request's extensions. A client that closes, wholly or its
/// sending half, drops its handler or body at once.
///
/// # Errors
/// When `listener` cannot accept at all. A lack of descriptors is waited out instead.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Cause>,
    B: Body<Data: Send, Error: Into<Cause>> + Send + 'static,
{
    let (stop, stopped) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    while let Some((stream, peer)) = next(&listener, &mut connections, shutdown.as_mut()).await? {
        let flushes = Flushes::default();
        let service = WithPeer {
            service: TowerToHyperService::new(service.clone()),
            peer,
            flushes: flushes.clone(),
        };
        let stream = Downstream::new(stream, flushes);
        connections.spawn(attend(stream, service, stopped.clone()));
    }
    drop((listener, stop));
    let finished = async { while connections.join_next().await.is_some() {} };
    if timeout(GRACE, finished).await.is_err() {
        connections.shutdown().await;
    }
    Ok(())
}

/// The next client; `None` once `shutdown` ended.
async fn next(
    listener: &TcpListener,
    connections: &mut JoinSet<()>,
    mut shutdown: Pin<&mut impl Future<Output = ()>>,
) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    let mut pause = pin!(None);
    poll_fn(|cx| {
        if shutdown.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(None));
        }
        // A handler that panicked has taken its own connection with it, no other.
        while let Poll::Ready(Some(_ended)) = connections.poll_join_next(cx) {}
        loop {
            if let Some(running) = pause.as_mut().as_pin_mut() {
                if Future::poll(running, cx).is_pending() {
                    return Poll::Pending;
                }
                pause.set(None);
            }
            if connections.len() >= CONNECTIONS {
                return Poll::Pending;
            }
            match listener.poll_accept(cx) {
                Poll::Pending => return Poll::Pending,
                // One whose socket is already broken is let go without a word.
                Poll::Ready(Ok(client)) if sockopt::prepare_for_client(&client.0).is_err() => {}
                Poll::Ready(Ok(client)) => return Poll::Ready(Ok(Some(client))),
                Poll::Ready(Err(cause)) => match cause.kind() {
                    // This client left before we came to him.
                    ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset => {}
                    ErrorKind::InvalidInput => return Poll::Ready(Err(cause)),
                    _ => {
                        tracing::warn!(error = %cause, "cannot accept a connection, waiting");
                        pause.set(Some(sleep_until(Instant::now() + EXHAUSTED_PAUSE)));
                    }
                },
            }
        }
    })
    .await
}

/// One client's connection, from its first request to its last.
async fn attend<S, B>(stream: Downstream, service: S, mut stopped: watch::Receiver<()>)
where
    S: hyper::service::Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<Cause>,
    B: Body<Error: Into<Cause>> + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // The sender is dropped, never used: an error is the signal.
    let asked_to_stop = pin!(stopped.changed());
    let ended = match select(connection.as_mut(), asked_to_stop).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(cause) = ended {
        tracing::debug!(error = %cause, "client connection ended early");
    }
}

/// Tells the service who asks, and lets no body break before its time.
struct WithPeer<S> {
    service: TowerToHyperService<S>,
    peer: SocketAddr,
    flushes: Flushes,
}

impl<S, B> hyper::service::Service<Request<Incoming>> for WithPeer<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Future: Send> + Clone + Send + 'static,
    B: Body<Error: Into<Cause>>,
{
    type Response = Response<Drained<B>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        let answer = self.service.call(request);
        let flushes = self.flushes.clone();
        Box::pin(async move {
            let response = answer.await?;
            Ok(response.map(|body| Drained::new(body, flushes)))
        })
    }
}

/// Raises this process's limit of open descriptors as far as it may and returns it. The soft limit is often
/// 1,024 for the sake of old programs; that is about 500 listeners.
pub fn raise_descriptor_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_accepted_socket_sends_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).await;
        let never = pin!(std::future::pending());
        let accepted = next(&listener, &mut JoinSet::new(), never).await;
        let (stream, _) = accepted.unwrap().unwrap();
        assert!(stream.nodelay().unwrap());
    }
}
