//! Whether the library is being read, and the wish that it be.

use super::call::Call;
use super::document::Doc;
use super::envelope::ApiError;
use super::shapes;
use crate::hub::{Hub, HubRuntime};

/// `getScanStatus`.
pub(super) async fn get_scan_status<R: HubRuntime>(hub: &Hub<R>) -> Result<Doc, ApiError> {
    let status = hub.sync_state().status();
    let (counts, last_sync) = hub
        .read(|r| {
            let last = r.instances()?.iter().filter_map(|i| i.last_sync).max();
            Ok((r.counts()?, last))
        })
        .await?;
    let count = if status.running {
        status.seen
    } else {
        counts.tracks
    };
    let status = Doc::new()
        .with("scanning", status.running)
        .with("count", count)
        .with("folderCount", counts.instances)
        .with_known("lastScan", status.last.or(last_sync).map(shapes::date));
    Ok(Doc::new().with("scanStatus", status))
}

/// `startScan`, for administrators.
pub(super) async fn start_scan<R: HubRuntime>(hub: &Hub<R>, call: &Call) -> Result<Doc, ApiError> {
    if !call.user.is_admin {
        return Err(ApiError::not_authorized());
    }
    hub.sync_state().request();
    get_scan_status(hub).await
}
