//! Whether a sync runs, and how far it is.

use segue_core::Wall;
use segue_core::driver::lock;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard, Notify};

/// Whether a sync runs, and how far it is.
#[derive(Debug, Default)]
pub struct SyncState {
    turn: AsyncMutex<()>,
    shown: Mutex<Shown>,
    wish: Mutex<Wish>,
    wanted: Notify,
}

/// What is to be synchronised when the loop comes round.
#[derive(Debug, Default)]
enum Wish {
    #[default]
    Nothing,
    Some(BTreeSet<String>),
    All,
}

#[derive(Debug, Default)]
struct Shown {
    running: bool,
    seen: BTreeMap<String, u64>,
    last: Option<Wall>,
}

/// What `getScanStatus` and the command line show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanStatus {
    /// Whether a sync runs.
    pub running: bool,
    /// Tracks seen so far by the running one.
    pub seen: u64,
    /// When the last one ended.
    pub last: Option<Wall>,
}

impl SyncState {
    /// Waits for the turn to run a sync; it is shown as running until the turn is given back.
    pub(super) async fn turn(&self) -> Turn<'_> {
        let held = self.turn.lock().await;
        let mut shown = lock(&self.shown);
        shown.running = true;
        shown.seen.clear();
        Turn {
            state: self,
            _held: held,
        }
    }

    /// Somebody wants a sync now. One that is running does not count: what it has read may be old.
    pub fn request(&self) {
        *lock(&self.wish) = Wish::All;
        self.wanted.notify_one();
    }

    /// Somebody wants one source synchronised now.
    pub fn request_of(&self, source: &str) {
        let mut wish = lock(&self.wish);
        match &mut *wish {
            Wish::Nothing => *wish = Wish::Some([source.to_owned()].into()),
            Wish::Some(sources) => {
                sources.insert(source.to_owned());
            }
            Wish::All => {}
        }
        drop(wish);
        self.wanted.notify_one();
    }

    /// What is wanted since the last time: each source by itself, or all with `None`.
    pub(super) fn take_wish(&self) -> Vec<Option<String>> {
        match std::mem::take(&mut *lock(&self.wish)) {
            Wish::Nothing => Vec::new(),
            Wish::Some(sources) => sources.into_iter().map(Some).collect(),
            Wish::All => vec![None],
        }
    }

    /// Ends when a sync is wanted; any number of wishes at once are one.
    pub async fn requested(&self) {
        self.wanted.notified().await;
    }

    /// How it stands.
    pub fn status(&self) -> ScanStatus {
        let shown = lock(&self.shown);
        ScanStatus {
            running: shown.running,
            seen: shown.seen.values().sum(),
            last: shown.last,
        }
    }

    /// A source's tracks seen so far.
    pub(super) fn note(&self, source: &str, tracks: u64) {
        lock(&self.shown).seen.insert(source.to_owned(), tracks);
    }
}

/// The right to run a sync; it shows as running for as long as this lives, however the sync ends.
pub(super) struct Turn<'a> {
    state: &'a SyncState,
    _held: MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// The sync was carried out, at `now`.
    pub(super) fn done(self, now: Wall) {
        lock(&self.state.shown).last = Some(now);
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.state.shown).running = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_gather_and_one_for_all_is_enough() {
        let state = SyncState::default();
        assert_eq!(state.take_wish(), []);
        for source in ["b", "a", "b"] {
            state.request_of(source);
        }
        assert_eq!(state.take_wish(), [Some("a".into()), Some("b".into())]);
        state.request_of("a");
        state.request();
        state.request_of("b");
        assert_eq!(state.take_wish(), [None]);
        assert_eq!(state.take_wish(), []);
    }
}
