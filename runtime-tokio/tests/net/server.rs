//! The accept loop: who asks, who leaves, and how it ends.

use crate::peer::{fetch, get, listen};
use bytes::Bytes;
use futures_util::future::join;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{Either, Full, StreamBody};
use hyper::body::Incoming;
use segue_runtime_tokio::net::TokioNetwork;
use segue_runtime_tokio::serve::serve;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use tower::service_fn;

/// A body that says one word, then nothing, and tells when it is dropped.
struct Unfinished {
    word: Option<Bytes>,
    dropped: mpsc::UnboundedSender<()>,
}

impl http_body::Body for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.word.take() {
            Some(word) => Poll::Ready(Some(Ok(Frame::data(word)))),
            None => Poll::Pending,
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

/// Runs `client` against `serve` with `service`, then shuts down.
macro_rules! served {
    ($service:expr, |$address:ident| $client:expr) => {{
        let (listener, $address) = listen().await;
        let over = Arc::new(Notify::new());
        let stop = over.clone();
        let server = serve(listener, $service, async move { over.notified().await });
        let client = async move {
            let result = $client.await;
            stop.notify_one();
            result
        };
        let (ended, result) = join(server, client).await;
        ended.unwrap();
        result
    }};
}

async fn who_asks(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let peer = request.extensions().get::<SocketAddr>().copied();
    let text = format!("{} {}", request.uri(), peer.is_some());
    Ok(Response::new(Full::from(text)))
}

#[tokio::test]
async fn the_service_knows_who_asks_and_one_connection_serves_many_requests() {
    let network = TokioNetwork::new();
    served!(service_fn(who_asks), |address| async {
        for path in ["/a", "/b", "/c"] {
            let text = fetch(&network, get(address, path)).await.unwrap();
            assert_eq!(text, format!("{path} true"));
            assert_eq!(network.resting_connections(), 1);
        }
    });
}

/// Connects, asks, reads the first word of the unfinished body; then `leave` decides what to do with the
/// connection, and the body must be dropped.
async fn leaves(leave: impl AsyncFnOnce(TcpStream) -> Option<TcpStream>) {
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let service = service_fn(move |_: Request<Incoming>| {
        let body = Unfinished {
            word: Some(Bytes::from_static(b"word")),
            dropped: dropped.clone(),
        };
        async move { Ok::<_, Infallible>(Response::new(body)) }
    });
    served!(service, |address| async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        let mut heard = Vec::new();
        while !heard.windows(4).any(|w| w == b"word") {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0);
        }
        assert!(drops.try_recv().is_err());
        let kept = leave(stream).await;
        drops.recv().await.unwrap();
        drop(kept);
    });
}

#[tokio::test]
async fn f5_a_client_who_closes_drops_the_body() {
    leaves(async |stream| {
        drop(stream);
        None
    })
    .await;
}

#[tokio::test]
async fn f5_a_client_who_resets_drops_the_body() {
    leaves(async |stream| {
        stream.set_zero_linger().unwrap();
        drop(stream);
        None
    })
    .await;
}

#[tokio::test]
async fn f5_a_client_who_closes_his_sending_half_drops_the_body() {
    leaves(async |mut stream| {
        stream.shutdown().await.unwrap();
        Some(stream)
    })
    .await;
}

#[tokio::test]
async fn a_body_that_breaks_has_delivered_what_went_before() {
    // The first is over before the client reads; the second is more than all buffers on the way hold.
    for size in [1, 8_000_000] {
        let service = service_fn(move |_: Request<Incoming>| {
            let sent = Bytes::from(vec![7; size]);
            let frames = [Ok(Frame::data(sent)), Err("broken")];
            let body = StreamBody::new(stream::iter(frames));
            let response = Response::builder().header("content-length", "9000000");
            async move { Ok::<_, Infallible>(response.body(body).unwrap()) }
        });
        let heard = served!(service, |address| async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let asked = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            asked.await.unwrap();
            let mut heard = Vec::new();
            stream.read_to_end(&mut heard).await.unwrap();
            heard
        });
        let body = heard.windows(4).position(|w| w == b"\r\n\r\n");
        assert_eq!(heard.len() - body.expect("a head") - 4, size);
    }
}

#[tokio::test]
async fn a_handler_that_panics_takes_only_its_own_connection() {
    let service = service_fn(|request: Request<Incoming>| async move {
        assert_ne!(request.uri().path(), "/panic", "as asked");
        who_asks(request).await
    });
    let network = TokioNetwork::new();
    served!(service, |address| async {
        fetch(&network, get(address, "/panic")).await.unwrap_err();
        assert_eq!(fetch(&network, get(address, "/")).await.unwrap(), "/ true");
    });
}

#[tokio::test]
async fn an_endless_request_head_is_refused() {
    served!(service_fn(who_asks), |address| async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut head = b"GET / HTTP/1.1\r\nX-Pad: ".to_vec();
        head.resize(1 << 20, b'x');
        // The server may answer and close before it has heard all.
        let _ = stream.write_all(&head).await;
        let mut reply = Vec::new();
        let _ = stream.read_to_end(&mut reply).await;
        assert!(reply.is_empty() || reply.starts_with(b"HTTP/1.1 431 "));
    });
}

#[tokio::test]
async fn shutdown_lets_a_begun_reply_finish_and_closes_idle_connections() {
    let begun = Arc::new(Notify::new());
    let (go_on, stop) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let service = {
        let (begun, go_on) = (begun.clone(), go_on.clone());
        service_fn(move |request: Request<Incoming>| {
            let (begun, go_on) = (begun.clone(), go_on.clone());
            async move {
                if request.uri().path() == "/slow" {
                    begun.notify_one();
                    go_on.notified().await;
                }
                let body: Either<Full<Bytes>, Unfinished> = Either::Left(Full::from("done"));
                Ok::<_, Infallible>(Response::new(body))
            }
        })
    };
    let (listener, address) = listen().await;
    let server = serve(listener, service, stop.notified());
    let (idle, slow) = (TokioNetwork::new(), TokioNetwork::new());
    let client = async {
        fetch(&idle, get(address, "/quick")).await.unwrap();
        let reply = fetch(&slow, get(address, "/slow"));
        let control = async {
            begun.notified().await;
            stop.notify_one();
            go_on.notify_one();
        };
        join(reply, control).await.0.unwrap()
    };
    let (ended, reply) = join(server, client).await;
    ended.unwrap();
    assert_eq!(reply, "done");
}
