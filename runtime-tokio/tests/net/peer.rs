//! The other side, played by the test: accepts, reads a request head, says what it is told to.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use segue_core::io::{Accepted, NetError, Network};
use segue_runtime_tokio::net::{Body, TokioNetwork};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A listener on a port of its own.
pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Reads up to the end of a request head; empty when the other side closed instead.
pub(crate) async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// Answers one request with exactly these bytes and returns its head.
pub(crate) async fn answer(stream: &mut TcpStream, bytes: &[u8]) -> String {
    let head = read_head(stream).await;
    stream.write_all(bytes).await.unwrap();
    head
}

/// `GET` of `path`.
pub(crate) fn get(address: SocketAddr, path: &str) -> Request<Bytes> {
    Request::get(format!("http://{address}{path}"))
        .body(Bytes::new())
        .unwrap()
}

/// Sends `request` on behalf of nobody in particular.
pub(crate) async fn send(
    network: &TokioNetwork,
    request: Request<Bytes>,
) -> Result<Response<Body>, NetError> {
    network.send(request, Accepted::default()).await
}

/// Sends and reads all.
pub(crate) async fn fetch(
    network: &TokioNetwork,
    request: Request<Bytes>,
) -> Result<Bytes, NetError> {
    let response = send(network, request).await?;
    Ok(response.into_body().collect().await?.to_bytes())
}

/// A small complete response.
pub(crate) const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
