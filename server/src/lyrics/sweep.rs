//! What nobody announces: tracks and lanes that are new, leases that are over, and songs for which something better may exist by now.

use super::{ask_new_lanes, servers};
use crate::hub::{Hub, HubRuntime};
use crate::wanted::sidecars;
use segue_core::io::{Clock, StoreError};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// Tracks put into the queue in one transaction: few enough that a stream's row is not held up.
const PAGE: usize = 500;

/// Songs put back in one transaction, to look for something better.
const UPGRADES: usize = 500;

/// Looks no more often than this, however leases end.
const SELDOM: Duration = Duration::from_millis(250);

/// Looks this often for what is due.
const EVERY: Duration = Duration::from_secs(15);

/// Sweeps until it is dropped.
pub(super) async fn tend<R: HubRuntime>(hub: &Hub<R>) {
    loop {
        told(ask_new_lanes(hub).await);
        told(enqueue_new(hub).await);
        let mut patience = told(give_back(hub).await).unwrap_or(EVERY);
        // What a sync has found out about its servers is good for their lyrics too.
        hub.lookups().lanes().set_servers(servers(hub));
        while !changed_by(hub, patience).await {
            patience = told(give_back(hub).await).unwrap_or(EVERY);
        }
    }
}

fn told<T>(swept: Result<T, StoreError>) -> Option<T> {
    if let Err(error) = &swept {
        tracing::error!(%error, "the queue could not be swept");
    }
    swept.ok()
}

/// Whether the library changes within `patience`.
async fn changed_by<R: HubRuntime>(hub: &Hub<R>, patience: Duration) -> bool {
    let clock = hub.clock();
    let mut changed = pin!(hub.lookups().changed.notified());
    let mut timer = pin!(clock.sleep_until(clock.now() + patience));
    poll_fn(|cx| match changed.as_mut().poll(cx) {
        Poll::Ready(()) => Poll::Ready(true),
        Poll::Pending => timer.as_mut().poll(cx).map(|()| false),
    })
    .await
}

/// Puts every track that has no lyrics, and is not there already, into the queue.
///
/// # Errors
/// The store's.
pub async fn enqueue_new<R: HubRuntime>(hub: &Hub<R>) -> Result<(), StoreError> {
    if hub.lookups().lanes().setup().slots.is_empty() {
        return Ok(());
    }
    let mut after = 0;
    loop {
        let folders = sidecars(hub);
        let page = hub
            .read(move |r| r.tracks_without_lyrics(after, PAGE, &folders))
            .await?;
        let (requests, next) = (page.requests, page.next);
        if !requests.is_empty() {
            let (version, now) = (hub.lookups().providers_version(), hub.clock().wall());
            hub.write(move |w| w.enqueue_many(&requests, version, now))
                .await?;
            hub.wanted().ring();
        }
        match next {
            Some(next) => after = next,
            None => return Ok(()),
        }
    }
}

/// Takes songs back from workers that are gone, and puts those back for which it is time to look for something better. When
/// to do so again: no later than the first lease that is held now ends (Q4).
async fn give_back<R: HubRuntime>(hub: &Hub<R>) -> Result<Duration, StoreError> {
    let now = hub.clock().wall();
    let due = hub.read(|r| r.wakeup()).await?;
    // A lease is over when its last moment has passed.
    if due.lease.is_some_and(|until| until < now) {
        let taken = hub.write(move |w| w.reclaim(now)).await?;
        if !taken.is_empty() {
            tracing::info!(songs = taken.len(), "taken back from workers that are gone");
            hub.wanted().ring();
        }
    }
    let upgrades = due.upgrade.is_some_and(|at| at <= now);
    if upgrades && hub.write(move |w| w.upgrade_due(now, UPGRADES)).await? > 0 {
        hub.wanted().ring();
    }
    let left = due.lease.map(|until| until.millis_since(now));
    let left = left.map(|left| Duration::from_millis(left.max(0).unsigned_abs()));
    Ok(left.map_or(EVERY, |left| left.clamp(SELDOM, EVERY)))
}
