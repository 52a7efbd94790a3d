//! Who listens to what right now, as clients report it with `scrobble submission=false`.
//!
//! In memory: one slot per user and client, forgotten when the track should have ended.

use segue_core::Tick;
use segue_core::driver::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// How long a report stands when nothing newer comes.
const STANDS_FOR: Duration = Duration::from_secs(10 * 60);

/// One listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listening {
    /// Who.
    pub user: String,
    /// With which client (`c`).
    pub client: String,
    /// To which track.
    pub track_id: String,
    /// Since when.
    pub since: Tick,
}

/// All listeners.
#[derive(Debug, Default)]
pub struct NowPlaying(Mutex<BTreeMap<(String, String), Listening>>);

impl NowPlaying {
    /// A client says what it plays.
    pub fn report(&self, listening: Listening) {
        let key = (listening.user.clone(), listening.client.clone());
        let mut slots = lock(&self.0);
        let now = listening.since;
        slots.retain(|_, l| now.since(l.since) < STANDS_FOR);
        slots.insert(key, listening);
    }

    /// Everyone whose report still stands at `now`.
    pub fn list(&self, now: Tick) -> Vec<Listening> {
        let slots = lock(&self.0);
        slots
            .values()
            .filter(|l| now.since(l.since) < STANDS_FOR)
            .cloned()
            .collect()
    }
}
