//! Connections at rest, by origin. Bounded in number and age; looked at before they are used again.

use super::dial::Origin;
use super::link::Link;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Connections kept for one origin: a client that skips through tracks needs few.
const PER_ORIGIN: usize = 8;

/// Connections kept in all.
const IN_ALL: usize = 64;

/// Servers commonly close after 5 to 75 s; what they closed is found out at the next use.
const REST_AT_MOST: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(super) struct Pool {
    resting: Mutex<BTreeMap<Origin, Vec<Resting>>>,
}

struct Resting {
    link: Link,
    since: Instant,
}

impl Pool {
    /// The connection to `origin` that rested least and still stands.
    pub(super) fn take(&self, origin: &Origin) -> Option<Link> {
        let mut resting = self.lock();
        forget_the_old(&mut resting);
        let links = resting.get_mut(origin)?;
        while let Some(mut candidate) = links.pop() {
            if candidate.link.is_reusable() {
                return Some(candidate.link);
            }
        }
        resting.remove(origin);
        None
    }

    /// Keeps `link` for the next exchange with `origin`, or closes it when it is not fit or not needed.
    pub(super) fn give(&self, origin: Origin, mut link: Link) {
        if !link.is_reusable() {
            return;
        }
        let mut resting = self.lock();
        forget_the_old(&mut resting);
        let in_all: usize = resting.values().map(Vec::len).sum();
        let links = resting.entry(origin).or_default();
        if in_all < IN_ALL && links.len() < PER_ORIGIN {
            let since = Instant::now();
            links.push(Resting { link, since });
        }
    }

    /// Closes all connections to `origin`: one of them proved stale.
    pub(super) fn forget(&self, origin: &Origin) {
        self.lock().remove(origin);
    }

    /// Connections at rest.
    pub(super) fn len(&self) -> usize {
        self.lock().values().map(Vec::len).sum()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Origin, Vec<Resting>>> {
        // A panic elsewhere leaves the map whole: every change to it is one call.
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_the_old(resting: &mut BTreeMap<Origin, Vec<Resting>>) {
    resting.retain(|_, links| {
        links.retain(|link| link.since.elapsed() < REST_AT_MOST);
        !links.is_empty()
    });
}
