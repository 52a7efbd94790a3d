//! One who listens: real HTTP requests, and a memory for what came.

use crate::outcome::{Act, Ending, Head, Heard};
use crate::scenario::{Manner, Play};
use crate::shelf;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, RANGE};
use http_body_util::BodyExt;
use madsim::time::{sleep, timeout};
use segue::upstream::Fault;
use segue_core::io::{Accepted, Clock, Network};
use segue_runtime_sim::{SimBody, SimClock, SimNetwork, SimTrace};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

/// Longer than anything may take. The hub gives up a silent source after half a minute, but a stream that is resumed
/// may go on so for every 16 KiB.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// A listener of one user.
#[derive(Clone)]
pub(crate) struct Listener {
    /// Its number; its user is called like its node.
    pub(crate) number: usize,
    /// The hub.
    pub(crate) hub: SocketAddr,
    /// Its way there.
    pub(crate) network: SimNetwork,
    /// Its clock.
    pub(crate) clock: SimClock,
    /// Where it notes what it hears.
    pub(crate) trace: SimTrace,
    /// The ids of the tracks by number.
    pub(crate) tracks: Vec<String>,
    /// How many sources there are.
    pub(crate) sources: usize,
}

impl Listener {
    /// The user and node.
    pub(crate) fn user(number: usize) -> String {
        format!("listener-{number}")
    }

    /// Credentials for one request that calls itself `name`.
    pub(crate) fn credentials(number: usize, name: &str) -> String {
        let user = Self::user(number);
        format!("u={user}&p=sesame&v=1.16.1&f=json&c={name}")
    }

    /// Does one thing after another.
    pub(crate) async fn play_all(&self, plays: &[Play], act: Act) -> Vec<Heard> {
        let mut heard = Vec::new();
        for (play, n) in plays.iter().zip(0..) {
            sleep(Duration::from_millis(play.after)).await;
            heard.push(self.play(play, act, n).await);
        }
        heard
    }

    /// Makes one request and listens.
    pub(crate) async fn play(&self, play: &Play, act: Act, n: usize) -> Heard {
        let name = format!("{act:?}-{}-{n}", self.number);
        let node = Self::user(self.number);
        self.trace.note(&node, format!("{name} asks: {play:?}"));
        let mut ear = Ear {
            asked: self.clock.now(),
            head: None,
            gathered: Vec::new(),
        };
        let ending = match timeout(PATIENCE, self.listen(play, &name, &mut ear)).await {
            Ok(ending) => ending,
            Err(_) => Ending::Hung,
        };
        let heard = self.remember(play, act, name, ear, ending);
        let head = heard.head.map(|(_, head)| head);
        self.trace.note(
            &node,
            format!(
                "{} hears: {head:?}, {} bytes of {:?}, {:?}",
                heard.name, heard.length, heard.owners, heard.ending
            ),
        );
        heard
    }

    async fn listen(&self, play: &Play, name: &str, ear: &mut Ear) -> Ending {
        let credentials = Self::credentials(self.number, name);
        let id = &self.tracks[play.track];
        let uri = format!("http://{}/rest/stream?{credentials}&id={id}", self.hub);
        let mut request = http::Request::get(uri);
        if let Some(range) = play.part.header() {
            request = request.header(RANGE, range);
        }
        let request = request.body(Bytes::new()).expect("a request");
        let sent = self.network.send(request, Accepted::default());
        let patience = match play.manner {
            Manner::Impatiently(millis) => Duration::from_millis(millis),
            Manner::ToTheEnd | Manner::Slowly(_) | Manner::Pausing(..) | Manner::UpTo(_) => {
                PATIENCE
            }
        };
        match timeout(patience, sent).await {
            Err(_) => Ending::Left,
            Ok(Err(error)) => Ending::Broken(error),
            Ok(Ok(response)) => {
                let (parts, body) = response.into_parts();
                ear.head = Some((self.clock.now(), read_head(&parts)));
                read_body(body, play.manner, &mut ear.gathered).await
            }
        }
    }

    fn remember(&self, play: &Play, act: Act, name: String, ear: Ear, ending: Ending) -> Heard {
        let mut hasher = DefaultHasher::new();
        ear.gathered.hash(&mut hasher);
        let head = ear.head.map(|(_, head)| head);
        let owners = self.owners(play.track, head, &ear.gathered);
        Heard {
            name,
            listener: self.number,
            act,
            play: play.clone(),
            asked: ear.asked,
            head: ear.head,
            over: self.clock.now(),
            over_wall: self.clock.wall(),
            ending,
            length: ear.gathered.len() as u64,
            hash: hasher.finish(),
            // What is a track's from end to end says nothing else.
            leak: owners.is_empty() && String::from_utf8_lossy(&ear.gathered).contains(Fault::LEAK),
            owners,
        }
    }

    /// On which sources the track, from the offset said in the head, begins with `heard`.
    fn owners(&self, track: usize, head: Option<Head>, heard: &[u8]) -> Vec<usize> {
        let Some(head) = head.filter(|head| matches!(head.status, 200 | 206)) else {
            return Vec::new();
        };
        let sources = (0..self.sources).filter(|source| {
            let copy = shelf::bytes(*source, track);
            copy.is_some_and(|copy| begins_with(&copy, head, heard))
        });
        sources.collect()
    }
}

fn begins_with(copy: &[u8], head: Head, heard: &[u8]) -> bool {
    let size = copy.len() as u64;
    let (first, total) = head.part.unwrap_or((0, size));
    let is_as_announced = match (head.announced, head.part) {
        (None, _) => true,
        // More than there is never comes, so such an answer cannot end well.
        (Some(length), None) => length >= size,
        (Some(_), Some(_)) => true,
    };
    let end = first + heard.len() as u64;
    if total != size || !is_as_announced || end > size {
        return false;
    }
    // A source that lies about every byte but the first is still one source.
    copy[first as usize..end as usize] == *heard
        || first > 0 && shelf::lie(size).slice(first, end) == heard
}

/// What has been heard so far.
struct Ear {
    asked: segue_core::Tick,
    head: Option<(segue_core::Tick, Head)>,
    gathered: Vec<u8>,
}

fn read_head(parts: &http::response::Parts) -> Head {
    let text = |name| parts.headers.get(name)?.to_str().ok();
    let part = text(CONTENT_RANGE).and_then(|value| {
        let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
        let (first, _) = range.split_once('-')?;
        Some((first.parse().ok()?, total.parse().ok()?))
    });
    Head {
        status: parts.status.as_u16(),
        announced: text(CONTENT_LENGTH).and_then(|value| value.parse().ok()),
        part,
    }
}

async fn read_body(mut body: SimBody, manner: Manner, gathered: &mut Vec<u8>) -> Ending {
    let mut paused = false;
    loop {
        match before_piece(manner, gathered.len() as u64, &mut paused) {
            ControlFlow::Break(()) => return Ending::Left,
            ControlFlow::Continue(Duration::ZERO) => {}
            ControlFlow::Continue(wait) => sleep(wait).await,
        }
        match body.frame().await {
            None => return Ending::Clean,
            Some(Err(error)) => return Ending::Broken(error),
            Some(Ok(frame)) => gathered.extend_from_slice(&frame.into_data().unwrap_or_default()),
        }
    }
}

/// How long to wait before the next piece, or not to read it any more.
fn before_piece(manner: Manner, so_far: u64, paused: &mut bool) -> ControlFlow<(), Duration> {
    match manner {
        Manner::UpTo(bytes) if so_far >= bytes => ControlFlow::Break(()),
        Manner::Slowly(millis) => ControlFlow::Continue(Duration::from_millis(millis)),
        Manner::Pausing(behind, millis) if so_far >= behind && !*paused => {
            *paused = true;
            ControlFlow::Continue(Duration::from_millis(millis))
        }
        Manner::ToTheEnd | Manner::Pausing(..) | Manner::UpTo(_) | Manner::Impatiently(_) => {
            ControlFlow::Continue(Duration::ZERO)
        }
    }
}
