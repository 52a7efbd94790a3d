//! Who a request comes from when a proxy stands between: `server.trusted_proxies`.
//!
//! Forwarded headers are believed only from the addresses that the operator names; loopback is not one of them by
//! itself (architecture section 8).

use crate::config::Addresses;
use crate::hub::{Hub, HubRuntime};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::HeaderMap;
use std::net::{IpAddr, SocketAddr};

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Puts the client's own address where the proxy's was.
pub(crate) async fn see_through_proxies<R: HubRuntime>(
    State(hub): State<Hub<R>>,
    mut request: Request,
    next: Next,
) -> Response {
    let trusted = &hub.settings().trusted_proxies;
    if let Some(peer) = request.extensions().get::<SocketAddr>().copied()
        && let Some(client) = client(peer.ip(), request.headers(), trusted)
    {
        request.extensions_mut().insert(SocketAddr::new(client, 0));
        request.headers_mut().remove(FORWARDED_FOR);
    }
    next.run(request).await
}

/// The nearest address that is no trusted proxy, when the one that connected is one. Read from the right: what stands
/// further left was written by somebody we know nothing of.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[Addresses]) -> Option<IpAddr> {
    let is_trusted = |ip: IpAddr| trusted.iter().any(|range| range.contains(ip));
    if !is_trusted(peer.to_canonical()) {
        return None;
    }
    let lines = headers.get_all(FORWARDED_FOR).iter();
    let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
    let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
    let mut nearest = None;
    for hop in hops {
        let ip: IpAddr = hop.trim().parse().ok()?;
        nearest = Some(ip.to_canonical());
        if !is_trusted(ip.to_canonical()) {
            break;
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(peer: &str, forwarded: &[&str]) -> Option<String> {
        let trusted = ["127.0.0.1", "10.0.0.0/8"].map(|range| Addresses::parse(range).unwrap());
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, line.parse().unwrap());
        }
        client(peer.parse().unwrap(), &headers, &trusted).map(|ip| ip.to_string())
    }

    #[test]
    fn only_a_trusted_proxy_is_believed_and_only_its_own_word() {
        assert_eq!(seen("127.0.0.1", &["192.0.2.7"]), Some("192.0.2.7".into()));
        assert_eq!(
            seen("::ffff:127.0.0.1", &["192.0.2.7"]),
            Some("192.0.2.7".into())
        );
        assert_eq!(seen("192.0.2.1", &["192.0.2.7"]), None);
        let spoofed = ["1.1.1.1, 192.0.2.7, 10.1.2.3"];
        assert_eq!(seen("127.0.0.1", &spoofed), Some("192.0.2.7".into()));
        let two_lines = ["1.1.1.1", "192.0.2.7"];
        assert_eq!(seen("127.0.0.1", &two_lines), Some("192.0.2.7".into()));
        assert_eq!(seen("127.0.0.1", &["nonsense"]), None);
        assert_eq!(seen("127.0.0.1", &[]), None);
        assert_eq!(seen("127.0.0.1", &["10.1.2.3"]), Some("10.1.2.3".into()));
    }
}
