//! Unfinished files that no delivery knows any more: of a worker that was too slow or was killed, of a track that is gone.
//!
//! The store remembers their names, so nothing is taken away that we did not make ourselves. Looked for at the start and
//! after each pass over the library. A name is kept for a while after its file was seen to be gone: whoever was about to
//! make it may only be slow.

use crate::hub::{Hub, HubRuntime};
use crate::wanted::sidecars;
use segue_core::driver::deliver::gone;
use segue_core::io::{Clock, Place, Seen, Shelf, ShelfError, StoreError};
use segue_sqlite::Unfinished;
use std::time::Duration;

/// No worker is slower than this.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// Names looked at in one sweep.
const MOST: usize = 1_000;

/// Removes what was left; how many files.
///
/// # Errors
/// The store's.
pub async fn remove_leftovers<R: HubRuntime>(hub: &Hub<R>) -> Result<usize, StoreError> {
    let folders = sidecars(hub);
    let (now, mut removed) = (hub.clock().wall(), 0);
    for file in hub.read(|r| r.unfinished(MOST)).await? {
        if !folders.contains(&file.instance_id) {
            continue;
        }
        match remove(hub, &file).await {
            Ok(true) => removed += 1,
            // A folder that is gone has taken the file with it.
            Ok(false) | Err(ShelfError::NotFound) => {
                if file.since + REMEMBERED < now {
                    hub.write(move |w| w.forget_unfinished(&file)).await?;
                }
            }
            Err(error) => tracing::debug!(path = file.path, %error, "an unfinished file is left"),
        }
    }
    Ok(removed)
}

/// Whether it was there. When this ends well, it is not there any more.
async fn remove<R: HubRuntime>(hub: &Hub<R>, file: &Unfinished) -> Result<bool, ShelfError> {
    let place = Place::new(file.instance_id.as_str(), file.path.as_str());
    let shelf = hub.runtime().shelf();
    if shelf.look(&place).await? == Seen::Absent {
        return Ok(false);
    }
    gone(shelf, &place).await?;
    Ok(true)
}
