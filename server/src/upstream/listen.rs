//! The fake upstream on a loopback port, with a door that can be shut.

use super::connection::serve_connection;
use super::faults::{Door, Faults};
use super::shared::{Counters, Seen, Setup, Shared};
use futures_util::future::{Either, select};
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
                drop(std::mem::replace(&mut way, Way::Shut));
                way = Way::new(door, reserved.local_addr()).await;
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
                Door::Open => Way::Open(listen(address, BACKLOG)?),
                Door::Refuse => Way::Shut,
                Door::BlackHole => {
                    let listener = listen(address, 0)?;
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

fn listen(address: SocketAddr, backlog: u32) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(backlog)
}
