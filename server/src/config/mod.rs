//! The configuration: `segue.toml`, overlaid by the environment and the command line, typed and checked.
//!
//! Order: flags, environment `SEGUE_SECTION__KEY`, file, defaults. Every problem is reported, not only the first, with
//! its place and what to do. `docs/configuration.md` describes every key and is tested against this code.

mod apply;
pub mod edit;
mod federation;
mod lookups;
mod masked;
mod problem;
mod providers;
mod read;
mod section;
mod sources;
mod tree;

pub use federation::Federation;
pub use problem::{Place, Problem, Problems};
pub use providers::{Lyrics, OwnProvider, Provider, ProviderMode, Providers, Queue, Reach};
pub use read::{Layers, Loaded};
pub(crate) use section::reason;
pub use sources::{AuthChoice, SourceConfig, SourceKey};

use segue_core::failover::Limits;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The file that is read when no other is named.
pub const DEFAULT_FILE: &str = "segue.toml";

/// The whole configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// `[server]`.
    pub server: Server,
    /// `[[sources]]`.
    pub sources: Vec<SourceConfig>,
    /// `[sync]`.
    pub sync: Sync,
    /// `[stream]`.
    pub stream: Limits,
    /// `[providers]`.
    pub providers: Providers,
    /// `[lyrics]`.
    pub lyrics: Lyrics,
    /// `[queue]`.
    pub queue: Queue,
    /// `[federation]`.
    pub federation: Federation,
}

/// `[server]`: where the hub listens and what it keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Whether `listen` was set, so that no other port may be taken instead.
    pub listen_is_set: bool,
    /// Where it keeps its database, keys and pictures.
    pub data_dir: PathBuf,
    /// Its own URL as clients see it, when it is behind a proxy.
    pub public_url: Option<url::Url>,
    /// Whose forwarded headers are believed. Nobody's by default, not even those of loopback.
    pub trusted_proxies: Vec<Addresses>,
}

impl Default for Server {
    fn default() -> Self {
        Server {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4747)),
            listen_is_set: false,
            data_dir: PathBuf::from("segue-data"),
            public_url: None,
            trusted_proxies: Vec::new(),
        }
    }
}

/// `[sync]`: how sources are pulled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sync {
    /// How often; zero means only when asked.
    pub interval: Duration,
    /// Requests under way to one source.
    pub concurrency: usize,
}

impl Default for Sync {
    fn default() -> Self {
        Sync {
            interval: Duration::from_secs(15 * 60),
            concurrency: 4,
        }
    }
}

/// Addresses that begin alike: `10.0.0.0/8`, or a single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Addresses {
    first: IpAddr,
    bits: u8,
}

impl Addresses {
    /// Reads an address, or an address and a number of bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse().ok()?)),
            None => (text, None),
        };
        let first: IpAddr = address.parse().ok()?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then_some(Addresses { first, bits })
    }

    /// Whether `address` is one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        let begins_alike = |one: u128, other: u128, width: u32| {
            let dropped = width - u32::from(self.bits);
            one.checked_shr(dropped).unwrap_or(0) == other.checked_shr(dropped).unwrap_or(0)
        };
        match (self.first, address) {
            (IpAddr::V4(one), IpAddr::V4(other)) => {
                begins_alike(one.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                begins_alike(one.to_bits(), other.to_bits(), 128)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

impl std::fmt::Display for Addresses {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_begin_alike() {
        let contains = |range: &str, one: &str| {
            let range = Addresses::parse(range).unwrap();
            range.contains(one.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.200.3.4"));
        assert!(!contains("10.0.0.0/8", "11.0.0.0"));
        assert!(contains("192.168.1.7", "192.168.1.7"));
        assert!(!contains("192.168.1.7", "192.168.1.8"));
        assert!(contains("0.0.0.0/0", "1.2.3.4"));
        assert!(!contains("0.0.0.0/0", "::1"));
        assert!(contains("fd00::/8", "fd12::1"));
        assert!(contains("::/0", "::1"));
        for wrong in ["10.0.0.0/33", "ten", "", "::1/129", "10.0.0.0/"] {
            assert_eq!(Addresses::parse(wrong), None, "{wrong}");
        }
    }
}
