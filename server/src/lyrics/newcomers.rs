//! Lanes that were added to the configuration: asked for what the others did not have, and only they are asked for it.

use crate::hub::{Hub, HubRuntime};
use crate::wanted;
use segue_core::io::{Clock, StoreError};
use segue_sqlite::Which;
use std::collections::BTreeSet;

/// Where the names of the lanes are kept that there were the last time.
const SETTING: &str = "lyrics.lanes";

/// Songs put back in one transaction.
const STEP: usize = 500;

/// Puts songs back for the lanes that were not there the last time: those that nobody had, those of which all that was found
/// was refused, and those whose words are not timed word by word; how many. At the very first start nothing is put back.
///
/// The names are noted last: after a crash it goes on, for songs that a lane was asked for are not put back again.
///
/// # Errors
/// The store's.
pub async fn ask_new_lanes<R: HubRuntime>(hub: &Hub<R>) -> Result<usize, StoreError> {
    let names: BTreeSet<String> = wanted::lanes(hub).into_iter().collect();
    let noted = hub.read(|r| r.setting(SETTING)).await?;
    let before: Option<BTreeSet<String>> = noted.and_then(|text| serde_json::from_str(&text).ok());
    if names.is_empty() || before.as_ref() == Some(&names) {
        return Ok(0);
    }
    let mut put_back = 0;
    for lane in names.difference(before.as_ref().unwrap_or(&names)) {
        let songs = lacking(hub, lane).await? + improvable(hub, lane).await?;
        tracing::info!(
            lane,
            songs,
            "a new lane is asked for what others did not have"
        );
        put_back += songs;
    }
    let text = serde_json::json!(names).to_string();
    hub.write(move |w| w.set_setting(SETTING, &text)).await?;
    if put_back > 0 {
        hub.wanted().ring();
    }
    Ok(put_back)
}

/// Songs that nobody had.
async fn lacking<R: HubRuntime>(hub: &Hub<R>, lane: &str) -> Result<usize, StoreError> {
    let mut songs = 0;
    loop {
        let (which, now) = (Which::NotAskedOf(lane.to_owned()), hub.clock().wall());
        let some = hub.write(move |w| w.recheck(&which, STEP, now)).await?;
        songs += some;
        if some < STEP {
            return Ok(songs);
        }
    }
}

/// Songs for which it may have something better.
async fn improvable<R: HubRuntime>(hub: &Hub<R>, lane: &str) -> Result<usize, StoreError> {
    let (mut songs, mut after) = (0, 0);
    loop {
        let (of, now) = (lane.to_owned(), hub.clock().wall());
        let some = hub
            .write(move |w| w.upgrade_for(&of, after, STEP, now))
            .await?;
        songs += some.len();
        match some.last() {
            Some(last) => after = *last,
            None => return Ok(songs),
        }
    }
}
