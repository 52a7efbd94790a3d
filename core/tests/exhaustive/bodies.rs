//! Every committed stream in which a few things happen: pieces, silence, breaks and the end, with a client who
//! reads, pauses or leaves, and with copies that may go on, through the real body.

use crate::explore::{Broken, quietly};
use crate::toy::scene::*;
use crate::toy::{Host, Toy};
use bytes::Bytes;
use http_body::Body;
use segue_core::driver::body::{Closing, RelayBody};
use segue_core::failover::relay::Ending;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// What the source does after its first piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Act {
    /// Sends a piece.
    Piece,
    /// Sends a piece after a second.
    Late,
    /// Sends a piece long after the idle budget.
    Silent,
    /// Sends twice as much as is left to come.
    TooMuch,
    Break,
}

const ACTS: [Act; 5] = [Act::Piece, Act::Late, Act::Silent, Act::TooMuch, Act::Break];

/// What the client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Client {
    Reads,
    /// Comes back after each piece only when every source would be given up.
    Pauses,
    /// Leaves after so many pieces.
    Leaves(usize),
}

const CLIENTS: [Client; 5] = [
    Client::Reads,
    Client::Pauses,
    Client::Leaves(0),
    Client::Leaves(1),
    Client::Leaves(2),
];

/// What another source has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copy {
    Nothing,
    Same,
    /// As long, yet other bytes.
    Other,
    /// The same bytes and more.
    Longer,
}

const COPIES: [Copy; 4] = [Copy::Nothing, Copy::Same, Copy::Other, Copy::Longer];

/// A piece, in bytes.
const PIECE: usize = 8;

/// The whole, when its length is told.
const TOTAL: usize = 3 * PIECE;

/// What of a stream is expected.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    bytes: usize,
    clean: bool,
    ending: Ending,
    served: Vec<(usize, u64)>,
}

/// One stream.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    acts: Vec<Act>,
    announced: bool,
    client: Client,
    copy: Copy,
}

impl Stream {
    fn content() -> Vec<u8> {
        music(1, 4 * TOTAL)
    }

    fn host(&self) -> Host {
        let content = Bytes::from(Self::content());
        let mut at = PIECE;
        let mut body = vec![(Duration::ZERO, Ok(content.slice(..PIECE)))];
        for act in &self.acts {
            let (pause, len) = match act {
                Act::Piece => (0, PIECE),
                Act::Late => (1, PIECE),
                Act::Silent => (40, PIECE),
                Act::TooMuch => (0, 2 * TOTAL.saturating_sub(at).max(PIECE)),
                Act::Break => {
                    let error = segue_core::io::NetError::Reset;
                    body.push((Duration::ZERO, Err(error)));
                    break;
                }
            };
            let end = (at + len).min(content.len());
            body.push((Duration::from_secs(pause), Ok(content.slice(at..end))));
            at = end;
        }
        let mut headers = vec![("content-type", "audio/flac".to_owned())];
        if self.announced {
            headers.push(("content-length", TOTAL.to_string()));
        }
        Host {
            headers,
            body,
            ..Host::default()
        }
    }

    /// Worked out from what everybody does.
    fn expected(&self) -> Expected {
        let room = |passed: usize| match self.announced {
            true => TOTAL - passed,
            false => usize::MAX,
        };
        let mut pieces = vec![PIECE];
        let mut ending = match self.announced {
            true => Ending::Truncated,
            false => Ending::Completed,
        };
        for act in &self.acts {
            let passed: usize = pieces.iter().sum();
            if room(passed) == 0 {
                break;
            }
            let len = match act {
                Act::Piece | Act::Late => PIECE,
                Act::TooMuch => 2 * TOTAL.saturating_sub(passed).max(PIECE),
                Act::Silent => {
                    ending = Ending::Stalled;
                    break;
                }
                Act::Break => {
                    ending = Ending::Truncated;
                    break;
                }
            };
            pieces.push(len.min(room(passed)));
        }
        let whole = room(pieces.iter().sum()) == 0;
        let first: usize = pieces.iter().sum();
        if whole {
            ending = Ending::Completed;
        } else if self.copy == Copy::Same && self.announced {
            pieces.push(TOTAL - first);
            ending = Ending::Completed;
        }
        if let Client::Leaves(after) = self.client {
            // Whoever has everything has not left.
            let unfinished = room(pieces.iter().sum()) > 0;
            if after < pieces.len() || (after == pieces.len() && unfinished) {
                pieces.truncate(after);
                ending = Ending::ClientGone;
            }
        }
        let bytes: usize = pieces.iter().sum();
        let mut served = vec![(0, bytes.min(first) as u64)];
        if bytes > first {
            served.push((1, (bytes - first) as u64));
        }
        Expected {
            bytes,
            clean: ending == Ending::Completed,
            ending,
            served,
        }
    }

    /// Plays it, and says which rule that broke.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (toy, bank) = (Toy::new([("first", self.host())]), Arc::new(bank()));
        let content = Self::content();
        match self.copy {
            Copy::Nothing => {}
            Copy::Same => toy.set("second", Host::serving(&content[..TOTAL])),
            Copy::Other => toy.set("second", Host::serving(&music(2, TOTAL))),
            Copy::Longer => toy.set("second", Host::serving(&content)),
        }
        let opened = open_all(&toy, &bank, 1);
        let copies: &[usize] = match self.copy {
            Copy::Nothing => &[],
            Copy::Same | Copy::Other | Copy::Longer => &[1],
        };
        let (body, closings) = relayed(&toy, &bank, opened, copies);
        let (bytes, clean) = self.read(&toy, body)?;
        let told = closings.lock().unwrap().clone();
        if toy.open() != 0 || bank.lock().unwrap().outstanding() != 0 {
            return Err("F5: something is left".to_owned());
        }
        if !content.starts_with(&bytes) {
            return Err(format!("F2: other bytes after {} are in it", bytes.len()));
        }
        let [Closing { ending, served }] = told.as_slice() else {
            return Err(format!("F6: told {told:?}"));
        };
        let seen = Expected {
            bytes: bytes.len(),
            clean,
            ending: *ending,
            served: served.clone(),
        };
        let expected = self.expected();
        match seen == expected {
            true => Ok(()),
            false => Err(format!("3.7: {seen:?}, not {expected:?}")),
        }
    }

    fn read(&self, toy: &Toy, mut body: RelayBody<Toy>) -> Result<(Vec<u8>, bool), String> {
        let mut bytes = Vec::new();
        let mut pieces = 0;
        loop {
            if self.client == Client::Leaves(pieces) {
                // The server lets a body go that has said all it will.
                let over = body.size_hint().exact() == Some(0);
                return Ok((bytes, over));
            }
            let next = toy.run(poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)));
            let end = next.as_ref().is_none_or(Result::is_err);
            if end && toy.open() > 0 {
                return Err("F5: it is over, and the upstream is held".to_owned());
            }
            match next {
                None => return Ok((bytes, true)),
                Some(Err(_)) => return Ok((bytes, false)),
                Some(Ok(frame)) => bytes.extend(frame.into_data().unwrap_or_default()),
            }
            pieces += 1;
            if self.client == Client::Pauses {
                toy.pass(Duration::from_secs(100));
            }
        }
    }
}

/// Every stream of up to three acts.
pub(crate) fn all() -> Result<usize, Broken> {
    let mut scripts = vec![Vec::new()];
    for length in 1..=3_u32 {
        for n in 0..ACTS.len().pow(length) {
            let act = |k| ACTS[n / ACTS.len().pow(k) % ACTS.len()];
            scripts.push((0..length).map(act).collect());
        }
    }
    let mut count = 0;
    for acts in scripts {
        for client in CLIENTS {
            for (announced, copy) in COPIES
                .map(|copy| (true, copy))
                .into_iter()
                .chain([(false, Copy::Nothing)])
            {
                let stream = Stream {
                    acts: acts.clone(),
                    announced,
                    client,
                    copy,
                };
                count += 1;
                quietly(|| stream.check()).map_err(|why| Broken {
                    after: count,
                    story: format!("{why}\n    {stream:?}"),
                })?;
            }
        }
    }
    Ok(count)
}
