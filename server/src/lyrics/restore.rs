//! Sidecars of ours that somebody has removed: written again from what is stored, without anybody being asked.
//!
//! Looked for after each pass over the library, which has just read the same folders. One that was edited, or moved and
//! replaced by another, is there: it stays as it is (S2).

use super::remove_leftovers;
use crate::hub::{Hub, HubRuntime};
use crate::wanted::sidecars;
use segue_core::io::{Clock, Place, Seen, Shelf, StoreError};
use segue_sqlite::{DeliveryRow, DeliveryStatus};

/// Deliveries looked at between two questions to the store.
const PAGE: usize = 200;

/// Removes and restores at the start and after each pass, until it is dropped.
pub(super) async fn tend<R: HubRuntime>(hub: &Hub<R>) {
    loop {
        match remove_leftovers(hub).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "unfinished files were left, and are removed"),
            Err(error) => tracing::error!(%error, "unfinished files could not be looked for"),
        }
        match restore_missing(hub).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "sidecars are gone, and are written again"),
            Err(error) => tracing::error!(%error, "sidecars that are gone could not be looked for"),
        }
        hub.lookups().passed.notified().await;
    }
}

/// Has every sidecar written again that we delivered, that nobody replaced, and whose track is still there; how many. In
/// folders in which nothing may be written any more, none is missed.
///
/// # Errors
/// The store's.
pub async fn restore_missing<R: HubRuntime>(hub: &Hub<R>) -> Result<usize, StoreError> {
    let (mut after, mut restored) = (0, 0);
    loop {
        let page = hub.read(move |r| r.deliveries(after, PAGE)).await?;
        let Some(last) = page.last() else {
            return Ok(restored);
        };
        after = last.ticket.delivery_id;
        let folders = sidecars(hub);
        let mut gone = Vec::new();
        for row in &page {
            if folders.contains(&row.file.instance_id) && is_gone(hub, row).await {
                gone.push(row.scan_id);
            }
        }
        if !gone.is_empty() {
            restored += gone.len();
            let now = hub.clock().wall();
            let again = move |w: &segue_sqlite::Writer| {
                gone.iter()
                    .try_for_each(|id| w.redeliver(*id, now).map(drop))
            };
            hub.write(again).await?;
            hub.wanted().ring();
        }
    }
}

/// Whether what was delivered is not there while its track is. A folder that is not there, as that of a disk that is not
/// mounted, says nothing about its files.
async fn is_gone<R: HubRuntime>(hub: &Hub<R>, row: &DeliveryRow) -> bool {
    let (DeliveryStatus::Delivered, Some(file)) = (row.status, &row.delivered) else {
        return false;
    };
    let look = async |path: &str| {
        let place = Place::new(row.file.instance_id.as_str(), path);
        hub.runtime().shelf().look(&place).await
    };
    look(&file.sidecar).await == Ok(Seen::Absent)
        && matches!(look(&row.file.path).await, Ok(Seen::File(_) | Seen::Other))
}
