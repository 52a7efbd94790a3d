//! `segue serve`.

use super::data::Claim;
use super::failure::Failure;
use super::user::{FirstAdmin, first_admin};
use super::{Common, ServeArgs};
use crate::assemble::{self, Setup, assemble};
use crate::config::{Config, Layers};
use crate::hub::Hub;
use crate::world::World;
use segue_runtime_tokio::serve::raise_descriptor_limit;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::pin;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) async fn serve(args: ServeArgs) -> Result<(), Failure> {
    let config = args.common.load(args.listen.clone())?.config;
    let data_dir = config.server.data_dir.clone();
    let claim = Claim::take_alone(&data_dir)?;
    let listener = listen(config.server.listen).await?;
    let url = url_of(listener.local_addr()?);
    raise_descriptor_limit();
    let hub = assemble(Setup {
        data_dir: data_dir.clone(),
        sources: config.source_specs()?,
        settings: config.settings(false),
    })
    .await?;
    let (shutdown, hangup) = (shutdown()?, signal(SignalKind::hangup())?);
    // Last of what can fail: a password that was made up must be shown.
    let admin = first_admin(&data_dir, &claim, |name| std::env::var(name).ok()).await?;
    claim.answers_at(&url);
    greet(&url, &config, admin.as_ref());
    let reloading = tokio::spawn(reload(hangup, hub.clone(), args.common, args.listen));
    let served = assemble::run(hub, listener, shutdown).await;
    reloading.abort();
    Ok(served?)
}

/// Listens, or says why not and what to do.
pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::new(match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("something listens on {address} already; stop it, or choose another address with --listen")
            }
            io::ErrorKind::PermissionDenied => {
                format!("{address} may not be listened on; ports below 1024 are for the system, choose another with --listen")
            }
            io::ErrorKind::AddrNotAvailable => {
                format!("{} is no address of this machine; use 0.0.0.0 for all of its addresses", address.ip())
            }
            _ => format!("{address}: {error}"),
        })
    })
}

/// Where a client on this machine finds what listens on `address`.
pub(crate) fn url_of(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

fn greet(url: &str, config: &Config, admin: Option<&FirstAdmin>) {
    println!("Segue {} listens on {}", env!("CARGO_PKG_VERSION"), url);
    match admin {
        Some(FirstAdmin {
            name,
            password: Some(password),
        }) => {
            println!("Log in as `{name}` with the password {password}");
            println!("It is shown this once; `segue user passwd {name}` changes it.");
        }
        Some(FirstAdmin {
            name,
            password: None,
        }) => println!("Log in as `{name}`."),
        None => {}
    }
    if config.sources.is_empty() {
        println!("There are no sources yet. Add one and start again:");
        println!("  segue source add home --url http://127.0.0.1:4533 --username NAME");
        println!("  segue source add shelf --path /srv/music");
    }
}

/// Ends when the process is asked to. The question is heard from now on, not only once this is waited for.
pub(crate) fn shutdown() -> io::Result<impl Future<Output = ()>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        let interrupted = pin!(interrupt.recv());
        let terminated = pin!(terminate.recv());
        futures_util::future::select(interrupted, terminated).await;
        tracing::info!("ending; what plays gets a moment to finish");
    })
}

/// On SIGHUP reads the configuration again and takes up its sources and lanes: a source that is gone is played from no more,
/// at once (F17), and a lane is asked no more; what else changed is used after the next start.
async fn reload(mut hangup: Signal, hub: Hub<World>, common: Common, listen: Option<String>) {
    while hangup.recv().await.is_some() {
        let layers = Layers {
            file: common.file(),
            environment: std::env::vars_os().filter_map(super::text).collect(),
            listen: listen.clone(),
            data_dir: common.data.clone(),
        };
        match layers.load() {
            Ok(loaded) => take_up(&hub, &loaded.config).await,
            Err(problems) => tracing::error!("the configuration is left as it was: {problems}"),
        }
    }
}

async fn take_up(hub: &Hub<World>, config: &Config) {
    let before = hub.sources();
    let specs = match config.source_specs() {
        Ok(specs) => specs,
        Err(problem) => {
            tracing::error!("the sources are left as they were: {problem}");
            return;
        }
    };
    if let Err(error) = assemble::reload(hub, specs).await {
        tracing::error!(%error, "the new sources could not be entered");
    }
    if let Err(error) = assemble::look_up(hub, &config.lyrics_settings()).await {
        tracing::error!(%error, "the lanes are left as they were");
    }
    let now = hub.sources();
    for source in before.iter().filter(|s| now.get(s.id()).is_none()) {
        tracing::info!(source = source.id(), "not played from any more");
    }
    for source in now.iter().filter(|s| before.get(s.id()).is_none()) {
        tracing::info!(source = source.id(), "played from as soon as it is read");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_that_is_taken_is_told_with_what_to_do() {
        let taken = listen("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = taken.local_addr().unwrap();
        let told = listen(address).await.unwrap_err();
        let expected = format!(
            "something listens on {address} already; stop it, or choose another address with --listen"
        );
        assert_eq!(told, Failure::new(expected));
    }

    #[test]
    fn a_hub_on_all_addresses_is_found_on_loopback() {
        let url = |address: &str| url_of(address.parse().unwrap());
        assert_eq!(url("0.0.0.0:1"), "http://127.0.0.1:1");
        assert_eq!(url("[::]:1"), "http://[::1]:1");
        assert_eq!(url("192.168.1.2:1"), "http://192.168.1.2:1");
    }
}
