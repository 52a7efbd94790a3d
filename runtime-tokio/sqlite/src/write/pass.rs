//! What a pass over one source found, written as the difference to what is stored.

use super::diff::{Difference, Differences, by_key, differences};
use super::step::{Change, RowCounts, Step, Steps};
use crate::columns::Columns;
use crate::rows::{self, INSTANCE_ALBUM_COLUMNS, INSTANCE_ARTIST_COLUMNS, INSTANCE_TRACK_COLUMNS};
use crate::{Error, Reader, Result, Writer};
use segue_core::catalog::model::Pass;
use segue_core::time::Wall;
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::Arc;

/// Whether a source may lose more than half of its tracks in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropGuard {
    /// Keep the rows and say so.
    Refuse,
    /// The operator said yes.
    Allow,
}

/// What a pass came to. The four numbers count tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PassReport {
    /// New tracks.
    pub added: u64,
    /// Tracks that differ from before.
    pub updated: u64,
    /// Tracks that are gone.
    pub removed: u64,
    /// Tracks that were not touched.
    pub unchanged: u64,
    /// The same for albums.
    pub albums: RowCounts,
    /// The same for artists.
    pub artists: RowCounts,
    /// Why rows that the pass did not see were kept, in one sentence, when they were.
    pub held_back: Option<String>,
}

/// A pass that was compared with what is stored, in steps. `report` holds once all of them are applied.
#[derive(Debug)]
pub struct PassSteps {
    report: PassReport,
    steps: Steps,
}

impl PassSteps {
    /// What the pass comes to.
    pub fn report(&self) -> &PassReport {
        &self.report
    }
}

impl Iterator for PassSteps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        self.steps.next()
    }
}

impl Reader {
    /// Compares a pass with what is stored. Rows go only after a complete pass that did not see them, and not when
    /// the source would be left with less than half of its tracks, unless `guard` allows it (product.md section 4).
    ///
    /// # Errors
    /// [`Error::Conflict`] when there is no such source.
    pub fn plan_pass(
        &self,
        instance: &str,
        pass: Pass,
        now: Wall,
        guard: DropGuard,
    ) -> Result<PassSteps> {
        if self.instance(instance)?.is_none() {
            return Err(Error::Conflict(format!("there is no source {instance:?}")));
        }
        let Pass {
            artists,
            albums,
            tracks,
            complete,
            warnings: _,
        } = pass;
        let mut seen = tracks.len() as u64;
        let artists = self.compare(
            instance,
            ("instance_artists", INSTANCE_ARTIST_COLUMNS),
            artists,
            rows::instance_artist,
            |row| &row.remote_id,
        )?;
        let albums = self.compare(
            instance,
            ("instance_albums", INSTANCE_ALBUM_COLUMNS),
            albums,
            rows::instance_album,
            |row| &row.remote_id,
        )?;
        let tracks = self.compare(
            instance,
            ("instance_tracks", INSTANCE_TRACK_COLUMNS),
            tracks,
            rows::instance_track,
            |row| &row.remote_id,
        )?;

        let found = counts(&tracks);
        seen = seen.min(found.added + found.updated + found.unchanged);
        let stored = found.removed + found.updated + found.unchanged;
        let dropped = complete && seen.saturating_mul(2) < stored;
        let held_back = (dropped && guard == DropGuard::Refuse).then(|| {
            format!(
                "the source has {seen} tracks where it had {stored}; the missing ones are kept until you confirm that they are gone"
            )
        });
        let may_remove = complete && held_back.is_none();

        let id: Arc<str> = Arc::from(instance);
        let mut changes = VecDeque::new();
        let artists = sort_out(artists, may_remove, &mut changes, |change| match change {
            Difference::Added(row) | Difference::Updated(row) => {
                Change::PutInstanceArtist(id.clone(), row)
            }
            Difference::Removed(row) => Change::DropInstanceArtist(id.clone(), row.remote_id),
        });
        let albums = sort_out(albums, may_remove, &mut changes, |change| match change {
            Difference::Added(row) | Difference::Updated(row) => {
                Change::PutInstanceAlbum(id.clone(), Box::new(row))
            }
            Difference::Removed(row) => Change::DropInstanceAlbum(id.clone(), row.remote_id),
        });
        let tracks = sort_out(tracks, may_remove, &mut changes, |change| match change {
            Difference::Added(row) | Difference::Updated(row) => {
                Change::PutInstanceTrack(id.clone(), Box::new(row))
            }
            Difference::Removed(row) => Change::DropInstanceTrack(id.clone(), row.remote_id),
        });
        changes.push_back(Change::EndPass {
            instance: id,
            at: now,
            complete,
            error: held_back.clone(),
        });
        Ok(PassSteps {
            report: PassReport {
                added: tracks.added,
                updated: tracks.updated,
                removed: tracks.removed,
                unchanged: tracks.unchanged,
                albums,
                artists,
                held_back,
            },
            steps: Steps {
                changes,
                library_modified: None,
            },
        })
    }

    fn compare<R: PartialEq>(
        &self,
        instance: &str,
        (table, columns): (&str, &str),
        mut wanted: Vec<R>,
        read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<R>,
        id: impl Fn(&R) -> &String,
    ) -> Result<Differences<R>> {
        let order = |a: &R, b: &R| id(a).cmp(id(b));
        by_key(&mut wanted, order, |_| ());
        let mut statement = self.sql().prepare_cached(&format!(
            "SELECT {columns} FROM {table} WHERE instance_id = ?1 ORDER BY remote_id"
        ))?;
        let stored = statement.query_map([instance], |row| read(&mut Columns::of(row)))?;
        differences(stored, wanted, order)
    }
}

fn counts<R>(found: &Differences<R>) -> RowCounts {
    let mut counts = RowCounts {
        unchanged: found.unchanged,
        ..RowCounts::default()
    };
    for change in &found.changes {
        match change {
            Difference::Added(_) => counts.added += 1,
            Difference::Updated(_) => counts.updated += 1,
            Difference::Removed(_) => counts.removed += 1,
        }
    }
    counts
}

/// Rows that may not be removed count as unchanged: they stay as they are.
fn sort_out<R>(
    mut found: Differences<R>,
    may_remove: bool,
    changes: &mut VecDeque<Change>,
    change: impl Fn(Difference<R>) -> Change,
) -> RowCounts {
    if !may_remove {
        let before = found.changes.len();
        found
            .changes
            .retain(|change| !matches!(change, Difference::Removed(_)));
        found.unchanged += (before - found.changes.len()) as u64;
    }
    let counts = counts(&found);
    changes.extend(found.changes.into_iter().map(change));
    counts
}

impl Writer {
    /// Plans a pass and applies it at once. For a big source use [`Reader::plan_pass`] and its steps.
    ///
    /// # Errors
    /// As [`Reader::plan_pass`].
    pub fn apply_pass(
        &self,
        instance: &str,
        pass: Pass,
        now: Wall,
        guard: DropGuard,
    ) -> Result<PassReport> {
        let mut plan = self.reader().plan_pass(instance, pass, now, guard)?;
        for step in plan.by_ref() {
            self.apply_step(step)?;
        }
        Ok(plan.report)
    }
}
