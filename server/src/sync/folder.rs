//! One pass over a music folder.

use crate::hub::{Hub, HubRuntime};
use crate::sources::Source;
use segue_core::catalog::model::Pass;
use segue_core::io::StoreError;
use std::path::Path;

/// Everything the folder has; the inner error is one sentence for the operator.
pub(super) async fn pull<R: HubRuntime>(
    hub: &Hub<R>,
    source: &Source,
    root: &Path,
) -> Result<Result<Pass, String>, StoreError> {
    let id = source.id().to_owned();
    let asked = id.clone();
    let previous = hub.read(move |r| r.previous_pass(&asked)).await?;
    let folders = hub.folders();
    let root = root.to_owned();
    let noting = hub.clone();
    let pass = hub
        .runtime()
        .compute(move || {
            folders.scan(&root, &previous, &|tracks| {
                noting.sync_state().note(&id, tracks as u64);
            })
        })
        .await;
    Ok(pass)
}
