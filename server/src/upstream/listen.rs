//! The fake upstream on a loopback port, with a door that can be shut.

use super::connection::serve_connection;
use super::faults::{Door, Faults};
use super::shared::{Counters, Seen, Setup, Shared};
use futures_util::future::{Either, select};
use segue_core::io::Clock;
use segue_core::time::Tick;
use segue_runtime_tokio::clock::TokioClock;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const BACKLOG: u32 = 1024;
/// How long [`Upstream::until`] waits before it calls the test failed.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an address in use is left alone.
const AGAIN: Duration = Duration::from_millis(5);

/// An upstream that listens. Dropping it closes everything.
pub struct Upstream {
    shared: Shared,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Upstream {
    /// Listens on a free loopback port.
    pub async fn start(setup: Setup) -> io::Result<Self> {
        // Bound and never listening: keeps the port ours while the door is shut, and shut means refused.
        let reserved = TcpSocket::new_v4()?;
        reserved.set_reuseaddr(true)?;
        reserved.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = reserved.local_addr()?;
        let listener = listen(address, BACKLOG)?;
        let shared = Shared::new(setup);
        shared.door_moved(0);
        let task = tokio::spawn(accept(listener, reserved, shared.clone(), shared.door()));
        Ok(Upstream {
            shared,
            address,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL that a hub is given: without `/rest`, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.shared.setup().prefix)
    }

    /// The state behind it.
    pub fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The switches.
    pub fn faults(&self) -> Faults {
        self.shared.faults()
    }

    /// What has happened so far.
    pub fn counters(&self) -> Counters {
        self.shared.counters()
    }

    /// The last requests, oldest first.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen()
    }

    /// Waits until the counters satisfy `enough`.
    ///
    /// # Panics
    /// When that takes longer than half a minute: what was waited for will not happen any more.
    pub async fn until(&self, enough: impl FnMut(&Counters) -> bool) -> Counters {
        match tokio::time::timeout(PATIENCE, self.shared.until(enough)).await {
            Ok(counters) => counters,
            Err(_) => panic!("waited in vain; {:?}", self.counters()),
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
        self.shared.cut_connections();
    }
}

async fn accept(
    listener: TcpListener,
    reserved: TcpSocket,
    shared: Shared,
    mut wanted: watch::Receiver<(u64, Door)>,
) {
    let mut way = Way::Open(listener);
    loop {
        let accepted = match &way {
            Way::Open(listener) => {
                let changed = pin!(wanted.changed());
                match select(changed, pin!(listener.accept())).await {
                    Either::Left((Ok(()), _)) => None,
                    Either::Left((Err(_), _)) => return,
                    Either::Right((accepted, _)) => Some(accepted),
                }
            }
            Way::Shut | Way::Full { .. } => match wanted.changed().await {
                Ok(()) => None,
                Err(_) => return,
            },
        };
        match accepted {
            Some(Ok((stream, _))) => {
                let _ = stream.set_nodelay(true);
                tokio::spawn(serve_connection(stream, TokioClock::new(), shared.clone()));
            }
            // Out of descriptors or the like: the test that did this sees its own refusals.
            Some(Err(_)) => tokio::task::yield_now().await,
            None => {
                let (number, door) = *wanted.borrow_and_update();
                if !matches!((door, &way), (Door::Open, Way::Open(_))) {
                    drop(std::mem::replace(&mut way, Way::Shut));
                    way = Way::new(door, reserved.local_addr()).await;
                }
                shared.door_moved(number);
            }
        }
    }
}

/// The listener in one of its states.
enum Way {
    Open(TcpListener),
    Shut,
    Full {
        _listener: TcpListener,
        _filler: Vec<TcpStream>,
    },
}

impl Way {
    async fn new(door: Door, address: io::Result<SocketAddr>) -> Way {
        let way = async {
            let address = address?;
            Ok::<_, io::Error>(match door {
                Door::Open => Way::Open(listen_again(address, BACKLOG).await?),
                Door::Refuse => Way::Shut,
                Door::BlackHole => {
                    let listener = listen_again(address, 0).await?;
                    Way::Full {
                        _filler: fill(address).await,
                        _listener: listener,
                    }
                }
            })
        };
        match way.await {
            Ok(way) => way,
            Err(error) => {
                tracing::error!(%error, "the fake upstream cannot listen again");
                Way::Shut
            }
        }
    }
}

/// Connects until a connection is no longer accepted: one is enough for a backlog of zero, but kernels round.
async fn fill(address: SocketAddr) -> Vec<TcpStream> {
    let mut filler = Vec::new();
    while let Ok(Ok(stream)) =
        tokio::time::timeout(Duration::from_millis(50), TcpStream::connect(address)).await
    {
        filler.push(stream);
    }
    filler
}

/// Listens where a listener was closed a moment ago. A process that is being started meanwhile holds a copy of all
/// descriptors until it runs, and so keeps the address in use.
async fn listen_again(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let clock = TokioClock::new();
    loop {
        match listen(address, backlog) {
            Err(error)
                if error.kind() == io::ErrorKind::AddrInUse
                    && clock.now().since(Tick::ZERO) < PATIENCE =>
            {
                clock.sleep_until(clock.now() + AGAIN).await;
            }
            listened => return listened,
        }
    }
}

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}
