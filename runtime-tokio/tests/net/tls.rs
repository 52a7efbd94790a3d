//! The client over TLS: whom it trusts, and what an attacker who cuts cannot do.

use crate::peer::{HELLO, fetch, listen};
use bytes::Bytes;
use futures_util::future::join;
use http::Request;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{RootCertStore, ServerConfig};
use segue_core::io::NetError;
use segue_runtime_tokio::net::TokioNetwork;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const CERTIFICATE: &[u8] = include_bytes!("tls/loopback.pem");
const KEY: &[u8] = include_bytes!("tls/loopback.key");

fn certificate() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(CERTIFICATE).unwrap()
}

/// A client that trusts the test's certificate and no other.
fn trusting() -> TokioNetwork {
    let mut roots = RootCertStore::empty();
    roots.add(certificate()).unwrap();
    TokioNetwork::trusting(roots)
}

/// Accepts one TLS client, if he gets that far, says `reply` and closes, with or without saying so.
async fn secure_server(listener: TcpListener, reply: &[u8], says_goodbye: bool) -> Option<String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        )
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (stream, _) = listener.accept().await.unwrap();
    let mut stream = TlsAcceptor::from(Arc::new(config))
        .accept(stream)
        .await
        .ok()?;
    let protocol = String::from_utf8(stream.get_ref().1.alpn_protocol()?.to_vec()).ok()?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    stream.write_all(reply).await.unwrap();
    stream.flush().await.unwrap();
    if says_goodbye {
        stream.shutdown().await.unwrap();
    }
    Some(protocol)
}

/// What `network` makes of `reply` over TLS, and the protocol that was agreed on.
async fn told(
    network: TokioNetwork,
    host: &str,
    reply: &[u8],
    says_goodbye: bool,
) -> (Option<String>, Result<Bytes, NetError>) {
    let (listener, address) = listen().await;
    let request = Request::get(format!("https://{host}:{}/", address.port()));
    let request = request.body(Bytes::new()).unwrap();
    join(
        secure_server(listener, reply, says_goodbye),
        fetch(&network, request),
    )
    .await
}

#[tokio::test]
async fn a_trusted_certificate_carries_http_1_1() {
    let (protocol, reply) = told(trusting(), "127.0.0.1", HELLO, true).await;
    assert_eq!(protocol.as_deref(), Some("http/1.1"));
    assert_eq!(reply.unwrap(), "hello");
}

#[tokio::test]
async fn a_certificate_that_nobody_trusts_is_a_tls_failure() {
    let (protocol, reply) = told(TokioNetwork::new(), "127.0.0.1", HELLO, true).await;
    assert_eq!((protocol, reply), (None, Err(NetError::Tls)));
}

#[tokio::test]
async fn a_certificate_for_another_name_is_a_tls_failure() {
    let (protocol, reply) = told(trusting(), "localhost", HELLO, true).await;
    assert_eq!((protocol, reply), (None, Err(NetError::Tls)));
}

#[tokio::test]
async fn a_body_without_length_that_ends_without_goodbye_is_truncated() {
    let reply = b"HTTP/1.0 200 OK\r\n\r\nhello";
    let (_, whole) = told(trusting(), "127.0.0.1", reply, true).await;
    assert_eq!(whole.unwrap(), "hello");
    let (_, cut) = told(trusting(), "127.0.0.1", reply, false).await;
    assert_eq!(cut, Err(NetError::Truncated));
}
