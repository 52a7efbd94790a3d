//! From an origin to a connected, encrypted where asked, socket.

use super::error;
use super::socket::Stream;
use crate::sockopt;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use segue_core::io::{Accepted, NetError};
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

/// How long one address of a host may keep the next one waiting. Well below the failover's stagger, so
/// that a host with one dead address of two is not taken for a slow host (RFC 8305 section 5 allows 100 ms).
const ADDRESS_STAGGER: Duration = Duration::from_millis(100);

/// Scheme, host and port of an `http` or `https` URI: what a connection is good for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin {
    encrypted: bool,
    /// Lower case; an IPv6 address without its brackets.
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of `uri`.
    pub(super) fn of(uri: &http::Uri) -> Result<Self, NetError> {
        let encrypted = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(NetError::BadUrl),
        };
        let host = uri.host().ok_or(NetError::BadUrl)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(NetError::BadUrl);
        }
        Ok(Origin {
            encrypted,
            host: host.to_ascii_lowercase(),
            port: uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 }),
        })
    }

    /// As the `Host` header says it: without the scheme's own port, without user information.
    pub(super) fn authority(&self) -> String {
        let host = match self.host.contains(':') {
            true => format!("[{}]", self.host),
            false => self.host.clone(),
        };
        match (self.encrypted, self.port) {
            (false, 80) | (true, 443) => host,
            (_, port) => format!("{host}:{port}"),
        }
    }
}

/// The certificates to trust: the machine's own; where it has none, Mozilla's list as compiled in.
pub(super) fn machine_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// TLS as a client of `roots`: HTTP/1.1 only, no client certificate.
pub(super) fn tls_client(roots: RootCertStore) -> Result<Arc<ClientConfig>, NetError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| NetError::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Connects to `origin`, marking `accepted` as soon as TCP stands. Waits as long as the network does.
pub(super) async fn dial(
    origin: &Origin,
    tls: impl FnOnce() -> Result<Arc<ClientConfig>, NetError>,
    accepted: &Accepted,
) -> Result<Stream, NetError> {
    let stream = connect_any(&addresses(origin).await?).await?;
    accepted.mark();
    // Errors, if any, come back at the first use.
    let _ = sockopt::bound_unanswered(&stream);
    if !origin.encrypted {
        return Ok(Stream::Plain(stream));
    }
    let name = ServerName::try_from(origin.host.clone()).map_err(|_| NetError::BadUrl)?;
    let stream = TlsConnector::from(tls()?)
        .connect(name, stream)
        .await
        .map_err(|cause| error::of_handshake(&cause))?;
    Ok(Stream::Tls(Box::new(stream)))
}

async fn addresses(origin: &Origin) -> Result<Vec<SocketAddr>, NetError> {
    if let Ok(ip) = origin.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, origin.port)]);
    }
    let found: Vec<_> = tokio::net::lookup_host((origin.host.as_str(), origin.port))
        .await
        .map_err(|_| NetError::Dns)?
        .collect();
    match found.is_empty() {
        true => Err(NetError::Dns),
        false => Ok(alternate_families(found)),
    }
}

/// The resolver's order, with the two families taking turns (RFC 8305 section 4).
fn alternate_families(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first_is_v4 = found.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|a| a.is_ipv4() == first_is_v4);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut turns = Vec::new();
    loop {
        match (first.next(), second.next()) {
            (None, None) => return turns,
            (a, b) => turns.extend(a.into_iter().chain(b)),
        }
    }
}

type Attempt = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// The first of `addresses` that accepts. The next one starts when one failed or after
/// [`ADDRESS_STAGGER`]; dropping this drops them all.
async fn connect_any(addresses: &[SocketAddr]) -> Result<TcpStream, NetError> {
    if let [only] = addresses {
        return connect(*only).await.map_err(|e| error::of_connect(&e));
    }
    let mut waiting = addresses.iter().copied();
    let mut running: Vec<Attempt> = Vec::new();
    let mut failure = None;
    let mut stagger = pin!(tokio::time::sleep_until(Instant::now()));
    poll_fn(move |cx| {
        loop {
            if let Poll::Ready(stream) = poll_attempts(&mut running, &mut failure, cx) {
                return Poll::Ready(Ok(stream));
            }
            if !running.is_empty() && (waiting.len() == 0 || stagger.as_mut().poll(cx).is_pending())
            {
                return Poll::Pending;
            }
            match waiting.next() {
                Some(address) => running.push(Box::pin(connect(address))),
                None => return Poll::Ready(Err(failure.unwrap_or(NetError::Dns))),
            }
            stagger.as_mut().reset(Instant::now() + ADDRESS_STAGGER);
        }
    })
    .await
}

/// Ready when one of `running` connected. Those that failed are taken out; `failure` keeps what tells most.
fn poll_attempts(
    running: &mut Vec<Attempt>,
    failure: &mut Option<NetError>,
    cx: &mut Context<'_>,
) -> Poll<TcpStream> {
    let mut index = 0;
    while let Some(attempt) = running.get_mut(index) {
        match attempt.as_mut().poll(cx) {
            Poll::Ready(Ok(stream)) => return Poll::Ready(stream),
            Poll::Ready(Err(cause)) => {
                let cause = error::of_connect(&cause);
                // A family this machine has no route for must not hide that the other one refused.
                if matches!(failure, None | Some(NetError::Unreachable)) {
                    *failure = Some(cause);
                }
                drop(running.remove(index));
            }
            Poll::Pending => index += 1,
        }
    }
    Poll::Pending
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    sockopt::send_at_once(&socket)?;
    socket.connect(address).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(uri: &str) -> Result<Origin, NetError> {
        Origin::of(&uri.parse().unwrap())
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        assert_eq!(
            origin("http://Music.Example/rest"),
            origin("http://music.example:80/")
        );
        assert_ne!(
            origin("http://music.example/"),
            origin("https://music.example/")
        );
        assert_eq!(origin("ftp://music.example/"), Err(NetError::BadUrl));
        assert_eq!(origin("/rest/ping"), Err(NetError::BadUrl));
    }

    #[test]
    fn the_authority_has_no_user_and_no_default_port() {
        let authority = |uri| origin(uri).unwrap().authority();
        assert_eq!(authority("http://u:p@music.example/"), "music.example");
        assert_eq!(
            authority("https://music.example:4533/"),
            "music.example:4533"
        );
        assert_eq!(authority("http://[::1]:4533/"), "[::1]:4533");
    }

    #[tokio::test]
    async fn a_dialled_socket_sends_at_once() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let uri = format!("http://{}/", listener.local_addr().unwrap());
        let origin = origin(&uri).unwrap();
        let stream = dial(&origin, || Err(NetError::Tls), &Accepted::default()).await;
        let Ok(Stream::Plain(socket)) = stream else {
            panic!("not a clear connection");
        };
        assert!(socket.nodelay().unwrap());
    }

    #[tokio::test]
    async fn a_dead_address_gives_way_to_the_next_one() {
        let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let alive = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addresses = [&dead, &alive].map(|l| l.local_addr().unwrap());
        drop(dead);
        let stream = connect_any(&addresses).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addresses[1]);
        drop(alive);
        let cause = connect_any(&addresses).await.unwrap_err();
        assert_eq!(cause, NetError::Refused);
    }

    #[test]
    fn families_take_turns_in_the_resolver_s_order() {
        let a = |s: &str| s.parse::<SocketAddr>().unwrap();
        let (v6, v6b) = (a("[::1]:1"), a("[::2]:1"));
        let (v4, v4b) = (a("1.1.1.1:1"), a("2.2.2.2:1"));
        assert_eq!(
            alternate_families(vec![v6, v6b, v4, v4b]),
            [v6, v4, v6b, v4b]
        );
        assert_eq!(alternate_families(vec![v4, v4b]), [v4, v4b]);
    }
}
