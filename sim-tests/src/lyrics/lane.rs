//! A lane's server: the project's own fakes of LRCLIB and Musixmatch on simulated sockets, which answer as they are told.

use super::scenario::{Answer, Knows, Scenario};
use super::songs::{ARTIST, SECONDS, TITLES, lines, plain, synced};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use madsim::runtime::{Handle, NodeHandle};
use madsim::time::sleep;
use segue::providers_fake::lrclib::{Lrclib, Record};
use segue::providers_fake::{Fault, Script, Tune, Words, musixmatch};
use segue_core::driver::lock;
use segue_core::provider::{self, Kind};
use segue_core::source::subsonic::Secret;
use segue_runtime_sim::{Life, Links, http};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The lanes, best rank first.
pub(crate) const NAMES: [&str; Scenario::LANES] = ["lrclib", "musixmatch", "mirror"];

/// How long one request of a lane may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

const TOKEN: &str = "6f1c2b7a9d8e4f30a1b2c3d4e5f60718293a4b5c6d7e8f9001122334";

/// What is left to be said, before all is right.
type Left = Arc<Mutex<VecDeque<Answer>>>;

/// A lane and the node it runs on.
pub(crate) struct LaneServer {
    pub(crate) node: NodeHandle,
    pub(crate) at: SocketAddr,
    number: usize,
    left: Left,
    knowledge: Knowledge,
}

#[derive(Clone)]
enum Knowledge {
    Lrclib(Lrclib),
    Musixmatch(musixmatch::Fake),
}

impl Knowledge {
    fn script(&self) -> Script {
        match self {
            Knowledge::Lrclib(lrclib) => lrclib.script().clone(),
            Knowledge::Musixmatch(fake) => fake.script().clone(),
        }
    }
}

impl LaneServer {
    /// Lane `number` of a scenario, which serves at once.
    pub(crate) fn build(number: usize, scenario: &Scenario, links: &Links) -> LaneServer {
        let at = at(number);
        let knows = scenario.songs.iter().map(|tune| tune.knows[number]);
        let knows: Vec<Knows> = knows.collect();
        let knowledge = match NAMES[number] {
            "musixmatch" => {
                let tunes = (0..).zip(&knows);
                let tunes = tunes.filter_map(|(song, knows)| tune(song, number, *knows));
                Knowledge::Musixmatch(musixmatch::Fake::new(TOKEN, tunes.collect()))
            }
            _ => {
                let lrclib = Lrclib::new();
                for (song, knows) in (0..).zip(&knows) {
                    if let Some(record) = record(song, number, *knows) {
                        lrclib.publish(record);
                    }
                }
                Knowledge::Lrclib(lrclib)
            }
        };
        let left: Left = Arc::new(Mutex::new(scenario.lanes[number].iter().copied().collect()));
        let saying = Saying {
            left: Arc::clone(&left),
            knowledge: knowledge.clone(),
        };
        let links = links.clone();
        let node = Handle::current()
            .create_node()
            .name(NAMES[number])
            .ip(at.ip())
            .init(move || {
                let (saying, links) = (saying.clone(), links.clone());
                async move {
                    let served = http::serve(at, saying.router(), links, Life::default()).await;
                    panic!("a lane stopped serving: {served:?}");
                }
            })
            .build();
        LaneServer {
            node,
            at,
            number,
            left,
            knowledge,
        }
    }

    /// From now on all is right.
    pub(crate) fn heal(&self) {
        lock(&self.left).clear();
    }

    /// It knows this of a song from now on; nobody forgets a song altogether.
    pub(crate) fn learns(&self, song: usize, knows: Knows) {
        match &self.knowledge {
            Knowledge::Lrclib(lrclib) => {
                if let Some(record) = record(song, self.number, knows) {
                    lrclib.publish(record);
                    lrclib.forget_searches();
                }
            }
            Knowledge::Musixmatch(fake) => {
                if let Some(tune) = tune(song, self.number, knows) {
                    fake.learn(tune);
                }
            }
        }
    }

    /// As the operator has set it up.
    pub(crate) fn settings(&self, spacing: u64) -> provider::Settings {
        let base_url = url::Url::parse(&format!("http://{}", self.at)).expect("a URL");
        provider::Settings {
            name: NAMES[self.number].to_owned(),
            spacing: Duration::from_millis(spacing),
            timeout: TIMEOUT,
            kind: match NAMES[self.number] {
                "musixmatch" => Kind::Musixmatch(provider::musixmatch::Settings {
                    base_url: Some(base_url),
                    token: Some(Secret::new(TOKEN.to_owned())),
                    ..provider::musixmatch::Settings::default()
                }),
                _ => Kind::Lrclib { base_url },
            },
        }
    }
}

/// Where a lane is.
pub(crate) fn at(number: usize) -> SocketAddr {
    let number = u8::try_from(number + 1).expect("few lanes");
    SocketAddr::from(([10, 1, 0, number], 8080))
}

fn record(song: usize, lane: usize, knows: Knows) -> Option<Record> {
    let record = Record::new(TITLES[song], ARTIST, f64::from(SECONDS));
    match knows {
        Knows::Nothing => None,
        Knows::Instrumental => Some(record.instrumental()),
        Knows::Plain => Some(record.plain(&plain(song, lane))),
        Knows::Line => Some(record.synced(&synced(song, lane))),
    }
}

fn tune(song: usize, lane: usize, knows: Knows) -> Option<Tune> {
    let words = match knows {
        Knows::Nothing => return None,
        Knows::Instrumental => Words::Instrumental,
        Knows::Plain => Words::Plain(plain(song, lane)),
        Knows::Line => Words::ByLine(lines(song, lane)),
    };
    Some(Tune::new(ARTIST, TITLES[song], SECONDS, words))
}

#[derive(Clone)]
struct Saying {
    left: Left,
    knowledge: Knowledge,
}

impl Saying {
    fn router(self) -> Router {
        let inner = match &self.knowledge {
            Knowledge::Lrclib(lrclib) => lrclib.router(),
            Knowledge::Musixmatch(fake) => fake.router(),
        };
        inner.layer(from_fn_with_state(self, answer))
    }
}

async fn answer(State(saying): State<Saying>, request: Request, next: Next) -> Response {
    let answer = lock(&saying.left).pop_front().unwrap_or(Answer::After(5));
    let fault = match answer {
        Answer::After(millis) => {
            sleep(Duration::from_millis(millis)).await;
            None
        }
        Answer::Status(status) => Some(Fault::status(status)),
        Answer::SlowDown(seconds) => Some(Fault::status(429).retry_after(seconds)),
        Answer::Garbage => Some(Fault::Body("<b>Not now</b>".to_owned())),
        Answer::CutShort => Some(Fault::CutShort),
        Answer::Reset => Some(Fault::Broken),
        Answer::Oversized => Some(Fault::Oversized),
        Answer::Elsewhere => Some(Fault::Redirect("http://10.9.9.9/".to_owned())),
        Answer::Hang => Some(Fault::Hang),
    };
    // The fake takes it up in the same breath.
    match fault {
        Some(fault) => saying.knowledge.script().once(fault),
        None => saying.knowledge.script().once_right(),
    }
    next.run(request).await
}
