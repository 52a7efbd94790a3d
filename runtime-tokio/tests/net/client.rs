//! The client: reuse, redial, and each way an exchange can fail.

use crate::peer::{HELLO, answer, fetch, get, listen, read_head, send};
use bytes::Bytes;
use futures_util::future::{BoxFuture, join};
use http::{Request, Response};
use http_body::Body as _;
use http_body_util::{BodyExt, Full};
use segue_core::io::{Accepted, NetError, Network};
use segue_runtime_tokio::net::{Folders, LocalBody, LocalOrigin, TokioNetwork};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn two_exchanges_share_one_connection() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let first = answer(&mut stream, HELLO).await;
        let second = answer(&mut stream, HELLO).await;
        (first, second)
    };
    let client = async {
        assert_eq!(
            fetch(&network, get(address, "/a?x=1")).await.unwrap(),
            "hello"
        );
        assert_eq!(network.resting_connections(), 1);
        assert_eq!(fetch(&network, get(address, "/b")).await.unwrap(), "hello");
    };
    let ((first, second), ()) = join(server, client).await;
    assert!(first.starts_with("GET /a?x=1 HTTP/1.1\r\n"), "{first}");
    assert!(first.contains(&format!("host: {address}\r\n")), "{first}");
    assert!(second.starts_with("GET /b HTTP/1.1\r\n"), "{second}");
}

#[tokio::test]
async fn a_reader_who_stops_at_the_last_byte_leaves_a_connection_to_reuse() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        answer(&mut stream, HELLO).await;
        stream
    };
    let client = async {
        let mut body = send(&network, get(address, "/")).await.unwrap().into_body();
        while !body.is_end_stream() {
            body.frame().await.unwrap().unwrap();
        }
    };
    let (_stream, ()) = join(server, client).await;
    assert_eq!(network.resting_connections(), 1);
}

#[tokio::test]
async fn a_connection_that_went_stale_at_rest_is_redialled_once_and_not_reported() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut first, _) = listener.accept().await.unwrap();
        answer(&mut first, HELLO).await;
        // Takes the next request and dies without a byte: the client cannot have known.
        read_head(&mut first).await;
        drop(first);
        let (mut second, _) = listener.accept().await.unwrap();
        answer(&mut second, HELLO).await
    };
    let client = async {
        fetch(&network, get(address, "/a")).await.unwrap();
        let accepted = Accepted::default();
        let again = network.send(get(address, "/b"), accepted.clone()).await;
        assert!(accepted.is_marked());
        assert_eq!(
            again
                .unwrap()
                .into_body()
                .collect()
                .await
                .unwrap()
                .to_bytes(),
            "hello"
        );
    };
    let (head, ()) = join(server, client).await;
    assert!(head.starts_with("GET /b "), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_reused_connection_counts_as_accepted_only_when_a_dial_is() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let accepted = Accepted::default();
    let server = async {
        let (mut first, _) = listener.accept().await.unwrap();
        answer(&mut first, HELLO).await;
        read_head(&mut first).await;
        assert!(!accepted.is_marked());
        let beside = listener.accept().await.unwrap();
        first.write_all(HELLO).await.unwrap();
        (first, beside)
    };
    let client = async {
        fetch(&network, get(address, "/")).await.unwrap();
        let slow = network.send(get(address, "/slow"), accepted.clone()).await;
        assert!(accepted.is_marked());
        slow.unwrap().into_body().collect().await.unwrap();
        assert_eq!(network.resting_connections(), 2);
    };
    join(server, client).await;
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_is_gone_is_not_accepted_by_its_resting_connection() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        answer(&mut stream, HELLO).await;
        stream
    };
    let (_silent, first) = join(server, fetch(&network, get(address, "/"))).await;
    first.unwrap();
    drop(listener);
    let accepted = Accepted::default();
    let request = network.send(get(address, "/"), accepted.clone());
    tokio::time::timeout(std::time::Duration::from_secs(2), request)
        .await
        .unwrap_err();
    assert!(!accepted.is_marked());
}

#[tokio::test]
async fn the_second_death_in_a_row_is_reported() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut first, _) = listener.accept().await.unwrap();
        answer(&mut first, HELLO).await;
        read_head(&mut first).await;
        drop(first);
        let (mut second, _) = listener.accept().await.unwrap();
        read_head(&mut second).await;
    };
    let client = async {
        fetch(&network, get(address, "/")).await.unwrap();
        fetch(&network, get(address, "/")).await.unwrap_err()
    };
    let ((), cause) = join(server, client).await;
    assert_eq!(cause, NetError::Truncated);
}

#[tokio::test]
async fn what_must_not_be_repeated_gets_a_connection_of_its_own() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut first, _) = listener.accept().await.unwrap();
        answer(&mut first, HELLO).await;
        let (mut second, _) = listener.accept().await.unwrap();
        answer(&mut second, HELLO).await
    };
    let client = async {
        fetch(&network, get(address, "/")).await.unwrap();
        let post = Request::post(format!("http://{address}/hook")).body(Bytes::new());
        fetch(&network, post.unwrap()).await.unwrap();
    };
    let (head, ()) = join(server, client).await;
    assert!(head.starts_with("POST /hook "), "{head}");
}

#[tokio::test]
async fn f5_a_dropped_body_closes_the_upstream_connection_at_once() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        answer(
            &mut stream,
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc",
        )
        .await;
        stream.read_u8().await.unwrap_err().kind()
    };
    let client = async {
        let mut body = send(&network, get(address, "/")).await.unwrap().into_body();
        let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(first, "abc");
        drop(body);
    };
    let (seen, ()) = join(server, client).await;
    assert_eq!(seen, std::io::ErrorKind::UnexpectedEof);
    assert_eq!(network.resting_connections(), 0);
}

#[tokio::test]
async fn f5_a_dropped_request_closes_the_upstream_connection_at_once() {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let mut request = Box::pin(send(&network, get(address, "/")));
    let mut server = Box::pin(async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        stream
    });
    let mut stream = match futures_util::future::select(&mut server, &mut request).await {
        futures_util::future::Either::Left((stream, _)) => stream,
        futures_util::future::Either::Right(_) => panic!("answered by nobody"),
    };
    drop(request);
    assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
}

/// What reading the whole response of a server that says `bytes` and closes comes to.
async fn told(bytes: &[u8]) -> Result<Bytes, NetError> {
    let network = TokioNetwork::new();
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await;
        // The client may hang up before it heard all.
        let _ = stream.write_all(bytes).await;
        let _ = stream.shutdown().await;
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let client = async {
        let result = fetch(&network, get(address, "/")).await;
        assert_eq!(network.resting_connections(), 0);
        result
    };
    join(server, client).await.1
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_truncated() {
    let result = told(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello").await;
    assert_eq!(result, Err(NetError::Truncated));
}

#[tokio::test]
async fn a_chunked_body_without_its_last_chunk_is_truncated() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let result = told(format!("{head}5\r\nhello\r\n").as_bytes()).await;
    assert_eq!(result, Err(NetError::Truncated));
    let result = told(format!("{head}zz\r\nhello\r\n").as_bytes()).await;
    assert_eq!(result, Err(NetError::Malformed));
}

#[tokio::test]
async fn a_body_without_length_ends_with_its_connection() {
    assert_eq!(
        told(b"HTTP/1.0 200 OK\r\n\r\nhello").await.unwrap(),
        "hello"
    );
}

#[tokio::test]
async fn a_head_that_breaks_off_is_truncated() {
    assert_eq!(
        told(b"HTTP/1.1 200 OK\r\nContent-Le").await,
        Err(NetError::Truncated)
    );
    assert_eq!(told(b"").await, Err(NetError::Truncated));
}

#[tokio::test]
async fn what_is_not_http_is_malformed() {
    assert_eq!(
        told(b"SSH-2.0-OpenSSH_9.2\r\n\r\n").await,
        Err(NetError::Malformed)
    );
    let two_lengths = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx";
    assert_eq!(told(two_lengths).await, Err(NetError::Malformed));
}

#[tokio::test]
async fn a_head_without_end_is_oversized() {
    let mut head = b"HTTP/1.1 200 OK\r\nX-Pad: ".to_vec();
    head.resize(1 << 20, b'x');
    assert_eq!(told(&head).await, Err(NetError::Oversized));
}

#[tokio::test]
async fn nobody_listening_is_refused_and_never_accepted() {
    let (listener, address) = listen().await;
    drop(listener);
    let accepted = Accepted::default();
    let network = TokioNetwork::new();
    let cause = network.send(get(address, "/"), accepted.clone()).await;
    assert_eq!(cause.unwrap_err(), NetError::Refused);
    assert!(!accepted.is_marked());
}

#[tokio::test]
async fn a_name_that_cannot_exist_is_not_found() {
    let request = Request::get("http://no.such.host.invalid/").body(Bytes::new());
    let cause = send(&TokioNetwork::new(), request.unwrap()).await;
    assert_eq!(cause.unwrap_err(), NetError::Dns);
}

#[tokio::test]
async fn a_url_of_another_kind_is_unusable() {
    for url in ["ftp://example.com/", "/relative"] {
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let cause = send(&TokioNetwork::new(), request).await;
        assert_eq!(cause.unwrap_err(), NetError::BadUrl, "{url}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_a_tls_failure() {
    let (listener, address) = listen().await;
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let request = Request::get(format!("https://{address}/")).body(Bytes::new());
    let accepted = Accepted::default();
    let network = TokioNetwork::new();
    let client = async { network.send(request.unwrap(), accepted.clone()).await };
    let ((), cause) = join(server, client).await;
    assert_eq!(cause.unwrap_err(), NetError::Tls);
    assert!(accepted.is_marked(), "TCP stood before TLS failed");
}

/// A folder that says which path it was asked for.
struct Echo;

impl LocalOrigin for Echo {
    fn answer(
        &self,
        request: Request<Bytes>,
    ) -> BoxFuture<'static, Result<Response<LocalBody>, NetError>> {
        let path = Bytes::from(request.uri().to_string());
        let body = Full::new(path)
            .map_err(|never| match never {})
            .boxed_unsync();
        Box::pin(async move { Ok(Response::new(body)) })
    }
}

#[tokio::test]
async fn a_folder_answers_like_a_server() {
    let folders = Folders::from([("shelf".to_owned(), Arc::new(Echo) as Arc<dyn LocalOrigin>)]);
    let network = TokioNetwork::new().with_folders(folders);
    let ask = |uri: &str| Request::get(uri).body(Bytes::new()).unwrap();

    let body = fetch(&network, ask("folder://shelf/track?path=a.flac"))
        .await
        .unwrap();
    assert_eq!(body, "folder://shelf/track?path=a.flac");
    let cause = fetch(&network, ask("folder://attic/track?path=a.flac")).await;
    assert_eq!(cause.unwrap_err(), NetError::Unreachable);
}
