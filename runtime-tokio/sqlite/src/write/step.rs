//! Big changes in small steps, so that the one writer is never held for long.

use crate::{Result, Writer};
use segue_core::catalog::model::{
    Alias, ArtistSource, InstanceAlbum, InstanceArtist, InstanceTrack, ReleaseSource, TrackSource,
    UnifiedArtist, UnifiedRelease, UnifiedReleaseGroup,
};
use segue_core::time::Wall;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

use super::merge::KeyedTrack;

/// Rows of one step: about 10 ms of the writer's time, so that the start or end of a stream is never long in coming.
pub(crate) const STEP_ROWS: usize = 500;

/// What became of the rows of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    /// New rows.
    pub added: u64,
    /// Rows that differ from before.
    pub updated: u64,
    /// Rows that are gone.
    pub removed: u64,
    /// Rows that were not touched.
    pub unchanged: u64,
}

impl RowCounts {
    /// Rows that were written.
    pub const fn changed(&self) -> u64 {
        self.added + self.updated + self.removed
    }
}

/// A bounded part of a pass or a merge. Hand it to [`Writer::apply_step`]; steps are applied in order, and what a
/// crash between two of them leaves is put right by the next pass or merge.
#[derive(Debug)]
#[must_use = "a step changes nothing until it is applied"]
pub struct Step {
    changes: Vec<Change>,
    /// Set for a step of a merge: when the library changed.
    library_modified: Option<Wall>,
}

impl Step {
    /// How many rows it writes.
    pub fn rows(&self) -> usize {
        self.changes.len()
    }
}

/// One row's change.
#[derive(Debug)]
pub(crate) enum Change {
    PutInstanceArtist(Arc<str>, InstanceArtist),
    PutInstanceAlbum(Arc<str>, Box<InstanceAlbum>),
    PutInstanceTrack(Arc<str>, Box<InstanceTrack>),
    DropInstanceArtist(Arc<str>, String),
    DropInstanceAlbum(Arc<str>, String),
    DropInstanceTrack(Arc<str>, String),
    EndPass {
        instance: Arc<str>,
        at: Wall,
        complete: bool,
        error: Option<String>,
    },
    PutArtist(Box<UnifiedArtist>),
    PutGroup(Box<UnifiedReleaseGroup>),
    PutRelease(Box<UnifiedRelease>),
    PutTrack(Box<KeyedTrack>),
    PutArtistSource(ArtistSource),
    PutReleaseSource(ReleaseSource),
    PutTrackSource(Box<TrackSource>),
    PutAlias(Alias),
    DropArtist(String),
    DropGroup(String),
    DropRelease(String),
    DropTrack(String),
    DropArtistSource(String, String),
    DropReleaseSource(String, String),
    DropTrackSource(String, String),
    DropAlias(String),
}

/// Cuts changes into steps.
#[derive(Debug)]
pub(crate) struct Steps {
    pub(crate) changes: VecDeque<Change>,
    pub(crate) library_modified: Option<Wall>,
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.changes.is_empty() {
            return None;
        }
        let mut count = self.changes.len().min(STEP_ROWS);
        // The places of one track change together, or a reader between two steps would see two preferred ones.
        while let (Some(Change::PutTrackSource(last)), Some(Change::PutTrackSource(next))) =
            (self.changes.get(count - 1), self.changes.get(count))
            && last.track_id == next.track_id
        {
            count += 1;
        }
        Some(Step {
            changes: self.changes.drain(..count).collect(),
            library_modified: self.library_modified,
        })
    }
}

impl Writer {
    /// Writes one step's rows.
    ///
    /// # Errors
    /// SQLite's own, for instance when a source was removed meanwhile. Plan again then.
    pub fn apply_step(&self, step: Step) -> Result<()> {
        if let Some(at) = step.library_modified {
            self.set_setting(crate::read::sources::LIBRARY_MODIFIED, &at.0.to_string())?;
        }
        for change in &step.changes {
            self.apply(change)?;
        }
        Ok(())
    }

    fn apply(&self, change: &Change) -> Result<()> {
        match change {
            Change::PutInstanceArtist(instance, row) => self.put_instance_artist(instance, row),
            Change::PutInstanceAlbum(instance, row) => self.put_instance_album(instance, row),
            Change::PutInstanceTrack(instance, row) => self.put_instance_track(instance, row),
            Change::DropInstanceArtist(instance, id) => self.gone(
                "DELETE FROM instance_artists WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id.as_str()],
            ),
            Change::DropInstanceAlbum(instance, id) => self.gone(
                "DELETE FROM instance_albums WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id.as_str()],
            ),
            Change::DropInstanceTrack(instance, id) => self.gone(
                "DELETE FROM instance_tracks WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id.as_str()],
            ),
            Change::EndPass {
                instance,
                at,
                complete,
                error,
            } => self.end_pass(instance, *at, *complete, error.as_deref()),
            Change::PutArtist(row) => self.put_artist(row),
            Change::PutGroup(row) => self.put_group(row),
            Change::PutRelease(row) => self.put_release(row),
            Change::PutTrack(row) => self.put_track(&row.track, &row.keys),
            Change::PutArtistSource(row) => self.put_artist_source(row),
            Change::PutReleaseSource(row) => self.put_release_source(row),
            Change::PutTrackSource(row) => self.put_track_source(row),
            Change::PutAlias(row) => self.put_alias(row),
            Change::DropArtist(id) => self.gone("DELETE FROM unified_artists WHERE id = ?1", [id]),
            Change::DropGroup(id) => {
                self.gone("DELETE FROM unified_release_groups WHERE id = ?1", [id])
            }
            Change::DropRelease(id) => {
                self.gone("DELETE FROM unified_releases WHERE id = ?1", [id])
            }
            Change::DropTrack(id) => self.gone("DELETE FROM unified_tracks WHERE id = ?1", [id]),
            Change::DropArtistSource(instance, id) => self.gone(
                "DELETE FROM unified_artist_sources WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id],
            ),
            Change::DropReleaseSource(instance, id) => self.gone(
                "DELETE FROM unified_release_sources WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id],
            ),
            Change::DropTrackSource(instance, id) => self.gone(
                "DELETE FROM track_sources WHERE instance_id = ?1 AND remote_id = ?2",
                [instance, id],
            ),
            Change::DropAlias(id) => self.gone("DELETE FROM id_aliases WHERE old_id = ?1", [id]),
        }
    }

    /// A row that is gone already is as good as one that was deleted.
    fn gone(&self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        self.run(sql, params).map(|_| ())
    }
}
