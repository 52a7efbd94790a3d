//! The configured sources, what they said, and how much of everything there is.

use super::Reader;
use crate::columns::Columns;
use crate::rows::{
    self, ARTIST_COLUMNS, ARTIST_SOURCE_COLUMNS, GROUP_COLUMNS, INSTANCE_ALBUM_COLUMNS,
    INSTANCE_ARTIST_COLUMNS, INSTANCE_TRACK_COLUMNS, RELEASE_COLUMNS, RELEASE_SOURCE_COLUMNS,
    TRACK_COLUMNS, TRACK_SOURCE_COLUMNS,
};
use crate::{InstanceRow, Result};
use segue_core::catalog::model::{Library, MergeInput, MergeInstance, Of, Pass};
use segue_core::time::Wall;
use serde::Serialize;

/// How many rows there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Album artists.
    pub artists: u64,
    /// Albums.
    pub albums: u64,
    /// Tracks of the library.
    pub tracks: u64,
    /// Places to have them from.
    pub track_sources: u64,
    /// Configured sources.
    pub instances: u64,
    /// Users.
    pub users: u64,
    /// Streams open now.
    pub active_operations: u64,
}

const INSTANCE: &str = "SELECT id, kind, folder_number, name, local, online, last_seen, last_sync, \
    last_error, track_count FROM instances";

fn instance(c: &mut Columns<'_, '_>) -> rusqlite::Result<InstanceRow> {
    Ok(InstanceRow {
        id: c.next()?,
        kind: c.kind()?,
        folder_number: c.next()?,
        name: c.next()?,
        local: c.next()?,
        online: c.next()?,
        last_seen: c.maybe_wall()?,
        last_sync: c.maybe_wall()?,
        last_error: c.next()?,
        track_count: c.unsigned()?,
    })
}

/// A row with the instance in its first column.
fn of<T>(
    read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<T>,
) -> impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<Of<T>> {
    move |c| {
        Ok(Of {
            instance: c.next()?,
            row: read(c)?,
        })
    }
}

impl Reader {
    /// All sources, in the order they were added.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn instances(&self) -> Result<Vec<InstanceRow>> {
        self.all(&format!("{INSTANCE} ORDER BY folder_number"), [], instance)
    }

    /// One source.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn instance(&self, id: &str) -> Result<Option<InstanceRow>> {
        self.one(&format!("{INSTANCE} WHERE id = ?1"), [id], instance)
    }

    /// What is stored of a source, as one pass: for an incremental scan. Sorted by remote id.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn previous_pass(&self, instance: &str) -> Result<Pass> {
        let select = |columns: &str, table: &str| {
            format!("SELECT {columns} FROM {table} WHERE instance_id = ?1 ORDER BY remote_id")
        };
        Ok(Pass {
            artists: self.all(
                &select(INSTANCE_ARTIST_COLUMNS, "instance_artists"),
                [instance],
                rows::instance_artist,
            )?,
            albums: self.all(
                &select(INSTANCE_ALBUM_COLUMNS, "instance_albums"),
                [instance],
                rows::instance_album,
            )?,
            tracks: self.all(
                &select(INSTANCE_TRACK_COLUMNS, "instance_tracks"),
                [instance],
                rows::instance_track,
            )?,
            complete: true,
            warnings: Vec::new(),
        })
    }

    /// Everything a merge reads. Call it inside a snapshot.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn merge_input(&self) -> Result<MergeInput> {
        Ok(MergeInput {
            instances: self.all("SELECT id, local FROM instances ORDER BY id", [], |c| {
                Ok(MergeInstance {
                    id: c.next()?,
                    local: c.next()?,
                })
            })?,
            artists: self.all(
                &of_all(INSTANCE_ARTIST_COLUMNS, "instance_artists"),
                [],
                of(rows::instance_artist),
            )?,
            albums: self.all(
                &of_all(INSTANCE_ALBUM_COLUMNS, "instance_albums"),
                [],
                of(rows::instance_album),
            )?,
            tracks: self.all(
                &of_all(INSTANCE_TRACK_COLUMNS, "instance_tracks"),
                [],
                of(rows::instance_track),
            )?,
            previous: self.library()?,
            aliases: self.all(
                "SELECT old_id, new_id FROM id_aliases ORDER BY old_id",
                [],
                rows::alias,
            )?,
        })
    }

    /// The whole library as it is stored.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn library(&self) -> Result<Library> {
        Ok(Library {
            artists: self.all(
                &format!("SELECT {ARTIST_COLUMNS} FROM unified_artists a ORDER BY a.id"),
                [],
                rows::artist,
            )?,
            release_groups: self.all(
                &format!("SELECT {GROUP_COLUMNS} FROM unified_release_groups g ORDER BY g.id"),
                [],
                rows::release_group,
            )?,
            releases: self.all(
                &format!("SELECT {RELEASE_COLUMNS} FROM unified_releases r ORDER BY r.id"),
                [],
                rows::release,
            )?,
            tracks: self.all(
                &format!("SELECT {TRACK_COLUMNS} FROM unified_tracks t ORDER BY t.id"),
                [],
                rows::track,
            )?,
            artist_sources: self.all(
                &format!("SELECT {ARTIST_SOURCE_COLUMNS} FROM unified_artist_sources ORDER BY instance_id, remote_id"),
                [],
                rows::artist_source,
            )?,
            release_sources: self.all(
                &format!("SELECT {RELEASE_SOURCE_COLUMNS} FROM unified_release_sources ORDER BY instance_id, remote_id"),
                [],
                rows::release_source,
            )?,
            track_sources: self.all(
                &format!("SELECT {TRACK_SOURCE_COLUMNS} FROM track_sources s ORDER BY s.instance_id, s.remote_id"),
                [],
                rows::track_source,
            )?,
        })
    }

    /// How much of everything there is.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn counts(&self) -> Result<Counts> {
        let counts = self.one(
            "SELECT (SELECT count(*) FROM unified_artists WHERE is_album_artist), \
             (SELECT count(*) FROM unified_release_groups), (SELECT count(*) FROM unified_tracks), \
             (SELECT count(*) FROM track_sources), (SELECT count(*) FROM instances), \
             (SELECT count(*) FROM users), \
             (SELECT count(*) FROM stream_operations WHERE status = 'active')",
            [],
            |c| {
                Ok(Counts {
                    artists: c.unsigned()?,
                    albums: c.unsigned()?,
                    tracks: c.unsigned()?,
                    track_sources: c.unsigned()?,
                    instances: c.unsigned()?,
                    users: c.unsigned()?,
                    active_operations: c.unsigned()?,
                })
            },
        )?;
        Ok(counts.unwrap_or_default())
    }

    /// When a merge last changed the library; the epoch when none ever did.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn library_modified(&self) -> Result<Wall> {
        let millis = self.setting(LIBRARY_MODIFIED)?;
        Ok(Wall(millis.and_then(|text| text.parse().ok()).unwrap_or(0)))
    }
}

/// The setting that holds when a merge last changed a row.
pub(crate) const LIBRARY_MODIFIED: &str = "library_modified";

fn of_all(columns: &str, table: &str) -> String {
    format!("SELECT instance_id, {columns} FROM {table} ORDER BY instance_id, remote_id")
}
