//! Pulls what the sources have, and merges it beside the requests.
//!
//! One synchronisation at a time; a second request waits for its turn. Nothing a source does removes rows: only
//! a complete pass that did not see them (product section 4).

mod folder;
mod state;
pub(crate) mod subsonic;

pub use state::{ScanStatus, SyncState};

use crate::hub::{Hub, HubRuntime};
use crate::sources::{LinkSpec, Source};
use segue_core::Wall;
use segue_core::catalog::merge;
use segue_core::catalog::model::Pass;
use segue_core::driver::contained;
use segue_core::io::{Clock, StoreError};
use segue_sqlite::PassReport;
use serde::Serialize;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// What a sync of one source came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// The source.
    pub id: String,
    /// Whether it could be read whole.
    pub complete: bool,
    /// Artists, albums and tracks it showed.
    pub artists: usize,
    /// See `artists`.
    pub albums: usize,
    /// See `artists`.
    pub tracks: usize,
    /// Rows that are new.
    pub added: u64,
    /// Rows that changed.
    pub updated: u64,
    /// Rows that are gone.
    pub removed: u64,
    /// What the operator should know.
    pub warnings: Vec<String>,
    /// Why it could not be read, in one sentence.
    pub error: Option<String>,
}

/// What a sync came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// By source, in order of id.
    pub sources: Vec<SourceReport>,
    /// Tracks in the merged library.
    pub tracks: u64,
    /// Rows the merge changed.
    pub changed: u64,
    /// Rows the merge had to leave out, one sentence each.
    pub skipped: Vec<String>,
}

/// What may be done with a sudden drop of more than half of a source's tracks.
pub use segue_sqlite::DropGuard;

/// Synchronises one source, or all, and merges. Waits when another sync runs.
pub fn sync<R: HubRuntime>(hub: Hub<R>, only: Option<String>, guard: DropGuard) -> Syncing {
    Box::pin(run(hub, only, guard))
}

/// A sync under way. Boxed: the compiler cannot see that the bare future is `Send` (rust-lang/rust 102211).
pub type Syncing = Pin<Box<dyn Future<Output = Result<SyncReport, StoreError>> + Send>>;

async fn run<R: HubRuntime>(
    hub: Hub<R>,
    only: Option<String>,
    guard: DropGuard,
) -> Result<SyncReport, StoreError> {
    let hub = &hub;
    let turn = hub.sync_state().turn().await;
    let mut report = SyncReport::default();
    for source in hub.sources().iter() {
        if only.as_deref().is_none_or(|id| id == source.id()) {
            report.sources.push(sync_source(hub, source, guard).await?);
        }
    }
    merge_library(hub, &mut report).await?;
    turn.done(hub.clock().wall());
    hub.lookups().library_changed();
    Ok(report)
}

async fn sync_source<R: HubRuntime>(
    hub: &Hub<R>,
    source: &Source,
    guard: DropGuard,
) -> Result<SourceReport, StoreError> {
    let pulled = match source.link() {
        LinkSpec::Subsonic { endpoint, .. } => subsonic::pull(hub, source, endpoint).await?,
        LinkSpec::Folder { root, .. } => folder::pull(hub, source, root).await?,
    };
    let now = hub.clock().wall();
    let id = source.id().to_owned();
    let mut report = SourceReport {
        id: id.clone(),
        complete: false,
        artists: 0,
        albums: 0,
        tracks: 0,
        added: 0,
        updated: 0,
        removed: 0,
        warnings: Vec::new(),
        error: None,
    };
    match pulled {
        Ok(pass) => {
            report.complete = pass.complete;
            report.artists = pass.artists.len();
            report.albums = pass.albums.len();
            report.tracks = pass.tracks.len();
            report.warnings.clone_from(&pass.warnings);
            let applied = apply(hub, id, pass, now, guard).await?;
            report.added = applied.added;
            report.updated = applied.updated;
            report.removed = applied.removed;
            report.warnings.extend(applied.held_back);
            source.note_success(now);
        }
        Err(sentence) => {
            // Its rows stay: a source that cannot be reached is marked and aged, never wiped.
            tracing::warn!(source = source.id(), reason = %sentence, "source could not be read");
            source.note_error(Some(sentence.clone()));
            let reason = sentence.clone();
            hub.write(move |w| w.mark_instance(&id, false, now, Some(&reason)))
                .await?;
            report.error = Some(sentence);
        }
    }
    for warning in &report.warnings {
        tracing::warn!(source = source.id(), "{warning}");
    }
    Ok(report)
}

/// Writes what a pass saw, in steps, between which streams get their turn.
async fn apply<R: HubRuntime>(
    hub: &Hub<R>,
    id: String,
    pass: Pass,
    now: Wall,
    guard: DropGuard,
) -> Result<PassReport, StoreError> {
    let steps = hub
        .read(move |r| r.plan_pass(&id, pass, now, guard))
        .await?;
    let report = steps.report().clone();
    for step in steps {
        hub.write(move |w| w.apply_step(step)).await?;
    }
    Ok(report)
}

/// Merges everything there is. Decides on a computing thread; writes in steps.
pub(crate) async fn merge_library<R: HubRuntime>(
    hub: &Hub<R>,
    report: &mut SyncReport,
) -> Result<(), StoreError> {
    let input = hub.read(|r| r.merge_input()).await?;
    let now = hub.clock().wall();
    let merged = hub.runtime().compute(move || merge::merge(input)).await;
    report.tracks = merged.library.tracks.len() as u64;
    let steps = hub.read(move |r| r.plan_merge(merged, now)).await?;
    report.changed = steps.report().changed();
    report.skipped.clone_from(&steps.report().skipped);
    for step in steps {
        hub.write(move |w| w.apply_step(step)).await?;
    }
    Ok(())
}

/// Brings back what earlier runs found out about the sources.
pub(crate) async fn recall<R: HubRuntime>(hub: &Hub<R>) -> Result<(), StoreError> {
    subsonic::recall(hub).await
}

/// Synchronises at once, then every now and then and whenever somebody asks for it, until the hub is gone.
pub async fn tend<R: HubRuntime>(hub: Hub<R>) {
    let mut due_now = vec![None];
    loop {
        for only in std::mem::take(&mut due_now) {
            let mut round = sync(hub.clone(), only, DropGuard::Refuse);
            // A panic in one round would end all that are to come.
            match poll_fn(|cx| contained(|| round.as_mut().poll(cx))).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::error!(%error, "the library could not be synchronised"),
                Err(_) => tracing::error!("the library could not be synchronised: that panicked"),
            }
        }
        let interval = hub.settings().sync_interval;
        let mut wanted = pin!(hub.sync_state().requested());
        if interval.is_zero() {
            wanted.await;
            due_now = hub.sync_state().take_wish();
            continue;
        }
        let clock = hub.clock();
        let mut due = pin!(clock.sleep_until(clock.now() + interval));
        let is_due = poll_fn(|cx| match wanted.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(false),
            Poll::Pending => due.as_mut().poll(cx).map(|()| true),
        })
        .await;
        let wish = hub.sync_state().take_wish();
        due_now = if is_due { vec![None] } else { wish };
    }
}
