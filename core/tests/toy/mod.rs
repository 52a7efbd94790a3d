//! A toy world for the drivers: a clock that jumps to the next timer, and a network of scripted hosts.
//! One thread, no sockets, no waiting.
#![allow(dead_code)]

pub(crate) mod scene;

use bytes::Bytes;
use http_body::{Body, Frame};
use segue_core::io::{Accepted, Clock, NetError, Network, NoShelf, Runtime, Store, StoreError};
use segue_core::{Tick, Wall};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// What one host does with every request.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    /// Until it accepts; `None` never does.
    pub(crate) accept: Option<Duration>,
    /// Fails the exchange at once after `accept`.
    pub(crate) fails: Option<NetError>,
    /// From there until the head.
    pub(crate) head: Option<Duration>,
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Each piece of the body after its pause.
    pub(crate) body: Vec<(Duration, Result<Bytes, NetError>)>,
    /// Ranges are honoured over this content, instead of `body`.
    pub(crate) content: Option<Bytes>,
    /// With `content`: breaks after so many bytes of each response.
    pub(crate) cut: Option<usize>,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            accept: Some(Duration::ZERO),
            fails: None,
            head: Some(Duration::ZERO),
            status: 200,
            headers: vec![("content-type", "audio/flac".to_owned())],
            body: Vec::new(),
            content: None,
            cut: None,
        }
    }
}

impl Host {
    pub(crate) fn serving(content: &[u8]) -> Self {
        Host {
            content: Some(Bytes::copy_from_slice(content)),
            ..Host::default()
        }
    }

    pub(crate) fn refusing() -> Self {
        Host {
            fails: Some(NetError::Refused),
            ..Host::default()
        }
    }

    /// Neither accepts nor refuses.
    pub(crate) fn black_hole() -> Self {
        Host {
            accept: None,
            ..Host::default()
        }
    }

    pub(crate) fn saying(status: u16, content_type: &str, body: &str) -> Self {
        Host {
            status,
            headers: vec![("content-type", content_type.to_owned())],
            body: vec![(Duration::ZERO, Ok(Bytes::copy_from_slice(body.as_bytes())))],
            ..Host::default()
        }
    }
}

#[derive(Default)]
struct State {
    now: u64,
    timers: BTreeMap<u64, Vec<Waker>>,
    hosts: BTreeMap<String, Host>,
    log: Vec<String>,
    open: usize,
    peak: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Toy(Arc<Mutex<State>>);

impl Toy {
    pub(crate) fn new(hosts: impl IntoIterator<Item = (&'static str, Host)>) -> Self {
        let toy = Toy::default();
        for (name, host) in hosts {
            toy.set(name, host);
        }
        toy
    }

    pub(crate) fn set(&self, name: &str, host: Host) {
        self.0.lock().unwrap().hosts.insert(name.to_owned(), host);
    }

    /// Host names in the order in which they were contacted.
    pub(crate) fn contacted(&self) -> Vec<String> {
        self.0.lock().unwrap().log.clone()
    }

    /// Exchanges that still hold something.
    pub(crate) fn open(&self) -> usize {
        self.0.lock().unwrap().open
    }

    /// The most exchanges that held something at once.
    pub(crate) fn peak(&self) -> usize {
        self.0.lock().unwrap().peak
    }

    pub(crate) fn at(&self) -> Duration {
        Duration::from_nanos(self.0.lock().unwrap().now)
    }

    /// Time passes with nobody waiting.
    pub(crate) fn pass(&self, by: Duration) {
        self.0.lock().unwrap().now += by.as_nanos() as u64;
    }

    /// Runs to the end, jumping from timer to timer.
    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(out) = future.as_mut().poll(&mut cx) {
                return out;
            }
            self.jump();
        }
    }

    /// Runs until `deadline`; `None` when it is not done by then, and dropped.
    pub(crate) fn run_until<T>(
        &self,
        deadline: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let mut future = Box::pin(future);
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(out) = future.as_mut().poll(&mut cx) {
                return Some(out);
            }
            self.jump();
            if self.at() >= deadline {
                return None;
            }
        }
    }

    fn jump(&self) {
        let mut state = self.0.lock().unwrap();
        let (at, _) = state
            .timers
            .pop_first()
            .expect("everything waits and nothing will ever happen");
        state.now = state.now.max(at);
    }

    async fn sleep(&self, by: Duration) {
        let at = self.now() + by;
        self.sleep_until(at).await;
    }
}

impl Clock for Toy {
    fn now(&self) -> Tick {
        Tick::from_nanos(self.0.lock().unwrap().now)
    }

    fn wall(&self) -> Wall {
        Wall(1_000_000 + i64::try_from(self.at().as_millis()).unwrap())
    }

    fn sleep_until(&self, at: Tick) -> impl Future<Output = ()> + Send + 'static {
        let toy = self.clone();
        std::future::poll_fn(move |cx| {
            let mut state = toy.0.lock().unwrap();
            if state.now >= at.as_nanos() {
                return Poll::Ready(());
            }
            let waiting = state.timers.entry(at.as_nanos()).or_default();
            waiting.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

/// Counts an exchange as open for as long as it lives.
struct Held(Toy);

impl Held {
    fn new(toy: &Toy) -> Self {
        let mut state = toy.0.lock().unwrap();
        state.open += 1;
        state.peak = state.peak.max(state.open);
        Held(toy.clone())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.0.lock().unwrap().open -= 1;
    }
}

pub(crate) struct ToyBody {
    toy: Toy,
    pieces: VecDeque<(Duration, Result<Bytes, NetError>)>,
    pause: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    _held: Held,
}

impl std::fmt::Debug for ToyBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ToyBody")
    }
}

impl Body for ToyBody {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, NetError>>> {
        let Some((pause, _)) = self.pieces.front() else {
            return Poll::Ready(None);
        };
        let at = self.toy.now() + *pause;
        let toy = self.toy.clone();
        let pause = self
            .pause
            .get_or_insert_with(|| Box::pin(toy.sleep_until(at)));
        if pause.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.pause = None;
        let piece = self.pieces.pop_front().map(|(_, piece)| piece);
        Poll::Ready(piece.map(|piece| piece.map(Frame::data)))
    }
}

impl Network for Toy {
    type Body = ToyBody;

    async fn send(
        &self,
        request: http::Request<Bytes>,
        accepted: Accepted,
    ) -> Result<http::Response<ToyBody>, NetError> {
        let name = request.uri().host().unwrap_or_default().to_owned();
        let host = {
            let mut state = self.0.lock().unwrap();
            state.log.push(name.clone());
            state.hosts.get(&name).cloned().ok_or(NetError::Dns)?
        };
        let held = Held::new(self);
        match host.accept {
            Some(after) => self.sleep(after).await,
            None => std::future::pending().await,
        }
        if let Some(error) = host.fails {
            // No network says so of itself.
            assert!(error != NetError::Panicked, "a reader that breaks");
            return Err(error);
        }
        accepted.mark();
        match host.head {
            Some(after) => self.sleep(after).await,
            None => std::future::pending().await,
        }
        let mut response = http::Response::builder();
        for (name, value) in &host.headers {
            response = response.header(*name, value);
        }
        let mut pieces = VecDeque::from(host.body.clone());
        let mut status = host.status;
        if let Some(content) = &host.content {
            let range = request.headers().get("range");
            let range = range.and_then(|r| segue_core::source::range::parse(r.to_str().unwrap()));
            let total = content.len() as u64;
            let mut piece = content.clone();
            if let Some((first, last)) = range.and_then(|range| range.within(total)) {
                status = 206;
                let content_range = format!("bytes {first}-{last}/{total}");
                response = response.header("content-range", content_range);
                piece = content.slice(first as usize..=last as usize);
            }
            response = response.header("content-length", piece.len());
            pieces.extend(cut_up(piece, host.cut));
        }
        let body = ToyBody {
            toy: self.clone(),
            pieces,
            pause: None,
            _held: held,
        };
        Ok(response.status(status).body(body).unwrap())
    }
}

/// A body in pieces of a thousand bytes, broken after `cut` of them.
fn cut_up(content: Bytes, cut: Option<usize>) -> Vec<(Duration, Result<Bytes, NetError>)> {
    let end = cut.unwrap_or(usize::MAX).min(content.len());
    let whole = content.slice(..end);
    let pieces = whole
        .chunks(1000)
        .map(|piece| Ok(Bytes::copy_from_slice(piece)));
    let broken = (end < content.len()).then_some(Err(NetError::Truncated));
    pieces
        .chain(broken)
        .map(|piece| (Duration::ZERO, piece))
        .collect()
}

impl Store for Toy {
    type Reader = ();
    type Writer = ();

    async fn read<T, F>(&self, question: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&()) -> Result<T, StoreError> + Send + 'static,
    {
        question(&())
    }

    async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&()) -> Result<T, StoreError> + Send + 'static,
    {
        change(&())
    }
}

impl Runtime for Toy {
    type Clock = Toy;
    type Network = Toy;
    type Store = Toy;
    type Shelf = NoShelf;

    fn clock(&self) -> &Toy {
        self
    }

    fn network(&self) -> &Toy {
        self
    }

    fn store(&self) -> &Toy {
        self
    }

    fn shelf(&self) -> &NoShelf {
        &NoShelf
    }

    async fn compute<T, F>(&self, work: F) -> T
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        work()
    }
}
