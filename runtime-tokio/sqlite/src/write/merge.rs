//! What a merge made, written as the difference to the stored library, so that an unchanged one writes nothing (R3).

use super::diff::{Difference, Differences, by_key, differences};
use super::step::{Change, RowCounts, Step, Steps};
use crate::columns::Columns;
use crate::rows::{
    self, ARTIST_COLUMNS, ARTIST_SOURCE_COLUMNS, GROUP_COLUMNS, RELEASE_COLUMNS,
    RELEASE_SOURCE_COLUMNS, TRACK_COLUMNS, TRACK_SOURCE_COLUMNS,
};
use crate::{Reader, Result, Writer};
use segue_core::catalog::model::{
    Library, Merged, TrackSource, UnifiedArtist, UnifiedReleaseGroup, UnifiedTrack,
};
use segue_core::time::Wall;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};

/// What a merge comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MergeReport {
    /// Artists.
    pub artists: RowCounts,
    /// Albums.
    pub release_groups: RowCounts,
    /// Editions.
    pub releases: RowCounts,
    /// Tracks.
    pub tracks: RowCounts,
    /// Which source calls an artist what.
    pub artist_sources: RowCounts,
    /// Which source has which edition.
    pub release_sources: RowCounts,
    /// Which source has which track.
    pub track_sources: RowCounts,
    /// Old ids.
    pub aliases: RowCounts,
    /// Rows that could not be kept, one sentence each.
    pub skipped: Vec<String>,
}

impl MergeReport {
    /// Rows that were written; 0 for an unchanged library.
    pub fn changed(&self) -> u64 {
        [
            self.artists,
            self.release_groups,
            self.releases,
            self.tracks,
            self.artist_sources,
            self.release_sources,
            self.track_sources,
            self.aliases,
        ]
        .iter()
        .map(RowCounts::changed)
        .sum()
    }
}

/// A merge that was compared with the stored library, in steps. `report` holds once all of them are applied.
///
/// What is new comes before what points at it, and what is gone goes last, so that every prefix of the steps leaves
/// a library that can be browsed and played. A crash between two of them is repaired by the next merge, which finds
/// the rest of the differences.
#[derive(Debug)]
pub struct MergeSteps {
    report: MergeReport,
    steps: Steps,
}

impl MergeSteps {
    /// What the merge comes to.
    pub fn report(&self) -> &MergeReport {
        &self.report
    }
}

impl Iterator for MergeSteps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        self.steps.next()
    }
}

/// A track with what search looks through. The keys belong to the comparison: a renamed album changes no track's row
/// but every track's keys.
#[derive(Debug, PartialEq)]
pub(crate) struct KeyedTrack {
    pub(crate) track: UnifiedTrack,
    pub(crate) keys: String,
}

/// Sentences kept about rows that were skipped; the rest is only counted.
const MOST_SKIPPED: usize = 100;

impl Reader {
    /// Compares a merge's outcome with the stored library. Call it inside a snapshot.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn plan_merge(&self, merged: Merged, now: Wall) -> Result<MergeSteps> {
        let Merged {
            mut library,
            mut aliases,
            skipped,
        } = merged;
        let mut report = MergeReport {
            skipped,
            ..MergeReport::default()
        };
        let instances: BTreeSet<String> = self.instances()?.into_iter().map(|row| row.id).collect();
        let mut skip = Skip::default();
        keep_sound_rows(&mut library, &instances, &mut skip);
        skip.report(&mut report.skipped);
        let tracks = keyed(&library.artists, &library.release_groups, library.tracks);

        let mut put = VecDeque::new();
        let mut drop = Vec::new();

        report.artists = sort_out(
            self.stored(
                &format!("SELECT {ARTIST_COLUMNS} FROM unified_artists a ORDER BY a.id"),
                library.artists,
                rows::artist,
                |a, b| a.id.cmp(&b.id),
            )?,
            &mut put,
            &mut drop,
            |row| Change::PutArtist(Box::new(row)),
            |row| Change::DropArtist(row.id),
        );
        report.release_groups = sort_out(
            self.stored(
                &format!("SELECT {GROUP_COLUMNS} FROM unified_release_groups g ORDER BY g.id"),
                library.release_groups,
                rows::release_group,
                |a, b| a.id.cmp(&b.id),
            )?,
            &mut put,
            &mut drop,
            |row| Change::PutGroup(Box::new(row)),
            |row| Change::DropGroup(row.id),
        );
        report.releases = sort_out(
            self.stored(
                &format!("SELECT {RELEASE_COLUMNS} FROM unified_releases r ORDER BY r.id"),
                library.releases,
                rows::release,
                |a, b| a.id.cmp(&b.id),
            )?,
            &mut put,
            &mut drop,
            |row| Change::PutRelease(Box::new(row)),
            |row| Change::DropRelease(row.id),
        );
        report.tracks = sort_out(
            self.stored(
                &format!(
                    "SELECT {TRACK_COLUMNS}, coalesce(k.keys, '') FROM unified_tracks t \
                     LEFT JOIN track_keys k ON k.track_seq = t.seq ORDER BY t.id"
                ),
                tracks,
                |c| {
                    Ok(KeyedTrack {
                        track: rows::track(c)?,
                        keys: c.next()?,
                    })
                },
                |a, b| a.track.id.cmp(&b.track.id),
            )?,
            &mut put,
            &mut drop,
            |row| Change::PutTrack(Box::new(row)),
            |row| Change::DropTrack(row.track.id),
        );
        report.artist_sources = sort_out(
            self.stored(
                &format!("SELECT {ARTIST_SOURCE_COLUMNS} FROM unified_artist_sources ORDER BY instance_id, remote_id"),
                library.artist_sources,
                rows::artist_source,
                |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
            )?,
            &mut put,
            &mut drop,
            Change::PutArtistSource,
            |row| Change::DropArtistSource(row.instance, row.remote_id),
        );
        report.release_sources = sort_out(
            self.stored(
                &format!("SELECT {RELEASE_SOURCE_COLUMNS} FROM unified_release_sources ORDER BY instance_id, remote_id"),
                library.release_sources,
                rows::release_source,
                |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
            )?,
            &mut put,
            &mut drop,
            Change::PutReleaseSource,
            |row| Change::DropReleaseSource(row.instance, row.remote_id),
        );
        report.track_sources =
            self.plan_track_sources(library.track_sources, &mut put, &mut drop)?;
        by_key(&mut aliases, |a, b| a.old_id.cmp(&b.old_id), |_| ());
        report.aliases = sort_out(
            self.stored(
                "SELECT old_id, new_id FROM id_aliases ORDER BY old_id",
                aliases,
                rows::alias,
                |a, b| a.old_id.cmp(&b.old_id),
            )?,
            &mut put,
            &mut drop,
            Change::PutAlias,
            |row| Change::DropAlias(row.old_id),
        );
        // What points at others goes before what is pointed at.
        put.extend(drop.into_iter().rev());
        Ok(MergeSteps {
            report,
            steps: Steps {
                changes: put,
                library_modified: Some(now),
            },
        })
    }

    /// Places of one track follow each other, so that a step can hold them together.
    fn plan_track_sources(
        &self,
        wanted: Vec<TrackSource>,
        put: &mut VecDeque<Change>,
        drop: &mut Vec<Change>,
    ) -> Result<RowCounts> {
        let mut found = self.stored(
            &format!("SELECT {TRACK_SOURCE_COLUMNS} FROM track_sources s ORDER BY s.instance_id, s.remote_id"),
            wanted,
            rows::track_source,
            |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
        )?;
        found.changes.sort_by(|a, b| track_of(a).cmp(track_of(b)));
        Ok(sort_out(
            found,
            put,
            drop,
            |row| Change::PutTrackSource(Box::new(row)),
            |row| Change::DropTrackSource(row.instance, row.remote_id),
        ))
    }

    fn stored<R: PartialEq>(
        &self,
        sql: &str,
        wanted: Vec<R>,
        read: impl Fn(&mut Columns<'_, '_>) -> rusqlite::Result<R>,
        order: impl Fn(&R, &R) -> Ordering,
    ) -> Result<Differences<R>> {
        let mut statement = self.sql().prepare_cached(sql)?;
        let stored = statement.query_map([], |row| read(&mut Columns::of(row)))?;
        differences(stored, wanted, order)
    }
}

fn track_of(change: &Difference<TrackSource>) -> &str {
    match change {
        Difference::Added(row) | Difference::Updated(row) | Difference::Removed(row) => {
            &row.track_id
        }
    }
}

fn sort_out<R>(
    found: Differences<R>,
    put: &mut VecDeque<Change>,
    drop: &mut Vec<Change>,
    on_put: impl Fn(R) -> Change,
    on_drop: impl Fn(R) -> Change,
) -> RowCounts {
    let mut counts = RowCounts {
        unchanged: found.unchanged,
        ..RowCounts::default()
    };
    for change in found.changes {
        match change {
            Difference::Added(row) => {
                counts.added += 1;
                put.push_back(on_put(row));
            }
            Difference::Updated(row) => {
                counts.updated += 1;
                put.push_back(on_put(row));
            }
            Difference::Removed(row) => {
                counts.removed += 1;
                drop.push(on_drop(row));
            }
        }
    }
    counts
}

/// Rows that were left out, and why.
#[derive(Default)]
struct Skip {
    told: Vec<String>,
    untold: usize,
}

impl Skip {
    fn row(&mut self, what: &str, id: &str, why: &str) {
        if self.told.len() < MOST_SKIPPED {
            self.told.push(format!("{what} {id} was left out: {why}"));
        } else {
            self.untold += 1;
        }
    }

    fn report(self, skipped: &mut Vec<String>) {
        skipped.extend(self.told);
        if self.untold > 0 {
            skipped.push(format!("{} more rows were left out", self.untold));
        }
    }
}

/// One bad row costs that row, not the merge: whatever points nowhere, or has a key that another row has, is left out.
fn keep_sound_rows(library: &mut Library, instances: &BTreeSet<String>, skip: &mut Skip) {
    const TWICE: &str = "another row has the same key";
    let Library {
        artists,
        release_groups: groups,
        releases,
        tracks,
        artist_sources,
        release_sources,
        track_sources,
    } = library;
    by_key(
        artists,
        |a, b| a.id.cmp(&b.id),
        |row| skip.row("artist", &row.id, TWICE),
    );
    by_key(
        groups,
        |a, b| a.id.cmp(&b.id),
        |row| skip.row("album", &row.id, TWICE),
    );
    by_key(
        releases,
        |a, b| a.id.cmp(&b.id),
        |row| skip.row("edition", &row.id, TWICE),
    );
    by_key(
        tracks,
        |a, b| a.id.cmp(&b.id),
        |row| skip.row("track", &row.id, TWICE),
    );
    let has_artist = |id: &str| {
        artists
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .is_ok()
    };
    groups.retain(|row| {
        has_artist(&row.artist_id) || {
            skip.row("album", &row.id, "its artist is missing");
            false
        }
    });
    let has_group = |id: &str| {
        groups
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .is_ok()
    };
    releases.retain(|row| {
        has_group(&row.release_group_id) || {
            skip.row("edition", &row.id, "its album is missing");
            false
        }
    });
    let has_release = |id: &str| {
        releases
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .is_ok()
    };
    tracks.retain(|row| {
        (has_group(&row.release_group_id) && has_artist(&row.artist_id)) || {
            skip.row("track", &row.id, "its album or artist is missing");
            false
        }
    });
    let has_track = |id: &str| {
        tracks
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .is_ok()
    };

    const NOWHERE: &str = "its source or what it belongs to is missing";
    by_key(
        artist_sources,
        |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
        |row| skip.row("artist source", &row.remote_id, TWICE),
    );
    artist_sources.retain(|row| {
        (instances.contains(&row.instance) && has_artist(&row.artist_id)) || {
            skip.row("artist source", &row.remote_id, NOWHERE);
            false
        }
    });
    by_key(
        release_sources,
        |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
        |row| skip.row("album source", &row.remote_id, TWICE),
    );
    release_sources.retain(|row| {
        (instances.contains(&row.instance)
            && has_release(&row.release_id)
            && has_group(&row.release_group_id))
            || {
                skip.row("album source", &row.remote_id, NOWHERE);
                false
            }
    });
    by_key(
        track_sources,
        |a, b| (&a.instance, &a.remote_id).cmp(&(&b.instance, &b.remote_id)),
        |row| skip.row("track source", &row.remote_id, TWICE),
    );
    track_sources.retain(|row| {
        (instances.contains(&row.instance) && has_track(&row.track_id)) || {
            skip.row("track source", &row.remote_id, NOWHERE);
            false
        }
    });
}

/// Title, artist, album and album artist, one a line; the title comes first.
fn keyed(
    artists: &[UnifiedArtist],
    groups: &[UnifiedReleaseGroup],
    tracks: Vec<UnifiedTrack>,
) -> Vec<KeyedTrack> {
    let artist_key = |id: &str| {
        artists
            .binary_search_by(|row| row.id.as_str().cmp(id))
            .map_or("", |at| artists[at].name_key.as_str())
    };
    tracks
        .into_iter()
        .map(|track| {
            let group = groups
                .binary_search_by(|row| row.id.cmp(&track.release_group_id))
                .ok()
                .map(|at| &groups[at]);
            let artist = artist_key(&track.artist_id);
            let album = group.map_or("", |group| group.name_key.as_str());
            let album_artist = group.map_or("", |group| artist_key(&group.artist_id));
            let mut keys = format!("{}\n{artist}\n{album}", track.title_key);
            if album_artist != artist {
                keys.push('\n');
                keys.push_str(album_artist);
            }
            KeyedTrack { track, keys }
        })
        .collect()
}

impl Writer {
    /// Plans a merge and applies it at once. For a big library use [`Reader::plan_merge`] and its steps.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn apply_merge(&self, merged: Merged, now: Wall) -> Result<MergeReport> {
        let mut plan = self.reader().plan_merge(merged, now)?;
        for step in plan.by_ref() {
            self.apply_step(step)?;
        }
        Ok(plan.report)
    }
}
