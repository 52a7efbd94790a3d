//! Songs that somebody waits for: the bell that wakes whoever looks songs up, and the tracks that are being listened to.
//!
//! A request only leaves a note here ([`Wanted::played`]), so a stream never waits for the queue. One loop beside each
//! hub ([`tend`]) puts the noted tracks at the head of the queue and rings.

use crate::hub::{Hub, HubRuntime};
use crate::sources::LinkSpec;
use segue_core::Tick;
use segue_core::driver::lock;
use segue_core::io::{Clock, StoreError};
use segue_core::queue::{Priority, Status};
use segue_sqlite::Enqueued;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::sync::Notify;

/// Notes kept at once. More tracks than this are not listened to in a moment; a client that walks through a library is
/// served by the sweep.
const NOTES: usize = 1_024;

/// A track that was noted within this time is not noted again: a client that seeks opens a stream each time.
const AGAIN: Duration = Duration::from_secs(60);

/// What a hub's requests and its workers tell each other.
#[derive(Debug, Default)]
pub struct Wanted {
    notes: Mutex<Notes>,
    noted: Notify,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Notes {
    waiting: Vec<String>,
    seen: BTreeMap<String, Tick>,
}

impl Notes {
    /// Whether it is new.
    fn take_down(&mut self, track_id: &str, now: Tick) -> bool {
        if let Some(before) = self.seen.get(track_id)
            && now.since(*before) < AGAIN
        {
            return false;
        }
        if self.seen.len() >= NOTES {
            self.seen.retain(|_, at| now.since(*at) < AGAIN);
        }
        if self.seen.len() >= NOTES || self.waiting.len() >= NOTES {
            return false;
        }
        self.seen.insert(track_id.to_owned(), now);
        self.waiting.push(track_id.to_owned());
        true
    }
}

impl Wanted {
    /// Somebody listens to this track. Costs a lock and no more.
    pub fn played(&self, track_id: &str, now: Tick) {
        if lock(&self.notes).take_down(track_id, now) {
            self.noted.notify_one();
        }
    }

    /// Something in the queue may be due: whoever looks songs up should look now.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Ends when somebody rings; any number of rings at once are one, and one that nobody waited for is kept.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    async fn next(&self) -> Vec<String> {
        loop {
            let waiting = std::mem::take(&mut lock(&self.notes).waiting);
            if !waiting.is_empty() {
                return waiting;
            }
            self.noted.notified().await;
        }
    }
}

/// Notes a track that is listened to, if it is to be looked up for that (`lyrics.on_play`).
pub(crate) fn note<R: HubRuntime>(hub: &Hub<R>, track_id: &str) {
    if hub.settings().on_play {
        hub.wanted().played(track_id, hub.clock().now());
    }
}

/// Puts noted tracks at the head of the queue, until the hub is gone. One such loop runs beside each hub.
pub async fn tend<R: HubRuntime>(hub: Hub<R>) {
    loop {
        for track in hub.wanted().next().await {
            if let Err(error) = raise(&hub, track, Priority::PLAYED).await {
                tracing::warn!(%error, "a played track could not be put into the queue");
            }
        }
    }
}

/// Puts a track into the queue, or raises it there, unless it has its answer; rings when it may be due now. Whether it
/// waits to be looked up.
///
/// # Errors
/// The store's.
pub async fn raise<R: HubRuntime>(
    hub: &Hub<R>,
    track_id: String,
    priority: Priority,
) -> Result<bool, StoreError> {
    let sidecars = sidecars(hub);
    let request = hub
        .read(move |r| match r.lyrics_of_track(&track_id)? {
            Some(_) => Ok(None),
            None => r.request_for(&track_id, &sidecars, priority),
        })
        .await?;
    let Some(request) = request else {
        return Ok(false);
    };
    let (version, now) = (providers_version(hub), hub.clock().wall());
    let enqueued = hub
        .write(move |w| w.enqueue(&request, version, now))
        .await?;
    let waits = match enqueued {
        Enqueued::New { .. } => true,
        Enqueued::Joined { status, .. } => match status {
            Status::Pending | Status::Failed | Status::Processing => true,
            Status::Done | Status::Deferred | Status::Parked | Status::Retired => false,
        },
        Enqueued::Refused(_) => false,
    };
    if waits {
        hub.wanted().ring();
    }
    Ok(waits)
}

/// The set of lanes as one number, which new rows of the queue are stamped with (contracts section 5).
pub(crate) fn providers_version<R: HubRuntime>(hub: &Hub<R>) -> u32 {
    hub.lookups().providers_version()
}

/// The names of the lanes, in the order in which they are asked.
pub(crate) fn lanes<R: HubRuntime>(hub: &Hub<R>) -> Vec<String> {
    let setup = hub.lookups().lanes().setup();
    let names = setup.slots.iter().map(|slot| slot.name().to_owned());
    names.collect()
}

/// The folders beside whose files lyrics are written.
pub fn sidecars<R: HubRuntime>(hub: &Hub<R>) -> Vec<String> {
    let sources = hub.sources();
    let folders = sources.iter().filter(|source| match source.link() {
        LinkSpec::Folder { write_sidecars, .. } => *write_sidecars,
        LinkSpec::Subsonic { .. } => false,
    });
    folders.map(|source| source.id().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_is_noted_once_in_a_while() {
        let mut notes = Notes::default();
        let at = Tick::from_millis;
        assert!(notes.take_down("a", at(0)));
        assert!(!notes.take_down("a", at(59_999)));
        assert!(notes.take_down("b", at(59_999)));
        assert!(notes.take_down("a", at(60_000)));
        assert_eq!(notes.waiting, ["a", "b", "a"]);
    }

    #[test]
    fn a_walk_through_a_library_is_not_kept() {
        let mut notes = Notes::default();
        let taken = (0..5_000).filter(|n| notes.take_down(&n.to_string(), Tick::ZERO));
        assert_eq!(taken.count(), NOTES);
        notes.waiting.clear();
        assert!(notes.take_down("later", Tick::from_millis(60_000)));
        assert_eq!(notes.seen.len(), 1);
    }
}
