//! LRCLIB in the test's own process: slow and failing as a seed says, and with a memory of who asked for what, and when.

use crate::chance::Chance;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use segue::providers_fake::lrclib::Lrclib;
use segue::providers_fake::{Fault, Served};
use segue_core::Wall;
use segue_core::io::Clock;
use segue_core::time::Tick;
use segue_runtime_tokio::clock::TokioClock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// How it answers for a while.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// An answer takes up to so long.
    pub(crate) slow: Duration,
    /// One answer of so many goes wrong; 0 is none.
    pub(crate) fails_one_in: u64,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Wall,
    /// For pace: a wall clock may step.
    pub(crate) tick: Tick,
    pub(crate) title: String,
}

struct Desk {
    lrclib: Lrclib,
    clock: TokioClock,
    chance: Mutex<(Chance, Manner)>,
    log: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
}

/// The provider.
pub(crate) struct Provider {
    state: Arc<Desk>,
    served: Served,
}

impl Provider {
    pub(crate) async fn start(seed: u64) -> Provider {
        let state = Arc::new(Desk {
            lrclib: Lrclib::new(),
            clock: TokioClock::new(),
            chance: Mutex::new((Chance::of(seed, u64::MAX), Manner::default())),
            log: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let layer = from_fn_with_state(Arc::clone(&state), answer);
        let router = state.lrclib.router().layer(layer);
        let served = Served::start(router).await.expect("a free port");
        Provider { state, served }
    }

    pub(crate) fn lrclib(&self) -> &Lrclib {
        &self.state.lrclib
    }

    pub(crate) fn url(&self) -> String {
        self.served.url()
    }

    /// How it answers from now on.
    pub(crate) fn behave(&self, manner: Manner) {
        self.state.chance.lock().expect("no panic").1 = manner;
    }

    /// All requests so far.
    pub(crate) fn log(&self) -> Vec<Asked> {
        self.state.log.lock().expect("no panic").clone()
    }

    /// How many requests there were.
    pub(crate) fn count(&self) -> usize {
        *self.state.count.borrow()
    }

    /// Ends when there were so many requests.
    pub(crate) async fn asked(&self, number: usize) {
        let mut count = self.state.count.subscribe();
        let reached = count.wait_for(|count| *count >= number).await;
        reached.expect("it is served");
    }
}

async fn answer(State(state): State<Arc<Desk>>, request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default().as_bytes();
    let mut pairs = url::form_urlencoded::parse(query);
    let title = pairs.find(|(name, _)| name == "track_name" || name == "q");
    let asked = Asked {
        at: state.clock.wall(),
        tick: state.clock.now(),
        title: title
            .map(|(_, title)| title.into_owned())
            .unwrap_or_default(),
    };
    let count = {
        let mut log = state.log.lock().expect("no panic");
        log.push(asked);
        log.len()
    };
    state.count.send_replace(count);
    let (wait, fault) = {
        let (chance, manner) = &mut *state.chance.lock().expect("no panic");
        let most = u64::try_from(manner.slow.as_millis()).expect("short");
        let wait = Duration::from_millis(chance.below(most + 1));
        let fails = manner.fails_one_in > 0 && chance.one_in(manner.fails_one_in);
        (wait, fails.then(|| fault(chance)))
    };
    state.clock.sleep_until(state.clock.now() + wait).await;
    if let Some(fault) = fault {
        state.lrclib.script().once(fault);
    }
    next.run(request).await
}

/// None that opens a breaker at once: songs would wait for that, and with them whatever is to be killed.
fn fault(chance: &mut Chance) -> Fault {
    match chance.below(3) {
        0 => Fault::CutShort,
        1 => Fault::Broken,
        _ => Fault::status(500),
    }
}
